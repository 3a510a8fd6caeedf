//! All-gather and reduce-scatter with the same images on the vendor's simulator, if
//! `MESHSCOPE_TTSIM_DIR` names its libraries. The data are the same as on the emulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use collectives::{FabricOptions, Op, Request, Run, RunSettings, Transport, compile};
use common::{open, powered};
use images::ImageMap;
use machine::target::Target;

/// Runs the collectives and returns their expected digests, which the kernels verify.
fn digests(target: &mut dyn Target, requests: &[Request]) -> Vec<Vec<u32>> {
    let (mut images, _) = ImageMap::firmware();
    let digests_of = |request: &Request| {
        let program = compile(target.mesh(), request).unwrap();
        let mut digests: Vec<u32> = program.expected.iter().map(|e| e.digest).collect();
        digests.sort_unstable();
        let mut run = Run::new(program, RunSettings::default());
        let report = run.finish(target, &mut images, 2_000).unwrap().unwrap();
        println!("{}: {request:?}: {} cycles", target.name(), report.time_cycles);
        assert_eq!(report.wrong, Some(0), "{:?}", report.wrong_ranges);
        digests
    };
    requests.iter().map(digests_of).collect()
}

fn same_data(build: &str, mesh: &str, ranks: u64) {
    let requests = [(Op::AllGather, 515), (Op::ReduceScatter, 130)]
        .map(|(op, elements)| Request::new(op, 4 * ranks * elements));
    same(build, mesh, &requests);
}

fn same(build: &str, mesh: &str, requests: &[Request]) {
    let Some(mut vendor) = open(build) else { return };
    let theirs = digests(&mut vendor, requests);
    let (mut ours, _) = powered(mesh, vendor.abilities().clone());
    assert_eq!(digests(&mut ours, requests), theirs);
}

#[test]
fn two_chips_gather_and_scatter_sums() {
    same_data("wh_x2", "n300", 2);
}

#[test]
fn eight_chips_gather_and_scatter_sums() {
    same_data("wh_x8", "t3000", 8);
}

#[test]
fn two_chips_gather_and_scatter_sums_over_the_fabric() {
    let transport = Transport::Fabric(FabricOptions::default());
    let requests =
        [(Op::AllGather, 515, 1), (Op::ReduceScatter, 130, 2)].map(|(op, elements, workers)| {
            let page_bytes = Some(256);
            Request { transport, workers, page_bytes, ..Request::new(op, 4 * 2 * elements) }
        });
    same("wh_x2", "n300", &requests);
}
