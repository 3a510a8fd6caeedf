//! The first entry of a unit: the bases needed to read the rest, and the data of a skeleton.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use gimli::{AttributeValue, DwarfFileType, constants as dw};

use super::UnitInfo;
use crate::sections::Slice;

/// A skeleton's reference to its unit in another file.
#[derive(Debug)]
pub(crate) struct Skeleton {
    /// Index of the skeleton into the unit table.
    pub(crate) unit: usize,
    pub(crate) start: u32,
    pub(crate) id: Option<u64>,
    pub(crate) file: PathBuf,
    pub(crate) directory: Option<PathBuf>,
}

/// Reads the unit's first entry.
pub(super) fn root(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    info: &mut UnitInfo,
) -> gimli::Result<Option<Skeleton>> {
    let unit = info.unit(dwarf);
    let root = unit.entry(unit.header.root_offset())?;
    let mut low_pc = None;
    let (mut file, mut directory) = (None, None);
    for attribute in root.attrs() {
        match (attribute.name(), attribute.value()) {
            (dw::DW_AT_stmt_list, AttributeValue::DebugLineRef(at)) => info.lines = Some(at),
            (dw::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => {
                info.str_offsets_base = base;
            }
            (
                dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base,
                AttributeValue::DebugAddrBase(base),
            ) => info.addr_base = base,
            (dw::DW_AT_loclists_base, AttributeValue::DebugLocListsBase(base)) => {
                info.loclists_base = base;
            }
            (
                dw::DW_AT_rnglists_base | dw::DW_AT_GNU_ranges_base,
                AttributeValue::DebugRngListsBase(base),
            ) => info.rnglists_base = base,
            (dw::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => info.dwo_id = Some(id.0),
            (dw::DW_AT_low_pc, value) => low_pc = Some(value),
            (dw::DW_AT_dwo_name | dw::DW_AT_GNU_dwo_name, value) => file = Some(value),
            (dw::DW_AT_comp_dir, value) => directory = Some(value),
            _ => {}
        }
    }
    let unit = info.unit(dwarf);
    // The addresses of a split unit are in the skeleton's file; `complete` copies their base.
    if dwarf.file_type == DwarfFileType::Dwo {
        info.lines = None;
        return Ok(None);
    }
    if let Some(value) = low_pc {
        info.low_pc = dwarf.attr_address(&unit, value)?.unwrap_or(0);
    }
    let Some(file) = file else { return Ok(None) };
    let path = |value| Ok::<_, gimli::Error>(path_of(&dwarf.attr_string(&unit, value)?));
    Ok(Some(Skeleton {
        unit: 0,
        start: info.start,
        id: info.dwo_id,
        file: path(file)?,
        directory: directory.map(path).transpose()?,
    }))
}

fn path_of(text: &Slice<'_>) -> PathBuf {
    OsStr::from_bytes(text.slice()).into()
}
