//! tt-metal's routers of two chips on a machine, led from state to state; what is seen of each.

use crate::children::meshscope;
use crate::pictures::picture_of;
use crate::tt_fabric::{Scratch, build, request, word};
use access::bar_target::BarTarget;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::FabricState;
use diagnosis::WaitGraph;
use images::ImageMap;
use layouts::EthId;
use machine::bar::Bar;
use machine::fabric::FabricTopology;
use machine::patience::Deadlines;
use machine::place::Place;
use machine::target::{Abilities, Allow};
use probe::session::Session;
use recordings::{Replay, Writer};
use std::path::Path;
use tests::tt_fabric::{Request, Route, Settings};
use workloads::scene::external::External;
use workloads::scene::tt_fabric::{MetalFabric, MetalRouter};

/// The mesh of the vendor's simulator, as `meshscope mesh --descriptor` prints it.
const MESH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tt-fabric/wh_x2.yaml");
/// Offset of the command in `RouterStateManager`.
const COMMAND_OFFSET: u64 = 16;
/// Snapshots until everything that one refers to is read.
const SNAPSHOTS: usize = 6;
/// Time between the two snapshots of a wait.
const WAIT_CYCLES: u64 = 100_000;
/// Steps in which workers send their packets.
const STEP_CYCLES: u64 = 500_000;
const MOST_STEPS: usize = 200;
const SIZE: (u16, u16) = (120, 40);

/// What is seen of a state.
pub(super) struct Seen {
    pub(super) fabric: FabricState,
    /// The waits that lasted between two snapshots.
    pub(super) waits: WaitGraph,
}

/// A machine whose fabric is led from state to state.
pub(super) struct Walk {
    pub(super) session: Session,
    pub(super) fabric: MetalFabric,
    read_set: ReadSet,
}

fn lasting(before: &FabricState, now: &FabricState) -> WaitGraph {
    WaitGraph::from(&now.waits).lasting(&WaitGraph::from(&before.waits))
}

/// Returns the request of the kernels, if they can be compiled.
pub(super) fn kernels(route: Route) -> Option<Request> {
    // Snapshots of the far chip take a tenth of the time.
    kernels_with(route, Settings { every_link_yields: true, ..Settings::default() })
}

/// As `kernels`, with other settings.
pub(super) fn kernels_with(route: Route, settings: Settings) -> Option<Request> {
    let request = request("wh_x2", FabricTopology::Line, route)?;
    let Settings { counter_credits, first_level_ack, .. } = settings;
    let mut folder = request.folder.into_os_string();
    for (name, set) in
        [("-counter-credits", counter_credits), ("-first-level-ack", first_level_ack)]
    {
        folder.push(if set { name } else { "" });
    }
    let (mesh, folder) = (MESH.to_owned(), folder.into());
    Some(Request { mesh, settings, folder, ..request })
}

impl Walk {
    /// Boots the firmware with which the kernels are linked.
    pub(super) fn new(request: &Request, bar: Box<dyn Bar>, abilities: Abilities) -> Self {
        build(request);
        let abilities = Abilities { allow: Allow::ALL, budget: None, ..abilities };
        let mut target = BarTarget::open("wh_x2", bar, abilities, Deadlines::default()).unwrap();
        let (mut images, _) = ImageMap::firmware();
        let external = External::read(None, Some(&request.folder), 0, None).unwrap().unwrap();
        let fabric = external.boot(&mut target, &mut images).unwrap().unwrap();
        let session = Session::with_target(Box::new(target), images);
        let read_set = ReadSet { links: true, fabric: true, ..ReadSet::default() };
        Self { session, fabric, read_set }
    }

    pub(super) fn launch_routers(&mut self, these: impl Fn(&MetalRouter) -> bool) {
        let (target, images) = self.session.parts();
        self.fabric.launch_routers(these, target, images).unwrap();
    }

    pub(super) fn make_ready(&mut self) {
        let (target, images) = self.session.parts();
        self.fabric.make_ready(target, images).unwrap();
    }

    pub(super) fn launch_muxes(&mut self) {
        let (target, images) = self.session.parts();
        self.fabric.launch_muxes(target, images).unwrap();
    }

    pub(super) fn launch_workers(&mut self, packets: u64) {
        let (target, images) = self.session.parts();
        self.fabric.launch_workers(packets, target, images).unwrap();
    }

