//! The schemas of marks, commands, lines of the audit log, and messages of status queues, which are
//! stored as `machine` has them.

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
  "description": "A command that changed the mesh.",
  "type": "object",
  "properties": {
    "target_cycles": {"type": "integer", "description": "The target's own time, in device cycles."},
    "host_micros": {"type": "integer", "description": "Microseconds since the Unix epoch."},
    "text": {"type": "string"}
  }
}"#;

/// The JSON schema of a line of the audit log.
pub(crate) const AUDIT_SCHEMA: &str = r#"{
  "title": "meshscope.AuditLine",
  "description": "A line of the audit log: it begins a command (`command`), is a write (`new`), or says that the write before it failed (`failed`). Bytes are hexadecimal, in the order of memory.",
  "type": "object",
  "properties": {
    "time_micros": {"type": "integer", "description": "Microseconds since the Unix epoch."},
    "pid": {"type": "integer", "description": "The process."},
    "user": {"type": "string"},
    "target": {"type": "string", "description": "The words that opened the target."},
    "command": {"type": "string"},
    "chip": {"type": "integer"},
    "tile": {"type": "array", "items": {"type": "integer"}, "description": "NOC 0 x and y."},
    "addr": {"type": "integer", "description": "Byte offset in the tile."},
    "old": {"type": ["string", "null"], "description": "The first bytes before the write."},
    "old_missing": {"type": "string", "description": "Why they are unknown."},
    "new": {"type": "string", "description": "The first bytes that are written."},
    "bytes": {"type": "integer", "description": "Number of bytes, if not all are here."},
    "old_crc32": {"type": "integer", "description": "Of all bytes before, if not all are here."},
    "new_crc32": {"type": "integer", "description": "Of all bytes that are written, if not all are here."},
    "failed": {"type": "string", "description": "Why the write failed."}
  }
}"#;

/// The JSON schema of a message of a status queue.
pub(crate) const STATUS_SCHEMA: &str = r#"{
  "title": "meshscope.StatusMessage",
  "description": "A message that a router wrote to its status queue, once, when it was first read.",
  "type": "object",
  "properties": {
    "host_micros": {"type": "integer", "description": "When it was read, in microseconds since the Unix epoch."},
    "chip": {"type": "integer", "description": "The router's chip."},
    "channel": {"type": "integer", "description": "The router's Ethernet channel."},
    "run_id": {"type": "integer", "description": "Number of the fabric's bring-up."},
    "number": {"type": "integer", "description": "Number of the entry, counted by the router from 0."},
    "wall_clock_cycles": {"type": "integer", "description": "Wall clock of the router's chip when it wrote the entry."},
    "event": {"type": "string"},
    "detail": {"type": "array", "items": {"type": "integer"}},
    "text": {"type": "string", "description": "The details in words."}
  }
}"#;
