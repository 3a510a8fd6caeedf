//! The fabric manifest as a source of routers: without ELFs it gives the same facts, and what
//! differs from an ELF is a finding.

use decode::inspect::{ReadSet, TargetFacts, decode, fabric_read_set, inspect};
use decode::state::{FabricState, HeadState, MeshState, RouterState};
use images::fabric::manifest::FabricManifest;
use images::{ImageMap, Reading};
use machine::snapshot::Snapshot;
use machine::target::{Mesh, Target as _};
use probe::session::Session;
use serde_json::{Value, json};
use std::path::Path;
use workloads::scene::{Scene, Workload};

const FILE: &str = "m.json";
/// Snapshots until everything that one refers to is read.
const SNAPSHOTS: usize = 4;
/// A router of chip 1, and a sender channel of it.
const ROUTER: &str = "/meshes/M0/chips/C1/routers/W0";
const SENDER: &str = "/meshes/M0/chips/C1/routers/W0/channels/senders/vc0/ch0";

/// A snapshot of routers, and the images and the manifest that describe them.
struct Seen {
    snapshot: Snapshot,
    mesh: Mesh,
    images: ImageMap,
    manifest: Value,
}

impl Seen {
    /// Decodes the snapshot by the ELFs and a manifest.
    fn with(&self, change: impl FnOnce(&mut Value)) -> MeshState {
        let mut manifest = self.manifest.clone();
        change(&mut manifest);
        let mut images = self.images.clone();
        images.add_manifest(FILE, &parsed(&manifest), &self.mesh);
        decode(&self.snapshot, &self.mesh, &images, &TargetFacts::default())
    }

    /// Decodes the snapshot by a manifest alone.
    fn by_manifest(&self, change: impl FnOnce(&mut Value)) -> MeshState {
        let mut manifest = self.manifest.clone();
        change(&mut manifest);
        let (mut images, _) = ImageMap::firmware();
        images.add_manifest(FILE, &parsed(&manifest), &self.mesh);
        inspect(&self.snapshot, &self.mesh, &images)
    }
}

fn parsed(manifest: &Value) -> FabricManifest {
    FabricManifest::parse(FILE, &serde_json::to_vec(manifest).unwrap()).unwrap()
}

