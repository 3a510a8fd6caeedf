//! `read`: bytes of a tile, as a dump or as JSON.

use crate::output::{json, text};
use crate::shape::Bytes;
use crate::shape::schema;
use crate::target::{Style, inspect, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, unrefused};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use console::words;
use decode::inspect::ReadSet;
use layouts::{NocAddr, Reason, Space, TileKind};
use machine::snapshot::Span;
use std::fmt::Write;

/// Read memory of a tile.
#[derive(clap::Args, Debug)]
pub(crate) struct ReadArguments {
    /// The place: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>; the
    /// address decimal or 0x hexadecimal.
    pub(crate) place: String,
    /// Number of bytes, decimal or 0x hexadecimal.
    #[arg(default_value = "4", value_name = "LEN")]
    pub(crate) len: String,
}

impl Verb for ReadArguments {
    const NAME: &str = "read";
    const PAGES: Pages = &[("read", include_str!("../manual/verbs/read.md"))];
    const SCHEMAS: Schemas = &[("read", schema::<Bytes>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("read")
    }
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, _| {
        let spans = vec![span(&verb.place, &verb.len)?];
        let read_set = ReadSet { spans, ..ReadSet::default() };
        Ok(Some(Box::new(move |machine| unrefused(machine.preview(&read_set)))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, &self.place, &self.len)
    }
}

/// Limit of one read, above the size of a tile's L1.
const MOST: u64 = 2 << 20;

pub(super) fn run(
    target: &Opening,
    style: Style,
    place: &str,
    len: &str,
) -> Result<Outcome, Failure> {
    let span = span(place, len)?;
    let Span { addr, len } = span;
    let NocAddr { chip, tile, offset } = addr;
    let snapshot = inspect(target, |_| ReadSet { spans: vec![span], ..ReadSet::default() })?;
    let Some(on) = snapshot.state.chips.iter().find(|c| c.chip.id == chip) else {
        return Err(Failure::Usage(format!("{addr}: there is no chip {chip} in this mesh")));
    };
    let kind = snapshot.state.layout().kind_at(tile);
    if kind == TileKind::Tensix && on.chip.is_fused_off(tile.y) == Some(true) {
        inside(Space::Harvested, addr, len)?;
    }
    let bytes =
        snapshot.memory.bytes(addr, len).map_err(|e| Failure::of_access(&addr.to_string(), &e))?;
    report(target, &snapshot.state);
    if style.json {
        json(Bytes::new(addr, bytes))?;
    } else {
        text(&dump(offset, bytes))?;
    }
    Ok(Outcome::Healthy)
}

/// Parses the arguments, before a target is opened.
pub(super) fn span(place: &str, len: &str) -> Result<Span, Failure> {
    let (chip, tile, offset) = locate::address(place).map_err(Failure::Usage)?;
    let len = locate::number(len).map_err(|why| Failure::Usage(format!("length: {why}")))?;
    if len == 0 || len > MOST {
        return Err(Failure::Usage(format!(
            "length {len}: from 1 to {MOST} bytes can be read at once"
        )));
    }
    let addr = NocAddr { chip, tile, offset };
    let len = len as u32;
    inside(Space::Tile(locate::layout().kind_at(addr.tile)), addr, len)?;
    Ok(Span { addr, len })
}

fn inside(space: Space, addr: NocAddr, len: u32) -> Result<(), Failure> {
    let name = match space {
        Space::Tile(kind) => words::tile(kind),
        Space::Harvested => "harvested tensix",
        Space::Bar0 => "BAR0",
    };
    misplaced(
        name,
        addr,
        len.into(),
        locate::layout().readable(space, addr.offset, len.into()).err(),
    )
}

/// An address that does not exist is an error of the argument; the target refuses addresses that
/// are unsafe.
pub(super) fn misplaced(
    name: &str,
    addr: NocAddr,
    len: u64,
    reason: Option<Reason>,
) -> Result<(), Failure> {
    let text = match reason {
        Some(Reason::Unmapped { offset }) => {
            let a_tile = words::a(name);
            format!("{addr}: nothing is known at {offset:#x} in {a_tile} tile")
        }
        Some(Reason::Beyond { offset, range, end }) => {
            let a_tile = words::a(name);
            format!(
                "{addr}: nothing is known at {offset:#x} in {a_tile} tile: {range} ends at {end:#x}"
            )
        }
        Some(Reason::PastEnd { range, end }) => format!(
            "{addr}: {len} bytes from there leave {range} of the {name} tile, which ends at {end:#x}"
        ),
        Some(reason @ Reason::Unaligned { .. }) => format!("{addr}: {reason}"),
        None
        | Some(
            Reason::FusedOff
            | Reason::NotWritable { .. }
            | Reason::Private { .. }
            | Reason::Forbidden { .. }
            | Reason::SideEffect { .. },
        ) => return Ok(()),
    };
    Err(Failure::Usage(text))
}

/// Sixteen bytes a line, as words in the order of memory, with their letters.
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
