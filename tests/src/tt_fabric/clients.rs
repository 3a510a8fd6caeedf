//! The clients of the routers: on each chip workers that send packets to the opposite chip of the
//! mesh, through a router or a mux.

use super::arguments::Arguments;
use super::compile::{Build, Source};
use super::mux::Mux;
use super::mux_v2::MuxV2;
use super::router::{Routers, macros};
use super::tables::{direction_code, routing_info};
use super::tensix::{TEXT, WORDS, connection_arguments, kernel};
use super::{BuildError, Fabric, tile};
use fabric::Router;
use layouts::ChipId;
use machine::fabric::{Direction, FabricNode};
use std::cmp::Ordering;
use workloads::scene::tt_fabric::{Delivery, L1Words, MetalMux, MetalWorker};

/// How the workers' packets reach the routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The worker is the router's client.
    Direct,
    /// The worker is the client of a mux, which is the router's client.
    Mux,
    /// As `Mux`, with the second version of tt-metal's mux.
    MuxV2,
}

/// Routing tables and connections to routers in a compute tile (tt-metal.md 1.5).
const ROUTING_INFO: u32 = 0x7340;
const CONNECTIONS: u32 = 0x7DD0;
const CONNECTION_BYTES: u32 = 24;
const CONNECTIONS_MASK: u32 = 0x7F50;
/// The words of a worker's connection to a mux, behind its report; its header and payload.
const FLOW_CONTROL: u32 = WORDS + 0x20;
const TEARDOWN: u32 = WORDS + 0x30;
const CURSOR: u32 = WORDS + 0x40;
const MUX_STATUS: u32 = WORDS + 0x50;
const HEADER: u32 = WORDS + 0x100;
const PAYLOAD: u32 = WORDS + 0x200;
/// Where packets are delivered, and the distance between the slots of two workers.
const DELIVERY: u32 = 0x60000;
const DELIVERY_BYTES: u32 = 0x1000;
const SLOTS: u32 = 8;
const PAYLOAD_WORDS: u32 = 64;
/// Packets of a worker, unless the scene says another number.
const PACKETS: u32 = 32;
/// Numbers of the compute tiles of a chip.
const DELIVERY_TILE: usize = 0;
const MUX_TILE: usize = 1;
const FIRST_WORKER_TILE: usize = 2;
/// Clients of a mux.
const MUX_CLIENTS: u32 = 2;

/// The clients of a fabric.
pub(super) struct Clients<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) route: Route,
    pub(super) routers: &'a Routers<'a>,
}

/// The chips of a worker's packets.
struct PacketPath<'a> {
    node: FabricNode,
    to: FabricNode,
    chip: ChipId,
    far: ChipId,
    /// The first router.
    router: &'a Router,
    /// Chips along a line.
    hops: u32,
}

