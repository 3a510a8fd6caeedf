//! Sending workers, a mux, a router, its peer, and a receiving worker, on an emulated n300.
#![allow(unreachable_pub, dead_code, reason = "a module of a test")]

use crate::common::{built, idle};
use access::bar_target::BarTarget;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::FabricState;
use fabric::mux::{Mux, Policy};
use fabric::traffic::{PacketSpec, Route, SendType, Termination, Traffic, WorkerId};
use fabric::{Fabric, FabricPlan, FabricRequest, FabricSettings, Router, connection};
use images::ImageMap;
use layouts::NocXy;
use machine::fabric::MuxCore;
use machine::fabric::{FabricNode, FabricTopology};
use machine::fault::{Fault, FaultKind, LinkFault};
use machine::place::Place;
use machine::target::Target;
use probe::session::Session;
use workloads::scene::Scene;

pub struct Bench<const N: usize> {
    pub target: BarTarget,
    pub images: ImageMap,
    pub router: Router,
    /// The other end of its link.
    pub far: Router,
    pub mux: Mux,
    pub traffic: Traffic,
    pub senders: [WorkerId; N],
    pub receiver: WorkerId,
}

/// Bytes of a one-dimensional header.
const HEADER: u32 = 64;

impl<const N: usize> Bench<N> {
    /// Makes a bench with its fabric up and nothing else launched.
    pub fn new(policy: Policy, packets: [u32; N]) -> Self {
        let (mut target, mut images) = built(&Scene { seed: 5, ..idle("n300") });
        let request = FabricRequest::new(FabricTopology::Line);
        let plan = FabricPlan::new(target.mesh(), &request).unwrap();
        let first = FabricNode { mesh: 0, device: 0 };
        let router = *plan.routers.iter().find(|router| router.node == first).unwrap();
        let far = *plan.routers.iter().find(|other| other.eth == router.peer).unwrap();
        // No time-out: clients wait for a link as long as the test runs.
        let settings = FabricSettings { unrouted_timeout_cycles: 0, ..FabricSettings::default() };
        let mut fabric = Fabric::new(plan.clone(), settings);
        fabric.finish(&mut target, &mut images, 2_000).unwrap();
        let tile = |node: FabricNode, n: usize| {
            let chip = target.mesh().chip(plan.chip(node).unwrap()).unwrap();
            let rows = (1..12u8).filter(|y| *y != 6 && chip.is_fused_off(*y) == Some(false));
            let tile = rows.map(|y| NocXy { x: 1, y }).nth(n).unwrap();
            Place { chip: chip.id, tile }
        };
        let mux = Mux {
            place: tile(first, N),
            core: MuxCore::Tensix,
            policy,
            channels: N as u32,
            buffer_count: 2,
            header_bytes: HEADER,
            router: connection(&images, &plan, &router).unwrap(),
        };
        let mut traffic = Traffic::new(plan.layout(), false);
        let senders = std::array::from_fn(|n| traffic.add_worker(tile(first, n), first));
        let receiver = traffic.add_worker(tile(router.neighbor, 0), router.neighbor);
        let signal = mux.word(&images, "termination_signal").unwrap();
        let ends =
            Termination { master: senders[0], master_connection: 0, clients: N as u32, signal };
        for (n, id) in senders.into_iter().enumerate() {
            let channel = mux.connection(&images, n as u32).unwrap();
            traffic.connect(id, channel, Some(ends)).unwrap();
            let (send, route) = (SendType::Fused, Route::Hops(1, 1));
            for _ in 0..packets[n] {
                let shipment = PacketSpec {
                    connection: 0,
                    send,
                    bytes: 512,
                    ttl: 8,
                    route,
                    control: false,
                    arrives: true,
                };
                traffic.send(id, &[receiver], shipment).unwrap();
            }
        }
        Self { target, images, router, far, mux, traffic, senders, receiver }
    }

    pub fn launch_receiver(&mut self) {
        self.launch(self.receiver);
    }

    /// Launches the mux and lets it become ready for traffic.
    pub fn launch_mux(&mut self) {
        self.mux.launch(&mut self.images, 1).unwrap().finish(&mut self.target).unwrap();
        self.target.pass(50_000).unwrap();
    }

    /// Launches the senders one after the other.
    pub fn launch_senders(&mut self) {
        for id in self.senders {
            self.launch(id);
            self.target.pass(100_000).unwrap();
        }
    }

    fn launch(&mut self, id: WorkerId) {
        let launch = self.traffic.launch(&mut self.images, id, 1, &[]).unwrap();
        launch.finish(&mut self.target).unwrap();
    }

    pub fn cut(&mut self) {
        let from_cycles = self.target.now().unwrap();
        let fault = FaultKind::Link(self.router.eth, LinkFault::Down);
        self.target.disrupt(&Fault { kind: fault, from_cycles, until_cycles: None }).unwrap();
    }

    pub fn place(&self, id: WorkerId) -> Place {
        self.traffic.place(id).unwrap()
    }

    /// Returns a session of a client that does not know what was launched.
    pub fn into_session(self) -> Session {
        Session::with_target(Box::new(self.target), ImageMap::firmware().0)
    }
}

/// Inspects until the read set does not grow. Returns the fabric and the number of snapshots.
pub fn inspected(session: &mut Session) -> (FabricState, usize) {
    let mut read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    for snapshots in 1..10 {
        let fabric = session.inspect(&read_set).state.fabric;
        let next = fabric_read_set(&fabric, &read_set);
        if next == read_set {
            return (fabric, snapshots);
        }
        read_set = next;
    }
    panic!("every snapshot extends the read set");
}
