//! Marks and commands: what people and programs said of moments.

use serde::{Deserialize, Serialize};

/// The JSON schema of a mark.
pub(crate) const MARK_SCHEMA: &str = r#"{
  "title": "meshscope.Mark",
  "description": "A moment that somebody marked, or at which a verdict found something.",
  "type": "object",
  "properties": {
    "target_cycles": {"type": "integer", "description": "The target's own time, in device cycles."},
    "host_micros": {"type": "integer", "description": "Microseconds since the Unix epoch."},
    "text": {"type": "string"},
    "condition": {"type": ["string", "null"], "description": "The condition that a live verdict named."},
    "made_by": {"type": "string", "description": "The version of the meshscope that set it."}
  }
}"#;

/// The JSON schema of a command.
pub(crate) const COMMAND_SCHEMA: &str = r#"{
  "title": "meshscope.Command",
  "description": "A command that changed the mesh, or its entry in the audit log.",
  "type": "object",
  "properties": {
    "target_cycles": {"type": "integer", "description": "The target's own time, in device cycles."},
    "host_micros": {"type": "integer", "description": "Microseconds since the Unix epoch."},
    "text": {"type": "string"}
  }
}"#;

/// A command that changed the mesh, or an entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The target's own time, in device cycles.
    pub target_cycles: u64,
    /// Host time, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// The command's words.
    pub text: String,
}
