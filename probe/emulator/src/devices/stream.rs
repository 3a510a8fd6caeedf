//! The overlay's stream registers as tt-metal uses them: scratch words and 17-bit credit counters
//! (wormhole.md 4.5).

use crate::condition::{NOT_MODELLED, READ_ONLY, Refusal};
use crate::heap::{of_arc, of_vec};
use std::sync::Arc;

/// Register numbers (word index in a stream's 4 KiB).
mod register {
    pub(super) const REMOTE_SRC: u32 = 0;
    pub(super) const DEST_START: u32 = 3;
    pub(super) const DEST_SIZE: u32 = 4;
    pub(super) const DEST_WRITE_POINTER: u32 = 5;
    pub(super) const AUTO_CONFIG: u32 = 12;
    pub(super) const UPDATE: u32 = 34;
    pub(super) const SPACE: u32 = 64;
    pub(super) const SPACE_END: u32 = 96;
    pub(super) const SCRATCH: u32 = 248;
    pub(super) const SCRATCH_END: u32 = 254;
}

const BITS_17: u32 = (1 << 17) - 1;
const BITS_24: u32 = (1 << 24) - 1;
/// Destinations of a stream that can multicast (ISA documentation, AsGeneralUse).
const DESTINATIONS: usize = 32;

#[derive(Clone, Debug)]
struct Stream {
    remote_src: u32,
    dest_start: u32,
    dest_size: u32,
    dest_write_pointer: u32,
    auto_config: u32,
    space: [u32; DESTINATIONS],
    scratch: [u32; 6],
    /// Whether its counters read as 0.
    held: bool,
}

/// The streams of a tile: 64 on a Tensix tile, 32 on an Ethernet tile. They start zeroed.
/// Checkpoints share them until one changes.
#[derive(Clone, Debug)]
pub(crate) struct Streams(Arc<Vec<Stream>>);

impl Streams {
    /// Creates idle streams.
    pub(crate) fn new(count: usize) -> Self {
        let idle = Stream {
            remote_src: 0,
            dest_start: 0,
            dest_size: 0,
            dest_write_pointer: 0,
            auto_config: 0,
            space: [0; DESTINATIONS],
            scratch: [0; 6],
            held: false,
        };
        Self(Arc::new(vec![idle; count]))
    }

    /// Whether the streams are those of an earlier checkpoint.
    pub(crate) fn are(&self, earlier: &Self) -> bool {
        Arc::ptr_eq(&self.0, &earlier.0)
    }

    /// Returns the bytes of what the streams at an earlier moment have not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        if earlier.is_some_and(|earlier| self.are(earlier)) {
            0
        } else {
            of_arc(&self.0) + of_vec(&self.0)
        }
    }

    /// Number of streams.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Lets the counters of a stream read as 0, or as what they have counted.
    pub(crate) fn hold(&mut self, stream: u8, held: bool) {
        if let Some(stream) = Arc::make_mut(&mut self.0).get_mut(usize::from(stream)) {
            stream.held = held;
        }
    }

    /// Returns the numbers of the stream and of its register at an offset.
    fn at(&self, offset: u32) -> Result<(usize, u32), Refusal> {
        let stream = (offset >> 12) as usize;
        if stream >= self.0.len() {
            return Err(Refusal::hang("no-such-stream"));
        }
        Ok((stream, (offset & 0xFFF) / 4))
    }

    /// Reads the register at this offset from the first stream.
    pub(crate) fn read(&self, offset: u32) -> Result<u32, Refusal> {
        let (stream, word) = self.at(offset)?;
        let stream = &self.0[stream];
        match word {
            register::REMOTE_SRC => Ok(stream.remote_src),
            register::DEST_START => Ok(stream.dest_start),
            register::DEST_SIZE => Ok(stream.dest_size),
            register::DEST_WRITE_POINTER => Ok(stream.dest_write_pointer),
            register::AUTO_CONFIG => Ok(stream.auto_config),
            register::SPACE..register::SPACE_END if stream.held => Ok(0),
            register::SPACE..register::SPACE_END => {
                Ok(stream.space[(word - register::SPACE) as usize])
            }
            register::SCRATCH..register::SCRATCH_END => {
                Ok(stream.scratch[(word - register::SCRATCH) as usize])
            }
            _ => Err(NOT_MODELLED),
        }
    }

    /// Writes the register at this offset from the first stream.
    pub(crate) fn write(&mut self, offset: u32, value: u32) -> Result<(), Refusal> {
        let (stream, word) = self.at(offset)?;
        let stream = &mut Arc::make_mut(&mut self.0)[stream];
        match word {
            register::REMOTE_SRC => stream.remote_src = value & BITS_24,
            register::DEST_START => {
                stream.dest_start = value & BITS_17;
                stream.dest_write_pointer = 0;
            }
            register::DEST_SIZE => {
                stream.dest_size = value & BITS_17;
                stream.space = [value & BITS_17; DESTINATIONS];
            }
            register::DEST_WRITE_POINTER => stream.dest_write_pointer = value & BITS_17,
            register::AUTO_CONFIG => stream.auto_config = value & BITS_17,
            register::UPDATE => {
                // Increment in bits 22:6, a 17-bit two's complement number: addition modulo 2^17.
                let space = stream.space.get_mut((value & 63) as usize);
                let space = space.ok_or(Refusal::refused("no-such-stream-destination"))?;
                *space = space.wrapping_add(value >> 6) & BITS_17;
            }
            register::SPACE..register::SPACE_END => return Err(READ_ONLY),
            register::SCRATCH..register::SCRATCH_END => {
                stream.scratch[(word - register::SCRATCH) as usize] = value & BITS_24;
            }
            _ => return Err(NOT_MODELLED),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Streams;

    #[test]
    fn credits_count_modulo_2_to_17() {
        let mut streams = Streams::new(64);
        let base = 7 << 12;
        assert_eq!(streams.write(base + 0x10, 5), Ok(()));
        let space = |streams: &mut Streams| streams.read(base + 0x100);
        assert_eq!(space(&mut streams), Ok(5));
        for (change, left) in [(3i32, 8), (-2, 6), (2, 8), (-9, 0x1FFFF)] {
            assert_eq!(streams.write(base + 0x88, (change as u32) << 6), Ok(()));
            assert_eq!(space(&mut streams), Ok(left));
        }
        streams.hold(7, true);
        assert_eq!(streams.write(base + 0x88, 9 << 6), Ok(()));
        assert_eq!(space(&mut streams), Ok(0), "it counts on, and nobody sees it");
        streams.hold(7, false);
        assert_eq!(space(&mut streams), Ok(8));
        assert!(streams.read(64 << 12).is_err());
    }
}
