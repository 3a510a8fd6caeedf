//! Values: bytes with a type, as a tree that can be printed, searched and compared.

use std::fmt;
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
    /// A truth value; a `bool` byte other than 0 and 1 is `Unsigned`, since it is not one.
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
    /// A structure, class or union, in the order of the source.
    Struct(Vec<(Option<Arc<str>>, Value)>),
    /// An array; inner dimensions are arrays again.
    Array(Vec<Value>),
    /// Bytes of a type that has no better form.
    Bytes(Vec<u8>),
    /// The bytes could not be had.
    Unread,
    /// The bytes are there, but the type is incomplete or too large to decode.
    Opaque,
}

impl Value {
    /// The value as a number, sign-extended if it is signed.
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

    /// A member by name, through anonymous members and bases.
    pub fn member(&self, name: &str) -> Option<&Value> {
        let Value::Struct(members) = self else { return None };
        let named = members.iter().find(|(own, _)| own.as_deref() == Some(name));
        named.map(|(_, value)| value).or_else(|| {
            let unnamed = members.iter().filter(|(own, _)| own.is_none());
            unnamed.map(|(_, value)| value).find_map(|value| value.member(name))
        })
    }

    /// An element by index.
    pub fn element(&self, index: usize) -> Option<&Value> {
        match self {
            Value::Array(elements) => elements.get(index),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Signed(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Char(value) => write!(f, "{value:?}"),
            Value::Enum { name: Some(name), .. } => f.write_str(name),
            Value::Enum { name: None, value } => write!(f, "{value}"),
            Value::Pointer(value) => write!(f, "{value:#x}"),
            Value::Struct(members) => members_as_text(f, members),
            Value::Array(elements) => elements_as_text(f, elements),
            Value::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Value::Unread => f.write_str("<unread>"),
            Value::Opaque => f.write_str("<opaque>"),
        }
    }
}

fn members_as_text(
    f: &mut fmt::Formatter<'_>,
    members: &[(Option<Arc<str>>, Value)],
) -> fmt::Result {
    f.write_str("{")?;
    for (at, (name, value)) in members.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        match name {
            Some(name) => write!(f, "{comma}{name} = {value}")?,
            None => write!(f, "{comma}{value}")?,
        }
    }
    f.write_str("}")
}

/// As gdb does, equal neighbours are counted: `0 <repeats 31 times>`.
fn elements_as_text(f: &mut fmt::Formatter<'_>, elements: &[Value]) -> fmt::Result {
    const THRESHOLD: usize = 10;
    f.write_str("{")?;
    let mut rest = elements;
    let mut comma = "";
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|value| *value == first).count();
        let shown = if same >= THRESHOLD { same } else { 1 };
        write!(f, "{comma}{first}")?;
        if shown > 1 {
            write!(f, " <repeats {shown} times>")?;
        }
        rest = rest.get(shown..).unwrap_or_default();
        comma = ", ";
    }
    f.write_str("}")
}
