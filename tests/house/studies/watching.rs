//! Watching does not change the mesh: a watched ring ping against the same ring ping unwatched.

use decode::inspect::ReadSet;
use decode::state::MemberState;
use launch::RingStop;
use layouts::{ChipId, ChipKind, NocXy, TileKind};
use machine::target::Target;
use std::ops::Range;
use tests::study::Rig;
use tests::study::watching::{self, Watched};

const MESH: &str = "n300";
const SEED: u64 = 3;
/// Length of each run, in cycles.
const RUN_CYCLES: u64 = 400_000;

fn rig(laps: u32) -> Rig {
    Rig::new(MESH, SEED, laps).unwrap()
}

fn read_set(rig: &mut Rig, sight: Watched) -> ReadSet {
    let stops: Vec<RingStop> = rig.ring().stops.clone();
    watching::read_set(rig.target().mesh(), &stops, sight).unwrap()
}

fn tiles() -> impl Iterator<Item = (ChipId, NocXy, TileKind)> {
    let cores =
        || ChipKind::Wormhole.layout().grid().iter().filter(|tile| !tile.kind.cores().is_empty());
    [0, 1].into_iter().flat_map(move |chip| cores().map(move |t| (ChipId(chip), t.xy, t.kind)))
}

/// Returns the ranges of L1 in which two runs differ.
fn differences(a: &Rig, b: &Rig) -> Vec<(ChipId, NocXy, TileKind, Range<usize>)> {
    let mut found = Vec::new();
    for (chip, tile, kind) in tiles() {
        let (first, second) = (a.l1(chip, tile), b.l1(chip, tile));
        assert_eq!(first.len(), second.len());
        for at in (0..first.len()).step_by(4).filter(|&at| first[at..at + 4] != second[at..at + 4])
        {
            found.push((chip, tile, kind, at..at + 4));
        }
    }
    found
}

#[test]
fn through_windows_a_watched_run_has_the_same_bytes_at_the_same_cycle() {
    let (mut watched, mut alone) = (rig(0), rig(0));
    assert_eq!(watched.cycles(), alone.cycles());
    let near = read_set(&mut watched, Watched::Near);
    let before = watched.laps();
    let end = watched.cycles() + RUN_CYCLES;
    let snapshots = watched.watch(&near, 0, end).unwrap();
    assert!(snapshots > 1, "{snapshots} snapshots");
    alone.pass_until(watched.cycles()).unwrap();
    assert!(watched.laps() > before + 10, "the ring runs: {} laps", watched.laps());
    assert_eq!(differences(&watched, &alone), []);
    // A difference that no byte shows yet would show later.
    for rig in [&mut watched, &mut alone] {
        let later = rig.cycles() + 100_000;
        rig.pass_until(later).unwrap();
    }
    assert_eq!(watched.laps(), alone.laps());
    assert_eq!(differences(&watched, &alone), []);
}

#[test]
fn what_is_not_watched_differs_if_anything_is_changed() {
    let (mut written, alone) = (rig(0), rig(0));
    let place = layouts::NocAddr { chip: ChipId(1), tile: NocXy { x: 1, y: 1 }, offset: 0x9_0000 };
    written.target().write(place, &[1; 4]).unwrap();
    written.target().now().unwrap();
    assert_ne!(differences(&written, &alone), [], "the comparison sees a single word");
}

/// L1 that changes when an Ethernet tile serves reads: the words that base firmware publishes and
/// keeps, and its queues with their counters and buffers (wormhole.md 5.3 and wormhole.md 6.2).
const BASE_FIRMWARE: Range<usize> = 0..0x9000;
const QUEUES: Range<usize> = 0x11000..0x18000;

/// Returns true if the word of the kernel is a time.
fn is_clock(word: &MemberState) -> bool {
    word.name.ends_with("_cycles") || word.name.ends_with("last_progress")
}

#[test]
fn through_queues_a_watched_run_has_the_same_results() {
    let laps = 20;
    let (mut watched, mut alone) = (rig(laps), rig(laps));
    let far = read_set(&mut watched, Watched::Far);
    let end = watched.cycles() + RUN_CYCLES;
    let snapshots = watched.watch(&far, 20_000, end).unwrap();
    assert!(snapshots > 1, "{snapshots} snapshots");
    alone.pass_until(watched.cycles()).unwrap();
    let results = |rig: &Rig| {
        let words = rig.progress().into_iter().filter(|(_, word)| !is_clock(word));
        words.map(|(place, word)| (place.chip, place.tile, word)).collect::<Vec<_>>()
    };
    assert_eq!(results(&watched), results(&alone));
    assert_eq!((watched.laps(), alone.laps()), (laps.into(), laps.into()), "both runs have ended");
    let clocks: Vec<_> =
        watched.progress().into_iter().filter(|(_, word)| is_clock(word)).collect();
    assert!(!clocks.is_empty());
    let times = |chip, tile, at: usize| {
        let mut clock = clocks.iter().filter(|(p, _)| (p.chip, p.tile) == (chip, tile));
        clock.any(|(_, w)| (w.addr..w.addr + u64::from(w.size)).contains(&(at as u64)))
    };
    let strange: Vec<_> = differences(&watched, &alone)
        .into_iter()
        .filter(|(chip, tile, kind, at)| {
            let served = BASE_FIRMWARE.contains(&at.start) || QUEUES.contains(&at.start);
            *kind != TileKind::Eth || !(served || times(*chip, *tile, at.start))
        })
        .collect();
    assert_eq!(strange, []);
}

#[test]
fn the_cost_of_watching_is_a_table() {
    let costs = watching::study(MESH, SEED, 200_000, &[20_000]).unwrap();
    let [near, far] = costs.as_slice() else { panic!("{costs:?}") };
    assert_eq!(
        (near.sight, near.laps, near.per_thousand()),
        (Watched::Near, near.laps_unwatched, 0.0)
    );
    assert_eq!(far.sight, Watched::Far);
    assert!(far.snapshots > 1 && far.laps > 0 && far.laps <= far.laps_unwatched, "{far:?}");
}
