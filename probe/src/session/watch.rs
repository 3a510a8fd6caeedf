//! Several snapshots of a target, and what they say about it.

use super::{Inspected, PartLimits, Partly, Parts, Session};
use decode::inspect::{ReadSet, fabric_read_set};
use decode::profile::profile;
use decode::state::{Activity, CoreState, MeshState};
use diagnosis::function::needs_instructions;
use diagnosis::{
    Condition, Diagnosis, Finding, LEAST_APART_CYCLES, Look, Place, Progress, Severity, core_of,
    debug_words, diagnose, is_halted, needs_samples, request_words, sends_the_same, wanted,
};
use images::Reading;
use launch::debugging::show_status;
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::progress::Listener;
use machine::samples::SampleOrder;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::Mesh;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

type Tiles = BTreeSet<(ChipId, NocXy)>;

/// Time over which a mesh is usually watched, in device cycles.
pub const WATCHED_CYCLES: u64 = 50_000_000;
/// In a pause of so long the devices are given back, as between snapshots that are 5 s apart and take a
/// part of that: an open one can neither be flashed nor reset.
const LONG_PAUSE_CYCLES: u64 = 4_000_000_000;
/// Snapshots that a verdict rests on, if time permits.
pub(super) const SNAPSHOTS: u64 = 4;
/// Most snapshots that are taken at first until the read set has everything: a router leads to its
/// clients, they to their words, and kernels to what they wait for.
const MOST_SEARCHES: usize = 6;
/// The same later, when most of it is known.
const MOST_LATER: usize = 2;

/// The newest snapshots of a target, few and spread over a time, and what they say.
#[derive(Debug, Default)]
pub struct Watch {
    /// Time over which the snapshots are spread.
    over_cycles: u64,
    /// Whether a verdict waits until they are.
    waits: bool,
    /// The oldest first; the last one is the newest that was taken.
    inspected: VecDeque<Inspected>,
    /// The verdict before.
    before: Option<Diagnosis>,
    /// Cores that stand and whose texts were compared.
    compared: Vec<CoreId>,
    /// Cores because of which others stand.
    causes: Vec<CoreId>,
    /// Cores of which only requests show that they move, and that are watched for sending the same one
    /// again and again.
    asking: Vec<CoreId>,
    /// Cores of which no word says whether they stand, and that were asked whether they are halted.
    asked: Vec<CoreId>,
    /// The words that prove that a core is halted.
    debug_words: Vec<Span>,
    /// What the next snapshot reads.
    read_set: Option<ReadSet>,
    /// How far the next snapshot has come, if it is read in parts.
    parts: Parts,
    /// Who is told of its snapshots, and the number of the one that is taken.
    told: (Listener, u64),
}

/// The snapshots of a diagnosis, and the verdict.
pub struct Watched {
    /// The newest snapshot, if any was taken.
    pub newest: Option<Inspected>,
    /// The verdict.
    pub diagnosis: Diagnosis,
    /// Bus transactions of all snapshots, those that found what to read included.
    pub transactions: u64,
}

impl Watch {
    /// Returns one without snapshots. Its verdict is "unknown" until they are spread over this
    /// time, in cycles, or over the least that proves a hang.
    pub fn new(over_cycles: u64) -> Self {
        let over_cycles = over_cycles.max(LEAST_APART_CYCLES);
        Self { over_cycles, waits: true, ..Self::default() }
    }

    /// Returns one whose verdict does not wait, and that tells of each snapshot.
    pub(super) fn that_does_not_wait(over_cycles: u64, listener: &Listener) -> Self {
        Self { waits: false, told: (listener.clone(), 0), ..Self::new(over_cycles) }
    }

    /// Returns the newest snapshot.
    pub fn newest(&self) -> Option<&Inspected> {
        self.inspected.back()
    }

    /// Returns the tiles that the last part of a snapshot has read.
    pub fn just_read(&self) -> &[(ChipId, NocXy)] {
        self.parts.just_read()
    }

