//! The verdict: from the lasting waits of some snapshots to ranked findings.

mod causes;
mod credits;
mod ends;
mod faults;
mod leftover;
mod slow;

use crate::condition::{Condition, Severity};
use crate::finding::{Confidence, Evidence, Finding};
use crate::graph::Graph;
use crate::kernels;
use crate::look::{Kernel, Look};
use crate::place::Place;
use crate::progress::{self, Progress};
use decode::state::{CoreState, Party, WaitReason, Waits};
use layouts::{CoreId, CoreKind, EthId};
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Two snapshots closer than this, in device cycles, prove no hang: a core can wait for one packet
/// this long.
pub const LEAST_APART_CYCLES: u64 = 1_000_000;

/// What is known about a mesh from some snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The number of snapshots.
    pub snapshots: usize,
    /// Time from the first to the last one, in device cycles.
    pub over_cycles: u64,
    /// What each core does.
    pub progress: BTreeMap<CoreId, Progress>,
    /// The findings, the most likely cause first.
    pub findings: Vec<Finding>,
    /// What is missing for a verdict, one sentence each.
    pub missing: Vec<String>,
    /// The waits that lasted.
    pub waits: Waits,
}

/// Judges a mesh by some snapshots of it, the oldest first.
pub fn diagnose(mesh: &Mesh, looks: &[Look<'_>]) -> Diagnosis {
    let over_cycles = match looks {
        [first, .., last] => last.state.cycles.saturating_sub(first.state.cycles),
        _ => 0,
    };
    let mut missing = Vec::new();
    if looks.len() < 2 {
        missing.push("one snapshot proves no hang: progress is judged by two at least".to_owned());
    } else if over_cycles < LEAST_APART_CYCLES {
        missing.push(format!("the snapshots are only {over_cycles} cycles apart"));
    }
    let waits = lasting(mesh, looks);
    let progress = progress::of_cores(looks, &waits);
    let mut findings = Vec::new();
    if let Some(last) = looks.last() {
        let graph = Graph::of(&waits);
        let (last, kernels, launched) = (*last, last.kernels(), last.launched());
        let (waits, progress) = (&waits, &progress);
        let case = Case { mesh, looks, last, waits, progress, graph, kernels, launched };
        findings = case.findings(missing.is_empty());
    }
    Diagnosis { snapshots: looks.len(), over_cycles, progress, findings, missing, waits }
}

/// Returns the words that a diagnosis wants of a mesh in the state of this snapshot, beyond the
/// read set of all screens.
pub fn wanted(mesh: &Mesh, look: Look<'_>) -> Vec<machine::snapshot::Span> {
    kernels::spans(mesh, look)
}

/// Returns the waits of the last snapshot that were the same in all.
fn lasting(mesh: &Mesh, looks: &[Look<'_>]) -> Waits {
    let Some((last, before)) = looks.split_last() else { return Waits::default() };
    let last = kernels::waits(mesh, *last);
    let mut lasting = last.clone();
    if before.is_empty() {
        lasting.all.clear();
    }
    for look in before {
        let shorter = last.lasting(&kernels::waits(mesh, *look));
        lasting.all.retain(|wait| shorter.all.contains(wait));
        lasting.notes.extend(shorter.notes);
    }
    // What has not turned since the first snapshot stands.
    if let Some(first) = looks.first().filter(|_| !before.is_empty()) {
        lasting.still = last.lasting(&kernels::waits(mesh, *first)).still;
    }
    stand_before(mesh, &mut lasting);
    lasting
}

/// Lets the parties of a core that stands wait for that core, whatever they waited for when it
/// stopped.
fn stand_before(mesh: &Mesh, waits: &mut Waits) {
    let still: BTreeMap<CoreId, Party> =
        waits.still.iter().filter_map(|party| Some((core_of(mesh, *party)?, *party))).collect();
    for wait in &mut waits.all {
        let core = core_of(mesh, wait.waiter).and_then(|core| still.get(&core));
        if let Some(core) = core {
            (wait.on, wait.reason) = (*core, WaitReason::Core);
        }
    }
    waits.all.retain(|wait| wait.waiter != wait.on);
    waits.all.sort_by_key(|wait| (wait.waiter, wait.on, wait.reason));
    waits.all.dedup_by_key(|wait| (wait.waiter, wait.on, wait.reason));
}

/// Returns the core that acts for a party.
fn core_of(mesh: &Mesh, party: Party) -> Option<CoreId> {
    match party {
        Party::Core(core)
        | Party::Client(core, _)
        | Party::MuxChannel(core, _)
        | Party::Mux(core) => Some(core),
        Party::Router(at)
        | Party::Sender(at, _)
        | Party::Receiver(at, _)
        | Party::Noc(at)
        | Party::Channel(at, _) => {
            let place = mesh.place(at).ok()?;
            Some(CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc })
        }
        Party::Link(_) | Party::Host => None,
    }
}

/// Everything that findings are made from.
struct Case<'a> {
    mesh: &'a Mesh,
    looks: &'a [Look<'a>],
    last: Look<'a>,
    waits: &'a Waits,
    progress: &'a BTreeMap<CoreId, Progress>,
    graph: Graph,
    /// The running kernels of the last snapshot.
    kernels: BTreeMap<CoreId, Kernel<'a>>,
    /// These and those that have ended.
    launched: BTreeMap<CoreId, Kernel<'a>>,
}

