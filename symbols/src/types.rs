//! Types as the compiler laid them out: what they are called, how large they are, what is in them.

mod record;

pub use record::{Access, Argument, Bits, Keyword, Member, Record, StaticMember, VirtualBase};

use std::fmt;
use std::sync::Arc;

use crate::units::DieId;

/// A type. Cheap to clone; whole in itself but for what pointers point to.
#[derive(Clone, Debug)]
pub struct Type(pub(crate) Arc<TypeData>);

#[derive(Debug)]
pub(crate) struct TypeData {
    pub(crate) id: DieId,
    pub(crate) name: Box<str>,
    pub(crate) size: Option<u64>,
    pub(crate) kind: Kind,
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number, a truth value or a character.
    Base(Encoding),
    /// An enumeration.
    Enum(Enumeration),
    /// A structure, class or union.
    Record(Record),
    /// An array.
    Array(Array),
    /// A pointer or reference.
    Pointer(Pointer),
    /// Another name for a type.
    Alias(Type),
    /// A `const` or `volatile` type.
    Qualified(Type),
    /// A function, which only pointers can point to.
    Function,
    /// `void` and the like: nothing to read.
    Void,
    /// Only declared, or not readable; a `Problem` says why.
    Unknown,
}

/// How a base type's bits are meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// An unsigned integer, `unsigned char` too: `uint8_t` is one.
    Unsigned,
    /// A two's complement integer.
    Signed,
    /// `bool`.
    Bool,
    /// `char`, `char16_t` and their like.
    Char,
    /// An IEEE 754 number.
    Float,
    /// Anything else: shown as bytes.
    Other,
}

/// An enumeration's values.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// In the order of the source.
    pub enumerators: Vec<Enumerator>,
    /// Whether values are sign-extended.
    pub signed: bool,
    /// `enum class`.
    pub scoped: bool,
    /// The integer it is kept in, where the compiler names one.
    pub underlying: Option<Type>,
}

/// One name of an enumeration.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Without its scope.
    pub name: Arc<str>,
    /// Wide enough for every 64-bit value of either sign.
    pub value: i128,
}

/// An array of one or more dimensions.
#[derive(Clone, Debug)]
pub struct Array {
    /// What each element is.
    pub element: Type,
    /// Lengths, outermost first; none where the declaration leaves it open (`[]`).
    pub lengths: Vec<Option<u64>>,
}

/// A pointer or reference.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// `&` or `&&`, which C++ follows without being asked.
    pub reference: bool,
    /// What it points to; none for `void *` and pointers to members. See `Symbols::pointee`.
    pub(crate) target: Option<Target>,
}

/// What a pointer points to: built when asked for, or made by an expression.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Die(DieId),
    Type(Type),
}

impl Type {
    /// The name as C++ spells it, such as `volatile uint16_t [5]`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Size in bytes; none for incomplete types, functions and `void`.
    pub fn size(&self) -> Option<u64> {
        self.0.size
    }

    /// What the type is, with typedefs and qualifiers as they are written.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// The type behind all typedefs and qualifiers.
    pub fn plain(&self) -> &Type {
        let mut plain = self;
        // Types are built inside out, so this chain cannot be a ring.
        while let Kind::Alias(inner) | Kind::Qualified(inner) = plain.kind() {
            plain = inner;
        }
        plain
    }

    /// Bases and data members, through typedefs and qualifiers; empty if it is no record.
    pub fn members(&self) -> &[Member] {
        self.record().map_or(&[], |record| &record.members)
    }

    /// The record behind typedefs and qualifiers.
    pub fn record(&self) -> Option<&Record> {
        match self.plain().kind() {
            Kind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// The array behind typedefs and qualifiers.
    pub fn array(&self) -> Option<&Array> {
        match self.plain().kind() {
            Kind::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The enumeration behind typedefs and qualifiers.
    pub fn enumeration(&self) -> Option<&Enumeration> {
        match self.plain().kind() {
            Kind::Enum(enumeration) => Some(enumeration),
            _ => None,
        }
    }

    /// Whether integers of this type are sign-extended.
    pub fn is_signed(&self) -> bool {
        match self.plain().kind() {
            Kind::Base(encoding) => *encoding == Encoding::Signed,
            Kind::Enum(enumeration) => enumeration.signed,
            _ => false,
        }
    }
}

impl Array {
    /// Number of elements over all dimensions; none if one is open or the product overflows.
    pub fn count(&self) -> Option<u64> {
        self.lengths.iter().try_fold(1u64, |count, length| count.checked_mul((*length)?))
    }
}

impl Enumeration {
    /// The first enumerator with that value.
    pub fn name_of(&self, value: i128) -> Option<&Arc<str>> {
        self.enumerators.iter().find(|e| e.value == value).map(|e| &e.name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
