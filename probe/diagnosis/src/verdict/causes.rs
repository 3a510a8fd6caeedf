//! Roots and circles of the wait graph, and why each of them stands.

use super::lasting::any_heart_beats;
use super::unfinished::spins;
use super::{Case, MOST_LISTED};
use crate::condition::Condition;
use crate::finding::{Confidence, Finding};
use crate::kernels::{
    INITIALISES, NO_GO_TAKEN, WAITS_FOR_GO, buffer_wait, has_returned, outstanding, paused,
    semaphore_wait, waits_for, waits_for_nothing, waits_for_semaphore,
};
use crate::look::{Kernel, Look};
use crate::place::Place;
use crate::progress::Progress;
use decode::state::{Activity, CoreState, Party, RouterState, WaitReason};
use images::{GoSignal, Reading};
use layouts::{CoreId, CoreKind};
use machine::snapshot::AccessError;
use machine::words::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What to do about a circle of packets.
const FABRIC_CIRCLE: &str =
    "use the dateline virtual channel, or send less at once: `meshscope fabric waits`";

/// Returns that a kernel has ended, and who told it to.
fn has_ended(kernel: &Kernel<'_>) -> String {
    let name = kernel.name().map_or(String::new(), |name| format!(" {name}"));
    let told = kernel.termination().map(|signal| format!(": it was told to ({signal})"));
    format!("its kernel{name} has ended{}", told.as_deref().map_or("", |told| told))
}

/// Returns that a paused kernel's go message is not that of a kernel that runs. Firmware of an Ethernet
/// core keeps others (tt-metal.md 1.2).
fn ungone(core: &CoreState) -> Option<String> {
    let go = core.go.known().filter(|go| !matches!(go, GoSignal::Go))?;
    let name: &str = go.into();
    (core.id.core != CoreKind::Erisc).then(|| {
        format!("its go message was overwritten with {name} while its kernel runs, which was paused (PASW)")
    })
}

/// What is said of a core that was told to go and initialises.
const BEGAN_AGAIN: &str = "its firmware has begun again while its go message stands: its kernel jumped to 0, or its tile was reset";

