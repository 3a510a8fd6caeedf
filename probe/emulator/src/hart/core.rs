//! One hart: its registers, its private memories, and its state.

use super::debug_state::Debugger;
use super::mode::{KnownLoop, Mode, ObservationPace, Sleep, Ticks};
use super::{HartStop, IRAM, IRAM_BYTES, LOCAL_BYTES, LOCAL_RAM};
use crate::decode::{self, Op};
use std::sync::Arc;

/// Most harts of a tile.
pub(crate) const MOST_HARTS: usize = 5;

/// Why a hart runs or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Reset,
    Running,
    /// Stuck: [`super::HartOrder::Pause`] holds it.
    Paused,
    /// Paused by the debug interface, with its DR 0.
    Halted(u32),
    /// Paused by the debug interface with this DR 0, and busy with an access for it.
    Serving(u32),
    Stopped(HartStop),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hart {
    pub(crate) index: u8,
    /// Indexed by a byte, so that no access needs a bounds check: 0..32 are the registers, 32 takes
    /// results for x0.
    pub(crate) regs: Box<[u32; 256]>,
    pub(crate) pc: u32,
    pub(crate) state: State,
    /// What the debug interface set; none since reset if it was not used.
    pub(crate) debugger: Option<Box<Debugger>>,
    /// Whether the debug interface follows each instruction.
    pub(crate) traced: bool,
    pub(crate) reset_pc: u32,
    /// Private RAM, which checkpoints share until it changes.
    pub(crate) local: Arc<[u8; LOCAL_BYTES]>,
    pub(crate) local_bytes: u32,
    /// Decoded instruction RAM, empty for harts without one.
    pub(crate) iram: Arc<Vec<Op>>,
    tensix: bool,
    /// CSR 0x7C0, the only one that tt-metal's firmware uses: it sets and clears bits of it.
    pub(crate) csr: u32,
    /// The cycle of the next instruction.
    pub(crate) at: u64,
    /// Instructions retired, including those skipped in sleep.
    pub(crate) retired: u64,
    /// Instructions skipped in sleep.
    pub(crate) slept: u64,
    pub(crate) mode: Mode,
    pub(crate) pace: ObservationPace,
    /// The loop of the last sleep, to which the hart is likely to return.
    pub(crate) last: Option<KnownLoop>,
    pub(crate) ticks: Ticks,
    /// L1 lines that carry this hart's watch bit.
    pub(crate) watched: Vec<u32>,
}

impl Hart {
    pub(crate) fn new(
        index: u8,
        reset_pc: u32,
        local_bytes: u32,
        iram: bool,
        tensix: bool,
    ) -> Self {
        let words = if iram { IRAM_BYTES as usize / 4 } else { 0 };
        Self {
            index,
            regs: Box::new([0; 256]),
            pc: reset_pc,
            state: State::Reset,
            debugger: None,
            traced: false,
            reset_pc,
            local: Arc::new([0; LOCAL_BYTES]),
            local_bytes,
            iram: Arc::new(
                (0..words)
                    .map(|word| decode::decode(0, IRAM + word as u32 * 4, IRAM, tensix))
                    .collect(),
            ),
            tensix,
            csr: 0,
            at: 0,
            retired: 0,
            slept: 0,
            mode: Mode::Plain,
            pace: ObservationPace::from(0),
            last: None,
            ticks: Ticks::default(),
            watched: Vec::new(),
        }
    }

    /// Returns the state, which has in common with an earlier one what is equal.
    pub(crate) fn save(&mut self, earlier: Option<&Arc<Self>>) -> Arc<Self> {
        if let Some(earlier) = earlier.filter(|earlier| self.is_as(earlier)) {
            return Arc::clone(earlier);
        }
        self.loops_mut().for_each(Sleep::compact);
        match earlier {
            Some(earlier) if earlier.local == self.local => {
                Arc::new(Self { local: Arc::clone(&earlier.local), ..self.clone() })
            }
            _ => Arc::new(self.clone()),
        }
    }

    /// Whether the hart is as it was earlier.
    fn is_as(&self, earlier: &Self) -> bool {
        let (Mode::Sleep(sleep), Mode::Sleep(before)) = (&self.mode, &earlier.mode) else {
            return self == earlier;
        };
        // All that changes a hart wakes it, and to fall asleep again takes time.
        let same = sleep.since == before.since;
        debug_assert!(!same || self == earlier);
        same
    }

