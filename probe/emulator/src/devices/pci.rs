//! PCI config space of each device, and the bus addresses of its BARs (wormhole.md 1.1,
//! wormhole.md 10.2).

/// A BAR of device 0: its number, its bus address and its size in bytes.
struct BarWindow {
    bar: u8,
    base: u64,
    bytes: u64,
}

/// The three 64-bit BARs, at the addresses that the vendor's simulator uses for device 0.
const BARS: [BarWindow; 3] = [
    BarWindow { bar: 0, base: 0x1_0000_0000, bytes: 512 << 20 },
    BarWindow { bar: 2, base: 0x1_2000_0000, bytes: 1 << 20 },
    BarWindow { bar: 4, base: 0x8_0000_0000, bytes: 32 << 20 },
];

/// Distance between the BARs of one device and those of the next.
const DEVICE_STRIDE: u64 = 0x10_0000_0000;
/// Vendor 0x1E52, device 0x401E.
const IDENTITY: u32 = 0x401E_1E52;
/// Processing accelerator, revision B0.
const CLASS: u32 = 0x1200_0001;
/// A 64-bit memory BAR, not prefetchable.
const MEMORY_64: u32 = 4;
/// Config offset of the lower word of BAR 0; each BAR number adds a word.
const FIRST_BAR: u32 = 0x10;

/// The words of a device's config space. A write to a BAR does not move it on the bus.
#[derive(Clone, Debug)]
pub(crate) struct ConfigSpace {
    words: [u32; 16],
}

impl ConfigSpace {
    /// Creates the config space of a device after enumeration.
    pub(crate) fn new(device: usize) -> Self {
        let mut words = [0; 16];
        words[0] = IDENTITY;
        words[2] = CLASS;
        for window in &BARS {
            let base = window.base + DEVICE_STRIDE * device as u64;
            let word = (FIRST_BAR / 4) as usize + usize::from(window.bar);
            words[word] = base as u32 | MEMORY_64;
            words[word + 1] = (base >> 32) as u32;
        }
        // No interrupt line is routed.
        words[15] = 0xFF;
        Self { words }
    }

    /// Returns a word; 0 beyond the standard header.
    pub(crate) fn read(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Writes the writable bits of a word, which lets a host query the size of a BAR.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        let mask = match offset {
            0x04 | 0x0C => 0xFFFF,
            0x3C => 0xFF,
            _ => bar_mask(offset),
        };
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = *word & !mask | value & mask;
        }
    }
}

/// Returns the writable address bits of a BAR word: those above its size.
fn bar_mask(offset: u32) -> u32 {
    let number = offset.checked_sub(FIRST_BAR).map(|from| from / 4);
    let is_bar = |window: &&BarWindow| number.is_some_and(|n| n & !1 == u32::from(window.bar));
    let Some(window) = BARS.iter().find(is_bar) else { return 0 };
    let mask = !(window.bytes - 1);
    if number.is_some_and(|n| n & 1 == 1) { (mask >> 32) as u32 } else { mask as u32 }
}

/// Returns the number of the device whose part of the bus contains an address, whether or not the
/// device exists.
pub(crate) fn device_at(address: u64) -> usize {
    // The result is at most 2^28.
    (address / DEVICE_STRIDE) as usize
}

/// Returns the device, BAR and offset of a bus address.
pub(crate) fn place(address: u64) -> Option<(usize, u8, u64)> {
    let local = address % DEVICE_STRIDE;
    BARS.iter().find_map(|window| {
        let offset = local.checked_sub(window.base).filter(|offset| *offset < window.bytes)?;
        Some((device_at(address), window.bar, offset))
    })
}
