//! The RISC debug interface, used as its documentation says and as tt-exalens does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, addi, bne, jal, lui, lw, sw};
use emulator::{ChipConfig, Disruption, HartId, MeshConfig};

const TILE: (u8, u8) = (1, 1);
const CONTROL: u32 = 0xFFB1_2080;
const SLOW: u32 = 1 << 31;
const EBREAK: u32 = 0x0010_0073;

/// A debugger of one core of a tile.
struct Debugger {
    host: Host,
    tile: (u8, u8),
    select: u32,
    /// Whether it writes 0 after the trigger, instead of before it.
    trigger_first: bool,
}

impl Debugger {
    fn new(host: Host, tile: (u8, u8)) -> Self {
        Self { host, tile, select: 0, trigger_first: false }
    }

    fn trigger(&mut self, word: u32) {
        let word = 1 << 31 | self.select << 17 | word;
        let words = if self.trigger_first { [word, 0] } else { [0, word] };
        for word in words {
            self.host.set_register(self.tile, CONTROL, word);
        }
    }

    fn write(&mut self, register: u32, value: u32) {
        self.host.set_register(self.tile, CONTROL + 4, value);
        self.trigger(1 << 16 | register);
    }

    fn read(&mut self, register: u32) -> u32 {
        self.trigger(register);
        let status = self.host.register(self.tile, CONTROL + 8);
        assert_eq!(status >> 30 & 1, 1, "the value is valid");
        self.host.register(self.tile, CONTROL + 12)
    }

    fn command(&mut self, bits: u32) {
        self.write(1, SLOW | bits);
    }

    fn pause(&mut self) {
        self.command(0);
        self.host.mesh.clock(200);
        self.command(1);
        self.host.mesh.clock(40);
        assert_eq!(self.read(0) & 1, 1);
    }

    fn register(&mut self, index: u32) -> u32 {
        self.write(2, index);
        self.command(1 << 3);
        self.read(4)
    }

    fn pc(&mut self) -> u32 {
        self.register(32)
    }

    fn set_register(&mut self, index: u32, value: u32) {
        self.write(2, index);
        self.write(3, value);
        self.command(1 << 4);
    }

    fn load(&mut self, addr: u32) -> u32 {
        self.write(2, addr);
        self.command(1 << 5);
        self.host.mesh.clock(4);
        assert_eq!(self.read(0) & 1, 1);
        self.read(4)
    }

    fn store(&mut self, addr: u32, value: u32) {
        self.write(2, addr);
        self.write(3, value);
        self.command(1 << 6);
        self.host.mesh.clock(4);
    }

    fn go_on(&mut self) -> u32 {
        self.command(1 << 2);
        self.host.mesh.clock(200);
        self.read(0)
    }

    fn conditions(&self) -> Vec<&'static str> {
        self.host.mesh.conditions().iter().map(|found| found.name).collect()
    }
}

/// Counts in L1 and in private RAM: eight instructions.
fn counting() -> Vec<u32> {
    vec![
        lui(T1, 0xFFB0_0000),
        lw(T0, 0, 0x200),
        addi(T0, T0, 1),
        sw(T0, 0, 0x200),
        sw(T0, T1, 0x10),
        addi(0, 0, 0),
        addi(0, 0, 0),
        jal(0, -24),
    ]
}

fn debugged(program: &[u32]) -> Debugger {
    let mut host = Host::n150();
    host.run(TILE, program);
    host.mesh.clock(500);
    Debugger::new(host, TILE)
}

fn counted(debugger: &mut Debugger) -> u32 {
    debugger.host.register(TILE, 0x200)
}

#[test]
fn a_core_pauses_steps_and_continues() {
    for trigger_first in [false, true] {
        let mut debugger = debugged(&counting());
        debugger.trigger_first = trigger_first;
        debugger.pause();
        let before = counted(&mut debugger);
        debugger.host.mesh.clock(1000);
        assert_eq!(counted(&mut debugger), before);
        let mut pcs = Vec::new();
        for _ in 0..7 {
            pcs.push(debugger.pc());
            debugger.command(1 << 1);
            debugger.host.mesh.clock(2);
        }
        let at = pcs.iter().position(|pc| *pc == 4).unwrap();
        pcs.rotate_left(at);
        assert_eq!(pcs, [4, 8, 12, 16, 20, 24, 28], "a lap of seven instructions");
        assert_eq!(counted(&mut debugger), before + 1);
        assert_eq!(debugger.go_on(), 0);
        assert!(counted(&mut debugger) > before + 20);
        assert!(debugger.conditions().is_empty(), "{:?}", debugger.conditions());
    }
}

