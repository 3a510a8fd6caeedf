//! What kernels wait for, by their own words: one file per kernel that is known by name.

mod ccl;
mod circular_buffers;
mod count;
mod dispatch;
mod edm;
mod niu;
mod program_semaphores;
mod race;
mod ring;
mod traffic;

pub(crate) use ccl::edm_of;
pub(crate) use circular_buffers::{
    Occupancy, asked, asks_too_much, buffer_wait, counters, has_returned, occupancies, waits_for,
};
pub(crate) use count::counts;
pub use count::{Count, semaphores};
pub(crate) use niu::{answers, outstanding, repeated, repeats, sends_again, waits_for_nothing};
pub(crate) use program_semaphores::{
    awaited, semaphore_values, semaphore_wait, spun_semaphore, waits_for_semaphore,
};
pub(crate) use ring::sibling;
pub(crate) use traffic::last_packet;

use crate::look::{Kernel, Look, peer};
use decode::state::{
    CoreState, LinkCondition, LinkState, Party, RouterState, Wait, WaitReason, Waits,
};
use layouts::{CoreId, CoreKind, EthId, NocXy};
use machine::place::Place;
use machine::snapshot::Span;
use machine::target::Mesh;
use std::collections::BTreeMap;

/// The waypoint of a kernel that was paused on request.
pub(crate) const PARKED: &str = "PASW";
/// Returns how a core was paused on request, by its waypoint or that of its router; none if it was not.
pub(crate) fn paused(core: &CoreState, router: Option<&RouterState>) -> Option<&'static str> {
    if core.waypoint.known().is_some_and(|code| code == PARKED) {
        return Some("it was paused (PASW) and not resumed");
    }
    let stage = router.and_then(RouterState::stage);
    stage
        .is_some_and(|stage| stage.name == "paused")
        .then_some("its router is paused and was not resumed")
}

/// The image of the worker of collectives.
const CCL_WORKER: &str = "ccl_worker";
/// The waypoint of firmware that waits for a go message.
pub(crate) const WAITS_FOR_GO: &str = "GW";
/// The waypoint of firmware that initialises.
pub(crate) const INITIALISES: &str = "I";
/// What is said of a core that still waits for it.
pub(crate) const NO_GO_TAKEN: &str = "it did not take its go message";

/// Collects the waits of all kernels in a snapshot.
pub(crate) struct Search<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) look: Look<'a>,
    pub(crate) kernels: BTreeMap<CoreId, Kernel<'a>>,
    waits: Waits,
}

/// Returns the waits of a snapshot: those of the fabric, and those of all other kernels.
pub(crate) fn waits(mesh: &Mesh, look: Look<'_>) -> Waits {
    let waits = look.state.fabric.waits.clone();
    let mut search = Search { mesh, look, kernels: look.kernels(), waits };
    let kernels: Vec<CoreId> = search.kernels.keys().copied().collect();
    for core in kernels {
        search.kernel(core);
    }
    let Waits { mut all, turns, notes, .. } = search.waits;
    all.sort_by_key(|wait| (wait.waiter, wait.on, wait.reason));
    all.dedup_by_key(|wait| (wait.waiter, wait.on, wait.reason));
    Waits { cycles: look.state.cycles, all, turns, notes }
}

impl<'a> Search<'a> {
    fn kernel(&mut self, id: CoreId) {
        let Some(kernel) = self.kernels.remove(&id) else { return };
        if kernel.waypoint() == WAITS_FOR_GO && id.core != CoreKind::Erisc {
            self.waits.notes.insert(Party::Core(id), NO_GO_TAKEN.into());
            self.turns(&kernel, kernel.mark());
        } else if kernel.waypoint() == PARKED {
            self.waits.notes.insert(Party::Core(id), "it was paused (PASW)".into());
        } else {
            match kernel.program() {
                "edm" => self.edm(&kernel),
                CCL_WORKER => self.ccl_worker(&kernel),
                "link_race" => self.link_race(&kernel),
                "ring_ping" => self.ring_ping(&kernel),
                _ if kernel.serves() => self.dispatch(&kernel),
                _ if kernel.end.is_none() => {
                    self.circular_buffers(self.mesh.layout(), &kernel);
                    self.semaphores(&kernel);
                }
                _ => {}
            }
        }
        self.kernels.insert(id, kernel);
    }

