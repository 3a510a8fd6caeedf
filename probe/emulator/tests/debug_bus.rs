//! The debug bus: pcs are those that the harts execute at the cycle of the read, whoever reads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, addi, bne, jal, lw, sw};
use emulator::{ChipConfig, MeshConfig};
use std::collections::BTreeMap;

const TILE: (u8, u8) = (1, 1);
const CONTROL: u32 = 0xFFB1_2054;
const DATA: u32 = 0xFFB1_205C;
/// Daisy 7, enabled.
const HARTS: u32 = 0x2007_0000;
/// Group A of BRISC.
const BRISC: u32 = HARTS | 0x0A;

/// Returns a chip on which BRISC counts, polls, and counts down from 20 over and over, with its
/// control register selected and a window on it.
fn counting(sleep: bool) -> Host {
    let chips = vec![ChipConfig::wormhole(true)];
    let mut host = Host::new(MeshConfig { chips, sleep, ..MeshConfig::default() });
    let program = [
        lw(T0, 0, 0x200),
        addi(T0, T0, 1),
        sw(T0, 0, 0x200),
        addi(T1, 0, 20),
        addi(T1, T1, -1),
        bne(T1, 0, -4),
        lw(T0, 0, 0x300),
        bne(T0, 0, -4),
        jal(0, -32),
    ];
    host.run(TILE, &program);
    host.set_register(TILE, CONTROL, BRISC);
    host
}

/// Points window 0 at the debug registers; returns the BAR offset of the data.
fn aim(host: &mut Host) -> u64 {
    host.point(0, TILE, 0xFFB0_0000);
    u64::from(DATA & 0xF_FFFF)
}

#[test]
fn a_sample_is_the_pc_of_its_cycle() {
    let mut slow = counting(false);
    aim(&mut slow);
    let mut executed = BTreeMap::new();
    while slow.mesh.now() < 60_000 {
        executed.insert(slow.mesh.now(), slow.mesh.hart(0, 1, 1, 0).unwrap().pc());
        slow.mesh.clock(1);
    }
    for sleep in [false, true] {
        let mut host = counting(sleep);
        let data = aim(&mut host);
        let mut places = BTreeMap::<u32, u32>::new();
        for number in 0..60 {
            host.mesh.clock(5 + number * 37 % 211);
            let at = host.mesh.now();
            let value = host.read32(data);
            assert_eq!(value, executed[&at] | 1 << 31, "sleep {sleep}, cycle {at}");
            *places.entry(value).or_default() += 1;
        }
        // Most of the time is spent in the loop of two instructions.
        let inner: u32 = [0x8000_0010, 0x8000_0014].iter().filter_map(|pc| places.get(pc)).sum();
        assert!((36..60).contains(&inner), "{places:x?}");
        assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
    }
}

#[test]
fn another_tile_reads_the_pc_of_that_cycle() {
    let mut host = counting(true);
    let mut seen = Vec::new();
    for waits in [1u32, 0] {
        // While the word is set, the hart waits in the loop at 0x18, where the host sees it first.
        host.write_tile(TILE, 0x300, &waits.to_le_bytes());
        host.mesh.clock(3000);
        if waits == 1 {
            host.register(TILE, DATA);
        }
        let niu = 0xFFB2_0400;
        let own = 2 << 4 | 1 << 10;
        let words =
            [(0x00, DATA), (0x04, 1 << 4 | 1 << 10), (0x0C, 0x1000), (0x10, own), (0x1C, 0x2090)];
        for (offset, word) in words.into_iter().chain([(0x20, 4), (0x28, 1)]) {
            host.set_register((2, 1), niu + offset, word);
        }
        host.mesh.clock(1000);
        seen.push(u32::from_le_bytes(host.read_tile((2, 1), 0x1000, 4).try_into().unwrap()));
    }
    assert!([0x8000_0018, 0x8000_001C].contains(&seen[0]), "{seen:x?}");
    assert!([0x8000_0010, 0x8000_0014].contains(&seen[1]), "{seen:x?}");
}

#[test]
fn the_data_need_five_cycles_and_the_bus_must_be_enabled() {
    let mut host = counting(true);
    let data = aim(&mut host);
    let control = data - 8;
    for (word, waits, shown) in [
        (BRISC, 0, true),
        (BRISC & !0x2000_0000, 100, false),
        (HARTS | 0xFF, 0, true),
        (HARTS | 0x0B | 1 << 25, 0, true),
    ] {
        host.write(control, &u32::to_le_bytes(word));
        host.mesh.clock(waits);
        // The write took ten cycles.
        assert_eq!(host.read32(data) != 0, shown, "{word:#x}");
        assert_eq!(host.read32(control), word);
    }
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
}

#[test]
fn what_is_not_modelled_is_refused() {
    // Another daisy, BRISC's mailboxes, an instruction, TRISC 0's group C.
    for word in [0x2001_000C, HARTS | 1, BRISC | 3 << 25, HARTS | 0x12] {
        let mut host = counting(true);
        host.set_register(TILE, CONTROL, word);
        assert_eq!(host.register(TILE, DATA), u32::MAX, "{word:#x}");
        let names: Vec<_> = host.mesh.conditions().iter().map(|found| found.name).collect();
        assert_eq!(names, ["debug-bus-signal-not-modelled"], "{word:#x}");
    }
}