#[test]
fn registers_memory_and_pc_of_a_paused_core_are_read_and_written() {
    let mut debugger = debugged(&counting());
    debugger.pause();
    assert_eq!(debugger.register(T1), 0xFFB0_0000);
    debugger.set_register(28, 0xCAFE);
    assert_eq!((debugger.register(28), debugger.register(0)), (0xCAFE, 0));
    let count = counted(&mut debugger);
    assert!(count.abs_diff(debugger.load(0xFFB0_0010)) <= 1);
    debugger.store(0xFFB0_0020, 0x1234_5678);
    assert_eq!(debugger.load(0xFFB0_0020), 0x1234_5678);
    let pc = debugger.pc();
    assert_eq!(debugger.load(0x200), count, "the core reaches L1 as well");
    assert_eq!(debugger.pc(), pc, "an access for the debugger is no instruction");
    // In slow mode the new pc is what the last command left in DR 4.
    debugger.set_register(29, 0x14);
    assert_eq!(debugger.register(29), 0x14);
    debugger.command(0x102);
    assert_eq!(debugger.pc(), 0x14);
    debugger.command(1 << 7);
    assert_eq!(debugger.register(28), 0);
    assert!(debugger.conditions().is_empty(), "{:?}", debugger.conditions());
}

#[test]
fn a_breakpoint_pauses_after_its_instruction_and_a_watchpoint_at_its_access() {
    let mut debugger = debugged(&counting());
    debugger.pause();
    for (watch, addr, mode, pc, status) in [
        // The instruction at 8 has been executed.
        (0, 8, 8, 0xC, 0x103),
        // A load is still to come, a store has been made.
        (1, 0x200, 9, 4, 0x205),
        (2, 0x200, 10, 0x10, 0x405),
        (7, 0xFFB0_0010, 11, 0x14, 0x8005),
        // The byte is part of the word.
        (3, 0x203, 10, 0x10, 0x805),
    ] {
        debugger.write(10 + watch, addr);
        debugger.write(5, mode << (4 * watch));
        for lap in 0..3 {
            let before = counted(&mut debugger);
            assert_eq!(debugger.go_on(), status, "watchpoint {watch}, lap {lap}");
            assert_eq!(debugger.pc(), pc, "watchpoint {watch}, lap {lap}");
            assert!(lap == 0 || counted(&mut debugger) == before + 1);
        }
    }
    debugger.write(5, 0);
    assert_eq!(debugger.go_on(), 0);
    assert!(debugger.conditions().is_empty(), "{:?}", debugger.conditions());
}

#[test]
fn an_ebreak_pauses_and_is_left_by_a_debugger_only() {
    let mut debugger = debugged(&[EBREAK, addi(T0, T0, 1), jal(0, 0)]);
    assert_eq!(debugger.read(0), 0b1001);
    debugger.command(0);
    assert_eq!((debugger.pc(), debugger.register(T0)), (4, 0));
    assert_eq!(debugger.go_on(), 0);
    debugger.pause();
    assert_eq!((debugger.pc(), debugger.register(T0)), (8, 1));
    assert_eq!(debugger.conditions(), ["ebreak"]);
}

#[test]
fn reset_forgets_the_debugger() {
    let mut debugger = debugged(&counting());
    debugger.pause();
    debugger.write(10, 8);
    debugger.write(5, 8);
    debugger.host.set_register(TILE, 0xFFB1_21B0, 0x47800);
    debugger.host.mesh.clock(64);
    assert_eq!([0, 1, 5, 10].map(|register| debugger.read(register)), [0; 4]);
    debugger.command(1);
    debugger.write(2, 7);
    assert_eq!(debugger.read(2), 0, "writes are discarded");
    debugger.host.set_register(TILE, 0xFFB1_21B0, 0x47000);
    debugger.host.mesh.clock(500);
    assert_eq!(debugger.read(0), 0);
    let before = counted(&mut debugger);
    debugger.host.mesh.clock(500);
    assert!(counted(&mut debugger) > before);
    assert!(debugger.conditions().is_empty(), "{:?}", debugger.conditions());
}

