//! The emulated n300 from power on to a running ring ping, over the same bus as any machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, read, word};
use access::bar_target::BarTarget;
use decode::inspect::{ReadSet, inspect, plan};
use decode::state::{Activity, ChannelMeaning, LinkCondition};
use images::{ImageMap, Provenance, Reading};
use launch::{Operation, RingPing, RingPingSettings};
use layouts::{ChipCoord, ChipId, CoreId, CoreKind, EthId, NocAddr, NocXy};
use machine::progress::{Listener, Progress};
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Allow, Link, Target, TargetBus};
use probe::session::Session;
use std::sync::{Arc, Mutex};
use transport::ttsim::HostCommand;
use workloads::scene::{HANDOVER_CYCLES, Scene, SceneError, Workload};

fn scene(run: Workload) -> (BarTarget, ImageMap) {
    built(&Scene { run: Some(run), ..Scene::new("n300") })
}

#[test]
fn a_running_n300_is_found_read_and_understood() {
    let (mut target, mut images) = scene(Workload::RingPing);
    let mesh = target.mesh().clone();
    assert_eq!(mesh.problems, Vec::<String>::new());
    assert_eq!(mesh.chips.len(), 2);
    assert_eq!(mesh.chips[1].coord, Some(ChipCoord { x: 1, y: 0, rack: 0, shelf: 0 }));
    assert_eq!(mesh.chips[0].harvested_rows.as_ref().map(Vec::len), Some(2));
    let end = |chip, channel| EthId { chip: ChipId(chip), channel };
    assert_eq!(mesh.links, [(8, 0), (9, 1)].map(|(a, b)| Link { a: end(0, a), b: end(1, b) }));

    let everything = ReadSet::everything(&mesh);
    let snapshot = target.read(&plan(&mesh, &images, &everything));
    assert_eq!(snapshot.gaps, []);
    images.learn(&mesh, &snapshot);
    let state = inspect(&snapshot, &mesh, &images);
    assert!(state.links.iter().all(|link| link.condition == LinkCondition::Up));
    let cores = || state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    assert!(cores().flat_map(|core| &core.images).all(|i| i.evidence == Provenance::Verified));
    let running = cores().filter(|core| core.activity == Reading::Known(Activity::Running));
    // 64 workers on each chip, and the four cores of the ring.
    assert_eq!(running.count(), 2 * 64 + 4);
    let ring = RingPing::on(&mesh).unwrap();
    for stop in &ring.stops {
        let id = CoreId { chip: stop.place.chip, tile: stop.place.tile, core: CoreKind::Erisc };
        let core = state.core(id).unwrap();
        assert!(core.waypoint.known().is_some());
        assert!(!core.location.is_empty(), "{id} {:?}", core.waypoint);
    }

    // Words that the far chip's core wrote are read through the queue.
    let pattern = NocAddr { chip: ChipId(1), tile: NocXy { x: 1, y: 1 }, offset: 0x2_0000 };
    let before = target.queue_commands();
    let words: Vec<u32> = read(&mut target, pattern, 64)
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert_eq!(target.queue_commands(), before + 1);
    assert!(
        words.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == 0x0100_0193),
        "{words:x?}"
    );
}

#[test]
fn a_thousand_laps_are_intact_and_every_credit_comes_back() {
    let (mut target, mut images) = scene(Workload::Idle);
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings { payload_bytes: 512, ..RingPingSettings::default() };
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    let laps = ring.state(&images, "laps").unwrap();
    let master = ring.stops[0].place;
    for _ in 0..1000 {
        target.pass(100_000).unwrap();
        if word(&mut target, master.at(laps)) >= 1000 {
            break;
        }
    }
    ring.tear_down(&images).unwrap().finish(&mut target).unwrap();
    let state = |member| ring.state(&images, member).unwrap();
    let (bad, sent, received) = (state("mismatched_words"), state("sent"), state("received"));
    let done = word(&mut target, master.at(laps));
    assert!(done >= 1000, "{done}");
    for stop in &ring.stops {
        let place = stop.place;
        assert_eq!(word(&mut target, place.at(laps)), done);
        assert_eq!(word(&mut target, place.at(bad)), 0);
        let passed = if stop.sends { sent } else { received };
        assert_eq!(word(&mut target, place.at(passed)), done);
    }
    // After the teardown all channels of both links are empty.
    let mesh = target.mesh().clone();
    let read_set = ReadSet { links: true, proofs: true, ..ReadSet::default() };
    let snapshot = target.read(&plan(&mesh, &images, &read_set));
    images.learn(&mesh, &snapshot);
    let state = inspect(&snapshot, &mesh, &images);
    for link in &state.links {
        assert_eq!((link.a_to_b, link.b_to_a), (Some(0), Some(0)));
        for end in [link.link.a, link.link.b] {
            let core = &state.eth(end).unwrap().cores[0];
            assert_eq!(core.activity, Reading::Known(Activity::Done));
            assert!(core.channels.iter().all(|channel| channel.meaning == ChannelMeaning::Idle));
        }
    }
}

/// Lets every core begin the stages before `stage`.
fn pause_at(ring: &RingPing, images: &ImageMap, stage: u32) -> Operation {
    let word = ring.state(images, "control.pause_at_stage").unwrap();
    let mut operation = Operation::new("pause the ring ping");
    for stop in &ring.stops {
        operation.write_word(stop.place.at(word), stage);
    }
    operation
}

