//! Launches routers directly, puts packets into their slots through a TLB window, and reads their
//! state.
#![allow(unreachable_pub, dead_code, reason = "a module of a test")]

use crate::edm::bench::{Bench, Values};
use launch::{Firmware, KernelLaunch, launch_kernel, start_application};
use layouts::{ChipId, NocXy};
use machine::place::Place;
use machine::target::Target;

pub const EAST: u32 = 0;
pub const WEST: u32 = 1;
pub const READY: u32 = 0xA3B3_C3D3;
pub const LOCAL_HANDSHAKE_COMPLETE: u32 = 0xA2B2_C2D2;
pub const TERMINATED: u32 = 0xA4B4_C4D4;
pub const REFUSED: u32 = 0xA5B5_C5D5;

/// L1 address of the senders' counters of negative acknowledges.
pub const NACKS: u64 = 0x2_0000;

/// A router that a test launches.
#[derive(Clone, Debug)]
pub struct Router {
    pub place: Place,
    pub image: &'static str,
    pub direction: u32,
    /// Further arguments.
    pub more: Vec<(String, u32)>,
}

impl Router {
    pub fn new(place: Place, image: &'static str, direction: u32) -> Self {
        Self { place, image, direction, more: Vec::new() }
    }

    pub fn with(mut self, member: &str, value: u32) -> Self {
        self.more.push((member.to_owned(), value));
        self
    }

    /// Sets the router of this plane in a direction.
    pub fn beside(self, direction: u32, tile: NocXy) -> Self {
        self.with(&format!("downstream_xy[{direction}]"), xy(tile))
    }
}

pub fn xy(tile: NocXy) -> u32 {
    u32::from(tile.x) | u32::from(tile.y) << 16
}

/// Returns `x << 36 | y << 42 | address`.
pub fn noc_address(tile: NocXy, address: u64) -> u64 {
    u64::from(tile.x) << 36 | u64::from(tile.y) << 42 | address
}

/// A packet: members of its header, and its payload.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    pub members: Vec<(String, u64)>,
    pub payload: Vec<u8>,
}

impl Packet {
    pub fn atomic(tile: NocXy, address: u64, value: u64) -> Self {
        let to = noc_address(tile, address);
        let packet = Self::new(2).set("command_fields.unicast_seminc.noc_address", to);
        packet.set("command_fields.unicast_seminc.val", value)
    }

    /// Makes the packet routed by tables, to a device of this mesh, from a tile of another device.
    pub fn by_tables(self, image: &str, device: u64, from: Place, number: u64) -> Self {
        let member = if image.ends_with("line") || image.ends_with("ring") {
            "routing_fields"
        } else {
            "dst_start_chip_id"
        };
        self.set(member, device)
            .set("tail.flags", 1)
            .set("tail.src_device_id", from.chip.0.into())
            .set("tail.src_x", from.tile.x.into())
            .set("tail.src_y", from.tile.y.into())
            .set("tail.nack_address", NACKS)
            .set("tail.number", number)
    }

    pub fn new(kind: u64) -> Self {
        Self::default().set("noc_send_type", kind).set("tail.ttl", 64)
    }

    pub fn write(tile: NocXy, address: u64, payload: Vec<u8>) -> Self {
        let to = noc_address(tile, address);
        Self { payload, ..Self::new(0).set("command_fields.unicast_write.noc_address", to) }
    }

    pub fn set(mut self, member: &str, value: u64) -> Self {
        self.members.push((member.to_owned(), value));
        self
    }
}

impl Bench {
    /// Returns a compute tile of the chip in a row that no chip has harvested.
    pub fn compute(&self, chip: u16) -> Place {
        let chips = &self.target.mesh().chips;
        let works =
            |y: &u8| *y != 6 && chips.iter().all(|chip| chip.is_fused_off(*y) == Some(false));
        place(chip, 1, (1..12).find(works).unwrap())
    }

    fn symbols(&self, image: &str) -> &symbols::Symbols {
        &self.images.named(image).unwrap().symbols
    }

