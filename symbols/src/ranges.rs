//! The address ranges of an entry, read with checked arithmetic and a budget.

use gimli::{AttributeValue, DwAt, Dwarf, Unit, constants as dw};

use crate::sections::Slice;

/// The most ranges that one pass reads: a hostile file shares one long list among entries.
pub(crate) const BUDGET: usize = 1 << 20;

/// The attributes of an entry that define its code ranges.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Code<'a> {
    low: Option<AttributeValue<Slice<'a>>>,
    high: Option<AttributeValue<Slice<'a>>>,
    list: Option<AttributeValue<Slice<'a>>>,
}

impl<'a> Code<'a> {
    /// Keeps the attribute if it is one of these.
    pub(crate) fn note(&mut self, name: DwAt, value: AttributeValue<Slice<'a>>) {
        match name {
            dw::DW_AT_low_pc => self.low = Some(value),
            dw::DW_AT_high_pc => self.high = Some(value),
            dw::DW_AT_ranges => self.list = Some(value),
            _ => {}
        }
    }

    /// Calls `each` with begin and end of every range that is not empty; false if the budget ran
    /// out.
    pub(crate) fn each(
        &self,
        dwarf: &Dwarf<Slice<'a>>,
        unit: &Unit<Slice<'a>>,
        budget: &mut usize,
        mut each: impl FnMut(u32, u32),
    ) -> bool {
        if let Some(list) = self.list
            && let Ok(Some(mut ranges)) = dwarf.attr_ranges(unit, list)
        {
            while let Ok(Some(range)) = ranges.next() {
                let Some(left) = budget.checked_sub(1) else { return false };
                *budget = left;
                call_each(range.begin, range.end, &mut each);
            }
            return true;
        }
        if let Some((begin, end)) = self.single(dwarf, unit) {
            call_each(begin, end, &mut each);
        }
        true
    }

    fn single(&self, dwarf: &Dwarf<Slice<'a>>, unit: &Unit<Slice<'a>>) -> Option<(u64, u64)> {
        let begin = dwarf.attr_address(unit, self.low?).ok()??;
        let end = match self.high? {
            AttributeValue::Udata(size) => begin.checked_add(size)?,
            value => dwarf.attr_address(unit, value).ok()??,
        };
        Some((begin, end))
    }
}

fn call_each(begin: u64, end: u64, each: &mut impl FnMut(u32, u32)) {
    let end = end.min(u64::from(u32::MAX)) as u32;
    if let Ok(begin) = u32::try_from(begin)
        && begin < end
    {
        each(begin, end);
    }
}
