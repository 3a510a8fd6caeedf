//! Discovery of every shape of mesh on the emulator and, if `MESHSCOPE_TTSIM_DIR` names its builds,
//! on the vendor's simulator: the same chips and the same links.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;
use common::built;

use access::bar_target::BarTarget;
use diagnosis::expect::{Difference, differences};
use layouts::{ChipId, ClusterDescriptor, EthId, NocAddr};
use machine::target::{Allow, Target};
use probe::session::{OpenError, Session};
use probe::spec::TargetSpec;
use workloads::scene::{Scene, Workload, described};

fn shipped(mesh: &str) -> ClusterDescriptor {
    described(mesh, mesh).unwrap()
}

fn emulated(mesh: &str) -> BarTarget {
    let Ok(TargetSpec::Emulator(scene)) = TargetSpec::parse(&format!("emulator:{mesh}")) else {
        panic!("{mesh}")
    };
    built(&Scene { run: Some(Workload::Idle), ..scene }).0
}

/// Asserts the chips and links of a mesh. Returns the target.
fn assert_shipped(mut target: BarTarget, mesh: &str) -> BarTarget {
    let expected = shipped(mesh);
    let found = target.mesh().clone();
    assert_eq!(found.problems, Vec::<String>::new(), "{mesh}");
    assert_eq!(found.chips.len(), expected.chips.len(), "{mesh}");
    // Ids differ between machines, and so do the coordinates of a torus that does not route.
    let own = |one: &Difference| matches!(one, Difference::MovedChip { .. });
    let differs: Vec<_> = differences(&found, &expected).into_iter().filter(|d| !own(d)).collect();
    assert_eq!(differs, [], "{mesh}");
    for chip in &found.chips {
        let nearest = |gateway: EthId| expected.routes().hops(gateway.chip, chip.id);
        let hops = chip.gateway.as_ref().map(|gateways| nearest(gateways[0]));
        assert_eq!(hops, (!chip.pcie).then_some(Some(1)), "{mesh}: chip {}", chip.id);
        // Each chip answers with the node id of its compute tile 1-1.
        let row = if chip.is_fused_off(1) == Some(true) { 2 } else { 1 };
        let at = |y| common::addr(chip.id.0, 1, y, 0xFFB2_002C);
        assert_eq!(common::word(&mut target, at(row)), 0x1060_A001 | u32::from(row) << 6);
    }
    target
}

#[test]
fn an_n150() {
    assert_shipped(emulated("n150"), "n150");
    let Some(target) = common::open("wh") else { return };
    assert_shipped(target, "n150");
}

#[test]
fn an_n300() {
    assert_shipped(emulated("n300"), "n300");
    let Some(target) = common::open("wh_x2") else { return };
    assert_shipped(target, "n300");
}

#[test]
fn a_t3000() {
    assert_shipped(emulated("t3000"), "t3000");
    let Some(target) = common::open("wh_x8") else { return };
    assert_shipped(target, "t3000");
}

#[test]
fn a_galaxy_whose_base_firmware_does_not_route_is_reached_by_pcie_only() {
    let asked_by_pcie = |target: BarTarget| {
        let mut target = assert_shipped(target, "galaxy,cabling=torus");
        assert_eq!(target.queue_commands(), 0);
        let tile = crate::common::layout().eth_channel(8).unwrap();
        let offset = crate::common::layout().eth.l1.routing_disabled.at;
        assert_eq!(common::word(&mut target, NocAddr { chip: ChipId(0), tile, offset }), 1);
    };
    asked_by_pcie(emulated("galaxy,cabling=torus"));
    let Some(target) = common::open("wh_x32") else { return };
    asked_by_pcie(target);
}

/// Returns the error of opening this file as a library, which must be about the file.
fn refused(path: &str) -> String {
    match Session::open(&format!("ttsim:{path}"), &common::host(), Allow::default()) {
        Err(OpenError::Library { why, .. }) => why,
        Err(other) => panic!("{path}: {other}"),
        Ok(_) => panic!("{path} was opened"),
    }
}

#[test]
fn a_file_that_is_no_library_of_wormholes_is_refused_in_one_sentence() {
    let text = std::env::current_dir().unwrap().join("Cargo.toml");
    assert!(refused(text.to_str().unwrap()).contains("Cargo.toml"));
    // A shared object of the system lacks the entry points.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc = maps.split_whitespace().find(|word| word.contains("/libc.so")).unwrap();
    assert!(refused(libc).contains("undefined symbol: libttsim_init"));
    let Some(blackhole) = common::library("bh").filter(|path| path.is_file()) else { return };
    assert_eq!(refused(blackhole.to_str().unwrap()), "a Blackhole, not a Wormhole");
}
