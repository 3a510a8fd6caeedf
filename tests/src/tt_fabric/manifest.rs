//! The fabric manifest, as tt-metal's host writes it for the routers of one rank.
//!
//! Addresses, streams and settings are those of the routers' arguments; sizes and offsets of structs
//! are those of tt-metal's headers.

mod types;

use super::BuildError;
use super::arguments::Arguments;
use super::router::Routers;
use fabric::Router;
use machine::fabric::{Direction, FabricNode};
use serde_json::{Map, Value, json};

/// The file below the folder of the build.
pub(super) const FILE: &str = "generated/fabric/fabric_manifest_rank_1_of_1.json";

/// Counters of an array of credits: the most senders of a router.
const COUNTERS: u32 = 10;
/// Bytes of packet headers, by topology: `LowLatencyPacketHeaderT<1>`, `HybridMeshPacketHeaderT<36>`.
const HEADER_BYTES: [u32; 2] = [64, 96];

/// Returns the manifest.
pub(super) fn manifest(routers: &Routers<'_>) -> Result<Value, BuildError> {
    let fabric = routers.fabric;
    let (plan, two) = (&fabric.plan, fabric.plan.topology.is_2d());
    let mut chips = Map::new();
    let mesh = plan.meshes.first();
    let (rows, columns) = mesh.map_or((1, 1), |mesh| (mesh.rows, mesh.columns));
    for (device, id) in (0_u16..).zip(mesh.into_iter().flat_map(|mesh| &mesh.chips)) {
        let node = FabricNode { mesh: 0, device };
        let (row, column) = mesh.map_or((0, 0), |mesh| mesh.place(device.into()));
        let own: Vec<_> = plan.routers_of(*id).collect();
        let mask = own.iter().fold(0_u32, |mask, router| mask | 1 << router.eth.channel);
        let master = own.iter().find(|router| router.master).map(|router| path(router));
        let mut of_chip = Map::new();
        for router in &own {
            of_chip.insert(key(router), one(routers, router)?);
        }
        let asic = fabric.mesh.chip(*id).and_then(|chip| chip.unique_id).unwrap_or(id.0.into());
        let chip = json!({
            "mesh_coord": [row, column],
            "physical_chip_id": id.0,
            "asic_id": format!("{asic:#018x}"),
            "is_local": true,
            "z_port_role": "none",
            "local_sync": master.map(|master| json!({
                "master": master, "num_routers": own.len(), "router_channels_mask": mask,
            })),
            "routers": of_chip,
        });
        chips.insert(format!("C{}", node.device), chip);
    }
    let header = HEADER_BYTES[usize::from(two)];
    let mut context = json!({
        "topology": if two { "mesh" } else { "linear" },
        "is_2d_routing": two,
        "packet_header_size_bytes": header,
        "max_payload_size_bytes": routers.l1.slot_bytes - header,
        "channel_buffer_size_bytes": routers.l1.slot_bytes,
        "multi_txq": false,
    });
    let (sized, size) =
        if two { ("routing_2d_route_buffer_size", 36) } else { ("routing_1d_extension_words", 1) };
    context[sized] = json!(size);
    Ok(json!({
        "manifest_version": 1,
        "kind": "fabric_manifest",
        "run": {
            "arch": "wormhole_b0",
            "fabric_config": if two { "fabric_2d" } else { "fabric_1d" },
            "reliability_mode": "strict_system_health_setup_mode",
            "tensix_config": "disabled",
            "udm_mode": "disabled",
            "host_rank": 0,
            "mpi_rank": 0,
            "world_size": 1,
            "written_at": "2026-01-01T00:00:00Z",
        },
        "fabric_context": context,
        "vocabulary": {
            "categories": ["lifecycle", "kernel_params", "flow_control", "control_info", "diagnostics"],
            "kinds": ["l1", "stream", "number", "flag", "enum"],
        },
        "archs": { "wormhole_b0": { "areas": types::areas(), "types": types::structs() } },
        "enums": types::enums(),
        "meshes": { "M0": {
            "shape": [rows, columns],
            "torus": { "x": false, "y": false },
            "express_routing": false,
            "credit_transport": { "vc0": { "backing": "stream_register", "reasons": [] } },
            "chips": chips,
        }},
    }))
}

fn letter(direction: Direction) -> char {
    direction.name().chars().next().unwrap_or('Z')
}

