//! The JSON of `print`: a value with its structure.

use super::{Missing, Why};
use crate::verbs::hex;
use crate::verbs::print::{Found, Value};
use layouts::CoreId;
use probe::images::Image;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use symbols::{Storage, Value as Decoded};

/// `print`.
#[derive(Serialize)]
pub(crate) struct Printed<'a> {
    chip: u16,
    tile: [u8; 2],
    core: &'static str,
    image: &'a str,
    expression: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    addr: Option<u64>,
    size: Option<u64>,
    value: Option<Tree<'a>>,
    #[serde(skip_serializing_if = "Missing::is_empty")]
    missing: Missing,
}

impl<'a> Printed<'a> {
    pub(crate) fn new(
        core: CoreId,
        image: &'a Image,
        expression: &'a str,
        found: &'a Found,
    ) -> Self {
        let mut missing = Missing::new();
        let addr = match &found.storage {
            Storage::Address(at) => Some(*at),
            Storage::Constant(_) => {
                let detail = "a constant of the debug information".to_owned();
                missing.insert("addr", Why { reason: "constant", detail });
                None
            }
            elsewhere => {
                missing.insert("addr", Why { reason: "private", detail: elsewhere.to_string() });
                None
            }
        };
        let value = match &found.value {
            Value::Known(value) => Some(Tree(value)),
            Value::Missing(why) => {
                let (reason, detail) = why.told();
                missing.insert("value", Why { reason, detail });
                None
            }
        };
        let (chip, tile) = (core.chip.0, [core.tile.x, core.tile.y]);
        let (core, image, kind, size) = (core.core.name(), &*image.name, &*found.ty, found.size);
        Self { chip, tile, core, image, expression, kind, addr, size, value, missing }
    }
}

/// Numbers as they are, structures as objects, what has no form as null.
struct Tree<'a>(&'a Decoded);

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Decoded::Unsigned(value) | Decoded::Pointer(value) => to.serialize_u64(*value),
            Decoded::Signed(value) => to.serialize_i64(*value),
            Decoded::Float(value) => to.serialize_f64(*value),
            Decoded::Bool(value) => to.serialize_bool(*value),
            Decoded::Char(value) => to.serialize_char(*value),
            Decoded::Enum { name, value } => {
                let mut map = to.serialize_map(Some(2))?;
                map.serialize_entry("name", &name.as_deref())?;
                map.serialize_entry("value", &(*value as i64))?;
                map.end()
            }
            Decoded::Struct(_) => {
                let mut members = Vec::new();
                flatten(self.0, &mut members);
                let mut map = to.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, &Tree(value))?;
                }
                map.end()
            }
            Decoded::Array(elements) => {
                let mut list = to.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    list.serialize_element(&Tree(element))?;
                }
                list.end()
            }
            Decoded::Bytes(bytes) => to.serialize_str(&hex(bytes)),
            _ => to.serialize_none(),
        }
    }
}

/// Members of what has no name stand beside the others.
fn flatten<'v>(value: &'v Decoded, members: &mut Vec<(&'v str, &'v Decoded)>) {
    let Decoded::Struct(own) = value else { return };
    for (name, value) in own {
        match name {
            Some(name) => members.push((name, value)),
            None => flatten(value, members),
        }
    }
}
