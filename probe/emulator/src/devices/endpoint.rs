//! The PCIe endpoint apart from BAR0: host memory behind the PCIe tile, outbound address
//! translation, and the DMA engine. BAR2 holds the registers of the last two (wormhole.md 1.1,
//! wormhole.md 1.8).

use super::tape::HostTape;
use crate::condition::{NOT_MODELLED, REGISTER_WIDTH, Refusal};
use std::sync::Arc;

/// The memory of the host, at the bus addresses that a device uses.
///
/// It belongs to the host: no journal records what a device reads there. A mesh that keeps its
/// history keeps the answers too, and its copies get these.
pub trait HostMemory: std::fmt::Debug + Send + Sync {
    /// Reads bytes. Returns false if the address has no memory.
    fn read(&self, address: u64, out: &mut [u8]) -> bool;
    /// Writes bytes. Returns false if the address has no memory.
    fn write(&self, address: u64, data: &[u8]) -> bool;
}

/// Usable bytes of the PCIe tile's window to the host: 4 GiB less 128 KiB (wormhole.md 1.8).
const WINDOW_BYTES: u64 = 0xFFFE_0000;
/// Translation regions in BAR2: 16, each with its outbound half first.
const REGIONS: u32 = 0x1200;
const REGION_BYTES: u32 = 0x200;
const REGION_COUNT: usize = 16;
/// Implemented words of the outbound half: control 1 and 2, base, limit (low word only), target.
const REGION_WORDS: usize = 7;
const ENABLED: u32 = 1 << 31;
/// End of the DMA registers.
const DMA_END: u32 = 0x400;
/// Registers that software sets up before a transfer and that have no effect here: interrupt masks,
/// abort report addresses, channel control.
const STORED: [u32; 8] = [0x54, 0x68, 0x6C, 0xA8, 0xD4, 0xD8, 0x200, 0x300];
/// An access to host memory that does not exist.
const NO_HOST_MEMORY: Refusal = Refusal::refused("no-host-memory");

/// Registers of channel 0 for one direction of the DMA engine; 64-bit registers by their lower
/// word. UMD and the vendor's simulator agree on these offsets.
struct Engine {
    enable: u32,
    doorbell: u32,
    done: u32,
    done_data: u32,
    size: u32,
    source: u32,
    target: u32,
}

/// From the device to the host.
const TO_HOST: Engine = Engine {
    enable: 0x0C,
    doorbell: 0x10,
    done: 0x60,
    done_data: 0x70,
    size: 0x208,
    source: 0x20C,
    target: 0x214,
};

/// From the host to the device.
const TO_DEVICE: Engine = Engine {
    enable: 0x2C,
    doorbell: 0x30,
    done: 0xCC,
    done_data: 0xDC,
    size: 0x308,
    source: 0x30C,
    target: 0x314,
};

impl Engine {
    fn has(&self, register: u32) -> bool {
        let wide = [self.done, self.source, self.target];
        [self.enable, self.doorbell, self.done_data, self.size].contains(&register)
            || wide.into_iter().any(|low| register == low || register == low + 4)
    }
}

/// A transfer that a doorbell started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) to_host: bool,
    /// Offset in BAR0.
    pub(crate) device: u64,
    /// Bus address.
    pub(crate) host: u64,
    pub(crate) bytes: u32,
    /// Bus address and value of the completion word.
    pub(crate) done: (u64, u32),
}

/// The endpoint of one chip.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) host: Option<Arc<dyn HostMemory>>,
    /// The answers of host memory, for copies of the mesh, and the chip's index there.
    pub(crate) tape: Option<(usize, Arc<HostTape>)>,
    /// Number of accesses to host memory so far.
    accesses: u64,
    regions: [[u32; REGION_WORDS]; REGION_COUNT],
    dma: Vec<u32>,
}

impl Endpoint {
    /// Creates an endpoint with translation and DMA off.
    pub(crate) fn new() -> Self {
        Self {
            host: None,
            tape: None,
            accesses: 0,
            regions: [[0; REGION_WORDS]; REGION_COUNT],
            dma: vec![0; DMA_END as usize / 4],
        }
    }

    /// Returns all registers.
    pub(crate) fn registers(&self) -> (&[[u32; REGION_WORDS]; REGION_COUNT], &[u32]) {
        (&self.regions, &self.dma)
    }

    /// Reads host memory at an offset of the PCIe tile's window.
    pub(crate) fn read_host(&mut self, offset: u64, out: &mut [u8]) -> Result<(), Refusal> {
        let address = self.translate(offset, out.len() as u64)?;
        self.read_bus(address, out)
    }

    /// Writes host memory at an offset of the PCIe tile's window.
    pub(crate) fn write_host(&mut self, offset: u64, data: &[u8]) -> Result<(), Refusal> {
        let address = self.translate(offset, data.len() as u64)?;
        self.write_bus(address, data)
    }

