//! Cores under control: paused, stepped, inspected and let go, on near and far chips; and cores that
//! are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use common::{addr, library, powered, sentence, word};
use launch::debugging::{CoreControl, Stop, Watched, Watchpoint};
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::fault::{CoreFault, Fault, FaultKind};
use machine::target::{Abilities, Allow, Target};

/// A tile that is there on both chips.
const TILE: (u8, u8) = (2, 4);
/// BRISC counts in its private RAM and in L1.
const PROGRAM: [u32; 8] = [
    0xFF01_0113, // 00: addi sp, sp, -16
    0x0101_0113, // 04: addi sp, sp, 16
    0x0012_8293, // 08: addi t0, t0, 1
    0x2050_2023, // 0c: sw t0, 0x200(zero)
    0xFFB0_0337, // 10: lui t1, 0xffb00
    0x0053_2823, // 14: sw t0, 16(t1)
    0x2000_2383, // 18: lw t2, 0x200(zero)
    0xFE5F_F06F, // 1c: j 00
];

fn core(chip: u16, (x, y): (u8, u8), core: CoreKind) -> CoreId {
    CoreId { chip: ChipId(chip), tile: NocXy { x, y }, core }
}

/// Returns an n300 with base firmware; a BRISC of each chip counts.
fn counting_with(abilities: Abilities) -> (BarTarget, [CoreId; 2]) {
    let (mut target, _) = powered("n300", abilities);
    target.rename("emulator");
    let cores = [0, 1].map(|chip| {
        let core = core(chip, TILE, CoreKind::Brisc);
        let (x, y) = TILE;
        let program = PROGRAM.map(u32::to_le_bytes).concat();
        target.write(addr(chip, x, y, 0), &program).unwrap();
        target.write(addr(chip, x, y, 0xFFB1_21B0), &0x4_7000_u32.to_le_bytes()).unwrap();
        core
    });
    target.pass(10_000).unwrap();
    (target, cores)
}

fn all() -> Abilities {
    Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() }
}

fn counting() -> (BarTarget, [CoreId; 2]) {
    counting_with(all())
}

fn count(target: &mut BarTarget, core: CoreId) -> u32 {
    word(target, addr(core.chip.0, core.tile.x, core.tile.y, 0x200))
}

fn moves(target: &mut BarTarget, core: CoreId) -> bool {
    let before = count(target, core);
    target.pass(2_000).unwrap();
    count(target, core) != before
}

fn wait(control: &mut CoreControl, target: &mut BarTarget) -> Stop {
    for _ in 0..100 {
        if let Some(stop) = control.poll(target).unwrap() {
            return stop;
        }
        target.pass(100).unwrap();
    }
    panic!("it runs on");
}

#[test]
fn cores_of_near_and_far_chips_pause_step_and_go_on() {
    let (mut target, cores) = counting();
    let target = &mut target;
    for core in cores {
        let mut control = CoreControl::attach(target, core).unwrap();
        assert_eq!(control.pause(target).unwrap(), Stop::Command);
        assert!(!moves(target, core));
        let mut pcs = Vec::new();
        for _ in 0..8 {
            pcs.push(control.registers(target).unwrap().pc);
            control.step(target).unwrap();
        }
        let start = pcs.iter().position(|pc| *pc == 0).unwrap();
        pcs.rotate_left(start);
        assert_eq!(pcs, [0, 4, 8, 12, 16, 20, 24, 28]);
        let registers = control.registers(target).unwrap();
        assert_eq!((registers.general[0], registers.general[6]), (0, 0xFFB0_0000));
        let shared =
            u32::from_le_bytes(control.read(target, 0x200, 4).unwrap().try_into().unwrap());
        let private = control.read(target, 0xFFB0_0010, 4).unwrap();
        let private = u32::from_le_bytes(private.try_into().unwrap());
        assert!(shared.abs_diff(private) <= 1, "{shared} {private}");
        control.write(target, 0xFFB0_0101, &[1, 2, 3, 4, 5]).unwrap();
        assert_eq!(control.read(target, 0xFFB0_0100, 8).unwrap(), [0, 1, 2, 3, 4, 5, 0, 0]);
        assert_eq!(control.read(target, 0xFFB0_0FFC, 8).unwrap().len(), 4, "private RAM ends");
        control.set_register(target, 28, 7).unwrap();
        assert_eq!(control.registers(target).unwrap().general[28], 7);
        control.go_on(target).unwrap();
        assert!(moves(target, core));
        assert!(control.poll(target).unwrap().is_none());
        control.end(target).unwrap();
        assert!(moves(target, core));
        // It is as if nobody had been there.
        CoreControl::attach(target, core).unwrap();
    }
}

