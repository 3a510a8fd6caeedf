//! Decoded values as JSON.

use console::words;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashSet;
use symbols::{Member, Record, Type, Value};

/// A value: numbers, booleans, strings for characters, `{"name","value"}` for enumerations, arrays,
/// and objects for structures. Null is an unknown value, such as a virtual base, whose place is not
/// in the type.
pub(crate) struct Decoded<'a> {
    value: &'a Value,
    /// The type, if it is known: it names the bases.
    ty: Option<&'a Type>,
    /// Number of array dimensions that are decoded already.
    within: usize,
}

impl<'a> Decoded<'a> {
    /// A value without bases.
    pub(crate) fn of(value: &'a Value) -> Self {
        Self { value, ty: None, within: 0 }
    }

    /// A value of that type.
    pub(crate) fn typed(value: &'a Value, ty: &'a Type) -> Self {
        Self { value, ty: Some(ty), within: 0 }
    }

    /// An element of this array.
    fn element(&self, value: &'a Value) -> Self {
        let Some(array) = self.ty.and_then(Type::array) else { return Self::of(value) };
        match self.within + 1 {
            within if within < array.lengths.len() => Self { value, ty: self.ty, within },
            _ => Self::typed(value, &array.element),
        }
    }

    /// The members and bases of a structure: the name, if it has one, the value, and whether it is
    /// a base.
    fn parts(&self) -> Vec<Part<'a>> {
        let Value::Struct(values) = self.value else { return Vec::new() };
        let types = self.ty.map_or(&[][..], Type::members);
        let parts = values.iter().enumerate().map(|(at, (name, value))| {
            let member: Option<&Member> = types.get(at);
            let inner = member.map_or_else(|| Self::of(value), |m| Self::typed(value, &m.ty));
            Part { name: name.as_deref(), base: member.is_some_and(|m| m.base), inner }
        });
        parts.collect()
    }

    /// The members by name: own ones first, then those of bases and of unnamed members, as in C++
    /// lookup.
    fn members(&self) -> Vec<(&'a str, Decoded<'a>)> {
        let (named, unnamed): (Vec<_>, Vec<_>) =
            self.parts().into_iter().partition(|part| part.name.is_some());
        let named = named.into_iter().filter_map(|part| Some((part.name?, part.inner)));
        named.chain(unnamed.iter().flat_map(|part| part.inner.members())).collect()
    }
}

/// A member or a base with its value.
struct Part<'a> {
    name: Option<&'a str>,
    base: bool,
    inner: Decoded<'a>,
}

impl JsonSchema for Decoded<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value by its type: a number, also for a pointer; a boolean; a string of one character; {name, value} for an \
                enumerator; an array; an object for a structure, with the members of its bases among its own. A base with hidden \
                members is also an object under its type's name. Of a type that is not decoded: its bytes, two hexadecimal digits each. \
                Null: not known, such as a virtual base."
        })
    }
}

impl Serialize for Decoded<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.value {
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
                elements
                    .iter()
                    .try_for_each(|value| array.serialize_element(&self.element(value)))?;
                array.end()
            }
            Value::Struct(_) => {
                let mut object = to.serialize_map(None)?;
                let mut known = HashSet::new();
                for (name, value) in self.members() {
                    // A member hides a base's member of the same name.
                    if known.insert(name) {
                        object.serialize_entry(name, &value)?;
                    }
                }
                for (name, base) in hiding(&self.parts()) {
                    // A member may have the name of a base.
                    let other = format!("::{name}");
                    object.serialize_entry(if known.insert(name) { name } else { &other }, base)?;
                }
                let placed = self.ty.and_then(Type::record).map(Record::all_virtual_bases);
                for base in placed.unwrap_or_default() {
                    if known.insert(base.name()) {
                        object.serialize_entry(base.name(), &())?;
                    }
                }
                object.end()
            }
            Value::Bytes(bytes) => to.serialize_str(&words::hex(bytes)),
            Value::Unread | Value::Opaque => to.serialize_unit(),
        }
    }
}

/// The bases with hidden members, by their types' names.
fn hiding<'p, 'a>(parts: &'p [Part<'a>]) -> Vec<(&'a str, &'p Decoded<'a>)> {
    let mut known: HashSet<&str> = parts.iter().filter_map(|part| part.name).collect();
    let mut hiding = Vec::new();
    for part in parts.iter().filter(|part| part.name.is_none()) {
        let hidden = part.inner.members().iter().filter(|(name, _)| !known.insert(name)).count();
        if let (true, Some(ty)) = (hidden > 0 && part.base, part.inner.ty) {
            hiding.push((ty.name(), &part.inner));
        }
    }
    hiding
}
