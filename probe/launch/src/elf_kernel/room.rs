//! Where the bytes of a kernel go in its tile, and whether something else is there.

use super::site::KernelSite;
use crate::ControlError;
use crate::firmware::load_address;
use images::Image;
use layouts::{CoreKind, Space, TileKind};
use std::ops::Range;

/// Alignment of the parts of a kernel's configuration.
const ALIGNMENT: u64 = 16;

/// Stands for the address of the copy of instruction RAM until it is known; no core has it.
const NOWHERE: u64 = 1 << 40;

/// The addresses of a kernel in its tile.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// Address of the arguments, and what follows them.
    pub(super) config_base: u64,
    /// Address of the text in L1.
    pub(super) text: u64,
    /// Memory that is zero when the kernel starts.
    pub(super) zeros: Vec<Range<u64>>,
    /// Whether firmware copies the text from there to NCRISC's instruction RAM.
    pub(super) is_copied: bool,
}

/// A range of L1, and what is there.
struct Taken {
    range: Range<u64>,
    what: String,
}

/// Returns the addresses for a kernel with this many bytes of configuration.
pub(super) fn room_for(
    kernel: &Image,
    site: &KernelSite,
    config_bytes: u64,
) -> Result<Room, ControlError> {
    if kernel.segments().iter().all(|segment| segment.bytes.is_empty()) {
        return wrong(kernel, "it has no bytes to load");
    }
    match kernel.core {
        CoreKind::Erisc => ethernet(kernel, site, config_bytes),
        _ => compute(kernel, site, config_bytes),
    }
}

fn wrong<T>(kernel: &Image, what: &str) -> Result<T, ControlError> {
    Err(ControlError::Settings(format!("{}: {what}", kernel.name)))
}

/// Returns the ranges that a kernel's segments need; `text` is where the copy of NCRISC's
/// instruction RAM goes.
fn segments(kernel: &Image, text: Option<u64>) -> Result<Vec<Range<u64>>, ControlError> {
    let range = |segment: &symbols::Segment<'_>| {
        let at = load_address(kernel, segment.load_address, text)?;
        // Only what stands where it was linked has its zeros behind it.
        let in_place = at == segment.address;
        let file = segment.bytes.len() as u64;
        let len = if in_place { segment.memory_size.max(file) } else { file };
        Ok(at..at.saturating_add(len))
    };
    let all = kernel.segments();
    let used = all.iter().filter(|segment| segment.memory_size > 0);
    // What exists in private memory only is cleared by the kernel itself.
    let used = used.filter(|s| !s.bytes.is_empty() || !is_private(kernel, s.load_address));
    used.map(range).collect()
}

/// Returns the memory behind the bytes of segments, which a kernel without start-up code does not
/// clear itself.
fn zeros(kernel: &Image) -> Vec<Range<u64>> {
    let behind = |segment: &symbols::Segment<'_>| {
        let end = segment.address.saturating_add(segment.memory_size);
        segment.address.saturating_add(segment.bytes.len() as u64)..end
    };
    let all = kernel.segments();
    let in_place = all.iter().filter(|segment| {
        segment.address == segment.load_address && !is_private(kernel, segment.address)
    });
    in_place.map(behind).filter(|range| !range.is_empty()).collect()
}

/// Whether only the core reaches this address.
fn is_private(kernel: &Image, addr: u64) -> bool {
    let kind = if kernel.core == CoreKind::Erisc { TileKind::Eth } else { TileKind::Tensix };
    let local = kernel.layout.block(Space::Tile(kind), "local_ram");
    local.is_some_and(|local| addr >= local)
}

/// An Ethernet tile has areas for kernels (wormhole.md 7).
fn ethernet(kernel: &Image, site: &KernelSite, bytes: u64) -> Result<Room, ControlError> {
    let l1 = &kernel.layout.eth.l1;
    let (text, data, config) = (&l1.kernel_text, &l1.kernel_data, &l1.kernel_config);
    // Between the queues and the words of routing.
    let areas = [text.at..text.end(), data.at..data.end(), l1.queues.end()..l1.routing_enabled.at];
    for range in segments(kernel, None)? {
        if !areas.iter().any(|area| area.start <= range.start && range.end <= area.end) {
            let areas: Vec<_> = areas.iter().map(shown).collect();
            let what = format!(
                "its bytes at {} are outside of what kernels have on an Ethernet tile: {}",
                shown(&range),
                areas.join(", ")
            );
            return wrong(kernel, &what);
        }
    }
    let entry = kernel.symbols.entry();
    let begins = load_address(kernel, entry, None)?;
    let runs_in_place = site.runs_in_place();
    if begins != text.at || (runs_in_place && entry != text.at) {
        let firmware = site.firmware_name()?;
        let what = format!("it begins at {entry:#x}; {firmware} runs kernels at {:#x}", text.at);
        return wrong(kernel, &what);
    }
    let room = config.end() - config.at;
    if bytes > room {
        let what = format!(
            "its arguments, semaphores and buffers need {bytes} bytes; there are {room} at {:#x}",
            config.at
        );
        return wrong(kernel, &what);
    }
    Ok(Room { config_base: config.at, text: text.at, zeros: zeros(kernel), is_copied: false })
}

