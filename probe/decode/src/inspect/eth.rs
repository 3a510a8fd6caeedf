//! Decodes the link words of an Ethernet tile.

use super::Inspection;
use crate::state::{EthState, EthWords};
use images::Reading;
use layouts::{ChipId, NocXy};

/// The words of one tile.
struct Words<'a> {
    inspection: &'a Inspection<'a>,
    chip: ChipId,
    xy: NocXy,
}

impl Inspection<'_> {
    pub(super) fn eth(&self, chip: ChipId, xy: NocXy, channel: u8) -> EthState {
        let words = Words { inspection: self, chip, xy };
        EthState::read(channel, &self.layout().eth.l1, &words)
    }

    /// Reads a word.
    pub(super) fn word(&self, chip: ChipId, xy: NocXy, at: u64) -> Reading<u32> {
        match self.snapshot.word(Self::at(chip, xy, at)) {
            Ok(word) => Reading::Known(word),
            Err(reason) => Reading::Unread(reason),
        }
    }
}

impl EthWords for Words<'_> {
    fn u32(&self, at: u64) -> Reading<u32> {
        self.inspection.word(self.chip, self.xy, at)
    }

    fn u64(&self, at: u64) -> Reading<u64> {
        self.u32(at)
            .and_then(|high| self.u32(at + 4).map(|low| u64::from(high) << 32 | u64::from(low)))
    }

    fn version(&self, at: u64) -> Reading<(u8, u8, u16)> {
        self.u32(at).and_then(|word| match word {
            0 => Reading::Absent,
            _ => Reading::Known((
                (word >> 16) as u8,
                (word >> 12 & 0xF) as u8,
                (word & 0xFFF) as u16,
            )),
        })
    }
}
