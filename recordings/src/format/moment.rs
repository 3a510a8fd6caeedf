//! The message of a moment, after those of its chips.

use super::reason::StoredGap;
use layouts::ChipId;
use machine::snapshot::StoppedCore;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The JSON schema of the message.
pub(crate) const SCHEMA: &str = r#"{
  "title": "meshscope.Moment",
  "description": "A snapshot of the mesh. Its bytes stand in the messages of the same sequence number on /chips/N.",
  "type": "object",
  "properties": {
    "target_cycles": {"type": "integer", "description": "The target's own time, in device cycles."},
    "host_micros": {"type": "integer", "description": "Microseconds since the Unix epoch."},
    "transactions": {"type": "integer", "description": "Bus transactions that the snapshot took."},
    "key_moment": {"type": "integer", "description": "The sequence number of the key snapshot."},
    "changed_bytes": {"type": "object", "description": "For each chip read, the number of bytes that differ from the moment before."},
    "partial": {"type": "boolean", "description": "Whether the moment read only a part of the mesh; the rest is as the moment before has it. Absent: false."},
    "gaps": {"type": ["array", "null"], "description": "Ranges that were not read, and why. Null: those of the moment before.", "items": {"type": "object"}},
    "stopped": {"type": ["array", "null"], "description": "Cores that an emulated machine had stopped, each with its chip. Null: those of the moment before.", "items": {"type": "array"}}
  }
}"#;

/// A snapshot without its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MomentRecord {
    pub(crate) target_cycles: u64,
    pub(crate) host_micros: u64,
    #[serde(default)]
    pub(crate) transactions: u64,
    /// The number of the key snapshot.
    pub(crate) key_moment: u32,
    /// Per chip read, bytes that differ from the moment before.
    #[serde(default)]
    pub(crate) changed_bytes: BTreeMap<u16, u32>,
    /// Whether it read only a part of the mesh.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partial: bool,
    /// None: those of the moment before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gaps: Option<Vec<StoredGap>>,
    /// The cores that an emulated machine had stopped. None: those of the moment before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopped: Option<Stopped>,
}

/// Cores that a machine had stopped, each with its chip.
pub(crate) type Stopped = Vec<(ChipId, StoppedCore)>;