    /// Lets time pass until every worker has sent its packets and closed its connection.
    pub(super) fn finish_workers(&mut self, packets: u64) {
        let target = self.session.target();
        for worker in &self.fabric.document().workers {
            for _ in 0..MOST_STEPS {
                if u64::from(word(target, worker.kernel.place(), worker.sent)) == packets {
                    break;
                }
                target.pass(STEP_CYCLES).unwrap();
            }
        }
        target.pass(STEP_CYCLES).unwrap();
    }

    pub(super) fn pass(&mut self, cycles: u64) {
        self.session.target().pass(cycles).unwrap();
    }

    /// Writes the command of a router's `RouterStateManager`.
    pub(super) fn command(&mut self, at: EthId, command: u32) {
        let target = self.session.target();
        let layout = target.mesh().layout();
        let tile = layout.eth_channel(at.channel).unwrap();
        let addr = layout.eth.l1.fabric_routing.at + COMMAND_OFFSET;
        let place = Place { chip: at.chip, tile };
        target.write(place.at(addr), &command.to_le_bytes()).unwrap();
    }

    /// Takes snapshots until everything that one refers to is read. The first reads what the last
    /// one of the state before did.
    fn snapshot(&mut self) -> FabricState {
        let mut fabric = self.session.inspect(&self.read_set).state.fabric;
        for _ in 0..SNAPSHOTS {
            let next = fabric_read_set(&fabric, &self.read_set);
            if next == self.read_set {
                break;
            }
            self.read_set = next;
            fabric = self.session.inspect(&self.read_set).state.fabric;
        }
        fabric
    }

    /// Returns the fabric and its waits.
    pub(super) fn see(&mut self) -> Seen {
        let before = self.snapshot();
        self.pass(WAIT_CYCLES);
        let fabric = self.snapshot();
        let waits = lasting(&before, &fabric);
        Seen { fabric, waits }
    }

    /// As `see`; checks that a recording of the state shows the same, and the golden screens and
    /// pages.
    pub(super) fn record(&mut self, name: &str) -> Seen {
        let scratch = Scratch::new(&format!("tt-fabric-{name}"));
        let file = scratch.0.join("state.mcap");
        let _ = std::fs::remove_file(&file);
        let mut writer = Writer::create(&file, self.session.target(), "").unwrap();
        self.snapshot();
        // A replay knows images by build ids and texts.
        let read_set = self.read_set.clone();
        let known = ReadSet { fabric_tables: true, proofs: true, texts: true, ..read_set };
        let before = self.session.inspect(&known);
        writer.append(&before.snapshot).unwrap();
        self.pass(WAIT_CYCLES);
        let after = self.session.inspect(&known);
        writer.append(&after.snapshot).unwrap();
        for (name, elf) in self.session.images().attachments() {
            writer.attach_elf(&name, elf).unwrap();
        }
        writer.finish().unwrap();
        self.shows(name, &file);
        let fabric = after.state.fabric;
        let waits = lasting(&before.state.fabric, &fabric);
        Seen { fabric, waits }
    }

    fn shows(&mut self, name: &str, file: &Path) {
        let images = self.session.images().clone();
        let replay = || Session::with_target(Box::new(Replay::open(file).unwrap()), images.clone());
        // The tables are the same in all states.
        let screens = [("fabric", "5"), ("fabric_tables", "5\t\t")];
        for (screen, keys) in screens.into_iter().take(1 + usize::from(name == "idle")) {
            let picture = picture_of(&mut replay(), None, keys, SIZE);
            golden(&format!("tt_fabric_{name}_{screen}.txt"), &picture);
        }
        let path = file.to_str().unwrap();
        let page = |words: &[&str]| {
            let (text, code) = meshscope(&[&["--target", path], words].concat());
            format!(
                "$ meshscope {}  # exit {code}\n{}",
                words.join(" "),
                text.replace(path, "RECORDING")
            )
        };
        let pages = [page(&["fabric"]), page(&["fabric", "waits"])].join("\n");
        golden(&format!("tt_fabric_{name}_pages.txt"), &pages);
    }
}

/// Compares a text with a golden file.
fn golden(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, golden, "{name}: BLESS=1 writes it");
}
