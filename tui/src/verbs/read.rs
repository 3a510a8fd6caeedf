//! `read`: bytes of a tile, as a dump or as JSON.

use super::{Style, look};
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{json, text};
use crate::shape::Bytes;
use layouts::NocAddr;
use probe::snapshot::Span;
use std::fmt::Write;

/// More than this in one go is more than a tile's L1.
const MOST: u64 = 2 << 20;

pub(super) fn run(target: &str, style: Style, place: &str, len: &str) -> Result<Outcome, Failure> {
    let (chip, tile, offset) = locate::address(place).map_err(Failure::Usage)?;
    let len = locate::number(len).map_err(|why| Failure::Usage(format!("length: {why}")))?;
    if len == 0 || len > MOST {
        return Err(Failure::Usage(format!(
            "length {len}: from 1 to {MOST} bytes can be read at once"
        )));
    }
    let addr = NocAddr { chip, tile, offset };
    let len = len as u32;
    inside(addr, len)?;
    let sample = look(target, Some(Span { addr, len }))?;
    if !sample.state.chips.iter().any(|c| c.chip.id == chip) {
        return Err(Failure::Usage(format!("{addr}: there is no chip {chip} in this mesh")));
    }
    let bytes =
        sample.memory.bytes(addr, len).map_err(|e| Failure::of_access(&addr.to_string(), &e))?;
    if style.json {
        let hex = bytes.iter().fold(String::new(), |mut hex, b| {
            let _ = write!(hex, "{b:02x}");
            hex
        });
        json(&Bytes { chip: chip.0, tile: [tile.x, tile.y], addr: offset, bytes: hex })?;
    } else {
        text(&dump(offset, bytes))?;
    }
    Ok(Outcome::Healthy)
}

/// An address outside the tile is the argument's fault, known without a look at the machine.
fn inside(addr: NocAddr, len: u32) -> Result<(), Failure> {
    let end = addr.offset.saturating_add(len.into());
    if end > 1 << 36 {
        return Err(Failure::Usage(format!(
            "{addr}: outside the tile, whose addresses end at {:#x}",
            1_u64 << 36
        )));
    }
    Ok(())
}

/// Sixteen bytes a line, as words of memory order, with their letters.
fn dump(from: u64, bytes: &[u8]) -> String {
    let mut text = String::new();
    for (i, row) in bytes.chunks(16).enumerate() {
        let hex: String = row.iter().enumerate().fold(String::new(), |mut hex, (n, b)| {
            let gap = if n > 0 && n % 4 == 0 { " " } else { "" };
            let _ = write!(hex, "{gap}{b:02x} ");
            hex
        });
        let letter = |b: &u8| if b.is_ascii_graphic() { char::from(*b) } else { '.' };
        let letters: String = row.iter().map(letter).collect();
        let _ = writeln!(text, "{:08x}  {hex:<52} {letters}", from + i as u64 * 16);
    }
    text
}