    fn add(&mut self, waiter: Party, on: Party, reason: WaitReason, mark: u64) {
        self.waits.all.push(Wait { waiter, on, reason, mark });
    }

    fn note(&mut self, party: Party, words: impl Into<String>) {
        self.waits.notes.entry(party).or_insert_with(|| words.into());
    }

    /// Notes that a kernel should make progress by itself: it stands still if this number does not
    /// change.
    fn turns(&mut self, kernel: &Kernel<'_>, turns: u64) {
        self.waits.turns.insert(Party::Core(kernel.core.id), turns);
    }

    fn core(place: Place, core: CoreKind) -> CoreId {
        CoreId { chip: place.chip, tile: place.tile, core }
    }

    /// Returns the BRISC of a tile of the same chip.
    fn brisc(kernel: &Kernel<'_>, tile: NocXy) -> CoreId {
        Self::core(Place { chip: kernel.core.id.chip, tile }, CoreKind::Brisc)
    }

    fn erisc(&self, end: EthId) -> Option<CoreId> {
        Some(Self::core(self.mesh.place(end).ok()?, CoreKind::Erisc))
    }

    /// Returns the kernel at an Ethernet tile.
    fn at(&self, end: EthId) -> Option<&Kernel<'a>> {
        self.kernels.get(&self.erisc(end)?)
    }

    /// Returns the party at the other end of a kernel's link: the link itself if that carries
    /// nothing, else the core there.
    fn other_end(&mut self, kernel: &Kernel<'_>) -> Option<Party> {
        let end = kernel.end?;
        if let Some(ailment) = self.ailment(end) {
            self.note(Party::Link(end), ailment);
            return Some(Party::Link(end));
        }
        let far = peer(self.mesh, end)?;
        Some(Party::Core(self.erisc(far)?))
    }

    fn link(&self, end: EthId) -> Option<&'a LinkState> {
        self.look.state.links.iter().find(|state| state.link.a == end || state.link.b == end)
    }

    /// Returns what is wrong with a link, if anything is known to be.
    fn ailment(&self, end: EthId) -> Option<&'static str> {
        match self.link(end)?.condition {
            LinkCondition::Down => Some("it is down"),
            LinkCondition::Disagree => Some("its ends disagree about its state"),
            LinkCondition::Up | LinkCondition::Unread => None,
        }
    }
}

/// Returns the words that say what the kernels of a snapshot wait for, and that its read set did
/// not have.
pub(crate) fn spans(mesh: &Mesh, look: Look<'_>) -> Vec<Span> {
    let search = Search { mesh, look, kernels: look.kernels(), waits: Waits::default() };
    let workers = search.kernels.values().filter(|kernel| kernel.name() == Some(CCL_WORKER));
    let of_workers = workers.flat_map(|kernel| search.spans_of_worker(kernel));
    let of_nius = search.kernels.values().flat_map(|kernel| niu::spans(mesh, look, kernel));
    let others =
        search.kernels.values().filter(|kernel| kernel.end.is_none() && !kernel.has_rules());
    let of_buffers = others.flat_map(|kernel| circular_buffers::spans(mesh.layout(), kernel));
    let launched = look.launched();
    let of_traffic = launched.values().filter_map(traffic::span);
    let of_semaphores = search.kernels.values().filter(|kernel| !kernel.has_rules());
    let of_semaphores = of_semaphores.filter_map(program_semaphores::span);
    let all = of_workers.chain(of_nius).chain(of_buffers).chain(of_traffic);
    all.chain(of_semaphores).collect()
}
