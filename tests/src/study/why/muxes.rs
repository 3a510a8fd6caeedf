//! Muxes that starve their clients, and muxes that do not.

use super::Staged;
use super::ground::{Bed, Ground, Meshes, brisc, erisc};
use diagnosis::{Condition, Place as Root};
use layouts::CoreId;
use machine::fabric::MuxCore;
use machine::place::Place;
use workloads::mux::{Case, Congestion, CongestionFault, MuxSetup, MuxWait, StagedMux, stage};
use workloads::scene::SceneError;

/// Workers of each mux.
const WORKERS: u64 = 8;
const MESHES: Meshes = &[("n300", 4), ("t3000", 1)];
/// The longest healthy run: packets of all workers of a mux, each 10 us.
const HEALTHY_CYCLES: u64 = 500_000;

/// The parameters of a run.
struct Draw {
    core: MuxCore,
    workers: usize,
    mesh: &'static str,
}

impl Draw {
    fn new(ground: &mut Ground) -> Self {
        let core = if ground.dice.below(3) == 0 { MuxCore::Ethernet } else { MuxCore::Tensix };
        let workers = (3 + ground.dice.below(WORKERS - 2)) as usize;
        Self { core, workers, mesh: ground.mesh(MESHES) }
    }

    fn setup(&self, seed: u64) -> MuxSetup<'static> {
        MuxSetup { mesh: self.mesh, core: self.core, workers: self.workers, links: Some(1), seed }
    }

    fn core(&self, place: Place) -> CoreId {
        if self.core == MuxCore::Tensix { brisc(place) } else { erisc(place) }
    }

    /// Stages a run, and takes its mesh. Returns also its muxes and senders.
    fn stage(
        &self,
        ground: Ground,
        case: &Case,
        wait: MuxWait,
        congestion: Option<&Congestion>,
    ) -> Result<(Bed, [Vec<Place>; 2]), SceneError> {
        let staged = stage(&self.setup(ground.seed), case, wait, congestion)?;
        let StagedMux { target, images, muxes, senders, kernels } = staged;
        let mut bed = ground.bed(self.mesh, target, images);
        for (place, kernel) in kernels {
            bed.counts(place, kernel)?;
        }
        bed.say(format!("{} workers of a mux that waits {}", self.workers, wait.name));
        Ok((bed, [muxes, senders.into_iter().flatten().collect()]))
    }
}

/// Packets of each client of a mux that is to starve them.
const LEAST_PACKETS: u32 = 200;
/// Payload of their packets, in bytes.
const MOST_BYTES: u32 = 256;

/// The router's slots come back late, and the mux waits for them with one packet while it has
/// others.
pub(super) fn starvation(mut ground: Ground) -> Result<Staged, SceneError> {
    let draw = Draw::new(&mut ground);
    let naive = ["unbounded", "unbounded_teardown"];
    let naive: Vec<MuxWait> =
        MuxWait::ALL.into_iter().filter(|wait| naive.contains(&wait.name)).collect();
    let wait = ground.dice.one(&naive).unwrap_or(MuxWait::ALL[0]);
    let mut case = Case::draw(&mut ground.dice, 1, draw.workers);
    // A client that has sent everything is not starved; what all send must have room.
    case.bytes = case.bytes.min(MOST_BYTES);
    for packets in case.packets.iter_mut().flatten() {
        *packets = (*packets).max(LEAST_PACKETS);
    }
    let healthy = HEALTHY_CYCLES * draw.workers as u64 / WORKERS;
    let from_cycles = healthy / 20 + ground.dice.below(healthy / 4);
    let delay_cycles = 120_000_000 + ground.dice.below(200_000_000);
    let fault = CongestionFault::LateCredits { delay_cycles };
    let congestion = Congestion { fault, links: 1, from_cycles, cycles: None };
    let (mut bed, [muxes, _]) = draw.stage(ground, &case, wait, Some(&congestion))?;
    bed.say(congestion.to_string());
    let root = muxes.into_iter().map(|mux| Root::Core(draw.core(mux))).collect();
    bed.hung(Condition::MuxStarvation, root)
}

/// A mux that waits for its router without a slot as long as it has to, and workers with pauses.
pub(super) fn fair(mut ground: Ground) -> Result<Staged, SceneError> {
    let draw = Draw::new(&mut ground);
    let fair = ["no_wait", "bounded_32768", "bounded_256"];
    let fair: Vec<MuxWait> =
        MuxWait::ALL.into_iter().filter(|wait| fair.contains(&wait.name)).collect();
    let wait = ground.dice.one(&fair).unwrap_or(MuxWait::ALL[1]);
    let mut case = Case::draw(&mut ground.dice, 1, draw.workers);
    case.bytes = 64;
    for packets in case.packets.iter_mut().flatten() {
        *packets = 200 + ground.dice.below(100) as u32;
    }
    for interval in case.interval_cycles.iter_mut().flatten() {
        *interval = 500_000 + ground.dice.below(500_000) as u32;
    }
    let (bed, _) = draw.stage(ground, &case, wait, None)?;
    bed.healthy()
}

/// A worker ends without closing its channel, so that nobody ends the mux.
pub(super) fn client_crashes(mut ground: Ground) -> Result<Staged, SceneError> {
    let draw = Draw::new(&mut ground);
    let wait = ground.dice.one(&MuxWait::ALL).unwrap_or(MuxWait::ALL[0]);
    let mut case = Case::draw(&mut ground.dice, 1, draw.workers);
    let crashes = ground.dice.below(draw.workers as u64) as usize;
    case.crashes = Some((0, crashes));
    let (mut bed, [_, senders]) = draw.stage(ground, &case, wait, None)?;
    let none = || SceneError::Wrong("the mux has too few clients".to_owned());
    let place = *senders.get(crashes).ok_or_else(none)?;
    bed.say(format!("client {place} ends without closing its channel"));
    bed.hung(Condition::IncrementNeverSent, vec![Root::Core(brisc(place))])
}
