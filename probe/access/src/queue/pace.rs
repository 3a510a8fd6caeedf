//! Durations of commands, learned from their answers: polling earlier is useless, polling later
//! wastes time.

use super::command::Command;

/// Longest expected duration before the first poll, in cycles.
const LONGEST_CYCLES: u64 = 20_000;

/// A gateway that takes this many times as long as another is left out.
const MUCH_SLOWER: u64 = 16;

/// Cycles per command, learned from recent answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueuePace {
    /// Any command, without its data.
    word: u64,
    /// The data of a full block.
    block: u64,
    /// What the last command took, however long; `None` before the first answer. Some routers of
    /// tt-metal let the base firmware run only every 13 ms (wormhole.md 7.2).
    took: Option<u64>,
}

impl Default for QueuePace {
    /// The vendor's simulator's durations (wormhole.md 10.6.C, wormhole.md 10.6.E); others are
    /// learned in a few commands.
    fn default() -> Self {
        Self { word: 270, block: 3600, took: None }
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
        self.took = Some(self.of(command));
    }

    /// Learns from an answer found after several polls, `took` cycles after its turn.
    pub(super) fn came_late(&mut self, command: &Command, took: u64) {
        self.took = Some(took);
        let expected = self.of(command).max(1);
        let learned = self.part(command);
        let longer = (*learned * took.min(LONGEST_CYCLES) / expected).max(*learned + 1);
        // Adjusts halfway, because other commands may have delayed it.
        *learned = (*learned + longer).div_ceil(2).min(LONGEST_CYCLES);
    }

    /// Returns what a command took last.
    pub(super) fn took(&self) -> Option<u64> {
        self.took
    }

    /// Whether a gateway whose command took this long is so much faster that this one is not worth
    /// waiting for.
    pub(super) fn is_left_behind(&self, fastest: u64) -> bool {
        self.took.is_some_and(|took| took > fastest.saturating_mul(MUCH_SLOWER))
    }

    /// Notes that the gateway was left out: it is tried again after a number of times.
    pub(super) fn leave_out(&mut self) {
        self.took = self.took.map(|took| took - took / 64);
    }

    /// Returns the dominant part: the data of blocks that are mostly data.
    fn part(&mut self, command: &Command) -> &mut u64 {
        if command.block().is_some_and(|len| len >= 128) { &mut self.block } else { &mut self.word }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Far;
    use super::{Command, QueuePace};
    use layouts::{ChipCoord, NocXy};

    #[test]
    fn a_slow_gateway_is_left_out_and_tried_again() {
        let far = Far {
            coord: ChipCoord { x: 1, y: 0, rack: 0, shelf: 0 },
            tile: NocXy { x: 1, y: 1 },
            offset: 0,
        };
        let read = Command::ReadWord(far);
        let (mut slow, mut fast) = (QueuePace::default(), QueuePace::default());
        assert!(!slow.is_left_behind(0), "nothing is known of it");
        slow.came_late(&read, 13_000_000);
        fast.came_late(&read, 24_000);
        let fastest = fast.took().unwrap_or(0);
        assert!(slow.is_left_behind(fastest) && !fast.is_left_behind(fastest));
        let mut times = 0;
        while slow.is_left_behind(fastest) {
            slow.leave_out();
            times += 1;
        }
        assert!((100..1000).contains(&times), "{times}");
        slow.was_there(&read);
        assert!(!slow.is_left_behind(fastest));
    }
}
