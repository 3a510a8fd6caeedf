//! What ARC firmware tells, on the emulated mesh and on the vendor's simulator.

use crate::common;

use access::bar_target::BarTarget;
use images::ImageMap;
use layouts::ChipId;
use machine::bar::{Bar, BarOp};
use machine::patience::Deadlines;
use machine::target::{Abilities, Target};
use probe::telemetry::telemetry;
use transport::emulator_bar::EmulatorBar;
use transport::silicon::cards::{Sensor, Telemetry, Versions};
use workloads::scene::Scene;

/// Where the emulator's ARC keeps its table, in BAR0.
const TABLE: u64 = 0x1FE8_0000 + 0x7_9000;

/// A mesh whose first chip has these words in its table, by their index.
fn open(mesh: &str, words: &[(u64, u32)]) -> BarTarget {
    let (images, _) = ImageMap::firmware();
    let mut bar = EmulatorBar::new(Scene::new(mesh).power_on(&images).unwrap());
    let write = |(index, word): &(u64, u32)| BarOp::Write {
        device: 0,
        bar: 0,
        offset: TABLE + 4 * index,
        bytes: word.to_le_bytes().to_vec(),
    };
    let writes: Vec<BarOp> = words.iter().map(write).collect();
    bar.submit(&writes, &mut Vec::new()).unwrap();
    BarTarget::open("emulator", Box::new(bar), Abilities::default(), Deadlines::default()).unwrap()
}

#[test]
fn near_and_far_chips_tell_of_themselves() {
    let mut target = open("n300", &[]);
    let beats = |target: &mut BarTarget| {
        let all = telemetry(target).into_iter().map(|(_, told)| told.unwrap().heartbeat.unwrap());
        all.collect::<Vec<_>>()
    };
    let before = beats(&mut target);
    target.pass(200_000_000).unwrap();
    let told = telemetry(&mut target);
    assert_eq!(told.iter().map(|(chip, _)| *chip).collect::<Vec<_>>(), [ChipId(0), ChipId(1)]);
    for ((_, told), before) in told.into_iter().zip(before) {
        let told = told.unwrap();
        assert!(told.heartbeat.unwrap() >= before + 2, "{told:?}");
        let expected = Telemetry {
            board: Some("n300".to_owned()),
            firmware: Versions { bundle: Some("18.4.0.0".to_owned()), ..Versions::default() },
            aiclk_mhz: Some(1000),
            axiclk_mhz: Some(900),
            arcclk_mhz: Some(540),
            temperature_millicelsius: Sensor { now: Some(40_000), limit: None },
            serial: told.serial.clone(),
            asic_id: told.asic_id.clone(),
            heartbeat: told.heartbeat,
            ..Telemetry::default()
        };
        assert_eq!(told, expected);
        assert!(told.serial.unwrap().starts_with("0100014"), "a board id");
    }
}

#[test]
fn a_table_that_is_not_known_is_a_sentence() {
    for (words, says) in [
        (&[(0, 0x0002_0100)][..], "keeps a table of the unknown version 2.1.0"),
        (&[(0, 0x0001_0000), (1, 100_000)], "keeps no table of tags"),
        (&[(1, 0)], "keeps no table of tags"),
        // Tag 14, whose value is out of reach.
        (&[(2, 0xFFFF_000E)], "keeps no table of tags"),
    ] {
        let told = telemetry(&mut open("n150", words));
        let why = told[0].1.as_ref().unwrap_err();
        assert!(why.contains(says), "{why}");
    }
    // Foreign tags are left out, and all ones are no value.
    let told = telemetry(&mut open("n150", &[(2, 0x0000_FFFF), (0x200, u32::MAX)]));
    assert_eq!(told[0].1.as_ref().unwrap().serial, None);
}

#[test]
fn the_vendors_simulator_tells_of_its_chips() {
    let Some(library) = common::library("wh_x2") else { return };
    let mut target = common::open_with(&library, common::permitted());
    let told = telemetry(&mut target);
    assert_eq!(told.len(), 2);
    for (_, told) in told {
        // Measured: layouts/doc/wormhole.md 8.
        let told = told.unwrap();
        assert_eq!(
            (told.aiclk_mhz, told.axiclk_mhz, told.arcclk_mhz),
            (Some(1000), Some(900), Some(540))
        );
        assert_eq!(told.temperature_millicelsius.now, Some(40_000));
        assert_eq!((told.heartbeat, told.firmware.bundle.as_deref()), (Some(1), Some("18.4.0.0")));
        assert_eq!(told.board.as_deref(), Some("n300"));
    }
}
