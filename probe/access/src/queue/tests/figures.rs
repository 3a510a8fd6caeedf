//! Measures the cost of far words and blocks. Run: `cargo test -p access --lib figures -- --ignored
//! --nocapture`.

use super::bench::{E8, E9, PATIENCE, emulator, on_far_chip};
use crate::bus::Bus;
use crate::queue::{Command, Far, Gateway, Queue, SLOTS, read_all};
use layouts::NocXy;
use std::time::Instant;
use transport::ttsim::{self, HostCommand};

/// Not a test by itself: the figures start this binary again as the library's host.
#[test]
fn host_helper() {
    let Some(library) = std::env::args_os().skip_while(|a| a != "--skip").nth(1) else { return };
    if library.to_string_lossy().starts_with('/') {
        let arguments = ["".into(), ttsim::HOST_ARGUMENT.into(), library];
        assert!(ttsim::run_host_if_requested(arguments.into_iter()).is_some());
    }
}

fn vendor() -> Option<Bus> {
    let folder = std::env::var_os("MESHSCOPE_TTSIM_DIR")?;
    let library = std::path::PathBuf::from(folder).join("libttsim_wh_x2.so");
    let arguments = ["--exact", "queue::tests::figures::host_helper", "--nocapture", "--skip"];
    let host =
        HostCommand { arguments: arguments.map(Into::into).to_vec(), ..HostCommand::default() };
    let mut bus = Bus::new(Box::new(ttsim::open(&library, &host).unwrap()));
    bus.pass(2000).unwrap();
    Some(bus)
}

fn show(name: &str, bus: &mut Bus, tiles: &[NocXy], depth: usize, reads: &[Command]) {
    let mut routes: Vec<Gateway> = tiles
        .iter()
        .map(|&tile| {
            let queue = Queue::find(bus, 0, tile, PATIENCE).unwrap();
            Gateway { queue, direct: true, depth }
        })
        .collect();
    // The first series learns the pace.
    assert!(read_all(bus, PATIENCE, &mut routes, reads).reads.iter().all(Result::is_ok));
    let (start, transactions) = (bus.now().unwrap(), bus.transactions());
    let host = Instant::now();
    assert!(read_all(bus, PATIENCE, &mut routes, reads).reads.iter().all(Result::is_ok));
    let host = host.elapsed();
    let count = reads.len() as u64;
    let cycles = bus.now().unwrap() - start;
    eprintln!(
        "{name}: {} gateway(s), depth {depth}: {} cycles, {:.2} transactions, {:.1} us each",
        tiles.len(),
        cycles / count,
        (bus.transactions() - transactions) as f64 / count as f64,
        host.as_secs_f64() * 1e6 / count as f64,
    );
}

#[test]
#[ignore = "shows figures"]
fn figures() {
    let far = |at: u64, offset| Far {
        tile: NocXy { x: 1 + (at % 4) as u8, y: 2 },
        ..on_far_chip(offset)
    };
    let words: Vec<Command> = (0..400).map(|at| Command::ReadWord(far(at, 0x2_0000))).collect();
    let small: Vec<Command> = (0..80).map(|at| Command::ReadBlock(far(at, 0x2_0000), 32)).collect();
    let large: Vec<Command> =
        (0..80).map(|at| Command::ReadBlock(far(at, 0x2_0000), 1024)).collect();
    let vendor = vendor();
    if vendor.is_none() {
        eprintln!("skipped the vendor's simulator: MESHSCOPE_TTSIM_DIR is not set");
    }
    let machines = [("emulator", Some(emulator().0)), ("ttsim wh_x2", vendor)];
    for (name, bus) in machines {
        let Some(mut bus) = bus else { continue };
        for (what, reads) in [("word", &words), ("32 B", &small), ("1 KiB", &large)] {
            for (tiles, depth) in
                [(&[E8][..], 1), (&[E8], SLOTS), (&[E8, E9], 1), (&[E8, E9], SLOTS)]
            {
                show(&format!("{name} {what}"), &mut bus, tiles, depth, reads);
            }
        }
    }
}
