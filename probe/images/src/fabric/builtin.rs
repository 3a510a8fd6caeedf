//! Locations in built-in images, resolved by name.

use super::enumeration::Enumeration;
use super::location::{Formula, Location, Slots, Structure, Word};
use layouts::{ChipLayout, Space, TileKind};
use symbols::{Field, Symbols};

/// Streams from this one on are unused (`k_unused_stream_id`).
const UNUSED_STREAM: u64 = 32;

/// Resolves names in an image; `None` for an unknown name.
#[derive(Clone, Copy)]
pub(super) struct Names<'a>(pub(super) &'a ChipLayout, pub(super) &'a Symbols);

impl<'a> Names<'a> {
    /// Returns a resolver for the members of a global or of a part of one.
    pub(super) fn within(self, path: impl Into<String>) -> Members<'a> {
        Members { names: self, path: path.into() }
    }

    pub(super) fn constant(self, name: &str) -> Option<u64> {
        self.1.constant(name)?.as_u64()
    }

    /// Returns a constant of the image as a fact.
    pub(super) fn known(self, name: &str) -> Option<Location> {
        let constant = self.1.constant(name)?;
        let names = Enumeration::of(&constant.ty, "");
        Some(Location { formula: Formula::Constant(constant.as_u64()?), names })
    }

    /// Returns the location of a scalar member of a global.
    pub(super) fn at(self, path: &str) -> Option<Location> {
        let place = self.1.locate(path).ok()?;
        let word = Word { addr: place.address(), size: place.field.size.min(8) as u32 };
        Some(Location { names: Enumeration::of(&place.ty, ""), ..word.into() })
    }

    /// Returns the word of a scalar member of a global.
    pub(super) fn word(self, path: &str) -> Option<Word> {
        let place = self.1.locate(path).ok()?;
        Some(Word { addr: place.address(), size: place.field.size.min(8) as u32 })
    }

    /// Returns the word at a constant's address.
    pub(super) fn pointed(self, name: &str, offset: u64) -> Option<Location> {
        Some(Word { addr: self.constant(name)?.checked_add(offset)?, size: 4 }.into())
    }

    /// Returns a scalar member of a type at an address.
    pub(super) fn member(self, of: &str, address: Option<u64>) -> Option<Formula> {
        let field = self.field(of)?;
        let addr = address?.checked_add(field.offset)?;
        Some(Formula::Word(Word { addr, size: field.size.min(8) as u32 }))
    }

    /// Returns a scalar member of a structure whose address is in a word.
    pub(super) fn inside(self, structure: &Structure, of: &str) -> Option<Formula> {
        let field = self.field(of)?;
        let member = Word { addr: field.offset, size: field.size.min(8) as u32 };
        Some(Formula::Member(structure.clone(), member))
    }

    /// Returns the structure of a type whose address is in a word.
    pub(super) fn structure(self, ty: &str, address: &str) -> Option<Structure> {
        let bytes = self.1.type_named(ty)?.size()?;
        Some(Structure { address: Box::new(Formula::Word(self.word(address)?)), bytes })
    }

    /// Adds the names of an enumeration to the location of a plain number.
    pub(super) fn named(self, ty: &str, location: Option<impl Into<Location>>) -> Option<Location> {
        let names = Enumeration::named(self.1, ty);
        Some(Location { names, ..location?.into() })
    }

    pub(super) fn field(self, of: &str) -> Option<Field> {
        self.1.field(of).ok()
    }

    /// Returns the value of a member of a constant table in the ELF file.
    pub(super) fn file(self, path: &str) -> Option<u64> {
        let place = self.1.locate(path).ok()?;
        let mut bytes = [0; 8];
        let size = place.field.size.min(8) as usize;
        self.1.initial(place.address(), bytes.get_mut(..size)?).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(super) fn slots(self, table: &str) -> Option<Slots> {
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let slots =
            Slots { at: of("buffers_address")?, bytes: of("buffer_bytes")?, count: of("slots")? };
        (slots.count > 0).then_some(slots)
    }

    /// Returns the credit counter of a stream of an Ethernet tile.
    pub(super) fn stream(self, id: Option<u64>) -> Option<Word> {
        stream(self.0, TileKind::Eth, id?)
    }
}

/// Resolves members of a global or of a part of one.
pub(super) struct Members<'a> {
    pub(super) names: Names<'a>,
    path: String,
}

impl Members<'_> {
    pub(super) fn path(&self, member: &str) -> String {
        format!("{}.{member}", self.path)
    }

    pub(super) fn at(&self, member: &str) -> Option<Location> {
        self.names.at(&self.path(member))
    }

    pub(super) fn word(&self, member: &str) -> Option<Word> {
        self.names.word(&self.path(member))
    }

    /// Returns the difference of two 32-bit counts.
    pub(super) fn difference(&self, more: &str, less: &str) -> Option<Location> {
        pair(Formula::Difference, self.at(more)?.formula, self.at(less)?.formula)
    }

    /// Returns a member that is a plain number, with the names of an enumeration.
    pub(super) fn named(&self, ty: &str, member: &str) -> Option<Location> {
        self.names.named(ty, self.at(member))
    }
}

/// Combines two formulas.
pub(super) fn pair(
    of: impl FnOnce(Box<[Formula; 2]>) -> Formula,
    a: impl Into<Option<Formula>>,
    b: impl Into<Option<Formula>>,
) -> Option<Location> {
    Some(of(Box::new([a.into()?, b.into()?])).into())
}

/// Returns the credit counter of a stream of a tile.
pub fn stream(layout: &ChipLayout, kind: TileKind, id: u64) -> Option<Word> {
    let block = layout.block(Space::Tile(kind), "stream")?;
    let group = &layout.stream;
    let addr = || block + id * group.bytes + group.space_available.at;
    (id < UNUSED_STREAM).then(|| Word { addr: addr(), size: 4 })
}
