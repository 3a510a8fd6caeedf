//! The location of a fact, and the formula that computes its number from words.

use super::enumeration::Enumeration;
use super::fact::Fact;
use crate::Reading;
use layouts::NocXy;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A word of a tile: L1 or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    /// Tile-local address.
    pub addr: u64,
    /// Bytes.
    pub size: u32,
}

/// A structure whose address is a number to be read; 0 means no structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    pub(crate) address: Box<Formula>,
    pub(crate) bytes: u64,
}

/// The slots of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) count: u64,
}

impl Slots {
    /// Returns the address of a slot; indexes wrap.
    fn slot(self, index: u64) -> u64 {
        self.at + self.bytes * (index % self.count.max(1))
    }
}

/// The location of a fact, or the reason why the source does not know it.
#[derive(Clone, Debug, Default)]
pub enum Located {
    /// The location.
    At(Location),
    /// The reason, as a user reads it: what would give the fact.
    Nowhere(&'static str),
    /// The program has no such fact.
    #[default]
    Absent,
}

impl From<Option<Location>> for Located {
    fn from(found: Option<Location>) -> Self {
        found.map_or_else(Self::default, Self::At)
    }
}

impl Located {
    /// Makes a location, or gives the reason why there is none.
    pub(crate) fn or(found: Option<impl Into<Location>>, reason: &'static str) -> Self {
        found.map_or(Self::Nowhere(reason), |found| Self::At(found.into()))
    }

    /// Returns the location.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::At(location) => Some(location),
            Self::Nowhere(_) | Self::Absent => None,
        }
    }

    /// Returns the reason.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Nowhere(reason) => Some(reason),
            Self::At(_) | Self::Absent => None,
        }
    }
}

/// The location of a fact.
#[derive(Clone, Debug)]
pub struct Location {
    pub(crate) formula: Formula,
    /// The names of the values of an enumerator.
    pub names: Option<Arc<Enumeration>>,
}

/// The formula of a fact's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// A constant of the image.
    Constant(u64),
    /// A word.
    Word(Word),
    /// A member of a structure, by offset.
    Member(Structure, Word),
    /// The credits of the stream whose number is a word plus an offset.
    Credits(Word, u64),
    /// A word of another tile; tile and address are in two words. 0 means no such word.
    Elsewhere(Word, Word),
    /// The difference of two 32-bit counts.
    Difference(Box<[Self; 2]>),
    /// The address of the slot at an index.
    Slot(Slots, Box<Self>),
    /// The lower 16 bits, and the bits above them.
    Halves(Box<[Self; 2]>),
    /// `x | y << 16` on NOC 0 of a tile, from the coordinate that a kernel uses: physical or
    /// translated. 0-0 means no tile.
    Tile(Box<[Self; 2]>),
    /// The first formula if a word has a value, else the second.
    If(Word, u64, Box<[Self; 2]>),
    /// The low 16 bits of a word whose high half is a mark; nothing if it is another mark.
    Marked(Word, u16),
    /// The byte of packed bytes for a bit of a mask: there is a byte for each bit that is set.
    /// Nothing if the bit is clear.
    Packed(Box<[Self; 2]>, u32),
    /// Nothing.
    Nothing,
}

impl From<Formula> for Location {
    fn from(formula: Formula) -> Self {
        Self { formula, names: None }
    }
}

impl From<Word> for Location {
    fn from(word: Word) -> Self {
        Formula::Word(word).into()
    }
}

/// The source of words and of chip data. A packet header has words only.
pub trait Memory {
    /// Reads a word of the tile.
    fn word(&self, word: Word) -> Reading<u64>;

    /// Reads a word of another tile.
    fn elsewhere(&self, _tile: NocXy, _word: Word) -> Reading<u64> {
        Reading::Absent
    }

    /// Whether a tile has this word in its L1. Registers of other tiles are not read.
    fn is_l1(&self, _tile: NocXy, _word: Word) -> bool {
        false
    }

    /// Returns the register of a stream's credits.
    fn credits(&self, _stream: u64) -> Option<Word> {
        None
    }