#[test]
fn a_paused_ring_stands_still_and_runs_on() {
    let (mut target, mut images) = scene(Workload::Idle);
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    ring.launch(&mut images, &RingPingSettings::default()).unwrap().finish(&mut target).unwrap();
    target.pass(200_000).unwrap();
    pause_at(&ring, &images, 0).finish(&mut target).unwrap();
    target.pass(200_000).unwrap();
    let laps = ring.stops[0].place.at(ring.state(&images, "laps").unwrap());
    let parked = word(&mut target, laps);
    target.pass(500_000).unwrap();
    assert_eq!(word(&mut target, laps), parked);
    pause_at(&ring, &images, u32::MAX).finish(&mut target).unwrap();
    target.pass(200_000).unwrap();
    assert!(word(&mut target, laps) > parked);
    ring.tear_down(&images).unwrap().finish(&mut target).unwrap();
}

#[test]
fn far_writes_leave_their_neighbours_and_errors_are_reported() {
    let (mut target, _) = scene(Workload::Idle);
    let at = |offset| NocAddr { chip: ChipId(1), tile: NocXy { x: 2, y: 2 }, offset };
    let bytes: Vec<u8> = (0..=250).cycle().take(5003).collect();
    target.write(at(0x4_0FFC), &[0x77; 5100]).unwrap();
    target.write(at(0x4_1001), &bytes).unwrap();
    let around = read(&mut target, at(0x4_0FFC), 5100);
    assert_eq!(around[..5], [0x77; 5]);
    assert_eq!(around[5..5008], bytes);
    assert_eq!(around[5008..], [0x77; 92]);
    // Accesses that the layouts refuse never reach the bus.
    let before = target.transactions();
    for refused in [at(0xFFB1_1000), at(0xFFB0_0000), at(0x16_E000)] {
        let snapshot = target.read(&Plan { spans: vec![Span { addr: refused, len: 4 }] });
        assert!(matches!(snapshot.word(refused), Err(AccessError::Refused(_))));
    }
    assert_eq!(target.transactions(), before);
}

#[test]
fn a_scene_starts_at_a_stated_time_and_says_when_that_is_too_early() {
    let (mut target, mut images) = scene(Workload::RingPing);
    assert_eq!(target.now().unwrap(), HANDOVER_CYCLES);
    let at = |at| Scene { at_cycles: Some(at), ..Scene::new("n300") };
    let Err(SceneError::TooEarly { at_cycles: 1_000, earliest_cycles }) =
        at(1_000).build(&mut images)
    else {
        panic!("the scene is ready at 1 us");
    };
    let message = SceneError::TooEarly { at_cycles: 1_000, earliest_cycles }.to_string();
    assert!(message.starts_with("at: 1us is too early"), "{message}");
    let first = earliest_cycles.next_multiple_of(1_000);
    assert!(first < HANDOVER_CYCLES, "{first}");
    assert_eq!(at(first).build(&mut images).unwrap().now().unwrap(), first);
}

#[test]
fn a_mesh_without_links_is_idle_unless_a_ring_is_requested() {
    let path = std::env::temp_dir().join(format!("meshscope-one-{}.yaml", std::process::id()));
    std::fs::write(&path, "arch: {0: wormhole_b0}\nchips_with_mmio: [0: 0]\n").unwrap();
    let (mut images, _) = ImageMap::firmware();
    let mut single = Scene::new(path.to_str().unwrap());
    assert_eq!(single.build(&mut images).unwrap().mesh().chips.len(), 1);
    single.run = Some(Workload::Idle);
    assert_eq!(single.build(&mut images).unwrap().mesh().chips.len(), 1);
    single.run = Some(Workload::RingPing);
    let Err(error) = single.build(&mut images) else { panic!("a ring of one chip") };
    assert!(matches!(error, SceneError::NoRing(_)) && error.to_string().contains("run=idle"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_same_scene_and_the_same_accesses_give_the_same_bytes_at_the_same_cycles() {
    let inspected = || {
        let (mut target, images) = scene(Workload::RingPing);
        let mesh = target.mesh().clone();
        let snapshot = target.read(&plan(&mesh, &images, &ReadSet::everything(&mesh)));
        let pieces =
            snapshot.pieces.into_iter().map(|piece| (piece.addr, piece.target_cycles, piece.bytes));
        (mesh, target.now().unwrap(), pieces.collect::<Vec<_>>())
    };
    assert!(inspected() == inspected());
}

/// A verdict on a slow target says how many of its snapshots are taken.
#[test]
fn a_verdict_tells_of_each_of_its_snapshots() {
    let host = HostCommand::default();
    let mut session = Session::open("emulator:n300", &host, Allow::default()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&told);
    let listener = Listener::new(move |progress| hear.lock().unwrap().push(progress));
    session.diagnose_telling(2_000_000, &listener).unwrap();
    let mut numbers: Vec<u64> = Vec::new();
    for progress in told.lock().unwrap().iter() {
        let Progress::Verdict { snapshot, of, chips } = progress else { panic!("{progress:?}") };
        assert!(snapshot <= of && chips.done <= chips.of && chips.of == 2, "{progress:?}");
        numbers.push(*snapshot);
    }
    assert!(numbers.is_sorted());
    numbers.dedup();
    assert_eq!(numbers[..4], [1, 2, 3, 4]);
}
