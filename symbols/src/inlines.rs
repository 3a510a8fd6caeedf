//! The inlined calls inside one function, flattened by depth so that a chain is found by bisection.

use gimli::{EntriesRaw, UnitOffset, constants as dw};

use crate::die::View;
use crate::ranges::{BUDGET, Code};
use crate::sections::Slice;
use crate::units::DieId;

/// Inlining deeper than this is not followed; real routers nest 15.
const MAX_DEPTH: u32 = 200;

/// One contiguous range of an inlined call.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Inline {
    /// How many inlined calls are around this one.
    pub(crate) depth: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) die: DieId,
    /// Where the call stands in the source of the function around it.
    pub(crate) call_file: u32,
    pub(crate) call_line: u32,
}

/// All inlined calls of a function.
#[derive(Debug, Default)]
pub(crate) struct Inlines {
    /// Sorted by depth, then begin.
    calls: Vec<Inline>,
}

impl Inlines {
    /// The chain of calls around an address, outermost first.
    pub(crate) fn chain(&self, address: u32) -> Vec<Inline> {
        let mut chain = Vec::new();
        let mut rest = self.calls.as_slice();
        while let Some(first) = rest.first() {
            let level = rest.partition_point(|call| call.depth == first.depth);
            let (calls, deeper) = rest.split_at_checked(level).unwrap_or((rest, &[]));
            let after = calls.partition_point(|call| call.begin <= address);
            let nearest = after.checked_sub(1).and_then(|at| calls.get(at));
            // A call without ranges of its own may hold one that has some, so go on to the end.
            chain.extend(nearest.filter(|call| address < call.end));
            rest = deeper;
        }
        chain
    }
}

/// Reads the inlined calls of a function; what cannot be read ends the list.
pub(crate) fn read(view: &View<'_>, function: DieId) -> Inlines {
    let mut inlines = Inlines::default();
    // An unreadable entry leaves the calls before it, which still name the right places.
    if fill(view, function, &mut inlines.calls).is_err() {
        inlines.calls.retain(|call| call.begin < call.end);
    }
    inlines.calls.sort_unstable();
    inlines.calls.shrink_to_fit();
    inlines
}

fn fill(view: &View<'_>, function: DieId, calls: &mut Vec<Inline>) -> gimli::Result<()> {
    let Some(index) = view.unit_of(function) else { return Ok(()) };
    let (Some(info), Some(unit)) = (view.units.get(index), view.unit(index)) else {
        return Ok(());
    };
    let offset = UnitOffset((function.0 - info.start) as usize);
    let mut raw: EntriesRaw<'_, Slice<'_>> = unit.entries_raw(Some(offset))?;
    let mut open: Vec<isize> = Vec::new();
    let mut budget = BUDGET;
    let mut first = true;
    while !raw.is_empty() && (first || raw.next_depth() > 0) {
        first = false;
        let (UnitOffset(at), level) = (raw.next_offset(), raw.next_depth());
        let Some(abbreviation) = raw.read_abbreviation()? else { continue };
        while open.last().is_some_and(|&inside| inside >= level) {
            open.pop();
        }
        if abbreviation.tag() != dw::DW_TAG_inlined_subroutine {
            raw.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let die = DieId(info.start.saturating_add(at as u32));
        let mut call =
            Inline { depth: open.len() as u32, begin: 0, end: 0, die, call_file: 0, call_line: 0 };
        let mut code = Code::default();
        for &spec in abbreviation.attributes() {
            let attribute = raw.read_attribute(spec)?;
            match attribute.name() {
                dw::DW_AT_call_file => call.call_file = small(attribute.value()),
                dw::DW_AT_call_line => call.call_line = small(attribute.value()),
                name => code.note(name, attribute.value()),
            }
        }
        if call.depth < MAX_DEPTH {
            code.each(view, &unit, &mut budget, |begin, end| {
                calls.push(Inline { begin, end, ..call });
            });
        }
        if abbreviation.has_children() {
            open.push(level);
        }
    }
    Ok(())
}

fn small(value: gimli::AttributeValue<Slice<'_>>) -> u32 {
    let number = match value {
        gimli::AttributeValue::FileIndex(number) => Some(number),
        value => value.udata_value(),
    };
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}
