//! The routers: their compile-time and runtime arguments, as tt-metal's host computes them
//! (`FabricEriscDatamoverBuilder`), and the words of their L1.

use super::arguments::Arguments;
use super::compile::{Build, Source};
use super::l1::RouterL1;
use super::sources::Sources;
use super::tables::{direction_code, routing_info};
use super::{BuildError, Fabric, Settings, tile};
use fabric::Router;
use machine::fabric::Direction;
use workloads::scene::tt_fabric::{Kernel, L1Words, MetalRouter};

/// The limits for which tt-metal's sources are written.
const MOST_SENDERS: u32 = 10;
const MOST_RECEIVERS: u32 = 3;
const MOST_VCS: u32 = 3;
/// The stream of a counter that does not exist.
const NO_STREAM: u32 = 32;
/// The streams whose scratch registers synchronise retrains and the end; also those of a relay.
const RETRAIN_STREAM: u32 = 30;
const TEARDOWN_STREAM: u32 = 31;
/// Rounds of the main loop between two yields to base firmware: idle ones, and any on the
/// link of an edge that dispatch uses.
const SWITCH_INTERVAL: u32 = 10_000;
const DISPATCH_SWITCH_INTERVAL: u32 = 16;
/// The first of two virtual channels of the NoC, which alternate with the planes.
const NOC_VC: u32 = 2;
/// NoC command buffers.
const WRITE: u32 = 0;
const READ: u32 = 1;
const WRITE_REGISTER: u32 = 2;
const ATOMIC: u32 = 3;
/// Tags between blocks of positional arguments.
const CHANNELS: u32 = 0xABCD_1234;
const REMOTE_CHANNELS: u32 = 0xABAD_DAD6;
const DOWNSTREAM_SLOTS: u32 = 0xABAD_DAD7;
const LAST: u32 = 0xABAD_DAD9;
/// The base of kernel configurations, and of `routing_l1_info_t` (tt-metal.md 1.5).
const CONFIG_BASE: u64 = 0x3F120;
const ROUTING_INFO: u32 = 0x3F440;
/// `FabricTelemetry`, its version, and the statistics: state, bandwidth and both heartbeats.
const TELEMETRY: u32 = 0x3F3A0;
const TELEMETRY_VERSION: u32 = 1;
const STATISTICS: u32 = 0xF;

/// Arrays of credit counters, in the order of `RouterL1::credits`.
pub(super) const CREDIT_COUNTERS: [&str; 4] = [
    "TO_SENDER_REMOTE_ACK",
    "TO_SENDER_REMOTE_COMPLETION",
    "LOCAL_RECEIVER_ACK",
    "LOCAL_RECEIVER_COMPLETION",
];

/// The routers of a fabric.
pub(super) struct Routers<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) sources: &'a Sources,
    pub(super) l1: RouterL1,
    pub(super) settings: Settings,
}

/// A router on the same chip that forwards packets from a router's link.
pub(super) struct Downstream<'a> {
    pub(super) router: &'a Router,
    /// Its number among the directions other than that of the link.
    pub(super) index: u32,
    /// The sender channel of the downstream router.
    pub(super) channel: usize,
}

/// The streams, assigned in this order from 0.
#[derive(Default)]
struct Streams(u32);

impl Streams {
    fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0 - 1
    }
}

impl<'a> Routers<'a> {
    pub(super) fn new(
        fabric: &'a Fabric,
        sources: &'a Sources,
        settings: Settings,
    ) -> Result<Self, BuildError> {
        let l1 = RouterL1::of(fabric.plan.topology);
        let meshes = fabric.plan.meshes.len();
        let one = || BuildError(format!("{meshes} meshes: only one mesh is built"));
        (meshes == 1).then_some(Self { fabric, sources, l1, settings }).ok_or_else(one)
    }

    /// Returns all routers and adds their builds.
    pub(super) fn all(&self, builds: &mut Vec<Build>) -> Result<Vec<MetalRouter>, BuildError> {
        let routers = self.fabric.plan.routers.iter();
        routers.map(|router| self.one(router, builds)).collect()
    }

