//! Built-in firmware on the vendor's simulator, if `MESHSCOPE_TTSIM_DIR` names its libraries:
//! launched, inspected and torn down by the same code as on any machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{addr, open, word};
use decode::inspect::{ReadSet, inspect, plan};
use decode::state::{Activity, LinkCondition};
use images::{GoSignal, ImageMap, Provenance, Reading};
use launch::{Firmware, Pattern, RingPing, RingPingSettings, boot_tensix, launch_worker};
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::place::Place;
use machine::target::Target;

#[test]
fn a_ring_ping_runs_and_returns_every_credit() {
    let Some(mut target) = open("wh_x2") else { return };
    let (mut images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings { payload_bytes: 256, ..RingPingSettings::default() };
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    target.pass(30_000).unwrap();

    let mesh = target.mesh().clone();
    let everything = plan(&mesh, &images, &ReadSet::everything(&mesh));
    let snapshot = target.read(&everything);
    assert_eq!(snapshot.gaps, []);
    images.learn(&mesh, &snapshot);
    let state = inspect(&snapshot, &mesh, &images);
    assert!(state.links.iter().all(|link| link.condition == LinkCondition::Up));
    for stop in &ring.stops {
        let id = CoreId { chip: stop.place.chip, tile: stop.place.tile, core: CoreKind::Erisc };
        let core = state.core(id).unwrap();
        eprintln!("{id} {:?} {:?} {:?}", core.waypoint, core.location, core.channels[1]);
        assert_eq!(core.activity, Reading::Known(Activity::Running));
        assert_eq!(core.go, Reading::Known(GoSignal::Go));
        assert!(core.images.iter().any(|image| image.name == "ring_ping"));
        assert!(core.images.iter().all(|image| image.evidence == Provenance::Verified));
        assert!(core.waypoint.known().is_some());
        assert!(core.location.first().unwrap().file.as_ref().unwrap().contains("firmware/device"));
        assert_eq!(core.channels.len(), 8);
    }
    let laps = ring.state(&images, "laps").unwrap();
    let master = addr(0, 9, 6, laps);
    let before = word(&mut target, master);
    target.pass(50_000).unwrap();
    assert!(word(&mut target, master) > before);

    ring.tear_down(&images).unwrap().finish(&mut target).unwrap();
    let bad = ring.state(&images, "mismatched_words").unwrap();
    for place in ring.places() {
        assert_eq!(word(&mut target, place.at(bad)), 0);
    }
}

#[test]
fn a_compute_tile_boots_near_and_far() {
    let Some(mut target) = open("wh_x2") else { return };
    let (mut images, _) = ImageMap::firmware();
    let mesh = target.mesh().clone();
    for chip in 0..2 {
        let place = Place { chip: ChipId(chip), tile: NocXy { x: 2, y: 3 } };
        boot_tensix(&mut images, Firmware::BUILT_IN, place).unwrap().finish(&mut target).unwrap();
        let seed = 7 + u32::from(chip);
        let pattern = Pattern { address: 0x2_0000, words: 16, interval_cycles: 500 };
        let worker = launch_worker(&mut images, Firmware::BUILT_IN, place, pattern, seed).unwrap();
        worker.finish(&mut target).unwrap();
        target.pass(20_000).unwrap();
        let read_set =
            ReadSet { tile: Some((place.chip, place.tile)), proofs: true, ..ReadSet::default() };
        let snapshot = target.read(&plan(&mesh, &images, &read_set));
        images.learn(&mesh, &snapshot);
        let state = inspect(&snapshot, &mesh, &images);
        let tile = state.tile(place.chip, place.tile).unwrap();
        assert_eq!(tile.cores.len(), 5);
        assert_eq!(tile.cores[0].activity, Reading::Known(Activity::Running));
        assert_eq!(tile.cores[1].activity, Reading::Known(Activity::Waiting));
        for core in &tile.cores {
            eprintln!("{} {:?} {:?}", core.id, core.waypoint, core.location.first());
            assert!(core.images.iter().all(|image| image.evidence == Provenance::Verified));
        }
        assert!(word(&mut target, place.at(0x2_0000)) > seed);
    }
}
