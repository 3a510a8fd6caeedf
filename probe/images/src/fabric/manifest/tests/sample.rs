//! A manifest of a line of three chips: an end, the middle, and a chip of another host.

use serde_json::{Value, json};

/// Adds keys to an object.
fn with(mut object: Value, more: &Value) -> Value {
    let more = more.as_object().unwrap().clone();
    object.as_object_mut().unwrap().extend(more);
    object
}

fn region(address: u32, size: u32, schema: &str) -> Value {
    json!({ "address": address, "size": size, "schema": schema, "cleared_by_host": false })
}

fn array(address: u32, count: u32, each: u32, schema: &str) -> Value {
    let array = json!({ "num_elements": count, "size_per_element": each });
    with(region(address, count * each, schema), &array)
}

fn stream(id: u32) -> Value {
    json!({ "stream_id": id, "register": "buf_space_available", "schema": "u32" })
}

fn field(kind: &str, category: &str, content: &Value) -> Value {
    with(json!({ "category": category, "kind": kind }), content)
}

fn word(address: u32, schema: &str) -> Value {
    field("l1", "lifecycle", &region(address, 4, schema))
}

fn credits(id: u32) -> Value {
    field("stream", "flow_control", &stream(id))
}

fn value(kind: &str, value: &Value) -> Value {
    field(kind, "kernel_params", &json!({ "value": value }))
}

fn sender(index: u32, producer: Option<&str>) -> Value {
    let cursor = region(0xF140 + 16 * index, 16, "struct:SenderChannelProducerCursor");
    let info = region(0xF200 + 64 * index, 64, "struct:EDMChannelWorkerLocationInfo");
    json!({
        "status": "active",
        "serviced_by": ["erisc0"],
        "producer": producer,
        "ring_buffer": array(0x10000 + index * 8 * 4400, 8, 4400, "bytes"),
        "credits": { "completed": stream(4 + index) },
        "fields": {
            "is_injection_channel": value("flag", &json!(index == 0)),
            "free_slots": credits(21 + index),
            "connection": word(0xF120 + 4 * index, "u32"),
            "conn_info": field("l1", "control_info", &info),
            "buffer_index_sem": field("l1", "control_info", &cursor),
        },
    })
}

fn receiver() -> Value {
    json!({
        "status": "active",
        "serviced_by": ["erisc0"],
        "forwards_on": "vc0",
        "ring_buffer": array(0x30000, 8, 4400, "bytes"),
        "fields": { "forward_noc": value("number", &json!(1)), "pkts_sent": credits(0) },
    })
}

fn router(channel: u32, direction: u32, peer: &str, sibling: Option<&str>) -> Value {
    let edge = |to: &str| {
        let fields = json!({ "free_slots": credits(15), "teardown_sem": word(0xF160, "u32") });
        json!({ "edge1": {
            "downstream_channel": format!("{to}/channels/senders/vc0/ch1"),
            "through_tensix_mux": false,
            "fields": fields,
        }})
    };
    let counters =
        |address, space: &str| with(array(address, 8, 4, "u32"), &json!({ "index_space": space }));
    let facing = json!({ "value": direction, "schema": "enum:eth_chan_directions" });
    json!({
        "identity": {
            "eth_chan": channel,
            "logical_core": [0, channel],
            "virtual_core": [10 + channel, 17],
        },
        "link": {
            "edge_capability": "intramesh_cardinal",
            "peer": peer,
            "cross_host": peer.starts_with("M0/C2"),
            "wrap": false,
            "dispatch_link": false,
        },
        "shape": {
            "num_vcs": 1,
            "senders_per_vc": [2, 0, 0],
            "receivers_per_vc": [1, 0, 0],
            "num_active_eriscs": 1,
            "channel_trimming_overrides_applied": false,
            "vc0_bubble_flow_control": false,
        },
        "credit_counters": {
            "to_sender_ack": counters(0xF400, "own_sender_compact"),
            "to_sender_completion": counters(0xF420, "own_sender_compact"),
            "receiver_ack": counters(0xF440, "peer_sender_compact"),
            "receiver_completion": counters(0xF460, "peer_sender_compact"),
        },
        "channels": {
            "senders": { "vc0": { "ch0": sender(0, Some("worker")), "ch1": sender(1, sibling) } },
            "receivers": { "vc0": { "ch0": receiver() } },
        },
        "intra_chip_downstream_edges": sibling.map_or(json!({}), |to| json!({ "vc0": edge(to) })),
        "fields": {
            "edm_status": word(0xF010, "enum:EDMStatus"),
            "termination_signal": word(0xF020, "u32"),
            "local_sync": word(0xF030, "u32"),
            "handshake_sender": value("flag", &json!(true)),
            "vc2_receiver_free_slots": credits(32),
            "my_direction": field("enum", "kernel_params", &facing),
            "context_switch_interval": value("number", &json!(32)),
            "perf_telemetry": null,
        },
        "eriscs": { "erisc0": {
            "processor": "riscv_0",
            "fields": { "teardown_check_iterations": value("number", &json!(32)) },
        }},
        "leftover_l1": region(0x3A000, 0x1000, "bytes"),
    })
}