/// A compute tile has L1 behind its firmware.
fn compute(kernel: &Image, site: &KernelSite, bytes: u64) -> Result<Room, ControlError> {
    let tensix = &kernel.layout.tensix;
    let (entry, begin) = (kernel.symbols.entry(), iram(kernel));
    let is_copied = begin.is_some_and(|iram| entry >= iram);
    if is_copied && (kernel.core != CoreKind::Ncrisc || site.runs_in_place()) {
        let (core, firmware) = (kernel.core.name(), site.firmware_name()?);
        let what = format!("it begins at {entry:#x}; {firmware} runs kernels of {core} from L1");
        return wrong(kernel, &what);
    }
    // The copy of instruction RAM is placed behind what is taken; the rest stands where linked.
    let own = segments(kernel, is_copied.then_some(NOWHERE))?;
    let (copies, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|it| it.start >= NOWHERE);
    let copy = copies.iter().map(|range| range.end - NOWHERE).max();
    let mut taken = firmware(site);
    let behind = taken.iter().map(|taken| taken.range.end).max();
    // The memory map of tt-metal ends where the initial content of BRISC's memory begins.
    let start = behind.unwrap_or(0).max(tensix.cores.brisc.init);
    for range in &own {
        fits(kernel, range, &taken, site)?;
    }
    let what = "the kernel".to_owned();
    taken.extend(own.into_iter().map(|range| Taken { range, what: what.clone() }));
    let needed = bytes.next_multiple_of(ALIGNMENT) + copy.unwrap_or(0);
    let config_base = free(start, needed, &taken);
    if config_base + needed > tensix.l1_bytes || bytes > u64::from(u16::MAX) {
        let what = format!("its arguments, semaphores and buffers need {bytes} bytes of L1");
        return wrong(kernel, &format!("{what}, which it does not leave"));
    }
    let text = if is_copied { config_base + bytes.next_multiple_of(ALIGNMENT) } else { entry };
    Ok(Room { config_base, text, zeros: zeros(kernel), is_copied })
}

fn iram(kernel: &Image) -> Option<u64> {
    kernel.layout.block(Space::Tile(TileKind::Tensix), "iram")
}

/// Returns what firmware occupies in L1 of a compute tile.
fn firmware(site: &KernelSite) -> Vec<Taken> {
    let mailbox = &site.layout().tensix.l1.mailbox;
    let what = "the mailbox of the tile".to_owned();
    let mut taken = vec![Taken { range: 0..mailbox.at + mailbox.bytes, what }];
    for image in &site.firmware {
        // The initial content of private memory is read when firmware starts.
        let all = image.segments();
        for segment in all.iter().filter(|segment| !is_private(image, segment.load_address)) {
            let start = segment.load_address;
            let len = segment.memory_size.max(segment.bytes.len() as u64);
            let what = format!("the firmware {}", image.name);
            taken.push(Taken { range: start..start.saturating_add(len), what });
        }
    }
    taken.retain(|taken| !taken.range.is_empty());
    taken
}

/// Returns an error if a range of the kernel is beyond L1 or overlaps something.
fn fits(
    kernel: &Image,
    range: &Range<u64>,
    taken: &[Taken],
    site: &KernelSite,
) -> Result<(), ControlError> {
    let (place, end) = (site.place.name(site.layout()), site.layout().tensix.l1_bytes);
    if range.end > end {
        let what = format!("its bytes at {} are beyond L1 of {place}", shown(range));
        return wrong(kernel, &format!("{what}, which ends at {end:#x}"));
    }
    let overlaps = |taken: &&Taken| taken.range.start < range.end && range.start < taken.range.end;
    match taken.iter().find(overlaps) {
        Some(Taken { range: other, what }) => {
            let other = shown(other);
            wrong(
                kernel,
                &format!("its bytes at {} overlap {what} at {other} of {place}", shown(range)),
            )
        }
        None => Ok(()),
    }
}

/// Returns the first aligned address from which so many bytes are free.
fn free(start: u64, bytes: u64, taken: &[Taken]) -> u64 {
    let mut at = start.next_multiple_of(ALIGNMENT);
    let blocks = |at: u64| {
        let hits = |taken: &&Taken| taken.range.start < at + bytes && at < taken.range.end;
        taken.iter().filter(hits).map(|taken| taken.range.end).max()
    };
    while let Some(end) = blocks(at) {
        at = end.next_multiple_of(ALIGNMENT);
    }
    at
}

fn shown(range: &Range<u64>) -> String {
    format!("{:#x}-{:#x}", range.start, range.end)
}
