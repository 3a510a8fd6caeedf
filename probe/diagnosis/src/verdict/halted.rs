//! Cores that the machine stopped, and cores that were halted through the debug interface of their
//! tile, as far as its words prove it.
//!
//! The interface shows what was accessed through it last (wormhole.md 4.3). If that is the status of a
//! core, and the status says "paused", then nobody has let the core go on since: that would be another
//! access. Whoever may write the interface asks for the status; else only a tool that asked last, and
//! never came back, leaves it to be seen.

use super::Case;
use crate::condition::{Condition, Severity};
use crate::finding::{Confidence, Evidence, Finding};
use crate::place::Place;
use crate::progress::Progress;
use decode::state::Party;
use layouts::{ChipId, CoreId, NocAddr};
use machine::snapshot::{Snapshot, Span, StoppedCore};
use machine::target::Mesh;
use machine::words::cycles;
use std::collections::BTreeMap;

/// Most stopped cores that get a finding each.
const MOST_STOPPED: usize = 4096;

/// A core that is halted or stopped.
pub(super) struct Halted {
    core: CoreId,
    pub(super) condition: Condition,
    /// Why, in words.
    pub(super) why: String,
    evidence: Evidence,
}

impl Case<'_> {
    /// Returns a finding for each core that the machine stopped, whoever waits for it: with what these
    /// findings say of its text.
    pub(super) fn stopped_cores(&self, found: &[Finding]) -> Vec<Finding> {
        // Findings are compared with each other, and a file may name any number of cores.
        let stopped = self.last.snapshot.stopped.iter().take(MOST_STOPPED);
        let texts: BTreeMap<Place, &Finding> = found
            .iter()
            .filter(|it| it.condition == Condition::TextOverwritten)
            .map(|it| (it.place, it))
            .collect();
        let of = |(chip, stopped): &(ChipId, StoppedCore)| {
            let mut finding = self.of_halted(self.stopped(*chip, stopped));
            let text = texts.get(&finding.place);
            if let Some(text) = text.filter(|it| finding.condition != it.condition) {
                finding.condition = text.condition;
                finding.sentence = format!("{}; {}", text.sentence, says_of_stop(stopped));
                finding.next.clone_from(&text.next);
            }
            finding
        };
        stopped.map(of).collect()
    }

    /// Returns a finding for each core that is halted, whoever waits for it.
    pub(super) fn halted_cores(&self) -> Vec<Finding> {
        let tiles = self.progress.keys().filter(|core| {
            // Each tile once.
            let cores = self.mesh.layout().kind_at(core.tile).cores();
            cores.first() == Some(&core.core)
        });
        let halted = tiles.filter_map(|core| self.halted_by_debugger(*core));
        halted.map(|halted| self.of_halted(halted)).collect()
    }

    /// Returns why a core stands: the machine stopped it, or a core of its tile is halted.
    pub(super) fn halted(&self, id: CoreId) -> Option<Halted> {
        let mut stopped = self.last.snapshot.stopped.iter();
        let own = |(chip, it): &&(ChipId, StoppedCore)| {
            (*chip, it.tile, it.core) == (id.chip, id.tile, id.core)
        };
        match stopped.find(own) {
            Some((chip, stopped)) => Some(self.stopped(*chip, stopped)),
            None => self.halted_by_debugger(id),
        }
    }

    /// Returns a core that the machine stopped: because of its text, if that is not its own.
    fn stopped(&self, chip: ChipId, stopped: &StoppedCore) -> Halted {
        let core = CoreId { chip, tile: stopped.tile, core: stopped.core };
        let text = self
            .core(core)
            .and_then(|core| self.overwritten(core))
            .or_else(|| self.unlike_siblings(core));
        let stop = says_of_stop(stopped);
        let (condition, why) = match (text, self.without_code(core, stopped.pc)) {
            (Some(text), _) => (Condition::TextOverwritten, format!("{text}; {stop}")),
            (None, Some(place)) => (Condition::PcOutsideText, format!("{place}; {stop}")),
            (None, None) => (Condition::NotModelled, stop),
        };
        let evidence = Evidence {
            at: None,
            name: format!("{core} program counter"),
            value: format!("{:#x}, since {}", stopped.pc, cycles(stopped.at_cycles)),
        };
        Halted { core, condition, why, evidence }
    }

    /// Returns the core of a core's tile that a debugger halted, if one is.
    fn halted_by_debugger(&self, id: CoreId) -> Option<Halted> {
        let halted = Halted::of(self.mesh, self.last.snapshot, id)?;
        // What moves is not halted: its tile was reset since.
        let moves = self.progress.get(&halted.core) == Some(&Progress::Progressing);
        (!moves).then_some(halted)
    }

    /// Returns a finding about a halted core: a hang if it was told to go.
    fn of_halted(&self, halted: Halted) -> Finding {
        let core = halted.core;
        let mut finding =
            self.finding(halted.condition, Place::Core(core), Party::Core(core), String::new());
        let runs = self.progress.get(&core).is_some_and(|progress| {
            matches!(
                progress,
                Progress::Still | Progress::Paused | Progress::Waiting(..) | Progress::Unknown
            )
        });
        if !runs {
            finding.severity = Severity::Fault;
        }
        halted.proves(&mut finding);
        finding
    }
}