#[test]
fn a_breakpoint_shows_its_instruction_and_watchpoints_their_access() {
    let (mut target, [core, _]) = counting();
    let target = &mut target;
    let mut control = CoreControl::attach(target, core).unwrap();
    control.pause(target).unwrap();
    // At `addi sp, sp, 16` the stack pointer is still that before.
    for (addr, sp) in [(4, 16u32.wrapping_neg()), (8, 0)] {
        let watchpoint = Watchpoint { addr, watched: Watched::Execution };
        control.watch(target, watchpoint).unwrap();
        for _ in 0..3 {
            control.go_on(target).unwrap();
            assert_eq!(wait(&mut control, target), Stop::Watch(watchpoint));
            let registers = control.registers(target).unwrap();
            assert_eq!((registers.pc, registers.general[2]), (addr, sp));
        }
        let before = control.registers(target).unwrap().general[5];
        control.step(target).unwrap();
        let after = control.registers(target).unwrap();
        assert_eq!((after.pc, after.general[2]), (addr + 4, 0));
        assert_eq!(after.general[5], before + u32::from(addr == 8));
        assert!(control.unwatch(target, watchpoint).unwrap());
    }
    for (addr, watched, pc) in [
        (0x200, Watched::Stores, 0x10),
        (0x200, Watched::Loads, 0x18),
        (0xFFB0_0010, Watched::Accesses, 0x18),
    ] {
        let watchpoint = Watchpoint { addr, watched };
        control.watch(target, watchpoint).unwrap();
        control.go_on(target).unwrap();
        assert_eq!(wait(&mut control, target), Stop::Watch(watchpoint));
        assert_eq!(control.registers(target).unwrap().pc, pc);
        assert!(control.unwatch(target, watchpoint).unwrap());
    }
    for at in 0..8 {
        let watchpoint = Watchpoint { addr: 0x100 + 4 * at, watched: Watched::Execution };
        control.watch(target, watchpoint).unwrap();
    }
    let ninth = Watchpoint { addr: 0x400, watched: Watched::Stores };
    let refused = control.watch(target, ninth).unwrap_err();
    assert_eq!(sentence(&refused), "0:2-4:brisc has 8 watchpoints, and all are in use");
    control.end(target).unwrap();
    assert!(moves(target, core));
}

#[test]
fn two_debuggers_do_not_share_a_core() {
    let (mut target, [core, _]) = counting();
    let target = &mut target;
    let mut control = CoreControl::attach(target, core).unwrap();
    control.pause(target).unwrap();
    let refused = CoreControl::attach(target, core).unwrap_err();
    assert_eq!(
        sentence(&refused),
        "another debugger controls 0:2-4:brisc, or was killed while it did; `meshscope debug \
         0:2-4:brisc continue` releases the core"
    );
    // The first one was killed.
    drop(control);
    assert!(!moves(target, core));
    assert!(CoreControl::release(target, core).unwrap());
    assert!(moves(target, core));
    CoreControl::attach(target, core).unwrap();
}

