//! The debug sections' bytes, borrowed from the file or decompressed once.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use gimli::{DwarfFileType, EndianSlice, LittleEndian, SectionId};

use crate::image::{ElfHeaders, MAX_DECOMPRESSED, SectionInfo};
use crate::problem::Problem;

/// The reader of all DWARF: little-endian slices of the file.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The sections used, in the order of `DebugSections::parts`.
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

/// One section: a range of the file, or of its own bytes.
#[derive(Clone, Debug, Default)]
struct SectionRange {
    own: Option<Arc<[u8]>>,
    range: Range<usize>,
}

/// All debug sections of one file.
#[derive(Clone, Debug)]
pub(crate) struct DebugSections {
    parts: [SectionRange; USED.len()],
}

impl DebugSections {
    /// Finds the sections. An unreadable one is empty, and a problem.
    pub(crate) fn load(
        data: &[u8],
        image: &ElfHeaders,
        problems: &mut Vec<Problem>,
    ) -> DebugSections {
        let mut left = MAX_DECOMPRESSED;
        let find = |id: SectionId| image.section(id.name());
        DebugSections { parts: USED.map(|id| part(data, find(id), &mut left, problems)) }
    }

    /// Finds the sections of a `.dwo` or `.dwp` file. Compilers put type units into groups: several
    /// sections of one name, which are joined.
    pub(crate) fn split(
        data: &[u8],
        image: &ElfHeaders,
        problems: &mut Vec<Problem>,
    ) -> DebugSections {
        let mut left = MAX_DECOMPRESSED;
        let parts = USED.map(|id| {
            let Some(name) = id.dwo_name() else { return SectionRange::default() };
            let mut same = image.sections.iter().filter(|section| section.name == name);
            let mut next = || same.next().map(|next| part(data, Some(next), &mut left, problems));
            let first = next().unwrap_or_default();
            let rest: Vec<SectionRange> = std::iter::from_fn(next).collect();
            if rest.is_empty() { first } else { joined(data, &first, &rest) }
        });
        DebugSections { parts }
    }

    /// Returns the sections cut to the contributions of one unit of a package.
    pub(crate) fn cut(&self, contributed: &[(SectionId, Range<usize>)]) -> DebugSections {
        let mut cut = self.clone();
        for (id, part) in USED.iter().zip(&mut cut.parts) {
            // All units of a package share the strings.
            if *id == SectionId::DebugStr {
                continue;
            }
            let range = contributed.iter().find(|(section, _)| section == id);
            let range = range.map_or(0..0, |(_, range)| range.clone());
            let start = part.range.start.saturating_add(range.start).min(part.range.end);
            part.range = start..start.saturating_add(range.len()).min(part.range.end);
        }
        cut
    }

    /// Replaces one section's bytes.
    pub(crate) fn replace(&mut self, id: SectionId, bytes: &[u8]) {
        let parts = USED.iter().zip(&mut self.parts).filter(|(used, _)| **used == id);
        parts.for_each(|(_, part)| *part = SectionRange::of(bytes));
    }

    /// Returns one section's bytes; empty if the file has none.
    pub(crate) fn bytes<'a>(&'a self, data: &'a [u8], id: SectionId) -> &'a [u8] {
        let place = USED.iter().position(|&used| used == id);
        place.and_then(|place| self.parts.get(place)).map_or(&[], |part| part.bytes(data))
    }

    /// Returns all sections for gimli; cheap enough for every lookup.
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

impl SectionRange {
    fn of(bytes: &[u8]) -> SectionRange {
        SectionRange { range: 0..bytes.len(), own: Some(bytes.into()) }
    }

    fn bytes<'a>(&'a self, data: &'a [u8]) -> &'a [u8] {
        self.own.as_deref().unwrap_or(data).get(self.range.clone()).unwrap_or_default()
    }
}

fn part(
    data: &[u8],
    section: Option<&SectionInfo>,
    left: &mut u64,
    problems: &mut Vec<Problem>,
) -> SectionRange {
    let Some(section) = section else { return SectionRange::default() };
    match section.bytes(data, left) {
        Ok(Cow::Borrowed(_)) => SectionRange { own: None, range: section.file.clone() },
        Ok(Cow::Owned(bytes)) => SectionRange::of(&bytes),
        Err(reason) => {
            problems.push(Problem::Section { name: section.name.clone(), reason });
            SectionRange::default()
        }
    }
}

fn joined(data: &[u8], first: &SectionRange, rest: &[SectionRange]) -> SectionRange {
    /// Sections of a hostile file may all be the whole file.
    const MAX_JOINED: usize = 64 << 20;
    let mut bytes = first.bytes(data).to_vec();
    for part in rest {
        let next = part.bytes(data);
        if bytes.len() + next.len() > MAX_JOINED {
            break;
        }
        bytes.extend_from_slice(next);
    }
    SectionRange::of(&bytes)
}
