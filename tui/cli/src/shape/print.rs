//! The JSON of `print`: a value with its structure.

use super::{Decoded, Missing, Why};
use console::found::{Found, Value};
use images::Image;
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;
use symbols::Storage;

/// The value of an expression on a core.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Printed<'a> {
    #[serde(flatten)]
    core: CoreId,
    /// The image whose debug information was used.
    image: &'a str,
    /// The given expression.
    expression: &'a str,
    /// The value's type.
    #[serde(rename = "type")]
    kind: &'a str,
    /// Its address, as the core sees it; null if it has none.
    addr: Option<u64>,
    /// Its size in bytes.
    size: Option<u64>,
    /// Null if it could not be read.
    value: Option<Decoded<'a>>,
    /// Why `addr` or `value` is null.
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
        let (image, kind, size) = (&*image.name, found.type_name(), found.size);
        Self { core, image, expression, kind, addr, size, value, missing }
    }
}
