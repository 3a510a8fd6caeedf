//! What each core does, judged over several snapshots.

use crate::graph::WaitGraph;
use crate::kernels::{answers, counters, has_returned, paused, repeated};
use crate::look::{Kernel, Look};
use decode::state::{Activity, MeshState, Party, RouterState, WaitReason};
use images::Reading;
use layouts::{CoreId, EthId};
use machine::target::Mesh;
use std::collections::{BTreeMap, BTreeSet};

/// What a core does. A go message alone is no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// Its words change.
    Progressing,
    /// It waits, and has not moved.
    Waiting(Party, WaitReason),
    /// It was paused on request.
    Paused,
    /// It should move and has not.
    Still,
    /// Its kernel serves others, and has nothing to do.
    Idle,
    /// No kernel was launched on it.
    NeverStarted,
    /// Its kernel has ended.
    Ended,
    /// It is held in reset.
    InReset,
    /// It was not read.
    Unreachable,
    /// Its words do not tell.
    Unknown,
}

impl Progress {
    /// Returns the word of every screen and verb.
    pub fn word(self) -> &'static str {
        match self {
            Self::Progressing => "progressing",
            Self::Waiting(..) => "waiting",
            Self::Paused => "paused",
            Self::Still => "still",
            Self::Idle => "idle",
            Self::NeverStarted => "never started",
            Self::Ended => "ended",
            Self::InReset => "in reset",
            Self::Unreachable => "unreachable",
            Self::Unknown => "unknown",
        }
    }
}

/// Since when a core is as the last snapshot shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// The target's time at the first snapshot that shows it so, in cycles.
    pub cycles: u64,
    /// Whether an earlier snapshot shows it otherwise: if not, it may be so for longer.
    pub seen: bool,
}

/// In the names of the words that hold the waypoints of a tile's cores, which change under an endless retry too
/// (tt-metal.md 1.3).
const WAYPOINT: &str = ".debug_waypoint[";

/// What of a core changed between snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moved {
    Nothing,
    /// Only its waypoint, and the answers of the NoC: they do so under an endless retry too.
    Requests,
    Words,
}

/// What each core does, and since when none of its words has changed.
pub(crate) struct Judged {
    pub(crate) cores: BTreeMap<CoreId, Progress>,
    pub(crate) since: BTreeMap<CoreId, Since>,
    /// The kernels of which only requests show that they move, while no other kernel does.
    pub(crate) asking: Vec<CoreId>,
}

/// Returns what each core does.
pub(crate) fn of_cores(
    mesh: &Mesh,
    looks: &[Look<'_>],
    lasting: &WaitGraph,
    served: &BTreeSet<CoreId>,
) -> Judged {
    let none = || Judged { cores: BTreeMap::new(), since: BTreeMap::new(), asking: Vec::new() };
    let Some((last, before)) = looks.split_last() else { return none() };
    let waits = waits_of(*last, lasting);
    let kernels = || last.cores().map(|(core, end)| last.kernel(core, end));
    let since_each = |kernel: &Kernel<'_>| {
        let is_served = served.contains(&kernel.core.id);
        let since = |then: &Look<'_>| moved_since(mesh, *then, *last, kernel);
        let each = before.iter().map(|it| if is_served { Moved::Words } else { since(it) });
        each.collect()
    };
    let moved: BTreeMap<CoreId, Vec<Moved>> =
        kernels().map(|it| (it.core.id, since_each(&it))).collect();
    let of = |kernel: &Kernel<'_>| {
        let each = moved.get(&kernel.core.id);
        each.and_then(|each| each.iter().max()).map_or(Moved::Nothing, |it| *it)
    };
    let works = |kernel: &Kernel<'_>| {
        kernel.core.activity == Reading::Known(Activity::Running)
            && !kernel.serves()
            && !has_returned(kernel)
    };
    let asks = |it: &Kernel<'_>| works(it) && !it.has_rules() && of(it) == Moved::Requests;
    let mut asking: Vec<CoreId> = kernels().filter(asks).map(|it| it.core.id).collect();
    if kernels().any(|it| works(&it) && of(&it) == Moved::Words) {
        asking.clear();
    }
    let judge = |kernel: Kernel<'_>| {
        let (core, id) = (kernel.core, kernel.core.id);
        if asking.contains(&id) && repeated(mesh, looks, &kernel).is_some() {
            return (id, Progress::Unknown);
        }
        let has_moved = of(&kernel) != Moved::Nothing;
        let wait = waits.get(&id).copied();
        let progress = of_core(&kernel, has_moved, before.is_empty(), wait, lasting);
        let router = kernel.end.and_then(|end| router_of(*last, end));
        let runs = matches!(core.activity, Reading::Known(Activity::Running));
        let paused = runs && progress != Progress::Ended && paused(core, router).is_some();
        (id, if paused { Progress::Paused } else { progress })
    };
    let cores = kernels().map(judge).collect();
    let since = |(id, each): (CoreId, Vec<Moved>)| {
        let other = each.iter().rposition(|moved| *moved != Moved::Nothing);
        let first = looks.get(other.map_or(0, |other| other + 1)).unwrap_or(last);
        (id, Since { cycles: first.state.cycles, seen: other.is_some() })
    };
    Judged { cores, asking, since: moved.into_iter().map(since).collect() }
}

