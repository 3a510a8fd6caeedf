//! Tests of a time-out and of none, on three chips of a T3000.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;
use fabric::FabricRequest;
use layouts::ChipId;
use machine::fabric::FabricTopology;

fn scene(mesh: &str, chips: &[u16]) -> Scene {
    let chips = chips.iter().copied().map(ChipId).collect();
    let fabric = FabricRequest { chips, ..FabricRequest::new(FabricTopology::Line) };
    Scene { fabric, ..Scene::new(mesh) }
}

#[test]
fn packets_are_dropped_after_the_time_out_and_without_one_never() {
    let scene = scene("t3000", &[1, 0, 2]);
    let rows = study(&scene, &TIME_OUTS_CYCLES[..2], &mut |_| ()).unwrap();
    for row in &rows {
        assert!(row.is_right(), "{row:?}");
    }
    assert!(rows[0].sent_meanwhile < PACKETS, "the worker waits: {:?}", rows[0]);
    assert_eq!(rows[1].sent_meanwhile, PACKETS, "the worker does not wait: {:?}", rows[1]);
    let first = rows[1].first_drop_cycles.unwrap();
    assert!((20_000..25_000).contains(&first), "{:?}", rows[1]);
}

#[test]
fn two_chips_are_too_few() {
    let error = study(&scene("n300", &[]), &[0], &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("three chips in a row"), "{error}");
}

#[test]
fn a_torn_read_during_the_drop_does_not_count() {
    assert_eq!(time_at_head(50_000, [20_000, 29_000]), 21_000);
    assert_eq!(
        time_at_head(50_000, [29_000, 50_400]),
        21_000,
        "the last read includes the drop itself"
    );
    assert_eq!(
        time_at_head(0x1_0000_1000, [0xFFFF_0000, 0xFFFF_F000]),
        0x2000,
        "the low half wraps"
    );
}
