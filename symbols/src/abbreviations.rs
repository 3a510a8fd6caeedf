//! Reads the abbreviation tables, which define the layout of debug entries, and checks their
//! limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{
    Abbreviations, DebugAbbrev, DebugAbbrevOffset, EndianSlice, LittleEndian, Reader, Section,
    constants as dw,
};

use crate::sections::Slice;

/// The most attributes that one entry may have; compilers write two dozen. Some attributes take no
/// bytes, so without a limit a short file could make every entry arbitrarily slow to read.
const MAX_ATTRIBUTES: usize = 128;

/// The tables by offset, or why one cannot be used.
pub(crate) type Tables = BTreeMap<usize, Result<Arc<Abbreviations>, String>>;

/// Reads each table once, and only up to the start of the next one. Compilers write no overlapping
/// tables; reading overlapping tables whole would take quadratic time and memory.
pub(crate) fn read(dwarf: &gimli::Dwarf<Slice<'_>>, mut offsets: Vec<usize>) -> Tables {
    let section = dwarf.debug_abbrev.reader().slice();
    offsets.sort_unstable();
    offsets.dedup();
    let ends = offsets.iter().skip(1).copied().chain([section.len()]);
    let tables = offsets.iter().zip(ends).map(|(&start, end)| {
        let bytes = section.get(start..end).unwrap_or_default();
        (start, table(EndianSlice::new(bytes, LittleEndian)))
    });
    tables.collect()
}

fn table(bytes: Slice<'_>) -> Result<Arc<Abbreviations>, String> {
    if widest(bytes).map_err(|error| error.to_string())? > MAX_ATTRIBUTES {
        return Err(format!("has entries of more than {MAX_ATTRIBUTES} attributes"));
    }
    let section: DebugAbbrev<Slice<'_>> = bytes.into();
    let table = section.abbreviations(DebugAbbrevOffset(0));
    table.map(Arc::new).map_err(|error| error.to_string())
}

/// Returns the largest number of attributes that one entry of a table has.
fn widest(mut bytes: Slice<'_>) -> gimli::Result<usize> {
    let mut widest = 0;
    while !bytes.is_empty() && bytes.read_uleb128()? != 0 {
        bytes.read_uleb128()?;
        bytes.read_u8()?;
        let mut attributes = 0;
        loop {
            let (name, form) = (bytes.read_uleb128()?, bytes.read_uleb128()?);
            if name == 0 && form == 0 {
                break;
            }
            if form == u64::from(dw::DW_FORM_implicit_const.0) {
                bytes.read_sleb128()?;
            }
            attributes += 1;
        }
        widest = widest.max(attributes);
    }
    Ok(widest)
}
