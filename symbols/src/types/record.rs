//! Structures, classes and unions: what is in them, and what they were made from.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Type;
use crate::value::Value;

/// Which keyword declares a record.
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
    /// How it is declared.
    pub keyword: Keyword,
    /// Bases and data members in the order of the source.
    pub members: Vec<Member>,
    /// Bases whose place only an object's own vtable says; `members` has the others.
    pub virtual_bases: Vec<VirtualBase>,
    /// Members that all objects share, in the order of the source.
    pub statics: Vec<StaticMember>,
    /// What a template was given, in its order; packs are laid out flat.
    pub arguments: Vec<Argument>,
    /// Has no name of its own.
    pub anonymous: bool,
}

/// A data member or a base.
#[derive(Clone, Debug)]
pub struct Member {
    /// None for bases, anonymous members and padding bit-fields.
    pub name: Option<Arc<str>>,
    /// Bytes from the start of the record; for bit-fields the byte that holds the first bit.
    pub offset: u64,
    /// What it is.
    pub ty: Type,
    /// Set for bit-fields.
    pub bits: Option<Bits>,
    /// A base class.
    pub base: bool,
    /// Who may use it.
    pub access: Access,
}

/// The place of a bit-field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bits {
    /// How many bits.
    pub size: u64,
    /// Bits from the start of the record to the lowest bit; bit 0 is the lowest of byte 0.
    pub offset: u64,
}

/// Who may use a member or base by the rules of C++.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Everyone.
    Public,
    /// The class and those derived from it.
    Protected,
    /// The class itself.
    Private,
}

/// A virtual base.
#[derive(Clone, Debug)]
pub struct VirtualBase {
    /// The base.
    pub ty: Type,
    /// Who may use it.
    pub access: Access,
}

/// A static data member: not in the bytes of an object.
#[derive(Clone, Debug)]
pub struct StaticMember {
    /// Its name.
    pub name: Arc<str>,
    /// The name of its type.
    pub type_name: Box<str>,
    /// Its value, if the declaration itself gives one that is a number or of an enumeration. See
    /// `Symbols::constant` for all others.
    pub value: Option<Value>,
    /// Who may use it.
    pub access: Access,
}

/// What a template was given for one of its parameters.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter's name in the template, if it has one.
    pub name: Option<Arc<str>>,
    /// The name of the type that was given; of the value's type, if a value was.
    pub type_name: Box<str>,
    /// The value, if one was given: a number, a pointer, or one of an enumeration.
    pub value: Option<Value>,
}

impl Record {
    /// Whether a virtual base is in it or in one of its bases: bytes that belong to no member may be
    /// that base's.
    pub fn has_virtual_bases(&self) -> bool {
        !self.all_virtual_bases().is_empty()
    }

    /// The virtual bases of it and of its bases, each once: an object has one of each.
    pub fn all_virtual_bases(&self) -> Vec<&Type> {
        /// Bases searched: a hostile file has the same base many times over.
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
    /// Size in bytes of the member's type; an open array at the end of a record takes no room.
    pub fn size(&self) -> u64 {
        self.ty.size().unwrap_or(0)
    }
}

impl Keyword {
    /// The keyword as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Keyword::Struct => "struct",
            Keyword::Class => "class",
            Keyword::Union => "union",
        }
    }
}

impl Access {
    /// The keyword as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Access::Public => "public",
            Access::Protected => "protected",
            Access::Private => "private",
        }
    }
}
