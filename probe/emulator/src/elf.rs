//! Power-on images: the loadable segments of an ELF32 file.

use crate::config::PowerOnError;
use object::LittleEndian;
use object::elf::{FileHeader32, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

/// Returns the loadable segments of an ELF32 file: physical address and bytes, with zeros for bytes
/// that the file omits.
pub(crate) fn segments(file: &[u8]) -> Result<Vec<(u64, Vec<u8>)>, PowerOnError> {
    let header = FileHeader32::<LittleEndian>::parse(file).map_err(PowerOnError::Elf)?;
    let endian = header.endian().map_err(PowerOnError::Elf)?;
    let headers = header.program_headers(endian, file).map_err(PowerOnError::Elf)?;
    let mut segments = Vec::new();
    for segment in headers.iter().filter(|s| s.p_type(endian) == PT_LOAD) {
        let data = segment.data(endian, file).map_err(|()| PowerOnError::SegmentOutside)?;
        let size = segment.p_memsz(endian) as usize;
        // A tile has at most 1464 KiB: a larger segment cannot be meant for it.
        if size > 4 << 20 {
            return Err(PowerOnError::SegmentBytes(size));
        }
        let mut bytes = data.to_vec();
        bytes.resize(size.max(bytes.len()), 0);
        if !bytes.is_empty() {
            segments.push((u64::from(segment.p_paddr(endian)), bytes));
        }
    }
    Ok(segments)
}