fn router_of(look: Look<'_>, end: EthId) -> Option<&RouterState> {
    look.state.fabric.routers.iter().find(|router| router.at == end)
}

/// Returns what of a core changed since an earlier snapshot.
fn moved_since(mesh: &Mesh, then: Look<'_>, now: Look<'_>, kernel: &Kernel<'_>) -> Moved {
    let (core, end) = (kernel.core, kernel.end);
    let Some(before) = then.state.core(core.id) else { return Moved::Nothing };
    let turns = |look| end.and_then(|end| router_of(look, end)?.turns());
    let turned = turns(then).zip(turns(now)).is_some_and(|(then, now)| then != now);
    let pages = |look: Look<'_>, core| counters(mesh.layout(), look, core);
    let before_it = then.kernel(before, end);
    let given = given(&before_it, kernel);
    if differ(&before_it, kernel) || pages(then, before) != pages(now, core) || turned || given {
        Moved::Words
    } else if before_it.core.waypoint != core.waypoint
        || before_it.is_sampled_elsewhere(kernel)
        || answers(mesh, then, &before_it) != answers(mesh, now, kernel)
    {
        Moved::Requests
    } else {
        Moved::Nothing
    }
}

/// Whether a word of L1 on which a kernel spins has changed: somebody serves it.
fn given(before: &Kernel<'_>, now: &Kernel<'_>) -> bool {
    let Some((then, now)) = before.spin().zip(now.spin()) else { return false };
    let words = then.ends.iter().filter(|end| end.name.is_none() && end.value.is_some());
    let mut both = words.filter_map(|end| Some((end, now.ends.iter().find(|it| it.at == end.at)?)));
    both.any(|(then, now)| now.value.is_some() && then.value != now.value)
}

fn of_core(
    kernel: &Kernel<'_>,
    moved: bool,
    alone: bool,
    wait: Option<(Party, WaitReason)>,
    lasting: &WaitGraph,
) -> Progress {
    let core = kernel.core;
    match &core.activity {
        Reading::Unread(_) => Progress::Unreachable,
        Reading::Unknown(_) | Reading::Absent => Progress::Unknown,
        Reading::Known(Activity::InReset) => Progress::InReset,
        Reading::Known(Activity::BaseFirmware | Activity::Waiting) => Progress::NeverStarted,
        Reading::Known(Activity::Done) => Progress::Ended,
        Reading::Known(Activity::Running) if has_returned(kernel) => Progress::Ended,
        Reading::Known(Activity::Running) => match wait {
            Some((on, reason)) => Progress::Waiting(on, reason),
            None if lasting.still.contains(&Party::Core(core.id)) => Progress::Still,
            None if moved => Progress::Progressing,
            None if kernel.waits_for_work() => Progress::Idle,
            None if kernel.executes_nothing() => Progress::Still,
            // Of a kernel without waypoints only samples say that it stands.
            None if alone || kernel.end.is_none() && kernel.tells_no_wait() => Progress::Unknown,
            None => Progress::Still,
        },
    }
}

