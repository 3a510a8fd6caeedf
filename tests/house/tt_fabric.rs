//! tt-metal's own routers, muxes and workers on emulated meshes, built out of the wheel's sources.
//!
//! Runs if `MESHSCOPE_TT_METAL_ELFS` names the folder of the unpacked Python package and Debian's
//! bare-metal compiler is installed. What was compiled stays in the target folder.

use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{Actor, FabricState, Party};
use diagnosis::{Condition, WaitGraph};
use images::{Catalog, ImageMap};
use launch::constant_of;
use launch::occupancy::{Loaded, check_tiles, survey_tiles};
use layouts::{ChipId, EthId, NocAddr};
use machine::fabric::FabricTopology;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::{Target, TargetBus};
use probe::session::Session;
use recordings::{Attachment, Replay, Writer};
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::tt_fabric::{Compiled, Request, Route, Settings};
use workloads::scene::tt_fabric::{DOCUMENT, Delivery, Document, MetalWorker};
use workloads::scene::{Scene, SceneError, Workload};

const PACKETS: u64 = 100;
/// Time within which the packets of all workers arrive, in cycles.
const ARRIVAL_CYCLES: u64 = 50_000_000;

/// Returns the request, if there are sources and a compiler.
pub(crate) fn request(mesh: &str, topology: FabricTopology, route: Route) -> Option<Request> {
    let Some(wheel) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from) else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return None;
    };
    if !wheel.join("ttnn/tt_metal/fabric/impl/kernels").is_dir() {
        println!("skipped: {} has no sources of tt-metal", wheel.display());
        return None;
    }
    let compiler = Command::new("riscv64-unknown-elf-g++").arg("--version").output();
    if compiler.is_err() || !Path::new("/usr/include/c++/12/algorithm").exists() {
        println!("skipped: gcc-riscv64-unknown-elf and libstdc++-12-dev are not installed");
        return None;
    }
    let name = format!("tt-fabric-{mesh}-{topology}-{route:?}");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (folder, compiled) = (target.join(name), target.join("tt-fabric-kernels"));
    let settings = Settings::default();
    let mesh = mesh.to_owned();
    Some(Request { mesh, topology, route, settings, wheel, folder, compiled })
}

pub(crate) fn build(request: &Request) -> Compiled {
    tests::tt_fabric::build(request).unwrap()
}

pub(crate) fn scene(mesh: &str, folder: &Path, traffic: u64) -> Scene {
    Scene {
        run: Some(Workload::TtFabric),
        kernels: Some(folder.to_owned()),
        traffic,
        ..Scene::new(mesh)
    }
}

