//! A mesh of two hosts: each host sees its own chips and names the other host's chips; both sockets
//! together show all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use images::ImageMap;
use layouts::{ClusterDescriptor, SystemSpec};
use machine::bar::Bar;
use machine::target::{Allow, Mesh, Target};
use probe::session::Session;
use std::path::PathBuf;
use transport::emulator_bar;
use transport::hosts::HostBar;
use transport::serve::{bind, serve};
use transport::shared_bar::SharedBar;
use transport::ttsim::HostCommand;
use transport::wire::Welcome;
use workloads::scene::{Scene, Workload};

/// Two n300 of two hosts, joined by one cable between their far chips.
const PAIR: &str = "\
ChipSpec:
  left: {E: [8, 9]}
  right: {W: [0, 1], S: [6]}
Board:
  n300: {type: n300, chips: [[left, right]], pcie: [0]}
Host: [anna, berta]
Mesh:
  - {boards: [[n300]], first_board_id: 72058985900941320}
  - {boards: [[n300]], host: 1, first_board_id: 72058985900941330, place: [0, 0, 1, 0]}
Graph:
  - [[0, S0], [1, S0]]
";

/// A file of this process that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("meshscope-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn descriptor() -> ClusterDescriptor {
    SystemSpec::parse("pair.yaml", PAIR).unwrap().describe("mesh").unwrap()
}

fn scene(file: &Scratch, host: Option<u16>) -> Scene {
    std::fs::write(&file.0, PAIR).unwrap();
    Scene { host, run: Some(Workload::Idle), ..Scene::new(file.path()) }
}

fn assert_mesh(mesh: &Mesh, expected: &ClusterDescriptor) {
    let ids = |chips: &mut dyn Iterator<Item = Option<u64>>| chips.collect::<Vec<_>>();
    let found = ids(&mut mesh.chips.iter().map(|chip| chip.unique_id));
    assert_eq!(found, ids(&mut expected.chips.iter().map(|chip| chip.unique_id)));
    let links: Vec<_> = mesh.links.iter().map(|link| (link.a, link.b)).collect();
    assert_eq!(links, expected.links);
}

#[test]
fn a_host_alone_names_whose_chips_it_does_not_reach() {
    let file = Scratch::new("alone.yaml");
    let (mut images, _) = ImageMap::firmware();
    let target = scene(&file, Some(1)).build(&mut images).unwrap();
    assert_mesh(target.mesh(), &descriptor().of_host(1));
    let message = "2 chips of anna cannot be reached from here (one link leads there, at 1:e6)";
    assert_eq!(target.mesh().problems, [message]);
    let none = scene(&file, Some(2)).build(&mut images).map(|_| ()).unwrap_err().to_string();
    assert!(none.ends_with("has no host `2`: they are numbered from 0 to 1"), "{none}");
}

#[test]
fn two_sockets_show_a_mesh_of_two_hosts_whole_and_each_its_part() {
    let file = Scratch::new("whole.yaml");
    let (mut images, _) = ImageMap::firmware();
    let whole = scene(&file, None).build(&mut images).unwrap();
    assert_mesh(whole.mesh(), &descriptor());
    assert_eq!(whole.mesh().problems, Vec::<String>::new());
    let sockets = [Scratch::new("a.socket"), Scratch::new("b.socket")];
    let shared = SharedBar::new(whole.into_bar());
    for (host, socket) in (0..).zip(&sockets) {
        let listener = bind(&socket.0).unwrap();
        let bar = HostBar::of(&descriptor(), host, Box::new(shared.another()));
        std::thread::spawn(move || {
            let (devices, elsewhere) = (Some(bar.most_devices()), bar.elsewhere());
            let abilities = emulator_bar::abilities();
            let welcome = Welcome { abilities, devices, elsewhere, ..Welcome::default() };
            serve(Box::new(bar), listener, welcome)
        });
    }
    let open = |words: &str| Session::open(words, &HostCommand::default(), Allow::default());
    let [a, b] = sockets.each_ref().map(|socket| format!("socket:{}", socket.path()));
    let mut first = open(&a).map_err(|e| e.to_string()).unwrap();
    assert_mesh(first.target().mesh(), &descriptor().of_host(0));
    let message = "2 chips of berta cannot be reached from here (one link leads there, at 1:e6)";
    assert_eq!(first.target().mesh().problems, [message]);
    // Time that one client lets pass also passes for the other.
    let before = first.target().now().unwrap();
    first.target().pass(5_000).unwrap();
    let mut second = open(&b).map_err(|e| e.to_string()).unwrap();
    assert!(second.target().now().unwrap() >= before + 5_000);
    drop((first, second));
    let mut both = open(&format!("{a},{b}")).map_err(|e| e.to_string()).unwrap();
    assert_mesh(both.target().mesh(), &descriptor());
    assert_eq!(both.target().mesh().problems, Vec::<String>::new());
    assert!(both.target().now().unwrap() >= before + 5_000);
}
