//! Two workers, a mux, a router, its peer, and a worker that receives: one run of them.

use super::mux::{Case, Congestion, Limits};
use crate::ccl::idle_tiles;
use crate::ccl::records::size;
use crate::control::{
    ControlError, Firmware, Operation, Place, compute_tiles, go_kernel, image, start_application,
};
use crate::fabric::mux::{Mux, MuxCore, Policy};
use crate::fabric::traffic::{Route, SendType, Shipment, Termination, Traffic, WorkerId};
use crate::fabric::traffic_outcome::Outcome;
use crate::fabric::{
    Fabric, FabricNode, FabricPlan, FabricRequest, FabricSettings, FabricTopology, Router,
    connection,
};
use crate::fault::{Fault, LinkFault, What};
use crate::images::{ImageMap, Spot};
use crate::machine::BarTarget;
use crate::scene::{Scene, SceneError, Workload};
use crate::snapshot::{Plan, Span};
use crate::target::Target;

/// Between two polls of a bring-up.
const STEP_CYCLES: u64 = 2_000;
/// Looks at a run until it is given up.
const LOOKS: u64 = 2_000;
/// `EDMStatus` of a mux that has ended, and `fabric_traffic_phase_t` of a worker that waits for its close.
const TERMINATED: u64 = 0xA4B4_C4D4;
const CLOSING: u32 = 3;

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    pub(super) cycles: u64,
    pub(super) over: bool,
    pub(super) starved: bool,
    pub(super) longest_wait_cycles: u64,
    pub(super) chain: Vec<String>,
}

/// A line of chips with its fabric up.
pub(super) struct Bench {
    target: BarTarget,
    images: ImageMap,
    plan: FabricPlan,
    router: Router,
    tiles: [Place; 4],
    core: MuxCore,
    run_id: u32,
}

/// A run under way.
struct Cast {
    traffic: Traffic,
    mux: Mux,
    senders: [WorkerId; 2],
    receiver: WorkerId,
}