fn words(target: &mut dyn Target, addr: NocAddr, count: u32) -> Vec<u32> {
    let len = 4 * count;
    let snapshot = target.read(&Plan { spans: vec![Span { addr, len }] });
    let bytes = snapshot.bytes(addr, len).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

pub(crate) fn word(target: &mut dyn Target, place: Place, at: u64) -> u32 {
    words(target, place.at(at), 1)[0]
}

/// Checks that all routers are ready for traffic and run, and that muxes wait for more clients.
fn check_ready(target: &mut dyn Target, document: &Document, images: &ImageMap) {
    let constant = |name: &str| {
        let router = &document.routers[0].kernel.name;
        constant_of(images, router, name).unwrap()
    };
    assert_eq!(constant("READY_FOR_TRAFFIC"), 0xA3B3_C3D3);
    for router in &document.routers {
        let (name, place) = (&router.kernel.name, router.kernel.place());
        let status = word(target, place, router.status);
        assert_eq!(status, constant("READY_FOR_TRAFFIC"), "{name}: {status:#x}");
        assert_eq!(word(target, place, router.state), constant("RouterState::RUNNING"), "{name}");
    }
    for mux in &document.muxes {
        let status = word(target, mux.kernel.place(), mux.status);
        // One that is not terminated has ended with its clients.
        let ended = mux.termination.is_none();
        let expected = constant(if ended { "TERMINATED" } else { "READY_FOR_TRAFFIC" });
        assert_eq!(status, expected, "{}: {status:#x}", mux.kernel.name);
    }
}

/// Returns the slots of a delivery, as words.
fn delivered(target: &mut dyn Target, delivery: &Delivery) -> Vec<Vec<u32>> {
    let [x, y] = delivery.tile;
    let tile = layouts::NocXy { x, y };
    let addr = NocAddr { chip: ChipId(delivery.chip), tile, offset: delivery.address };
    let len = delivery.payload.len() as u32;
    let all = words(target, addr, delivery.slots * len);
    all.chunks_exact(len as usize).map(<[u32]>::to_vec).collect()
}

/// Returns the slots after this many packets: the last packet of each.
fn expected(delivery: &Delivery, packets: u64) -> Vec<Vec<u32>> {
    let slots = u64::from(delivery.slots);
    let last = |slot: u64| (packets - 1 - slot) / slots * slots + slot;
    let payload = |slot| {
        let mut payload = delivery.payload.clone();
        payload[0] = last(slot) as u32;
        payload
    };
    (0..slots).map(payload).collect()
}

/// Lets time pass until the packets of all workers have arrived, and compares them.
pub(crate) fn check_traffic(target: &mut dyn Target, workers: &[MetalWorker], packets: u64) {
    let deadline = target.now().unwrap() + ARRIVAL_CYCLES;
    for MetalWorker { kernel, sent, delivery, .. } in workers {
        let expected = expected(delivery, packets);
        while delivered(target, delivery) != expected && target.now().unwrap() < deadline {
            target.pass(200_000).unwrap();
        }
        let count = word(target, kernel.place(), *sent);
        assert_eq!(u64::from(count), packets, "{} has sent {count}", kernel.name);
        assert_eq!(delivered(target, delivery), expected, "{}", kernel.name);
    }
}

/// Terminates muxes and routers, as tt-metal's host does, and checks that they end.
pub(crate) fn check_end(target: &mut dyn Target, document: &Document, images: &ImageMap) {
    let Document { routers, muxes, .. } = document;
    let constant = |name: &str| constant_of(images, &routers[0].kernel.name, name).unwrap();
    let signal = constant("IMMEDIATELY_TERMINATE").to_le_bytes();
    let of_muxes = muxes.iter().map(|mux| (&mux.kernel, mux.status, mux.termination));
    // A master tells the other routers of its chip.
    let of_routers = routers
        .iter()
        .map(|router| (&router.kernel, router.status, router.master.then_some(router.termination)));
    for ends in [of_muxes.collect::<Vec<_>>(), of_routers.collect()] {
        for (kernel, _, termination) in &ends {
            if let Some(termination) = termination {
                target.write(kernel.place().at(*termination), &signal).unwrap();
            }
        }
        let deadline = target.now().unwrap() + ARRIVAL_CYCLES;
        for (kernel, status, _) in ends {
            let terminated = constant("TERMINATED");
            while word(target, kernel.place(), status) != terminated {
                assert!(target.now().unwrap() < deadline, "{} runs on", kernel.name);
                target.pass(200_000).unwrap();
            }
        }
    }
}

/// Builds a fabric, brings it up, lets every worker send packets, and terminates it.
fn carries_packets(mesh: &str, topology: FabricTopology, route: Route, routers: usize) {
    let Some(request) = request(mesh, topology, route) else { return };
    let compiled = build(&request);
    println!("{mesh} {topology} {route:?}: {compiled:?}");
    let document = Document::read(&request.folder).unwrap();
    assert_eq!(document.routers.len(), routers);
    let (mut images, _) = ImageMap::firmware();
    let mut target = scene(mesh, &request.folder, PACKETS).build(&mut images).unwrap();
    println!("up at {} cycles", target.now().unwrap());
    check_traffic(&mut target, &document.workers, PACKETS);
    check_ready(&mut target, &document, &images);
    check_end(&mut target, &document, &images);
}

#[test]
fn a_line_of_two_chips_carries_packets() {
    carries_packets("n300", FabricTopology::Line, Route::Direct, 4);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn a_line_of_eight_chips_carries_packets() {
    carries_packets("t3000", FabricTopology::Line, Route::Mux, 28);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn a_mesh_of_forty_routers_carries_packets() {
    carries_packets("t3000", FabricTopology::Mesh, Route::Direct, 40);
}

#[test]
fn a_second_build_compiles_nothing() {
    let Some(request) = request("n300", FabricTopology::Line, Route::Direct) else { return };
    build(&request);
    let again = build(&request);
    assert_eq!((again.compiled, again.kernels), (0, 6));
}

/// Returns the document of a folder of kernels, to be written elsewhere, without workers.
fn with_absolute_paths(folder: &Path) -> Document {
    let mut document = Document::read(folder).unwrap();
    document.firmware = folder.join(&document.firmware);
    for router in &mut document.routers {
        router.kernel.elf = folder.join(&router.kernel.elf);
    }
    document.workers.clear();
    document
}

#[test]
fn routers_that_run_each_others_kernels_are_named() {
    let Some(request) = request("n300", FabricTopology::Line, Route::Direct) else { return };
    build(&request);
    let mut document = with_absolute_paths(&request.folder);
    let [near, far] = ["router_0_e8", "router_1_e0"]
        .map(|name| document.routers.iter().position(|it| it.kernel.name == name).unwrap());
    let elf = document.routers[near].kernel.elf.clone();
    document.routers[near].kernel.elf =
        std::mem::replace(&mut document.routers[far].kernel.elf, elf);
    let scratch = Scratch::new("tt-fabric-swapped");
    let text = serde_json::to_string(&document).unwrap();
    std::fs::write(scratch.0.join(DOCUMENT), text).unwrap();
    let (mut images, _) = ImageMap::firmware();
    let target = scene("n300", &scratch.0, 0).build(&mut images).unwrap();
    let mut session = Session::with_target(Box::new(target), images);
    let found = session.diagnose(2_000_000).unwrap().diagnosis.findings;
    let said = |at: usize| (found[at].condition, found[at].sentence.as_str());
    let words = [
        "router 0:e8: its kernel was built for Ethernet channel 0 (WEST)",
        "router 1:e0: its kernel was built for Ethernet channel 8 (EAST)",
    ];
    assert_eq!([said(0), said(1)], words.map(|words| (Condition::EndsDiffer, words)), "{found:#?}");
}

#[test]
fn a_bring_up_that_stops_shows_the_stage_of_each_router() {
    let Some(request) = request("n300", FabricTopology::Line, Route::Direct) else { return };
    build(&request);
    let mut document = with_absolute_paths(&request.folder);
    let lost = document.routers.pop().unwrap();
    assert_eq!(lost.kernel.name, "router_1_e1");
    let scratch = Scratch::new("tt-fabric-no-peer");
    let text = serde_json::to_string(&document).unwrap();
    std::fs::write(scratch.0.join(DOCUMENT), text).unwrap();
    let (mut images, _) = ImageMap::firmware();
    let mut target = scene("n300", &scratch.0, 0).build(&mut images).unwrap();
    let sentence = target.remarks().remove(0);
    let parts = [
        "not all kernels reached LOCAL_HANDSHAKE_COMPLETE in 40",
        "cycles: router_0_e9 STARTED, router_0_e8 REMOTE_HANDSHAKE_COMPLETE, router_1_e0 ",
    ];
    assert!(parts.iter().all(|part| sentence.contains(part)), "{sentence}");

    let at = document.routers[0].kernel.place();
    let found = survey_tiles(&mut target, &images, Vec::new(), vec![at], &Loaded::default());
    let in_use = check_tiles(&found.unwrap()).unwrap_err().sentence(images.layout());
    assert!(in_use.contains(" runs there, a router of a fabric that is up"), "{in_use}");

    let read_set = ReadSet { links: true, fabric: true, ..ReadSet::default() };
    let mut session = Session::with_target(Box::new(target), images);
    // Routers find arguments at addresses that the first snapshot reads.
    let first = session.inspect(&read_set).state.fabric;
    let fabric = session.inspect(&fabric_read_set(&first, &read_set)).state.fabric;
    let end = |chip, channel| EthId { chip: ChipId(chip), channel };
    let router = |chip, channel| fabric.routers.iter().find(|it| it.at == end(chip, channel));
    let stage = |chip, channel| {
        let stage = router(chip, channel).unwrap().stage().unwrap();
        (stage.name, stage.next)
    };
    assert_eq!(stage(0, 9), ("remote handshake", Actor::Peer));
    assert_eq!(router(1, 1), None);
    let master = document.routers.iter().find(|it| it.kernel.chip == 0 && it.master).unwrap();
    let by_role = [Actor::Master, Actor::Siblings];
    assert_eq!(stage(0, 8), ("local sync", by_role[usize::from(master.channel == 8)]));
    assert_eq!(stage(1, 0).0, "local sync");
    let party = |chip, channel| Party::Router(end(chip, channel));
    let waits = WaitGraph::from(&fabric.waits);
    assert_eq!(waits.roots(), [party(1, 1)], "{:?}", waits.all);
    let words = "no router was found there: no kernel was launched on its core";
    assert_eq!(waits.notes[&party(1, 1)], words);
    let masters = document.routers.iter().filter(|it| it.master && it.channel != 9);
    for master in masters {
        let note = &waits.notes[&party(master.kernel.chip, master.channel)];
        assert!(note.starts_with("its edm_local_sync is 0 of 1: "), "{note}");
    }
    let replayed = replayed(&mut session, &scratch.0.join("stopped.mcap"));
    let seen = |fabric: &FabricState| {
        let routers = fabric.routers.iter().map(|it| (it.at, it.image.clone(), it.stage()));
        (routers.collect::<Vec<_>>(), fabric.waits.all.clone(), fabric.waits.notes.clone())
    };
    assert!(seen(&replayed) == seen(&fabric), "{:?}", seen(&replayed));
}

/// Returns the fabric as a recording of the session shows it, without any folder of ELFs.
fn replayed(session: &mut Session, file: &Path) -> FabricState {
    let mut writer = Writer::create(file, session.target(), "").unwrap();
    // The replay knows images by build ids and texts.
    let known = ReadSet { proofs: true, texts: true, ..ReadSet::default() };
    let mut read_set = ReadSet { links: true, details: true, fabric: true, ..known };
    for _ in 0..3 {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    writer.append(&session.inspect(&read_set).snapshot).unwrap();
    for (name, elf) in session.images().attachments() {
        writer.attach_elf(&name, elf).unwrap();
    }
    writer.finish().unwrap();
    let replay = Replay::open(file).unwrap();
    let mut catalog = Catalog::default();
    for Attachment { name, bytes } in replay.attachments() {
        catalog.attach(file, name, bytes.clone());
    }
    let mut session = Session::with_target(Box::new(replay), ImageMap::firmware().0);
    session.add_catalog(catalog);
    session.inspect(&read_set).state.fabric
}

/// A folder of this process that is removed at the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn refusal(folder: &Path) -> String {
    let (mut images, _) = ImageMap::firmware();
    match scene("n300", folder, 0).build(&mut images) {
        Err(error @ SceneError::Kernels(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the folder was accepted"),
    }
}

#[test]
fn a_bad_folder_of_kernels_is_refused_in_one_sentence() {
    let scratch = Scratch::new("tt-fabric-bad");
    let folder = &scratch.0;
    let absent = folder.join("absent");
    assert!(refusal(&absent).ends_with("absent: there is no such folder of kernels"));
    let path = folder.join(DOCUMENT);
    assert!(refusal(folder).starts_with(&format!("{}: No such file", path.display())));
    let document = r#"{ "mesh": { "name": "t3000", "fused_off_rows": [], "links": [] }, "topology": "line", "firmware": "f", "routers": [], "muxes": [],
        "workers": [], "schema": 2 }"#;
    for (text, why) in [
        ("{", "EOF while parsing"),
        (r#"{ "schema": 1 }"#, "its schema is 1; this version reads 2"),
        (r#"{ "schema": 2 }"#, "missing field `mesh`"),
        (&document.replace("topology", "shape"), "unknown field `shape`"),
        (document, "it has no routers"),
    ] {
        std::fs::write(&path, text).unwrap();
        let refused = refusal(folder);
        assert!(refused.contains(why), "{refused}");
        assert!(refused.starts_with(&path.display().to_string()), "{refused}");
    }
}