fn says_of_stop(stopped: &StoppedCore) -> String {
    format!("the emulated mesh stopped it: {}", stopped.why)
}

impl Halted {
    /// Returns the core of a core's tile of which the words in a snapshot prove that it is halted.
    fn of(mesh: &Mesh, snapshot: &Snapshot, id: CoreId) -> Option<Self> {
        let layout = mesh.layout();
        let (debug, bits) = (&layout.risc_debug, &layout.risc_debug.status);
        let words = interface(mesh, id)?;
        let known = words.map(|addr| snapshot.word(addr).ok());
        let [Some(control), Some(echo), Some(status)] = known else { return None };
        let select = debug.shows_status_of(control, echo)?;
        let mut cores = layout.kind_at(id.tile).cores().iter();
        let core = cores.find(|core| layout.risc_debug_select(**core) == Some(select))?;
        let core = CoreId { core: *core, ..id };
        let why = match status {
            _ if status & bits.paused == 0 => return None,
            _ if status & bits.ebreak != 0 => "it halted itself (`ebreak`)",
            _ if status & bits.breakpoint != 0 => "a debugger halted it at a breakpoint",
            _ if status & bits.watchpoint != 0 => "a debugger halted it at a watchpoint",
            _ => "a debugger halted it",
        };
        let evidence = Evidence {
            at: words.last().copied(),
            name: format!("{core} debug status"),
            value: format!("{status:#x} (paused)"),
        };
        Some(Self { core, condition: Condition::CoreHalted, why: why.to_owned(), evidence })
    }

    /// Returns the sentence about it.
    fn sentence(&self) -> String {
        let Self { core, condition, why, .. } = self;
        match condition {
            Condition::CoreHalted => format!("core {core}: {why}, and nobody let it go on"),
            _ => format!("core {core}: {why}"),
        }
    }

    /// Adds what it rests on to a finding about it.
    pub(super) fn proves(self, finding: &mut Finding) {
        finding.place = Place::Core(self.core);
        finding.sentence = self.sentence();
        if self.condition == Condition::NotModelled {
            finding.confidence = Confidence::Certain;
        }
        finding.evidence.insert(0, self.evidence);
    }
}

/// Returns the words that show whether a core of a core's tile is halted.
pub fn debug_words(mesh: &Mesh, core: CoreId) -> Vec<Span> {
    let words = interface(mesh, core).into_iter().flatten();
    words.map(|addr| Span { addr, len: 4 }).collect()
}

/// Whether these words in a snapshot prove that one is halted.
pub fn is_halted(mesh: &Mesh, snapshot: &Snapshot, core: CoreId) -> bool {
    Halted::of(mesh, snapshot, core).is_some()
}

/// Returns control word 0 and the status words of the debug interface of a core's tile.
fn interface(mesh: &Mesh, CoreId { chip, tile, .. }: CoreId) -> Option<[NocAddr; 3]> {
    let layout = mesh.layout();
    let [control, _, echo, status] = layout.risc_debug_at(layout.kind_at(tile))?;
    Some([control, echo, status].map(|offset| NocAddr { chip, tile, offset }))
}