fn key(router: &Router) -> String {
    format!("{}{}", letter(router.direction), router.plane)
}

fn path(router: &Router) -> String {
    format!("M{}/C{}/{}", router.node.mesh, router.node.device, key(router))
}

fn region(address: u32, size: u32, schema: &str) -> Value {
    json!({ "address": address, "size": size, "schema": schema, "cleared_by_host": true })
}

fn array(address: u32, count: u32, each: u32, schema: &str) -> Value {
    let mut found = region(address, count * each, schema);
    found["num_elements"] = json!(count);
    found["size_per_element"] = json!(each);
    found
}

fn field(kind: &str, category: &str, mut content: Value) -> Value {
    content["kind"] = json!(kind);
    content["category"] = json!(category);
    content
}

fn l1(address: u32, size: u32, schema: &str) -> Value {
    field("l1", "lifecycle", region(address, size, schema))
}

/// What the kernel's arguments say.
struct Fed(Arguments);

impl Fed {
    fn number(&self, name: &str) -> u32 {
        self.0.named.get(name).copied().unwrap_or(0)
    }

    fn stream(&self, name: &str) -> Value {
        let id = self.number(name);
        json!({ "stream_id": id, "register": "buf_space_available", "schema": "u32" })
    }

    fn credits(&self, name: &str) -> Value {
        field("stream", "flow_control", self.stream(name))
    }

    fn flag(&self, name: &str) -> Value {
        field("flag", "kernel_params", json!({ "value": self.number(name) != 0 }))
    }

    fn value(&self, name: &str) -> Value {
        field("number", "kernel_params", json!({ "value": self.number(name) }))
    }
}

/// Describes a router.
fn one(routers: &Routers<'_>, router: &Router) -> Result<Value, BuildError> {
    let fed = Fed(routers.arguments(router)?);
    let (fabric, l1_of) = (routers.fabric, &routers.l1);
    let senders = l1_of.senders.len() as u32;
    let peer = fabric.plan.routers.iter().find(|other| other.eth == router.peer);
    let counters = |argument: &str, space: &str| {
        let mut found =
            array(fed.number(&format!("{argument}_COUNTERS_BASE_ADDR")), COUNTERS, 4, "u32");
        found["index_space"] = json!(space);
        found
    };
    let facing = json!({
        "value": fed.number("MY_DIRECTION"), "schema": "enum:eth_chan_directions",
    });
    Ok(json!({
        "identity": {
            "eth_chan": router.eth.channel,
            "logical_core": [0, router.eth.channel],
            "virtual_core": fabric.xy(router.place)?,
        },
        "link": {
            "edge_capability": "intramesh_cardinal",
            "peer": peer.map(path),
            "cross_host": false,
            "wrap": false,
            "dispatch_link": router.plane == 0,
        },
        "shape": {
            "num_vcs": 1,
            "senders_per_vc": [senders, 0, 0],
            "receivers_per_vc": [1, 0, 0],
            "num_active_eriscs": 1,
            "channel_trimming_overrides_applied": false,
            "vc0_bubble_flow_control": false,
        },
        "credit_counters": {
            "to_sender_ack": counters("TO_SENDER_REMOTE_ACK", "own_sender_compact"),
            "to_sender_completion": counters("TO_SENDER_REMOTE_COMPLETION", "own_sender_compact"),
            "receiver_ack": counters("LOCAL_RECEIVER_ACK", "peer_sender_compact"),
            "receiver_completion": counters("LOCAL_RECEIVER_COMPLETION", "peer_sender_compact"),
        },
        "channels": {
            "senders": { "vc0": channels(routers, router, &fed) },
            "receivers": { "vc0": { "ch0": {
                "status": "active",
                "serviced_by": ["erisc0"],
                "forwards_on": "vc0",
                "ring_buffer":
                    array(l1_of.receiver, l1_of.receiver_slots, l1_of.slot_bytes, "bytes"),
                "fields": {
                    "forward_noc": fed.value("RX_CH_0_FWD_NOC_ID"),
                    "pkts_sent": fed.credits("TO_RECEIVER_0_PKTS_SENT_ID"),
                },
            }}},
        },
        "intra_chip_downstream_edges": edges(routers, router, &fed),
        "fields": {
            "edm_status": l1(fed.number("EDM_STATUS_PTR_ADDR"), 4, "enum:EDMStatus"),
            "termination_signal":
                l1(fed.number("TERMINATION_SIGNAL_ADDR"), 4, "enum:TerminationSignal"),
            "local_sync": l1(fed.number("EDM_LOCAL_SYNC_PTR_ADDR"), 4, "u32"),
            "handshake": l1(fed.number("HANDSHAKE_ADDR"), 32, "struct:handshake_info_t"),
            "handshake_sender": fed.flag("IS_HANDSHAKE_SENDER"),
            "my_direction": field("enum", "kernel_params", facing),
            "wait_for_host_signal": fed.flag("WAIT_FOR_HOST_SIGNAL"),
            "context_switch_interval": fed.value("SWITCH_INTERVAL"),
            "perf_telemetry": l1(fed.number("PERF_TELEMETRY_BUFFER_ADDR"), 32, "bytes"),
            "vc2_receiver_free_slots": fed.credits("VC2_RECEIVER_FREE_SLOTS_STREAM_ID"),
        },
        "eriscs": { "erisc0": {
            "processor": "riscv_0",
            "fields": {
                "local_handshake_master": fed.flag("IS_LOCAL_HANDSHAKE_MASTER"),
                "telemetry_stats_mask": fed.value("FABRIC_TELEMETRY_STATS_MASK"),
            },
        }},
        "leftover_l1": null,
    }))
}

