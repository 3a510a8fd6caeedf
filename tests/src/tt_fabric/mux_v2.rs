//! The second version of tt-metal's mux: BRISC forwards packets, NCRISC manages connections.

use super::arguments::Arguments;
use super::compile::{Build, Source};
use super::l1::RouterL1;
use super::router::{Routers, macros};
use super::tensix::{
    CONFIG_BASE, CONNECTION_SEMAPHORES, TEXT, WORDS, connection_arguments, kernel,
};
use fabric::Router;
use machine::place::Place;
use workloads::scene::tt_fabric::{Kernel, L1Words, MetalMux, Ncrisc};

/// Slots of a channel.
const SLOTS: u32 = 8;
/// Bytes of a field, and of an `EDMChannelWorkerLocationInfo`.
const FIELD: u32 = 16;
const CONNECTION_INFO: u32 = 64;
/// Transaction ids of the NoC, which number the packets under way to the router.
const RING: u32 = 16;
/// Packets of a channel that are forwarded before the next channel.
const BURST: u32 = 8;
/// Where the manager's text lies, from which firmware copies it.
const MANAGER_TEXT: u32 = TEXT + 0x8000;
/// The mux's words, then those of all channels.
const STATUS: u32 = WORDS;
const CONTROL: u32 = STATUS + FIELD;
const SHARED_RING: u32 = CONTROL + FIELD;
const CONNECTIONS: u32 = SHARED_RING + 8 * FIELD;
/// Semaphores behind those of the connection to the router.
const FORWARDER_READY: u32 = CONNECTION_SEMAPHORES as u32;
const MANAGER_READY: u32 = FORWARDER_READY + 1;
/// Semaphores of a client: read counter, end of the connection.
const CLIENT_SEMAPHORES: [u32; 2] = [0, 1];

/// A mux.
pub(super) struct MuxV2 {
    place: Place,
    xy: [u8; 2],
    clients: u32,
    slot_bytes: u32,
}

impl MuxV2 {
    pub(super) fn new(place: Place, xy: [u8; 2], clients: u32, router: &RouterL1) -> Self {
        Self { place, xy, clients, slot_bytes: router.slot_bytes }
    }

    fn handshake(&self) -> u32 {
        CONNECTIONS + CONNECTION_INFO * self.clients
    }

    fn scratch(&self) -> u32 {
        self.handshake() + FIELD * self.clients
    }

    fn channels(&self) -> u32 {
        (self.scratch() + FIELD * self.clients).next_multiple_of(64)
    }

    /// Returns the arguments of a client.
    pub(super) fn client(&self, number: u32) -> [u32; 11] {
        let [x, y] = self.xy.map(u32::from);
        let [read_counter, end] = CLIENT_SEMAPHORES;
        [
            x,
            y,
            number,
            SLOTS,
            self.slot_bytes,
            self.channels() + number * SLOTS * self.slot_bytes,
            CONNECTIONS + number * CONNECTION_INFO,
            self.handshake() + number * FIELD,
            read_counter,
            end,
            STATUS,
        ]
    }

    fn arguments(&self, macros: Vec<(&'static str, String)>) -> Arguments {
        let mut arguments = Arguments { macros, ..Arguments::default() };
        for (name, value) in [
            ("num_buffers_per_channel", SLOTS),
            ("num_channels", self.clients),
            ("mux_status_address", STATUS),
            ("channel_region_base_address", self.channels()),
            ("connection_info_region_base_address", CONNECTIONS),
            ("connection_handshake_region_base_address", self.handshake()),
            ("shared_ring_region_base_address", SHARED_RING),
            ("shared_control_region_base_address", CONTROL),
            ("credit_notify_scratch_region_base_address", self.scratch()),
            ("channel_buffer_size_bytes", self.slot_bytes),
            ("per_channel_scalar_region_stride_bytes", FIELD),
            ("forwarder_service_burst_size", BURST),
            ("shared_trid_ring_capacity", RING),
            ("forwarder_ready_sem_id", FORWARDER_READY),
            ("manager_init_done_sem_id", MANAGER_READY),
        ] {
            arguments.set(format!("fabric_mux_v2_{name}"), value);
        }
        arguments
    }

    /// Returns the launch, and adds the builds of forwarder and manager.
    pub(super) fn launch(
        &self,
        routers: &Routers<'_>,
        router: &Router,
        mut words: Vec<L1Words>,
        builds: &mut Vec<Build>,
    ) -> MetalMux {
        let arguments = self.arguments(macros(routers.fabric));
        let build = |name: &str, target, text| Build {
            name: format!("{name}_{}", self.place.chip),
            target,
            source: Source::Metal(routers.sources.mux_v2.clone()),
            arguments: arguments.clone(),
            text,
        };
        let forwarder = build("mux", "brisc", Some(TEXT));
        let manager = build("mux_manager", "ncrisc", None);
        let cleared = (self.channels() - WORDS) / 4;
        words.push(L1Words::new("words of the mux", WORDS, vec![0; cleared as usize]));
        let arguments = connection_arguments(router).to_vec();
        let kernel = Kernel {
            ncrisc: Some(Ncrisc {
                name: manager.name.clone(),
                elf: manager.elf(),
                text_offset: u64::from(MANAGER_TEXT) - CONFIG_BASE,
            }),
            semaphores: vec![0; MANAGER_READY as usize + 1],
            ..kernel(&forwarder, self.place, arguments, words)
        };
        builds.extend([forwarder, manager]);
        MetalMux { kernel, status: STATUS.into(), termination: None }
    }
}
