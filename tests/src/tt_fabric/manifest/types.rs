//! What the manifest says of all routers: structures and enumerations of tt-metal 0.81.1, and the
//! areas at fixed addresses (tt-metal.md 1.1, tt-metal.md 4.2, tt-metal.md 4.8).

use super::{array, region};
use serde_json::{Map, Value, json};

/// A member: name, schema, bytes of an element, number of elements.
type Member = (&'static str, &'static str, u32, u32);

const WORKER_XY: [Member; 2] = [("x", "u16", 2, 1), ("y", "u16", 2, 1)];
const LOCATION: [Member; 8] = [
    ("worker_semaphore_address", "u32", 4, 1),
    ("align_pad_0", "pad", 12, 1),
    ("worker_teardown_semaphore_address", "u32", 4, 1),
    ("align_pad_3", "pad", 12, 1),
    ("worker_xy", "struct:WorkerXY", 4, 1),
    ("align_pad_6", "pad", 12, 1),
    ("edm_read_counter", "u32", 4, 1),
    ("align_pad_9", "pad", 12, 1),
];
const CURSOR: [Member; 3] =
    [("write_counter", "u32", 4, 1), ("write_index", "u32", 4, 1), ("align_pad_0", "pad", 8, 1)];
const HANDSHAKE: [Member; 6] = [
    ("local_value", "u32", 4, 1),
    ("neighbor_mesh_id", "u16", 2, 1),
    ("neighbor_device_id", "u8", 1, 1),
    ("padding0", "pad", 1, 1),
    ("padding", "pad", 8, 1),
    ("scratch", "u32", 4, 4),
];
const STATE_MANAGER: [Member; 4] = [
    ("state", "enum:RouterState", 4, 1),
    ("padding0", "pad", 12, 1),
    ("command", "enum:RouterCommand", 4, 1),
    ("padding1", "pad", 12, 1),
];
const ROUTING_INFO: [Member; 11] = [
    ("state_manager", "struct:RouterStateManager", 32, 1),
    ("my_mesh_id", "u16", 2, 1),
    ("my_device_id", "u16", 2, 1),
    ("intra_mesh_direction_table", "packed:direction_table", 96, 256),
    ("inter_mesh_direction_table", "packed:direction_table", 384, 1024),
    ("route_table_2d", "bytes", 1160, 1),
    ("exit_node_table", "bytes", 1024, 1),
    ("my_mesh_coord_y", "u8", 1, 1),
    ("my_mesh_coord_x", "u8", 1, 1),
    ("mesh_y_size", "u8", 1, 1),
    ("mesh_x_size", "u8", 1, 1),
];
const TIMESTAMP: [Member; 1] = [("full", "u64", 8, 1)];
const BANDWIDTH: [Member; 4] = [
    ("elapsed_active_cycles", "struct:RiscTimestampV2", 8, 1),
    ("elapsed_cycles", "struct:RiscTimestampV2", 8, 1),
    ("num_words_sent", "u64", 8, 1),
    ("num_packets_sent", "u64", 8, 1),
];
const ERISC: [Member; 4] = [
    ("router_state", "enum:RouterState", 4, 1),
    ("padding0", "pad", 4, 1),
    ("tx_heartbeat", "struct:RiscTimestampV2", 8, 1),
    ("rx_heartbeat", "struct:RiscTimestampV2", 8, 1),
];
const DYNAMIC: [Member; 3] = [
    ("tx_bandwidth", "struct:BandwidthTelemetry", 32, 1),
    ("rx_bandwidth", "struct:BandwidthTelemetry", 32, 1),
    ("erisc", "struct:EriscDynamicEntry", 24, 2),
];
const STATIC: [Member; 8] = [
    ("version", "u32", 4, 1),
    ("mesh_id", "u16", 2, 1),
    ("neighbor_mesh_id", "u16", 2, 1),
    ("device_id", "u8", 1, 1),
    ("neighbor_device_id", "u8", 1, 1),
    ("direction", "u8", 1, 1),
    ("supported_stats", "enum:DynamicStatistics", 1, 1),
    ("fabric_config", "u32", 4, 1),
];
const TELEMETRY: [Member; 4] = [
    ("static_info", "struct:StaticInfo", 16, 1),
    ("dynamic_info", "struct:DynamicInfo", 112, 1),
    ("postcode", "u32", 4, 1),
    ("scratch", "u32", 4, 7),
];
const GO_MESSAGE: [Member; 4] = [
    ("dispatch_message_offset", "u8", 1, 1),
    ("master_x", "u8", 1, 1),
    ("master_y", "u8", 1, 1),
    ("signal", "u8", 1, 1),
];

