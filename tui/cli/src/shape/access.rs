//! The JSON of `read`, `write` and `--dry-run`.

use super::Missing;
use console::words;
use layouts::NocAddr;
use machine::snapshot::{AccessError, Gap};
use machine::target::{PlannedAccess, Preview};
use schemars::JsonSchema;
use serde::Serialize;

/// Memory of a tile.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Bytes {
    #[serde(flatten)]
    at: NocAddr,
    /// The bytes in the order of memory, two hexadecimal digits each.
    bytes: String,
}

/// Memory of a tile before and after a write.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    #[serde(flatten)]
    at: NocAddr,
    /// The bytes before the write, in the order of memory, two hexadecimal digits each; null if
    /// they were not read.
    old: Option<String>,
    /// The bytes that were written, likewise.
    new: String,
    /// Why `old` is null.
    missing: Missing,
}

/// What a verb with --dry-run would touch. Accesses that depend on the first answers are not
/// listed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DryRun<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// Bus transactions made to find the mesh.
    discovery_transactions: u64,
    /// Bus transactions of all accesses.
    transactions: u64,
    /// The accesses, in order.
    accesses: &'a [PlannedAccess],
    /// Ranges that would be refused, with the reason.
    gaps: &'a [Gap],
}

impl Bytes {
    /// The shape of `read`.
    pub(crate) fn new(at: NocAddr, bytes: &[u8]) -> Self {
        Self { at, bytes: words::hex(bytes) }
    }
}

impl Written {
    /// The shape of `write`.
    pub(crate) fn new(at: NocAddr, old: Result<String, &AccessError>, new: String) -> Self {
        let mut missing = Missing::new();
        if let Err(error) = old {
            missing.insert("old", error.into());
        }
        Self { at, old: old.ok(), new, missing }
    }
}

impl<'a> DryRun<'a> {
    /// The shape of any verb with `--dry-run`.
    pub(crate) fn new(target: &'a str, discovery: u64, preview: &'a Preview) -> Self {
        Self {
            target,
            discovery_transactions: discovery,
            transactions: preview.accesses.iter().map(|visit| visit.transactions).sum(),
            accesses: &preview.accesses,
            gaps: &preview.gaps,
        }
    }
}
