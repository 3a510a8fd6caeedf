//! The call frame information of one file: which entry covers an address.

mod rules;

pub(crate) use rules::{Cfa, Rule, Rules};

use std::collections::HashMap;

use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, DebugFrame, EhFrame, FrameDescriptionEntry,
    LittleEndian, UnwindContext, UnwindOffset, UnwindSection,
};

use crate::image::ElfHeaders;
use crate::problem::Problem;
use crate::sections::Slice;

/// The most entries accepted in a section.
const MAX_ENTRIES: usize = 1 << 20;

/// The largest entry accepted, in bytes; the largest functions have a few hundred.
const MAX_ENTRY_BYTES: usize = 16 << 10;

/// How many earlier entries a lookup tries. Entries overlap only in broken files.
const LOOK_BACK: usize = 8;

/// The entry of one function, or of a part of a function.
#[derive(Clone, Copy, Debug)]
struct FunctionEntry {
    start: u32,
    /// First address after it, which may be 2^32.
    end: u64,
    offset: usize,
}

/// The sections that hold call frame information.
pub(crate) struct FrameSections<'a> {
    pub(crate) image: &'a ElfHeaders,
    /// `.debug_frame`.
    pub(crate) debug: &'a [u8],
    /// `.eh_frame`.
    pub(crate) eh: &'a [u8],
}

/// The entries of both sections by address.
#[derive(Debug, Default)]
pub(crate) struct CallFrames {
    debug: Vec<FunctionEntry>,
    eh: Vec<FunctionEntry>,
}

impl CallFrames {
    /// Reads the headers of all entries; reports unreadable ones as problems.
    pub(crate) fn new(
        sections: &FrameSections<'_>,
        function_at_zero: bool,
        problems: &mut Vec<Problem>,
    ) -> CallFrames {
        let bases = sections.bases();
        let mut debug = entries(&sections.debug_frame(), &bases, ".debug_frame", problems);
        let mut eh = entries(&sections.eh_frame(), &bases, ".eh_frame", problems);
        // Linkers keep the entries of functions that they dropped, at address 0.
        if !function_at_zero {
            debug.retain(|entry| entry.start > 0);
            eh.retain(|entry| entry.start > 0);
        }
        CallFrames { debug, eh }
    }

    /// Returns the rules at an address of the file as linked; none if no entry covers it. The error
    /// says what is wrong with the entry.
    pub(crate) fn rules(
        &self,
        sections: &FrameSections<'_>,
        context: &mut UnwindContext<usize>,
        address: u32,
    ) -> Result<Option<Rules>, String> {
        let bases = sections.bases();
        if let Some(entry) = find(&self.debug, address) {
            return rules(&sections.debug_frame(), &bases, context, entry, address).map(Some);
        }
        let Some(entry) = find(&self.eh, address) else { return Ok(None) };
        rules(&sections.eh_frame(), &bases, context, entry, address).map(Some)
    }
}

impl<'a> FrameSections<'a> {
    fn debug_frame(&self) -> DebugFrame<Slice<'a>> {
        let mut section = DebugFrame::new(self.debug, LittleEndian);
        section.set_address_size(4);
        section
    }

    fn eh_frame(&self) -> EhFrame<Slice<'a>> {
        let mut section = EhFrame::new(self.eh, LittleEndian);
        section.set_address_size(4);
        section
    }

    /// The addresses that pointers in `.eh_frame` may be relative to.
    fn bases(&self) -> BaseAddresses {
        let address = |name| self.image.section(name).map_or(0, |section| section.address.into());
        BaseAddresses::default().set_eh_frame(address(".eh_frame")).set_text(address(".text"))
    }
}

fn find(entries: &[FunctionEntry], address: u32) -> Option<FunctionEntry> {
    let after = entries.partition_point(|entry| entry.start <= address);
    let before = entries.get(..after)?.iter().rev().take(LOOK_BACK);
    before.copied().find(|entry| u64::from(address) < entry.end)
}

type Common<'a> = CommonInformationEntry<Slice<'a>>;

/// Returns the common entries of a section by offset. Only entries of the section's own sequence
/// count: overlapping entries could be read over and over.
fn common<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
) -> gimli::Result<HashMap<usize, Common<'a>>> {
    let mut found = HashMap::new();
    let mut entries = section.entries(bases);
    while let Some(entry) = entries.next()? {
        let CieOrFde::Cie(cie) = entry else { continue };
        if cie.entry_len() <= MAX_ENTRY_BYTES && found.len() < MAX_ENTRIES {
            found.insert(cie.offset(), cie);
        }
    }
    Ok(found)
}

fn entries<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    name: &'static str,
    problems: &mut Vec<Problem>,
) -> Vec<FunctionEntry> {
    let mut found = Vec::new();
    let mut wrong = None;
    let common = common(section, bases).unwrap_or_else(|error| {
        wrong = Some((0, error));
        HashMap::new()
    });
    let mut all = section.entries(bases);
    while let Ok(Some(entry)) = all.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let parsed = partial.parse(|_, _, offset: S::Offset| {
            let offset = UnwindOffset::into(offset);
            let cie = common.get(&offset).filter(|cie| cie.address_size() == 4);
            cie.cloned().ok_or(gimli::Error::NoEntryAtGivenOffset(offset as u64))
        });
        match parsed {
            Ok(_) if found.len() >= MAX_ENTRIES => {
                problems.push(Problem::Limit { what: "call frame entries" });
                break;
            }
            Ok(fde) => found.extend(placed(&fde)),
            // One error is enough to report a damaged section; there may be very many.
            Err(error) => wrong = wrong.or(Some((partial.offset(), error))),
        }
    }
    if let Some((offset, error)) = wrong {
        let reason = error.to_string();
        problems.push(Problem::CallFrames { section: name, offset: offset as u64, reason });
    }
    found.sort_unstable_by_key(|entry| (entry.start, entry.offset));
    found
}

/// Returns the entry if it covers any address.
fn placed(fde: &FrameDescriptionEntry<Slice<'_>>) -> Option<FunctionEntry> {
    let start = u32::try_from(fde.initial_address()).ok()?;
    let end = u64::from(start).checked_add(fde.len())?.min(1 << 32);
    (end > u64::from(start)).then_some(FunctionEntry { start, end, offset: fde.offset() })
}

fn rules<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    context: &mut UnwindContext<usize>,
    entry: FunctionEntry,
    address: u32,
) -> Result<Rules, String> {
    let offset = S::Offset::from(entry.offset);
    let fde = section.fde_from_offset(bases, offset, S::cie_from_offset);
    let fde = fde.map_err(|error| error.to_string())?;
    if fde.entry_len() > MAX_ENTRY_BYTES {
        return Err(format!("an entry of {} bytes", fde.entry_len()));
    }
    let row = fde.unwind_info_for_address(section, bases, context, address.into());
    Rules::new(section, fde.cie(), row.map_err(|error| error.to_string())?)
}