    fn one(&self, router: &Router, builds: &mut Vec<Build>) -> Result<MetalRouter, BuildError> {
        let name = format!("router_{}_e{}", router.eth.chip, router.eth.channel);
        let build = Build {
            name: name.clone(),
            target: "erisc",
            source: Source::Metal(self.sources.router.clone()),
            arguments: self.arguments(router)?,
            text: None,
        };
        let (cleared, count) = self.l1.cleared();
        let kernel = Kernel {
            elf: build.elf(),
            name,
            chip: router.eth.chip.0,
            tile: tile(router.place.tile),
            config_base: CONFIG_BASE,
            text_offset: 0,
            arguments: self.runtime(router)?,
            ncrisc: None,
            semaphores: Vec::new(),
            words: vec![
                L1Words::new("words of the router", cleared, vec![0; count as usize]),
                L1Words::new("FabricTelemetry.static_info", TELEMETRY, static_info(router)),
                L1Words::new(
                    "routing_l1_info_t",
                    ROUTING_INFO,
                    routing_info(self.fabric, router.node)?,
                ),
            ],
        };
        builds.push(build);
        Ok(MetalRouter {
            kernel,
            channel: router.eth.channel,
            direction: router.direction.to_string(),
            master: router.master,
            status: self.l1.status.into(),
            // It is first in `routing_l1_info_t`.
            state: ROUTING_INFO.into(),
            termination: self.l1.termination.into(),
        })
    }