    /// Adds a snapshot. One that is hardly newer than the one before takes its place.
    pub fn add(&mut self, inspected: Inspected) {
        let cycles = inspected.state.cycles;
        // A recording has no more moments than it has.
        while self.newest().is_some_and(|newest| newest.state.cycles >= cycles) {
            self.inspected.pop_back();
        }
        let least = self.over_cycles / (2 * (SNAPSHOTS - 1));
        let mut newest = self.inspected.iter().rev().map(|it| it.state.cycles);
        let apart = newest.next().zip(newest.next()).map(|(last, before)| last - before);
        if apart.is_some_and(|apart| apart < least) {
            self.inspected.pop_back();
        }
        self.inspected.push_back(inspected);
        let enough = |it: &VecDeque<Inspected>| {
            let first = it.get(1).map_or(cycles, |it| it.state.cycles);
            it.len() > SNAPSHOTS as usize && cycles - first >= self.over_cycles
        };
        while enough(&self.inspected) {
            self.inspected.pop_front();
        }
    }

    /// Returns the cores that stand without a reason outside of them, and whose texts were not
    /// compared yet.
    fn suspects(&mut self, mesh: &Mesh, diagnosis: &Diagnosis) -> Vec<CoreId> {
        let suspects = suspects(mesh, diagnosis);
        let fresh = suspects.iter().filter(|core| !self.compared.contains(core)).copied().collect();
        self.compared = suspects;
        fresh
    }

    /// Returns the cores with a go message of which no word says whether they stand, and that were
    /// not asked yet.
    fn silent(&mut self, diagnosis: &Diagnosis) -> Vec<CoreId> {
        let runs = |core: CoreId| {
            let core = self.newest().and_then(|newest| newest.state.core(core));
            core.is_some_and(|core| core.activity == Reading::Known(Activity::Running))
        };
        // Before enough was watched nothing is known of any core.
        let all = diagnosis.progress.iter().filter(|_| diagnosis.missing.is_empty());
        let unknown = all.filter(|(_, it)| **it == Progress::Unknown);
        let mut silent: Vec<CoreId> = unknown.map(|(core, _)| *core).collect();
        // One core of a tile is asked for all.
        silent.dedup_by_key(|core| (core.chip, core.tile));
        silent.retain(|core| runs(*core));
        silent.truncate(MOST_ASKED);
        let fresh = silent.iter().filter(|core| !self.asked.contains(core)).copied().collect();
        self.asked = silent;
        fresh
    }

    /// Forgets the debug words of cores that move, if not only their requests show that.
    fn forget_moving(&mut self, diagnosis: &Diagnosis) {
        let moves = |span: &Span| {
            let mut cores = diagnosis
                .progress
                .iter()
                .filter(|(core, _)| (core.chip, core.tile) == (span.addr.chip, span.addr.tile));
            cores.all(|(core, progress)| {
                *progress == Progress::Progressing && !diagnosis.asking.contains(core)
            })
        };
        self.debug_words.retain(|span| !moves(span));
    }
}

impl Session {
    /// Judges by what was added to a watch.
    pub fn judge(&mut self, watch: &mut Watch) -> Diagnosis {
        let looks: Vec<Look<'_>> = watch.inspected.iter().map(look).collect();
        let cycles = watch.newest().map_or(0, |newest| newest.state.cycles);
        let over = watch.inspected.front().map_or(0, |first| cycles - first.state.cycles);
        let early = watch.waits && over < watch.over_cycles;
        // The newest snapshot alone shows faults.
        let judged = if early { looks.get(looks.len() - 1..).unwrap_or(&looks) } else { &looks };
        let mut diagnosis = diagnose(self.target.mesh(), judged);
        // What a recording asks for can be done on the machine that it was made of.
        if self.target.abilities().unchangeable.is_some() && self.target.history().is_none() {
            diagnosis.forgo_samples();
        }
        if early {
            let [over, of] = [over, watch.over_cycles].map(|cycles| cycles / 1_000_000);
            let sentence = format!("watched for {over} ms so far, of {of}");
            diagnosis.missing = vec![sentence];
        }
        if let Some(before) = &watch.before {
            diagnosis.follow(before);
        }
        watch.before = Some(diagnosis.clone());
        diagnosis
    }

