//! Durations of commands, learned from their answers: polling earlier is useless, polling later
//! wastes time.

use super::command::Command;

/// Longest expected duration before the first poll, in cycles.
const LONGEST_CYCLES: u64 = 20_000;

/// Cycles per command, learned from recent answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueuePace {
    /// Any command, without its data.
    word: u64,
    /// The data of a full block.
    block: u64,
}

impl Default for QueuePace {
    /// The vendor's simulator's durations (wormhole.md 10.6.C, wormhole.md 10.6.E); others are
    /// learned in a few commands.
    fn default() -> Self {
        Self { word: 270, block: 3600 }
    }
}

impl QueuePace {
    /// Returns the expected duration of a command among others in flight.
    pub(super) fn of(&self, command: &Command) -> u64 {
        let data = self.block * command.block().map_or(0, u64::from) / 1024;
        (self.word + data).min(LONGEST_CYCLES)
    }

    /// Learns from an answer present at the first poll: the next poll is a little earlier, to find
    /// a faster route.
    pub(super) fn was_there(&mut self, command: &Command) {
        let learned = self.part(command);
        *learned -= *learned / 16;
    }

    /// Learns from an answer found after several polls, `took` cycles after its turn.
    pub(super) fn came_late(&mut self, command: &Command, took: u64) {
        let expected = self.of(command).max(1);
        let learned = self.part(command);
        let longer = (*learned * took.min(LONGEST_CYCLES) / expected).max(*learned + 1);
        // Adjusts halfway, because other commands may have delayed it.
        *learned = (*learned + longer).div_ceil(2).min(LONGEST_CYCLES);
    }

    /// Returns the dominant part: the data of blocks that are mostly data.
    fn part(&mut self, command: &Command) -> &mut u64 {
        if command.block().is_some_and(|len| len >= 128) { &mut self.block } else { &mut self.word }
    }
}
