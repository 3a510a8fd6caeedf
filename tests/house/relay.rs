//! Base firmware as a relay: requests go over several hops and through sibling tiles, and each is
//! answered.

mod line;

use line::{BLOCK, COORDS, LINKS, Line, READ, UNREACHABLE, WRITE, address};
use std::collections::{HashMap, VecDeque};

const TILE: (u8, u8) = (3, 8);
const OK_WORD: u32 = 0x8;
const OK_BLOCK: u32 = 0x48;

/// Link status 6, train status 1, and the own and the peer's coordinates, as both ends of each link
/// publish them.
#[test]
fn both_ends_of_each_link_learn_who_the_other_is() {
    let mut line = Line::new();
    let config = line.mesh.config().clone();
    for (a, b) in LINKS {
        for ((chip, channel), (peer, peer_channel)) in [(a, b), (b, a)] {
            let tile = config.chips[chip].eth_tile(channel).unwrap();
            let mut word = |offset| line.read(6, address(COORDS[chip], tile, offset)).0;
            let [x, y, rack, shelf] = COORDS[peer];
            assert_eq!((word(0x1ED4), word(0x1104)), (6, 1), "chip {chip} e{channel}");
            assert_eq!(word(0x1124) >> 16, u32::from(x) | u32::from(y) << 6);
            assert_eq!(word(0x1128), u32::from(rack) | u32::from(shelf) << 8);
            assert_eq!((word(0x1FE4), word(0x1FF0)), (peer as u32, peer_channel.into()));
        }
    }
    assert_eq!(line.mesh.conditions(), []);
}

#[test]
fn every_tile_reaches_every_chip() {
    let mut line = Line::new();
    for (chip, coord) in COORDS.into_iter().enumerate() {
        for at in [6, 0, 15] {
            let seed = chip as u8 * 16 + at;
            let (word, block) = (address(coord, TILE, 0x40000), address(coord, TILE, 0x50000));
            line.post(at, word, 0xABCD_0000 + u32::from(seed), WRITE, &[]);
            line.flush(at);
            assert_eq!(line.read(at, word), (0xABCD_0000 + u32::from(seed), OK_WORD));
            let bytes: Vec<u8> = (0..=255).cycle().map(|i: u8| i ^ seed).take(1024).collect();
            line.post(at, block, 1024, WRITE | BLOCK, &bytes);
            line.flush(at);
            assert_eq!(
                line.read_block(at, block, 1024),
                (bytes, OK_BLOCK),
                "chip {chip} via e{at}"
            );
        }
    }
}

/// Returns the host's reads, with their times, of firmware that beats, waits, relays and answers.
fn host_log(sleep: bool) -> Vec<(u64, Vec<u8>)> {
    let mut line = Line::sleeping(sleep);
    let mut host_log = Vec::new();
    for round in 0..6 {
        line.mesh.clock(1_000 + 7_777 * round);
        for (at, chip) in [(6, 3), (9, 1), (15, 2)] {
            let (value, flags) = line.read(at, address(COORDS[chip], TILE, 0x1C));
            host_log.push((line.mesh.now(), vec![value as u8, flags as u8]));
        }
    }
    for channel in [0, 6, 9, 15] {
        let bytes = line.bytes(channel, 0, 0x2000);
        host_log.push((line.mesh.now(), bytes));
    }
    host_log
}

#[test]
fn no_byte_and_no_cycle_shows_that_harts_sleep() {
    let (asleep, awake) = (host_log(true), host_log(false));
    for (entry, (asleep, awake)) in asleep.iter().zip(&awake).enumerate() {
        assert!(asleep == awake, "entry {entry} at {} and {}", asleep.0, awake.0);
    }
}

#[test]
fn a_chip_that_is_not_there_and_a_wrong_address_are_errors() {
    let mut line = Line::new();
    assert_eq!(line.read(6, address([9, 9, 0, 0], TILE, 0)).1, UNREACHABLE | OK_WORD);
    assert_eq!(line.read(6, address(COORDS[1], TILE, 2)).1, UNREACHABLE | OK_WORD);
    // A router without a tile never answers. Its request is answered with an error, and the next
    // one is served normally.
    assert_eq!(line.read(6, address(COORDS[1], (0, 2), 0x40000)).1, UNREACHABLE | OK_WORD);
    assert_eq!(line.read(6, address(COORDS[3], TILE, 0xFFB2_002C)).1, OK_WORD);
}

#[test]
fn a_full_response_queue_holds_requests_back_and_loses_none() {
    let mut line = Line::new();
    let word = |i: u32| address(COORDS[2], TILE, 0x40000 + 4 * i);
    for i in 0..12 {
        line.post(6, word(i), 100 + i, WRITE, &[]);
        line.flush(6);
    }
    for i in 0..8 {
        while !line.has_room(6) {}
        line.post(6, word(i), 4, READ, &[]);
    }
    line.mesh.clock(100_000);
    assert!(!line.has_room(6), "four answers wait, so four requests wait");
    for i in 0..8 {
        let (_, value, flags) = line.answer(6);
        assert_eq!((value, flags), (100 + i, OK_WORD));
    }
}

#[test]
fn all_tiles_at_once_stay_in_order() {
    let mut line = Line::new();
    let mut random = fastrand::Rng::with_seed(1);
    let mut written = HashMap::new();
    let mut expected: [VecDeque<u32>; 16] = Default::default();
    let check = |line: &mut Line, at: u8, expected: &mut VecDeque<u32>| {
        if let Some((_, value, flags)) = line.peek(at) {
            line.pop(at);
            assert_eq!((Some(value), flags), (expected.pop_front(), OK_WORD), "e{at}");
        }
    };
    for _ in 0..25 {
        for at in 0..16 {
            let chip = random.usize(..COORDS.len());
            let to = address(COORDS[chip], TILE, 0x60000 + 64 * u32::from(at));
            let last = written.entry((at, chip)).or_insert(0);
            if line.has_room(at) && random.bool() {
                *last += 1;
                line.post(at, to, *last, WRITE, &[]);
            } else if line.has_room(at) {
                expected[usize::from(at)].push_back(*last);
                line.post(at, to, 4, READ, &[]);
            }
            check(&mut line, at, &mut expected[usize::from(at)]);
        }
    }
    for at in 0..16 {
        while !expected[usize::from(at)].is_empty() {
            check(&mut line, at, &mut expected[usize::from(at)]);
        }
        line.flush(at);
    }
    assert_eq!(line.mesh.conditions(), []);
}

#[test]
fn a_lost_link_is_walked_round_or_reported_and_forgotten_when_it_is_back() {
    let mut line = Line::new();
    let (near, far) = (address(COORDS[1], TILE, 0x40000), address(COORDS[3], TILE, 0x40000));
    line.mesh.set_link(1, false);
    line.mesh.clock(20_000);
    assert_eq!(line.read(6, far).1, OK_WORD, "over the second link of the pair");
    line.mesh.set_link(2, false);
    line.mesh.clock(20_000);
    assert_eq!(line.read(6, far).1, UNREACHABLE | OK_WORD);
    assert_eq!(line.read(6, near).1, OK_WORD);
    for cut in 0..8 {
        line.mesh.set_link(1, true);
        line.mesh.clock(40_000);
        assert_eq!(line.read(6, far).1, OK_WORD);
        line.post(6, far, 4, READ, &[]);
        line.mesh.clock(700 * cut);
        line.mesh.set_link(1, false);
        let flags = line.answer(6).2;
        assert!(flags == OK_WORD || flags == UNREACHABLE | OK_WORD, "cut {cut}: {flags:#x}");
    }
}
