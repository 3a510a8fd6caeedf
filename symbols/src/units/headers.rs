//! The headers of all units.

use gimli::{Section, UnitHeader};

use crate::problem::Problem;
use crate::sections::Slice;

/// The most units accepted.
const MAX_UNITS: usize = 1 << 16;

/// Returns all unit headers, of `.debug_info` and then of `.debug_types`.
pub(super) fn headers<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    problems: &mut Vec<Problem>,
) -> Vec<UnitHeader<Slice<'a>>> {
    let mut headers = Vec::new();
    let mut keep = |offset: usize, next: gimli::Result<Option<UnitHeader<Slice<'a>>>>| match next {
        Ok(Some(_)) if headers.len() >= MAX_UNITS => {
            problems.push(Problem::Limit { what: "units" });
            false
        }
        Ok(Some(header)) => {
            headers.push(header);
            true
        }
        Ok(None) => false,
        Err(error) => {
            problems.push(Problem::Unit { offset: offset as u64, reason: error.to_string() });
            false
        }
    };
    let mut info = dwarf.units();
    let mut offset = 0;
    loop {
        let next = info.next();
        let end = next.as_ref().ok().and_then(|h| h.as_ref()).map(end_of);
        if !keep(offset, next) {
            break;
        }
        offset = end.unwrap_or(offset);
    }
    let mut types = dwarf.type_units();
    while keep(dwarf.debug_info.reader().len(), types.next()) {}
    headers
}

/// Returns the offset of the first byte after a unit.
pub(super) fn end_of(header: &UnitHeader<Slice<'_>>) -> usize {
    header.offset().0.saturating_add(header.length_including_self())
}
