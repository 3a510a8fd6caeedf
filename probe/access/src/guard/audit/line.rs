//! The lines of the audit log. Bytes are hexadecimal, in the order of memory.

use super::AuditEntry;
use layouts::NocAddr;
use machine::snapshot::AccessError;
use serde::Serialize;
use std::fmt::Write;

/// Longer bytes are cut, and their CRC is written.
const SHOWN_BYTES: usize = 64;

/// The line that begins a command.
#[derive(Serialize)]
pub(super) struct Begins<'a> {
    /// Host time, in microseconds since the Unix epoch.
    pub(super) time_micros: u64,
    pub(super) pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<&'a str>,
    pub(super) command: &'a str,
}

/// The line of a write.
#[derive(Serialize)]
pub(super) struct Written {
    time_micros: u64,
    pid: u32,
    chip: u16,
    tile: [u8; 2],
    addr: u64,
    old: Option<String>,
    /// Why the old bytes are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_missing: Option<String>,
    new: String,
    /// Number of bytes, and CRC-32 of the old and the new ones, of a write whose bytes are cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_crc32: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_crc32: Option<u32>,
}

/// The second line of a write that failed.
#[derive(Serialize)]
pub(super) struct Failure {
    time_micros: u64,
    pid: u32,
    chip: u16,
    tile: [u8; 2],
    addr: u64,
    failed: String,
}

impl Written {
    pub(super) fn of(entry: &AuditEntry<'_>, time_micros: u64) -> Self {
        let NocAddr { chip, tile, offset } = entry.addr;
        let (old, new) = (entry.old.as_ref().ok(), entry.new);
        let cut = new.len() > SHOWN_BYTES;
        let crc = |bytes: &[u8]| cut.then(|| crc32fast::hash(bytes));
        Self {
            time_micros,
            pid: std::process::id(),
            chip: chip.0,
            tile: [tile.x, tile.y],
            addr: offset,
            old: old.map(|old| hex(old)),
            old_missing: entry.old.as_ref().err().map(ToString::to_string),
            new: hex(new),
            bytes: cut.then_some(new.len()),
            old_crc32: old.and_then(|old| crc(old)),
            new_crc32: crc(new),
        }
    }
}

impl Failure {
    pub(super) fn of(addr: NocAddr, time_micros: u64, reason: &AccessError) -> Self {
        let NocAddr { chip, tile, offset: addr } = addr;
        let (chip, tile) = (chip.0, [tile.x, tile.y]);
        Self { time_micros, pid: std::process::id(), chip, tile, addr, failed: reason.to_string() }
    }
}

/// Returns the first bytes.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(SHOWN_BYTES).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
