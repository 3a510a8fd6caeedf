//! Faults of a mesh show in the words that its base firmware publishes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use access::bar_target::BarTarget;
use images::ImageMap;
use layouts::{ChipId, NocAddr, NocXy};
use machine::fault::Fault;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use probe::spec::TargetSpec;
use workloads::scene::{SceneError, Workload};

/// E8 of chip 0: its link goes to E0 of chip 1.
const E8: NocXy = NocXy { x: 9, y: 6 };
const E0: NocXy = NocXy { x: 9, y: 0 };
/// `boot_results` words: link status, retrain count, packets with a wrong check sum.
const LINK_STATUS: u64 = 0x1EC0 + 4 * 5;
const RETRAINS: u64 = 0x1EC0 + 4 * 7;
const CRC_ERRORS: u64 = 0x1EC0 + 4 * 47;
const HEARTBEAT: u64 = 0x1C;
const UP: u32 = 6;

fn open(words: &str) -> Result<BarTarget, SceneError> {
    let TargetSpec::Emulator(mut scene) = TargetSpec::parse(words).unwrap() else { panic!() };
    scene.run = Some(Workload::Idle);
    let (mut images, _) = ImageMap::firmware();
    scene.build(&mut images)
}

fn word(target: &mut BarTarget, chip: u16, tile: NocXy, offset: u64) -> u32 {
    target.read_word(NocAddr { chip: ChipId(chip), tile, offset }).unwrap()
}

#[test]
fn a_link_that_was_down_shows_as_retrained() {
    let mut target = open("emulator:n300,at=10ms,fault=link:1.0:down@11ms..13ms").unwrap();
    let before = word(&mut target, 0, E8, RETRAINS);
    target.pass(2_000_000).unwrap();
    assert_eq!(word(&mut target, 0, E8, LINK_STATUS), 0);
    // Chip 1 is read over the other link.
    assert_eq!(word(&mut target, 1, E0, LINK_STATUS), 0);
    target.pass(2_000_000).unwrap();
    for (chip, tile) in [(0, E8), (1, E0)] {
        assert_eq!(word(&mut target, chip, tile, LINK_STATUS), UP, "chip {chip}");
        assert_eq!(word(&mut target, chip, tile, RETRAINS), before + 1, "chip {chip}");
    }
}

/// `fault=` and `at=` are on one clock: emulated time since power on.
#[test]
fn a_fault_of_a_scene_begins_by_the_clock_of_its_hand_over() {
    let link = |words: &str| {
        let mut target = open(words).unwrap();
        let now = target.now().unwrap();
        (now, word(&mut target, 0, E8, LINK_STATUS))
    };
    // At the hand-over: ended, begun, not yet begun; and two faults that are due before the scene
    // has booted.
    for (times, status) in
        [("11ms..12ms", UP), ("12ms", 0), ("16ms", UP), ("1us", 0), ("1us..14ms", UP)]
    {
        let words = format!("emulator:n300,at=15ms,fault=link:0.8:down@{times}");
        assert_eq!(link(&words), (15_000_000, status), "{times}");
    }
    // Without a time it begins at the hand-over; base firmware notices a little later.
    let mut target = open("emulator:n300,at=15ms,fault=link:0.8:down").unwrap();
    target.pass(100_000).unwrap();
    assert_eq!(word(&mut target, 0, E8, LINK_STATUS), 0);
    let over = open("emulator:n300,at=15ms,fault=link:0.8:down@1us..2us").err().unwrap();
    let says = over.to_string();
    assert!(says.starts_with("link:0.8:down@1us..2us: it ends before "), "{says}");
    assert!(says.ends_with("us, when it could begin"), "{says}");
}

#[test]
fn a_far_core_is_stuck_as_a_command_and_its_memory_stays_readable() {
    let mut target = open("emulator:n300").unwrap();
    let now = target.now().unwrap();
    target
        .disrupt(&"core:1.e3:stuck@1us..5ms".parse::<Fault>().unwrap().counted_from(now))
        .unwrap();
    let e3 = crate::common::layout().eth_channel(3).unwrap();
    target.pass(1_000_000).unwrap();
    let beat = word(&mut target, 1, e3, HEARTBEAT);
    target.pass(1_000_000).unwrap();
    assert_eq!(word(&mut target, 1, e3, HEARTBEAT), beat);
    target.pass(5_000_000).unwrap();
    assert_ne!(word(&mut target, 1, e3, HEARTBEAT), beat);
}

#[test]
fn a_fault_on_what_is_not_there_is_refused_before_anything_runs() {
    for (words, says) in [
        ("emulator:n300,fault=link:0.0:down", "link:0.0:down: no link ends at 0:e0"),
        ("emulator:n150,fault=core:1.e0:stuck", "core:1.e0:stuck: there is no chip 1"),
    ] {
        assert_eq!(open(words).err().unwrap().to_string(), says);
    }
}

/// A plan that reads chip 1 over both links.
fn far_plan() -> Plan {
    let span = |n: u64| Span {
        addr: NocAddr { chip: ChipId(1), tile: NocXy { x: 1, y: 1 }, offset: n * 0x1000 },
        len: 2048,
    };
    Plan { spans: (0..24).map(span).collect() }
}

#[test]
fn a_link_that_dies_under_requests_works_again_when_it_is_back() {
    let mut target = open("emulator:n300").unwrap();
    let mut cut_off = 0;
    for round in 4..8 {
        let now = target.now().unwrap();
        let (from, until) = (500 + 1377 * round, 200_000 + 1377 * round);
        let words = format!("link:0.{}:down@{from}ns..{until}ns", 8 + round % 2);
        let fault = words.parse::<Fault>().unwrap();
        target.disrupt(&fault.counted_from(now)).unwrap();
        cut_off += target.read(&far_plan()).gaps.len();
        target.pass(1_000_000).unwrap();
        let again = target.read(&far_plan());
        assert_eq!(again.gaps, Vec::new(), "{words}");
    }
    assert!(cut_off > 0, "no request was in flight on a link that died");
}

#[test]
fn broken_packets_show_as_crc_errors_at_both_ends() {
    let mut target = open("emulator:n300,fault=link:0.8:bit-error=1e-5").unwrap();
    for _ in 0..10 {
        target.read(&far_plan());
    }
    target.pass(100_000).unwrap();
    assert_ne!(word(&mut target, 0, E8, CRC_ERRORS), 0);
    // Requests and answers crossed the link.
    assert_ne!(word(&mut target, 1, E0, CRC_ERRORS), 0);
}