    /// Judges the mesh by snapshots that are spread over a time, in device cycles: over the next
    /// one, or in a recording over that before the current moment.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn diagnose(&mut self, over_cycles: u64) -> Result<Watched, AccessError> {
        self.diagnose_telling(over_cycles, &Listener::default())
    }

    /// Judges the mesh as [`Session::diagnose`] does, and tells of each snapshot.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn diagnose_telling(
        &mut self,
        over_cycles: u64,
        listener: &Listener,
    ) -> Result<Watched, AccessError> {
        let mut watch = Watch::that_does_not_wait(over_cycles, listener);
        if let Some(moments) = self.past_moments(over_cycles) {
            return Ok(self.diagnose_past(watch, &moments));
        }
        let before = self.target.transactions();
        self.look(&mut watch);
        if let Err(gone) = self.look_on(&mut watch) {
            // What was read before the target was lost is judged all the same.
            if watch.newest().is_none_or(|newest| newest.snapshot.pieces.is_empty()) {
                return Err(gone);
            }
        }
        let mut diagnosis = self.judge(&mut watch);
        if self.compare_suspects(&mut watch, &diagnosis) {
            // Two snapshots, each as far from the one before, show whether a request is the same.
            if watch.asking.is_empty() {
                self.look_again(&mut watch);
            } else {
                for _ in 0..2 {
                    self.pass(watch.over_cycles / (SNAPSHOTS - 1))?;
                    self.look_at_running(&mut watch, false);
                }
            }
            diagnosis = self.judge(&mut watch);
        }
        let transactions = self.target.transactions().saturating_sub(before);
        Ok(Watched { newest: watch.inspected.pop_back(), diagnosis, transactions })
    }

    /// Takes the snapshots of a verdict after the first one.
    fn look_on(&mut self, watch: &mut Watch) -> Result<(), AccessError> {
        let begun = self.target.now()?;
        for number in 1..SNAPSHOTS {
            let due = begun + watch.over_cycles * number / (SNAPSHOTS - 1);
            let now = self.target.now()?;
            self.pass(due.saturating_sub(now))?;
            // Links are compared from the first to the last.
            self.look_at_running(watch, number + 1 == SNAPSHOTS);
        }
        Ok(())
    }

    /// Adds snapshots and judges the mesh by the newest ones, as long as the caller, who sees each
    /// verdict and the snapshots, wants; returns the last verdict.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn diagnose_while(
        &mut self,
        watch: &mut Watch,
        go_on: &mut dyn FnMut(&mut Self, &Watch, &Diagnosis) -> bool,
    ) -> Result<Watched, AccessError> {
        let before = self.target.transactions();
        loop {
            self.look(watch);
            let mut diagnosis = self.judge(watch);
            if self.compare_suspects(watch, &diagnosis) {
                self.look_again(watch);
                diagnosis = self.judge(watch);
            }
            if !go_on(self, watch, &diagnosis) {
                let transactions = self.target.transactions().saturating_sub(before);
                return Ok(Watched { newest: watch.newest().cloned(), diagnosis, transactions });
            }
            self.pass(watch.over_cycles / (SNAPSHOTS - 1))?;
        }
    }

    /// Takes a snapshot for a verdict.
    pub fn look(&mut self, watch: &mut Watch) {
        self.look_within(watch, None, None);
    }

    /// Takes a snapshot of the tiles on which a kernel ran in the one before, and of those of the links if
    /// asked; the others are as they were.
    fn look_at_running(&mut self, watch: &mut Watch, and_links: bool) {
        let before = watch.newest().map(|newest| newest.snapshot.clone());
        let mut tiles = watch.newest().map(|newest| running_tiles(&newest.state));
        if let Some(tiles) = tiles.as_mut().filter(|_| and_links) {
            tiles.extend(link_tiles(self.target.mesh()));
        }
        self.look_within(watch, tiles, before.as_ref());
    }

    /// Takes a snapshot of some cores and of what the stages of their parties depend on: a small part
    /// of the mesh, so that little time passes.
    pub fn look_at(&mut self, watch: &mut Watch, cores: &[CoreId]) {
        let mesh = self.target.mesh();
        let tiles = match watch.newest() {
            Some(newest) => newest.state.fabric.party_tiles(mesh, cores),
            None => possible_tiles(mesh, cores),
        };
        self.look_within(watch, Some(tiles), None);
    }

    /// Takes a snapshot of these tiles, or of all; the others are as before, if that is given.
    fn look_within(&mut self, watch: &mut Watch, only: Option<Tiles>, before: Option<&Snapshot>) {
        let first = watch.read_set.is_none();
        let read_set = ReadSet { only, ..self.next_read_set(watch) };
        watch.told.1 += 1;
        let inspected = self.inspect_by_chip(&read_set, before, &mut telling(watch));
        self.complete(watch, (read_set, first), inspected);
    }

    /// Takes the next part of a snapshot for a verdict, within about these limits; returns what
    /// it shows so far, or none once it is whole and was added. What stood by the verdict before is
    /// read first, with the ends of links.
    pub fn look_in_part(&mut self, watch: &mut Watch, most: PartLimits) -> Option<Inspected> {
        let first = watch.inspected.is_empty();
        let goes_on = watch.read_set.as_ref().is_some_and(|it| watch.parts.goes_on(it));
        let read_set = if goes_on { watch.read_set.clone()? } else { self.next_read_set(watch) };
        let mesh = self.target.mesh();
        let stood = watch.before.iter().flat_map(still).map(|core| (core.chip, core.tile));
        let ahead = link_tiles(mesh).chain(stood).collect();
        let inspected = self.inspect_part(&mut watch.parts, &read_set, (None, &ahead), most);
        watch.read_set = Some(read_set.clone());
        if watch.parts.goes_on(&read_set) {
            return Some(inspected);
        }
        self.complete(watch, (read_set, first), inspected);
        None
    }

    /// What the next snapshot reads.
    fn next_read_set(&mut self, watch: &mut Watch) -> ReadSet {
        let first = watch.read_set.is_none();
        if first {
            self.leave_silent_tiles_alone();
        }
        let everything = || ReadSet { fabric: true, ..ReadSet::everything(self.target.mesh()) };
        let read_set = watch.read_set.take().unwrap_or_else(everything);
        // Within the time of one verdict the images are proved once.
        let mut read_set = ReadSet { only: None, proofs: first || watch.waits, ..read_set };
        read_set.spans.extend(&watch.debug_words);
        read_set
    }

    /// Adds a snapshot, once what it has shown to be wanted was read too.
    fn complete(
        &mut self,
        watch: &mut Watch,
        (mut read_set, first): (ReadSet, bool),
        mut inspected: Inspected,
    ) {
        let most = if first { MOST_SEARCHES } else { MOST_LATER };
        for _ in 0..most {
            let mut next = self.follow(&read_set, &inspected);
            next.spans.extend(&watch.debug_words);
            let had = std::mem::replace(&mut read_set, next);
            if self.has_all(&had, &inspected) {
                break;
            }
            inspected = self.inspect_rest(&read_set, &inspected, &mut telling(watch));
        }
        watch.read_set = Some(read_set);
        if watch.waits || first || watch.told.1 >= SNAPSHOTS {
            self.sample_silent(&mut inspected, &watch.causes);
        } else if let Some(before) = watch.newest() {
            // The last snapshot of a verdict shows what the first one's samples have become.
            inspected.sampled.clone_from(&before.sampled);
        }
        watch.add(inspected);
    }

    /// Decodes the newest snapshot again by what was learned since, once what it lacks was read.
    pub(super) fn look_again(&mut self, watch: &mut Watch) {
        let newest = watch.inspected.pop_back();
        let Some((newest, read_set)) = newest.zip(watch.read_set.as_ref()) else { return };
        let mut read_set = self.follow(read_set, &newest);
        read_set.spans.extend(&watch.debug_words);
        let mut inspected = self.inspect_rest(&read_set, &newest, &mut |_| ());
        inspected.sampled = newest.sampled;
        self.sample_silent(&mut inspected, &watch.causes);
        watch.inspected.push_back(inspected);
    }

    /// Samples the cores of which no word says what they wait for, and the causes of hangs, if that
    /// is permitted and they are not sampled.
    fn sample_silent(&mut self, inspected: &mut Inspected, causes: &[CoreId]) {
        if !self.target.abilities().allow.sample {
            return;
        }
        let silent = causes.iter().copied().chain(needs_samples(&inspected.state));
        let silent = silent.take(MOST_SAMPLED).filter(|it| !inspected.sampled.contains_key(it));
        let silent: Vec<CoreId> = silent.collect();
        if silent.is_empty() {
            return;
        }
        // What cannot be sampled stays unknown.
        let Ok(mut samples) = self.sample(&silent, SAMPLES) else { return };
        // One that seems to execute a single instruction is sampled longer: a short loop seems to, too.
        let pinned = samples.cores.iter().filter(|of| {
            let [first, others @ ..] = &*of.samples else { return false };
            others.iter().all(|it| it.pc == first.pc)
        });
        let pinned: Vec<CoreId> = pinned.map(|of| of.core).collect();
        let longer = if pinned.is_empty() { None } else { self.sample(&pinned, LONGER).ok() };
        for more in longer.into_iter().flat_map(|samples| samples.cores) {
            if let Some(of) = samples.cores.iter_mut().find(|of| of.core == more.core) {
                of.samples.extend(more.samples);
            }
        }
        let sampled = samples.cores.iter().filter(|core| !core.samples.is_empty());
        for (number, of) in sampled.enumerate() {
            let mut found = profile(&self.images, of);
            let looks = number < MOST_SPINS && needs_instructions(&found);
            if let Some(core) = inspected.state.core(of.core).filter(|_| looks) {
                found.spin = self.spin(core, &found);
            }
            inspected.sampled.insert(of.core, found);
        }
    }

    /// Compares the texts of cores that stand without another reason, and asks whether they are
    /// halted; returns whether the newest snapshot shows more if it is decoded again, such as samples of
    /// causes.
    pub fn compare_suspects(&mut self, watch: &mut Watch, diagnosis: &Diagnosis) -> bool {
        watch.forget_moving(diagnosis);
        let causes = causes(self.target.mesh(), diagnosis);
        let is_sampled =
            |core: &CoreId| watch.newest().is_some_and(|newest| newest.sampled.contains_key(core));
        let fresh = causes.iter().any(|core| !watch.causes.contains(core) && !is_sampled(core));
        watch.causes = causes;
        let suspects = watch.suspects(self.target.mesh(), diagnosis);
        for core in &suspects {
            self.compare_texts(*core);
        }
        // Before a core is accused whose kernel is not known, its files may have come.
        let newest = watch.newest().filter(|_| !suspects.is_empty());
        let mut halted = newest.is_some_and(|newest| self.find_files_of(&newest.state));
        for core in suspects.iter().chain(&watch.silent(diagnosis)) {
            halted |= self.ask_halted(watch, *core);
        }
        let asks = self.watch_requests(watch, diagnosis);
        halted || asks || !suspects.is_empty() || (fresh && self.target.abilities().allow.sample)
    }

    /// Lets the next snapshots read which requests the cores send of which only that is seen to move, if
    /// these seem to be always the same; returns whether there are new ones.
    fn watch_requests(&mut self, watch: &mut Watch, diagnosis: &Diagnosis) -> bool {
        let mut asking: Vec<CoreId> = diagnosis.asking.clone();
        asking.truncate(MOST_SUSPECTS);
        let mut fresh: Vec<Span> = Vec::new();
        for core in asking.iter().filter(|core| !watch.asking.contains(core)) {
            let Some(newest) = watch.newest() else { continue };
            let words = request_words(self.target.mesh(), look(newest), *core);
            if self.sends_the_same(newest, *core, &words) {
                fresh.extend(words);
            }
        }
        watch.asking = asking;
        watch.debug_words.extend(&fresh);
        !fresh.is_empty()
    }

    /// Whether all of some reads of these words, which are not evenly apart, show the same request.
    fn sends_the_same(&mut self, inspected: &Inspected, core: CoreId, words: &[Span]) -> bool {
        let mut read = Vec::new();
        for number in 0..READS_OF_REQUESTS {
            read.push(self.target.read(&Plan { spans: words.to_vec() }));
            if self.pass(1_000 + 777 * number).is_err() {
                return false;
            }
        }
        sends_the_same(self.target.mesh(), look(inspected), core, &read)
    }

    /// Lets the debug interface show whether a core is halted, if that is permitted; returns whether
    /// it shows that, which the next snapshots read too.
    fn ask_halted(&mut self, watch: &mut Watch, core: CoreId) -> bool {
        let target = self.target.as_mut();
        // What somebody else asked last is shown all the same.
        let _ = show_status(target, core);
        let spans = debug_words(target.mesh(), core);
        let shown = target.read(&Plan { spans: spans.clone() });
        let halted = is_halted(target.mesh(), &shown, core);
        if halted {
            watch.debug_words.extend(spans);
        }
        halted
    }

    /// Returns the read set of the next snapshot.
    fn follow(&self, read_set: &ReadSet, inspected: &Inspected) -> ReadSet {
        let mut next = fabric_read_set(&inspected.state.fabric, read_set);
        next.spans.extend(wanted(self.target.mesh(), look(inspected)));
        next.spans.sort_unstable();
        next.spans.dedup();
        next
    }

    /// Whether a read set had what its snapshot shows to be wanted. The oldest packets of the
    /// fabric do not count: they change with every one that moves.
    fn has_all(&self, had: &ReadSet, inspected: &Inspected) -> bool {
        let leads = &inspected.state.fabric.leads;
        let wanted = wanted(self.target.mesh(), look(inspected));
        let spans: BTreeSet<_> = had.spans.iter().collect();
        leads.tiles.iter().all(|tile| had.fabric_tiles.contains(tile))
            && leads.spans.iter().chain(&wanted).all(|span| spans.contains(span))
    }

    /// Lets time pass: that of the target, or the host's where a target has its own. In a long pause
    /// the devices are given back.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        if cycles >= LONG_PAUSE_CYCLES {
            self.give_back();
        }
        if self.target.abilities().stepped_time {
            return self.target.pass(cycles);
        }
        // A cycle is about a nanosecond.
        std::thread::sleep(Duration::from_nanos(cycles));
        Ok(())
    }

    /// Closes the machine's devices until the next access, so that others can reset or flash them.
    pub fn give_back(&mut self) {
        if let Some(bus) = self.target.bus() {
            bus.give_back();
        }
    }
}

