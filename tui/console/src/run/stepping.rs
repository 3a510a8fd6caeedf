//! Steps of kernels from stage to stage of their protocols, and how long each has been in its stage.

use super::pausing::{STEP_CYCLES, failed};
use crate::exit::Failure;
use crate::merged::kernel;
use crate::words;
use decode::state::{CoreState, MeshState, Party, PartyStage, Stage};
use launch::pause::{Kernels, Pause, Rest};
use layouts::CoreId;
use probe::session::{Session, Watch};
use std::collections::{BTreeMap, BTreeSet};

/// Time between two snapshots while nothing holds the kernels, in cycles.
const SLICE_CYCLES: u64 = 200;
/// Time after which a stage that does not change is an error, in cycles.
const PATIENCE_CYCLES: u64 = 50_000_000;

/// The stages of the parties of a mesh, and since when each is in its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelStages {
    seen: BTreeMap<Party, Seen>,
}

/// The stage of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    now: PartyStage,
    before: Option<&'static Stage>,
    /// The time of the snapshot that showed it first, in cycles of the target's own time.
    since_cycles: u64,
    /// Whether a snapshot before showed another stage: else it may have been in it for longer.
    began: bool,
}

/// A party after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartyStep {
    /// The party and its stage.
    pub now: PartyStage,
    /// The stage in which it was, if it is another one.
    pub before: Option<&'static Stage>,
    /// The time in the stage, in cycles: at least, if the party was not seen in another one.
    pub in_stage_cycles: u64,
    /// Whether it may have been in it for longer.
    pub at_least: bool,
}

impl PartyStep {
    /// The time in the stage, in words; empty if nothing is known of it.
    pub fn time(&self) -> String {
        let time = words::cycles(self.in_stage_cycles);
        match (self.at_least, self.in_stage_cycles) {
            (true, 0) => String::new(),
            (true, _) => format!("at least {time}"),
            (false, _) => time,
        }
    }

    /// Whether the protocol has no way from the stage before to this one.
    pub fn is_irregular(&self) -> bool {
        let leads = |before: &'static Stage| before.leads_to(self.now.table, self.now.stage);
        self.before.is_some_and(|before| !leads(before))
    }
}

/// The stage of a party in words, with the one before; of a connection that ends, with its step.
pub fn stage_words(party: &PartyStep) -> String {
    let numbered = matches!(party.now.party, Party::Client(..));
    let words = |stage: &Stage| {
        let step =
            if numbered && stage.rank > 0 { format!("{} ", stage.rank) } else { String::new() };
        format!("{step}{}", stage.name)
    };
    let now = words(party.now.stage);
    let way =
        party.before.map_or_else(|| now.clone(), |before| format!("{} > {now}", words(before)));
    if party.is_irregular() { format!("{way} (no way of the protocol)") } else { way }
}

impl KernelStages {
    /// Notes the stages of a snapshot, and forgets parties that it does not show. Returns the cores of
    /// which a party is in another stage than in the one before.
    pub fn note(&mut self, found: Vec<PartyStage>, cycles: u64) -> BTreeSet<CoreId> {
        let mut changed = BTreeSet::new();
        let before = std::mem::take(&mut self.seen);
        for now in found {
            let fresh = Seen { now, before: None, since_cycles: cycles, began: false };
            // A kernel with another protocol is another party.
            let known = before.get(&now.party).filter(|seen| seen.now.table == now.table);
            let seen = match known {
                None => fresh,
                Some(seen) if seen.now.stage.name == now.stage.name => Seen { now, ..*seen },
                Some(seen) => {
                    changed.insert(now.core);
                    Seen { before: Some(seen.now.stage), began: true, ..fresh }
                }
            };
            self.seen.insert(now.party, seen);
        }
        changed
    }

    /// The same of these cores only, of which the snapshot alone says enough. Returns the parties that
    /// they are no longer, too.
    fn note_of(
        &mut self,
        cores: &[CoreId],
        mut found: Vec<PartyStage>,
        cycles: u64,
    ) -> (BTreeSet<CoreId>, Vec<PartyStage>) {
        let own = self.seen.values().filter(|seen| cores.contains(&seen.now.core));
        let mut left: Vec<PartyStage> = own.map(|seen| seen.now).collect();
        left.retain(|before| found.iter().all(|now| now.party != before.party));
        let mut others = self.seen.clone();
        others.retain(|_, seen| !cores.contains(&seen.now.core));
        found.retain(|it| cores.contains(&it.core));
        let changed = self.note(found, cycles);
        self.seen.extend(others);
        (changed, left)
    }