impl Bench {
    pub(super) fn new(mesh: &str, seed: u64, core: MuxCore) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(mesh) };
        let mut target = scene.build(&mut images)?;
        let settings = |why: String| ControlError::Settings(why);
        let request = FabricRequest::new(FabricTopology::Line);
        let plan = FabricPlan::new(target.mesh(), &request).map_err(|e| settings(e.to_string()))?;
        let first = FabricNode { mesh: 0, device: 0 };
        let router = plan.routers.iter().find(|router| router.node == first).copied();
        let router = router.ok_or_else(|| settings("the fabric has no router".to_owned()))?;
        let tile = |node: FabricNode, n: usize| {
            let chip = plan.chip(node).and_then(|chip| target.mesh().chip(chip));
            let tile = chip.and_then(|chip| compute_tiles(chip).nth(n));
            tile.ok_or_else(|| settings(format!("{node} has too few compute tiles")))
        };
        let mut tiles =
            [tile(first, 0)?, tile(first, 1)?, tile(first, 2)?, tile(router.neighbor, 0)?];
        if core == MuxCore::Ethernet {
            let idle = idle_tiles(target.mesh(), router.eth.chip).first().copied();
            let none = || settings(format!("{first} has no Ethernet tile without a link"));
            tiles[2] = idle.ok_or_else(none)?;
            let start = start_application(&mut images, Firmware::OURS, tiles[2])?;
            start.finish(&mut target)?;
        }
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::Run)?;
        Ok(Self { target, images, plan, router, tiles, core, run_id: 0 })
    }

    fn cast(&self, case: &Case, policy: Policy) -> Result<Cast, ControlError> {
        let header = size(&*image(&self.images, "fabric_traffic")?, "LowLatencyPacketHeader")?;
        let [a, b, place, far] = self.tiles;
        let mux = Mux {
            place,
            core: self.core,
            policy,
            channels: 2,
            buffer_count: case.slots,
            header_bytes: header as u32,
            router: connection(&self.images, &self.plan, &self.router)?,
        };
        let mut traffic = Traffic::new(false);
        let senders = [a, b].map(|tile| traffic.add_worker(tile, self.router.node));
        let receiver = traffic.add_worker(far, self.router.neighbor);
        let signal = mux.word(&self.images, "termination_signal")?;
        let ends = Termination { master: senders[0], master_connection: 0, clients: 2, signal };
        for (n, id) in senders.into_iter().enumerate() {
            let channel = mux.connection(&self.images, n as u32)?;
            traffic.connect(id, channel, Some(ends))?;
            traffic.behave(id, case.interval_cycles[n], false)?;
            let (send, route) = (SendType::Fused, Route::Hops(1, 1));
            let (bytes, ttl, control, arrives) = (case.bytes[n], 8, false, true);
            for _ in 0..case.packets[n] {
                let shipment =
                    Shipment { connection: 0, send, bytes, ttl, route, control, arrives };
                traffic.send(id, &[receiver], shipment)?;
            }
        }
        Ok(Cast { traffic, mux, senders, receiver })
    }

    /// Runs a case until it is over or the limit is reached. One that is not over leaves a bench that nobody can use.
    pub(super) fn run(
        &mut self,
        case: &Case,
        policy: Policy,
        ails: Option<Congestion>,
        limits: Limits,
    ) -> Result<Observed, SceneError> {
        self.run_id += 1;
        let cast = self.cast(case, policy)?;
        let Cast { traffic, mux, senders, receiver } = &cast;
        mux.launch(&mut self.images, self.run_id)?.finish(&mut self.target)?;
        let (mut places, mut gos) = (Vec::new(), Vec::new());
        for id in [receiver].into_iter().chain(senders) {
            places.push(traffic.place_kernel(&mut self.images, *id, self.run_id, &[])?);
            gos.push(go_kernel(&self.images, Firmware::OURS.tensix[0], traffic.place(*id)?)?);
        }
        Operation::finish_all(places, &mut self.target)?;
        Operation::finish_all(gos, &mut self.target)?;
        let start = self.target.now()?;
        if let Some(Congestion { fault, from_cycles, cycles }) = ails {
            let from = start + from_cycles;
            self.disrupt(fault, from, Some(from + cycles))?;
        }
        let mut observed = self.watch(case, &cast, start, limits)?;
        for channel in 0..2 {
            let member = format!("channels[{channel}].longest_wait_cycles");
            let wait = self.mux_value(mux, &member)?;
            observed.longest_wait_cycles = observed.longest_wait_cycles.max(wait);
        }
        if observed.over {
            let now = self.target.now()?;
            self.disrupt(LinkFault::Up, now, None)?;
            self.receive(&cast, &mut observed)?;
        }
        Ok(observed)
    }

    /// The far chip can be asked only when its link is well again, and not at once then: has everything arrived?
    fn receive(&mut self, cast: &Cast, observed: &mut Observed) -> Result<(), SceneError> {
        let mut last = None;
        for _ in 0..LOOKS {
            last = match self.outcome(cast, cast.receiver) {
                Ok(outcome) => Some(outcome),
                Err(ControlError::Access { .. }) => last,
                Err(error) => return Err(error.into()),
            };
            if last.is_some_and(|outcome| outcome.is_finished()) {
                break;
            }
            self.target.pass(STEP_CYCLES)?;
        }
        let last = last.unwrap_or_default();
        observed.over = last.is_finished() && last.wrong_words == 0;
        if !observed.over {
            let Outcome { arrived, wrong_words, .. } = last;
            observed.chain.push(format!(
                "the far worker has {arrived} packets with {wrong_words} wrong words and waits for the rest"
            ));
        }
        Ok(())
    }

    /// A late acknowledge is one of the other end.
    fn disrupt(
        &mut self,
        fault: LinkFault,
        from_cycles: u64,
        until_cycles: Option<u64>,
    ) -> Result<(), SceneError> {
        let late = matches!(fault, LinkFault::SlowAck { .. });
        let end = if late { self.router.peer } else { self.router.eth };
        let what = What::Link(end, fault);
        Ok(self.target.disrupt(&Fault { what, from_cycles, until_cycles })?)
    }

    fn watch(
        &mut self,
        case: &Case,
        cast: &Cast,
        start: u64,
        limits: Limits,
    ) -> Result<Observed, SceneError> {
        let mut observed = Observed::default();
        let mut waiting = [None; 2];
        loop {
            self.target.pass(limits.never / LOOKS)?;
            let now = self.target.now()?;
            observed.cycles = now - start;
            let mut over = true;
            for (n, id) in cast.senders.into_iter().enumerate() {
                let outcome = self.outcome(cast, id)?;
                over &= outcome.is_finished();
                let closing = outcome.phase == CLOSING;
                let since = closing.then(|| waiting[n].unwrap_or(now));
                waiting[n] = since;
                let starves = since.is_some_and(|since| now - since > limits.starve);
                if starves && !observed.starved {
                    observed.starved = true;
                    observed.chain = self.chain(case, cast)?;
                }
            }
            over = over && self.mux_word(&cast.mux, "status")? == TERMINATED;
            if over || observed.cycles > limits.never {
                observed.over = over;
                if !over && observed.chain.is_empty() {
                    observed.chain = self.chain(case, cast)?;
                }
                return Ok(observed);
            }
        }
    }

    fn outcome(&mut self, cast: &Cast, id: WorkerId) -> Result<Outcome, ControlError> {
        cast.traffic.outcome(&mut self.target, &self.images, id)
    }

    /// Who waits for whom, from the clients to the link.
    fn chain(&mut self, case: &Case, cast: &Cast) -> Result<Vec<String>, ControlError> {
        let mut chain = Vec::new();
        for (n, id) in cast.senders.into_iter().enumerate() {
            let Outcome { phase, sent, .. } = self.outcome(cast, id)?;
            let place = cast.traffic.place(id)?;
            let of = case.packets[n];
            let forwarded =
                self.mux_value(&cast.mux, &format!("channels[{n}].packets_forwarded"))?;
            let waits = match phase {
                2 => "waits for a slot of the mux (FWSW)",
                3 => "waits until the mux answers its close (FCFW)",
                7 => "waits for the other client of the mux (NSMW)",
                4 => "has ended",
                _ => "goes on",
            };
            chain.push(format!(
                "worker {place} {waits}: {sent} of {of} packets sent, {forwarded} forwarded"
            ));
        }
        let holder = self.mux_value(&cast.mux, "holder")?;
        let place = cast.mux.place;
        chain.push(if holder < 2 {
            format!("mux {place} waits for a slot of the router for channel {holder} (FWSW)")
        } else {
            format!("mux {place} goes round its channels")
        });
        let (place, kernel) = (self.router.place, self.plan.topology.router());
        let mut counts = Vec::new();
        for path in [
            "fabric_router_state.senders[0].packets_sent",
            "fabric_router_state.senders[0].packets_completed",
            "fabric_router::remotes[0].free_slots",
        ] {
            counts.push(self.value(place, kernel, path)?);
        }
        if let [sent, completed, free] = counts[..] {
            let eth = self.router.eth;
            chain.push(format!(
                "router {eth} has sent {sent} packets of this channel, {completed} are completed, and the peer has {free} free slots"
            ));
        }
        Ok(chain)
    }

    fn mux_value(&mut self, mux: &Mux, member: &str) -> Result<u64, ControlError> {
        self.value(mux.place, mux.kernel(), &format!("fabric_mux_state.{member}"))
    }

    fn mux_word(&mut self, mux: &Mux, member: &str) -> Result<u64, ControlError> {
        let at = mux.word(&self.images, member)?;
        self.bytes(mux.place, at.into(), 4)
    }

    fn value(&mut self, place: Place, kernel: &str, path: &str) -> Result<u64, ControlError> {
        let missing = |_| ControlError::NoMember(kernel.to_owned(), path.to_owned());
        let found = image(&self.images, kernel)?.symbols.locate(path).map_err(missing)?;
        self.bytes(place, found.address(), found.field.size.min(8) as u32)
    }

    fn bytes(&mut self, place: Place, at: u64, len: u32) -> Result<u64, ControlError> {
        let addr = place.at(at);
        let shot = self.target.read(&Plan { spans: vec![Span { addr, len }] });
        let bytes =
            shot.bytes(addr, len).map_err(|reason| ControlError::Access { addr, reason })?;
        Ok(Spot::value(bytes))
    }
}
