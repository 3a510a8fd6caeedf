//! The JSON of `print`: a value with its structure.

use super::{Decoded, Missing, Why};
use crate::found::{Found, Value};
use decode::images::Image;
use layouts::CoreId;
use serde::Serialize;
use symbols::Storage;

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
    value: Option<Decoded<'a>>,
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
            Storage::Constant(_) | Storage::Computed(_) => {
                let detail = found.storage.to_string();
                missing.insert("addr", Why { reason: "constant", detail });
                None
            }
            elsewhere => {
                missing.insert("addr", Why { reason: "private", detail: elsewhere.to_string() });
                None
            }
        };
        let value = match &found.value {
            Value::Known(value) => Some(
                found
                    .ty
                    .as_ref()
                    .map_or_else(|| Decoded::of(value), |ty| Decoded::typed(value, ty)),
            ),
            Value::Missing(why) => {
                let (reason, detail) = why.reason();
                missing.insert("value", Why { reason, detail });
                None
            }
        };
        let (chip, tile) = (core.chip.0, [core.tile.x, core.tile.y]);
        let (core, image, kind, size) =
            (core.core.name(), &*image.name, found.type_name(), found.size);
        Self { chip, tile, core, image, expression, kind, addr, size, value, missing }
    }
}
