//! Where a fact stands, in a form that does not depend on the source: sources are compared by it.

use super::builtin::stream;
use super::channels::{Edge, RouterChannel};
use super::location::{Formula, Located, Location, Locations, Memory, Reader};
use super::router::RouterLayout;
use crate::Reading;
use layouts::{ChipLayout, TileKind};

/// Facts that are computed from other facts of the table.
const DERIVED: [&str; 2] = ["queued", "passes"];
/// Streams of a tile.
const STREAMS: u64 = 32;
/// Numbers from this one on are addresses.
const LARGE: u64 = 0x1_0000;

/// A number, or the place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// A number.
    Value(u64),
    /// The word at an address.
    At(u64),
    /// Several numbers.
    Of(Vec<Self>),
}

/// A fact that two sources place differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The fact, such as `senders[0].free_slots`.
    pub fact: String,
    /// What either source says, in words.
    pub said: [String; 2],
}

/// Compares two sources for a router fact by fact; facts that only one has are left out.
pub fn disagreements(
    layout: &ChipLayout,
    memory: &impl Memory,
    [a, b]: [&RouterLayout; 2],
) -> Vec<Disagreement> {
    let mut compared = Compared { layout, memory, found: Vec::new() };
    compared.all("", [&a.facts, &b.facts]);
    compared.channels("senders", [&a.senders, &b.senders]);
    compared.channels("receivers", [&a.receivers, &b.receivers]);
    compared.edges(&a.downstream, &b.downstream);
    if let (Some(a), Some(b)) = (&a.header, &b.header) {
        compared.counts("header_bytes", [a.bytes, b.bytes]);
    }
    if let (Some(a), Some(b)) = (&a.tables, &b.tables) {
        compared.counts("routing_tables", [a.address, b.address]);
    }
    compared.found
}

/// A comparison.
struct Compared<'a, M> {
    layout: &'a ChipLayout,
    memory: &'a M,
    found: Vec<Disagreement>,
}

impl<M: Memory> Compared<'_, M> {
    /// Compares the channels of one kind.
    fn channels<L: Locations>(&mut self, kind: &str, [a, b]: [&[RouterChannel<L>]; 2]) {
        self.counts(kind, [a.len() as u64, b.len() as u64]);
        for (a, b) in a.iter().zip(b) {
            let at = format!("{kind}[{}].", a.index);
            self.counts(&format!("{at}slots"), [a.slots, b.slots]);
            let channels = [a.virtual_channel.into(), b.virtual_channel.into()];
            self.counts(&format!("{at}virtual_channel"), channels);
            self.all(&at, [&a.facts, &b.facts]);
        }
    }

    fn counts(&mut self, fact: &str, [a, b]: [u64; 2]) {
        if a != b {
            self.found.push(Disagreement { fact: fact.to_owned(), said: [a, b].map(number) });
        }
    }

    /// Compares the facts of a table.
    fn all<L: Locations>(&mut self, prefix: &str, [a, b]: [&L; 2]) {
        for ((fact, a), (_, b)) in a.each().zip(b.each()) {
            if let Some(said) = self.one(a, b).filter(|_| !DERIVED.contains(&fact)) {
                self.found.push(Disagreement { fact: format!("{prefix}{fact}"), said });
            }
        }
    }

    /// Compares edges by direction. An image has one for each direction, and a runtime argument says
    /// which exist.
    fn edges(&mut self, a: &[Edge], b: &[Edge]) {
        let read = Reader(self.memory);
        for a in a {
            let same =
                |b: &&Edge| (b.direction, b.virtual_channel) == (a.direction, a.virtual_channel);
            let tile = a.facts.tile.location().map(|tile| read.number(&tile.formula));
            let exists = match tile {
                Some(Reading::Known(_)) => true,
                Some(Reading::Absent) => false,
                _ => continue,
            };
            let fact = format!("downstream[{}]", a.direction);
            let other = b.iter().find(same);
            if exists != other.is_some() {
                let said = [exists, other.is_some()].map(|is| if is { "there" } else { "none" });
                self.found.push(Disagreement { fact, said: said.map(str::to_owned) });
            } else if let Some(b) = other {
                self.all(&format!("{fact}."), [&a.facts, &b.facts]);
            }
        }
    }

    fn one(&self, a: &Located, b: &Located) -> Option<[String; 2]> {
        let (a, b) = (a.location()?, b.location()?);
        let read = Reader(self.memory);
        let both = [a, b].map(|location| read.standing(&location.formula));
        let [Some(of_a), Some(of_b)] = both else { return None };
        let said = || [self.words(a, &of_a), self.words(b, &of_b)];
        (of_a != of_b).then(said)
    }

    fn words(&self, location: &Location, standing: &Standing) -> String {
        let credits = |id: &u64| stream(self.layout, TileKind::Eth, *id);
        match standing {
            Standing::Value(value) => {
                let name = location.names.as_ref().and_then(|names| names.of_value(*value).name);
                name.map_or_else(|| number(*value), |name| name.as_ref().to_owned())
            }
            Standing::At(at) => {
                let found = (0..STREAMS).find(|id| credits(id).is_some_and(|of| of.addr == *at));
                found.map_or_else(|| format!("{at:#x}"), |id| format!("stream {id}"))
            }
            Standing::Of(parts) => {
                let parts = parts.iter().map(|part| self.words(location, part));
                parts.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn number(value: u64) -> String {
    if value < LARGE { value.to_string() } else { format!("{value:#x}") }
}

impl<M: Memory> Reader<'_, M> {
    /// Returns where a number stands; `None` if an address that leads to it was not read.
    fn standing(&self, formula: &Formula) -> Option<Standing> {
        let of = |parts: &[Formula]| {
            let parts = parts.iter().map(|part| self.standing(part));
            Some(Standing::Of(parts.collect::<Option<_>>()?))
        };
        Some(match formula {
            Formula::Constant(value) => Standing::Value(*value),
            Formula::Word(word) | Formula::Marked(word, _) => Standing::At(word.addr),
            Formula::Member(structure, member) => {
                let start = self.address(&structure.address).known().copied()?;
                Standing::At(start.checked_add(member.addr)?)
            }
            Formula::Packed(..) => Standing::Value(*self.number(formula).known()?),
            Formula::Elsewhere(xy, address) => {
                Standing::Of(vec![Standing::At(xy.addr), Standing::At(address.addr)])
            }
            Formula::If(_, _, parts) => self.standing(parts.first()?)?,
            Formula::Difference(parts) | Formula::Halves(parts) | Formula::Tile(parts) => {
                return of(&**parts);
            }
            Formula::Credits(..) | Formula::Slot(..) | Formula::Nothing => return None,
        })
    }
}
