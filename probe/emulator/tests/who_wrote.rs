//! The last write to a range of memory, by every kind of writer, and the last instruction of a
//! core.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{Host, T0, T1, T2, addi, bne, jal, li, lw, store, sw};
use crate::determinism::{busy_mesh, disrupted};
use crate::travel::{go_on, often};
use emulator::{
    Counts, HartId, History, HostMemory, Mesh, NocWrite, TileRange, TravelError, Write, Writer,
};
use std::sync::Arc;

const NIU: u32 = 0xFFB2_0000;

fn range(chip: usize, tile: (u8, u8), addr: u64, len: usize) -> TileRange {
    TileRange { chip, tile, addr, len }
}

fn last(history: &History, range: TileRange, counts: Counts, before: u64) -> Option<Write> {
    history.clone().last_write(range, counts, before, &mut go_on).unwrap()
}

/// Returns the last write to a word of L1 or DRAM of chip 0.
fn writer(host: &Host, tile: (u8, u8), addr: u64) -> Write {
    let history = host.mesh.history().unwrap();
    let end = history.end() + 1;
    last(&history, range(0, tile, addr, 4), Counts::AllWrites, end).unwrap()
}

fn host() -> Host {
    let mut host = Host::n300();
    host.mesh.keep_history(Some(often(900)));
    host
}

fn mid((x, y): (u32, u32)) -> u32 {
    x << 4 | y << 10
}

/// Starts a NoC command of tile 1-1.
fn command(host: &mut Host, base: u32, words: [u32; 7]) {
    for (offset, word) in [0x00, 0x04, 0x0C, 0x10, 0x1C, 0x20, 0x24].into_iter().zip(words) {
        host.set_register((1, 1), base + offset, word);
    }
    host.set_register((1, 1), base + 0x28, 1);
    host.mesh.clock(1000);
}

#[test]
fn the_noc_and_the_mover() {
    let mut host = host();
    host.write_tile((1, 1), 0x1000, &[7; 64]);
    let (own, far, dram) = (mid((1, 1)), mid((3, 3)), mid((5, 5)));
    command(&mut host, NIU, [0x1000, own, 0x4000, far, 0x12, 64, 0]);
    command(&mut host, NIU, [0x1000, own, 0x8000, dram, 0x12, 64, 0]);
    command(&mut host, NIU + 0x800, [0x4094, far, 0, 0, 0x1A, 0xF0, 0xCAFE]);
    command(&mut host, NIU + 0xC00, [0x5000, far, 0x6000, own, 0x11, 0x107C, 5]);
    command(&mut host, NIU + 0x400, [0x4020, far, 0x7020, own, 0x10, 16, 0]);
    for (offset, value) in [(0, 0x100), (4, 0x900), (8, 4), (0xC, 3), (0x10, 0x40)] {
        host.set_register((1, 1), 0xFFB1_1000 + offset, value);
    }
    host.mesh.clock(20_000);
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
    let noc = |from, packet| Writer::Noc { from, noc: 0, packet };
    for (tile, addr, by, new) in [
        ((3, 3), 0x4000, noc((1, 1), NocWrite::Write), 0x0707_0707),
        ((5, 5), 0x8004, noc((1, 1), NocWrite::Write), 0x0707_0707),
        ((3, 3), 0x4094, noc((1, 1), NocWrite::Inline), 0xCAFE),
        ((3, 3), 0x5000, noc((1, 1), NocWrite::Atomic), 5),
        ((1, 1), 0x6000, noc((3, 3), NocWrite::AtomicAnswer), 0),
        ((1, 1), 0x7020, noc((3, 3), NocWrite::ReadAnswer), 0x0707_0707),
        ((1, 1), 0x9000, Writer::Mover, 0x0707_0707),
        ((1, 1), 0x1000, Writer::Host { device: 0 }, 0x0707_0707u32),
    ] {
        let write = writer(&host, tile, addr);
        assert_eq!((write.by, write.addr, write.new), (by, addr, new.to_le_bytes().to_vec()));
        assert_eq!(write.old, [0; 4]);
    }
    let never = range(0, (1, 1), 0xA000, 4);
    let history = host.mesh.history().unwrap();
    assert_eq!(last(&history, never, Counts::AllWrites, history.end()), None);
}

