//! The access layer against the vendor's simulator, if `MESHSCOPE_TTSIM_DIR` names its libraries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{addr, host, library, open, open_with, read, word};
use layouts::{ChipCoord, ChipId, EthId};
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Abilities, Link, Target};
use transport::ttsim;

#[test]
fn an_n300_is_discovered() {
    let Some(target) = open("wh_x2") else { return };
    let mesh = target.mesh();
    assert_eq!(mesh.problems, Vec::<String>::new());
    assert_eq!(mesh.chips.len(), 2);
    assert!(mesh.chips[0].pcie && !mesh.chips[1].pcie);
    assert_eq!(mesh.chips[1].coord, Some(ChipCoord { x: 1, y: 0, rack: 0, shelf: 0 }));
    let end = |chip, channel| EthId { chip: ChipId(chip), channel };
    let wired = [(8, 0), (9, 1)].map(|(a, b)| Link { a: end(0, a), b: end(1, b) });
    assert_eq!(mesh.links, wired);
    for chip in &mesh.chips {
        eprintln!("{chip:?}");
    }
}

#[test]
fn near_words_and_blocks() {
    let Some(mut target) = open("wh_x2") else { return };
    // wormhole.md 10.6.A.
    assert_eq!(word(&mut target, addr(0, 9, 6, 0x210)), 0x0006_E000);
    assert_eq!(word(&mut target, addr(0, 9, 6, 0xFFB2_002C)), 0x1060_A189);
    // wormhole.md 10.6.B.
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    target.write(addr(0, 1, 1, 0x1_0000), &bytes).unwrap();
    assert_eq!(read(&mut target, addr(0, 1, 1, 0x1_0000), 5000), bytes);
    target.write(addr(0, 1, 1, 0x1_0003), &[0xAA; 3]).unwrap();
    let around = read(&mut target, addr(0, 1, 1, 0x1_0002), 5);
    assert_eq!(around, [2, 0xAA, 0xAA, 0xAA, 6]);
    // Across a window's end.
    target.write(addr(0, 1, 1, 0xF_FF00), &bytes).unwrap();
    assert_eq!(read(&mut target, addr(0, 1, 1, 0xF_FF00), 5000), bytes);
    target.write(addr(0, 0, 0, 0xFF_F000), &bytes[..4096]).unwrap();
    target.write(addr(0, 0, 0, 0x100_0000), &bytes[..4096]).unwrap();
    let twice = [&bytes[..4096], &bytes[..4096]].concat();
    assert_eq!(read(&mut target, addr(0, 0, 0, 0xFF_F000), 8192), twice);
}

#[test]
fn far_words_and_blocks() {
    let Some(mut target) = open("wh_x2") else { return };
    // wormhole.md 10.6.C.
    assert_eq!(word(&mut target, addr(1, 9, 0, 0x210)), 0x0006_E000);
    assert_eq!(word(&mut target, addr(1, 1, 1, 0xFFB2_002C)), 0x1060_A041);
    // wormhole.md 10.6.D: the write shifts the response slots.
    let before = target.queue_commands();
    target.write(addr(1, 1, 1, 0x2_0000), &0xCAFE_F00D_u32.to_le_bytes()).unwrap();
    assert_eq!(target.queue_commands(), before + 1);
    assert_eq!(word(&mut target, addr(1, 1, 1, 0x2_0000)), 0xCAFE_F00D);
    assert_eq!(target.queue_commands(), before + 2);
    // wormhole.md 10.6.E, and other alignments: unaligned heads and tails leave the neighbouring
    // bytes intact.
    let bytes: Vec<u8> = (0..=250).cycle().take(5003).collect();
    target.write(addr(1, 2, 2, 0x1_0FFC), &[0x77; 5100]).unwrap();
    target.write(addr(1, 2, 2, 0x1_1001), &bytes).unwrap();
    assert_eq!(read(&mut target, addr(1, 2, 2, 0x1_1001), 5003), bytes);
    let around = read(&mut target, addr(1, 2, 2, 0x1_0FFC), 5100);
    assert_eq!(around[..5], [0x77; 5]);
    assert_eq!(around[5..5008], bytes);
    assert_eq!(around[5008..], [0x77; 92]);
}

#[test]
fn a_queue_left_dirty_is_drained() {
    let Some(mut target) = open("wh_x2") else { return };
    // An unknown client made a request and never took the answer: address, length, flags, doorbell.
    let wr = word(&mut target, addr(0, 9, 6, 0x110A0));
    let slot = u64::from(wr & 3);
    let mut entry = vec![0; 32];
    entry[..8].copy_from_slice(&0x0001_0090_0000_0210_u64.to_le_bytes());
    entry[8] = 4;
    entry[12] = 4;
    target.write(addr(0, 9, 6, 0x110C0 + 32 * slot), &entry).unwrap();
    target.write(addr(0, 9, 6, 0x110A0), &((wr + 1) & 7).to_le_bytes()).unwrap();
    target.pass(2000).unwrap();
    for _ in 0..9 {
        assert_eq!(word(&mut target, addr(1, 1, 1, 0xFFB2_002C)), 0x1060_A041);
    }
}

#[test]
fn a_four_chip_box_and_its_far_half() {
    let Some(mut target) = open("wh_x8") else { return };
    assert_eq!(target.mesh().chips.len(), 8);
    assert_eq!(target.mesh().chips.iter().filter(|chip| chip.pcie).count(), 4);
    assert_eq!(target.mesh().problems, Vec::<String>::new());
    eprintln!("{:#?}", target.mesh().links);
    for chip in 4..8 {
        assert_eq!(word(&mut target, addr(chip, 1, 1, 0xFFB2_002C)), 0x1060_A041);
    }
}

#[test]
fn the_librarys_death_is_a_device_event_with_its_last_words() {
    let Some(library) = library("wh") else { return };
    // What would end the library is refused otherwise.
    let mut target = open_with(&library, Abilities::default());
    let bad = addr(0, 1, 1, 0xFFB1_2080);
    let snapshot = target.read(&Plan { spans: vec![Span { addr: bad, len: 4 }] });
    match snapshot.word(bad) {
        Err(AccessError::DeviceGone(words)) => assert!(words.contains("ERROR"), "{words}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(target.now(), Err(AccessError::DeviceGone(_))));
}

#[test]
fn a_file_that_is_no_library_is_refused_in_one_line() {
    if library("wh").is_none() {
        return;
    }
    let Err(AccessError::DeviceGone(words)) = ttsim::open("/etc/hostname".as_ref(), &host()) else {
        panic!("opened")
    };
    assert!(words.contains("hostname"), "{words}");
    let missing = ttsim::open("/nonexistent.so".as_ref(), &host());
    assert!(matches!(missing, Err(AccessError::Unreachable(_))));
}
