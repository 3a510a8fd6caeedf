//! For which core an ELF was linked, by what is in it.

use super::site::KernelSite;
use crate::ControlError;
use images::core_named;
use layouts::{ChipLayout, CoreKind, Space, TileKind};
use symbols::Symbols;

/// The cores of a compute tile, in tt-metal's order.
const TENSIX: [CoreKind; 5] =
    [CoreKind::Brisc, CoreKind::Ncrisc, CoreKind::Trisc0, CoreKind::Trisc1, CoreKind::Trisc2];
/// The symbol of tt-metal's kernels with the end of the text of the firmware that they are linked
/// with.
const FIRMWARE_END: &str = "__fw_export_text_end";

/// Something in the ELF that shows for which cores it was linked.
struct Evidence {
    cores: Vec<CoreKind>,
    /// A clause about the ELF, such as "its mailbox is that of a compute tile".
    what: String,
}

/// Returns the core of a tile for which an ELF was linked. Where several are possible, it is the
/// one that `wanted` or the file's name states, else the first.
///
/// # Errors
/// `Settings`, with what in the ELF shows that it was linked for another core.
pub fn core_for(
    kernel: &Symbols,
    name: &str,
    site: &KernelSite,
    wanted: Option<CoreKind>,
) -> Result<CoreKind, ControlError> {
    let mut cores = site.cores();
    let layout = site.layout();
    let place = site.place.name(layout);
    if let Some(core) = wanted {
        if !cores.contains(&core) {
            let kind =
                if cores == [CoreKind::Erisc] { "an Ethernet tile" } else { "a compute tile" };
            let text = format!("{place} is {kind}, which has no {}", core.name());
            return Err(ControlError::Settings(text));
        }
        cores = vec![core];
    }
    let all = [mailbox(kernel, layout), firmware_end(kernel, site), text(kernel, layout, wanted)];
    for Evidence { cores: linked, what } in all.into_iter().flatten() {
        cores.retain(|core| linked.contains(core));
        if cores.is_empty() {
            let core = wanted.map_or_else(String::new, |core| format!("{} of ", core.name()));
            let text = format!("{name} was not linked for {core}{place}: {what}");
            return Err(ControlError::Settings(text));
        }
    }
    let named = named_by(name).filter(|core| cores.contains(core));
    let none = || ControlError::Settings(format!("{place} runs no kernels"));
    named.or_else(|| cores.first().copied()).ok_or_else(none)
}

/// Returns the core whose name is a word of the file's name.
fn named_by(name: &str) -> Option<CoreKind> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(core_named)
}

/// The constant pointer to the mailbox, which differs between kinds of tiles (tt-metal.md 1.1).
fn mailbox(kernel: &Symbols, layout: &ChipLayout) -> Option<Evidence> {
    let base = kernel.constant("mailboxes")?.as_u64()?;
    let (compute, ethernet) = (&layout.tensix.l1.mailbox, &layout.eth.l1.mailbox);
    let (cores, whose) = match base {
        base if base == compute.at => (TENSIX.to_vec(), "of a compute tile"),
        base if base == ethernet.at => (vec![CoreKind::Erisc], "of an active Ethernet tile"),
        _ => (Vec::new(), "of neither a compute tile nor an active Ethernet tile"),
    };
    Some(Evidence { cores, what: format!("its mailbox is at {base:#x}, that {whose}") })
}

/// The firmware that a kernel of tt-metal was linked with.
fn firmware_end(kernel: &Symbols, site: &KernelSite) -> Option<Evidence> {
    let end = kernel.symbol(FIRMWARE_END)?.address;
    let ends_there = |image: &&std::sync::Arc<images::Image>| {
        let text = image.symbols.symbol(FIRMWARE_END);
        text.is_some_and(|symbol| symbol.address == end)
    };
    let fits: Vec<_> = site.firmware.iter().filter(ends_there).collect();
    let what = if let Some(image) = fits.first() {
        format!("it was linked with the firmware of {}", image.core.name())
    } else {
        let runs = site.firmware.first().map_or("other firmware", |image| &image.name);
        format!("it was linked with firmware whose text ends at {end:#x}; {runs} runs there")
    };
    Some(Evidence { cores: fits.iter().map(|image| image.core).collect(), what })
}

/// The address of its code.
fn text(kernel: &Symbols, layout: &ChipLayout, wanted: Option<CoreKind>) -> Option<Evidence> {
    let entry = kernel.entry();
    // A compute tile can have a kernel there, too.
    if entry == layout.eth.l1.kernel_text.at && wanted.is_none() {
        let what = format!("it begins at {entry:#x}, where Ethernet tiles run kernels");
        return Some(Evidence { cores: vec![CoreKind::Erisc], what });
    }
    let at = |kind, bytes| {
        let iram = layout.block(Space::Tile(kind), "iram")?;
        (iram..iram + bytes).contains(&entry).then_some(())
    };
    let (ncrisc, erisc) = (layout.tensix.ncrisc_iram_bytes, layout.eth.iram_bytes);
    if at(TileKind::Tensix, ncrisc).or_else(|| at(TileKind::Eth, erisc)).is_some() {
        let what = format!("it begins at {entry:#x}, in instruction RAM");
        return Some(Evidence { cores: vec![CoreKind::Ncrisc, CoreKind::Erisc], what });
    }
    let size = layout.eth.l1_bytes;
    (entry >= size).then(|| Evidence {
        cores: TENSIX.to_vec(),
        what: format!("it begins at {entry:#x}, and L1 of an Ethernet tile ends at {size:#x}"),
    })
}