/// Tells of the chips that are read of a watch's next snapshot.
fn telling(watch: &Watch) -> impl FnMut(&Partly<'_>) + use<> {
    let (listener, snapshot) = watch.told.clone();
    // Requests that are watched afterwards take two more.
    let of = SNAPSHOTS.max(snapshot);
    move |partly: &Partly<'_>| {
        use machine::progress::Progress::{Images, Snapshot, Verdict};
        if let Images(chips) | Snapshot(chips) = partly.progress {
            listener.tell(Verdict { snapshot, of, chips });
        }
    }
}

/// Returns the tiles on which a kernel runs.
fn running_tiles(state: &MeshState) -> Tiles {
    let runs = |core: &CoreState| core.activity == Reading::Known(Activity::Running);
    let tiles = state.chips.iter().flat_map(|chip| chip.tiles.iter().map(|it| (chip.chip.id, it)));
    let running = tiles.filter(|(_, tile)| tile.cores.iter().any(runs));
    running.map(|(chip, tile)| (chip, tile.xy)).collect()
}

/// Returns the tiles at the ends of links.
fn link_tiles(mesh: &Mesh) -> impl Iterator<Item = (ChipId, NocXy)> {
    let ends = mesh.links.iter().flat_map(|link| [link.a, link.b]);
    ends.filter_map(|end| mesh.place(end).ok()).map(|place| (place.chip, place.tile))
}