    /// Returns the tile at a coordinate that a kernel uses.
    fn tile(&self, _x: u64, _y: u64) -> Option<NocXy> {
        None
    }
}

/// Facts that a source does not know, by name, with the reason of each: what would give it.
pub type Unknown = BTreeMap<&'static str, &'static str>;

/// The locations of the facts of a structure.
pub trait Locations {
    /// The decoded facts.
    type Facts;

    /// Returns the name of each fact, and its location.
    fn each(&self) -> impl Iterator<Item = (&'static str, &Located)>;

    /// Returns the known locations.
    fn known(&self) -> impl Iterator<Item = &Location> {
        self.each().filter_map(|(_, located)| located.location())
    }

    /// Returns the facts that the program has and the source does not know, and the reasons.
    fn unknown(&self) -> Unknown {
        self.each().filter_map(|(name, located)| Some((name, located.reason()?))).collect()
    }

    /// Returns the names of the facts without a location.
    #[cfg(test)]
    fn missing(&self) -> Vec<&'static str> {
        let missing = self.each().filter(|(_, located)| located.location().is_none());
        missing.map(|(name, _)| name).collect()
    }

    /// Reads the facts.
    fn read(&self, memory: &impl Memory) -> Self::Facts;
}

/// A range whose address was read and that is to be read next, in this tile or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The other tile.
    pub tile: Option<NocXy>,
    /// Tile-local address.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
}

impl Location {
    /// Returns the words whose addresses the source knows.
    pub fn words(&self) -> Vec<Word> {
        let mut found = Vec::new();
        self.formula.words(&mut found);
        found
    }

    /// Whether the fact is this word.
    pub fn is_word(&self, word: Word) -> bool {
        self.formula == Formula::Word(word)
    }
}

impl Formula {
    fn words(&self, found: &mut Vec<Word>) {
        match self {
            Self::Constant(_) | Self::Nothing => {}
            Self::Word(word) | Self::Credits(word, _) | Self::Marked(word, _) => found.push(*word),
            Self::Member(structure, _) => structure.address.words(found),
            Self::Elsewhere(tile, address) => found.extend([*tile, *address]),
            Self::Slot(_, index) => index.words(found),
            Self::If(word, _, parts) => {
                found.push(*word);
                parts.iter().for_each(|part| part.words(found));
            }
            Self::Difference(parts)
            | Self::Halves(parts)
            | Self::Tile(parts)
            | Self::Packed(parts, _) => {
                parts.iter().for_each(|part| part.words(found));
            }
        }
    }
}

/// Reads facts.
pub struct Reader<'a, M: Memory>(pub &'a M);