#[test]
fn each_core_select_is_its_own_core() {
    let mut host = Host::n150();
    host.run(TILE, &[jal(0, 0)]);
    // TRISC 1 waits at its reset pc; BRISC runs on while it is paused.
    host.write_tile(TILE, 0xA000, &jal(0, 0).to_le_bytes());
    host.set_register(TILE, 0xFFB1_21B0, 0x47000 & !(1 << 13));
    let mut debugger = Debugger::new(host, TILE);
    debugger.select = 2;
    debugger.pause();
    assert_eq!(debugger.pc(), 0xA000);
    debugger.select = 0;
    assert_eq!(debugger.read(0), 0);
    assert!(debugger.host.mesh.hart(0, 1, 1, 0).unwrap().running());
    assert!(!debugger.host.mesh.hart(0, 1, 1, 3).unwrap().running());
    assert!(debugger.conditions().is_empty(), "{:?}", debugger.conditions());
}

#[test]
fn what_silicon_does_not_do_is_refused() {
    // A command to a running core, a pause without slow mode that is left, two memory commands.
    let mut debugger = debugged(&counting());
    debugger.command(1 << 3);
    debugger.host.mesh.clock(40);
    assert_eq!(debugger.conditions(), ["debug-command-to-running-core"]);
    debugger.write(1, 1);
    debugger.host.mesh.clock(40);
    debugger.command(1 << 2);
    assert_eq!(debugger.read(0), 1);
    debugger.command(3 << 5);
    let more = ["debug-resume-without-slow-mode", "debug-commands-exclude-each-other"];
    assert_eq!(debugger.conditions()[1..], more);
}

#[test]
fn an_erisc_with_a_link_stays_paused_and_one_without_goes_on() {
    let program = [lw(T0, 0, 0x200), addi(T0, T0, 1), sw(T0, 0, 0x200), jal(0, -12)];
    // E8 of an n300 has a link, E10 has none.
    for (tile, linked) in [((9, 6), true), ((8, 6), false)] {
        let mut host = Host::n300();
        host.run(tile, &program);
        host.mesh.clock(100);
        let mut debugger = Debugger::new(host, tile);
        debugger.pause();
        let before = debugger.host.register(tile, 0x200);
        debugger.go_on();
        let moved = debugger.host.register(tile, 0x200) != before;
        let refused = debugger.conditions();
        assert_eq!(moved, !linked, "{tile:?}");
        let name = "resume-of-active-erisc-not-modelled";
        assert_eq!(refused, if linked { vec![name] } else { vec![] });
    }
}

#[test]
fn a_stuck_core_pauses_when_it_moves() {
    let mut debugger = debugged(&counting());
    let now = debugger.host.mesh.now();
    let stuck = Disruption::StuckCore(HartId { chip: 0, x: 1, y: 1, hart: 0 });
    debugger.host.mesh.disrupt(stuck, now, Some(now + 5000));
    debugger.host.mesh.clock(100);
    debugger.command(1);
    debugger.host.mesh.clock(1000);
    assert_eq!(debugger.read(0), 0);
    debugger.host.mesh.clock(5000);
    assert_eq!(debugger.read(0), 1);
}

#[test]
fn a_paused_core_costs_no_work_and_sleep_changes_nothing() {
    let waiting = [lw(T0, 0, 0x300), bne(T0, 0, -4), jal(0, -8)];
    let run = |sleep| {
        let chips = vec![ChipConfig::wormhole(true)];
        let mut host = Host::new(MeshConfig { chips, sleep, ..MeshConfig::default() });
        host.run(TILE, &waiting);
        host.mesh.clock(5000);
        let mut debugger = Debugger::new(host, TILE);
        debugger.pause();
        let at = debugger.pc();
        let executed = debugger.host.mesh.hart(0, 1, 1, 0).unwrap().executed();
        debugger.host.mesh.clock(1_000_000);
        let view = debugger.host.mesh.hart(0, 1, 1, 0).unwrap();
        assert_eq!(view.executed(), executed);
        let retired = view.retired();
        debugger.go_on();
        (at, retired, debugger.host.mesh.hart(0, 1, 1, 0).unwrap().pc())
    };
    assert_eq!(run(false), run(true));
}