/// Bits of an entry of a packed table.
const ENTRY_BITS: u32 = 3;

/// Returns `archs.<arch>.types`.
pub(super) fn structs() -> Value {
    let all: [(&str, &[Member]); 13] = [
        ("WorkerXY", &WORKER_XY),
        ("EDMChannelWorkerLocationInfo", &LOCATION),
        ("SenderChannelProducerCursor", &CURSOR),
        ("handshake_info_t", &HANDSHAKE),
        ("RouterStateManager", &STATE_MANAGER),
        ("routing_l1_info_t", &ROUTING_INFO),
        ("RiscTimestampV2", &TIMESTAMP),
        ("BandwidthTelemetry", &BANDWIDTH),
        ("EriscDynamicEntry", &ERISC),
        ("DynamicInfo", &DYNAMIC),
        ("StaticInfo", &STATIC),
        ("FabricTelemetry", &TELEMETRY),
        ("go_msg_t", &GO_MESSAGE),
    ];
    let all = all.map(|(name, members)| (name.to_owned(), layout(members)));
    Value::Object(Map::from_iter(all))
}

fn layout(members: &[Member]) -> Value {
    let mut offset = 0;
    let member = |(name, schema, each, count): &Member| {
        let packed = schema.starts_with("packed:");
        let size = if packed { *each } else { each * count };
        let mut member = json!({ "name": name, "offset": offset, "size": size, "schema": schema });
        if packed {
            member["num_elements"] = json!(count);
            member["bits_per_entry"] = json!(ENTRY_BITS);
        } else if *count > 1 {
            member["num_elements"] = json!(count);
            member["size_per_element"] = json!(each);
        }
        offset += size;
        member
    };
    let members: Vec<_> = members.iter().map(member).collect();
    json!({ "size": offset, "members": members })
}

/// Returns `enums`.
pub(super) fn enums() -> Value {
    json!({
        "EDMStatus": { "values": {
            "started": 0xA0B0_C0D0_u32,
            "remote_handshake_complete": 0xA1B1_C1D1_u32,
            "local_handshake_complete": 0xA2B2_C2D2_u32,
            "ready_for_traffic": 0xA3B3_C3D3_u32,
            "terminated": 0xA4B4_C4D4_u32,
            "initialization_started": 0xB0C0_D0E0_u32,
            "txq_initialized": 0xB1C1_D1E1_u32,
            "stream_reg_initialized": 0xB2C2_D2E2_u32,
            "downstream_edm_setup_started": 0xB3C3_D3E3_u32,
            "edm_vcs_setup_complete": 0xB4C4_D4E4_u32,
            "worker_interfaces_initialized": 0xB6C6_D6E6_u32,
            "ethernet_handshake_complete": 0xB7C7_D7E7_u32,
            "vcs_opened": 0xB8C8_D8E8_u32,
            "routing_table_initialized": 0xB9C9_D9E9_u32,
            "initialization_complete": 0xBACA_DAEA_u32,
        }},
        "TerminationSignal": { "values": {
            "keep_running": 0, "gracefully_terminate": 1, "immediately_terminate": 2,
        }},
        "RouterState": { "values": {
            "initializing": 0, "running": 1, "paused": 2, "draining": 3, "retraining": 4,
        }},
        "RouterCommand": { "values": { "run": 0, "pause": 1, "drain": 3, "retrain": 4 } },
        "DynamicStatistics": { "values": {
            "none": 0, "router_state": 1, "bandwidth": 2, "heartbeat_tx": 4, "heartbeat_rx": 8,
        }},
        "NocCmdBuf": { "values": { "write": 0, "read": 1, "write_reg": 2, "atomic": 3 } },
        "eth_chan_directions": { "values": {
            "east": 0, "west": 1, "north": 2, "south": 3, "z": 4, "count": 5,
        }},
    })
}

/// Returns `archs.<arch>.areas`.
pub(super) fn areas() -> Value {
    let mut heartbeat = region(0x1F80, 4, "u32");
    heartbeat["magic"] = json!(0xDCBA_0000_u32);
    heartbeat["magic_mask"] = json!(0xFFFF_0000_u32);
    heartbeat["period_iters"] = json!(64);
    json!({
        "heartbeat": heartbeat,
        "fabric_telemetry": region(0x3F3A0, 160, "struct:FabricTelemetry"),
        "routing_table": region(0x3F440, 2704, "struct:routing_l1_info_t"),
        "go_msg": region(0x3E1E0, 4, "struct:go_msg_t"),
        "launch": array(0x3DD60, 8, 144, "bytes"),
        "launch_msg_rd_ptr": region(0x3DD5C, 4, "u32"),
        "eth_fw_mailbox": null,
    })
}