impl<M: Memory> Reader<'_, M> {
    /// Reads a fact.
    pub fn fact<T: Fact>(&self, location: Option<&Location>) -> Reading<T> {
        let Some(Location { formula, names }) = location else { return Reading::Absent };
        self.number(formula).and_then(|raw| T::decode(raw, names.as_deref()))
    }

    pub(super) fn number(&self, formula: &Formula) -> Reading<u64> {
        match formula {
            Formula::Constant(value) => Reading::Known(*value),
            Formula::Word(word) => self.0.word(*word),
            Formula::Member(structure, member) => {
                let start = self.address(&structure.address);
                start.and_then(|at| self.0.word(Word { addr: at + member.addr, ..*member }))
            }
            Formula::Credits(first, plus) => self.0.word(*first).and_then(|first| {
                self.0.credits(first + plus).map_or(Reading::Absent, |word| self.0.word(word))
            }),
            Formula::Elsewhere(xy, address) => match self.elsewhere(*xy, *address) {
                Some((tile, word)) => self.0.elsewhere(tile, word),
                None => Reading::Absent,
            },
            Formula::Difference(parts) => {
                self.both(parts, |more, less| (more as u32).wrapping_sub(less as u32).into())
            }
            Formula::Slot(slots, index) => self.number(index).map(|index| slots.slot(index)),
            Formula::Halves(parts) => self.both(parts, |low, high| low & 0xFFFF | high << 16),
            Formula::Tile(parts) => self.tile(parts),
            Formula::If(word, value, parts) => self.0.word(*word).and_then(|found| {
                let [then, otherwise] = &**parts;
                self.number(if found == *value { then } else { otherwise })
            }),
            Formula::Marked(word, mark) => match self.0.word(*word) {
                Reading::Known(found) if found >> 16 != u64::from(*mark) => Reading::Absent,
                found => found.map(|found| found & 0xFFFF),
            },
            Formula::Packed(parts, bit) => {
                let [mask, packed] = &**parts;
                self.number(mask).and_then(|mask| {
                    let before = (mask & ((1 << bit) - 1)).count_ones();
                    let byte = |packed: u64| packed.checked_shr(8 * before).unwrap_or(0) & 0xFF;
                    let set = mask >> bit & 1 == 1;
                    if set { self.number(packed).map(byte) } else { Reading::Absent }
                })
            }
            Formula::Nothing => Reading::Absent,
        }
    }

    fn both(&self, [a, b]: &[Formula; 2], of: impl FnOnce(u64, u64) -> u64) -> Reading<u64> {
        self.number(a).and_then(|a| self.number(b).map(|b| of(a, b)))
    }

    fn tile(&self, [x, y]: &[Formula; 2]) -> Reading<u64> {
        self.number(x).and_then(|x| {
            self.number(y).and_then(|y| match (x, y) {
                (0, 0) => Reading::Absent,
                _ => self.0.tile(x, y).map_or(Reading::Unknown(x | y << 16), |tile| {
                    Reading::Known(u64::from(tile.x) | u64::from(tile.y) << 16)
                }),
            })
        })
    }

    /// Reads a number that is an address; 0 means none.
    pub(super) fn address(&self, formula: &Formula) -> Reading<u64> {
        match self.number(formula) {
            Reading::Known(0) => Reading::Absent,
            other => other,
        }
    }

    fn elsewhere(&self, xy: Word, address: Word) -> Option<(NocXy, Word)> {
        let [xy, addr] =
            [xy, address].map(|word| self.address(&Formula::Word(word)).known().copied());
        let (xy, word) = (xy?, Word { addr: addr?, size: 4 });
        let tile = self.0.tile(xy & 0xFFFF, xy >> 16)?;
        self.0.is_l1(tile, word).then_some((tile, word))
    }

    /// Collects the ranges that a location refers to by addresses that were read.
    pub fn leads(&self, location: &Location, found: &mut Vec<Lead>) {
        self.follow(&location.formula, found);
    }

    fn follow(&self, formula: &Formula, found: &mut Vec<Lead>) {
        let lead = match formula {
            Formula::Constant(_) | Formula::Word(_) | Formula::Marked(..) | Formula::Nothing => {
                None
            }
            Formula::Member(structure, _) => {
                self.follow(&structure.address, found);
                let start = self.address(&structure.address).known().copied();
                start.map(|addr| Lead { tile: None, addr, len: structure.bytes })
            }
            Formula::Credits(first, plus) => {
                let stream = self.0.word(*first).known().map(|first| first + plus);
                let word = stream.and_then(|stream| self.0.credits(stream));
                word.map(|word| Lead { tile: None, addr: word.addr, len: word.size.into() })
            }
            Formula::Elsewhere(xy, address) => {
                let target = self.elsewhere(*xy, *address);
                target.map(|(tile, word)| Lead {
                    tile: Some(tile),
                    addr: word.addr,
                    len: word.size.into(),
                })
            }
            Formula::Slot(_, index) => return self.follow(index, found),
            Formula::Difference(parts)
            | Formula::Halves(parts)
            | Formula::Tile(parts)
            | Formula::Packed(parts, _)
            | Formula::If(_, _, parts) => {
                return parts.iter().for_each(|part| self.follow(part, found));
            }
        };
        found.extend(lead.filter(|lead| !found.contains(lead)));
    }
}
