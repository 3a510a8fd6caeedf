//! Tests with a manifest of a line of three chips, the last of them on another host.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use machine::fabric::Direction;
use serde_json::json;

mod refusals;
pub(super) mod sample;

use sample::manifest;

fn parse(manifest: &Value) -> Result<FabricManifest, String> {
    let text = serde_json::to_vec(manifest).unwrap();
    FabricManifest::parse("m.json", &text).map_err(|error| error.to_string())
}

fn path(device: u16, direction: Direction) -> RouterPath {
    RouterPath { node: FabricNode { mesh: 0, device }, direction: Some(direction), plane: 0 }
}

const fn space(id: u8) -> StreamRef {
    StreamRef { id, register: StreamRegister::SpaceAvailable }
}

#[test]
fn a_router_has_its_words_channels_and_neighbours() {
    let manifest = parse(&manifest()).unwrap();
    let (node, chip) = manifest.chip(0xB).unwrap();
    assert_eq!((node, chip.physical_chip_id), (FabricNode { mesh: 0, device: 1 }, 1));
    let router = chip.router(9).unwrap();
    assert_eq!(router.path, path(1, Direction::East));
    assert_eq!(manifest.router(router.path), Some(router));
    assert_eq!((router.logical_core, router.virtual_core), ([0, 9], [19, 17]));

    let status = router.fields.l1("edm_status").unwrap();
    assert_eq!(status.range(), 0xF010..0xF014);
    assert_eq!(status.ty.schema, Schema::Enum("EDMStatus".to_owned()));
    assert_eq!(manifest.enums["EDMStatus"]["ready_for_traffic"], 0xA3B3_C3D3);
    assert_eq!(router.fields.value("context_switch_interval"), Some(32));
    assert_eq!(router.fields.value("handshake_sender"), Some(1));
    assert_eq!(router.fields.value("my_direction"), Some(0));
    assert_eq!(router.eriscs[&0].fields.value("teardown_check_iterations"), Some(32));

    let [worker, forwarded] = router.senders.as_slice() else { panic!("two senders") };
    assert_eq!((worker.index, worker.producer), (0, Some(Producer::Worker)));
    let ring = RingBuffer { address: 0x10000, slots: 8, slot_bytes: 4400 };
    assert_eq!(worker.ring_buffer, Some(ring));
    assert_eq!(worker.completed, Credit::Stream(Some(space(4))));
    assert_eq!(worker.fields.stream("free_slots"), Some(space(21)));
    assert_eq!(worker.fields.l1("connection").unwrap().address, 0xF120);
    let west = path(1, Direction::West);
    assert_eq!((forwarded.index, forwarded.producer), (1, Some(Producer::Router(west))));

    let [receiver] = router.receivers.as_slice() else { panic!("one receiver") };
    assert_eq!(receiver.fields.stream("pkts_sent"), Some(space(0)));
    assert_eq!(receiver.forwards_on, Some(0));
    let [edge] = router.downstream.as_slice() else { panic!("one edge") };
    assert_eq!(edge.to, ChannelPath { router: west, virtual_channel: 0, channel: 1 });
    assert_eq!(edge.fields.stream("free_slots"), Some(space(15)));

    assert_eq!(router.link.peer.unwrap().to_string(), "M0/C2/W0");
    assert_eq!(manifest.router(router.link.peer.unwrap()), None);
    assert_eq!(chip.local_sync.unwrap().master, path(1, Direction::East));
    assert_eq!(manifest.meshes[&0].chips[&2].local, None);
}

#[test]
fn structs_and_areas_need_no_debug_information() {
    let manifest = parse(&manifest()).unwrap();
    let of = |path| manifest.member(path).map(|(offset, ty)| (offset, ty.bytes));
    assert_eq!(of("EDMChannelWorkerLocationInfo.edm_read_counter"), Some((48, 4)));
    assert_eq!(of("EDMChannelWorkerLocationInfo.worker_xy"), Some((32, 4)));
    assert_eq!(of("EDMChannelWorkerLocationInfo.worker_xy.y"), Some((34, 2)));
    for unknown in ["", "WorkerXY", "WorkerXY.z", "WorkerXY.x.y", "EDMStatus.started"] {
        assert_eq!(of(unknown), None, "{unknown}");
    }
    assert_eq!(manifest.areas.telemetry.range(), 0x3F3A0..0x3F440);
    assert_eq!(manifest.areas.heartbeat.word.address, 0x1F80);
    assert_eq!(
        (manifest.areas.launch.ty.count, manifest.areas.launch.ty.element_bytes()),
        (Some(4), 96)
    );
    assert_eq!(manifest.areas.eth_mailbox, None);
    assert_eq!((manifest.context.slot_bytes, manifest.context.extension_words), (4400, Some(0)));
}

