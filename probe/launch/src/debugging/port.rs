//! The debug registers of one core, through the four registers of its tile (wormhole.md 4.3).

use crate::outcome::RunError;
use crate::undebuggable::Undebuggable;
use layouts::{ChipLayout, CoreId, NocAddr};
use machine::place::Place;
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;

/// How often the interface is asked for an answer, which takes some cycles.
const TRIES: u32 = 16;
/// Cycles between two questions.
const PAUSE_CYCLES: u64 = 20;

/// The way to the debug registers of a core.
#[derive(Clone, Debug)]
pub(super) struct DebugPort {
    pub(super) core: CoreId,
    layout: &'static ChipLayout,
    select: u8,
    control: [NocAddr; 2],
    status: [NocAddr; 2],
}

impl DebugPort {
    /// Returns the port of a core, if the core has one.
    pub(super) fn of(layout: &'static ChipLayout, core: CoreId) -> Option<Self> {
        let place = Place { chip: core.chip, tile: core.tile };
        let at = layout.risc_debug_at(layout.kind_at(core.tile))?;
        let [control_0, control_1, status_0, status_1] = at.map(|offset| place.at(offset));
        let select = layout.risc_debug_select(core.core)?;
        let (control, status) = ([control_0, control_1], [status_0, status_1]);
        Some(Self { core, layout, select, control, status })
    }

    /// Reads the status words, which writes nothing: a target that must not be asked refuses it.
    pub(super) fn ask(&self, target: &mut dyn Target) -> Result<(), RunError> {
        self.statuses(target).map(|_| ())
    }

    /// Reads all words of the interface, which writes nothing.
    pub(super) fn words(&self, target: &mut dyn Target) -> Result<[u32; 4], RunError> {
        let all = [self.control, self.status].concat();
        let plan = Plan { spans: all.iter().map(|&addr| Span { addr, len: 4 }).collect() };
        let snapshot = target.read(&plan);
        let mut words = [0; 4];
        for (word, addr) in words.iter_mut().zip(all) {
            *word = snapshot.word(addr)?;
        }
        Ok(words)
    }

    /// Writes a debug register.
    pub(super) fn write(
        &self,
        target: &mut dyn Target,
        register: u32,
        value: u32,
    ) -> Result<(), RunError> {
        target.write(self.control[1], &value.to_le_bytes())?;
        self.trigger(target, register, true)?;
        let trigger = self.layout.risc_debug.trigger;
        self.until(target, |[status, _]| status & trigger != 0).map(|_| ())
    }

    /// Reads a debug register.
    pub(super) fn read(&self, target: &mut dyn Target, register: u32) -> Result<u32, RunError> {
        self.trigger(target, register, false)?;
        let debug = &self.layout.risc_debug;
        let answered = |[status, _]: [u32; 2]| {
            status & debug.trigger != 0 && debug.is_valid(self.core.core, status)
        };
        self.until(target, answered).map(|[_, value]| value)
    }

    fn trigger(&self, target: &mut dyn Target, register: u32, write: bool) -> Result<(), RunError> {
        let word = self.layout.risc_debug.access(self.select, register, write);
        target.write(self.control[0], &0u32.to_le_bytes())?;
        Ok(target.write(self.control[0], &word.to_le_bytes())?)
    }

    fn until(
        &self,
        target: &mut dyn Target,
        answered: impl Fn([u32; 2]) -> bool,
    ) -> Result<[u32; 2], RunError> {
        for _ in 0..TRIES {
            let words = self.statuses(target)?;
            if answered(words) {
                return Ok(words);
            }
            target.pass(PAUSE_CYCLES)?;
        }
        Err(Undebuggable::NoAnswer(self.core).into())
    }

    fn statuses(&self, target: &mut dyn Target) -> Result<[u32; 2], RunError> {
        let snapshot = read(target, self.status);
        Ok([snapshot.word(self.status[0])?, snapshot.word(self.status[1])?])
    }
}

fn read(target: &mut dyn Target, words: [NocAddr; 2]) -> Snapshot {
    target.read(&Plan { spans: words.map(|addr| Span { addr, len: 4 }).to_vec() })
}
