//! tt-metal's mux: its words and channels in the L1 of a compute tile, as tt-metal's host puts them
//! (`FabricMuxConfig`).

use super::arguments::Arguments;
use super::compile::{Build, Source};
use super::l1::RouterL1;
use super::router::{Routers, macros};
use super::tensix::{TEXT, WORDS, connection_arguments, kernel};
use fabric::Router;
use machine::place::Place;
use workloads::scene::tt_fabric::{L1Words, MetalMux};

/// The mux's words, then the words of all channels.
const STATUS: u32 = WORDS;
const LANDING: u32 = STATUS + FIELD;
const TERMINATION: u32 = LANDING + FIELD;
const CONNECTIONS: u32 = TERMINATION + FIELD;
/// Slots of a channel.
const SLOTS: u32 = 8;
/// Bytes of a field, and of an `EDMChannelWorkerLocationInfo`.
const FIELD: u32 = 16;
const CONNECTION_INFO: u32 = 64;
/// Rounds over the channels between two reads of the termination signal.
const ROUNDS: u32 = 32;
/// `ProgrammableCoreType::TENSIX`.
const TENSIX: u32 = 0;

/// A mux.
pub(super) struct Mux {
    place: Place,
    xy: [u8; 2],
    clients: u32,
    slot_bytes: u32,
    router_status: u32,
    router_slots: u32,
}

impl Mux {
    pub(super) fn new(place: Place, xy: [u8; 2], clients: u32, router: &RouterL1) -> Self {
        Self {
            place,
            xy,
            clients,
            slot_bytes: router.slot_bytes,
            router_status: router.status,
            router_slots: router.sender_slots,
        }
    }

    fn handshake(&self) -> u32 {
        CONNECTIONS + CONNECTION_INFO * self.clients
    }

    fn flow_control(&self) -> u32 {
        self.handshake() + FIELD * self.clients
    }

    fn cursor(&self) -> u32 {
        self.flow_control() + FIELD * self.clients
    }

    fn channels(&self) -> u32 {
        (self.cursor() + FIELD * self.clients).next_multiple_of(64)
    }

    /// Returns the arguments of a client.
    pub(super) fn client(&self, number: u32) -> [u32; 11] {
        let [x, y] = self.xy.map(u32::from);
        [
            x,
            y,
            number,
            SLOTS,
            self.slot_bytes,
            self.channels() + number * SLOTS * self.slot_bytes,
            CONNECTIONS + number * CONNECTION_INFO,
            self.handshake() + number * FIELD,
            self.flow_control() + number * FIELD,
            self.cursor() + number * FIELD,
            STATUS,
        ]
    }

    /// Returns the launch, and adds its build.
    pub(super) fn launch(
        &self,
        routers: &Routers<'_>,
        router: &Router,
        mut words: Vec<L1Words>,
        builds: &mut Vec<Build>,
    ) -> MetalMux {
        let mut positional = vec![
            self.clients,
            SLOTS,
            self.slot_bytes,
            // No channels for headers only.
            0,
            SLOTS,
            STATUS,
            TERMINATION,
            CONNECTIONS,
            self.handshake(),
            self.flow_control(),
            self.channels(),
            LANDING,
            self.router_status,
            self.router_slots,
            1,
            ROUNDS,
            TENSIX,
            // Waits for the router.
            1,
        ];
        // The stream of each channel.
        positional.extend(0..self.clients);
        let macros = macros(routers.fabric);
        let build = Build {
            name: format!("mux_{}", self.place.chip),
            target: "brisc",
            source: Source::Metal(routers.sources.mux.clone()),
            arguments: Arguments { positional, macros, ..Arguments::default() },
            text: Some(TEXT),
        };
        let cleared = (self.channels() - WORDS) / 4;
        words.push(L1Words::new("words of the mux", WORDS, vec![0; cleared as usize]));
        // The host has cleared everything: the mux has nothing to clear.
        let mut arguments = vec![0];
        arguments.extend(connection_arguments(router));
        let kernel = kernel(&build, self.place, arguments, words);
        builds.push(build);
        MetalMux { kernel, status: STATUS.into(), termination: Some(TERMINATION.into()) }
    }
}