/// Takes a snapshot of a session with the manifest in the folder of the kernels that run there.
fn seen(session: &mut Session, folder: &Path) -> Seen {
    let found = FabricManifest::beside(folder);
    let [path] = found.as_slice() else { panic!("one manifest: {found:?}") };
    let manifest: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let images = session.images().clone();
    session.add_manifest(FILE.as_ref(), &FabricManifest::read(path).unwrap());
    let mut read_set =
        ReadSet { links: true, fabric: true, fabric_tables: true, ..ReadSet::default() };
    for _ in 0..SNAPSHOTS {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    let snapshot = session.inspect(&read_set).snapshot;
    let mesh = session.target().mesh().clone();
    Seen { snapshot, mesh, images, manifest }
}

/// Checks that the manifest in the folder gives the facts that the ELFs give, without them.
pub(crate) fn same_facts(session: &mut Session, folder: &Path) {
    seen(session, folder).gives_the_same_facts();
}

/// Checks the manifest in the folder, and what is said of manifests that do not fit.
pub(crate) fn check(session: &mut Session, folder: &Path) {
    let seen = seen(session, folder);
    seen.gives_the_same_facts();
    differences(&seen);
    exchanged(&seen);
    other_chips(&seen);
    other_kernel(&seen);
    unused_stream(&seen);
    fixed_areas(session, &seen);
}

impl Seen {
    fn gives_the_same_facts(&self) {
        let both = self.with(|_| ());
        assert_eq!(both.fabric.findings, [""; 0]);
        let alone = self.by_manifest(|_| ());
        assert_eq!((both.fabric.routers.len(), alone.fabric.routers.len()), (4, 4));
        let mut compared = 0;
        for (own, other) in both.fabric.routers.iter().zip(&alone.fabric.routers) {
            assert_eq!((own.at, own.stage()), (other.at, other.stage()));
            for (own, other) in facts(own).into_iter().zip(facts(other)) {
                // The ELF lacks the name of the topology.
                let given = own.as_object().unwrap().iter();
                let given = given.filter(|(name, value)| *name != "unknown" && !value.is_null());
                for (name, value) in given {
                    assert_eq!(*value, other[name], "{name}");
                    compared += 1;
                }
            }
            assert_eq!(heads(own), heads(other), "{}", own.at);
        }
        // Of the router, of two senders and of a receiver, for four routers. Who writes the
        // heartbeat changes, and with it whether a router counts passes.
        println!("{compared} facts without an ELF");
        assert!(compared > 4 * 38, "{compared}");
        assert_eq!(both.fabric.tables, alone.fabric.tables);
        assert_eq!((both.fabric.tables.len(), both.fabric.ledgers), (4, alone.fabric.ledgers));
    }
}

/// Returns the packets in the slots of a router's channels.
fn heads(router: &RouterState) -> Vec<&HeadState> {
    let senders = router.senders.iter().flat_map(|channel| &channel.candidates);
    senders.chain(router.receivers.iter().flat_map(|channel| &channel.candidates)).collect()
}

/// Returns the facts of a router and of its channels.
fn facts(router: &RouterState) -> Vec<Value> {
    let senders = router.senders.iter().map(|channel| serde_json::to_value(&channel.facts));
    let receivers = router.receivers.iter().map(|channel| serde_json::to_value(&channel.facts));
    let own = std::iter::once(serde_json::to_value(&router.facts));
    own.chain(senders).chain(receivers).collect::<Result<_, _>>().unwrap()
}

fn set(manifest: &mut Value, router: &str, key: &str, value: Value) {
    *manifest.pointer_mut(&format!("{router}/{key}")).unwrap() = value;
}

fn differences(seen: &Seen) {
    let state = seen.with(|manifest| {
        set(manifest, SENDER, "fields/free_slots/stream_id", json!(20));
        set(manifest, SENDER, "fields/connection/address", json!(0x18100));
        set(manifest, SENDER, "ring_buffer/address", json!(0x20000));
        set(manifest, SENDER, "ring_buffer/num_elements", json!(4));
        let bytes = manifest.pointer(&format!("{SENDER}/ring_buffer/size_per_element")).unwrap();
        let bytes = bytes.as_u64().unwrap();
        set(manifest, SENDER, "ring_buffer/size", json!(4 * bytes));
        set(manifest, ROUTER, "fields/edm_status/address", json!(0x180A0));
        set(manifest, ROUTER, "fields/my_direction/value", json!(0));
        set(manifest, "/fabric_context", "packet_header_size_bytes", json!(80));
    });
    let FabricState { routers, findings, .. } = &state.fabric;
    let by = |fact: &str, elf: &str, manifest: &str| {
        format!("1:e0 {fact}: {elf} by the ELF router_1_e0, {manifest} by M0/C1/W0 of the manifest")
    };
    let expected = [
        by("direction", "WEST", "EAST"),
        by("status", "0x18090", "0x180a0"),
        by("senders[0].slots", "8", "4"),
        by("senders[0].slots_address", "0x182e0", "0x20000"),
        by("senders[0].free_slots", "stream 0", "stream 20"),
        by("senders[0].connection", "0x18110", "0x18100"),
        by("header_bytes", "64", "80"),
    ];
    let of_router: Vec<_> = findings.iter().filter(|it| it.starts_with("1:e0")).collect();
    assert_eq!(of_router, expected.iter().collect::<Vec<_>>());
    assert!(expected.iter().all(|finding| state.problems.contains(finding)));
    // The ELF, whose text is in L1, is believed.
    let router = routers.iter().find(|router| router.image == "router_1_e0").unwrap();
    assert!(router.facts.status.name().is_some());
    assert_eq!(router.senders[0].slots, 8);
    // Without ELFs, telemetry contradicts the manifest.
    let state = seen.by_manifest(|manifest| {
        set(manifest, ROUTER, "fields/my_direction/value", json!(0));
    });
    let finding = "1:e0 direction: WEST in FabricTelemetry in L1, EAST by M0/C1/W0";
    assert_eq!(state.fabric.findings, [finding]);
}

/// Without ELF and manifest, a router shows what it publishes at fixed addresses.
fn fixed_areas(session: &mut Session, seen: &Seen) {
    let (mut images, _) = ImageMap::firmware();
    let whole = session.inspect(&ReadSet { fabric: true, ..ReadSet::default() });
    std::mem::swap(session.parts().1, &mut images);
    let mut read_set = ReadSet { fabric: true, fabric_tables: true, ..ReadSet::default() };
    for _ in 0..SNAPSHOTS {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    let state = session.inspect(&read_set).state;
    std::mem::swap(session.parts().1, &mut images);
    let known = seen.by_manifest(|_| ()).fabric;
    assert_eq!((whole.state.fabric.routers.len(), state.fabric.routers.len()), (4, 4));
    assert_eq!(state.fabric.tables, known.tables);
    for (found, known) in state.fabric.routers.iter().zip(&known.routers) {
        let (facts, known) = (&found.facts, &known.facts);
        assert_eq!((found.image.as_str(), &facts.status), ("?", &Reading::Absent));
        assert!(facts.unknown["status"].contains("--manifest"));
        assert_eq!((&facts.node, &facts.peer), (&known.node, &known.peer));
        assert_eq!((&facts.direction, &facts.state), (&known.direction, &known.state));
        assert_eq!((&facts.command, &facts.postcode), (&known.command, &known.postcode));
        assert_eq!(facts.packets_moved, known.packets_moved);
    }
}

/// Another kernel runs where a manifest describes a router.
fn other_kernel(seen: &Seen) {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::RingPing), ..Scene::new("n300") };
    let target = scene.build(&mut images).unwrap();
    let mut manifest = seen.manifest.clone();
    for (chip, of) in ["C0", "C1"].into_iter().zip(&target.mesh().chips) {
        let id = format!("{:#018x}", of.unique_id.unwrap());
        set(&mut manifest, &format!("/meshes/M0/chips/{chip}"), "asic_id", json!(id));
    }
    let mut session = Session::with_target(Box::new(target), images);
    session.add_manifest(FILE.as_ref(), &parsed(&manifest));
    let read_set = ReadSet { fabric: true, proofs: true, ..ReadSet::default() };
    let fabric = session.inspect(&read_set).state.fabric;
    let finding = "0:e8: the kernel ring_ping runs there, M0/C0/E0 by the manifest".to_owned();
    assert!(fabric.findings.contains(&finding), "{:?}", fabric.findings);
    assert_eq!(fabric.routers.len(), 0);
}

