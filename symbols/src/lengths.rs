//! Lengths of functions in split units: RISC-V's assembler leaves them to the linker, which never
//! gets a `.dwo`, and writes 0. The symbol table of the program has them.

use gimli::{AttributeValue, Dwarf, Section, constants as dw};

use crate::sections::Slice;
use crate::units::UnitInfo;

/// Returns `.debug_info` with the lengths of the functions that have none; none if nothing changes.
/// `size` returns the size of the function at an address.
pub(crate) fn completed(
    dwarf: &Dwarf<Slice<'_>>,
    units: &[UnitInfo],
    size: impl Fn(u32) -> Option<u64>,
) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    for unit in units {
        // The readers of entries report an error.
        let _ = missing(dwarf, unit, &mut found);
    }
    let mut info = dwarf.debug_info.reader().slice().to_vec();
    let mut changed = false;
    for (place, address) in found {
        if let (Some(size), Some(place)) = (size(address), info.get_mut(place..place + 4)) {
            place.copy_from_slice(&(size as u32).to_le_bytes());
            changed = true;
        }
    }
    changed.then_some(info)
}

/// Finds the places in the section of lengths that are 0, each with its function's address.
fn missing(
    dwarf: &Dwarf<Slice<'_>>,
    info: &UnitInfo,
    found: &mut Vec<(usize, u32)>,
) -> gimli::Result<()> {
    let unit = info.unit(dwarf);
    let start = (info.start - info.base) as usize;
    let mut raw = unit.entries_raw(None)?;
    while !raw.is_empty() {
        let Some(abbreviation) = raw.read_abbreviation()? else { continue };
        if abbreviation.tag() != dw::DW_TAG_subprogram {
            raw.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let (mut low, mut length) = (None, None);
        for &spec in abbreviation.attributes() {
            let at = start + raw.next_offset().0;
            let attribute = raw.read_attribute(spec)?;
            match (attribute.name(), attribute.value(), attribute.form()) {
                (dw::DW_AT_low_pc, value, _) => low = dwarf.attr_address(&unit, value)?,
                (
                    dw::DW_AT_high_pc,
                    AttributeValue::Udata(0),
                    dw::DW_FORM_data4 | dw::DW_FORM_data8,
                ) => length = Some(at),
                _ => {}
            }
        }
        let low = low.and_then(|low| u32::try_from(low).ok());
        found.extend(length.zip(low));
    }
    Ok(())
}