impl Clients<'_> {
    /// Returns muxes and workers, and adds their builds.
    pub(super) fn all(
        &self,
        builds: &mut Vec<Build>,
    ) -> Result<(Vec<MetalMux>, Vec<MetalWorker>), BuildError> {
        let (mut muxes, mut workers) = (Vec::new(), Vec::new());
        for node in self.fabric.plan.nodes() {
            let Some(path) = self.path(node)? else { continue };
            let place = self.fabric.compute_tile(path.chip, MUX_TILE)?;
            let (xy, words) = (self.fabric.xy(place)?, self.client_words(&path)?);
            let l1 = &self.routers.l1;
            // The macro of the worker's connection, and the arguments of each client.
            let (through, clients) = match self.route {
                Route::Direct => (None, vec![connection_arguments(path.router).to_vec()]),
                Route::Mux => {
                    let mux = Mux::new(place, xy, MUX_CLIENTS, l1);
                    muxes.push(mux.launch(self.routers, path.router, words, builds));
                    let own = [FLOW_CONTROL, TEARDOWN, CURSOR, MUX_STATUS];
                    let client = |number| [mux.client(number).as_slice(), &own].concat();
                    (Some("THROUGH_MUX"), (0..MUX_CLIENTS).map(client).collect())
                }
                Route::MuxV2 => {
                    let mux = MuxV2::new(place, xy, MUX_CLIENTS, l1);
                    muxes.push(mux.launch(self.routers, path.router, words, builds));
                    let client = |number| mux.client(number).to_vec();
                    (Some("THROUGH_MUX_V2"), (0..MUX_CLIENTS).map(client).collect())
                }
            };
            for (number, connection) in (0..).zip(&clients) {
                workers.push(self.worker(&path, number, (through, connection), builds)?);
            }
        }
        Ok((muxes, workers))
    }

    /// Returns the path from a node to the opposite one; none in the middle of a mesh.
    fn path(&self, node: FabricNode) -> Result<Option<PacketPath<'_>>, BuildError> {
        let plan = &self.fabric.plan;
        let missing = |what: &str| BuildError(format!("{node} has no {what}"));
        let mesh = plan.mesh_of(node).ok_or_else(|| missing("mesh"))?;
        let last = (mesh.chips.len() - 1) as u16;
        let to = FabricNode { device: last - node.device, ..node };
        let ((row, column), (to_row, to_column)) =
            (mesh.place(node.device.into()), mesh.place(to.device.into()));
        // Packets pass along the column first.
        let direction = match (to_row.cmp(&row), to_column.cmp(&column)) {
            (Ordering::Greater, _) => Direction::South,
            (Ordering::Less, _) => Direction::North,
            (_, Ordering::Greater) => Direction::East,
            (_, Ordering::Less) => Direction::West,
            _ => return Ok(None),
        };
        Ok(Some(PacketPath {
            node,
            to,
            chip: plan.chip(node).ok_or_else(|| missing("chip"))?,
            far: plan.chip(to).ok_or_else(|| missing("opposite chip"))?,
            router: plan.router(node, direction, 0).ok_or_else(|| missing("router"))?,
            hops: column.abs_diff(to_column) as u32,
        }))
    }

    fn worker(
        &self,
        path: &PacketPath<'_>,
        number: u32,
        (through, connection): (Option<&'static str>, &[u32]),
        builds: &mut Vec<Build>,
    ) -> Result<MetalWorker, BuildError> {
        let PacketPath { chip, far, to, .. } = *path;
        let place = self.fabric.compute_tile(chip, FIRST_WORKER_TILE + number as usize)?;
        let delivered = self.fabric.compute_tile(far, DELIVERY_TILE)?;
        let delivery = DELIVERY + DELIVERY_BYTES * number;
        let name = format!("worker_{chip}_{number}");
        let mut macros = macros(self.fabric);
        macros.extend(through.map(|through| (through, "1".to_owned())));
        let build = Build {
            name,
            target: "brisc",
            source: Source::Own("worker.cpp"),
            arguments: Arguments { macros, ..Arguments::default() },
            text: Some(TEXT),
        };
        let destination = if self.fabric.plan.topology.is_2d() {
            u32::from(to.mesh) << 16 | u32::from(to.device)
        } else {
            path.hops
        };
        let [x, y] = self.fabric.xy(delivered)?.map(u32::from);
        let pattern = (u32::from(chip.0) << 8 | number) << 16;
        let payload: Vec<u32> = (0..PAYLOAD_WORDS).map(|word| pattern | word).collect();
        let bytes = 4 * PAYLOAD_WORDS;
        let mut arguments =
            vec![PACKETS, bytes, HEADER, PAYLOAD, destination, x, y, delivery, SLOTS, WORDS];
        arguments.extend(connection);
        let mut words = self.client_words(path)?;
        words.push(L1Words::new("report and words of the connection", WORDS, vec![0; 0x18]));
        words.push(L1Words::new("payload", PAYLOAD, payload.clone()));
        let kernel = kernel(&build, place, arguments, words);
        builds.push(build);
        Ok(MetalWorker {
            kernel,
            packets_argument: 0,
            sent: u64::from(WORDS) + 4,
            delivery: Delivery {
                chip: delivered.chip.0,
                tile: tile(delivered.tile),
                address: delivery.into(),
                slots: SLOTS,
                payload,
            },
        })
    }

    /// Returns what a host writes into the tile of every client: routing tables, and the connection
    /// to the router.
    fn client_words(&self, path: &PacketPath<'_>) -> Result<Vec<L1Words>, BuildError> {
        Ok(vec![
            L1Words::new("routing_l1_info_t", ROUTING_INFO, routing_info(self.fabric, path.node)?),
            self.connection(path.router)?,
            L1Words::new(
                "valid_connections_mask",
                CONNECTIONS_MASK,
                vec![1 << path.router.eth.channel],
            ),
        ])
    }

    /// Returns a router's `fabric_connection_info_t` in the table of a compute tile.
    fn connection(&self, router: &Router) -> Result<L1Words, BuildError> {
        let l1 = &self.routers.l1;
        let none = || BuildError(format!("{router} has no channel for workers"));
        let sender = l1.senders.first().ok_or_else(none)?;
        let [x, y] = self.fabric.xy(router.place)?.map(u32::from);
        let direction = u32::from(direction_code(router.direction));
        let values = vec![
            sender.slots,
            sender.connection,
            sender.connection_info,
            sender.cursor,
            l1.slot_bytes | direction << 16 | x << 24,
            // The stream of the channel's free slots is 0.
            y | l1.sender_slots << 8,
        ];
        let channel = router.eth.channel;
        let address = CONNECTIONS + CONNECTION_BYTES * u32::from(channel);
        Ok(L1Words::new(format!("fabric_connection_info_t of e{channel}"), address, values))
    }
}
