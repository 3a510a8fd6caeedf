//! Structures, classes and unions: their members, bases and template arguments.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Type;
use crate::value::Value;

/// The keyword that declares a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keyword {
    /// `struct`.
    Struct,
    /// `class`.
    Class,
    /// `union`.
    Union,
}

/// A structure, class or union.
#[derive(Clone, Debug)]
pub struct Record {
    /// The keyword of the declaration.
    pub keyword: Keyword,
    /// Bases and data members in source order.
    pub members: Vec<Member>,
    /// Virtual bases, whose offset is only in the object's vtable; `members` has the other bases.
    pub virtual_bases: Vec<VirtualBase>,
    /// Static members, in source order.
    pub statics: Vec<StaticMember>,
    /// Template arguments, in order; packs are flattened.
    pub arguments: Vec<Argument>,
    /// Whether it has no name of its own.
    pub anonymous: bool,
}

/// A data member or a base.
#[derive(Clone, Debug)]
pub struct Member {
    /// None for bases, anonymous members and padding bit-fields.
    pub name: Option<Arc<str>>,
    /// Bytes from the start of the record; for bit-fields the byte that holds the first bit.
    pub offset: u64,
    /// The type.
    pub ty: Type,
    /// The place of a bit-field; none for other members.
    pub bits: Option<Bits>,
    /// Whether it is a base class.
    pub base: bool,
    /// The access rule.
    pub access: AccessSpecifier,
}

/// The place of a bit-field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bits {
    /// The number of bits.
    pub size: u64,
    /// Bits from the start of the record to the lowest bit; bit 0 is the lowest of byte 0.
    pub offset: u64,
}

/// The access rule of a member or base in C++.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AccessSpecifier {
    /// Accessible everywhere.
    Public,
    /// Accessible in the class and in classes derived from it.
    Protected,
    /// Accessible in the class only.
    Private,
}

/// A virtual base.
#[derive(Clone, Debug)]
pub struct VirtualBase {
    /// The base.
    pub ty: Type,
    /// The access rule.
    pub access: AccessSpecifier,
}

/// A static data member, which is not in the bytes of an object.
#[derive(Clone, Debug)]
pub struct StaticMember {
    /// Its name.
    pub name: Arc<str>,
    /// The name of its type.
    pub type_name: Box<str>,
    /// The value, if the declaration has one that is a number or an enumerator. See
    /// `Symbols::constant` for other members.
    pub value: Option<Value>,
    /// The access rule.
    pub access: AccessSpecifier,
}

/// One template argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter's name in the template, if it has one.
    pub name: Option<Arc<str>>,
    /// The name of the type argument, or of the value's type.
    pub type_name: Box<str>,
    /// The value, for a value argument: a number, a pointer or an enumerator.
    pub value: Option<Value>,
}

impl Record {
    /// Whether the record or one of its bases has a virtual base: bytes outside all members may
    /// belong to that base.
    pub fn has_virtual_bases(&self) -> bool {
        !self.all_virtual_bases().is_empty()
    }

    /// Returns the virtual bases of the record and of its bases, each once: an object has one of
    /// each.
    pub fn all_virtual_bases(&self) -> Vec<&Type> {
        /// The most bases searched: a hostile file repeats the same base many times.
        const MAX_SEARCHED: usize = 1024;
        let mut open: VecDeque<&Record> = VecDeque::from([self]);
        let mut found: Vec<&Type> = Vec::new();
        let mut left = MAX_SEARCHED;
        while let (Some(record), 1..) = (open.pop_front(), left) {
            left -= 1;
            for base in record.virtual_bases.iter().take(left) {
                left = left.saturating_sub(1);
                if !found.iter().any(|known| known.name() == base.ty.name()) {
                    found.push(&base.ty);
                    open.extend(base.ty.record());
                }
            }
            let bases = record.members.iter().filter(|member| member.base);
            open.extend(bases.take(left).filter_map(|base| base.ty.record()));
        }
        found
    }
}

impl Member {
    /// Returns the size in bytes of the member's type; 0 for an open array at the end of a record.
    pub fn size(&self) -> u64 {
        self.ty.size().unwrap_or(0)
    }
}

impl Keyword {
    /// Returns the keyword as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Keyword::Struct => "struct",
            Keyword::Class => "class",
            Keyword::Union => "union",
        }
    }
}

impl AccessSpecifier {
    /// Returns the keyword as written.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessSpecifier::Public => "public",
            AccessSpecifier::Protected => "protected",
            AccessSpecifier::Private => "private",
        }
    }
}
