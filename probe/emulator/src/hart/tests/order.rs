//! Interactions of the harts of one tile: order within a cycle, boundaries, resets.

use super::rig::asm::{addi, branch, jal, lui, lw, sw};
use super::rig::{Rig, RunMode};
use crate::hart::{
    BOUNDARY_CYCLES, Cause, DeviceAccess, DeviceFault, DeviceSet, Devices, HartGroup, HartOrder,
    Load, Stored,
};
use crate::memory::TileMemory;

#[test]
fn in_one_cycle_the_lower_index_goes_first() {
    // All store their index to the same word in the same cycle; each reads it in the next.
    for mode in [RunMode::Reference, RunMode::Whole, RunMode::SingleCycles] {
        let mut rig = Rig::tensix(true);
        for hart in 0..5u8 {
            let addr = 0x1000 + u32::from(hart) * 0x100;
            rig.program(
                addr,
                &[
                    lui(8, 0x8000),
                    addi(10, 0, i32::from(hart)),
                    sw(10, 8, 0),
                    lw(11, 8, 0),
                    jal(0, 0),
                ],
            );
            rig.start(hart, addr);
        }
        rig.run(mode, 5);
        for hart in 0..5 {
            assert_eq!(rig.group.register(hart, 11), 4, "{mode:?}");
        }
    }
}

#[test]
fn a_store_into_code_of_another_hart_waits_for_the_boundary() {
    // Hart 1 adds 1 to a0 in a loop; at cycle 6 hart 0 replaces the addition by one of 16.
    let patched = addi(10, 10, 16);
    for mode in [RunMode::Reference, RunMode::Whole, RunMode::SingleCycles] {
        let mut rig = Rig::tensix(true);
        rig.program(0x1000, &[addi(10, 10, 1), jal(0, -4)]);
        rig.program(0x2000, &[lui(8, 0x8000), lw(9, 8, 0), lui(8, 0x1000), sw(9, 8, 0), jal(0, 0)]);
        rig.memory.write_u32(0x8000, patched).unwrap();
        rig.start(1, 0x1000);
        rig.start(0, 0x2000);
        rig.run(mode, BOUNDARY_CYCLES);
        assert_eq!(u64::from(rig.group.register(1, 10)), BOUNDARY_CYCLES / 2, "{mode:?}");
        rig.run(mode, BOUNDARY_CYCLES + 2);
        assert_eq!(u64::from(rig.group.register(1, 10)), BOUNDARY_CYCLES / 2 + 16, "{mode:?}");
        // A store from outside waits for the boundary as well.
        rig.memory.write_u32(0x1000, addi(10, 0, 0)).unwrap();
        rig.run(mode, 2 * BOUNDARY_CYCLES);
        assert!(rig.group.register(1, 10) > 0, "{mode:?}");
        rig.run(mode, 2 * BOUNDARY_CYCLES + 2);
        assert_eq!(rig.group.register(1, 10), 0, "{mode:?}");
    }
}

#[test]
fn no_hart_runs_ahead_over_a_boundary_that_may_affect_it() {
    // Hart 0 counts down in registers, then patches or holds hart 1 at a cycle that hart 1 could
    // have passed long ago.
    let wait = [addi(5, 0, 100), addi(5, 5, -1), branch(1, 5, 0, -4)];
    let patch = [lui(8, 0x8000), lw(9, 8, 0), lui(8, 0x1000), sw(9, 8, 0), jal(0, 0)];
    let hold = [lui(9, 0xFFB1_2000), addi(10, 0, 2), sw(10, 9, 12), jal(0, 0)];
    for act in [&patch[..], &hold[..]] {
        let mut states = Vec::new();
        let modes = [RunMode::Reference, RunMode::Whole, RunMode::Slices(3), RunMode::SingleCycles];
        for (mode, sleep) in modes.into_iter().flat_map(|mode| [(mode, false), (mode, true)]) {
            let mut rig = Rig::tensix(sleep);
            rig.program(0x1000, &[addi(10, 10, 1), sw(10, 2, 0), jal(0, -8)]);
            rig.program(0x2000, &[&wait[..], act].concat());
            rig.memory.write_u32(0x8000, addi(10, 10, 16)).unwrap();
            rig.start(1, 0x1000);
            rig.start(0, 0x2000);
            rig.group.set_register(1, 2, 0xFFB0_0000);
            rig.run(mode, 1000);
            states.push(rig.state());
        }
        assert!(states.iter().all(|state| *state == states[0]), "{states:#?}");
    }
}