/// A word that the router does not have is no word at address 0 or at stream 32.
#[test]
fn what_is_not_allocated_is_absent() {
    let mut manifest = manifest();
    let router = &mut manifest["meshes"]["M0"]["chips"]["C1"]["routers"]["E0"];
    router["fields"]["local_sync"] = Value::Null;
    router["fields"]["vc2_receiver_free_slots"]["stream_id"] = json!(99);
    let edge = &mut router["intra_chip_downstream_edges"]["vc0"]["edge1"];
    edge["fields"]["teardown_sem"]["address"] = json!(u32::MAX);
    let sender = &mut router["channels"]["senders"]["vc0"]["ch1"];
    sender["ring_buffer"] = Value::Null;
    sender["credits"]["completed"]["stream_id"] = json!(32);
    let manifest = parse(&manifest).unwrap();
    let router = manifest.chip(0xB).unwrap().1.router(9).unwrap();
    assert_eq!(router.fields.l1("local_sync"), None);
    assert_eq!(router.fields.0["vc2_receiver_free_slots"], Content::Stream(None));
    assert_eq!(router.downstream[0].fields.l1("teardown_sem"), None);
    assert_eq!(router.senders[1].ring_buffer, None);
    assert_eq!(router.senders[1].completed, Credit::Stream(None));
}

#[test]
fn credits_on_counters_have_an_address() {
    let mut manifest = manifest();
    let router = &mut manifest["meshes"]["M0"]["chips"]["C1"]["routers"]["E0"];
    let credits = &mut router["channels"]["senders"]["vc0"]["ch1"]["credits"];
    *credits = json!({
        "acked": { "array": "credit_counters/to_sender_ack", "index": 1 },
        "completed": { "array": "credit_counters/to_sender_completion", "index": 1 },
    });
    let manifest = parse(&manifest).unwrap();
    let router = manifest.chip(0xB).unwrap().1.router(9).unwrap();
    assert_eq!(router.senders[1].acked, Some(Credit::Counter(0xF404)));
    assert_eq!(router.senders[1].completed, Credit::Counter(0xF424));
}

#[test]
fn further_keys_are_allowed() {
    let mut more = manifest();
    let further = || json!({ "kind": "unknown" });
    more["further"] = further();
    more["run"]["further"] = further();
    let chip = &mut more["meshes"]["M0"]["chips"]["C1"];
    chip["further"] = further();
    let router = &mut chip["routers"]["E0"];
    for part in ["identity", "link", "shape", "credit_counters", "channels"] {
        router[part]["further"] = further();
    }
    router["channels"]["senders"]["vc0"]["ch0"]["ring_buffer"]["further"] = further();
    router["fields"]["edm_status"]["further"] = further();
    assert_eq!(parse(&more).unwrap(), parse(&manifest()).unwrap());
}

/// The vendor's files: `MESHSCOPE_FABRIC_MANIFESTS` is a folder of JSON files. A manifest is read,
/// and each other file is refused by its kind.
#[test]
fn the_vendors_files_are_read_or_refused_by_kind() {
    const FOLDER: &str = "MESHSCOPE_FABRIC_MANIFESTS";
    let Ok(folder) = std::env::var(FOLDER) else {
        eprintln!("skipped the vendor's manifests: {FOLDER} is not set");
        return;
    };
    let mut manifests = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let name = path.display().to_string();
        match FabricManifest::parse(&name, &bytes) {
            Ok(manifest) => {
                manifests += 1;
                let routers: usize =
                    manifest.local_chips().map(|(_, chip)| chip.routers.len()).sum();
                eprintln!("{name}: {routers} routers");
            }
            Err(error) => {
                assert_ne!((value["kind"] == KIND, value.get("layouts")), (true, None), "{error}");
                assert!(["kind", "layouts"].contains(&error.key.as_str()), "{error}");
                eprintln!("{error}");
            }
        }
    }
    eprintln!("{manifests} manifests of {folder}");
}
