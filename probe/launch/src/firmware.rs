//! The firmware of a machine, and loading its images into a tile.

use super::{ControlError, Operation};
use images::Image;
use layouts::{CoreKind, Space, TileKind};
use machine::place::Place;
use symbols::Segment;

/// The images that boot a machine, by their names in the image map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firmware {
    /// The application on Ethernet tiles, over base firmware.
    pub application: &'static str,
    /// The five cores of a compute tile. BRISC is first: it has the mailbox and starts the others.
    pub tensix: [&'static str; 5],
}

impl Firmware {
    /// The built-in firmware.
    pub const BUILT_IN: Self = Self {
        application: "erisc_app",
        tensix: [
            "tensix_brisc",
            "tensix_ncrisc",
            "tensix_trisc0",
            "tensix_trisc1",
            "tensix_trisc2",
        ],
    };
    /// tt-metal's firmware, by the names of its build targets.
    pub const METAL: Self =
        Self { application: "erisc", tensix: ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"] };
}

/// Writes the loadable segments of an image. Segments of private memory and of an Ethernet core's
/// instruction RAM go to the address that firmware copies them from. The image itself clears memory beyond the file's bytes.
pub(super) fn load(
    operation: &mut Operation,
    place: Place,
    image: &Image,
) -> Result<(), ControlError> {
    for segment in image.segments() {
        put(operation, place, image, &segment, None)?;
    }
    Ok(())
}

/// Writes the segments of a kernel for NCRISC; those of its instruction RAM go to `text`, from which
/// firmware copies them. Returns their bytes.
pub(super) fn load_ncrisc(
    operation: &mut Operation,
    place: Place,
    image: &Image,
    text: u64,
) -> Result<u64, ControlError> {
    let mut end = text;
    for segment in image.segments() {
        put(operation, place, image, &segment, Some(text))?;
        let at = load_address(image, segment.load_address, Some(text))?;
        end = end.max(at + segment.bytes.len() as u64);
    }
    Ok(end - text)
}

/// Writes only the initial data, which a run changes; the text must be in place.
pub(super) fn load_data(
    operation: &mut Operation,
    place: Place,
    image: &Image,
) -> Result<(), ControlError> {
    for segment in image.segments().iter().filter(|segment| segment.writable) {
        put(operation, place, image, segment, None)?;
    }
    Ok(())
}

fn put(
    operation: &mut Operation,
    place: Place,
    image: &Image,
    segment: &Segment<'_>,
    text: Option<u64>,
) -> Result<(), ControlError> {
    if !segment.bytes.is_empty() {
        let at = load_address(image, segment.load_address, text)?;
        operation.write(place.at(at), segment.bytes.to_vec());
    }
    Ok(())
}

/// Returns the address where the host writes a segment that is linked at this address; `text` is
/// that of the copy of NCRISC's instruction RAM.
pub(super) fn load_address(
    image: &Image,
    linked: u64,
    text: Option<u64>,
) -> Result<u64, ControlError> {
    let kind = if image.core == CoreKind::Erisc { TileKind::Eth } else { TileKind::Tensix };
    // Firmware copies the kernel's text from there before it calls the kernel.
    let (bytes, text) = match kind {
        TileKind::Eth => (image.layout.eth.iram_bytes, Some(image.layout.eth.l1.kernel_text.at)),
        _ => (image.layout.tensix.ncrisc_iram_bytes, text),
    };
    let iram = image.layout.block(Space::Tile(kind), "iram");
    let inside = iram.and_then(|iram| linked.checked_sub(iram));
    if let Some((inside, text)) = inside.filter(|inside| *inside < bytes).zip(text) {
        return Ok(text + inside);
    }
    let local = image.layout.block(Space::Tile(kind), "local_ram");
    let Some(inside) = local.and_then(|local| linked.checked_sub(local)) else {
        return Ok(linked);
    };
    let Some(core) = image.layout.tensix.cores.of(image.core) else {
        let text = format!(
            "{} has bytes for private memory at {linked:#x}, which this core lacks",
            image.name
        );
        return Err(ControlError::Settings(text));
    };
    Ok(core.init + inside)
}

/// Clears those tables that firmware copies at its start and that the image has. They stay empty:
/// kernels that address memory by bank number are not supported.
pub(super) fn clear_tables(operation: &mut Operation, place: Place, image: &Image) {
    const BANKS: [&str; 4] =
        ["dram_bank_to_noc_xy", "l1_bank_to_noc_xy", "bank_to_dram_offset", "bank_to_l1_offset"];
    const COORDINATES: [&str; 2] =
        ["worker_logical_col_to_virtual_col", "worker_logical_row_to_virtual_row"];
    let size = |name: &&str| image.symbols.variable(name)?.ty?.size();
    let mut clear = |at: u64, names: &[&str]| {
        let bytes: u64 = names.iter().filter_map(size).sum();
        if bytes > 0 {
            operation.write(place.at(at), vec![0; bytes as usize]);
        }
    };
    if image.core == CoreKind::Erisc {
        clear(image.layout.eth.l1.bank_tables.at, &BANKS);
    } else {
        clear(image.layout.tensix.l1.bank_tables.at, &BANKS);
        clear(image.layout.tensix.l1.logical_to_virtual.at, &COORDINATES);
    }
}

/// Writes a jump from BRISC's reset address to the image's entry, unless the image has code at the
/// reset address.
pub(super) fn first_jump(
    operation: &mut Operation,
    place: Place,
    brisc: &Image,
) -> Result<(), ControlError> {
    let reset = u64::from(brisc.layout.tensix.cores.brisc.reset_pc);
    let covers_reset = brisc.segments().iter().any(|segment| {
        let end = segment.load_address.saturating_add(segment.bytes.len() as u64);
        (segment.load_address..end).contains(&reset)
    });
    if !covers_reset {
        let entry = brisc.symbols.entry();
        let beyond = || {
            ControlError::Settings(format!(
                "{} begins at {entry:#x}, out of reach of a jump from {reset:#x}",
                brisc.name
            ))
        };
        let jump = entry.checked_sub(reset).and_then(jal).ok_or_else(beyond)?;
        operation.write_word(place.at(reset), jump);
    }
    Ok(())
}

/// Encodes the instruction `jal x0, distance`; none if the distance is out of its reach.
fn jal(distance: u64) -> Option<u32> {
    let d = u32::try_from(distance).ok().filter(|d| *d < 1 << 20 && d % 2 == 0)?;
    Some((d >> 1 & 0x3FF) << 21 | (d >> 11 & 1) << 20 | (d >> 12 & 0xFF) << 12 | 0x6F)
}

#[cfg(test)]
mod tests {
    use super::jal;

    #[test]
    fn the_jump_of_the_reference() {
        // tt-metal.md 1.4 and wormhole.md 7.1.
        assert_eq!(jal(0x3A20), Some(0x2210_306F));
        assert_eq!(jal(0x33D0), Some(0x3D00_306F));
        assert_eq!(jal(1 << 20), None);
    }
}
