//! Where tt-metal's kernels wait, by their program counters.

use super::NEAR;
use super::walk::Walk;
use decode::profile::{CoreProfile, profile};
use layouts::{CoreId, CoreKind};
use machine::place::Place;
use machine::samples::SampleOrder;
use std::fs;

const ORDER: SampleOrder = SampleOrder { count: 20, apart_cycles: 1_000 };
/// What a worker calls that waits for a free slot of its router.
const WAIT: &str = "wait_for_empty_write_slot";

const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tt-fabric/worker.cpp");

fn sampled(walk: &mut Walk, cores: &[CoreId]) -> Vec<CoreProfile> {
    let samples = walk.session.sample(cores, ORDER).unwrap();
    let images = walk.session.images();
    samples.cores.iter().map(|of_core| profile(images, of_core)).collect()
}

/// The far router is paused, so the near worker waits for a free slot of its own router, in the line
/// that says so; that router's loop goes on. Where the debug bus must not be touched, it is not.
pub(super) fn compare(walk: &mut Walk) {
    let layout = walk.session.target().mesh().layout();
    let workers = walk.fabric.document().workers.iter().map(|worker| worker.kernel.place());
    let worker = workers.clone().find(|place| place.chip == NEAR.chip).unwrap();
    let core = |place: Place, core| CoreId { chip: place.chip, tile: place.tile, core };
    let router = Place::of(layout, NEAR).unwrap();
    let cores = [core(worker, CoreKind::Brisc), core(router, CoreKind::Erisc)];
    let found = sampled(walk, &cores);
    let refused = walk.session.target().abilities().refusals.iter();
    if refused.clone().any(|range| range.reason == "the simulator does not model the debug bus") {
        for found in found {
            assert!(found.missing.is_some() && found.samples == 0, "{found:?}");
        }
        return;
    }
    for found in &found {
        assert_eq!((found.samples, &found.missing), (ORDER.count, &None), "{found:x?}");
    }
    let source = fs::read_to_string(WORKER).unwrap();
    let of = |core| found.iter().find(|profile| profile.core == core).unwrap();
    for place in &of(cores[0]).places {
        let inside = |name: &str| name.contains(WAIT);
        let names = || place.lines.iter().filter_map(|line| line.function.as_deref());
        assert!(names().any(inside), "{place:x?}");
        let in_worker = |file: &String| file.ends_with("worker.cpp");
        let mut lines = place.lines.iter();
        let caller = lines.find(|line| line.file.as_ref().is_some_and(in_worker));
        let number = caller.and_then(|line| line.line).unwrap() as usize;
        let line = source.lines().nth(number - 1).unwrap();
        assert!(line.contains(WAIT), "{line} for {place:x?}");
    }
    let router = &of(cores[1]).places;
    assert!(router.len() > 3 && router.iter().all(|place| !place.lines.is_empty()), "{router:x?}");
}
