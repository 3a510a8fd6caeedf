//! Time travel on running meshes: what a checkpoint costs, and how soon the past is back.

use super::busy::Shared;
use super::{case, memory_mib, scene};
use emulator::{Counts, HistoryLimits, Mesh, TileRange};
use images::ImageMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use transport::emulator_bar::EmulatorBar;

/// Meshes, and the cycles that they run after their start.
const MESHES: [(&str, u64); 2] = [("n300", 100_000_000), ("t3000", 100_000_000)];

/// Measures each mesh.
pub(crate) fn run() {
    for (name, _) in MESHES {
        case(&format!("travel {name}"));
    }
}

/// Returns the milliseconds that `work` took, and its result.
fn millis<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed().as_secs_f64() * 1e3, result)
}

/// Returns the mesh of the default scene at work, and the milliseconds until then.
fn started(name: &str, history: Option<HistoryLimits>) -> (f64, Arc<Mutex<EmulatorBar>>) {
    millis(|| {
        let (mut images, _) = ImageMap::firmware();
        let mut mesh = scene(name).power_on(&images).unwrap();
        mesh.keep_history(history);
        let machine = Arc::new(Mutex::new(EmulatorBar::new(mesh)));
        scene(name).start(Box::new(Shared(Arc::clone(&machine))), &mut images).unwrap();
        machine
    })
}

/// Measures one mesh.
pub(crate) fn one(name: &str) {
    let cycles = MESHES.iter().find(|mesh| mesh.0 == name).unwrap().1;
    for history in [None, Some(HistoryLimits::default())] {
        let (start, machine) = started(name, history);
        let mut machine = machine.lock().unwrap();
        let (run, ()) = millis(|| machine.mesh_mut().clock(cycles));
        println!(
            "{name}, {}: start {start:.0} ms, then {:.0} k cycles/ms, {} MiB",
            if history.is_some() { "with history" } else { "without" },
            cycles as f64 / run / 1e3,
            memory_mib("VmRSS")
        );
        if history.is_some() {
            checkpoints(machine.mesh_mut());
            past(machine.mesh_mut());
        }
    }
    println!("{name}");
}

/// Prints what checkpoints cost.
fn checkpoints(mesh: &mut Mesh) {
    let before = mesh.checkpoint();
    println!("  all of a checkpoint: {} KiB", before.bytes_beyond(None) >> 10);
    for cycles in [10_000, 1_000_000, 10_000_000] {
        mesh.clock(cycles);
        let earlier = mesh.checkpoint();
        mesh.clock(cycles);
        let (took, checkpoint) = millis(|| mesh.checkpoint());
        let bytes = checkpoint.bytes_beyond(Some(&earlier)) >> 10;
        println!("  a checkpoint after {cycles} cycles: {took:.2} ms, {bytes} KiB more");
    }
    let (took, _) = millis(|| Mesh::from_checkpoint(&before));
    println!("  a mesh from a checkpoint: {took:.1} ms");
    many(mesh);
}

/// Prints what many checkpoints weigh: as they are counted, and in the memory of the process.
fn many(mesh: &mut Mesh) {
    let resident = memory_mib("VmRSS");
    let mut kept = vec![mesh.checkpoint()];
    let mut bytes = 0;
    for _ in 0..100 {
        mesh.clock(2_000_000);
        let checkpoint = mesh.checkpoint();
        bytes += checkpoint.bytes_beyond(kept.last());
        kept.push(checkpoint);
    }
    let resident = memory_mib("VmRSS").saturating_sub(resident);
    println!("  100 checkpoints: {} MiB as counted, {resident} MiB of memory", bytes >> 20);
}

/// Prints how soon the past is back.
fn past(mesh: &mut Mesh) {
    let (took, history) = millis(|| mesh.history().unwrap());
    println!(
        "  history: {} checkpoints over {} cycles, {} KiB; {} host actions in {} KiB; a copy of it: {took:.2} ms",
        history.checkpoints().count(),
        history.end(),
        history.bytes() >> 10,
        history.journal().len(),
        history.journal().bytes() >> 10,
    );
    let go_on = &mut |_| true;
    for back in [1, 1000, history.end() / 2, history.end() - 1] {
        let (took, past) = millis(|| history.at(history.end() - back, go_on).unwrap());
        println!("  {back} cycles back: {took:.0} ms");
        assert_eq!(past.now(), history.end() - back);
    }
    // The count of pulses of an ERISC's heartbeat, the launch of its kernel, a word of its image.
    for (what, addr) in [("heartbeat", 0x1C), ("go message", 0x1F0), ("code", 0x9040)] {
        let range = TileRange { chip: 0, tile: (9, 6), addr, len: 4 };
        let (took, write) = millis(|| {
            history.clone().last_write(range, Counts::Changes, history.end() + 1, go_on).unwrap()
        });
        println!("  who wrote {what}: {took:.0} ms, {write:?}");
    }
    let mut pieces = 0;
    let (took, mut again) = millis(|| {
        let watcher = &mut |_| {
            pieces += 1;
            true
        };
        history.at(history.end(), watcher).unwrap()
    });
    let difference = again.difference(mesh);
    println!(
        "  the present from the last checkpoint: {took:.0} ms, {pieces} pieces, differs: {difference:?}"
    );
}
