//! The routers' counters before and after a round.

use super::settings;
use fabric::{FabricPlan, Router, router_counters};
use images::ImageMap;
use launch::ControlError;
use layouts::EthId;
use machine::target::Target;
use workloads::scene::SceneError;

/// Time within which all routers must use their own links again, in cycles.
const SETTLE_CYCLES: u64 = 20_000_000;
/// Interval between two polls, in cycles.
const POLL_CYCLES: u64 = 20_000;

/// Returns one end of each link that has a fallback link and has carried packets since `before`.
pub(super) fn links(plan: &FabricPlan, sent: &[u64], before: &[u64]) -> Vec<EthId> {
    let busy = |router: &Router| {
        let grown = |end: EthId| {
            let at = plan.routers.iter().position(|router| router.eth == end)?;
            Some(sent.get(at)? > before.get(at)?)
        };
        grown(router.eth) == Some(true) || grown(router.peer) == Some(true)
    };
    let once = |router: &&Router| router.eth < router.peer && !plan.fallbacks(router).is_empty();
    plan.routers.iter().filter(once).filter(|router| busy(router)).map(|r| r.eth).collect()
}

struct Counters {
    members: Vec<String>,
}

impl Counters {
    const ROUTE: [&'static str; 3] = ["link", "packets_rerouted", "packets_resent"];

    fn read(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        plan: &FabricPlan,
    ) -> Result<Vec<Vec<u32>>, ControlError> {
        let members: Vec<&str> = self.members.iter().map(String::as_str).collect();
        router_counters(target, images, plan, &members)
    }
}

/// Returns the packets that each router has sent, over all its channels.
pub(super) fn sent(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<Vec<u64>, ControlError> {
    let members = (0..6).map(|channel| format!("senders[{channel}].packets_sent")).collect();
    let all = Counters { members }.read(target, images, plan)?;
    Ok(all.iter().map(|values| values.iter().map(|&value| u64::from(value)).sum()).collect())
}

/// Waits until every router uses its own link. Returns the numbers of rerouted and resent packets.
pub(super) fn settled_counters(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<[u64; 2], SceneError> {
    let route = Counters { members: Counters::ROUTE.map(str::to_owned).to_vec() };
    let until = target.now()? + SETTLE_CYCLES;
    loop {
        let all = route.read(target, images, plan)?;
        let sum = |at: usize| all.iter().filter_map(|v| v.get(at)).map(|&v| u64::from(v)).sum();
        if all.iter().all(|values| values.first() == Some(&0)) {
            return Ok([sum(1), sum(2)]);
        }
        if target.now()? >= until {
            let lost = plan.routers.iter().zip(&all).find(|(_, v)| v.first() != Some(&0));
            let lost = lost.map_or_else(|| "a router".to_owned(), |(router, _)| router.to_string());
            return Err(settings(format!("{lost} does not use its own link again")));
        }
        target.pass(POLL_CYCLES)?;
    }
}