#[test]
fn a_core_holds_and_releases_another() {
    for mode in [RunMode::Reference, RunMode::Whole, RunMode::SingleCycles] {
        let mut rig = Rig::tensix(true);
        rig.program(0x1000, &[addi(10, 10, 1), jal(0, -4)]);
        rig.program(0x2000, &[lui(9, 0xFFB1_2000), addi(10, 0, 2), sw(10, 9, 12), jal(0, 0)]);
        rig.start(1, 0x1000);
        rig.start(0, 0x2000);
        rig.run(mode, BOUNDARY_CYCLES - 1);
        assert_eq!(rig.group.retired(1), BOUNDARY_CYCLES - 1, "{mode:?}");
        rig.run(mode, 100);
        assert!(rig.group.in_reset(1), "{mode:?}");
        assert_eq!(rig.group.retired(1), BOUNDARY_CYCLES, "{mode:?}");
        rig.group.release_reset(1);
        rig.run(mode, 110);
        assert_eq!(rig.group.register(1, 10), 5, "{mode:?}");
    }
}

/// Loads IRAM on a store, as ERISC and the TDMA mover do.
struct Loader;

impl Devices for Loader {
    fn device(_: u32) -> DeviceSet {
        DeviceSet::ALL
    }

    fn load(&mut self, _: DeviceAccess, _: &mut TileMemory) -> Result<Load, DeviceFault> {
        Err(DeviceFault("nothing here"))
    }

    fn store(
        &mut self,
        _: DeviceAccess,
        value: u32,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<Stored, DeviceFault> {
        let bytes = memory.slice(value, 64).map_err(|_| DeviceFault("outside"))?.to_vec();
        orders.push(HartOrder::LoadIram { hart: 0, offset: 0, bytes });
        Ok(Stored::Quiet)
    }
}

#[test]
fn instruction_ram_is_fetched_from_and_not_read() {
    let (mut group, mut memory) = (HartGroup::eth(true), TileMemory::eth());
    let mut words = vec![lui(9, 0xFFB9_4000), lui(10, 0x2000), sw(10, 9, 0x98), addi(11, 0, 30)];
    words.extend([
        addi(11, 11, -1),
        branch(1, 11, 0, -4),
        lui(12, 0xFFC0_0000),
        super::rig::asm::jalr(1, 12, 0),
    ]);
    words.extend([addi(14, 0, 1), jal(0, 0)]);
    for (index, word) in words.iter().enumerate() {
        memory.write_u32(0x100 + index as u32 * 4, *word).unwrap();
    }
    for (index, word) in [addi(13, 0, 77), super::rig::asm::jalr(0, 1, 0)].iter().enumerate() {
        memory.write_u32(0x2000 + index as u32 * 4, *word).unwrap();
    }
    group.set_reset_pc(0, 0x100);
    group.release_reset(0);
    group.run(&mut memory, &mut Loader, 200);
    assert_eq!((group.register(0, 13), group.register(0, 14), group.stopped(0)), (77, 1, None));
    memory.write_u32(0x100, lw(10, 12, 0)).unwrap();
    group.assert_reset(0);
    group.run(&mut memory, &mut Loader, 250);
    group.release_reset(0);
    group.set_register(0, 12, 0xFFC0_0000);
    group.run(&mut memory, &mut Loader, 300);
    let stop = group.stopped(0).unwrap();
    assert_eq!(
        (stop.cause, stop.address),
        (Cause::Device(DeviceFault("nothing here")), 0xFFC0_0000)
    );
}

#[test]
fn reset_clears_registers_and_keeps_private_memory() {
    let mut rig = Rig::tensix(true);
    rig.program(0x1000, &[lui(2, 0xFFB0_0000), addi(10, 0, 99), sw(10, 2, 8), jal(0, 0)]);
    rig.start(0, 0x1000);
    rig.run(RunMode::Whole, 500);
    assert_eq!(rig.group.register(0, 10), 99);
    rig.group.assert_reset(0);
    assert!(rig.group.in_reset(0));
    assert_eq!(rig.group.next_wake(&rig.memory), Some(512));
    rig.run(RunMode::Whole, 520);
    assert_eq!(rig.group.next_wake(&rig.memory), None);
    rig.group.set_reset_pc(0, 0x100C);
    rig.group.release_reset(0);
    assert_eq!((rig.group.register(0, 10), rig.group.pc(0)), (0, 0x100C));
    assert_eq!(rig.group.local_ram(0)[8], 99);
}
