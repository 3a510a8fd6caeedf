//! The rows of the words pane: the members of the structures that the core's images describe, as
//! unfolded.

use decode::state::{CoreState, MemberState};
use images::{OutlineMember, Reading};
use layouts::{CoreId, NocAddr};
use machine::snapshot::{AccessError, Snapshot};
use std::collections::BTreeSet;
use symbols::{Encoding, Kind, Value};

/// A folded record of at most this many bytes is shown in full; of a larger one only the type is.
const WRITTEN_OUT: u64 = 64;

/// A row.
#[derive(Clone, Copy, Debug)]
pub enum MemberRow<'a> {
    /// A member, and whether it is unfolded, if it has members.
    Member(&'a OutlineMember, Option<bool>),
    /// A word outside all structures.
    Word(&'a MemberState),
}

impl<'a> MemberRow<'a> {
    /// The path of the row.
    pub fn path(&self) -> &'a str {
        match self {
            Self::Member(node, _) => &node.path,
            Self::Word(word) => &word.name,
        }
    }

    /// Tile-local address.
    pub fn addr(&self) -> u64 {
        match self {
            Self::Member(node, _) => node.addr,
            Self::Word(word) => word.addr,
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Member(node, _) => node.size,
            Self::Word(word) => word.size.into(),
        }
    }

    /// The first byte after it.
    pub fn end(&self) -> u64 {
        self.addr().saturating_add(self.size())
    }
}

/// The rows to scroll: all that are unfolded, or all that pass a filter.
pub fn rows<'a>(
    core: &'a CoreState,
    filter: Option<&dyn Fn(&MemberRow<'_>) -> bool>,
    turned: &BTreeSet<String>,
) -> Vec<MemberRow<'a>> {
    let mut rows = Vec::new();
    for outline in &core.outlines {
        let nodes = outline.nodes();
        if let Some(passes) = filter {
            rows.extend(nodes.iter().map(|node| MemberRow::Member(node, None)).filter(passes));
            continue;
        }
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            let open = (node.end > at + 1).then(|| is_open(node, turned));
            rows.push(MemberRow::Member(node, open));
            at = if open == Some(false) { node.end } else { at + 1 };
        }
    }
    let passes = |row: &MemberRow<'_>| filter.is_none_or(|passes| passes(row));
    rows.extend(loose(core).map(MemberRow::Word).filter(passes));
    rows
}

/// The number of rows if all were unfolded.
pub fn count(core: &CoreState) -> usize {
    let members = core.outlines.iter().map(|outline| outline.nodes().len());
    members.sum::<usize>() + loose(core).count()
}

/// Outermost structures are unfolded by default, inner ones folded.
fn is_open(node: &OutlineMember, turned: &BTreeSet<String>) -> bool {
    turned.contains(&node.path) != (node.depth == 0)
}

/// The words outside all structures.
fn loose(core: &CoreState) -> impl Iterator<Item = &MemberState> {
    let held = |word: &MemberState| {
        let roots = core.outlines.iter().filter_map(|outline| outline.nodes().first());
        let mut roots = roots.map(|root| root.addr..root.addr.saturating_add(root.size));
        roots.any(|root| root.contains(&word.addr))
    };
    core.words.iter().filter(move |word| !held(word))
}

/// The scalar members in a range of addresses, each with its index by address.
pub fn over(core: &CoreState, from: u64, to: u64) -> Vec<(usize, MemberRow<'_>)> {
    let leaves = core.outlines.iter().flat_map(|outline| outline.leaves(from, to));
    let leaves = leaves.map(|(index, node)| (index, MemberRow::Member(node, None)));
    let words = loose(core).enumerate().map(|(index, word)| (index, MemberRow::Word(word)));
    let words = words.filter(|(_, word)| word.addr() < to && word.end() > from);
    let mut all: Vec<_> = leaves.chain(words).collect();
    all.sort_by_key(|(_, row)| row.addr());
    all
}

/// The text of a row's value in a snapshot.
pub fn text(core: CoreId, memory: &Snapshot, row: &MemberRow<'_>) -> Reading<String> {
    let node = match row {
        MemberRow::Word(word) => {
            return word.value.clone().map(|value| number(value, word.size));
        }
        MemberRow::Member(node, _) => node,
    };
    if is_large(node) {
        return Reading::Known(format!("{}, {} bytes", node.ty.name(), node.size));
    }
    match bytes(core, memory, node) {
        Ok(bytes) => Reading::Known(of_bytes(node, bytes)),
        Err(error) => Reading::Unread(error),
    }
}

/// The bytes of a member of a core.
pub fn bytes<'m>(
    core: CoreId,
    memory: &'m Snapshot,
    node: &OutlineMember,
) -> Result<&'m [u8], AccessError> {
    let at = NocAddr { chip: core.chip, tile: core.tile, offset: node.addr };
    memory.bytes(at, u32::try_from(node.size).unwrap_or(u32::MAX))
}

/// Whether a record, or an array of records, is too large to be shown in full.
fn is_large(node: &OutlineMember) -> bool {
    node.size > WRITTEN_OUT && node.ty.array().map_or(&node.ty, |a| &a.element).record().is_some()
}

fn of_bytes(node: &OutlineMember, bytes: &[u8]) -> String {
    let value = node.value(bytes);
    let size = node.size as u32;
    match (&value, node.ty.plain().kind()) {
        (Value::Unsigned(value), Kind::Base(Encoding::Unsigned)) => number(*value, size),
        (Value::Enum { name, value }, _) => {
            let raw = format!("{value:#x}");
            name.as_ref()
                .map_or_else(|| format!("{raw} has no name"), |name| format!("{name} {raw}"))
        }
        (Value::Array(_), _) => match letters(bytes) {
            Some(letters) if size <= 8 => format!("'{letters}' {value}"),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}

/// Hexadecimal in the width of the member, followed by the letters of a waypoint or the decimal
/// value.
pub fn number(value: u64, size: u32) -> String {
    let hex = format!("{value:#0w$x}", w = 2 + 2 * size.min(8) as usize);
    let bytes = value.to_le_bytes();
    match (value, letters(bytes.get(..size as usize).unwrap_or_default())) {
        (0..10, _) => hex,
        (_, Some(letters)) if size == 4 => format!("{hex} '{letters}'"),
        _ => format!("{hex} {value}"),
    }
}

/// Two letters or more, followed by zeros.
fn letters(bytes: &[u8]) -> Option<String> {
    let text: String =
        bytes.iter().map(|b| char::from(*b)).take_while(char::is_ascii_alphanumeric).collect();
    let padded = bytes.iter().skip(text.len()).all(|b| *b == 0);
    (text.len() >= 2 && padded).then_some(text)
}