/// Returns the tiles on which the parties of some cores can be. A client and its router or mux are on
/// one chip.
fn possible_tiles(mesh: &Mesh, cores: &[CoreId]) -> Tiles {
    let mut tiles = Tiles::new();
    for core in cores {
        tiles.insert((core.chip, core.tile));
        if core.core != CoreKind::Erisc {
            tiles.extend(mesh.layout().grid().iter().map(|tile| (core.chip, tile.xy)));
        }
    }
    tiles
}

/// Most cores that are sampled with a snapshot.
const MOST_SAMPLED: usize = 512;
/// Program counters that are sampled of each of them.
const SAMPLES: SampleOrder = SampleOrder { count: 4, apart_cycles: 500 };
/// Those of a core that had the same program counter in all of them.
const LONGER: SampleOrder = SampleOrder { count: 60, apart_cycles: 500 };
/// Most sampled cores whose instructions are read.
const MOST_SPINS: usize = 64;
/// Most causes of hangs that are sampled.
const MOST_CAUSES: usize = 8;
/// Most cores whose texts are compared.
const MOST_SUSPECTS: usize = 4;
/// Reads of the requests of a core that seems to send the same again and again.
const READS_OF_REQUESTS: u64 = 8;
/// Most cores that are asked whether they are halted though no word says that they stand.
const MOST_ASKED: usize = 64;

