//! The verdict of the live view: snapshots of its own, now and then, between those of the screens.

use crate::host_time::now_micros;
use crate::seen::{CoreSeen, TilesSeen, tiles_seen, was_read};
use crate::traffic::least_time;
use decode::state::MeshState;
use diagnosis::{Diagnosis, Progress};
use layouts::ChipId;
use probe::session::{Inspected, PartLimits, Session, WATCHED_CYCLES, Watch, Watched};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest time between two of its snapshots.
const PAUSE: Duration = Duration::from_secs(1);
/// Its snapshots take one part in this of the probe thread's time, and of the bus's budget.
const PART: u32 = 5;
/// A part that becomes smaller, down to this, while verdict follows verdict and finds the same.
const LEAST_PART: u32 = 100;
/// The longest time between two of its snapshots that the host's time makes necessary.
const MOST_PAUSE: Duration = Duration::from_secs(5);

/// Tiles that the screens read again and again are taken over at this interval, in microseconds.
const AGAIN_MICROS: u64 = 1_000_000;

/// The newest snapshots of a verdict, and when the next one is due.
pub(super) struct Watching {
    watch: Watch,
    verdict: Option<Arc<Diagnosis>>,
    /// The tiles in its newest snapshot, or in a later one of the screens.
    seen: Arc<TilesSeen>,
    /// When the tiles of each chip were looked at last: host time in microseconds.
    seen_micros: Arc<BTreeMap<ChipId, u64>>,
    due: Instant,
    /// The moment of a recording that was judged.
    judged: Option<usize>,
    /// One part in this of the time is for the next snapshots.
    part: u32,
    /// Whether kernels are paused by the user.
    paused: bool,
}

impl Watching {
    /// Returns one that judges by snapshots over this time, in cycles of the target.
    pub(super) fn over(cycles: u64) -> Self {
        Self {
            watch: Watch::new(cycles),
            verdict: None,
            seen: Arc::default(),
            seen_micros: Arc::default(),
            due: Instant::now(),
            judged: None,
            part: PART,
            paused: false,
        }
    }

    /// Begins anew when kernels were paused or resumed: what moved before says nothing.
    pub(super) fn note_pause(&mut self, paused: bool) {
        if std::mem::replace(&mut self.paused, paused) != paused {
            self.watch = Watch::new(WATCHED_CYCLES);
            self.look_soon();
        }
    }

    /// Looks as soon and as often as at first: what was ordered changes the mesh.
    pub(super) fn look_soon(&mut self) {
        self.part = PART;
        self.due = self.due.min(Instant::now() + PAUSE);
    }

    /// The newest verdict.
    pub(super) fn verdict(&self) -> Option<Arc<Diagnosis>> {
        self.verdict.clone()
    }

    /// The tiles as they were looked at last.
    pub(super) fn seen(&self) -> Arc<TilesSeen> {
        Arc::clone(&self.seen)
    }

    /// When that was, by chip.
    pub(super) fn seen_micros(&self) -> Arc<BTreeMap<ChipId, u64>> {
        Arc::clone(&self.seen_micros)
    }

    /// Takes over the tiles of a chip that the screens have read.
    pub(super) fn see_chip(&mut self, chip: ChipId, state: &MeshState, micros: u64) {
        let before = self.seen_micros.get(&chip).copied().unwrap_or(0);
        if micros.saturating_sub(before) < AGAIN_MICROS {
            return;
        }
        let tiles = state.chips.iter().filter(|it| it.chip.id == chip).flat_map(|it| &it.tiles);
        let read = tiles.filter(|tile| tile.cores.iter().any(was_read));
        let read = read.map(|it| ((chip, it.xy), it.cores.iter().map(CoreSeen::of).collect()));
        Arc::make_mut(&mut self.seen).extend(read);
        Arc::make_mut(&mut self.seen_micros).insert(chip, micros);
    }

