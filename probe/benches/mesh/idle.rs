//! Meshes whose Ethernet tiles run only base firmware, compared with the vendor's simulator.

use super::{case, instructions, memory_mib, scene, timed};
use images::ImageMap;
use machine::bar::{Bar, BarOp};
use std::path::PathBuf;
use std::time::Instant;
use transport::ttsim::{self, HostCommand};

/// The time by which base firmware has found its peers.
const SETTLED_CYCLES: u64 = 2_000_000;
/// A mesh, its cycles, the vendor's library of its size, and that library's cycles.
const MESHES: [(&str, u64, &str, u64); 4] = [
    ("n150", 1_000_000_000, "wh", 2_000_000),
    ("n300", 1_000_000_000, "wh_x2", 1_000_000),
    ("t3000", 400_000_000, "wh_x8", 300_000),
    ("galaxy,cabling=torus", 100_000_000, "wh_x32", 200_000),
];

/// Runs each mesh, then the vendor's library.
pub(crate) fn run() {
    for (name, _, build, vendor_cycles) in MESHES {
        let output = case(&format!("idle {name}"));
        let rate: f64 = output[0].parse().unwrap();
        let Some(vendor_rate) = vendor_rate(build, vendor_cycles) else {
            println!("  compared with {build}: skipped: MESHSCOPE_TTSIM_DIR does not contain it");
            continue;
        };
        println!(
            "  compared with {build}: {vendor_rate:.0} cycles/s, {:.0} times as many",
            rate / vendor_rate
        );
    }
}

/// Runs one emulated mesh.
pub(crate) fn one(name: &str) {
    let cycles = MESHES.iter().find(|mesh| mesh.0 == name).unwrap().1;
    let (images, _) = ImageMap::firmware();
    let mut mesh = scene(name).power_on(&images).unwrap();
    mesh.clock(SETTLED_CYCLES);
    let before = instructions(&mesh);
    let (seconds, processor) = timed(|| mesh.clock(cycles));
    let after = instructions(&mesh);
    println!(
        "{name}: {} threads, {:.1} M cycles/s ({:.1} M by processor time), {:.0} M instructions/s of which {:.1} M executed, {} MiB",
        mesh.config().threads,
        cycles as f64 / seconds / 1e6,
        cycles as f64 / processor / 1e6,
        (after.0 - before.0) as f64 / seconds / 1e6,
        (after.1 - before.1) as f64 / seconds / 1e6,
        memory_mib("VmHWM")
    );
    println!("{}", cycles as f64 / seconds);
}

/// Returns the cycles per host second of the vendor's simulator in a child process.
fn vendor_rate(build: &str, cycles: u64) -> Option<f64> {
    let folder = PathBuf::from(std::env::var_os("MESHSCOPE_TTSIM_DIR")?);
    let library = folder.join(format!("libttsim_{build}.so"));
    library.exists().then_some(())?;
    let mut bar = ttsim::open(&library, &HostCommand::default()).unwrap();
    bar.submit(&[BarOp::Pass { cycles: 1000 }], &mut Vec::new()).unwrap();
    let started = Instant::now();
    bar.submit(&[BarOp::Pass { cycles }], &mut Vec::new()).unwrap();
    Some(cycles as f64 / started.elapsed().as_secs_f64())
}
