//! The verdict: from the lasting waits of some snapshots to ranked findings.

mod astray;
mod causes;
mod credits;
mod dropped;
mod ends;
mod faults;
mod firmware;
mod halted;
mod lasting;
mod leftover;
mod routes;
mod signature;
mod slow;
mod unfinished;

use crate::buffers::{self, CircularBuffer, Semaphore, SocketState};
use crate::condition::{Condition, Severity};
use crate::finding::{Confidence, Evidence, Finding, next};
use crate::graph::WaitGraph;
use crate::kernels::{self, Occupancy};
use crate::look::{Kernel, Look};
use crate::place::Place;
use crate::progress::{self, Judged, Progress, Since};
use decode::state::{CoreState, Party};
pub use halted::{debug_words, is_halted};
use images::Reading;
use lasting::Lasting;
pub use lasting::Stop;
use layouts::{ChipId, CoreId, CoreKind, EthId};
use machine::snapshot::{Snapshot, Span};
use machine::target::Mesh;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Two snapshots closer than this, in device cycles, prove no hang: a core can wait for one packet
/// this long.
pub const LEAST_APART_CYCLES: u64 = 1_000_000;
/// Most cores of a finding that are named, or whose evidence is listed.
const MOST_LISTED: usize = 4;

/// What is known about a mesh from some snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Number of snapshots.
    pub snapshots: usize,
    /// The target's time at the last snapshot, in cycles of a nanosecond.
    pub cycles: u64,
    /// Time from the first to the last one, in cycles.
    pub over_cycles: u64,
    /// What each core does; in JSON the number of cores by what they do: progressing, waiting,
    /// paused, still, idle, never started, ended, in reset, unreachable or unknown.
    #[serde(serialize_with = "counts")]
    #[schemars(with = "BTreeMap<&'static str, usize>")]
    pub progress: BTreeMap<CoreId, Progress>,
    /// The findings, the likeliest cause first.
    pub findings: Vec<Finding>,
    /// What is missing for a verdict, one sentence each.
    #[serde(rename = "unknown")]
    pub missing: Vec<String>,
    /// The number of cores of compute tiles that are not in reset, and of which no image is known.
    pub unidentified: usize,
    /// The waits that lasted.
    #[serde(skip)]
    pub waits: WaitGraph,
    /// When each party that stands came to a stand, the first one first.
    pub stops: Vec<Stop>,
    /// Since when each core is as the last snapshot shows it: its age since it last moved.
    #[serde(skip)]
    pub moved: BTreeMap<CoreId, Since>,
    /// The chips that no finding and no wait touches.
    #[serde(rename = "healthy_chips")]
    pub bystanders: Vec<ChipId>,
    /// The cores of whose kernels only requests over the NoC show that they move, while no other kernel
    /// moves: [`request_words`] tell whether they send the same one again and again.
    #[serde(skip)]
    pub asking: Vec<CoreId>,
    /// The circular buffers of the running kernels, by tile and number.
    #[serde(skip)]
    pub circular_buffers: Vec<CircularBuffer>,
    /// The semaphores of programs whose kernels wait for one, or do not tell what they wait for, and
    /// global ones that are awaited or were changed, by tile and address.
    #[serde(skip)]
    pub semaphores: Vec<Semaphore>,
    /// The ends of the sockets of which Inspectors tell, that could be read.
    #[serde(skip)]
    pub sockets: Vec<SocketState>,
}

/// The number of cores by what they do.
fn counts<S: Serializer>(of: &BTreeMap<CoreId, Progress>, to: S) -> Result<S::Ok, S::Error> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for progress in of.values() {
        *counts.entry(progress.word()).or_default() += 1;
    }
    counts.serialize(to)
}