impl Case<'_> {
    /// Returns a finding for each party that is waited for, or stands, and does not wait itself.
    pub(super) fn roots(&self) -> Vec<Finding> {
        let mut roots: BTreeSet<Party> = self.waits.roots().into_iter().collect();
        let stands = |(core, progress): &(&CoreId, &Progress)| match progress {
            Progress::Still | Progress::Paused => true,
            Progress::Unknown => self.outstanding(**core).is_some(),
            _ => false,
        };
        let still = self.progress.iter().filter(stands);
        roots.extend(still.map(|(core, _)| Party::Core(*core)).filter(|at| !self.is_known(*at)));
        let found = roots.into_iter().filter_map(|root| self.root(root));
        let (starved, others): (Vec<Finding>, Vec<Finding>) =
            found.partition(|it| self.lacks_increment(it));
        let mut by_operation: BTreeMap<Option<u32>, Vec<Finding>> = BTreeMap::new();
        for finding in starved {
            let operation = self.kernel_of(&finding).and_then(Kernel::operation);
            by_operation.entry(operation).or_default().push(finding);
        }
        others.into_iter().chain(by_operation.into_values().filter_map(joined)).collect()
    }

    /// Returns the kernel of the party that a finding is about.
    pub(super) fn kernel_of(&self, finding: &Finding) -> Option<&Kernel<'_>> {
        self.kernels.get(&self.core_of(finding.party?)?)
    }

    /// Whether a finding is about a kernel that waits for a semaphore while no other kernel moves.
    pub(super) fn lacks_increment(&self, finding: &Finding) -> bool {
        finding.condition == Condition::IncrementNeverSent
            && self.kernel_of(finding).is_some_and(|it| waits_for_semaphore(it) && !it.has_rules())
    }

    /// Whether another party of the same core is in the graph.
    fn is_known(&self, at: Party) -> bool {
        let core = self.core_of(at);
        let waiting = self.waits.all.iter().flat_map(|wait| [wait.waiter, wait.on]);
        let mut parties = waiting.chain(self.waits.still.iter().copied());
        parties.any(|party| party != at && self.core_of(party) == core)
    }

    fn root(&self, root: Party) -> Option<Finding> {
        match root {
            Party::Host => {
                let words = self.note(root);
                let words = words.unwrap_or_else(|| "they wait for the host".to_owned());
                Some(self.finding(Condition::HostAwaited, Place::Host, root, words))
            }
            Party::Link(at) => {
                let place = self.link(at);
                let words = format!("{place}: both its ends are up, and nothing comes back");
                let found = self.finding(Condition::LinkUnanswered, place, root, words);
                let links = &self.last.state.links;
                let state = links.iter().find(|link| Place::link(&link.link) == place);
                let Some(faulty) = state.and_then(|link| self.faulty_link(link)) else {
                    return Some(found);
                };
                Some(Finding {
                    severity: found.severity,
                    chain: found.chain,
                    waiting: found.waiting,
                    party: found.party,
                    ..faulty
                })
            }
            Party::Noc(at) => {
                let place = Place::Router(at);
                let words = format!("{place}: the NoC does not take its packet");
                Some(self.finding(Condition::NocUnanswered, place, root, words))
            }
            _ => self.core_root(root, self.core_of(root)?),
        }
    }

    fn note(&self, party: Party) -> Option<String> {
        self.waits.notes.get(&party).cloned()
    }

    /// Returns why a core stands that others wait for.
    fn core_root(&self, root: Party, id: CoreId) -> Option<Finding> {
        let (condition, why) = self.why(root, id)?;
        let place = match root {
            _ if condition == Condition::ChipGone => Place::Chip(id.chip),
            Party::Router(at) => Place::Router(at),
            _ => Place::Core(id),
        };
        let mut finding = self.finding(condition, place, root, format!("core {id}: {why}"));
        if let Some(halted) = self.halted(id).filter(|halted| condition == halted.condition) {
            halted.proves(&mut finding);
        }
        if condition == Condition::CoreStuck && self.last.sampled.contains_key(&id) {
            finding.next = format!("look at its words: `meshscope cores {id} --words`");
        }
        if condition == Condition::CoreStuck && self.waits.still.contains(&Party::Core(id)) {
            finding.confidence = Confidence::Certain;
        }
        Some(finding)
    }

    fn why(&self, root: Party, id: CoreId) -> Option<(Condition, String)> {
        let core = self.core(id)?;
        let routers = &self.last.state.fabric.routers;
        let router = routers.iter().find(|router| root == Party::Router(router.at));
        if let Some(name) = router.and_then(RouterState::refusal_name) {
            return Some((Condition::EndsDiffer, format!("its router refused to run: {name}")));
        }
        if let Some(words) = self.overwritten(core).or_else(|| self.unlike_siblings(id)) {
            return Some((Condition::TextOverwritten, words));
        }
        if let Some(halted) = self.halted(id) {
            return Some((halted.condition, halted.why));
        }
        if let Some(how) = paused(core, router) {
            if let Some(words) = ungone(core) {
                return Some((Condition::TextOverwritten, words));
            }
            return Some((Condition::Paused, how.to_owned()));
        }
        let note = self.note(Party::Core(id)).or_else(|| self.note(root));
        match &core.activity {
            Reading::Known(Activity::InReset) => {
                Some((Condition::CoreInReset, "it is held in reset".to_owned()))
            }
            Reading::Unread(why @ AccessError::Hung(_)) => {
                Some((Condition::NocUnanswered, format!("it cannot be read: {why}")))
            }
            Reading::Unread(why) => {
                Some((Condition::ChipGone, format!("it cannot be read: {why}")))
            }
            Reading::Known(Activity::Running) => self.still(root, id, note),
            Reading::Known(activity) => {
                let begins =
                    |reason| matches!(reason, WaitReason::Handshake | WaitReason::LocalSync);
                let ended = *activity == Activity::Done;
                let kernel = self.launched.get(&id).filter(|it| ended || it.end.is_some());
                if kernel.is_some_and(Kernel::refused) {
                    let words = "its kernel has refused its arguments, and ended";
                    return Some((Condition::EndsDiffer, words.to_owned()));
                }
                let what = match kernel {
                    Some(kernel) => has_ended(kernel),
                    None if ended => "its kernel has ended".to_owned(),
                    None => "no kernel runs on it".to_owned(),
                };
                // A launch message is written before its go message, and cleared after its kernel.
                let placed = core.launch.known().is_some_and(|launch| launch.enables != 0);
                if let Some(launch) = core.launch.known().filter(|_| placed && !ended) {
                    if self.is_being_launched(id, launch.host_assigned_id) {
                        return None;
                    }
                    let words = format!(
                        "its launch message (op {}) was written, and its go message never: its launcher ended between the two",
                        launch.host_assigned_id
                    );
                    return Some((Condition::Leftover, words));
                }
                let is_awaited = self.waits.on(root).any(|wait| begins(wait.reason));
                let condition = if is_awaited {
                    Condition::BringUpStopped
                } else {
                    Condition::IncrementNeverSent
                };
                let why = match note {
                    Some(note) => format!("{what}; {note}"),
                    None => what,
                };
                Some((condition, why))
            }
            Reading::Unknown(_) => {
                self.lacks_firmware(id).map(|words| (Condition::TextOverwritten, words))
            }
            Reading::Absent => None,
        }
    }

    /// Whether the go message of a launch may still come: the client that may write can be slower
    /// than the mesh's clock, and a launch message that not every snapshot shows is a new one.
    fn is_being_launched(&self, id: CoreId, op: u32) -> bool {
        let shows = |look: &Look<'_>| {
            let core = look.state.core(id).and_then(|core| core.launch.known());
            core.is_some_and(|launch| launch.enables != 0 && launch.host_assigned_id == op)
        };
        self.last.state.before.writer.is_some() || !self.looks.iter().all(shows)
    }

    /// Returns why a running core stands; none if it moves, or may be in a delay that was asked for.
    fn still(&self, root: Party, id: CoreId, note: Option<String>) -> Option<(Condition, String)> {
        let kernel = self.kernels.get(&id)?;
        if self.waits.on(root).any(|wait| wait.reason == WaitReason::Leave) {
            let why = note.unwrap_or_else(|| "it was not told to end".to_owned());
            return Some((Condition::Leftover, why));
        }
        if waits_for_semaphore(kernel) && self.stands(id) && !kernel.has_rules() {
            // While another kernel may go on, it can still be incremented.
            let wait = semaphore_wait(self.last, kernel);
            let words = format!("{wait}, and no other kernel moves");
            return self.others_stand(id).then_some((Condition::IncrementNeverSent, words));
        }
        if let Some(outstanding) = self.outstanding(id) {
            let why = note.unwrap_or_else(|| "it does not move".to_owned());
            return Some((Condition::NocUnanswered, format!("{why}; {outstanding}")));
        }
        if let Some(spin) = kernel.spin().filter(|spin| spin.endless && self.stands(id)) {
            let unlike = self.unlike_others(&[kernel]).filter(|_| kernel.name().is_none());
            let unlike = unlike.map_or(String::new(), |unlike| format!("; {unlike}"));
            return Some((Condition::CoreStuck, format!("it {}{unlike}", spins(kernel, spin))));
        }
        // An Ethernet core waits with a beating heart. Of another kernel that is not known, and for which
        // nobody waits, only its program counter tells whether it waits, computes or stands.
        let is_awaited = self.waits.on(root).next().is_some();
        let may_wait = kernel.end.is_some()
            || !kernel.has_rules()
                && !is_awaited
                && kernel.sampled_pc().is_none()
                && kernel.waypoint() != INITIALISES;
        let stands = self.waits.still.contains(&root)
            || self.waits.still.contains(&Party::Core(id))
            || self.progress.get(&id) == Some(&Progress::Still) && !may_wait;
        let heart_stands = self.heart_stands(id) == Some(true);
        let note = match kernel.waypoint() {
            WAITS_FOR_GO => Some(NO_GO_TAKEN.to_owned()),
            INITIALISES => Some(BEGAN_AGAIN.to_owned()),
            _ => note,
        };
        let spun = || Some(format!("it {}", spins(kernel, kernel.spin()?)));
        let why = note.or_else(spun).unwrap_or_else(|| "it does not move".to_owned());
        let beat = if heart_stands { "; its heartbeat does not move" } else { "" };
        let is_plain = !kernel.has_rules() && is_awaited;
        if is_plain && has_returned(kernel) {
            let words = "its kernel has returned, and moves no more pages".to_owned();
            return Some((Condition::IncrementNeverSent, words));
        }
        if !(stands || heart_stands) {
            return None;
        }
        if !kernel.has_rules() && waits_for(kernel).is_some() {
            return Some((Condition::IncrementNeverSent, why));
        }
        if let Some(words) = kernel.sampled_pc().and_then(|pc| self.without_code(id, pc)) {
            return Some((Condition::PcOutsideText, words));
        }
        if waits_for_nothing(self.mesh, self.last, kernel) {
            let words = "it waits for answers of the NoC, and its network interface has no request outstanding";
            return Some((Condition::CoreStuck, words.to_owned()));
        }
        Some((Condition::CoreStuck, format!("{why}{beat}")))
    }

    /// Returns the requests of a core that does not move, and that were not answered meanwhile.
    fn outstanding(&self, id: CoreId) -> Option<String> {
        let kernel = self.kernels.get(&id).filter(|kernel| !kernel.serves())?;
        let unmoved = self.stands(id)
            || self.progress.get(&id) == Some(&Progress::Unknown) && self.repeats(kernel).is_none();
        outstanding(self.mesh, self.last, kernel).filter(|_| unmoved)
    }

    pub(super) fn stands(&self, id: CoreId) -> bool {
        matches!(self.progress.get(&id), Some(Progress::Still | Progress::Waiting(..)))
    }

    /// Whether all other kernels of operations have returned or stand too.
    fn others_stand(&self, id: CoreId) -> bool {
        let mut others = self.kernels.values().filter(|it| it.core.id != id && !it.serves());
        others.all(|it| has_returned(it) || self.stands(it.core.id))
    }

    /// Returns what is wrong with the text of a core whose launch message names a kernel that
    /// other cores of the same op run, if it does not run that kernel.
    pub(super) fn unlike_siblings(&self, id: CoreId) -> Option<String> {
        let own = self.kernels.get(&id)?;
        let launch = own.core.launch.known().filter(|launch| launch.kernel_id != 0)?;
        let program = (launch.host_assigned_id, launch.kernel_id);
        let same = |other: &&Kernel<'_>| {
            let of = other.core.launch.known();
            other.core.id.core == id.core
                && of.is_some_and(|of| (of.host_assigned_id, of.kernel_id) == program)
        };
        let siblings: Vec<&str> =
            self.launched.values().filter(same).filter_map(Kernel::name).collect();
        let mut names = siblings.clone();
        names.retain(|name| own.name() != Some(*name));
        let count = names.len();
        // Of two texts, that of fewer cores is the wrong one; of two cores, that which stands.
        if count < siblings.len() - count {
            return None;
        }
        names.dedup();
        let [name] = names.as_slice() else { return None };
        let has = own.name().map_or("no known image".to_owned(), |own| format!("that of {own}"));
        Some(format!(
            "its launch message has kernel id {}, which is {name} on {count} other cores of op {}; the text here is {has}",
            launch.kernel_id, launch.host_assigned_id
        ))
    }

    /// Whether the heartbeat of an Ethernet core was the same in all snapshots.
    fn heart_stands(&self, id: CoreId) -> Option<bool> {
        let beat = |look: &Look<'_>| look.state.core(id)?.heartbeat.known().copied();
        let beats: Vec<u32> = self.looks.iter().map(beat).collect::<Option<_>>()?;
        if !any_heart_beats(self.looks) {
            return None;
        }
        Some(beats.windows(2).all(|pair| matches!(pair, [a, b] if a == b)))
    }

    /// Returns a finding for each circle of waits.
    pub(super) fn circles(&self) -> Vec<Finding> {
        self.waits.cycles().into_iter().filter_map(|circle| self.circle(&circle)).collect()
    }

    fn circle(&self, circle: &[Party]) -> Option<Finding> {
        let first = *circle.first()?;
        let kernel = |party: &Party| self.kernels.get(&self.core_of(*party)?);
        if circle.iter().filter_map(kernel).any(|it| self.asks_too_much(it).is_some()) {
            return None;
        }
        let mux = circle.iter().find_map(|party| match party {
            Party::Mux(core) | Party::MuxChannel(core, _) => Some(*core),
            _ => None,
        });
        let name = |party: &Party| {
            let wait = kernel(party).and_then(|it| buffer_wait(self.mesh.layout(), it));
            wait.map_or_else(|| party.to_string(), |wait| format!("{party} for {wait}"))
        };
        let listed = circle.iter().map(name).collect::<Vec<_>>().join(", ");
        let (condition, place) = match mux {
            Some(core) => (Condition::MuxStarvation, Place::Core(core)),
            None if self.lacks_master(circle) => (Condition::CannotWork, self.place_of(first)?),
            None => (Condition::CircularWait, self.place_of(first)?),
        };
        let channels = circle.iter().filter_map(|party| match party {
            Party::Receiver(_, channel) => Some(*channel),
            _ => None,
        });
        let channels: BTreeSet<u8> = channels.collect();
        let mut words =
            format!("{} parties wait for each other in a circle: {listed}", circle.len());
        // Packets that cross a dateline change their virtual channel, and with it the receiver's.
        if let (Some(channel), 1) = (channels.first(), channels.len()) {
            let _ = write!(
                words,
                "; all are on receiver channel {channel}: the dateline is missing, at which packets would change it"
            );
        }
        if condition == Condition::CannotWork {
            words.push_str("; none of them is the master of the ring, which sends first");
        }
        let mut finding = self.finding(condition, place, first, words);
        if circle.iter().any(|party| matches!(party, Party::Router(_) | Party::Sender(..))) {
            FABRIC_CIRCLE.clone_into(&mut finding.next);
        }
        finding.waiting = circle.iter().map(|party| self.waits.dependants(*party)).max()?;
        Some(finding)
    }

    /// Whether a circle is that of a ring ping without a master.
    fn lacks_master(&self, circle: &[Party]) -> bool {
        circle.iter().all(|party| {
            let kernel = self.core_of(*party).and_then(|core| self.kernels.get(&core));
            kernel.is_some_and(|it| it.number("ring_ping_state.args.master") == Some(0))
        })
    }

    /// Returns a finding for each mux that lets a client wait for its turn.
    pub(super) fn starving(&self) -> Vec<Finding> {
        let turns = self.waits.all.iter().filter(|wait| wait.reason == WaitReason::Turn);
        let muxes: BTreeSet<Party> = turns.map(|wait| wait.on).collect();
        muxes.into_iter().filter_map(|holder| self.starved_by(holder)).collect()
    }

    /// Returns the finding about a mux that waits with the packet of one channel.
    fn starved_by(&self, holder: Party) -> Option<Finding> {
        let core = self.core_of(holder)?;
        let listed = |parties: Vec<Party>| {
            let names: Vec<String> = parties.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        let turns = self.waits.on(holder).filter(|wait| wait.reason == WaitReason::Turn);
        let starved: Vec<Party> = turns.map(|wait| wait.waiter).collect();
        let workers = starved.iter().flat_map(|channel| self.waits.on(*channel));
        let workers: BTreeSet<Party> = workers.map(|wait| wait.waiter).collect();
        let mut words = format!("core {core}: the mux waits with a packet of {holder}");
        if let Some(wait) = self.waits.of(holder).next() {
            let _ = write!(words, " for {} of {}", wait.reason, wait.on);
        }
        let _ = write!(words, "; starved: {}", listed(starved));
        if !workers.is_empty() {
            let _ = write!(words, "; their workers: {}", listed(workers.into_iter().collect()));
        }
        Some(self.finding(Condition::MuxStarvation, Place::Core(core), holder, words))
    }

    fn place_of(&self, party: Party) -> Option<Place> {
        Some(match party {
            Party::Router(at) | Party::Sender(at, _) | Party::Receiver(at, _) => Place::Router(at),
            Party::Link(at) => self.link(at),
            Party::Host => Place::Host,
            other => Place::Core(self.core_of(other)?),
        })
    }
}

/// Joins findings about kernels of one operation that wait for semaphores.
fn joined(findings: Vec<Finding>) -> Option<Finding> {
    let count = findings.len() as u64;
    let cores: Vec<String> =
        findings.iter().take(MOST_LISTED).map(|it| it.place.to_string()).collect();
    let more = if findings.len() > MOST_LISTED { ", ..." } else { "" };
    let mut all = findings.into_iter();
    let mut first = all.next()?;
    if count > 1 {
        first.sentence = format!(
            "{} of an operation wait for semaphores, and no other kernel moves: they wait for each other, or an increment was never sent ({}{more})",
            counted(count, "core", "cores"),
            cores.join(", "),
        );
        first.evidence.extend(all.take(MOST_LISTED - 1).flat_map(|it| it.evidence));
    }
    Some(first)
}
