//! tt-metal's fabric snapshots as targets: what the captured mesh shows, the snapshot of it shows.

mod capture;

use crate::children::meshscope;
use crate::tt_fabric::{Scratch, build, request, scene};
use capture::{Capture, Captured};
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{FabricState, Party, RouterState};
use images::ImageMap;
use images::fabric::manifest::FabricManifest;
use layouts::{ChipId, EthId};
use machine::fabric::FabricTopology;
use machine::target::Target;
use probe::session::Session;
use recordings::{FabricSnapshot, FabricWords};
use serde_json::Value;
use std::path::Path;
use tests::tt_fabric::Route;
use workloads::scene::{Scene, Workload};

/// The areas that the tool captures of a Wormhole router; the sizes are those of its T3000.
const AREAS: [(&str, u64, u32); 5] = [
    ("unreserved", 0x18000, 154_624),
    ("fabric_telemetry", 0x3F3A0, 160),
    ("routing_table", 0x3F440, 2704),
    ("go_msg", 0x3E1E0, 4),
    ("launch", 0x3DD60, 1152),
];
/// More than its workers send in any test.
const PACKETS: u64 = 1_000_000;
/// Time in which all channels behind a paused router fill.
const FILL_CYCLES: u64 = 3_000_000;
/// `RouterCommand::PAUSE`, and its offset in `RouterStateManager`.
const PAUSE: (u32, u64) = (1, 16);
const SNAPSHOTS: usize = 6;
const MANIFEST: &str = "fabric_manifest_rank_1_of_1.json";

const WAITS: &str = "router 1:e0: it is paused (RouterState PAUSED)
  router 1:e0 sender 0 waits for its router
  router 1:e0 receiver 0 waits for its router
    router 0:e8 sender 0 waits for completions
";

