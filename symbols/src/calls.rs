//! addr2line over one file: from an address to its line and to the calls inlined around it.
//!
//! addr2line trusts what it reads: it follows nesting by recursion, has no bound on address ranges,
//! and one bad unit makes it refuse all. So it sees only the units that `bounds` has passed, in a
//! copy of `.debug_info` where the others are hidden.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{DebugAbbrevOffset, Dwarf, EndianReader, LittleEndian, SectionId};

use crate::bounds::Bounds;
use crate::die::View;
use crate::problem::Problem;
use crate::units::DieId;

/// How addr2line reads: it keeps what it reads from, so it shares the bytes.
type Shared = EndianReader<LittleEndian, Arc<[u8]>>;

/// One call around an address, innermost first; what is not known is none.
#[derive(Debug)]
pub(crate) struct Call {
    /// The function that was called or inlined.
    pub(crate) die: Option<DieId>,
    /// Where in it; for all but the innermost, where the next one was called.
    pub(crate) file: Option<Arc<str>>,
    pub(crate) line: Option<u32>,
}

/// What addr2line has read so far; it reads on demand, one question at a time.
pub(crate) struct Calls(Mutex<Option<addr2line::Context<Shared>>>);

impl Calls {
    /// Prepares the lookup; units that cannot be used are problems.
    pub(crate) fn new<'a>(
        view: &View<'_>,
        section: impl Fn(SectionId) -> &'a [u8],
        problems: &mut Vec<Problem>,
    ) -> Calls {
        let info = passed_units(view, section(SectionId::DebugInfo), problems);
        let context = context(view, &info, section);
        if let Err(error) = &context {
            problems.push(Problem::Unit { offset: 0, reason: error.to_string() });
        }
        Calls(Mutex::new(context.ok()))
    }

    /// The calls around an address, innermost first; empty where no unit has code or lines.
    pub(crate) fn at(&self, address: u32) -> Vec<Call> {
        let context = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(context) = context.as_ref() else { return Vec::new() };
        let address = u64::from(address);
        chain(context, address).unwrap_or_else(|_| {
            let place = context.find_location(address).ok().flatten();
            place.map(|place| call(None, Some(place))).into_iter().collect()
        })
    }
}

fn chain(context: &addr2line::Context<Shared>, address: u64) -> gimli::Result<Vec<Call>> {
    let unit = context.find_dwarf_and_unit(address).skip_all_loads();
    let start = unit.and_then(|unit| unit.header.debug_info_offset()).map_or(0, |start| start.0);
    let mut frames = context.find_frames(address).skip_all_loads()?;
    let mut calls = Vec::new();
    while let Some(frame) = frames.next()? {
        let die = frame.dw_die_offset.and_then(|at| u32::try_from(start.checked_add(at.0)?).ok());
        calls.push(call(die.map(DieId), frame.location));
    }
    Ok(calls)
}

fn call(die: Option<DieId>, place: Option<addr2line::Location<'_>>) -> Call {
    let file = place.as_ref().and_then(|place| place.file).filter(|file| !file.is_empty());
    Call { die, file: file.map(Arc::from), line: place.and_then(|place| place.line) }
}

fn context<'a>(
    view: &View<'_>,
    info: &[u8],
    section: impl Fn(SectionId) -> &'a [u8],
) -> gimli::Result<addr2line::Context<Shared>> {
    let mut dwarf: Dwarf<Shared> = Dwarf::load(|id| {
        let bytes = match id {
            SectionId::DebugInfo => info,
            // Where variables are, and what types are, is not asked here.
            SectionId::DebugLoc | SectionId::DebugLocLists | SectionId::DebugTypes => &[],
            id => section(id),
        };
        Ok::<_, gimli::Error>(EndianReader::new(Arc::from(bytes), LittleEndian))
    })?;
    // The tables that `abbreviations` has read, each once and no further than the next one.
    for unit in view.units {
        let (at, table) = unit.abbreviations();
        dwarf.abbreviations_cache.set::<Shared>(DebugAbbrevOffset(at), table);
    }
    addr2line::Context::from_dwarf(dwarf)
}

/// `.debug_info` with only the units that can be read safely.
fn passed_units(view: &View<'_>, info: &[u8], problems: &mut Vec<Problem>) -> Vec<u8> {
    let mut copy = info.to_vec();
    let mut bounds = Bounds::default();
    let mut end = 0;
    for (number, unit) in view.units.iter().enumerate() {
        let range = unit.start as usize..unit.end as usize;
        // Past this section's end, entries of `.debug_types` are counted: they have no code.
        if range.end > info.len() {
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

/// Turns a range of whole units into one whose abbreviation table is nowhere: nobody reads on.
fn hide(info: &mut [u8], range: Range<usize>) {
    /// A version 4 header behind its length: version, table, size of an address.
    const NOWHERE: [u8; 7] = [4, 0, 0xff, 0xff, 0xff, 0xff, 4];
    let Some(unit) = info.get_mut(range) else { return };
    let length = (unit.len() as u32).saturating_sub(4).to_le_bytes();
    let header = length.into_iter().chain(NOWHERE);
    unit.iter_mut().zip(header).for_each(|(byte, new)| *byte = new);
}
