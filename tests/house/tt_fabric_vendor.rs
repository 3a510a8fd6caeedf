//! tt-metal's pair of routers, with tt-metal's workers, walks through the states of a fabric on the
//! emulator and on the vendor's simulator: the same kernels show the same facts on both.

use crate::tt_fabric::{build, check_end, request};
use crate::tt_fabric_states::{FAR, NEAR, golden};
use decode::images::ImageMap;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{FabricState, Party, Reading};
use launch::constant_of;
use layouts::EthId;
use machine::fabric::FabricTopology;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Allow;
use probe::session::{Inspected, Session};
use recordings::{Replay, Writer};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tests::tt_fabric::{Request, Route};
use transport::ttsim::{HOST_ARGUMENT, HostCommand, run_host_if_requested};
use workloads::scene::tt_fabric::Document;

/// Two chips as those of the simulator `wh_x2`.
const MESH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tt-fabric/wh_x2.yaml");
/// Packets of each worker: more than the fabric carries before the first pause. A scene of the
/// emulator is handed over at a multiple of 10 ms.
const EMULATOR_PACKETS: u64 = 15_000;
const SIMULATOR_PACKETS: u64 = 2_000;
/// Time after which a paused fabric stands.
const SETTLE_CYCLES: u64 = 600_000;
/// Time within which all packets arrive.
const ARRIVAL_CYCLES: u64 = 40_000_000;

/// Snapshots until everything that one refers to is read.
const SNAPSHOTS: usize = 4;

