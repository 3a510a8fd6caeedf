//! Where a fact stands, as a source says, and how its number is made of the words there.

use super::enumeration::Enumeration;
use super::fact::Fact;
use crate::reading::Reading;
use layouts::NocXy;
use std::sync::Arc;

/// A word of a tile: L1 or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    /// Address in the tile.
    pub addr: u64,
    pub(crate) size: u32,
}

/// A structure whose address is a word; 0 is no structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    pub(crate) address: Word,
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
    /// Where a slot begins; indices wrap.
    fn slot(self, index: u64) -> u64 {
        self.at + self.bytes * (index % self.count.max(1))
    }
}

/// Where a fact stands.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) formula: Formula,
    /// The names of its values, if it is an enumerator.
    pub(crate) names: Option<Arc<Enumeration>>,
}

/// How its number is made.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    /// The image has it.
    Constant(u64),
    Word(Word),
    /// A member of a structure, by its offset there.
    Member(Structure, Word),
    /// The credits of a stream: its number is a word, and so much more.
    Credits(Word, u64),
    /// A word of another tile: that tile is a word, and so is the address there. 0: no such word.
    Elsewhere(Word, Word),
    /// A 32-bit count less another.
    Difference(Box<[Self; 2]>),
    /// Where the slot of an index begins.
    Slot(Slots, Box<Self>),
    /// The lower 16 bits, and those above them.
    Halves(Box<[Self; 2]>),
    /// `x | y << 16` on NOC 0 of a tile by the coordinate that a kernel uses: physical or translated. 0-0: no tile.
    Tile(Box<[Self; 2]>),
    /// One if a word has a value, else another.
    If(Word, u64, Box<[Self; 2]>),
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

/// What stands at a word and what only a chip knows. A packet header has words only.
pub(crate) trait Memory {
    fn word(&self, word: Word) -> Reading<u64>;

    fn elsewhere(&self, _tile: NocXy, _word: Word) -> Reading<u64> {
        Reading::Absent
    }

    /// The register of a stream's credits.
    fn credits(&self, _stream: u64) -> Option<Word> {
        None
    }

    /// The tile of a coordinate that a kernel uses.
    fn tile(&self, _x: u64, _y: u64) -> Option<NocXy> {
        None
    }
}

/// Where the facts of a structure stand.
pub(crate) trait Locations {
    /// What is read there.
    type Facts;

    /// All that are known.
    fn known(&self) -> impl Iterator<Item = &Location>;

    /// The names of the others.
    #[cfg(test)]
    fn unknown(&self) -> Vec<&'static str>;

    /// What stands there.
    fn read(&self, memory: &impl Memory) -> Self::Facts;
}

/// What is to be read next, since its address was read: in this tile or in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lead {
    pub(crate) tile: Option<NocXy>,
    pub(crate) addr: u64,
    pub(crate) len: u64,
}

impl Location {
    /// The words whose addresses the source knows.
    pub(crate) fn words(&self) -> Vec<Word> {
        let mut found = Vec::new();
        self.formula.words(&mut found);
        found
    }
}

impl Formula {
    fn words(&self, found: &mut Vec<Word>) {
        match self {
            Self::Constant(_) => {}
            Self::Word(word) | Self::Credits(word, _) => found.push(*word),
            Self::Member(structure, _) => found.push(structure.address),
            Self::Elsewhere(tile, address) => found.extend([*tile, *address]),
            Self::Slot(_, index) => index.words(found),
            Self::If(word, _, of) => {
                found.push(*word);
                of.iter().for_each(|part| part.words(found));
            }
            Self::Difference(of) | Self::Halves(of) | Self::Tile(of) => {
                of.iter().for_each(|part| part.words(found));
            }
        }
    }
}

/// Reads facts.
pub(crate) struct Reader<'a, M: Memory>(pub(crate) &'a M);

impl<M: Memory> Reader<'_, M> {
    /// The fact that stands there.
    pub(crate) fn fact<T: Fact>(&self, location: Option<&Location>) -> Reading<T> {
        let Some(Location { formula, names }) = location else { return Reading::Absent };
        self.number(formula).and_then(|raw| T::decode(raw, names.as_deref()))
    }

    fn number(&self, formula: &Formula) -> Reading<u64> {
        match formula {
            Formula::Constant(value) => Reading::Known(*value),
            Formula::Word(word) => self.0.word(*word),
            Formula::Member(structure, member) => {
                let start = self.address(structure.address);
                start.and_then(|at| self.0.word(Word { addr: at + member.addr, ..*member }))
            }
            Formula::Credits(first, plus) => self.0.word(*first).and_then(|first| {
                self.0.credits(first + plus).map_or(Reading::Absent, |word| self.0.word(word))
            }),
            Formula::Elsewhere(xy, address) => match self.elsewhere(*xy, *address) {
                Some((tile, word)) => self.0.elsewhere(tile, word),
                None => Reading::Absent,
            },
            Formula::Difference(of) => {
                self.both(of, |more, less| (more as u32).wrapping_sub(less as u32).into())
            }
            Formula::Slot(slots, index) => self.number(index).map(|index| slots.slot(index)),
            Formula::Halves(of) => self.both(of, |low, high| low & 0xFFFF | high << 16),
            Formula::Tile(of) => self.tile(of),
            Formula::If(word, value, of) => self.0.word(*word).and_then(|found| {
                let [then, otherwise] = &**of;
                self.number(if found == *value { then } else { otherwise })
            }),
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

    /// What stands at a word that is an address; 0 is none.
    fn address(&self, word: Word) -> Reading<u64> {
        match self.0.word(word) {
            Reading::Known(0) => Reading::Absent,
            other => other,
        }
    }

    fn elsewhere(&self, xy: Word, address: Word) -> Option<(NocXy, Word)> {
        let [xy, addr] = [xy, address].map(|word| self.address(word).known().copied());
        let xy = xy?;
        Some((self.0.tile(xy & 0xFFFF, xy >> 16)?, Word { addr: addr?, size: 4 }))
    }

    /// What is to be read behind a location, now that its address was read.
    pub(crate) fn leads(&self, location: &Location, found: &mut Vec<Lead>) {
        self.behind(&location.formula, found);
    }

    fn behind(&self, formula: &Formula, found: &mut Vec<Lead>) {
        let lead = match formula {
            Formula::Constant(_) | Formula::Word(_) => None,
            Formula::Member(structure, _) => {
                let start = self.address(structure.address).known().copied();
                start.map(|addr| Lead { tile: None, addr, len: structure.bytes })
            }
            Formula::Credits(first, plus) => {
                let stream = self.0.word(*first).known().map(|first| first + plus);
                let word = stream.and_then(|stream| self.0.credits(stream));
                word.map(|word| Lead { tile: None, addr: word.addr, len: word.size.into() })
            }
            Formula::Elsewhere(xy, address) => {
                let there = self.elsewhere(*xy, *address);
                there.map(|(tile, word)| Lead {
                    tile: Some(tile),
                    addr: word.addr,
                    len: word.size.into(),
                })
            }
            Formula::Slot(_, index) => return self.behind(index, found),
            Formula::Difference(of)
            | Formula::Halves(of)
            | Formula::Tile(of)
            | Formula::If(_, _, of) => return of.iter().for_each(|part| self.behind(part, found)),
        };
        found.extend(lead.filter(|lead| !found.contains(lead)));
    }
}
