//! How long commands take here, learned as they come: no use to look earlier, a waste to look later.

use super::command::Command;

/// Nothing is expected to take longer than this before the first look, in cycles.
const LONGEST_CYCLES: u64 = 20_000;

/// Cycles per command, as learned of late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Any command, its data aside.
    word: u64,
    /// The data of a full block.
    block: u64,
}

impl Default for Pace {
    /// The vendor's simulator (wormhole.md 10.6.C, wormhole.md 10.6.E); anything else is learned in a few commands.
    fn default() -> Self {
        Self { word: 270, block: 3600 }
    }
}

impl Pace {
    /// What a command probably takes while others wait before and after it.
    pub(super) fn of(&self, command: &Command) -> u64 {
        let data = self.block * command.block().map_or(0, u64::from) / 1024;
        (self.word + data).min(LONGEST_CYCLES)
    }

    /// The first look found the answer: next time a little sooner, so that a faster way is noticed.
    pub(super) fn was_there(&mut self, command: &Command) {
        let learned = self.part(command);
        *learned -= *learned / 16;
    }

    /// The answer came only after several looks, `took` cycles after its turn.
    pub(super) fn came_late(&mut self, command: &Command, took: u64) {
        let expected = self.of(command).max(1);
        let learned = self.part(command);
        let longer = (*learned * took.min(LONGEST_CYCLES) / expected).max(*learned + 1);
        // Half of the way, because others may have held it up.
        *learned = (*learned + longer).div_ceil(2).min(LONGEST_CYCLES);
    }

    /// The part that decides: the data of blocks that are mostly data.
    fn part(&mut self, command: &Command) -> &mut u64 {
        if command.block().is_some_and(|len| len >= 128) { &mut self.block } else { &mut self.word }
    }
}
