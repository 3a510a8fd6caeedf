//! The debug sections' bytes, borrowed from the file or decompressed once.

use std::borrow::Cow;
use std::ops::Range;

use gimli::{DwarfFileType, EndianSlice, LittleEndian, SectionId};

use crate::image::Image;
use crate::problem::Problem;

/// How all DWARF is read here: little-endian slices of the file.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The sections that are read, in the order of `DebugSections::parts`.
const USED: [SectionId; 14] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugFrame,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugTypes,
    SectionId::EhFrame,
];

/// One section: a part of the file, or bytes of its own.
#[derive(Debug)]
enum Part {
    File(Range<usize>),
    Own(Vec<u8>),
}

/// All debug sections of one file.
#[derive(Debug)]
pub(crate) struct DebugSections {
    parts: [Part; USED.len()],
}

impl DebugSections {
    /// Finds the sections; one that cannot be had is empty, and a problem.
    pub(crate) fn load(data: &[u8], image: &Image, problems: &mut Vec<Problem>) -> DebugSections {
        let parts = USED.map(|id| {
            let Some(section) = image.section(id.name()) else { return Part::File(0..0) };
            match section.bytes(data) {
                Ok(Cow::Borrowed(_)) => Part::File(section.file.clone()),
                Ok(Cow::Owned(bytes)) => Part::Own(bytes),
                Err(reason) => {
                    problems.push(Problem::Section { name: section.name.clone(), reason });
                    Part::File(0..0)
                }
            }
        });
        DebugSections { parts }
    }

    /// One section's bytes; empty where the file has none.
    pub(crate) fn bytes<'a>(&'a self, data: &'a [u8], id: SectionId) -> &'a [u8] {
        let place = USED.iter().position(|&used| used == id);
        match place.and_then(|place| self.parts.get(place)) {
            Some(Part::File(range)) => data.get(range.clone()).unwrap_or_default(),
            Some(Part::Own(bytes)) => bytes,
            None => &[],
        }
    }

    /// All sections as gimli wants them; cheap enough to make for every question.
    pub(crate) fn dwarf<'a>(&'a self, data: &'a [u8]) -> gimli::Dwarf<Slice<'a>> {
        let slice = |id| EndianSlice::new(self.bytes(data, id), LittleEndian);
        gimli::Dwarf {
            debug_abbrev: slice(SectionId::DebugAbbrev).into(),
            debug_addr: slice(SectionId::DebugAddr).into(),
            debug_info: slice(SectionId::DebugInfo).into(),
            debug_line: slice(SectionId::DebugLine).into(),
            debug_line_str: slice(SectionId::DebugLineStr).into(),
            debug_str: slice(SectionId::DebugStr).into(),
            debug_str_offsets: slice(SectionId::DebugStrOffsets).into(),
            debug_types: slice(SectionId::DebugTypes).into(),
            locations: gimli::LocationLists::new(
                slice(SectionId::DebugLoc).into(),
                slice(SectionId::DebugLocLists).into(),
            ),
            ranges: gimli::RangeLists::new(
                slice(SectionId::DebugRanges).into(),
                slice(SectionId::DebugRngLists).into(),
            ),
            file_type: DwarfFileType::Main,
            ..gimli::Dwarf::default()
        }
    }
}
