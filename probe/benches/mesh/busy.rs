//! Meshes with traffic on every link: on one thread and on two, with equal bytes at the end.

use super::{case, instructions, memory_mib, scene, timed};
use access::bar_target::BarTarget;
use emulator::Mesh;
use images::ImageMap;
use launch::{Firmware, Operation, Ring, RingPing, RingPingSettings};
use layouts::ChipKind;
use machine::bar::{Bar, BarOp};
use machine::patience::Deadlines;
use machine::snapshot::AccessError;
use machine::target::{self, Abilities, Allow, Link, Target};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex};
use transport::emulator_bar::EmulatorBar;

/// A mesh and its cycles.
const MESHES: [(&str, u64); 3] =
    [("n300", 20_000_000), ("t3000", 5_000_000), ("galaxy,cabling=torus", 1_000_000)];

/// A bus that shares the mesh with the bench.
pub(crate) struct Shared(pub(crate) Arc<Mutex<EmulatorBar>>);

impl Bar for Shared {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        self.0.lock().unwrap().submit(batch, answer)
    }

    fn chip(&self) -> ChipKind {
        self.0.lock().unwrap().chip()
    }
}

/// Runs each mesh on one thread and on two.
pub(crate) fn run() {
    for (name, _) in MESHES {
        let [one, two] = [1, 2].map(|threads| case(&format!("busy {name} {threads}")));
        assert_eq!(one[1], two[1], "{name}: one thread and two");
        let rate = |output: &[String]| output[0].parse::<f64>().unwrap();
        println!("  two threads: {:.2} times as fast, the same bytes", rate(&two) / rate(&one));
    }
}

/// Runs one mesh on `threads` threads: every pair of links between the same two chips becomes a
/// ring.
pub(crate) fn one(name: &str, threads: usize) {
    let cycles = MESHES.iter().find(|mesh| mesh.0 == name).unwrap().1;
    let (machine, cores) = pinging(name, threads);
    let mut machine = machine.lock().unwrap();
    let mesh = machine.mesh_mut();
    let before = instructions(mesh);
    let (seconds, processor) = timed(|| mesh.clock(cycles));
    let after = instructions(mesh);
    println!(
        "{name}: {cores} ERISCs in ring pings, {threads} threads, {:.0} k cycles/s ({:.0} k by processor time), {:.0} M instructions/s of which {:.0} M executed, {} MiB",
        cycles as f64 / seconds / 1e3,
        cycles as f64 / processor / 1e3,
        (after.0 - before.0) as f64 / seconds / 1e6,
        (after.1 - before.1) as f64 / seconds / 1e6,
        memory_mib("VmHWM")
    );
    println!("{} {:016x}", cycles as f64 / seconds, digest(mesh));
}

/// Returns a mesh on `threads` threads, and a target over it.
pub(crate) fn open(name: &str, threads: usize) -> (Arc<Mutex<EmulatorBar>>, BarTarget, ImageMap) {
    let (images, _) = ImageMap::firmware();
    let mut config = scene(name).config(&images).unwrap();
    config.threads = threads;
    let machine = Arc::new(Mutex::new(EmulatorBar::new(Mesh::new(config).unwrap())));
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    let bar = Box::new(Shared(Arc::clone(&machine)));
    let target = BarTarget::open("bench", bar, abilities, Deadlines::default()).unwrap();
    (machine, target, images)
}

/// Returns a mesh whose links all carry ring pings, and the number of its cores.
fn pinging(name: &str, threads: usize) -> (Arc<Mutex<EmulatorBar>>, usize) {
    let (machine, mut target, mut images) = open(name, threads);
    let rings = rings(target.mesh());
    let each = |ring: &RingPing, images: &mut ImageMap, launch: bool| {
        let settings = RingPingSettings { payload_bytes: 16 * 1024, ..RingPingSettings::default() };
        if launch { ring.launch(images, &settings).unwrap() } else { ring.prepare(images).unwrap() }
    };
    for launch in [false, true] {
        let all: Vec<Operation> =
            rings.iter().map(|ring| each(ring, &mut images, launch)).collect();
        Operation::finish_all(all, &mut target).unwrap();
    }
    (machine, rings.iter().map(|ring| ring.stops.len()).sum())
}

fn rings(mesh: &target::Mesh) -> Vec<RingPing> {
    let mut pairs: BTreeMap<_, Vec<Link>> = BTreeMap::new();
    for link in &mesh.links {
        pairs.entry((link.a.chip, link.b.chip)).or_default().push(*link);
    }
    let two = |links: &[Link]| match links {
        [there, back] => {
            let ring = Ring { hops: vec![(there.a, there.b), (back.b, back.a)] };
            Some(ring.stops(mesh).unwrap())
        }
        _ => None,
    };
    let stops = pairs.values().flat_map(|links| links.chunks(2)).filter_map(two);
    stops.map(|stops| RingPing { firmware: Firmware::BUILT_IN, stops }).collect()
}

/// Returns a hash of all L1 of Ethernet tiles.
pub(crate) fn digest(mesh: &mut Mesh) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (chip, config) in mesh.config().chips.clone().iter().enumerate() {
        for (x, y) in (0..16).filter_map(|channel| config.eth_tile(channel)) {
            let l1 = mesh.l1(chip, x, y).unwrap();
            hasher.write(l1.slice(0, 256 * 1024).unwrap());
        }
    }
    hasher.finish()
}
