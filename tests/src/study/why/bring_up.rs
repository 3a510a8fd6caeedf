//! Fabrics that come up, or go down, only in part.

use super::Staged;
use super::ground::{ANY, Ground, link_root};
use super::routers::{Load, Routed, TILES, draw, link_of, router_root};
use diagnosis::{Condition, Place as Root};
use fabric::Router;
use launch::constant_of;
use machine::fault::LinkFault;
use machine::target::Target;
use workloads::scene::SceneError;

/// Time within which all routers have met.
const MEET_CYCLES: u64 = 2_000_000;

pub(super) fn missing(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let plan = draw(&mut bed, true)?;
    let missing = bed.one(&plan.routers, "router")?;
    bed.say(format!("router {missing} is not launched"));
    let mut routed = Routed::new(bed, plan)?;
    routed.launch(Some(missing.place), |_| Ok(()))?;
    routed.bed.hung(Condition::BringUpStopped, router_root(&missing))
}

pub(super) fn link_down(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let plan = draw(&mut bed, true)?;
    let mut routed = Routed::new(bed, plan)?;
    let router = routed.bed.one(&routed.plan.routers, "router")?;
    let link = link_of(&router);
    routed.bed.say(format!("link {}-{} is down from before the launch", link.a, link.b));
    routed.bed.link_fault(link.a, LinkFault::Down)?;
    routed.launch(None, |_| Ok(()))?;
    routed.bed.hung(Condition::LinkDown, link_root(link))
}

/// The routers have met, and no host makes them ready for traffic.
pub(super) fn without_host(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let plan = draw(&mut bed, true)?;
    let mut routed = Routed::new(bed, plan)?;
    routed.launch(None, |_| Ok(()))?;
    routed.bed.say("its host ends before it makes the routers ready");
    routed.bed.hung(Condition::HostAwaited, vec![Root::Host])
}

/// A host ends after it has told only some chips to end.
pub(super) fn teardown_half_done(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let plan = draw(&mut bed, true)?;
    let mut routed = Routed::up(bed, plan)?;
    let image = routed.plan.router_image();
    let word = constant_of(&routed.bed.images, image, "termination_signal_addr")?;
    let gracefully = constant_of(&routed.bed.images, image, "GRACEFULLY_TERMINATE")?;
    let mut masters: Vec<Router> = routed.plan.masters().copied().collect();
    routed.bed.dice.shuffle(&mut masters);
    let told = 1 + routed.bed.dice.below(masters.len() as u64 - 1) as usize;
    let untold = masters.split_off(told);
    for master in masters {
        routed.bed.put(master.place, word.into(), gracefully)?;
    }
    routed.bed.say(format!("its host ends after it has told {told} chips to end"));
    let untold = |router: &&Router| untold.iter().any(|other| other.node == router.node);
    let root = routed.plan.routers.iter().filter(untold).flat_map(router_root).collect();
    routed.bed.hung(Condition::Leftover, root)
}

/// Somebody parks a router before it takes traffic.
pub(super) fn router_paused(ground: Ground) -> Result<Staged, SceneError> {
    /// The stage that moves packets.
    const TRAFFIC: u32 = 5;
    let mut bed = ground.boot(ANY, TILES)?;
    let plan = draw(&mut bed, true)?;
    let image = plan.router_image();
    let mut routed = Routed::new(bed, plan)?;
    let router = routed.router()?;
    routed.launch(None, |bed| {
        let arguments = bed.images.layout().eth.l1.kernel_config.at;
        let at = arguments + bed.offset(image, "fabric_router_args_t.pause_at_stage")?;
        bed.put(router.place, at, TRAFFIC)
    })?;
    routed.bed.target.pass(MEET_CYCLES)?;
    routed.make_ready()?;
    routed.bed.say(format!("router {router} is paused and forgotten"));
    routed.send(Load::MIDDLE)?;
    routed.bed.hung(Condition::Paused, router_root(&router))
}
