//! A Galaxy with a router on every connected Ethernet core: idle, and with random traffic between
//! all chips.

use super::busy::open;
use super::{case, instructions, memory_mib, timed};
use fabric::random::{Draw, RandomTraffic, TTL, TrafficPattern};
use fabric::{Fabric, FabricPlan, FabricRequest, FabricSettings};
use launch::{Firmware, Operation, boot_tensix};
use machine::fabric::FabricTopology;
use machine::target::Target;

const MESH: &str = "galaxy,cabling=torus";
const STEP_CYCLES: u64 = 2_000;
/// The measured time, with and without traffic.
const MEASURED_CYCLES: u64 = 200_000;
const PACKETS: u64 = 4_000;

/// Runs on one thread and on two.
pub(crate) fn run() {
    for threads in [1, 2] {
        case(&format!("fabric {MESH} {threads}"));
    }
}

/// Runs one mesh on `threads` threads.
pub(crate) fn one(name: &str, threads: usize) {
    let (machine, mut target, mut images) = open(name, threads);
    let plan = FabricPlan::new(target.mesh(), &FabricRequest::new(FabricTopology::Torus)).unwrap();
    let random = RandomTraffic::new(target.mesh(), &plan).unwrap();
    let boots = random.tiles(false).map(|tile| boot_tensix(&mut images, Firmware::BUILT_IN, tile));
    Operation::finish_all(boots.collect::<Result<_, _>>().unwrap(), &mut target).unwrap();
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    fabric.finish(&mut target, &mut images, STEP_CYCLES).unwrap();
    let measure = |load: &str| {
        let mut machine = machine.lock().unwrap();
        let mesh = machine.mesh_mut();
        let before = instructions(mesh);
        let (seconds, processor) = timed(|| mesh.clock(MEASURED_CYCLES));
        let after = instructions(mesh);
        let rate = |count: u64| count as f64 / seconds / 1e6;
        println!(
            "{name}: {} routers {load}, {threads} threads, {:.1} k cycles/s ({:.1} k by processor time), {:.0} M instructions/s of which {:.0} M executed, {} MiB",
            plan.routers.len(),
            rate(MEASURED_CYCLES) * 1e3,
            MEASURED_CYCLES as f64 / processor / 1e3,
            rate(after.0 - before.0),
            rate(after.1 - before.1),
            memory_mib("VmHWM")
        );
    };
    measure("idle");
    let (pattern, mux_percent) = (TrafficPattern::Random, 0);
    let draw = Draw { seed: 1, packets: PACKETS, pattern, ttl: TTL, mux_percent };
    let load = random.draw(&images, draw).unwrap();
    for stage in random.launch(&mut images, &load, 1).unwrap() {
        Operation::finish_all(stage, &mut target).unwrap();
    }
    measure("with random traffic");
    println!("{threads}");
}
