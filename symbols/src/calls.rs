//! addr2line over one file: an address to its line and to the calls inlined around it.
//!
//! addr2line trusts its input: it recurses into nesting, has no limit on address ranges, and
//! refuses the whole file for one bad unit. It therefore reads only the units that `bounds` has
//! passed, from a copy of `.debug_info` in which the others are hidden.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use addr2line::{LookupContinuation, LookupResult};
use gimli::{DebugAbbrevOffset, Dwarf, DwarfFileType, EndianReader, LittleEndian, SectionId};

use crate::bounds::Bounds;
use crate::die::DieView;
use crate::problem::Problem;
use crate::source::Source;
use crate::units::DieId;

/// addr2line's reader. It owns its sections, so the bytes are shared.
type Shared = EndianReader<LittleEndian, Arc<[u8]>>;

/// One call around an address; unknown fields are none.
#[derive(Debug)]
pub(crate) struct CallSite {
    /// The called or inlined function.
    pub(crate) die: Option<DieId>,
    /// The source position in it; except for the innermost call, that of the next call.
    pub(crate) file: Option<Arc<str>>,
    pub(crate) line: Option<u32>,
}

/// What addr2line has read so far; it reads on demand, one lookup at a time.
pub(crate) struct Calls {
    context: Mutex<Option<addr2line::Context<Shared>>>,
    /// The units in other files by id.
    split: HashMap<u64, SplitUnit>,
}

/// A unit in another file: the offset its numbers start from, and its sections.
struct SplitUnit {
    start: u32,
    dwarf: Arc<Dwarf<Shared>>,
}

impl Calls {
    /// Prepares the lookup; reports unusable units as problems.
    pub(crate) fn new(view: &DieView<'_>, source: &Source, problems: &mut Vec<Problem>) -> Calls {
        let mut bounds = Bounds::default();
        let info = passed_units(view, source.section(SectionId::DebugInfo), &mut bounds, problems);
        let context = context(view, &info, |id| source.section(id));
        if let Err(error) = &context {
            problems.push(Problem::Unit { offset: 0, reason: error.to_string() });
        }
        let context = context.ok();
        let split = context.as_ref().map(|_| split_units(view, source, &mut bounds, problems));
        Calls { context: Mutex::new(context), split: split.unwrap_or_default() }
    }

    /// Returns the calls around an address, innermost first; empty where no unit has code or lines.
    pub(crate) fn at(&self, address: u32) -> Vec<CallSite> {
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(context) = context.as_ref() else { return Vec::new() };
        let address = u64::from(address);
        self.chain(context, address).unwrap_or_else(|_| {
            let place = context.find_location(address).ok().flatten();
            place.map(|place| call(None, Some(place))).into_iter().collect()
        })
    }

    fn chain(
        &self,
        context: &addr2line::Context<Shared>,
        address: u64,
    ) -> gimli::Result<Vec<CallSite>> {
        let unit = self.finish(context.find_dwarf_and_unit(address));
        let start = unit.map_or(Some(0), |unit| match (unit.dwarf.file_type, unit.dwo_id) {
            (DwarfFileType::Dwo, id) => Some(self.split.get(&id?.0)?.start as usize),
            _ => Some(unit.header.debug_info_offset()?.0),
        });
        let mut frames = self.finish(context.find_frames(address))?;
        let mut calls = Vec::new();
        while let Some(frame) = frames.next()? {
            let at = frame.dw_die_offset.map(|at| at.0);
            let die = at.and_then(|at| u32::try_from(start?.checked_add(at)?).ok());
            calls.push(call(die.map(DieId), frame.location));
        }
        Ok(calls)
    }

    /// Supplies addr2line with the other files that it requests.
    fn finish<L: LookupContinuation<Buf = Shared>>(
        &self,
        mut result: LookupResult<L>,
    ) -> L::Output {
        loop {
            match result {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    let other = self.split.get(&load.dwo_id.0);
                    result = continuation.resume(other.map(|other| Arc::clone(&other.dwarf)));
                }
            }
        }
    }
}