    /// Forgets which stages came before, so that a step shows what it has changed.
    fn begin_step(&mut self) {
        self.seen.values_mut().for_each(|seen| seen.before = None);
    }

    /// Returns the parties of a core.
    pub fn of(&self, core: CoreId, cycles: u64) -> Vec<PartyStep> {
        let own = self.seen.values().filter(|seen| seen.now.core == core);
        let step = |seen: &Seen| PartyStep {
            now: seen.now,
            before: seen.before,
            in_stage_cycles: cycles.saturating_sub(seen.since_cycles),
            at_least: !seen.began,
        };
        own.map(step).collect()
    }
}

/// A kernel before and after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteppedKernel {
    /// Its core.
    pub core: CoreId,
    /// Its name.
    pub kernel: String,
    /// What it does now; none if it was not held.
    pub rest: Option<Rest>,
    /// The parties of protocols that it is.
    pub parties: Vec<PartyStep>,
    /// The parties that it was and is no longer, each with the last stage that was seen of it.
    pub left: Vec<PartyStage>,
    /// Its waypoint, if it is known.
    pub waypoint: Option<String>,
    /// The source line of the waypoint, if it is known.
    pub line: Option<String>,
    /// Progress words that changed, with both values.
    pub changed: Vec<(String, u64, u64)>,
}

impl SteppedKernel {
    /// Its stages begun before and after, if the step has changed their number.
    pub fn stages(&self) -> Option<(u64, u64)> {
        let stage = self.changed.iter().find(|(name, ..)| name.ends_with(".control.stage"));
        stage.map(|(_, before, after)| (*before, *after))
    }
}

/// Begins to let paused kernels begin their next stage: those of these cores, or all.
///
/// # Errors
/// `Usage` if one is not paused.
pub fn begin_step(session: &mut Session, cores: &[CoreId]) -> Result<Pause, Failure> {
    let kernels = session.running_kernels();
    Pause::step(session.target(), kernels, cores).map_err(|error| failed(session, &error))
}

/// Steps of one mesh.
#[derive(Debug)]
pub struct Stepping {
    watch: Watch,
    stages: KernelStages,
    /// Parties that were there before the step.
    left: Vec<PartyStage>,
}

impl Default for Stepping {
    /// One that has seen no stage.
    fn default() -> Self {
        Self { watch: Watch::new(0), stages: KernelStages::default(), left: Vec::new() }
    }
}

impl Stepping {
    /// Reads these cores, or the whole mesh at first or if there are none, and notes the stages.
    /// Returns the cores of which a party is in another stage, or no longer there.
    fn look(
        &mut self,
        session: &mut Session,
        cores: &[CoreId],
    ) -> Result<(MeshState, BTreeSet<CoreId>), Failure> {
        if cores.is_empty() {
            session.look(&mut self.watch);
        } else {
            session.look_at(&mut self.watch, cores);
        }
        let newest = self.watch.newest();
        let state = newest.ok_or_else(|| Failure::Internal("no snapshot".into()))?.state.clone();
        let found = state.party_stages(session.target().mesh());
        if cores.is_empty() {
            let changed = self.stages.note(found, state.cycles);
            return Ok((state, changed));
        }
        let (mut changed, left) = self.stages.note_of(cores, found, state.cycles);
        changed.extend(left.iter().map(|party| party.core));
        self.left.extend(left);
        Ok((state, changed))
    }

    /// Lets kernels go to their next stage: these, or all that are paused. Those that count stages
    /// begin it and park before the one after it; those that nothing holds are followed to it, where
    /// time stands still meanwhile. Returns the kernels with those of other cores that are shown.
    ///
    /// # Errors
    /// `Usage` if one that counts stages is not paused; `Refused` if nothing holds them and the time
    /// of the machine passes by itself; a sentence that says where they are if no stage has changed
    /// after a while.
    pub fn next(
        &mut self,
        session: &mut Session,
        cores: &[CoreId],
        shown: &BTreeSet<CoreId>,
    ) -> Result<Vec<SteppedKernel>, Failure> {
        let near: Vec<CoreId> = shown.iter().copied().collect();
        let (before, _) = self.look(session, &near)?;
        let kernels = Kernels::find(before.running(), session.images());
        if cores.is_empty() || cores.iter().any(|core| kernels.counts_stages(*core)) {
            self.step(session, &before, kernels, cores, &near)
        } else {
            self.advance(session, &before, &near)
        }
    }