/// Returns the fabric as a session shows it without ELFs.
fn fabric_of(session: &mut Session) -> FabricState {
    let mut read_set =
        ReadSet { links: true, fabric: true, fabric_tables: true, ..ReadSet::default() };
    for _ in 0..SNAPSHOTS {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    session.inspect(&read_set).state.fabric
}

/// Collects the streams below 32 of a router in the manifest.
fn streams(value: &Value, found: &mut Vec<u64>) {
    match value {
        Value::Object(of) => {
            found.extend(of.get("stream_id").and_then(Value::as_u64).filter(|id| *id < 32));
            of.values().for_each(|value| streams(value, found));
        }
        Value::Array(of) => of.iter().for_each(|value| streams(value, found)),
        _ => {}
    }
}

/// Returns the routers of a manifest.
fn routers(manifest: &Value) -> Vec<Captured> {
    let chips = manifest["meshes"]["M0"]["chips"].as_object().unwrap();
    let mut found = Vec::new();
    for (name, chip) in chips {
        for router in chip["routers"].as_object().unwrap().values() {
            let id = |value: &Value| value.as_u64().unwrap();
            let address = |field: &str| id(&router["fields"][field]["address"]);
            let mut used = Vec::new();
            streams(router, &mut used);
            used.sort_unstable();
            used.dedup();
            let channel = id(&router["identity"]["eth_chan"]) as u8;
            found.push(Captured {
                at: EthId { chip: ChipId(id(&chip["physical_chip_id"]) as u16), channel },
                device: name[1..].parse().unwrap(),
                asic: u64::from_str_radix(&chip["asic_id"].as_str().unwrap()[2..], 16).unwrap(),
                streams: used,
                status: address("edm_status"),
                termination: address("termination_signal"),
            });
        }
    }
    found
}

/// Returns what does not change while nothing moves.
fn standing(router: &RouterState) -> Value {
    let mut facts = serde_json::to_value(&router.facts).unwrap();
    for changing in ["heartbeat", "passes", "rx_heartbeat", "tx_heartbeat"] {
        facts.as_object_mut().unwrap().remove(changing);
    }
    facts
}

/// Returns the facts of sender channels. Where a client runs takes the chip's fused-off rows, which
/// the tool does not capture.
fn senders(router: &RouterState) -> Vec<Value> {
    let mut all = Vec::new();
    for sender in &router.senders {
        let mut facts = serde_json::to_value(&sender.facts).unwrap();
        for absent in ["last_client", "client_credits", "client_teardown"] {
            facts.as_object_mut().unwrap().remove(absent);
        }
        all.push(facts);
    }
    all
}

#[test]
fn a_snapshot_of_a_stalled_fabric_shows_what_the_fabric_shows() {
    let Some(request) = request("n300", FabricTopology::Line, Route::Direct) else { return };
    build(&request);
    let found = FabricManifest::beside(&request.folder);
    let bytes = std::fs::read(&found[0]).unwrap();
    let manifest: Value = serde_json::from_slice(&bytes).unwrap();
    let (mut told, _) = ImageMap::firmware();
    let mut target = scene("n300", &request.folder, PACKETS).build(&mut told).unwrap();
    target.pass(FILL_CYCLES).unwrap();
    let far = EthId { chip: ChipId(1), channel: 0 };
    let place = target.mesh().place(far).unwrap();
    target.write(place.at(0x3F440 + PAUSE.1), &PAUSE.0.to_le_bytes()).unwrap();
    target.pass(FILL_CYCLES).unwrap();

    let scratch = Scratch::new("fabric-snapshot");
    let (images, _) = ImageMap::firmware();
    let mut session = Session::with_target(Box::new(target), images);
    session.add_manifest(MANIFEST.as_ref(), &FabricManifest::read(&found[0]).unwrap());
    let live = fabric_of(&mut session);
    let capture = Capture {
        routers: routers(&manifest),
        areas: AREAS.to_vec(),
        manifest: (MANIFEST, &bytes),
        samples: (4, 1_000_000),
    };
    let path = capture.write(session.target(), &scratch.0);
    let described = FabricManifest::read(&found[0]).unwrap();
    let kept = fabric_of(&mut kept(&path, &described));
    assert_eq!(kept.routers.len(), 4);
    for (own, other) in live.routers.iter().zip(&kept.routers) {
        assert_eq!((own.at, own.stage()), (other.at, other.stage()));
        assert_eq!(standing(own), standing(other), "{}", own.at);
        assert_eq!(senders(own), senders(other), "{}", own.at);
        assert_eq!(own.receivers, other.receivers);
        assert_eq!(own.downstream, other.downstream);
    }
    assert_eq!((&live.ledgers, &live.tables), (&kept.ledgers, &kept.tables));
    let of_routers = |fabric: &FabricState| -> Vec<_> {
        let waits = fabric.waits.all.iter();
        waits
            .filter(|wait| !matches!(wait.waiter, Party::Client(..) | Party::Core(_)))
            .cloned()
            .collect()
    };
    assert_eq!(of_routers(&live), of_routers(&kept));
    // One sample proves no hang, and names what is known of it.
    let once = Capture { samples: (1, 0), ..capture };
    let words = path.to_str().unwrap();
    let shown = |verb: &[&str]| meshscope(&[&["--target", words], verb].concat());
    let (text, code) = shown(&["why"]);
    let stands = "core 1:9-0:erisc: its router is paused and was not resumed";
    assert!(text.starts_with("it stands still") && text.contains(stands), "{text}");
    assert_eq!(code, 1);
    let (text, _) = shown(&["fabric", "waits"]);
    assert_eq!(text, WAITS);
    once.write(session.target(), &scratch.0);
    assert_eq!(shown(&["fabric", "waits"]), (WAITS.to_owned(), 4));
    let (text, code) = shown(&["why"]);
    assert!(text.starts_with("unknown (1 snapshot over 0 ns)"), "{text}");
    assert_eq!(code, 4);
    // Without the manifest the areas at fixed addresses are left.
    let absent = scratch.0.join(MANIFEST);
    std::fs::rename(&absent, scratch.0.join("kept.bak")).unwrap();
    let (text, code) = shown(&["fabric", "--json"]);
    let fabric: Value = serde_json::from_str(&text).unwrap();
    let states: Vec<_> = fabric["routers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["state"].as_str().unwrap())
        .collect();
    assert_eq!((states, code), (vec!["RUNNING", "RUNNING", "PAUSED", "RUNNING"], 4));
    std::fs::rename(scratch.0.join("kept.bak"), &absent).unwrap();
    assert_eq!(meshscope(&["--target", absent.to_str().unwrap(), "mesh"]).1, 2);
    let (text, _) = shown(&["links"]);
    assert!(text.contains("0:e8  9-6") && text.contains("1:e0  9-0"), "{text}");
}

/// Opens a snapshot without the addresses of words, which its L1 has.
fn kept(path: &Path, manifest: &FabricManifest) -> Session {
    let snapshot = FabricSnapshot::read(path).unwrap();
    let target = snapshot.into_target(manifest.mesh(), &FabricWords::default());
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    session.add_manifest(MANIFEST.as_ref(), manifest);
    session
}

/// Our own firmware proves itself by its build ids, and needs no manifest.
#[test]
fn a_snapshot_of_our_own_routers_needs_no_manifest() {
    let scene = Scene { run: Some(Workload::Fabric), ..Scene::new("n300") };
    let (mut told, _) = ImageMap::firmware();
    let target = scene.build(&mut told).unwrap();
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    let live = fabric_of(&mut session);
    assert_eq!(live.routers.len(), 2);
    let mesh = session.target().mesh().clone();
    let captured = |router: &RouterState| Captured {
        at: router.at,
        device: router.at.chip.0,
        asic: mesh.chip(router.at.chip).unwrap().unique_id.unwrap(),
        streams: (0..32).collect(),
        status: 0,
        termination: 0,
    };
    let capture = Capture {
        routers: live.routers.iter().map(captured).collect(),
        areas: vec![("l1", 0, 256 << 10)],
        manifest: ("absent.json", b"{}"),
        samples: (1, 0),
    };
    let scratch = Scratch::new("fabric-snapshot-own");
    let path = capture.write(session.target(), &scratch.0);
    let snapshot = FabricSnapshot::read(&path).unwrap();
    let mesh = snapshot.mesh();
    let target = snapshot.into_target(mesh, &FabricWords::default());
    let kept = fabric_of(&mut Session::with_target(Box::new(target), ImageMap::firmware().0));
    assert_eq!(kept.routers.len(), 2);
    for (own, other) in live.routers.iter().zip(&kept.routers) {
        assert_eq!((own.at, &own.image, own.stage()), (other.at, &other.image, other.stage()));
        assert_eq!(standing(own), standing(other), "{}", own.at);
        assert_eq!(senders(own), senders(other), "{}", own.at);
    }
}
