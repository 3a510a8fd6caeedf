//! PCI config space of each device, and where its BARs stand on the bus (wormhole.md 1.1,
//! wormhole.md 10.2).

/// A BAR of device 0: its number, its bus address and its size in bytes.
struct BarWindow {
    bar: u8,
    base: u64,
    bytes: u64,
}

/// The three BARs, each of 64 bits, where the vendor's simulator puts those of device 0.
const BARS: [BarWindow; 3] = [
    BarWindow { bar: 0, base: 0x1_0000_0000, bytes: 512 << 20 },
    BarWindow { bar: 2, base: 0x1_2000_0000, bytes: 1 << 20 },
    BarWindow { bar: 4, base: 0x8_0000_0000, bytes: 32 << 20 },
];

/// From the BARs of one device to those of the next.
const DEVICE_STRIDE: u64 = 0x10_0000_0000;
/// Vendor 0x1E52, device 0x401E.
const IDENTITY: u32 = 0x401E_1E52;
/// Processing accelerator, revision B0.
const CLASS: u32 = 0x1200_0001;
/// A 64-bit memory BAR that must not be prefetched.
const MEMORY_64: u32 = 4;
/// Config offset of the lower word of BAR 0; each BAR number is a word further.
const FIRST_BAR: u32 = 0x10;

/// The writable words of a device's config space: nothing that is written here moves anything.
#[derive(Clone, Debug)]
pub(crate) struct ConfigSpace {
    words: [u32; 16],
}

impl ConfigSpace {
    /// A device after enumeration.
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

    /// A word; there is nothing beyond the standard header.
    pub(crate) fn read(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Writes the bits of a word that can be written, so that a host can ask how large a BAR is.
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

/// The address bits of a BAR that its size leaves to the host.
fn bar_mask(offset: u32) -> u32 {
    let number = offset.checked_sub(FIRST_BAR).map(|from| from / 4);
    let of = |window: &&BarWindow| number.is_some_and(|n| n & !1 == u32::from(window.bar));
    let Some(window) = BARS.iter().find(of) else { return 0 };
    let mask = !(window.bytes - 1);
    if number.is_some_and(|n| n & 1 == 1) { (mask >> 32) as u32 } else { mask as u32 }
}

/// The device whose share of the bus an address is in, be there a device or not.
pub(crate) fn device_at(address: u64) -> usize {
    // At most 2^28 of them.
    (address / DEVICE_STRIDE) as usize
}

/// The device, BAR and offset that a bus address means.
pub(crate) fn place(address: u64) -> Option<(usize, u8, u64)> {
    let local = address % DEVICE_STRIDE;
    BARS.iter().find_map(|window| {
        let offset = local.checked_sub(window.base).filter(|offset| *offset < window.bytes)?;
        Some((device_at(address), window.bar, offset))
    })
}