    /// Goes to the next moment of a recording at which a stage of these cores changes, or back to the
    /// previous one. Returns its time, in cycles, and the kernels as that moment has changed them.
    ///
    /// # Errors
    /// If no moment shows another stage.
    pub fn walk(
        &mut self,
        session: &mut Session,
        cores: &[CoreId],
        back: bool,
    ) -> Result<(u64, Vec<SteppedKernel>), Failure> {
        let Some(change) = session.seek_stage(cores, back) else {
            let which = if back { "earlier" } else { "later" };
            return Err(Failure::Usage(format!("no {which} moment shows another stage")));
        };
        let at = session.target().history().map_or(0, |history| history.position());
        *self = Self::default();
        session.seek(at.saturating_sub(1));
        let (before, _) = self.look(session, cores)?;
        session.seek(at);
        let (after, _) = self.look(session, cores)?;
        let kernel = |core: &CoreId| self.stepped(*core, None, &before, &after);
        Ok((change.at_cycles, cores.iter().map(kernel).collect()))
    }

    /// Forgets what the step before has changed.
    fn begin(&mut self) {
        self.stages.begin_step();
        self.left.clear();
    }

    fn step(
        &mut self,
        session: &mut Session,
        before: &MeshState,
        kernels: Kernels,
        cores: &[CoreId],
        others: &[CoreId],
    ) -> Result<Vec<SteppedKernel>, Failure> {
        let step = Pause::step(session.target(), kernels, cores);
        let mut step = step.map_err(|error| failed(session, &error))?;
        self.begin();
        let paused = loop {
            let polled = step.poll(session.target());
            if let Some(paused) = polled.map_err(|error| failed(session, &error))? {
                break paused;
            }
            let passed = session.pass(STEP_CYCLES);
            passed.map_err(|error| Failure::of_access(session.target().name(), &error))?;
        };
        let (after, _) = self.look(session, others)?;
        let shown: BTreeSet<CoreId> = others.iter().chain(paused.rest.keys()).copied().collect();
        let kernel = |core| {
            let rest = paused.rest.get(&core).map(|(_, rest)| *rest);
            self.stepped(core, rest, before, &after)
        };
        Ok(shown.into_iter().map(kernel).collect())
    }

    /// Lets time pass until a party on one of these cores is in another stage.
    fn advance(
        &mut self,
        session: &mut Session,
        before: &MeshState,
        cores: &[CoreId],
    ) -> Result<Vec<SteppedKernel>, Failure> {
        if !session.target().abilities().stepped_time {
            return Err(Failure::Refused(
                "these kernels count no stages, so that nothing holds them, and the time of this target does not stand still".into(),
            ));
        }
        let known = |core: &CoreId| !self.stages.of(*core, before.cycles).is_empty();
        if !cores.iter().any(known) {
            let cores: Vec<String> = cores.iter().map(ToString::to_string).collect();
            let why = format!("no kernel with stages runs on {}", cores.join(" and "));
            return Err(Failure::Usage(why));
        }
        self.begin();
        loop {
            let passed = session.pass(SLICE_CYCLES);
            passed.map_err(|error| Failure::of_access(session.target().name(), &error))?;
            let (after, changed) = self.look(session, cores)?;
            if cores.iter().any(|core| changed.contains(core)) {
                let kernel = |core: &CoreId| self.stepped(*core, None, before, &after);
                return Ok(cores.iter().map(kernel).collect());
            }
            let waited = after.cycles.saturating_sub(before.cycles);
            if waited > PATIENCE_CYCLES {
                return Err(self.stands(cores, after.cycles, waited));
            }
        }
    }

    /// The error of cores whose stages do not change.
    fn stands(&self, cores: &[CoreId], cycles: u64, waited: u64) -> Failure {
        let places = cores.iter().flat_map(|core| {
            let own = self.stages.of(*core, cycles);
            own.into_iter().map(|it| format!("{} in {}", it.now.core, it.now.stage.name))
        });
        let places = places.collect::<Vec<_>>().join(", ");
        Failure::Usage(format!("no stage has changed in {}: {places}", words::cycles(waited)))
    }

