//! The emulated n300 from power on to a running ring ping, through the same bus as any machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipCoord, ChipId, CoreId, CoreKind, EthId, NocAddr, NocXy};
use probe::control::{RingPing, RingPingSettings};
use probe::images::ImageMap;
use probe::inspect::{Interest, inspect, plan};
use probe::machine::BarTarget;
use probe::scene::{Scene, Workload};
use probe::snapshot::{AccessError, Plan, Span};
use probe::state::{Activity, ImageEvidence, LinkCondition, Reading};
use probe::target::{Link, Target};

fn scene(run: Workload) -> (BarTarget, ImageMap) {
    let (mut images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    let scene = Scene { run, ..Scene::new("n300") };
    let target = scene.build(&mut images).unwrap();
    (target, images)
}

fn read(target: &mut BarTarget, addr: NocAddr, len: u32) -> Vec<u8> {
    let shot = target.read(&Plan { spans: vec![Span { addr, len }] });
    shot.bytes(addr, len).unwrap().to_vec()
}

fn word(target: &mut BarTarget, addr: NocAddr) -> u32 {
    u32::from_le_bytes(read(target, addr, 4).try_into().unwrap())
}

#[test]
fn a_running_n300_is_found_read_and_understood() {
    let (mut target, mut images) = scene(Workload::RingPing);
    let mesh = target.mesh().clone();
    assert_eq!(mesh.problems, Vec::<String>::new());
    assert_eq!(mesh.chips.len(), 2);
    assert_eq!(mesh.chips[1].coord, Some(ChipCoord { x: 1, y: 0, rack: 0, shelf: 0 }));
    assert_eq!(mesh.chips[0].harvested_rows.len(), 2);
    let end = |chip, channel| EthId { chip: ChipId(chip), channel };
    assert_eq!(mesh.links, [(8, 0), (9, 1)].map(|(a, b)| Link { a: end(0, a), b: end(1, b) }));

    let everything = Interest::everything(&mesh);
    let shot = target.read(&plan(&mesh, &images, &everything));
    assert_eq!(shot.gaps, []);
    images.learn(&mesh, &shot);
    let state = inspect(&shot, &mesh, &images);
    assert!(state.links.iter().all(|link| link.condition == LinkCondition::Up));
    let cores = || state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    assert!(cores().flat_map(|core| &core.images).all(|i| i.evidence == ImageEvidence::Proved));
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

    // What the far chip's own core wrote comes through the queue.
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
fn a_ring_ping_checks_every_payload_and_returns_every_credit() {
    let (mut target, mut images) = scene(Workload::Idle);
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings { laps: 50, payload_bytes: 512, ..RingPingSettings::default() };
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    ring.await_finish(&images).unwrap().finish(&mut target).unwrap();
    let laps = ring.state(&images, "laps").unwrap();
    let bad = ring.state(&images, "mismatched_words").unwrap();
    for place in ring.places() {
        assert_eq!(word(&mut target, place.at(laps)), 50);
        assert_eq!(word(&mut target, place.at(bad)), 0);
    }
}

#[test]
fn far_writes_leave_their_neighbours_and_errors_are_told() {
    let (mut target, _) = scene(Workload::Idle);
    let at = |offset| NocAddr { chip: ChipId(1), tile: NocXy { x: 2, y: 2 }, offset };
    let bytes: Vec<u8> = (0..=250).cycle().take(5003).collect();
    target.write(at(0x4_0FFC), &[0x77; 5100]).unwrap();
    target.write(at(0x4_1001), &bytes).unwrap();
    let around = read(&mut target, at(0x4_0FFC), 5100);
    assert_eq!(around[..5], [0x77; 5]);
    assert_eq!(around[5..5008], bytes);
    assert_eq!(around[5008..], [0x77; 92]);
    // What the layouts refuse never reaches the bus.
    let before = target.transactions();
    for refused in [at(0xFFB1_1000), at(0xFFB0_0000), at(0x16_E000)] {
        let shot = target.read(&Plan { spans: vec![Span { addr: refused, len: 4 }] });
        assert!(matches!(shot.word(refused), Err(AccessError::Refused(_))));
    }
    assert_eq!(target.transactions(), before);
}
