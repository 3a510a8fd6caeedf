//! Types as compiled: their names, sizes and contents.

mod record;

pub use record::{
    AccessSpecifier, Argument, Bits, Keyword, Member, Record, StaticMember, VirtualBase,
};

use std::fmt;
use std::sync::Arc;

use crate::units::DieId;

/// A type. Cheap to clone; complete except for the targets of pointers.
#[derive(Clone, Debug)]
pub struct Type(pub(crate) Arc<TypeData>);

#[derive(Debug)]
pub(crate) struct TypeData {
    pub(crate) id: DieId,
    pub(crate) name: Box<str>,
    pub(crate) size: Option<u64>,
    pub(crate) kind: Kind,
}

/// The kind of a type.
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
    /// A function; only pointers can refer to it.
    Function,
    /// `void` and similar types: nothing to read.
    Void,
    /// Only declared, or unreadable; a `Problem` has the reason.
    Unknown,
}

/// The meaning of a base type's bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// An unsigned integer, `unsigned char` too: `uint8_t` is one.
    Unsigned,
    /// A two's complement integer.
    Signed,
    /// `bool`.
    Bool,
    /// `char`, `char16_t` and similar types.
    Char,
    /// An IEEE 754 number.
    Float,
    /// Any other encoding: shown as bytes.
    Other,
}

/// An enumeration's values.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// In source order.
    pub enumerators: Vec<Enumerator>,
    /// Whether values are sign-extended.
    pub signed: bool,
    /// Whether it is an `enum class`.
    pub scoped: bool,
    /// The underlying integer type, if the compiler names one.
    pub underlying: Option<Type>,
}

/// One name of an enumeration.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// The name without scope.
    pub name: Arc<str>,
    /// The value; `i128` holds every 64-bit value of either sign.
    pub value: i128,
}

/// An array of one or more dimensions.
#[derive(Clone, Debug)]
pub struct Array {
    /// The type of each element.
    pub element: Type,
    /// Lengths, outermost first; none for an open dimension (`[]`).
    pub lengths: Vec<Option<u64>>,
}

/// A pointer or reference.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// Whether it is `&` or `&&`, which C++ follows implicitly.
    pub reference: bool,
    /// Its target; none for `void *` and pointers to members. See `Symbols::pointee`.
    pub(crate) target: Option<Target>,
}

/// The target of a pointer: built on demand, or made by an expression.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Die(DieId),
    Type(Type),
}

impl Type {
    /// Returns the name in C++ syntax, such as `volatile uint16_t [5]`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the size in bytes; none for incomplete types, functions and `void`.
    pub fn size(&self) -> Option<u64> {
        self.0.size
    }

    /// Returns the kind of the type, with typedefs and qualifiers as written.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Returns the type behind all typedefs and qualifiers.
    pub fn plain(&self) -> &Type {
        let mut plain = self;
        // Types are built from the inside out, so the chain has no cycle.
        while let Kind::Alias(inner) | Kind::Qualified(inner) = plain.kind() {
            plain = inner;
        }
        plain
    }

    /// Returns bases and data members, through typedefs and qualifiers; empty if it is not a
    /// record.
    pub fn members(&self) -> &[Member] {
        self.record().map_or(&[], |record| &record.members)
    }

    /// Returns the record behind typedefs and qualifiers.
    pub fn record(&self) -> Option<&Record> {
        match self.plain().kind() {
            Kind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Returns the array behind typedefs and qualifiers.
    pub fn array(&self) -> Option<&Array> {
        match self.plain().kind() {
            Kind::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns the enumeration behind typedefs and qualifiers.
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
    /// Returns the number of elements over all dimensions; none if one is open or the product
    /// overflows.
    pub fn count(&self) -> Option<u64> {
        self.lengths.iter().try_fold(1u64, |count, length| count.checked_mul((*length)?))
    }
}

impl Enumeration {
    /// Returns the first enumerator with this value.
    pub fn name_of(&self, value: i128) -> Option<&Arc<str>> {
        self.enumerators.iter().find(|e| e.value == value).map(|e| &e.name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