    /// Returns a constant of an image.
    pub fn constant(&self, image: &str, name: &str) -> u64 {
        let found = self.symbols(image).constant(name);
        let bytes = found.unwrap_or_else(|| panic!("{image} has no {name}")).bytes;
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Returns the address of a word of a router that other tiles write.
    pub fn router_word(&self, image: &str, member: &str) -> u64 {
        let field = self.symbols(image).field(&format!("fabric_router_words_t.{member}")).unwrap();
        self.constant(image, "ROUTER_WORDS") + field.offset
    }

    pub fn status(&mut self, router: &Router) -> u32 {
        let at = self.router_word(router.image, "edm_status");
        self.word(router.place, at)
    }

    pub fn router(&mut self, router: &Router, member: &str) -> u64 {
        self.router_state(router.place, router.image, member)
    }

    fn router_state(&mut self, place: Place, image: &str, member: &str) -> u64 {
        self.global(place, image, &format!("fabric_router_state.{member}"))
    }

    /// Reads a member of any global.
    pub fn global(&mut self, place: Place, image: &str, path: &str) -> u64 {
        let found = self.symbols(image).locate(path).unwrap();
        let (at, size) = (found.address(), found.field.size as u32);
        let bytes = self.bytes(place, at, size);
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Writes a chip's tables into a router's tile: its device and place, and the direction to each
    /// device of the mesh.
    pub fn write_tables(&mut self, router: &Router, device: u16, row: [u8; 4], directions: &[u8]) {
        let image = router.image;
        let field = |bench: &Self, member: &str| {
            let field = bench.symbols(image).field(&format!("routing_l1_info_t.{member}")).unwrap();
            (field.offset as usize, field.size as usize)
        };
        let size = self.symbols(image).type_named("routing_l1_info_t").unwrap().size().unwrap();
        let mut bytes = vec![0; size as usize];
        let at = field(self, "my_device_id").0;
        bytes[at..at + 2].copy_from_slice(&device.to_le_bytes());
        for (member, value) in ["my_row", "my_column", "mesh_rows", "mesh_columns"].iter().zip(row)
        {
            bytes[field(self, member).0] = value;
        }
        let (at, _) = field(self, "intra_mesh.packed_directions");
        for (entry, direction) in directions.iter().enumerate() {
            for bit in (0..3).filter(|bit| direction >> bit & 1 != 0) {
                let place = 3 * entry + bit;
                bytes[at + place / 8] |= 1 << (place % 8);
            }
        }
        let at = self.constant(image, "routing_info_addr");
        self.target.write(router.place.at(at), &bytes).unwrap();
    }

    pub fn stream(&self, image: &str, stream: u64, register: &str) -> u64 {
        let base = self.constant(image, "STREAM_BASE");
        base + stream * self.constant(image, "STREAM_STRIDE") + self.constant(image, register)
    }

    /// Clears 64 bytes and waits until they are cleared, on a far chip too.
    pub fn clear(&mut self, place: Place, at: u64) {
        self.target.write(place.at(at), &[0; 64]).unwrap();
        assert_eq!(self.bytes(place, at, 64), [0; 64]);
    }

    pub fn write_word(&mut self, place: Place, at: u64, value: u32) {
        self.target.write(place.at(at), &value.to_le_bytes()).unwrap();
    }

    /// Starts application firmware on tiles where it does not run yet.
    pub fn start(&mut self, places: &[Place]) {
        for place in places {
            let start = start_application(&mut self.images, Firmware::BUILT_IN, *place).unwrap();
            start.finish(&mut self.target).unwrap();
        }
    }

    /// Clears the words of all routers, then launches them. The first router of a chip is its
    /// master.
    pub fn launch_routers(&mut self, routers: &[Router]) {
        self.run_id += 1;
        for router in routers {
            let words = self.symbols(router.image).type_named("fabric_router_words_t").unwrap();
            let zeros = vec![0; words.size().unwrap() as usize];
            let at = self.constant(router.image, "ROUTER_WORDS");
            self.target.write(router.place.at(at), &zeros).unwrap();
        }
        for router in routers {
            let chip = |other: &&Router| other.place.chip == router.place.chip;
            let mates: Vec<_> = routers.iter().filter(chip).map(|mate| mate.place).collect();
            let mut values: Values = [
                ("run_id", self.run_id),
                ("my_direction", router.direction),
                ("neighbor_mesh_id", 0xFFFF),
                ("is_local_master", u32::from(mates[0] == router.place)),
                ("num_local_edms", mates.len() as u32),
                ("idle_count", 64),
                ("busy_count", 256),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
            values.extend(
                (0..).zip(&mates).map(|(i, mate)| (format!("local_edm_xy[{i}]"), xy(mate.tile))),
            );
            values.extend(router.more.clone());
            let launch = KernelLaunch {
                place: router.place,
                kernel: router.image,
                firmware: "erisc_app",
                core_type: "ACTIVE_ETH",
                config_base: crate::common::layout().eth.l1.kernel_config.at,
                text_offset: 0,
                arguments: self.arguments(router.image, "fabric_router_args_t", &values),
                semaphores: Vec::new(),
                in_place: false,
                host_assigned_id: self.run_id,
            };
            let launch = launch_kernel(&mut self.images, &launch).unwrap();
            launch.finish(&mut self.target).unwrap();
        }
    }

    /// Waits until all routers have this status.
    pub fn await_status(&mut self, routers: &[Router], status: u32) {
        for _ in 0..200 {
            if routers.iter().all(|router| self.status(router) == status) {
                return;
            }
            self.target.pass(2_000).unwrap();
        }
        let all: Vec<_> =
            routers.iter().map(|router| format!("{:X}", self.status(router))).collect();
        panic!("{all:?} is not {status:X}");
    }

    /// Launches routers and makes them ready for traffic.
    pub fn bring_up(&mut self, routers: &[Router]) {
        self.launch_routers(routers);
        self.await_status(routers, LOCAL_HANDSHAKE_COMPLETE);
        let mut chips = Vec::new();
        for router in routers {
            if !chips.contains(&router.place.chip) {
                chips.push(router.place.chip);
                let at = self.router_word(router.image, "edm_status");
                self.target.write(router.place.at(at), &READY.to_le_bytes()).unwrap();
            }
        }
        self.await_status(routers, READY);
        self.target.pass(5_000).unwrap();
    }

    /// Writes a termination signal to the master of each chip and waits until all routers have
    /// ended.
    pub fn terminate_routers(&mut self, routers: &[Router], signal: u32) {
        let mut chips = Vec::new();
        for router in routers {
            if !chips.contains(&router.place.chip) {
                chips.push(router.place.chip);
                let at = self.router_word(router.image, "termination_signal");
                self.target.write(router.place.at(at), &signal.to_le_bytes()).unwrap();
            }
        }
        self.await_status(routers, TERMINATED);
    }

    /// Returns the header and payload of a packet as in a slot.
    pub fn packet_bytes(&self, image: &str, packet: &Packet) -> Vec<u8> {
        let symbols = self.symbols(image);
        let name = ["HybridMeshPacketHeader", "LowLatencyPacketHeader"]
            .into_iter()
            .find(|name| {
                let size = symbols.type_named(name).and_then(|ty| ty.size());
                size == Some(self.constant(image, "packet_header_bytes"))
            })
            .unwrap();
        let mut bytes = vec![0; self.constant(image, "packet_header_bytes") as usize];
        let payload = ("payload_size_bytes".to_owned(), packet.payload.len() as u64);
        for (member, value) in packet.members.iter().chain([&payload]) {
            let field = symbols.field(&format!("{name}.{member}")).unwrap();
            let (at, size) = (field.offset as usize, field.size as usize);
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        bytes.extend(&packet.payload);
        bytes
    }

    /// Puts the n-th packet of a sender channel into its slot and hands it over, as a client does.
    pub fn put(&mut self, router: &Router, channel: u64, n: u64, packet: &Packet) {
        let image = router.image;
        let (slots, size) =
            (self.constant(image, "sender_slots"), self.constant(image, "channel_buffer_size"));
        let first = self.constant(image, "channel_buffers_addr") + channel * slots * size;
        let bytes = self.packet_bytes(image, packet);
        self.target.write(router.place.at(first + n % slots * size), &bytes).unwrap();
        let stream = self.constant(image, "sender_channel_0_free_slots_stream_id") + channel;
        let update = self.stream(image, stream, "STREAM_UPDATE");
        let minus_one = u32::MAX << self.constant(image, "STREAM_INCREMENT_SHIFT");
        self.write_word(router.place, update, minus_one);
    }
}

/// The two links of an n300 as a ring: eastwards e8-e0, then e1-e9, which has the dateline.
pub fn ring(image: &'static str) -> [Router; 4] {
    let [(near, west), (far, east)] = [((9, 6), (1, 6)), ((9, 0), (1, 0))];
    let tile = |(x, y)| NocXy { x, y };
    [
        Router::new(place(0, near.0, near.1), image, EAST).beside(WEST, tile(west)),
        Router::new(place(0, west.0, west.1), image, WEST)
            .beside(EAST, tile(near))
            .with("dateline", 1),
        Router::new(place(1, far.0, far.1), image, WEST).beside(EAST, tile(east)),
        Router::new(place(1, east.0, east.1), image, EAST)
            .beside(WEST, tile(far))
            .with("dateline", 1),
    ]
}

pub fn place(chip: u16, x: u8, y: u8) -> Place {
    Place { chip: ChipId(chip), tile: NocXy { x, y } }
}
