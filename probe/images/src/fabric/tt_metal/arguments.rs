//! The runtime arguments of a router of tt-metal's fabric, in the order in which its `kernel_main`
//! takes them.

use super::MOST_CHANNELS;
use crate::fabric::builtin::Names;
use crate::fabric::location::{Formula, Structure, Word};

/// The firmware's pointer to the runtime arguments.
const BASE: &str = "rta_l1_base";

/// The arguments of a router.
pub(super) struct RuntimeArguments {
    /// The word with their address.
    base: Word,
    /// Number of sender channels for which arguments exist.
    channels: u64,
    /// Number of routers downstream in virtual channel 0 for which arguments exist.
    downstream: u64,
    /// Number of arguments read here.
    count: u64,
}

impl RuntimeArguments {
    /// Finds the arguments; `None` if the firmware keeps their address in private memory.
    pub(super) fn find(names: Names<'_>) -> Option<Self> {
        let base = names.word(BASE)?;
        let few = |count: &u64| *count <= MOST_CHANNELS;
        let channels = names.constant("MAX_NUM_SENDER_CHANNELS").filter(few)?;
        // In one dimension a router has one router downstream.
        let downstream = match names.constant("is_2d_fabric")? {
            0 => 1,
            _ => names.constant("NUM_DOWNSTREAM_SENDERS_VC0").filter(few)?,
        };
        let in_l1 = base.addr < names.0.eth.l1_bytes;
        let count = 2 * channels + 3 + downstream;
        in_l1.then_some(Self { base, channels, downstream, count })
    }

    fn argument(&self, index: u64) -> Formula {
        let arguments =
            Structure { address: Box::new(Formula::Word(self.base)), bytes: 4 * self.count };
        Formula::Member(arguments, Word { addr: 4 * index, size: 4 })
    }

    /// Returns a word of a structure whose address is an argument.
    fn pointed(&self, index: u64, offset: u64, bytes: u64) -> Formula {
        let structure = Structure { address: Box::new(self.argument(index)), bytes };
        Formula::Member(structure, Word { addr: offset, size: 4 })
    }

    /// The connection word of a sender channel.
    pub(super) fn connection(&self, channel: u64) -> Option<Formula> {
        (channel < self.channels).then(|| self.pointed(channel, 0, 4))
    }

    /// The write counter of the channel's last client (`SenderChannelProducerCursor`).
    pub(super) fn write_counter(&self, channel: u64) -> Option<Formula> {
        (channel < self.channels).then(|| self.pointed(self.channels + channel, 0, 8))
    }

    /// The mask of routers downstream in virtual channel 0, a bit for each compact index.
    fn mask(&self) -> Formula {
        self.argument(2 * self.channels)
    }

    /// Coordinates of the router downstream at a compact index.
    pub(super) fn downstream(&self, index: u32) -> [Formula; 2] {
        [0, 1].map(|axis| {
            let packed = self.argument(2 * self.channels + 1 + self.downstream + axis);
            Formula::Packed(Box::new([self.mask(), packed]), index)
        })
    }
}
