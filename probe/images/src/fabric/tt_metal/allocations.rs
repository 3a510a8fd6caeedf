//! The slots of channels in the positional compile-time arguments of tt-metal's routers
//! (`fabric_static_channels_ct_args.hpp`).

use crate::fabric::builtin::Names;
use crate::fabric::location::Slots;

/// The word before the block.
const TAG: u64 = 0xABCD_1234;
/// Address and slots of the channel, then of its counterpart at the peer.
const ENTRY_WORDS: usize = 4;

/// The slots of a router's channels.
pub(super) struct Allocations {
    pub(super) senders: Vec<Slots>,
    pub(super) receivers: Vec<Slots>,
}

impl Allocations {
    /// Reads the block; `None` if the arguments have another form.
    pub(super) fn find(names: Names<'_>) -> Option<Self> {
        let words = names.words("kernel_compile_time_args")?;
        let bytes = names.constant("channel_buffer_size")?;
        let counts = ["NUM_SENDER_CHANNELS", "NUM_RECEIVER_CHANNELS"];
        let [senders, receivers] = counts.map(|name| names.constant(name));
        Self::read(&words, bytes, senders? as usize, receivers? as usize)
    }

    fn read(words: &[u64], bytes: u64, senders: usize, receivers: usize) -> Option<Self> {
        let [TAG, count, rest @ ..] = words else { return None };
        let entries = rest.get(..(*count as usize).checked_mul(ENTRY_WORDS)?)?;
        let index = rest.get(entries.len()..)?;
        let slots = |index: &u64| {
            let entry = entries.chunks_exact(ENTRY_WORDS).nth(*index as usize)?;
            let [at, count, ..] = entry else { return None };
            Some(Slots { at: *at, bytes, count: *count })
        };
        let of = |range: &[u64]| range.iter().map(slots).collect::<Option<Vec<_>>>();
        let end = senders.checked_add(receivers)?;
        Some(Self { senders: of(index.get(..senders)?)?, receivers: of(index.get(senders..end)?)? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn channels_have_the_slots_of_their_entries() {
        let words = [TAG, 2, 0x1_8000, 8, 0x1_8000, 8, 0x2_0000, 16, 0x2_0000, 16, 0, 0, 1, 7];
        let found = Allocations::read(&words, 64, 2, 1).unwrap();
        let first = Slots { at: 0x1_8000, bytes: 64, count: 8 };
        assert_eq!(found.senders, [first; 2]);
        assert_eq!(found.receivers, [Slots { at: 0x2_0000, bytes: 64, count: 16 }]);
    }

    #[test]
    fn a_block_of_another_form_is_no_allocation() {
        for words in [&[][..], &[TAG], &[TAG, 1, 0, 0, 0], &[TAG, 1, 1, 2, 3, 4, 1], &[1, 0]] {
            assert!(Allocations::read(words, 64, 1, 0).is_none(), "{words:x?}");
        }
        assert!(Allocations::read(&[TAG, u64::MAX], 64, 1, 0).is_none());
    }
}
