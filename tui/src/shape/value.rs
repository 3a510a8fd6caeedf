//! Decoded values as JSON.

use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use symbols::Value;

/// A value: numbers, truth values, strings for characters, `{"name","value"}` for enumerations, arrays, and objects
/// for structures. What could not be had is null.
pub(crate) struct Decoded<'a>(pub(crate) &'a Value);

impl Serialize for Decoded<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Unsigned(value) | Value::Pointer(value) => to.serialize_u64(*value),
            Value::Signed(value) => to.serialize_i64(*value),
            Value::Float(value) => to.serialize_f64(*value),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::Char(value) => to.serialize_char(*value),
            Value::Enum { name, value } => {
                let mut object = to.serialize_struct("Enum", 2)?;
                object.serialize_field("name", &name.as_deref())?;
                object.serialize_field("value", value)?;
                object.end()
            }
            Value::Array(elements) => {
                let mut array = to.serialize_seq(Some(elements.len()))?;
                elements.iter().try_for_each(|value| array.serialize_element(&Decoded(value)))?;
                array.end()
            }
            Value::Struct(_) => {
                let mut object = to.serialize_map(None)?;
                let mut known = HashSet::new();
                for (name, value) in members(self.0) {
                    // A member hides that of the same name in a base.
                    if known.insert(name) {
                        object.serialize_entry(name, &Decoded(value))?;
                    }
                }
                object.end()
            }
            Value::Bytes(bytes) => to.serialize_str(&crate::verbs::hex(bytes)),
            Value::Unread | Value::Opaque => to.serialize_unit(),
        }
    }
}

/// The members by name: own ones first, then those of bases and of unnamed members, as C++ finds them.
fn members(of: &Value) -> Vec<(&str, &Value)> {
    let Value::Struct(members) = of else { return Vec::new() };
    let named = members.iter().filter_map(|(name, value)| Some((name.as_deref()?, value)));
    let unnamed = members.iter().filter(|(name, _)| name.is_none());
    named.chain(unnamed.flat_map(|(_, value)| self::members(value))).collect()
}
