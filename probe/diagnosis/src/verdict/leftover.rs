//! Routers that serve although their peers have ended.

use super::Case;
use crate::condition::Condition;
use crate::finding::Finding;
use crate::look::peer;
use crate::place::Place;
use decode::state::{Activity, Party, RouterState};
use images::Reading;

impl Case<'_> {
    pub(super) fn leftovers(&self) -> Vec<Finding> {
        let routers = &self.last.state.fabric.routers;
        let serves = |router: &&RouterState| {
            router.activity == Reading::Known(Activity::Running)
                && router.facts.status.name() == Some("READY_FOR_TRAFFIC")
                && router.facts.termination.value().is_none_or(|signal| signal == 0)
        };
        let left = routers.iter().filter(serves).filter_map(|router| {
            let far = peer(self.mesh, router.at)?;
            let far = routers.iter().find(|other| other.at == far)?;
            let ended = far.facts.status.name() == Some("TERMINATED")
                || matches!(far.activity, Reading::Known(Activity::Done));
            ended.then_some((router, far))
        });
        let found = left.map(|(router, far)| {
            let words = format!(
                "router {} still serves, and its peer {} has ended: nobody told it to end",
                router.at, far.at
            );
            let on = Party::Router(router.at);
            self.finding(Condition::Leftover, Place::Router(router.at), on, words)
        });
        found.collect()
    }
}