fn chip(device: u32, asic: &str, routers: &Value) -> Value {
    let count = routers.as_object().unwrap().len();
    json!({
        "mesh_coord": [0, device],
        "physical_chip_id": device,
        "asic_id": asic,
        "is_local": true,
        "z_port_role": "none",
        "local_sync": {
            "master": format!("M0/C{device}/E0"),
            "num_routers": count,
            "router_channels_mask": if count == 2 { 0x201 } else { 0x200 },
        },
        "routers": routers,
    })
}

fn member(name: &str, offset: u32, size: u32, schema: &str) -> Value {
    json!({ "name": name, "offset": offset, "size": size, "schema": schema })
}

fn types() -> Value {
    json!({
        "WorkerXY": { "size": 4, "members": [member("x", 0, 2, "u16"), member("y", 2, 2, "u16")] },
        "EDMChannelWorkerLocationInfo": { "size": 64, "members": [
            member("worker_semaphore_address", 0, 4, "u32"),
            member("worker_xy", 32, 4, "struct:WorkerXY"),
            member("edm_read_counter", 48, 4, "u32"),
        ]},
        "SenderChannelProducerCursor": { "size": 16, "members": [
            member("write_counter", 0, 4, "u32"),
            member("write_index", 4, 4, "u32"),
        ]},
    })
}

/// Returns the manifest.
pub(in crate::fabric::manifest) fn manifest() -> Value {
    let heartbeat = json!({
        "magic": 0xDCBA_0000_u32, "magic_mask": 0xFFFF_0000_u32, "period_iters": 1024,
    });
    let areas = json!({
        "heartbeat": with(region(0x1F80, 4, "u32"), &heartbeat),
        "fabric_telemetry": region(0x3F3A0, 160, "bytes"),
        "routing_table": region(0x3F440, 2048, "bytes"),
        "go_msg": region(0x9200, 4, "bytes"),
        "launch": array(0x9040, 4, 96, "bytes"),
        "launch_msg_rd_ptr": region(0x9030, 4, "u32"),
        "eth_fw_mailbox": null,
    });
    let end = json!({ "E0": router(9, 0, "M0/C1/W0", None) });
    let middle = json!({
        "E0": router(9, 0, "M0/C2/W0", Some("M0/C1/W0")),
        "W0": router(0, 1, "M0/C0/E0", Some("M0/C1/E0")),
    });
    let other_host = json!({
        "mesh_coord": [0, 2], "physical_chip_id": null, "asic_id": null, "is_local": false,
    });
    json!({
        "manifest_version": 1,
        "kind": "fabric_manifest",
        "run": {
            "arch": "wormhole_b0",
            "fabric_config": "fabric_1d",
            "reliability_mode": "strict_system_health_setup_mode",
            "tensix_config": "disabled",
            "udm_mode": "disabled",
            "host_rank": 0,
            "mpi_rank": 0,
            "world_size": 2,
            "written_at": "2026-11-22T12:00:00Z",
        },
        "fabric_context": {
            "topology": "linear",
            "is_2d_routing": false,
            "packet_header_size_bytes": 48,
            "max_payload_size_bytes": 4352,
            "channel_buffer_size_bytes": 4400,
            "routing_1d_extension_words": 0,
            "multi_txq": false,
        },
        "vocabulary": { "categories": ["lifecycle"], "kinds": ["l1"] },
        "archs": { "wormhole_b0": { "areas": areas, "types": types() } },
        "enums": {
            "EDMStatus": { "values": {
                "started": 0xA0B0_C0D0_u32, "ready_for_traffic": 0xA3B3_C3D3_u32,
            }},
            "eth_chan_directions": { "values": { "east": 0, "west": 1, "north": 2, "south": 3 } },
        },
        "meshes": { "M0": {
            "shape": [1, 3],
            "torus": { "y": false, "x": false },
            "express_routing": false,
            "credit_transport": { "vc0": { "backing": "stream_register", "reasons": [] } },
            "chips": {
                "C0": chip(0, "0x000000000000000a", &end),
                "C1": chip(1, "0x000000000000000b", &middle),
                "C2": other_host,
            },
        }},
    })
}