fn channels(routers: &Routers<'_>, router: &Router, fed: &Fed) -> Value {
    let (l1_of, settings) = (&routers.l1, routers.settings);
    let of_chip = || routers.fabric.plan.routers_of(router.eth.chip);
    let mut found = Map::new();
    for (index, sender) in l1_of.senders.iter().enumerate() {
        let feeds = |other: &&Router| {
            let downstream = routers.downstream(other);
            downstream.iter().any(|next| next.router.eth == router.eth && next.channel == index)
        };
        let sibling = of_chip().find(feeds).map(path);
        let producer = if index == 0 { Some("worker".to_owned()) } else { sibling };
        let info = "struct:EDMChannelWorkerLocationInfo";
        let credit = |what: &str, stream: String| {
            if settings.counter_credits {
                json!({ "array": format!("credit_counters/to_sender_{what}"), "index": index })
            } else {
                fed.stream(&stream)
            }
        };
        let channel = json!({
            "status": "active",
            "serviced_by": ["erisc0"],
            "producer": producer,
            "ring_buffer": array(sender.slots, l1_of.sender_slots, l1_of.slot_bytes, "bytes"),
            "credits": {
                "completed": credit("completion", format!("TO_SENDER_{index}_PKTS_COMPLETED_ID")),
                "acked": settings.first_level_ack.then(|| {
                    credit("ack", format!("TO_SENDER_{index}_PKTS_ACKED_ID"))
                }),
            },
            "fields": {
                "is_injection_channel": fed.flag(&format!("SENDER_CH_{index}_IS_INJECTION")),
                "free_slots": fed.credits(&format!("SENDER_CHANNEL_{index}_FREE_SLOTS_STREAM_ID")),
                "connection": l1(sender.connection, 4, "u32"),
                "conn_info": l1(sender.connection_info, 64, info),
                "buffer_index_sem": l1(sender.cursor, 16, "struct:SenderChannelProducerCursor"),
            },
        });
        found.insert(format!("ch{index}"), channel);
    }
    found.into()
}

fn edges(routers: &Routers<'_>, router: &Router, fed: &Fed) -> Value {
    let mut found = Map::new();
    for next in routers.downstream(router) {
        let number = next.index + 1;
        let stream = format!("VC0_FREE_SLOTS_FROM_DOWNSTREAM_EDGE_{number}_STREAM_ID");
        let teardown = routers.l1.teardowns.get(next.index as usize).copied().unwrap_or(0);
        let edge = json!({
            "downstream_channel":
                format!("{}/channels/senders/vc0/ch{}", path(next.router), next.channel),
            "through_tensix_mux": false,
            "fields": { "free_slots": fed.credits(&stream), "teardown_sem": l1(teardown, 4, "u32") },
        });
        found.insert(format!("edge{number}"), edge);
    }
    if found.is_empty() { json!({}) } else { json!({ "vc0": found }) }
}