/// The ASIC ids of two chips are exchanged: their routers are not where L1 says.
fn exchanged(seen: &Seen) {
    let state = seen.by_manifest(|manifest| {
        let id = |chip: &str| format!("/meshes/M0/chips/{chip}/asic_id");
        let [first, second] = ["C0", "C1"].map(|chip| manifest.pointer(&id(chip)).unwrap().clone());
        *manifest.pointer_mut(&id("C0")).unwrap() = second;
        *manifest.pointer_mut(&id("C1")).unwrap() = first;
        // The routers of the chips are on the channels of the other.
        let routers = |chip: &str| format!("/meshes/M0/chips/{chip}/routers");
        for (chip, key, channel) in
            [("C0", "E0", 0), ("C0", "E1", 1), ("C1", "W0", 8), ("C1", "W1", 9)]
        {
            let router = format!("{}/{key}", routers(chip));
            set(manifest, &router, "identity/eth_chan", json!(channel));
        }
    });
    let expected = "0:e8 node: M0D0 in L1, M0D1 by M0/C1/W0 of the manifest";
    assert!(state.fabric.findings.contains(&expected.to_owned()), "{:?}", state.fabric.findings);
    let expected = "0:e8 peer: M0D1 in the handshake in L1, M0D0 by M0/C1/W0 of the manifest";
    assert!(state.fabric.findings.contains(&expected.to_owned()));
}

/// Returns the number of routers that a manifest describes.
fn described(state: &MeshState) -> usize {
    state.fabric.routers.iter().filter(|router| router.image != "?").count()
}

fn other_chips(seen: &Seen) {
    let asic = |manifest: &mut Value, chip: &str, id: &str| {
        set(manifest, &format!("/meshes/M0/chips/{chip}"), "asic_id", json!(id));
    };
    let (first, second) = ("0x00000000000000aa", "0x00000000000000bb");
    let state = seen.by_manifest(|manifest| {
        asic(manifest, "C0", first);
        asic(manifest, "C1", second);
    });
    assert_eq!(described(&state), 0);
    let none =
        format!("{FILE}: it is of other chips: the mesh has none of the ASICs {first}, {second}");
    assert!(state.problems.contains(&none), "{:?}", state.problems);
    let state = seen.by_manifest(|manifest| asic(manifest, "C1", second));
    assert_eq!(described(&state), 2);
    assert!(state.problems.contains(&format!("{FILE}: the mesh has no ASIC {second}")));
}

/// A stream of 32 or more is no register: the fact is unknown, and the others are not.
fn unused_stream(seen: &Seen) {
    let state = seen.by_manifest(|manifest| {
        set(manifest, SENDER, "fields/free_slots/stream_id", json!(32));
    });
    let named = |router: &&RouterState| router.image == "M0/C1/W0";
    let router = state.fabric.routers.iter().find(named).unwrap();
    let sender = &router.senders[0].facts;
    assert_eq!(sender.free_slots.known(), None);
    let reason = "the manifest gives no credit stream below 32 for it";
    assert_eq!(sender.unknown["free_slots"], reason);
    assert!(sender.connection.known().is_some());
}