#[test]
fn the_link_and_a_reset() {
    let mut host = host();
    host.write_tile((9, 6), 0x3000, &[3; 32]);
    for (offset, value) in [(0x14, 0x3000), (0x18, 32), (0x1C, 0x3200), (0x04, 2)] {
        host.set_register((9, 6), 0xFFB9_0000 + offset, value);
    }
    host.mesh.clock(10_000);
    let history = host.mesh.history().unwrap();
    let peer = range(1, (9, 0), 0x3210, 2);
    let write = last(&history, peer, Counts::AllWrites, history.end()).unwrap();
    assert_eq!(write.by, Writer::Link { peer: Some((0, 8)) });
    assert_eq!((write.old, write.new), (vec![0, 0], vec![3, 3]));
    host.mesh.reset_chip(1);
    host.mesh.clock(5000);
    let history = host.mesh.history().unwrap();
    let reset = last(&history, peer, Counts::AllWrites, history.end()).unwrap();
    assert_eq!((reset.by, reset.old, reset.new), (Writer::Reset, vec![3, 3], vec![0, 0]));
    let before = last(&history, peer, Counts::AllWrites, reset.cycle).unwrap();
    assert_eq!(before.cycle, write.cycle);
}

#[derive(Debug)]
struct Memory;

impl HostMemory for Memory {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        out.fill(address as u8 | 1);
        true
    }

    fn write(&self, _: u64, _: &[u8]) -> bool {
        true
    }
}

/// A loop that counts a word up, and a heartbeat: work, wait, work. The tile alone sleeps over it.
fn heartbeat() -> Vec<u32> {
    let mut program = Vec::new();
    program.extend(li(T0, 0xFFB1_2000));
    let start = program.len();
    program.extend([lw(T1, 0, 0x700), addi(T1, T1, 1), sw(T1, 0, 0x700)]);
    // Waits for 512 cycles of the clock.
    program.extend([lw(T2, T0, 0x1F0), addi(T2, T2, 512)]);
    let wait = program.len();
    program.push(lw(T1, T0, 0x1F0));
    // blt t1, t2, wait
    let back = (4 * wait as i32 - 4 * program.len() as i32) as u32;
    let branch = (back >> 12 & 1) << 31 | (back >> 5 & 0x3F) << 25 | T2 << 20 | T1 << 15;
    program.push(branch | 6 << 12 | (back >> 1 & 15) << 8 | (back >> 11 & 1) << 7 | 0x63);
    program.push(jal(0, -4 * (program.len() - start) as i32));
    program
}

/// Each second of the loop at 0x700 is found with its cycle, although the core sleeps over it.
#[test]
fn a_heartbeat_asleep() {
    let mut host = host();
    host.run((9, 0), &heartbeat());
    host.mesh.clock(200_000);
    let view = host.mesh.hart(0, 9, 0, 0).unwrap();
    assert!(view.executed() < view.retired() / 2, "it does not sleep");
    let history = host.mesh.history().unwrap();
    let (beats, mut before) = (range(0, (9, 0), 0x700, 4), history.end());
    for _ in 0..5 {
        let write = last(&history, beats, Counts::Changes, before).unwrap();
        let count = |bytes: Vec<u8>| u32::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(count(write.new), count(write.old) + 1);
        assert!(before == history.end() || before - write.cycle < 600);
        assert_eq!(write.by, Writer::Hart { hart: 0, pc: 16 });
        before = write.cycle;
    }
}

/// A core that stores the same word over and over, and sleeps: all writes count, or the last change.
#[test]
fn the_same_bytes_again() {
    let mut host = host();
    let mut program = store(0x700, 5);
    let start = program.len();
    program.extend([sw(T1, T0, 0), lw(T2, T0, 0), bne(T2, 0, -8)]);
    program.push(jal(0, -4 * (program.len() - start) as i32));
    host.run((9, 0), &program);
    host.mesh.clock(50_000);
    let (mut history, word) = (host.mesh.history().unwrap(), range(0, (9, 0), 0x700, 4));
    let write = last(&history, word, Counts::AllWrites, history.end()).unwrap();
    assert!(history.end() - write.cycle <= 3, "{write:?}");
    assert_eq!((write.old, write.by), (vec![5, 0, 0, 0], Writer::Hart { hart: 0, pc: 20 }));
    let change = last(&history, word, Counts::Changes, history.end()).unwrap();
    assert_eq!((change.old, change.by), (vec![0; 4], Writer::Hart { hart: 0, pc: 16 }));
    let none = history.last_write(range(0, (9, 0), 1 << 20, 4), Counts::Changes, 5, &mut go_on);
    assert_eq!(none, Err(TravelError::NoSuchPlace));
}

