//! The table of DWARF units: the place and header data of each, without a borrow of the file.

mod headers;
mod root;

use std::sync::Arc;

use gimli::{
    Abbreviations, DebugAbbrevOffset, DebugAddrBase, DebugLineOffset, DebugLocListsBase,
    DebugRngListsBase, DebugStrOffsetsBase, Encoding, EndianSlice, LittleEndian, Section,
    SectionId, Unit, UnitHeader, UnitSectionOffset, UnitType,
};

use headers::{end_of, headers};
use root::root;

pub(crate) use root::Skeleton;

use crate::abbreviations;
use crate::problem::Problem;
use crate::sections::Slice;

/// The id of an entry: its offset in `.debug_info`, continued by `.debug_types` after that
/// section's end, and by the same sections of the next source. 32 bits are enough: a 32-bit ELF has
/// no larger section, and sources that do not fit are refused.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct DieId(pub(crate) u32);

/// The data needed to read one unit again.
#[derive(Debug)]
pub(crate) struct UnitInfo {
    /// The first byte of the unit, as a `DieId`.
    pub(crate) start: u32,
    /// The first byte after it.
    pub(crate) end: u32,
    /// Its file: 0 is the ELF itself, others are numbered as in `DieView`.
    pub(crate) source: usize,
    /// The first `DieId` of the source.
    pub(crate) base: u32,
    encoding: Encoding,
    length: usize,
    kind: UnitType<usize>,
    section: SectionId,
    offset: usize,
    header_size: usize,
    abbreviations: Arc<Abbreviations>,
    abbreviations_at: usize,
    str_offsets_base: DebugStrOffsetsBase<usize>,
    addr_base: DebugAddrBase<usize>,
    loclists_base: DebugLocListsBase<usize>,
    rnglists_base: DebugRngListsBase<usize>,
    low_pc: u64,
    /// The id that a skeleton and its unit share.
    pub(crate) dwo_id: Option<u64>,
    /// The unit's line table.
    pub(crate) lines: Option<DebugLineOffset<usize>>,
}

impl UnitInfo {
    /// Returns the unit for gimli; cheap enough for every entry.
    pub(crate) fn unit<'a>(&self, dwarf: &gimli::Dwarf<Slice<'a>>) -> Unit<Slice<'a>> {
        let section = match self.section {
            SectionId::DebugTypes => dwarf.debug_types.reader(),
            _ => dwarf.debug_info.reader(),
        };
        let start = self.offset.saturating_add(self.header_size);
        let end = self.offset.saturating_add((self.end - self.start) as usize);
        let entries = section.slice().get(start..end).unwrap_or_default();
        let header = UnitHeader::new(
            self.encoding,
            self.length,
            self.kind,
            DebugAbbrevOffset(0),
            self.section,
            UnitSectionOffset(self.offset),
            EndianSlice::new(entries, LittleEndian),
        );
        Unit {
            header,
            abbreviations: Arc::clone(&self.abbreviations),
            name: None,
            comp_dir: None,
            low_pc: self.low_pc,
            str_offsets_base: self.str_offsets_base,
            addr_base: self.addr_base,
            loclists_base: self.loclists_base,
            rnglists_base: self.rnglists_base,
            line_program: None,
            dwo_id: None,
        }
    }

    /// Copies the values that a split unit leaves to its skeleton.
    pub(crate) fn complete(&mut self, skeleton: &UnitInfo) {
        self.low_pc = skeleton.low_pc;
        self.addr_base = skeleton.addr_base;
        if self.encoding.version < 5 {
            self.rnglists_base = skeleton.rnglists_base;
        }
    }

    /// Returns the unit's abbreviation table and its offset.
    pub(crate) fn abbreviations(&self) -> (usize, Arc<Abbreviations>) {
        (self.abbreviations_at, Arc::clone(&self.abbreviations))
    }

    /// Returns the signature of a type unit and the id of its type.
    pub(crate) fn signature(&self) -> Option<(u64, DieId)> {
        let (UnitType::Type { type_signature, type_offset }
        | UnitType::SplitType { type_signature, type_offset }) = self.kind
        else {
            return None;
        };
        let die = self.start.checked_add(u32::try_from(type_offset.0).ok()?)?;
        Some((type_signature.0, DieId(die)))
    }
}

/// The units of one source.
pub(crate) struct FoundUnits {
    pub(crate) units: Vec<UnitInfo>,
    pub(crate) skeletons: Vec<Skeleton>,
}

/// Reads all unit headers and their first entries.
pub(crate) fn read(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    source: usize,
    first: u32,
    problems: &mut Vec<Problem>,
) -> FoundUnits {
    let headers = headers(dwarf, problems);
    let offsets = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
    let tables = abbreviations::read(dwarf, offsets);
    let info_length = dwarf.debug_info.reader().len();
    let mut found = FoundUnits { units: Vec::with_capacity(headers.len()), skeletons: Vec::new() };
    for header in headers {
        let base = if header.section() == SectionId::DebugTypes { info_length } else { 0 };
        let offset = (base + header.offset().0) as u64;
        let place = LineBase { source, first, base };
        let table = match tables.get(&header.debug_abbrev_offset().0) {
            Some(Ok(table)) => Arc::clone(table),
            Some(Err(reason)) => {
                problems.push(Problem::Unit { offset, reason: reason.clone() });
                continue;
            }
            None => continue,
        };
        match unit(dwarf, &header, place, table) {
            Ok((unit, skeleton)) => {
                let number = found.units.len();
                found.units.push(unit);
                found.skeletons.extend(skeleton.map(|s| Skeleton { unit: number, ..s }));
            }
            Err(reason) => problems.push(Problem::Unit { offset, reason }),
        }
    }
    found
}

/// The first id of a source, and of a section in it.
#[derive(Clone, Copy)]
struct LineBase {
    source: usize,
    first: u32,
    base: usize,
}

fn unit<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    header: &UnitHeader<Slice<'a>>,
    place: LineBase,
    abbreviations: Arc<Abbreviations>,
) -> Result<(UnitInfo, Option<Skeleton>), String> {
    let encoding = header.encoding();
    if encoding.address_size != 4 {
        return Err(format!("addresses of {} bytes, not 4", encoding.address_size));
    }
    let number = |offset: usize| {
        let offset = u32::try_from(place.base.saturating_add(offset)).ok();
        let number = offset.and_then(|offset| place.first.checked_add(offset));
        number.ok_or_else(|| "lies outside a 32-bit file".to_owned())
    };
    let kind = dwarf.file_type;
    let mut unit = UnitInfo {
        start: number(header.offset().0)?,
        end: number(end_of(header))?,
        source: place.source,
        base: place.first,
        encoding,
        length: header.unit_length(),
        kind: header.type_(),
        section: header.section(),
        offset: header.offset().0,
        header_size: header.size_of_header(),
        abbreviations,
        abbreviations_at: header.debug_abbrev_offset().0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, kind),
        addr_base: DebugAddrBase(0),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, kind),
        rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, kind),
        low_pc: 0,
        dwo_id: match header.type_() {
            UnitType::Skeleton(id) | UnitType::SplitCompilation(id) => Some(id.0),
            _ => None,
        },
        lines: None,
    };
    let skeleton = root(dwarf, &mut unit).map_err(|error| error.to_string())?;
    Ok((unit, skeleton))
}