    /// Reads host memory at a bus address.
    pub(crate) fn read_bus(&mut self, address: u64, out: &mut [u8]) -> Result<(), Refusal> {
        let number = self.count();
        let present = match (&self.host, &self.tape) {
            (Some(host), tape) => {
                let present = host.read(address, out);
                if let Some((chip, tape)) = tape.as_ref().filter(|_| present) {
                    tape.keep_read((*chip, number), address, out);
                }
                present
            }
            (None, Some((chip, tape))) => tape.read((*chip, number), address, out),
            (None, None) => false,
        };
        if present { Ok(()) } else { Err(NO_HOST_MEMORY) }
    }

    fn count(&mut self) -> u64 {
        self.accesses += 1;
        self.accesses
    }

    /// Continues the access to host memory of the endpoint before a reset.
    pub(crate) fn continue_from(&mut self, before: &Self) {
        (self.accesses, self.tape) = (before.accesses, before.tape.clone());
    }

    /// Writes host memory at a bus address.
    pub(crate) fn write_bus(&mut self, address: u64, data: &[u8]) -> Result<(), Refusal> {
        let (number, len) = (self.count(), data.len());
        let present = match (&self.host, &self.tape) {
            (Some(host), tape) => {
                let present = host.write(address, data);
                if let Some((chip, tape)) = tape.as_ref().filter(|_| present) {
                    tape.keep_write((*chip, number), address, len);
                }
                present
            }
            (None, Some((chip, tape))) => tape.write((*chip, number), address, len),
            (None, None) => false,
        };
        if present { Ok(()) } else { Err(NO_HOST_MEMORY) }
    }

    /// Returns the bus address of an offset: through the region that contains the whole range, else
    /// the offset itself.
    fn translate(&self, offset: u64, len: u64) -> Result<u64, Refusal> {
        if offset + len > WINDOW_BYTES {
            return Err(Refusal::refused("pcie-dbi-not-modelled"));
        }
        let region = self.regions.iter().find_map(|region| {
            let [_, control, base_low, base_high, limit, target_low, target_high] = *region;
            let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
            let (base, limit) = (wide(base_low, base_high), wide(limit, base_high));
            let inside = offset >= base && offset + len <= limit + 1;
            let target = wide(target_low, target_high);
            (control & ENABLED != 0 && inside).then(|| target.wrapping_add(offset - base))
        });
        Ok(region.unwrap_or(offset))
    }

    /// Reads a word of BAR2.
    pub(crate) fn read(&mut self, offset: u64, len: usize) -> Result<u32, Refusal> {
        word(offset, len)?;
        self.register(offset).map(|register| *register)
    }

    /// Writes a word of BAR2. Returns the transfer if the write rings a doorbell.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> Result<Option<Transfer>, Refusal> {
        word(offset, data.len())?;
        let value = <[u8; 4]>::try_from(data).map_err(|_| REGISTER_WIDTH)?;
        *self.register(offset)? = u32::from_le_bytes(value);
        for engine in [&TO_HOST, &TO_DEVICE] {
            if offset == u64::from(engine.doorbell) {
                return self.transfer(engine).map(Some);
            }
        }
        Ok(None)
    }

    fn register(&mut self, offset: u64) -> Result<&mut u32, Refusal> {
        let offset = u32::try_from(offset).map_err(|_| NOT_MODELLED)?;
        if let Some(within) = offset.checked_sub(REGIONS) {
            let region = self.regions.get_mut((within / REGION_BYTES) as usize);
            let word = (within % REGION_BYTES / 4) as usize;
            return region.and_then(|region| region.get_mut(word)).ok_or(NOT_MODELLED);
        }
        let known = STORED.contains(&offset) || TO_HOST.has(offset) || TO_DEVICE.has(offset);
        let register = self.dma.get_mut(offset as usize / 4).filter(|_| known);
        register.ok_or(NOT_MODELLED)
    }

    fn dma(&self, offset: u32) -> u32 {
        self.dma.get(offset as usize / 4).map_or(0, |word| *word)
    }

    fn dma_wide(&self, offset: u32) -> u64 {
        u64::from(self.dma(offset + 4)) << 32 | u64::from(self.dma(offset))
    }

    /// Returns the transfer that the registers of a direction describe.
    fn transfer(&self, engine: &Engine) -> Result<Transfer, Refusal> {
        if self.dma(engine.doorbell) != 0 {
            return Err(Refusal::refused("dma-channel-not-modelled"));
        }
        let to_host = engine.doorbell == TO_HOST.doorbell;
        let (source, target) = (self.dma_wide(engine.source), self.dma_wide(engine.target));
        let (device, host) = if to_host { (source, target) } else { (target, source) };
        let bytes = self.dma(engine.size);
        let whole_words = device.is_multiple_of(4) && bytes.is_multiple_of(4) && bytes > 0;
        if self.dma(engine.enable) & 1 == 0 || !whole_words {
            return Err(Refusal::refused("dma-set-up-wrong"));
        }
        let done = (self.dma_wide(engine.done), self.dma(engine.done_data));
        Ok(Transfer { to_host, device, host, bytes, done })
    }
}

/// BAR2 takes aligned 32-bit accesses only.
fn word(offset: u64, len: usize) -> Result<(), Refusal> {
    if offset.is_multiple_of(4) && len == 4 { Ok(()) } else { Err(REGISTER_WIDTH) }
}