#[test]
fn a_stuck_core_says_where_it_is_and_pauses_later() {
    let (mut target, [core, _]) = counting();
    let target = &mut target;
    let from = target.now().unwrap();
    let kind = FaultKind::Core(core, CoreFault::Stuck);
    let stuck = Fault { kind, from_cycles: from, until_cycles: Some(from + 10_000_000) };
    target.disrupt(&stuck).unwrap();
    target.pass(1_000).unwrap();
    assert!(!moves(target, core));
    let mut control = CoreControl::attach(target, core).unwrap();
    let runs = sentence(&control.pause(target).unwrap_err());
    assert!(runs.starts_with("0:2-4:brisc has not paused in 100"), "{runs}");
    assert!(runs.contains("its program counter is 0x"), "{runs}");
    target.pass(10_000_000).unwrap();
    assert_eq!(wait(&mut control, target), Stop::Command);
    control.end(target).unwrap();
    assert!(moves(target, core));
}

#[test]
fn a_core_that_paused_itself_stays_so_unless_it_is_told_to_go_on() {
    let (mut target, [core, _]) = counting();
    let target = &mut target;
    // Its next lap ends at an `ebreak`.
    target.write(addr(0, TILE.0, TILE.1, 0x1C), &0x0010_0073_u32.to_le_bytes()).unwrap();
    target.write(addr(0, TILE.0, TILE.1, 0x20), &0xFE1F_F06F_u32.to_le_bytes()).unwrap();
    target.pass(2_000).unwrap();
    assert!(!moves(target, core));
    let mut control = CoreControl::attach(target, core).unwrap();
    assert_eq!(control.pause(target).unwrap(), Stop::Ebreak);
    assert_eq!(control.registers(target).unwrap().pc, 0x20);
    control.end(target).unwrap();
    let mut control = CoreControl::attach(target, core).unwrap();
    assert_eq!(control.pause(target).unwrap(), Stop::Ebreak);
    let before = count(target, core);
    control.go_on(target).unwrap();
    assert_eq!(wait(&mut control, target), Stop::Ebreak);
    assert_eq!(count(target, core), before + 1);
}

#[test]
fn cores_that_cannot_be_debugged_are_refused_with_the_reason() {
    let (mut target, _) = counting();
    let refused =
        |target: &mut BarTarget, core| sentence(&CoreControl::attach(target, core).unwrap_err());
    let link = refused(&mut target, core(0, (9, 6), CoreKind::Erisc));
    assert_eq!(
        link,
        "0:9-6:erisc carries the link 0:e8: an Ethernet core that was paused loses its link and the \
         chips behind it until the board is reset"
    );
    let ncrisc = refused(&mut target, core(0, TILE, CoreKind::Ncrisc));
    assert!(ncrisc.starts_with("0:2-4:ncrisc has no debug interface"), "{ncrisc}");
    let held = refused(&mut target, core(0, TILE, CoreKind::Trisc0));
    assert_eq!(held, "0:2-4:trisc0 is in reset, and runs nothing to debug");
    // An Ethernet core without a link.
    let idle = core(0, (8, 6), CoreKind::Erisc);
    let mut control = CoreControl::attach(&mut target, idle).unwrap();
    control.pause(&mut target).unwrap();
    control.end(&mut target).unwrap();
    let sampling = Abilities { allow: Allow { halt: false, ..Allow::ALL }, ..all() };
    let (mut target, [core, _]) = counting_with(sampling);
    let says = "emulator cannot be changed: pausing a core needs --allow halt";
    assert_eq!(refused(&mut target, core), says);
}

#[test]
fn the_vendors_simulator_refuses_and_survives() {
    let Some(path) = library("wh_x2") else { return };
    let mut target = common::open_at(&path);
    let refused = CoreControl::attach(&mut target, core(0, (1, 2), CoreKind::Brisc)).unwrap_err();
    let says = "refused: the simulator does not model the RISC debug interface";
    assert!(sentence(&refused).contains(says), "{}", sentence(&refused));
    assert_ne!(word(&mut target, addr(0, 1, 2, 0xFFB1_21B0)), 0);
}
