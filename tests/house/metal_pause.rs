//! A pause of tt-metal's own routers: they know the command `PAUSE`, and their workers and muxes no
//! command at all.
//!
//! Runs where `tt_fabric` runs: the kernels are built out of the wheel's sources.

use crate::metal_why::kernels;
use crate::tt_fabric::{scene, word};
use images::{Catalog, ImageMap};
use launch::pause::{Pause, Rest, resume};
use machine::target::Target;
use probe::session::Session;
use tests::tt_fabric::Route;
use workloads::scene::tt_fabric::{Document, MetalWorker};

/// So many that they are not all sent at the end.
const PACKETS: u64 = 1_000_000_000;

fn sent(target: &mut dyn Target, workers: &[MetalWorker]) -> Vec<u32> {
    workers.iter().map(|it| word(target, it.kernel.place(), it.sent)).collect()
}

fn pauses(route: Route, refused: &[&str]) {
    let Some(request) = kernels(route) else { return };
    let document = Document::read(&request.folder).unwrap();
    let (mut images, _) = ImageMap::firmware();
    let target = scene("n300", &request.folder, PACKETS).build(&mut images).unwrap();
    let mut session = Session::with_target(Box::new(target), images);
    session.add_catalog(Catalog::read(std::slice::from_ref(&request.folder)).unwrap());
    let kernels = session.running_kernels();
    let refusal = kernels.refusal().unwrap();
    println!("{refusal}");
    for name in refused {
        assert!(refusal.contains(name), "{refusal}");
    }
    let mut pause = Pause::new(session.target(), kernels.clone()).unwrap();
    let paused = loop {
        if let Some(paused) = pause.poll(session.target()).unwrap() {
            break paused;
        }
        session.target().pass(5_000).unwrap();
    };
    assert_eq!(paused.count(Rest::Parked), document.routers.len(), "{paused:?}");
    // The workers fill their slots, and then wait.
    session.target().pass(200_000).unwrap();
    let before = sent(session.target(), &document.workers);
    assert!(before.iter().all(|sent| u64::from(*sent) < PACKETS), "{before:?}");
    session.target().pass(2_000_000).unwrap();
    assert_eq!(sent(session.target(), &document.workers), before, "nothing moves");
    let balance = session.balance().unwrap();
    println!("{balance:?}");
    assert!(balance.fabric_channels > 0, "{balance:?}");
    assert_eq!(balance.miscounts, [""; 0], "{balance:?}");
    let (mut operations, count) = resume(session.target(), &kernels).unwrap();
    assert!(operations.poll(session.target()).unwrap());
    assert_eq!(count, document.routers.len());
    session.target().pass(2_000_000).unwrap();
    let after = sent(session.target(), &document.workers);
    for (before, after) in before.into_iter().zip(after) {
        assert!(after > before, "{after} packets, as before");
    }
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn tt_metals_routers_pause_and_resume() {
    pauses(Route::Direct, &["worker"]);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn tt_metals_routers_pause_under_a_mux() {
    pauses(Route::Mux, &["worker", "mux"]);
}