#[test]
fn dma() {
    let mut host = Host::n300();
    host.mesh.set_host_memory(Arc::new(Memory));
    host.mesh.keep_history(Some(often(900)));
    host.point(0, (2, 2), 0);
    for (register, value) in [
        (0x308u64, 256u32),
        (0x30C, 0x9000),
        (0x314, 0x100),
        (0x2C, 1),
        (0xCC, 0x9000),
        (0xDC, 1),
        (0x30, 0),
    ] {
        host.mesh.bar_write(0, 2, register, &value.to_le_bytes());
    }
    host.mesh.clock(5000);
    assert_eq!(host.read_tile((2, 2), 0x110, 1), [1]);
    let write = writer(&host, (2, 2), 0x110);
    assert_eq!((write.by, write.new), (Writer::Dma { device: 0 }, vec![1; 4]));
}

/// Compares the last writes with what a run in single cycles shows.
#[test]
fn every_change_of_a_busy_mesh() {
    let mut mesh = disrupted(busy_mesh(5, true, 2));
    mesh.keep_history(Some(often(3000)));
    mesh.clock(20_000);
    let history = mesh.history().unwrap();
    let places = [(0, (9, 6), 0x3100), (1, (1, 1), 0x3000), (0, (1, 0), 0x700), (1, (9, 0), 0x704)];
    let mut slow = history.at(18_000, &mut go_on).unwrap();
    let word = |mesh: &mut Mesh, place: (usize, (u8, u8), u32)| {
        mesh.l1(place.0, place.1.0, place.1.1).unwrap().read_u32(place.2).unwrap()
    };
    let mut now = places.map(|place| word(&mut slow, place));
    let mut changes = [None; 4];
    while slow.now() < 20_000 {
        let cycle = slow.now();
        slow.clock(1);
        for (which, place) in places.into_iter().enumerate() {
            let new = word(&mut slow, place);
            let old = std::mem::replace(&mut now[which], new);
            if old != new {
                changes[which] = Some((cycle, old, new));
            }
        }
    }
    for (place, change) in places.into_iter().zip(changes) {
        let word = range(place.0, place.1, place.2.into(), 4);
        let write = last(&history, word, Counts::Changes, 20_000).unwrap();
        let Some((cycle, _, new)) = change else {
            assert!(write.cycle < 18_000);
            continue;
        };
        assert_eq!(write.cycle, cycle, "{place:?}");
        let at = (write.addr - u64::from(place.2)) as usize;
        assert_eq!(write.new, new.to_le_bytes()[at..at + write.new.len()]);
    }
    assert!(changes.iter().flatten().count() > 1);
    let ranges = places.map(|place| range(place.0, place.1, place.2.into(), 4));
    all_changes(&history, &ranges);
}

/// The changes of several ranges, piece by piece, are those that a search for each finds one by one.
fn all_changes(history: &History, ranges: &[TileRange]) {
    let (mut searched, mut before, mut all) = (history.clone(), history.end(), Vec::new());
    let mut bytes = None;
    while before > history.first() {
        let piece = searched.last_changes(ranges, before, &mut go_on).unwrap();
        assert!(piece.from < before);
        bytes.get_or_insert(piece.bytes);
        all.extend(piece.changes.into_iter().rev());
        before = piece.from;
    }
    for (which, range) in ranges.iter().enumerate() {
        let own: Vec<&Write> = all.iter().filter(|it| it.0 == which).map(|it| &it.1).collect();
        let mut before = history.end();
        for write in own.iter().take(12) {
            let found = last(history, *range, Counts::Changes, before).unwrap();
            // A packet with byte enables is several writes; both name the last cycle.
            assert_eq!((found.cycle, found.by), (write.cycle, write.by));
            before = write.cycle;
        }
        if let Some(write) = own.first() {
            let at = (write.addr - range.addr) as usize;
            assert_eq!(bytes.as_ref().unwrap()[which][at..at + write.new.len()], write.new);
        }
    }
}

#[test]
fn a_core_one_instruction_back() {
    let mut host = host();
    let mut program = store(0x700, 1);
    // `ebreak` stops it.
    program.push(0x0010_0073);
    host.run((9, 0), &program);
    host.mesh.clock(30_000);
    let history = host.mesh.history().unwrap();
    let core = HartId { chip: 0, x: 9, y: 0, hart: 0 };
    let back = |before| history.previous_instruction(core, before, &mut go_on).unwrap();
    let pc = |cycle| history.at(cycle, &mut go_on).unwrap().hart(0, 9, 0, 0).unwrap().pc();
    let mut cycle = history.end();
    for expected in [16, 12, 8, 4, 0] {
        cycle = back(cycle).unwrap();
        assert_eq!(pc(cycle), expected);
    }
    assert_eq!(back(cycle), None);
    let none = HartId { hart: 1, ..core };
    let error = history.previous_instruction(none, 500, &mut go_on);
    assert_eq!(error, Err(TravelError::NoSuchPlace));
}
