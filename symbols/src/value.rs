//! Values: bytes with a type, as a tree that can be printed, searched and compared.

use std::sync::Arc;

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value. A `bool` byte other than 0 and 1 is `Unsigned`.
    Bool(bool),
    /// A character.
    Char(char),
    /// A value of an enumeration.
    Enum {
        /// None if no enumerator has this value.
        name: Option<Arc<str>>,
        /// The value itself.
        value: i128,
    },
    /// A pointer or reference, not followed.
    Pointer(u64),
    /// A structure, class or union, in source order.
    Struct(Vec<(Option<Arc<str>>, Value)>),
    /// An array; inner dimensions are arrays again.
    Array(Vec<Value>),
    /// Bytes of a type without a better form.
    Bytes(Vec<u8>),
    /// The bytes are unreadable.
    Unread,
    /// The bytes were read, but the type is incomplete or too large to decode.
    Opaque,
}

impl Value {
    /// Returns the value as a number, sign-extended if it is signed.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Unsigned(value) | Value::Pointer(value) => Some(value),
            Value::Signed(value) => Some(value as u64),
            Value::Bool(value) => Some(value.into()),
            Value::Char(value) => Some(u64::from(u32::from(value))),
            Value::Enum { value, .. } => Some(value as u64),
            _ => None,
        }
    }

    /// Returns a member by name, through anonymous members and bases.
    pub fn member(&self, name: &str) -> Option<&Value> {
        let Value::Struct(members) = self else { return None };
        let named = members.iter().find(|(own, _)| own.as_deref() == Some(name));
        named.map(|(_, value)| value).or_else(|| {
            let unnamed = members.iter().filter(|(own, _)| own.is_none());
            unnamed.map(|(_, value)| value).find_map(|value| value.member(name))
        })
    }

    /// Returns an element by index.
    pub fn element(&self, index: usize) -> Option<&Value> {
        match self {
            Value::Array(elements) => elements.get(index),
            _ => None,
        }
    }
}