    /// A kernel, by the states before and after a step.
    fn stepped(
        &self,
        core: CoreId,
        rest: Option<Rest>,
        before: &MeshState,
        after: &MeshState,
    ) -> SteppedKernel {
        let state = after.core(core);
        let line = state.and_then(|state| state.location.first());
        SteppedKernel {
            core,
            kernel: state.and_then(kernel).unwrap_or_else(|| "-".into()),
            rest,
            parties: self.stages.of(core, after.cycles),
            left: self.left.iter().filter(|party| party.core == core).copied().collect(),
            waypoint: state.and_then(|state| state.waypoint.known().cloned()),
            line: line.map(ToString::to_string),
            changed: changed(before.core(core), state),
        }
    }
}

/// The words of a core that differ.
fn changed(before: Option<&CoreState>, after: Option<&CoreState>) -> Vec<(String, u64, u64)> {
    let words = |core: Option<&CoreState>| -> BTreeMap<(u64, String), u64> {
        let words = core.into_iter().flat_map(|core| &core.words);
        let known = words.filter_map(|it| Some((it, *it.value.known()?)));
        known.map(|(it, value)| ((it.addr, it.name.to_string()), value)).collect()
    };
    let old = words(before);
    let differing = words(after).into_iter().filter_map(|(at, now)| {
        let before = *old.get(&at).filter(|before| **before != now)?;
        Some((at.1, before, now))
    });
    differing.collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use decode::state::{RING_PING, ROUTER};
    use layouts::{ChipId, CoreKind, EthId};
    use machine::target::Allow;
    use transport::ttsim::HostCommand;

    #[test]
    fn kernels_that_nothing_holds_are_followed_to_their_next_stage() {
        let opened = Session::open("emulator:n300", &HostCommand::default(), Allow::ALL);
        let mut session = opened.map_err(|error| error.to_string()).unwrap();
        let ends = [(0, 8), (1, 0), (0, 9), (1, 1)].map(|(chip, channel)| {
            let end = EthId { chip: ChipId(chip), channel };
            let place = session.target().mesh().place(end).unwrap();
            CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }
        });
        let mut stepping = Stepping::default();
        let (before, _) = stepping.look(&mut session, &ends).unwrap();
        let stepped = stepping.advance(&mut session, &before, &ends).unwrap();
        let parties = stepped.iter().flat_map(|kernel| &kernel.parties);
        let changed: Vec<_> = parties.filter(|party| party.before.is_some()).collect();
        assert!(!changed.is_empty(), "{stepped:?}");
        // The payload comes and goes.
        for party in changed {
            assert!(party.now.table == RING_PING && !party.is_irregular());
            assert!(!party.at_least && stepped.iter().all(|kernel| kernel.rest.is_none()));
        }
    }

    #[test]
    fn a_way_that_the_protocol_lacks_is_named() {
        let stage = |name| ROUTER.iter().find(|stage| stage.name == name).unwrap();
        let place = EthId { chip: ChipId(0), channel: 8 };
        let core =
            CoreId { chip: ChipId(0), tile: layouts::NocXy { x: 9, y: 6 }, core: CoreKind::Erisc };
        let (party, table) = (Party::Router(place), ROUTER);
        let at = |name| vec![PartyStage { core, party, stage: stage(name), table }];
        let mut stages = KernelStages::default();
        assert!(stages.note(at("serving"), 100).is_empty());
        assert!(stages.of(core, 150).iter().all(|it| it.at_least && it.in_stage_cycles == 50));
        assert!(stages.note(at("remote handshake"), 200).contains(&core));
        let [step] = &stages.of(core, 260)[..] else { unreachable!() };
        assert_eq!((step.in_stage_cycles, step.at_least), (60, false));
        assert_eq!(stage_words(step), "serving > remote handshake (no way of the protocol)");
        // Another kernel took the core, and returned.
        let (stage, table) = (&RING_PING[0], RING_PING);
        assert!(stages.note(vec![PartyStage { core, party, stage, table }], 300).is_empty());
        assert!(stages.of(core, 300).iter().all(|it| it.before.is_none() && it.at_least));
        stages.note(Vec::new(), 400);
        assert_eq!(stages.of(core, 400), []);
    }
}
