//! Makes the lines of the audit log.

use super::AuditEntry;
use layouts::NocAddr;
use machine::notes::AuditLine;
use machine::snapshot::AccessError;
use std::fmt::Write;

/// Longer bytes are cut, and their CRC is written.
const SHOWN_BYTES: usize = 64;

/// Returns the line of a write.
pub(super) fn written(entry: &AuditEntry<'_>, time_micros: u64) -> AuditLine {
    let (old, new) = (entry.old.as_ref().ok(), entry.new);
    let cut = new.len() > SHOWN_BYTES;
    let crc = |bytes: &[u8]| cut.then(|| crc32fast::hash(bytes));
    AuditLine::Write {
        time_micros,
        pid: std::process::id(),
        place: entry.addr.into(),
        old: old.map(|old| hex(old)),
        old_missing: entry.old.as_ref().err().map(ToString::to_string),
        new: hex(new),
        bytes: cut.then_some(new.len()),
        old_crc32: old.and_then(|old| crc(old)),
        new_crc32: crc(new),
    }
}

/// Returns the second line of a write that failed.
pub(super) fn failed(addr: NocAddr, time_micros: u64, reason: &AccessError) -> AuditLine {
    let (pid, place, failed) = (std::process::id(), addr.into(), reason.to_string());
    AuditLine::Failed { time_micros, pid, place, failed }
}

/// Returns the first bytes.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(SHOWN_BYTES).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