/// Returns the cores that stand without a reason outside of them.
fn suspects(mesh: &Mesh, diagnosis: &Diagnosis) -> Vec<CoreId> {
    let stuck = |it: &&Finding| {
        use Condition::{CoreStuck, NotModelled, PcOutsideText};
        matches!(it.condition, CoreStuck | NotModelled | PcOutsideText)
    };
    let stuck = diagnosis.findings.iter().filter(stuck).filter_map(|finding| match finding.place {
        Place::Core(core) => Some(core),
        _ => None,
    });
    let mut cores: Vec<CoreId> = Vec::new();
    // What is overwritten is a fault of its own even if its core only waits.
    let waiting = diagnosis.stops.iter().filter_map(|stop| core_of(mesh, stop.party));
    for core in stuck.chain(still(diagnosis)).chain(waiting) {
        if !cores.contains(&core) && cores.len() < MOST_SUSPECTS {
            cores.push(core);
        }
    }
    cores
}

/// Returns the cores that stand: first those because of which others stand or an operation does not
/// end.
fn causes(mesh: &Mesh, diagnosis: &Diagnosis) -> Vec<CoreId> {
    let hang = |it: &&Finding| matches!(it.severity, Severity::Hang | Severity::Unfinished);
    let first = diagnosis.findings.iter().filter(hang);
    let first = first.filter_map(|finding| core_of(mesh, finding.party?));
    let waits = |core: &CoreId| {
        matches!(diagnosis.progress.get(core), Some(Progress::Still | Progress::Waiting(..)))
    };
    let mut cores: Vec<CoreId> = Vec::new();
    for core in first.filter(waits).chain(still(diagnosis)) {
        if !cores.contains(&core) && cores.len() < MOST_CAUSES {
            cores.push(core);
        }
    }
    cores
}

fn still(diagnosis: &Diagnosis) -> impl Iterator<Item = CoreId> {
    let progress = diagnosis.progress.iter();
    progress.filter(|(_, progress)| **progress == Progress::Still).map(|(core, _)| *core)
}

fn look(inspected: &Inspected) -> Look<'_> {
    Look { sampled: &inspected.sampled, ..Look::new(&inspected.snapshot, &inspected.state) }
}
