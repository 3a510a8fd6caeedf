//! Collectives over a fabric, some with muxes in front of its routers.

use super::Staged;
use super::collective::{Collective, Length, OPS, TILES, draw_over};
use super::ground::{Bed, Ground, Meshes, brisc, erisc};
use super::routers::router_root;
use collectives::{FabricOptions, Program, Transport};
use diagnosis::{Condition, Place as Root};
use fabric::Router;
use fabric::mux::Policy;
use launch::ControlError;
use machine::fabric::MuxCore;
use machine::fault::CoreFault;
use workloads::scene::SceneError;

const MESHES: Meshes = &[("n300", 3), ("t3000", 2)];

fn draw(bed: &mut Bed, length: Length) -> Result<Program, SceneError> {
    let policy = bed.one(&Policy::ALL, "policy of a mux")?;
    let core = if bed.dice.below(3) == 0 { MuxCore::Ethernet } else { MuxCore::Tensix };
    let options = FabricOptions { policy, core, ..FabricOptions::default() };
    draw_over(bed, &OPS, length, Transport::Fabric(options))
}

fn begun(ground: Ground) -> Result<Collective, SceneError> {
    let mut bed = ground.boot(MESHES, TILES)?;
    let program = draw(&mut bed, Length::Middle)?;
    Collective::launch(bed, program, None)?.run_on()
}

pub(super) fn worker_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = begun(ground)?;
    let core = brisc(run.worker()?);
    run.bed.say(format!("core {core} is stuck"));
    run.bed.core_fault(core, CoreFault::Stuck)?;
    run.core_stands(Condition::CoreStuck, core)
}

/// A router that a worker or mux hands its packets to executes nothing more.
pub(super) fn router_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let Collective { mut bed, program } = begun(ground)?;
    let none = || ControlError::Settings("the collective uses no fabric".to_owned());
    let crossing = program.crossing.ok_or_else(none)?;
    let clients = crossing.clients();
    let used = |router: &&Router| clients.contains_key(&router.eth);
    let used: Vec<Router> = crossing.plan.routers.iter().filter(used).copied().collect();
    let router = bed.one(&used, "router")?;
    bed.say(format!("router {router} is stuck"));
    bed.core_fault(erisc(router.place), CoreFault::Stuck)?;
    let root: Vec<Root> = router_root(&router);
    bed.hung(Condition::CoreStuck, root)
}

pub(super) fn healthy(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(MESHES, TILES)?;
    let program = draw(&mut bed, Length::Long)?;
    Collective::launch(bed, program, None)?.bed.healthy()
}