/// Returns the units in other files that are safe to read.
fn split_units(
    view: &DieView<'_>,
    source: &Source,
    bounds: &mut Bounds,
    problems: &mut Vec<Problem>,
) -> HashMap<u64, SplitUnit> {
    let mut copies = Copies::default();
    let mut found = HashMap::new();
    for (number, unit) in view.units.iter().enumerate() {
        let Some(other) = unit.source.checked_sub(1).and_then(|at| view.sources.get(at)) else {
            continue;
        };
        let Some(id) = unit.dwo_id else { continue };
        if let Err(reason) = bounds.check(view, number) {
            problems.push(Problem::Unit { offset: unit.start.into(), reason });
            continue;
        }
        let range = (unit.start - unit.base) as usize..(unit.end - unit.base) as usize;
        let dwarf = Dwarf::load(|section| {
            let bytes = match section {
                // Only this unit: addr2line takes the first one.
                SectionId::DebugInfo => other.section(section).get(range.clone()).unwrap_or(&[]),
                SectionId::DebugAddr | SectionId::DebugRanges => source.section(section),
                SectionId::DebugLoc | SectionId::DebugLocLists | SectionId::DebugTypes => &[],
                section => other.section(section),
            };
            Ok::<_, gimli::Error>(EndianReader::new(copies.copy(bytes), LittleEndian))
        });
        let Ok(mut dwarf) = dwarf else { continue };
        let (at, table) = unit.abbreviations();
        dwarf.abbreviations_cache.set::<Shared>(DebugAbbrevOffset(at), table);
        dwarf.file_type = DwarfFileType::Dwo;
        found.insert(id, SplitUnit { start: unit.start, dwarf: Arc::new(dwarf) });
    }
    found
}

/// Copies of sections, each made once: the units of a package share some.
#[derive(Default)]
struct Copies(HashMap<(usize, usize), Arc<[u8]>>);

impl Copies {
    fn copy(&mut self, bytes: &[u8]) -> Arc<[u8]> {
        let place = (bytes.as_ptr().addr(), bytes.len());
        Arc::clone(self.0.entry(place).or_insert_with(|| Arc::from(bytes)))
    }
}

fn call(die: Option<DieId>, place: Option<addr2line::Location<'_>>) -> CallSite {
    let file = place.as_ref().and_then(|place| place.file).filter(|file| !file.is_empty());
    CallSite { die, file: file.map(Arc::from), line: place.and_then(|place| place.line) }
}

fn context<'a>(
    view: &DieView<'_>,
    info: &[u8],
    section: impl Fn(SectionId) -> &'a [u8],
) -> gimli::Result<addr2line::Context<Shared>> {
    let mut dwarf: Dwarf<Shared> = Dwarf::load(|id| {
        let bytes = match id {
            SectionId::DebugInfo => info,
            // The lookup reads neither locations of variables nor types.
            SectionId::DebugLoc | SectionId::DebugLocLists | SectionId::DebugTypes => &[],
            id => section(id),
        };
        Ok::<_, gimli::Error>(EndianReader::new(Arc::from(bytes), LittleEndian))
    })?;
    // The tables that `abbreviations` has read, each once and only up to the next one.
    for unit in view.units.iter().filter(|unit| unit.source == 0) {
        let (at, table) = unit.abbreviations();
        dwarf.abbreviations_cache.set::<Shared>(DebugAbbrevOffset(at), table);
    }
    addr2line::Context::from_dwarf(dwarf)
}

/// Returns `.debug_info` with only the units that are safe to read.
fn passed_units(
    view: &DieView<'_>,
    info: &[u8],
    bounds: &mut Bounds,
    problems: &mut Vec<Problem>,
) -> Vec<u8> {
    let mut copy = info.to_vec();
    let mut end = 0;
    for (number, unit) in view.units.iter().enumerate() {
        let range = unit.start as usize..unit.end as usize;
        // Entries of `.debug_types` are numbered from the end of this section; they have no code.
        if range.end > info.len() || unit.source != 0 {
            break;
        }
        match bounds.check(view, number) {
            Ok(()) => {
                hide(&mut copy, end..range.start);
                end = range.end;
            }
            Err(reason) => problems.push(Problem::Unit { offset: unit.start.into(), reason }),
        }
    }
    copy.truncate(end);
    copy
}

/// Replaces a range of whole units by one whose abbreviation table is out of range: addr2line skips
/// it.
fn hide(info: &mut [u8], range: Range<usize>) {
    /// A version 4 header after its length: version, table, address size.
    const NOWHERE: [u8; 7] = [4, 0, 0xff, 0xff, 0xff, 0xff, 4];
    let Some(unit) = info.get_mut(range) else { return };
    let length = (unit.len() as u32).saturating_sub(4).to_le_bytes();
    let header = length.into_iter().chain(NOWHERE);
    unit.iter_mut().zip(header).for_each(|(byte, new)| *byte = new);
}
