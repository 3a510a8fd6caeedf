//! What an earlier job left: routers that serve although their peers have ended, and firmware that was never
//! started.

use super::Case;
use crate::condition::{Condition, Severity};
use crate::finding::Finding;
use crate::kernels::has_returned;
use crate::look::peer;
use crate::place::Place;
use decode::state::{Activity, CoreState, Party, RouterState};
use images::{GoSignal, Reading};
use layouts::CoreId;
use machine::clients::Client;
use machine::words::counted;

impl Case<'_> {
    pub(super) fn leftovers(&self) -> Vec<Finding> {
        let routers = &self.last.state.fabric.routers;
        let left = routers.iter().filter(|it| serves(it)).filter_map(|router| {
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

    /// Returns a finding about routers that serve though no kernel is left that could use them, if
    /// whoever may have started them is known to have let go of the mesh.
    pub(super) fn abandoned(&self) -> Option<Finding> {
        let starter = self.last_writer_gone()?;
        if self.kernels.values().any(|kernel| kernel.end.is_none() && !has_returned(kernel)) {
            return None;
        }
        let routers: Vec<_> =
            self.last.state.fabric.routers.iter().filter(|it| serves(it)).collect();
        let first = routers.first()?.at;
        let words = format!(
            "{} that nobody uses and nobody told to end, the first is {first}; {starter}, which changed the mesh last, has let go of it",
            counted(routers.len() as u64, "router serves", "routers serve")
        );
        let (place, on) = (Place::Router(first), Party::Router(first));
        let mut finding = self.finding(Condition::Leftover, place, on, words);
        finding.severity = Severity::Unfinished;
        Some(finding)
    }

    /// Returns the client that changed the mesh last, if nobody is left that could go on.
    fn last_writer_gone(&self) -> Option<&Client> {
        let before = &self.last.state.before;
        let change = before.change.as_ref().filter(|_| before.writer.is_none())?;
        self.last.state.processes.is_empty().then_some(&change.client)
    }

    /// Returns a finding about the Ethernet cores whose application was loaded and not started in any
    /// snapshot, if whoever may have loaded it is known to have let go of the mesh.
    pub(super) fn loaded(&self) -> Option<Finding> {
        let loader = self.last_writer_gone()?;
        let waits = |core: &CoreState| {
            core.activity == Reading::Known(Activity::Waiting)
                && core.go == Reading::Known(GoSignal::Init)
        };
        let lasts =
            |id: CoreId| self.looks.iter().all(|look| look.state.core(id).is_some_and(waits));
        let loaded = self.last.cores().filter(|(core, end)| end.is_some() && lasts(core.id));
        let cores: Vec<CoreId> = loaded.map(|(core, _)| core.id).collect();
        let first = *cores.first()?;
        let words = format!(
            "the firmware of {} was loaded and never started, the first is {first}; {loader}, which changed the mesh last, has let go of it",
            counted(cores.len() as u64, "Ethernet core", "Ethernet cores")
        );
        let (place, on) = (Place::Core(first), Party::Core(first));
        let mut finding = self.finding(Condition::Leftover, place, on, words);
        finding.severity = Severity::Unfinished;
        Some(finding)
    }
}

/// Whether a router serves and was not told to end.
fn serves(router: &RouterState) -> bool {
    router.activity == Reading::Known(Activity::Running)
        && router.facts.status.name() == Some("READY_FOR_TRAFFIC")
        && router.facts.termination.value().is_none_or(|signal| signal == 0)
}
