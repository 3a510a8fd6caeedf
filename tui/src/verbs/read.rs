//! `read`: bytes of a tile, as a dump or as JSON.

use super::{Style, look, tell};
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{json, text};
use crate::shape::Bytes;
use crate::words;
use layouts::{NocAddr, Space, TileKind, wormhole};
use probe::inspect::Interest;
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
    let sample =
        look(target, |_| Interest { spans: vec![Span { addr, len }], ..Interest::default() })?;
    if !sample.state.chips.iter().any(|c| c.chip.id == chip) {
        return Err(Failure::Usage(format!("{addr}: there is no chip {chip} in this mesh")));
    }
    let bytes =
        sample.memory.bytes(addr, len).map_err(|e| Failure::of_access(&addr.to_string(), &e))?;
    tell(target, &sample.state);
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
    let kind = wormhole().tile_at(addr.tile).map_or(TileKind::Router, |t| t.kind);
    let name = words::tile(kind);
    let Some(range) = wormhole().ranges.at(Space::Tile(kind), addr.offset) else {
        return Err(Failure::Usage(format!(
            "{addr}: nothing is known to stand there in an {name} tile"
        )));
    };
    if addr.offset.saturating_add(len.into()) > range.end() {
        let (of, end) = (&range.name, range.end());
        let text = format!(
            "{addr}: {len} bytes from there leave {of} of the {name} tile, which ends at {end:#x}"
        );
        return Err(Failure::Usage(text));
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