/// Judges a mesh by some snapshots of it, the oldest first.
pub fn diagnose(mesh: &Mesh, looks: &[Look<'_>]) -> Diagnosis {
    let over_cycles = over_cycles(looks);
    let mut missing = Vec::new();
    if looks.len() < 2 {
        missing.push("one snapshot proves no hang: progress is judged by two at least".to_owned());
    } else if over_cycles < LEAST_APART_CYCLES {
        missing.push(format!("the snapshots are only {over_cycles} cycles apart"));
    }
    let Lasting { waits, stops, served } = Lasting::of(mesh, looks);
    let Judged { cores: progress, since: mut moved, asking } =
        progress::of_cores(mesh, looks, &waits, &served);
    stand_since(mesh, &stops, &progress, &mut moved);
    let mut findings = Vec::new();
    if let Some(last) = looks.last() {
        let (last, kernels, launched) = (*last, last.kernels(), last.launched());
        let (waits, progress) = (&waits, &progress);
        let case = Case { mesh, looks, last, waits, progress, kernels, launched };
        findings = case.findings(missing.is_empty());
        for finding in &mut findings {
            finding.signature = case.signature(finding);
            finding.waypoint = case.waypoint(finding);
            finding.since_cycles = stood_since(finding, &stops);
            finding.add_stands(last.state);
        }
        findings = without_alike(findings);
    }
    let bystanders = bystanders(mesh, &waits, &findings);
    let last = looks.last();
    let (snapshots, cycles) = (looks.len(), last.map_or(0, |last| last.state.cycles));
    Diagnosis {
        snapshots,
        cycles,
        over_cycles,
        progress,
        findings,
        missing,
        unidentified: last.map_or(0, |last| unidentified(*last)),
        waits,
        stops,
        moved,
        bystanders,
        asking,
        circular_buffers: last.map_or_else(Vec::new, |last| buffers::circular_buffers(mesh, *last)),
        semaphores: last.map_or_else(Vec::new, |last| buffers::semaphores(mesh, *last)),
        sockets: last.map_or_else(Vec::new, |last| buffers::sockets(mesh, *last)),
    }
}

/// Lets cores that wait or stand do so since the first of their parties came to a stand, whatever
/// else changes in their words.
fn stand_since(
    mesh: &Mesh,
    stops: &[Stop],
    progress: &BTreeMap<CoreId, Progress>,
    moved: &mut BTreeMap<CoreId, Since>,
) {
    let stands =
        |core: &CoreId| matches!(progress.get(core), Some(Progress::Waiting(..) | Progress::Still));
    // The first one comes first.
    for stop in stops.iter().rev() {
        if let Some(core) = core_of(mesh, stop.party).filter(stands) {
            moved.insert(core, Since { cycles: stop.cycles, seen: stop.seen });
        }
    }
}

/// Returns the time from the first snapshot to the last, in cycles.
fn over_cycles(looks: &[Look<'_>]) -> u64 {
    match looks {
        [first, .., last] => last.state.cycles.saturating_sub(first.state.cycles),
        _ => 0,
    }
}

impl Diagnosis {
    /// Returns how long the cause of a hang has been seen to stand, in cycles: it may have stood for
    /// longer. None if nothing stands because of the finding.
    pub fn stood_cycles(&self, finding: &Finding) -> Option<u64> {
        let since = finding.since_cycles.filter(|_| finding.severity == Severity::Hang)?;
        Some(self.cycles.saturating_sub(since))
    }

    /// Returns the chips on which nothing can run: those that do not answer; if all do, those with a
    /// core that stands still and lets others wait. Cores beside a dead chip can stand because of it.
    pub fn lost_chips(&self) -> BTreeSet<ChipId> {
        let of = |condition: Condition| {
            let found = self.findings.iter().filter(|it| it.condition == condition);
            let chips = found
                .filter(|it| it.severity == Severity::Hang || condition == Condition::ChipGone);
            chips.flat_map(|it| it.place.chips()).collect::<BTreeSet<_>>()
        };
        let gone = of(Condition::ChipGone);
        if gone.is_empty() { of(Condition::CoreStuck) } else { gone }
    }

    /// Names other next steps than to sample program counters, for a target where that cannot be done.
    pub fn forgo_samples(&mut self) {
        for it in self.findings.iter_mut().filter(|it| it.next.contains(" --sample ")) {
            it.next =
                format!("look at its words: `meshscope cores {} --words`", it.place.argument());
        }
    }

    /// Takes over from an earlier verdict when what still stands came to a stand, if the snapshots
    /// of the two follow each other without a gap.
    pub fn follow(&mut self, earlier: &Self) {
        if earlier.cycles < self.cycles.saturating_sub(self.over_cycles) {
            return;
        }
        for stop in self.stops.iter_mut().filter(|stop| !stop.seen) {
            let before = earlier.stops.iter().find(|before| before.party == stop.party);
            *stop = before.copied().unwrap_or(*stop);
        }
        self.stops.sort_unstable();
        for (core, since) in self.moved.iter_mut().filter(|(_, since)| !since.seen) {
            // Both verdicts share snapshots: what changes in none of them has not changed.
            *since = earlier.moved.get(core).copied().unwrap_or(*since);
        }
        for finding in &mut self.findings {
            finding.since_cycles = stood_since(finding, &self.stops);
        }
    }
}

/// Returns the number of cores of compute tiles of which nobody knows what they do. What base firmware
/// of an Ethernet core does is known without its image.
fn unidentified(look: Look<'_>) -> usize {
    let unknown = |core: &CoreState| matches!(core.activity, Reading::Unknown(_) | Reading::Absent);
    look.cores().filter(|(core, end)| end.is_none() && unknown(core)).count()
}

/// Returns since when the cause of a finding stands, or, if it does not act itself, the first of
/// those that wait for it.
fn stood_since(finding: &Finding, stops: &[Stop]) -> Option<u64> {
    let of = |party: Party| stops.iter().find(|stop| stop.party == party);
    let waiters = finding.chain.iter().map(|step| step.waiter);
    let own = finding.party.and_then(of);
    let stop = own.or_else(|| waiters.filter_map(of).min())?;
    Some(stop.cycles)
}

/// Returns the chips that no finding and no wait touches.
fn bystanders(mesh: &Mesh, waits: &WaitGraph, findings: &[Finding]) -> Vec<ChipId> {
    let waiting = waits.all.iter().flat_map(|wait| [wait.waiter, wait.on]);
    let parties = waiting.chain(waits.still.iter().copied());
    let mut touched: BTreeSet<ChipId> = parties.filter_map(chip_of).collect();
    touched.extend(findings.iter().flat_map(|finding| finding.place.chips()));
    let chips = mesh.chips.iter().map(|chip| chip.id);
    chips.filter(|chip| !touched.contains(chip)).collect()
}

fn chip_of(party: Party) -> Option<ChipId> {
    match party {
        Party::Core(core)
        | Party::Client(core, _)
        | Party::MuxChannel(core, _)
        | Party::Mux(core) => Some(core.chip),
        Party::Router(at)
        | Party::Sender(at, _)
        | Party::Receiver(at, _)
        | Party::Noc(at)
        | Party::Link(at)
        | Party::Channel(at, _) => Some(at.chip),
        Party::Host => None,
    }
}

/// Returns the words that a diagnosis wants of a mesh in the state of this snapshot, beyond the
/// read set of all screens.
pub fn wanted(mesh: &Mesh, look: Look<'_>) -> Vec<Span> {
    let mut spans = kernels::spans(mesh, look);
    spans.extend(astray::spans(mesh, look));
    spans.extend(buffers::spans(mesh, look));
    spans
}

/// Returns the words that tell which request the kernel of a core sends again and again.
pub fn request_words(mesh: &Mesh, look: Look<'_>, core: CoreId) -> Vec<Span> {
    look.kernels().get(&core).map_or_else(Vec::new, |kernel| kernels::repeats(mesh, kernel))
}

/// Whether these words, read some times one after the other, show that the kernel of a core sends one
/// request again and again.
pub fn sends_the_same(mesh: &Mesh, look: Look<'_>, core: CoreId, read: &[Snapshot]) -> bool {
    let read: Vec<&Snapshot> = read.iter().collect();
    let kernels = look.kernels();
    kernels.get(&core).is_some_and(|it| kernels::sends_again(mesh, &read, it).is_some())
}

/// Returns the core that acts for a party.
pub fn core_of(mesh: &Mesh, party: Party) -> Option<CoreId> {
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
    waits: &'a WaitGraph,
    progress: &'a BTreeMap<CoreId, Progress>,
    /// The running kernels of the last snapshot.
    kernels: BTreeMap<CoreId, Kernel<'a>>,
    /// These and those that have ended.
    launched: BTreeMap<CoreId, Kernel<'a>>,
}

impl<'a> Case<'a> {
    /// Returns the findings, ranked; hangs only if the snapshots are enough to prove one.
    fn findings(&self, proves: bool) -> Vec<Finding> {
        let mut findings = self.faults();
        findings.extend(self.stopped_cores(&findings));
        if proves {
            findings.extend(self.halted_cores());
            findings.extend(self.stopped_firmware());
            findings.extend(self.misfits());
            findings.extend(self.small_buffers());
            findings.extend(self.overlaps());
            findings.extend(self.leftovers());
            findings.extend(self.loaded());
            findings.extend(self.abandoned());
            findings.extend(self.dropped());
            findings.extend(self.misrouted());
            findings.extend(self.wrong_hops());
            findings.extend(self.misread());
            findings.extend(self.wrong_credits());
            findings.extend(self.circles());
            findings.extend(self.roots());
            findings.extend(self.starving());
            findings.extend(self.slow());
            findings.extend(self.lossy());
        }
        let findings = self.with_links_of_lost_chips(self.without_lost_chips(findings));
        let unfinished = if proves { self.unfinished(&findings) } else { Vec::new() };
        rank([findings, unfinished].concat())
    }

    fn core_of(&self, party: Party) -> Option<CoreId> {
        core_of(self.mesh, party)
    }

    fn core(&self, id: CoreId) -> Option<&'a CoreState> {
        self.last.state.core(id)
    }

    fn waypoint(&self, finding: &Finding) -> Option<String> {
        let core = match finding.place {
            Place::Core(core) => core,
            _ => self.core_of(finding.party?)?,
        };
        self.core(core)?.waypoint.known().cloned()
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
            next: next(condition, place),
            evidence: self.core_of(on).map_or_else(Vec::new, |core| self.evidence(core)),
            chain: self.waits.chain(on),
            waiting: self.waits.dependants(on),
            confidence: Confidence::Likely,
            party: Some(on),
            waypoint: None,
            since_cycles: None,
            signature: String::new(),
        }
    }

    /// Returns the words of a core that a person looks at first.
    fn evidence(&self, id: CoreId) -> Vec<Evidence> {
        let Some(core) = self.core(id) else { return Vec::new() };
        let mut evidence = Vec::new();
        let mut add = |name: &str, value: String| {
            evidence.push(Evidence { at: None, name: format!("{id} {name}"), value });
        };
        let operations = &self.last.state.operations;
        let launch = core.launch.known();
        if let Some(it) = launch.and_then(|it| operations.get(&it.host_assigned_id.into())) {
            add("operation", format!("{} {}", it.id, it.name));
        }
        if let Some(code) = core.waypoint.known() {
            let line = core
                .location
                .first()
                .and_then(|line| Some(format!(" ({}:{})", line.file.as_ref()?, line.line?)));
            add("waypoint", format!("{code}{}", line.as_deref().map_or("", |line| line)));
        }
        let sampled = self.last.sampled.get(&id);
        if let Some((profile, most)) = sampled.and_then(|it| Some((it, it.places.first()?))) {
            let value = format!("{} of {} samples: {}", most.count, profile.samples, most.words());
            add("program counter", value);
            // Of a circular buffer, what it has tells more.
            let spin = profile.spin.as_ref();
            let of_buffer = |it: &Kernel<'_>| kernels::waits_for(it).is_some();
            if let Some(spin) = spin.filter(|_| !self.kernels.get(&id).is_some_and(of_buffer)) {
                add("loop", format!("goes on {spin}"));
            }
        }
        if let Some(beat) = core.heartbeat.known() {
            add("heartbeat", format!("{beat:#010x}"));
        }
        if let Some(kernel) = self.kernels.get(&id) {
            for buffer in kernels::occupancies(self.mesh.layout(), self.last, kernel) {
                let Occupancy { number, received, acknowledged, pages } = buffer;
                let held = buffer.held();
                add(
                    &format!("circular buffer {number}"),
                    format!(
                        "{held} of {pages} pages (received {received}, acknowledged {acknowledged})"
                    ),
                );
            }
            for (number, (at, value)) in
                kernels::semaphore_values(self.last, kernel).iter().enumerate()
            {
                add(&format!("semaphore {number}"), format!("{value} at {at:#x}"));
            }
        }
        evidence
    }
}

/// Takes back the findings that are like another one but for their core, if they are many, and names their
/// cores there: an operation can hang alike on each of its tiles.
fn without_alike(findings: Vec<Finding>) -> Vec<Finding> {
    let key = |it: &Finding| (it.condition, it.severity, it.signature.clone());
    let is_of_core = |it: &&Finding| matches!(it.place, Place::Core(_));
    let mut alike: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for it in findings.iter().filter(is_of_core) {
        alike.entry(key(it)).or_default().push(it.place.to_string());
    }
    alike.retain(|_, cores| cores.len() > MOST_LISTED);
    let mut kept = Vec::new();
    for mut it in findings {
        let others = alike.get_mut(&key(&it)).filter(|_| is_of_core(&&it));
        match others.map(std::mem::take).as_deref() {
            None => kept.push(it),
            Some([_, others @ ..]) => {
                let listed = others.get(..MOST_LISTED).unwrap_or(others).join(", ");
                let more = if others.len() > MOST_LISTED { ", ..." } else { "" };
                let _ = write!(it.sentence, "; {} others alike: {listed}{more}", others.len());
                kept.push(it);
            }
            Some([]) => {}
        }
    }
    kept
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