/// Takes snapshots until one has everything, and returns that one.
fn whole(session: &mut Session) -> Inspected {
    let mut read_set = ReadSet { links: true, fabric: true, ..ReadSet::default() };
    for _ in 0..SNAPSHOTS {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    session.inspect(&read_set)
}

/// A machine on which the fabric runs, and what has been seen of it.
struct Walk {
    session: Session,
    images: ImageMap,
    document: Document,
    writer: Writer,
    packets: u64,
    names: Vec<&'static str>,
    seen: String,
}

impl Walk {
    /// Adds the facts of a state.
    fn look(&mut self, name: &'static str) {
        let before = self.record();
        self.session.target().pass(SETTLE_CYCLES).unwrap();
        let fabric = self.record();
        let roots = fabric.waits.lasting(&before.waits).roots();
        self.names.push(name);
        self.seen += &text(name, &fabric, &roots, self.packets);
    }

    fn record(&mut self) -> FabricState {
        let inspected = whole(&mut self.session);
        self.writer.append(&inspected.snapshot).unwrap();
        inspected.state.fabric
    }

    fn write(&mut self, at: EthId, address: u64, value: u32) {
        let target = self.session.target();
        let tile = target.mesh().layout().eth_channel(at.channel).unwrap();
        let place = Place { chip: at.chip, tile };
        target.write(place.at(address), &value.to_le_bytes()).unwrap();
    }

    /// Writes a `RouterCommand`.
    fn command(&mut self, at: EthId, command: &str) {
        let command = format!("RouterCommand::{command}");
        let router = &self.document.routers[0].kernel.name;
        let value = constant_of(&self.images, router, &command).unwrap();
        let manager = self.session.target().mesh().layout().eth.l1.fabric_routing.at;
        self.write(at, manager + 16, value);
    }

    /// Lets time pass until every worker has sent all its packets and has closed its connection.
    fn arrive(&mut self) {
        let target = self.session.target();
        let deadline = target.now().unwrap() + ARRIVAL_CYCLES;
        for worker in &self.document.workers {
            let addr = worker.kernel.place().at(worker.sent);
            let plan = Plan { spans: vec![Span { addr, len: 4 }] };
            while target.read(&plan).word(addr).map(u64::from) != Ok(self.packets) {
                assert!(target.now().unwrap() < deadline, "{} stands", worker.kernel.name);
                target.pass(SETTLE_CYCLES).unwrap();
            }
        }
        target.pass(SETTLE_CYCLES).unwrap();
    }
}

/// Walks on a machine; returns the facts of each state, live and from the recording.
fn walk(
    target: &str,
    folder: &Path,
    packets: u64,
    host: &HostCommand,
    file: &Path,
) -> (String, String) {
    let kernels = folder.display();
    let words = format!("{target},run=tt-fabric,kernels={kernels},traffic={packets}");
    let mut session = Session::open(&words, host, Allow::ALL).unwrap();
    let _ = std::fs::remove_file(file);
    let writer = Writer::create(file, session.target()).unwrap();
    let document = Document::read(folder).unwrap();
    let images = session.images().clone();
    let (names, seen) = (Vec::new(), String::new());
    let mut walk = Walk { session, images, document, writer, packets, names, seen };
    walk.command(FAR, "PAUSE");
    walk.session.target().pass(SETTLE_CYCLES).unwrap();
    walk.look("the far router is paused");
    walk.command(NEAR, "PAUSE");
    walk.command(FAR, "RUN");
    walk.session.target().pass(SETTLE_CYCLES).unwrap();
    walk.look("the near router is paused");
    walk.command(NEAR, "RUN");
    walk.arrive();
    walk.look("the workers have closed");
    check_end(walk.session.target(), &walk.document, &walk.images);
    walk.look("the routers are terminated");
    let Walk { images, writer, names, seen, .. } = walk;
    writer.finish().unwrap();
    let replayed = replayed(file, &images, &names, packets);
    (seen, replayed)
}

/// Returns the facts of each state as the recording shows them.
fn replayed(file: &Path, images: &ImageMap, names: &[&str], packets: u64) -> String {
    let mut found = String::new();
    for (number, name) in names.iter().enumerate() {
        let [before, after] = [2 * number, 2 * number + 1].map(|moment| {
            let mut replay = Replay::open(file).unwrap();
            replay.seek(moment);
            let mut session = Session::with_target(Box::new(replay), images.clone());
            whole(&mut session).state.fabric
        });
        let roots = after.waits.lasting(&before.waits).roots();
        found += &text(name, &after, &roots, packets);
    }
    found
}

/// Shows the facts that do not depend on the time of the snapshot. Counts of packets do as long as
/// workers send.
fn text(name: &str, fabric: &FabricState, roots: &[Party], packets: u64) -> String {
    let mut text = format!("{name}\n");
    // A router that base firmware keeps from its loop for long is no cause if nobody waits for it.
    let waited = roots.iter().filter(|root| fabric.waits.on(**root).next().is_some());
    let roots: Vec<_> = waited.map(ToString::to_string).collect();
    let _ = writeln!(text, "  waits for: {}", roots.join(", "));
    let at_rest = fabric.clients.is_empty();
    // A router counts what it sends and what it forwards.
    let counted = |reading: &Reading<u64>| match reading.known() {
        _ if !at_rest => "-".to_owned(),
        Some(moved) if *moved == 2 * packets => "all".to_owned(),
        _ => count(reading),
    };
    for router in &fabric.routers {
        let facts = &router.facts;
        let stage = router.stage().map_or("?", |stage| stage.name);
        let name = |reading: Option<&str>| reading.unwrap_or("?").to_owned();
        let handshake = facts.handshake.known().map_or(0, |word| *word);
        let peer = facts.peer.known().map_or("?".to_owned(), ToString::to_string);
        let _ = writeln!(
            text,
            "  {} {stage}: {} {} {} {}, handshake {handshake:#x}, peer {peer}, packets {}",
            router.at,
            name(facts.status.name()),
            name(facts.state.name()),
            name(facts.command.name()),
            name(facts.termination.name()),
            counted(&facts.packets_moved),
        );
        for sender in &router.senders {
            let facts = &sender.facts;
            let in_flight = sender.in_flight_at_most.unwrap_or(0);
            let used = facts.queued.known().map_or(0, |queued| *queued) + in_flight;
            let _ = writeln!(
                text,
                "    sender {}: {used} of {} used, {}",
                sender.index,
                sender.slots,
                name(facts.connection.name()),
            );
        }
        for receiver in &router.receivers {
            let arrived = count(&receiver.facts.arrived);
            let _ = writeln!(text, "    receiver {}: {arrived} arrived", receiver.index);
        }
    }
    text
}

fn count(reading: &Reading<u64>) -> String {
    reading.known().map_or("?".to_owned(), u64::to_string)
}

/// Builds the kernels; returns their folder.
fn kernels() -> Option<PathBuf> {
    let named = request("wh_x2", FabricTopology::Line, Route::Direct)?;
    let request = Request { mesh: MESH.to_owned(), ..named };
    build(&request);
    Some(request.folder)
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(folder).unwrap();
    folder.join(name)
}

#[test]
fn the_states_of_a_pair_of_routers_are_seen_live_and_from_a_recording() {
    let Some(folder) = kernels() else { return };
    let target = format!("emulator:{MESH}");
    let file = scratch("tt-fabric-walk.mcap");
    let (live, replayed) = walk(&target, &folder, EMULATOR_PACKETS, &HostCommand::default(), &file);
    assert_eq!(live, replayed, "live, and from the recording");
    golden("tt_fabric_walk.txt", &live);
}

#[test]
fn the_states_are_the_same_on_the_vendors_simulator() {
    let Some(simulators) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        println!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return;
    };
    let Some(folder) = kernels() else { return };
    let library = PathBuf::from(simulators).join("libttsim_wh_x2.so");
    let target = format!("ttsim:{}", library.display());
    let arguments = ["--exact", "tt_fabric_vendor::host_helper", "--nocapture", "--skip"];
    let arguments = arguments.map(Into::into).to_vec();
    let host = HostCommand { arguments, ..HostCommand::default() };
    let file = scratch("tt-fabric-walk-vendor.mcap");
    let (live, replayed) = walk(&target, &folder, SIMULATOR_PACKETS, &host, &file);
    assert_eq!(live, replayed, "live, and from the recording");
    golden("tt_fabric_walk.txt", &live);
}

/// Makes the test program the library's host if it is started with a path after `--skip`.
#[test]
fn host_helper() {
    let Some(library) = std::env::args_os().skip_while(|a| a != "--skip").nth(1) else { return };
    if library.to_string_lossy().starts_with('/') {
        let arguments = ["".into(), HOST_ARGUMENT.into(), library];
        assert!(run_host_if_requested(arguments.into_iter()).is_some());
    }
}