    /// Takes over the tiles of a verdict's newest snapshot.
    pub(super) fn note(&mut self, watched: Option<&Watched>) {
        self.see(watched.and_then(|it| it.newest.as_ref()).map(tiles));
    }

    fn see(&mut self, seen: Option<TilesSeen>) {
        self.seen = seen.map(Arc::new).unwrap_or_default();
        let now = now_micros();
        self.seen_micros = Arc::new(self.seen.keys().map(|(chip, _)| (*chip, now)).collect());
    }

    /// Takes over the tiles that the last part of a snapshot has read.
    fn see_part(&mut self, state: &MeshState) {
        let (read, now) = (self.watch.just_read(), now_micros());
        let tiles = tiles_seen(state).into_iter().filter(|(at, _)| read.contains(at));
        Arc::make_mut(&mut self.seen).extend(tiles);
        Arc::make_mut(&mut self.seen_micros).extend(read.iter().map(|(chip, _)| (*chip, now)));
    }

    /// Takes the next part of a snapshot, if that is due, and once it is whole judges anew; then returns
    /// the snapshot and the verdict. Those of a recording are not returned.
    pub(super) fn turn(
        &mut self,
        session: &mut Session,
        (budget, most): (Option<u32>, PartLimits),
    ) -> Option<(&Inspected, &Diagnosis)> {
        if Instant::now() < self.due {
            return None;
        }
        if let Some(moment) = session.target().history().map(|history| history.position()) {
            self.judge_moment(moment, session);
            return None;
        }
        let (began, before) = (Instant::now(), session.target().transactions());
        if let Some(partly) = session.look_in_part(&mut self.watch, most) {
            self.see_part(&partly.state);
            return None;
        }
        let verdict = session.judge(&mut self.watch);
        // The next snapshot has what the comparison found.
        session.compare_suspects(&mut self.watch, &verdict);
        let same = self.verdict.as_ref().is_some_and(|before| finds_the_same(before, &verdict));
        self.part = if same { (self.part * 2).min(LEAST_PART) } else { PART };
        self.verdict = Some(Arc::new(verdict));
        self.see(self.watch.newest().map(tiles));
        let cost = session.target().transactions().saturating_sub(before);
        let own = (began.elapsed() * (self.part - 1)).min(MOST_PAUSE);
        let pause = own.max(began.elapsed() * (PART - 1)).max(least_time(cost, budget) * PART);
        self.due = Instant::now() + pause.max(PAUSE);
        self.watch.newest().zip(self.verdict.as_deref())
    }

    /// Whether there is no newer verdict to come: that on the moment of a recording is there.
    pub(super) fn rests(&self, session: &mut Session) -> bool {
        session.target().history().is_none_or(|history| self.judged == Some(history.position()))
    }

    /// Judges a recording by the moments up to the one on screen.
    fn judge_moment(&mut self, moment: usize, session: &mut Session) {
        if self.judged == Some(moment) {
            return;
        }
        let began = Instant::now();
        let watched = session.diagnose(WATCHED_CYCLES).ok();
        self.note(watched.as_ref());
        self.verdict = watched.map(|it| Arc::new(it.diagnosis));
        self.judged = Some(moment);
        // While it is played, verdicts take a part of the time too.
        self.due = Instant::now() + began.elapsed() * (PART - 1);
    }
}

fn tiles(newest: &Inspected) -> TilesSeen {
    tiles_seen(&newest.state)
}

/// Whether two whole verdicts find the same, and as many cores that stand.
fn finds_the_same(before: &Diagnosis, now: &Diagnosis) -> bool {
    let found = |it: &Diagnosis| -> Vec<_> {
        it.findings.iter().map(|finding| (finding.condition, finding.place)).collect()
    };
    let still = |it: &Diagnosis| it.progress.values().filter(|it| **it == Progress::Still).count();
    let whole = before.missing.is_empty() && now.missing.is_empty();
    whole && found(before) == found(now) && still(before) == still(now)
}