    /// Returns the routers that forward packets from the link, in the order of directions.
    pub(super) fn downstream(&self, router: &Router) -> Vec<Downstream<'a>> {
        let plan = &self.fabric.plan;
        let mine = router.direction;
        let others = Direction::ALL.into_iter().filter(|other| *other != mine);
        let others = (0..).zip(others).filter(|(_, other)| {
            // On a line there is only the opposite direction.
            plan.topology.is_2d() || *other == mine.opposite()
        });
        let found = others.filter_map(|(index, other)| {
            let downstream = plan.router(router.node, other, router.plane)?;
            let index = if plan.topology.is_2d() { index } else { 0 };
            Some(Downstream { router: downstream, index, channel: self.channel(mine, other) })
        });
        found.collect()
    }

    /// Returns the sender channel of a router of direction `to` for packets from the link of
    /// direction `from` of its chip; channel 0 is the worker's.
    fn channel(&self, from: Direction, to: Direction) -> usize {
        if self.fabric.plan.topology.is_2d() {
            from.index() + usize::from(from.index() < to.index())
        } else {
            1
        }
    }

    /// Returns the sender channels that another router of the chip feeds.
    fn fed(&self, router: &Router) -> Vec<usize> {
        let of_chip = self.fabric.plan.routers_of(router.eth.chip);
        let to_this = of_chip.flat_map(|other| self.downstream(other));
        to_this.filter(|next| next.router.eth == router.eth).map(|next| next.channel).collect()
    }

    pub(super) fn arguments(&self, router: &Router) -> Result<Arguments, BuildError> {
        let mut arguments = Arguments::default();
        for name in &self.sources.names {
            let stream = name.ends_with("_STREAM_ID")
                || ["_SENT_ID", "_ACKED_ID", "_COMPLETED_ID"].iter().any(|end| name.ends_with(end));
            arguments.set(name, if stream { NO_STREAM } else { 0 });
        }
        let known = arguments.named.len();
        self.streams(&mut arguments);
        self.counts(router, &mut arguments);
        self.addresses(&mut arguments);
        self.channels(router, &mut arguments);
        self.site(router, &mut arguments);
        if arguments.named.len() != known {
            let mut unknown = arguments.named.keys();
            let unknown = unknown.find(|name| !self.sources.names.contains(*name));
            let name = unknown.map_or("", |name| name);
            let why = format!("tt-metal's router has no argument {name}: is it version 0.81.1?");
            return Err(BuildError(why));
        }
        arguments.positional = self.positional();
        arguments.macros = macros(self.fabric);
        Ok(arguments)
    }

    /// The streams of counters. Both ends of a link, and the routers of a chip, use each other's.
    fn streams(&self, arguments: &mut Arguments) {
        let mut streams = Streams::default();
        let senders = self.l1.senders.len();
        for channel in 0..senders {
            arguments.set(format!("SENDER_CHANNEL_{channel}_FREE_SLOTS_STREAM_ID"), streams.next());
        }
        arguments.set("TO_RECEIVER_0_PKTS_SENT_ID", streams.next());
        for channel in 0..senders {
            arguments.set(format!("TO_SENDER_{channel}_PKTS_COMPLETED_ID"), streams.next());
            if self.settings.first_level_ack {
                arguments.set(format!("TO_SENDER_{channel}_PKTS_ACKED_ID"), streams.next());
            }
        }
        for edge in 1..=self.l1.teardowns.len() {
            let name = format!("VC0_FREE_SLOTS_FROM_DOWNSTREAM_EDGE_{edge}_STREAM_ID");
            arguments.set(name, streams.next());
        }
        for (name, stream) in [
            ("ETH_RETRAIN_LINK_SYNC_STREAM_ID", RETRAIN_STREAM),
            ("TENSIX_RELAY_LOCAL_FREE_SLOTS_STREAM_ID", RETRAIN_STREAM),
            ("VC2_RECEIVER_FREE_SLOTS_STREAM_ID", RETRAIN_STREAM),
            ("MULTI_RISC_TEARDOWN_SYNC_STREAM_ID", TEARDOWN_STREAM),
        ] {
            arguments.set(name, stream);
        }
    }

    /// The numbers of channels and of downstream routers.
    fn counts(&self, router: &Router, arguments: &mut Arguments) {
        let senders = self.l1.senders.len() as u32;
        let downstream = self.downstream(router);
        let last = downstream.iter().map(|next| next.index + 1).max();
        for (name, value) in [
            ("MAX_NUM_SENDER_CHANNELS", MOST_SENDERS),
            ("MAX_NUM_RECEIVER_CHANNELS", MOST_RECEIVERS),
            ("MAX_NUM_VCS", MOST_VCS),
            ("NUM_SENDER_CHANNELS", senders),
            ("NUM_RECEIVER_CHANNELS", 1),
            ("ACTUAL_VC0_SENDER_CHANNELS", senders),
            ("VC1_FABRIC_POSITION_START", senders),
            ("VC2_FABRIC_POSITION_START", senders),
            ("NUM_DOWNSTREAM_CHANNELS", senders - 1),
            ("NUM_DOWNSTREAM_SENDERS_VC0", downstream.len() as u32),
            // An array has at least one element.
            ("VC0_DOWNSTREAM_EDM_SIZE", last.unwrap_or(1)),
            ("VC1_DOWNSTREAM_EDM_SIZE", 1),
            ("LOCAL_RELAY_NUM_BUFFERS", 1),
            ("CHANNEL_BUFFER_SIZE", self.l1.slot_bytes),
        ] {
            arguments.set(name, value);
        }
    }

    fn addresses(&self, arguments: &mut Arguments) {
        let l1 = &self.l1;
        for (name, address) in [
            ("HANDSHAKE_ADDR", l1.handshake),
            ("TERMINATION_SIGNAL_ADDR", l1.termination),
            ("EDM_LOCAL_SYNC_PTR_ADDR", l1.local_sync),
            ("EDM_LOCAL_TENSIX_SYNC_PTR_ADDR", l1.tensix_sync),
            ("EDM_STATUS_PTR_ADDR", l1.status),
            ("PERF_TELEMETRY_BUFFER_ADDR", l1.perf_telemetry),
        ] {
            arguments.set(name, address);
        }
        for (name, address) in CREDIT_COUNTERS.into_iter().zip(l1.credits) {
            arguments.set(format!("{name}_COUNTERS_BASE_ADDR"), address);
        }
        for (channel, sender) in l1.senders.iter().enumerate() {
            let name = format!("LOCAL_SENDER_CH_{channel}_CONN_INFO_ADDR");
            arguments.set(name, sender.connection_info);
        }
    }

    /// The flags and NoC resources of channels. As tt-metal's host does, every channel is serviced,
    /// and channels that do not exist have resources too.
    fn channels(&self, router: &Router, arguments: &mut Arguments) {
        let fed = self.fed(router);
        for channel in 0..MOST_SENDERS {
            let is_fed = u32::from(fed.contains(&(channel as usize)));
            arguments.set(format!("IS_SENDER_CHANNEL_{channel}_SERVICED"), 1_u32);
            arguments.set(format!("SENDER_CH_{channel}_ACK_NOC_ID"), 0_u32);
            arguments.set(format!("SENDER_CH_{channel}_ACK_CMD_BUF_ID"), ATOMIC);
            arguments.set(format!("SENDER_CH_{channel}_LIVE_CHECK_SKIP"), is_fed);
            arguments.set(format!("SENDER_CH_{channel}_WAIT_STATIC_CONNECTION"), is_fed);
        }
        arguments.set("SENDER_CH_0_IS_INJECTION", 1_u32);
        for channel in 0..MOST_RECEIVERS {
            arguments.set(format!("IS_RECEIVER_CHANNEL_{channel}_SERVICED"), 1_u32);
            arguments.set(format!("RX_CH_{channel}_FWD_NOC_ID"), 1_u32);
            arguments.set(format!("RX_CH_{channel}_FWD_DATA_CMD_BUF_ID"), WRITE_REGISTER);
            arguments.set(format!("RX_CH_{channel}_FWD_SYNC_CMD_BUF_ID"), READ);
            arguments.set(format!("RX_CH_{channel}_LOCAL_WRITE_NOC_ID"), 1_u32);
            arguments.set(format!("RX_CH_{channel}_LOCAL_WRITE_CMD_BUF_ID"), WRITE);
        }
    }

    /// What depends on the router's chip and link, and tt-metal's settings for Wormhole.
    fn site(&self, router: &Router, arguments: &mut Arguments) {
        let plan = &self.fabric.plan;
        let local = || plan.routers_of(router.eth.chip);
        let channels = local().fold(0, |mask, other| mask | 1 << other.eth.channel);
        let master = local().find(|other| other.master).unwrap_or(router);
        let (rows, columns) =
            plan.mesh_of(router.node).map_or((1, 1), |mesh| (mesh.rows, mesh.columns));
        let two_d = u32::from(plan.topology.is_2d());
        // tt-metal takes the last link of an edge. The first is that through which hosts reach far
        // chips here, so that they need not wait 50 ms for every answer.
        let dispatch = router.plane == 0 || self.settings.every_link_yields;
        for (name, value) in [
            ("MY_ETH_CHANNEL", router.eth.channel.into()),
            ("MY_DIRECTION", direction_code(router.direction).into()),
            ("IS_2D_FABRIC", two_d),
            ("MESH_Y_SIZE", rows as u32),
            ("MESH_X_SIZE", columns as u32),
            ("IS_HANDSHAKE_SENDER", (router.node < router.neighbor).into()),
            ("ENABLE_ETHERNET_HANDSHAKE", 1),
            ("WAIT_FOR_HOST_SIGNAL", 1),
            ("IS_LOCAL_HANDSHAKE_MASTER", router.master.into()),
            ("LOCAL_HANDSHAKE_MASTER_ETH_CHAN", master.eth.channel.into()),
            ("NUM_LOCAL_EDMS", local().count() as u32),
            ("EDM_CHANNELS_MASK", channels),
            ("NUM_ETH_PORTS", plan.layout().eth_channels().into()),
            ("MY_ERISC_ID", 0),
            ("NUM_ACTIVE_ERISCS", 1),
            ("ENABLE_CONTEXT_SWITCH", 1),
            ("IDLE_CONTEXT_SWITCHING", (!dispatch).into()),
            ("SWITCH_INTERVAL", if dispatch { DISPATCH_SWITCH_INTERVAL } else { SWITCH_INTERVAL }),
            ("ITERATIONS_BETWEEN_CTX_SWITCH_AND_TEARDOWN_CHECKS", 32),
            ("DEFAULT_HANDSHAKE_CONTEXT_SWITCH_TIMEOUT", 4096),
            ("DEFAULT_NUM_ETH_TXQ_DATA_PACKET_ACCEPT_AHEAD", 32),
            ("FUSE_RECEIVER_FLUSH_AND_COMPLETION_PTR", 1),
            ("EDM_NOC_VC", NOC_VC + router.plane % 2),
            ("VC0_USES_COUNTER_CREDITS", self.settings.counter_credits.into()),
            ("ENABLE_FIRST_LEVEL_ACK_VC0", self.settings.first_level_ack.into()),
            ("ENABLE_FABRIC_TELEMETRY", 1),
            ("FABRIC_TELEMETRY_STATS_MASK", STATISTICS),
        ] {
            arguments.set(name, value);
        }
    }

    /// The channels of this router and of the peer, which are alike.
    fn positional(&self) -> Vec<u32> {
        let l1 = &self.l1;
        let senders = l1.senders.len() as u32;
        let entry = |base: u32, slots: u32| [base, slots, base, slots];
        let receiver = entry(l1.receiver, l1.receiver_slots);
        let mut values = vec![CHANNELS, senders + 1];
        values.extend(l1.senders.iter().flat_map(|sender| entry(sender.slots, l1.sender_slots)));
        values.extend(receiver);
        // The entry of each sender, and of the receiver.
        values.extend(0..=senders);
        values.extend([REMOTE_CHANNELS, CHANNELS, 1]);
        values.extend(receiver);
        values.extend([0, DOWNSTREAM_SLOTS]);
        values.extend([l1.sender_slots; MOST_RECEIVERS as usize]);
        values.push(LAST);
        values
    }

    fn runtime(&self, router: &Router) -> Result<Vec<u32>, BuildError> {
        let l1 = &self.l1;
        let sender = |number: usize| l1.senders.get(number);
        let most = MOST_SENDERS as usize;
        let mut values: Vec<u32> = Vec::new();
        values.extend((0..most).map(|n| sender(n).map_or(0, |sender| sender.connection)));
        values.extend((0..most).map(|n| sender(n).map_or(0, |sender| sender.cursor)));
        let downstream = self.downstream(router);
        values.push(downstream.iter().fold(0, |mask, next| mask | 1 << next.index));
        let mut words: Vec<[u32; 4]> = Vec::new();
        let [mut x, mut y] = [0; 2];
        for (number, next) in downstream.iter().enumerate() {
            let xy = self.fabric.xy(next.router.place)?;
            x |= u32::from(xy[0]) << (8 * number);
            y |= u32::from(xy[1]) << (8 * number);
            let missing = || BuildError(format!("{} has no channel {}", next.router, next.channel));
            let sender = sender(next.channel).ok_or_else(missing)?;
            words.push([sender.slots, sender.connection, sender.connection_info, sender.cursor]);
        }
        if words.is_empty() && !self.fabric.plan.topology.is_2d() {
            // A line's router reads one connection even if it has none.
            words.push([0; 4]);
        }
        values.extend(words.iter().map(|word| word[0]));
        values.extend([x, y]);
        for member in 1..4 {
            values.extend(words.iter().map(|word| word[member]));
        }
        values.extend((0..most).map(|n| l1.teardowns.get(n).copied().unwrap_or(0)));
        // No connection to a relay.
        values.push(0);
        Ok(values)
    }
}

/// Returns the constant part of a router's telemetry, which the host writes.
fn static_info(router: &Router) -> Vec<u32> {
    let (own, peer) = (router.node, router.neighbor);
    let meshes = u32::from(own.mesh) | u32::from(peer.mesh) << 16;
    let devices = u32::from(own.device as u8) | u32::from(peer.device as u8) << 8;
    let direction = u32::from(direction_code(router.direction)) << 16;
    // No configuration of the fabric is stated.
    vec![TELEMETRY_VERSION, meshes, devices | direction | STATISTICS << 24, 0]
}

/// Returns the macros that select a topology's packet headers, for all kernels of a fabric.
pub(super) fn macros(fabric: &Fabric) -> Vec<(&'static str, String)> {
    let mode = |words: &str| ("ROUTING_MODE", format!("({words} | ROUTING_MODE_LOW_LATENCY)"));
    if fabric.plan.topology.is_2d() {
        vec![mode("ROUTING_MODE_2D | ROUTING_MODE_MESH"), ("FABRIC_2D", "1".to_owned())]
    } else {
        vec![mode("ROUTING_MODE_1D | ROUTING_MODE_LINE")]
    }
}
