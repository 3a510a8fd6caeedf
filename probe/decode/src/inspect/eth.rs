//! Decodes the link words of an Ethernet tile.

use super::Inspection;
use crate::state::EthState;
use images::Reading;
use layouts::{ChipId, NocXy};

impl Inspection<'_> {
    pub(super) fn eth(&self, chip: ChipId, xy: NocXy, channel: u8) -> EthState {
        let l1 = &self.layout().eth.l1;
        let word = |at: u64| self.word(chip, xy, at);
        let pair = |at: u64| self.pair(chip, xy, at);
        EthState {
            channel,
            train_status: word(l1.train_status.at),
            link_status: word(l1.link_status.at),
            retrain_count: word(l1.retrain_count.at),
            crc_errors: word(l1.crc_errors.at),
            corrected_codewords: pair(l1.corrected_codewords.at),
            uncorrected_codewords: pair(l1.uncorrected_codewords.at),
            packets_sent: pair(l1.packets_sent.at),
            packets_received: pair(l1.packets_received.at),
            firmware_version: self.version(chip, xy),
        }
    }

    /// Reads a word.
    pub(super) fn word(&self, chip: ChipId, xy: NocXy, at: u64) -> Reading<u32> {
        match self.snapshot.word(Self::at(chip, xy, at)) {
            Ok(word) => Reading::Known(word),
            Err(reason) => Reading::Unread(reason),
        }
    }

    /// Reads a 64-bit statistic, high word first (wormhole.md 5.3).
    fn pair(&self, chip: ChipId, xy: NocXy, at: u64) -> Reading<u64> {
        match (self.word(chip, xy, at), self.word(chip, xy, at + 4)) {
            (Reading::Known(high), Reading::Known(low)) => {
                Reading::Known(u64::from(high) << 32 | u64::from(low))
            }
            (Reading::Unread(reason), _) | (_, Reading::Unread(reason)) => Reading::Unread(reason),
            _ => Reading::Absent,
        }
    }

    /// Reads the version: major, minor, patch; zero means that no firmware has published one.
    fn version(&self, chip: ChipId, xy: NocXy) -> Reading<(u8, u8, u16)> {
        match self.word(chip, xy, self.layout().eth.l1.firmware_version.at) {
            Reading::Known(0) | Reading::Absent => Reading::Absent,
            Reading::Known(word) => Reading::Known((
                (word >> 16) as u8,
                (word >> 12 & 0xF) as u8,
                (word & 0xFFF) as u16,
            )),
            Reading::Unknown(word) => Reading::Unknown(word),
            Reading::Unread(reason) => Reading::Unread(reason),
        }
    }
}