impl<'a> Case<'a> {
    /// Returns the findings, ranked; hangs only if the snapshots are enough to prove one.
    fn findings(&self, proves: bool) -> Vec<Finding> {
        let mut findings = self.faults();
        if proves {
            findings.extend(self.misfits());
            findings.extend(self.overlaps());
            findings.extend(self.leftovers());
            findings.extend(self.misrouted());
            findings.extend(self.wrong_credits());
            findings.extend(self.circles());
            findings.extend(self.roots());
            findings.extend(self.starving());
            findings.extend(self.slow());
        }
        rank(findings)
    }

    fn core_of(&self, party: Party) -> Option<CoreId> {
        core_of(self.mesh, party)
    }

    fn core(&self, id: CoreId) -> Option<&'a CoreState> {
        self.last.state.core(id)
    }

    /// Returns the link at an Ethernet tile as a place.
    fn link(&self, at: EthId) -> Place {
        let link = self.mesh.links.iter().find(|link| link.a == at || link.b == at);
        link.map_or(Place::Router(at), Place::link)
    }

    /// Returns a finding about a party that others wait for.
    fn finding(&self, condition: Condition, place: Place, on: Party, sentence: String) -> Finding {
        Finding {
            condition,
            severity: Severity::Hang,
            place,
            sentence,
            evidence: self.core_of(on).map_or_else(Vec::new, |core| self.evidence(core)),
            chain: self.graph.chain(on),
            waiting: self.graph.dependants(on),
            confidence: Confidence::Likely,
        }
    }

    /// Returns the words of a core that a person looks at first.
    fn evidence(&self, id: CoreId) -> Vec<Evidence> {
        let Some(core) = self.core(id) else { return Vec::new() };
        let mut evidence = Vec::new();
        let mut add = |name: &str, value: String| {
            evidence.push(Evidence { at: None, name: format!("{id} {name}"), value });
        };
        if let Some(code) = core.waypoint.known() {
            let line = core
                .location
                .first()
                .and_then(|line| Some(format!(" ({}:{})", line.file.as_ref()?, line.line?)));
            add("waypoint", format!("{code}{}", line.as_deref().map_or("", |line| line)));
        }
        if let Some(beat) = core.heartbeat.known() {
            add("heartbeat", format!("{beat:#010x}"));
        }
        evidence
    }
}

/// Joins findings of one place and condition, and orders them: hangs before faults, what more
/// parties wait for first, then what is surer.
fn rank(findings: Vec<Finding>) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    for finding in findings {
        let same =
            |it: &&mut Finding| (it.condition, it.place) == (finding.condition, finding.place);
        match joined.iter_mut().find(same) {
            Some(it) if (it.severity, it.waiting) >= (finding.severity, finding.waiting) => {}
            Some(it) => *it = finding,
            None => joined.push(finding),
        }
    }
    joined.sort_by_key(|it| {
        std::cmp::Reverse((it.severity, it.condition.explains(), it.confidence, it.waiting))
    });
    joined
}
