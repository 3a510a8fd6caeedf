//! JSON output: the structs that `--json` prints, and from which `meshscope schema` derives its
//! schemas. Their comments are the schemas' descriptions.

#![expect(clippy::struct_field_names, reason = "the names are promised to scripts")]

mod access;
mod changes;
mod check;
mod clean;
mod cores;
mod debug;
mod difference;
mod doctor;
mod explain;
mod fabric;
mod failed;
mod launch;
mod merged;
mod mesh;
mod pause;
mod print;
mod run;
mod schema;
mod stack;
mod status;
mod symbols;
mod value;
mod who_wrote;
mod why;

pub(crate) use access::{Bytes, DryRun, Written};
pub(crate) use changes::Changes;
pub(crate) use check::Checked;
pub(crate) use clean::Cleaned;
pub(crate) use cores::{Cores, Images};
pub(crate) use debug::{CodeInstruction, DebugStop, Debugged};
pub(crate) use doctor::{Checkup, grade_word};
pub(crate) use explain::{Explained, Explanations};
pub(crate) use fabric::{
    Fabric, FabricProof, FabricRoutes, FabricTables, FabricWaits, fabric, fabric_proof,
    fabric_routes, fabric_tables, fabric_waits,
};
pub(crate) use launch::{Launched, LaunchedTile};
pub(crate) use merged::Merged;
pub(crate) use mesh::{Links, Mesh};
pub(crate) use pause::{PausedMesh, Resumed, SteppedMesh};
pub(crate) use print::Printed;
pub(crate) use run::{Sender, Sweep};
pub(crate) use schema::schema;
pub(crate) use stack::{Stack, StackReason, StackSource, Stacked};
pub(crate) use status::Status;
pub(crate) use symbols::*;
pub(crate) use value::Decoded;
pub(crate) use who_wrote::WhoWrote;
pub(crate) use why::{Files, Judged, Sought};

use images::Reading;
use machine::snapshot::AccessError;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The reasons for null keys, by key.
type Missing = BTreeMap<&'static str, Why>;

/// Why a value is null.
#[derive(Serialize, JsonSchema)]
struct Why {
    /// A reason of `gaps`, or: unknown (the value that was read is not a known one), absent (it
    /// does not exist), constant (of the debug information, without an address), private (only the
    /// core itself can read it), unmapped (nothing is known to be at the address).
    reason: &'static str,
    /// The reason in a sentence; the number that was read, if the value is unknown.
    detail: String,
}

impl From<&AccessError> for Why {
    fn from(error: &AccessError) -> Self {
        Self { reason: error.name(), detail: error.to_string() }
    }
}

/// The value, or null and an entry in `missing`.
fn value<T, U>(
    name: &'static str,
    reading: &Reading<T>,
    missing: &mut Missing,
    show: impl Fn(&T) -> U,
) -> Option<U> {
    if let Some(why) = why(reading) {
        missing.insert(name, why);
    }
    reading.known().map(show)
}

fn why<T>(reading: &Reading<T>) -> Option<Why> {
    match reading {
        Reading::Known(_) => None,
        Reading::Unknown(raw) => Some(Why { reason: "unknown", detail: format!("{raw:#x}") }),
        Reading::Unread(error) => Some(error.into()),
        Reading::Absent => {
            Some(Why { reason: "absent", detail: "there is no such thing here".into() })
        }
    }
}