/// Whether words of a core differ that change when its kernel moves, of those that both snapshots have.
/// The heartbeat is none: base firmware beats under a kernel that stands.
fn differ(before: &Kernel<'_>, now: &Kernel<'_>) -> bool {
    let words = |kernel: &Kernel<'_>| -> BTreeMap<u64, u64> {
        let known = kernel.core.words.iter();
        let own = known.filter(|word| !word.name.contains(WAYPOINT));
        own.filter_map(|word| Some((word.addr, *word.value.known()?))).collect()
    };
    if (&before.core.channels, &before.core.go) != (&now.core.channels, &now.core.go) {
        return true;
    }
    // Nearly all are equal: nothing is sorted for them.
    if before.core.words == now.core.words {
        return false;
    }
    let then = words(before);
    words(now).into_iter().any(|(addr, value)| then.get(&addr).is_some_and(|it| *it != value))
}

/// Returns the cores whose kernels run, and of which no word says what they wait for: samples of
/// their program counters do.
pub fn needs_samples(state: &MeshState) -> impl Iterator<Item = CoreId> {
    let cores = state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    let silent = cores.filter(|core| {
        core.activity == Reading::Known(Activity::Running) && core.waypoint_tells_no_wait()
    });
    silent.map(|core| core.id)
}

/// Returns the first lasting wait of each core, its channels' included.
fn waits_of(look: Look<'_>, lasting: &WaitGraph) -> BTreeMap<CoreId, (Party, WaitReason)> {
    let ends: BTreeMap<EthId, CoreId> =
        look.cores().filter_map(|(core, end)| Some((end?, core.id))).collect();
    let mut waits = BTreeMap::new();
    for wait in &lasting.all {
        let core = match wait.waiter {
            Party::Core(core) | Party::Client(core, _) | Party::Mux(core) => Some(core),
            Party::Router(at)
            | Party::Sender(at, _)
            | Party::Receiver(at, _)
            | Party::Channel(at, _) => ends.get(&at).copied(),
            _ => None,
        };
        if let Some(core) = core {
            waits.entry(core).or_insert((wait.on, wait.reason));
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;
    use decode::profile::{CoreProfile, ProfilePlace};
    use decode::state::CoreState;
    use images::{GoSignal, SourceLine};
    use layouts::{ChipId, CoreKind, NocXy};

    fn core(waypoint: Reading<String>) -> CoreState {
        let tile = NocXy { x: 1, y: 1 };
        CoreState {
            id: CoreId { chip: ChipId(0), tile, core: CoreKind::Brisc },
            activity: Reading::Known(Activity::Running),
            waypoint,
            location: Vec::new(),
            candidates: Vec::new(),
            go: Reading::Known(GoSignal::Go),
            launch: Reading::Absent,
            heartbeat: Reading::Absent,
            images: Vec::new(),
            findings: Vec::new(),
            channels: Vec::new(),
            words: Vec::new(),
            outlines: Vec::new(),
        }
    }

    #[test]
    fn a_kernel_without_waypoints_is_not_said_to_stand() {
        let of = |waypoint, moved| {
            let core = core(waypoint);
            let kernel = Kernel { core: &core, end: None, sampled: None };
            of_core(&kernel, moved, false, None, &WaitGraph::default())
        };
        let known = || Reading::Known("DWLW".to_owned());
        assert_eq!(of(known(), false), Progress::Still);
        assert_eq!(of(known(), true), Progress::Progressing);
        assert_eq!(of(Reading::Absent, false), Progress::Unknown);
        assert_eq!(of(Reading::Absent, true), Progress::Progressing);
    }

    #[test]
    fn samples_that_are_missing_do_not_say_that_a_core_moved() {
        let core = core(Reading::Absent);
        let waits = |function: &str| {
            let function = Some(function.to_owned());
            let lines = vec![SourceLine { function, file: None, line: None }];
            let (image, constants) = (None, Vec::new());
            let place =
                ProfilePlace { count: 4, certain: 4, pcs: vec![4], image, constants, lines };
            let (spin, missing) = (None, None);
            let (places, relays) = (vec![place], false);
            CoreProfile { core: core.id, samples: 4, span_cycles: 1, places, spin, relays, missing }
        };
        let (semaphore, barrier) = (waits("noc_semaphore_wait"), waits("noc_async_write_barrier"));
        let elsewhere = |then, now| {
            let kernel = |sampled| Kernel { core: &core, end: None, sampled };
            kernel(then).is_sampled_elsewhere(&kernel(now))
        };
        assert!(elsewhere(Some(&semaphore), Some(&barrier)));
        assert!(!elsewhere(Some(&semaphore), Some(&semaphore)));
        assert!(!elsewhere(Some(&semaphore), None) && !elsewhere(None, Some(&barrier)));
    }
}