    /// Returns the approximate bytes of what an earlier state has not in common with this one.
    pub(crate) fn bytes_beyond(self: &Arc<Self>, earlier: Option<&Arc<Self>>) -> usize {
        if earlier.is_some_and(|earlier| Arc::ptr_eq(self, earlier)) {
            return 0;
        }
        let same_local = earlier.is_some_and(|earlier| Arc::ptr_eq(&self.local, &earlier.local));
        let local = if same_local { 0 } else { LOCAL_BYTES };
        let loops = self.loops().map(|sleep| {
            let mut before = earlier.iter().flat_map(|earlier| earlier.loops());
            let shared = before.any(|before| Arc::ptr_eq(&before.steps, &sleep.steps));
            sleep.own_bytes() + if shared { 0 } else { sleep.steps.bytes() }
        });
        let observation = match &self.mode {
            Mode::Record(record) => record.bytes(),
            Mode::Search(search) => search.bytes(),
            Mode::Plain | Mode::Sleep(_) => 0,
        };
        let registers = size_of_val(&*self.regs);
        size_of::<Self>() + registers + local + observation + loops.sum::<usize>()
    }

    /// Returns the loop in which the hart sleeps, and those in which it slept.
    fn loops(&self) -> impl Iterator<Item = &Sleep> {
        let present = match &self.mode {
            Mode::Sleep(sleep) => Some(sleep),
            _ => None,
        };
        let known = [&self.last, &self.ticks.last].into_iter().flatten();
        present.into_iter().chain(known.map(|known| &known.sleep)).map(|sleep| &**sleep)
    }

    fn loops_mut(&mut self) -> impl Iterator<Item = &mut Sleep> {
        let present = match &mut self.mode {
            Mode::Sleep(sleep) => Some(sleep),
            _ => None,
        };
        let known = [&mut self.last, &mut self.ticks.last].into_iter().flatten();
        present.into_iter().chain(known.map(|known| &mut known.sleep)).map(|sleep| &mut **sleep)
    }

    pub(crate) fn start(&mut self, now: u64) {
        self.regs.fill(0);
        self.pc = self.reset_pc;
        self.at = now;
        self.pace = ObservationPace::from(now);
        self.state = State::Running;
    }

    /// Holds the hart in reset, which forgets what a debugger set.
    pub(crate) fn reset(&mut self) {
        (self.state, self.debugger, self.traced) = (State::Reset, None, false);
    }

    pub(crate) fn running(&self) -> bool {
        self.state == State::Running
    }

    /// Returns the cycle of the next instruction to execute, if the hart runs.
    #[inline]
    pub(crate) fn due(&self) -> Option<u64> {
        match (&self.state, &self.mode) {
            (State::Running, Mode::Sleep(sleep)) => {
                Some(sleep.until).filter(|&until| until != u64::MAX)
            }
            (State::Running | State::Serving(_), _) => Some(self.at),
            _ => None,
        }
    }

    /// Loads instruction RAM. Ignores incomplete words and bytes past its end.
    pub(crate) fn load_iram(&mut self, offset: u32, bytes: &[u8]) {
        let first = offset as usize / 4;
        let iram = Arc::make_mut(&mut self.iram);
        for (index, word) in bytes.chunks_exact(4).enumerate() {
            let pc = IRAM.wrapping_add((first + index) as u32 * 4);
            if let Some(op) = iram.get_mut(first + index) {
                let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                *op = decode::decode(word, pc, IRAM, self.tensix);
            }
        }
    }

    /// Returns private RAM, to be written.
    #[inline]
    pub(crate) fn local_mut(&mut self) -> &mut [u8] {
        &mut Arc::make_mut(&mut self.local)[..self.local_bytes as usize]
    }

    /// Returns the offset in private RAM, if the address is there.
    #[inline]
    pub(crate) fn local_offset(&self, addr: u32) -> Option<usize> {
        let offset = addr.wrapping_sub(LOCAL_RAM);
        (offset < self.local_bytes).then_some(offset as usize)
    }
}
