//! A tile with a few devices, a small assembler, and several modes to run the same program in.

use crate::hart::{
    DeviceAccess, DeviceFault, DeviceSet, Devices, HartGroup, HartOrder, Load, Stored,
};
use crate::memory::TileMemory;

pub(super) const CLOCK: u32 = 0xFFB1_2000;
pub(super) const CLOCK_HIGH: u32 = 0xFFB1_2004;
pub(super) const TICKET: u32 = 0xFFB1_2008;
pub(super) const RESET: u32 = 0xFFB1_200C;
pub(super) const REGISTERS: u32 = 0xFFB1_2010;

/// The devices: a clock with an offset, a register whose every load has an effect, a reset
/// register, four plain registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bench {
    pub(super) offset: u64,
    pub(super) registers: [u32; 4],
    pub(super) ticket: u32,
    pub(super) held: u32,
    /// Pending effects of stores: cycle and value.
    pub(super) due: Vec<(u64, u32)>,
    /// Every access with an effect: cycle, hart, address, value.
    pub(super) log: Vec<(u64, u8, u32, u32)>,
}

impl Bench {
    pub(super) fn new(offset: u64) -> Self {
        Self { offset, registers: [0; 4], ticket: 0, held: 0, due: Vec::new(), log: Vec::new() }
    }

    fn register(addr: u32) -> Option<usize> {
        let index = (addr.wrapping_sub(REGISTERS) / 4) as usize;
        (index < 4).then_some(index)
    }
}

impl Devices for Bench {
    /// The plain registers are devices of their own.
    fn device(addr: u32) -> DeviceSet {
        Self::register(addr).map_or(DeviceSet::of(7), |index| DeviceSet::of(index as u8))
    }

    fn deadline(&self) -> u64 {
        self.due.iter().map(|(cycle, _)| *cycle).min().unwrap_or(u64::MAX)
    }

    fn load(&mut self, at: DeviceAccess, _: &mut TileMemory) -> Result<Load, DeviceFault> {
        let clock = at.cycle + self.offset;
        match at.addr {
            CLOCK => Ok(Load::clock(clock as u32)),
            CLOCK_HIGH => {
                let wraps = (1 << 32) - (clock & 0xFFFF_FFFF);
                Ok(Load::until((clock >> 32) as u32, at.cycle + wraps))
            }
            TICKET => {
                self.ticket += 1;
                self.log.push((at.cycle, at.hart, at.addr, self.ticket));
                Ok(Load::volatile(self.ticket))
            }
            RESET => Ok(Load::stable(self.held)),
            addr => Bench::register(addr).map_or(Err(DeviceFault("unmapped load")), |index| {
                Ok(Load::stable(self.registers[index]))
            }),
        }
    }

    fn store(
        &mut self,
        at: DeviceAccess,
        value: u32,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<Stored, DeviceFault> {
        if let Some(index) = Bench::register(at.addr) {
            if self.registers[index] == value {
                return Ok(Stored::Same);
            }
            self.registers[index] = value;
            self.log.push((at.cycle, at.hart, at.addr, value));
            if index == 2 {
                self.due.push((at.cycle + 1 + u64::from(value & 0x1F), value));
            }
            if index == 3 {
                // Models a device that answers into L1 in the same cycle.
                memory
                    .write_u32(0x8000 + (value & 0x7C), value)
                    .map_err(|_| DeviceFault("outside"))?;
            }
            return Ok(Stored::Changed);
        }
        if at.addr != RESET {
            return Err(DeviceFault("unmapped store"));
        }
        self.log.push((at.cycle, at.hart, at.addr, value));
        self.held = value & 0x1F;
        for hart in 0..5 {
            orders.push(if value >> hart & 1 != 0 {
                HartOrder::Assert { hart }
            } else {
                HartOrder::Release { hart }
            });
        }
        Ok(Stored::Changed)
    }
}

/// A tile whose state must not depend on sleep and splits.
#[derive(Debug, Clone)]
pub(super) struct Rig {
    pub(super) group: HartGroup,
    pub(super) memory: TileMemory,
    pub(super) devices: Bench,
}

/// How a stretch of time is split into calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunMode {
    /// By the plain interpreter: instruction by instruction, cycle by cycle, hart by hart.
    Reference,
    /// One call per cycle.
    SingleCycles,
    /// Slices of random length.
    Slices(u64),
    /// Like `Slices`, and the harts run ahead after each.
    Ahead(u64),
    /// One call.
    Whole,
}

impl Rig {
    pub(super) fn tensix(sleep: bool) -> Self {
        Self {
            group: HartGroup::tensix(sleep),
            memory: TileMemory::tensix(),
            devices: Bench::new(0xFFFF_F000),
        }
    }

    pub(super) fn eth(sleep: bool) -> Self {
        let (group, memory) = (HartGroup::eth(sleep), TileMemory::eth());
        Self { group, memory, ..Self::tensix(sleep) }
    }

    pub(super) fn program(&mut self, addr: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.memory.write(addr, &bytes).unwrap();
    }

    pub(super) fn start(&mut self, hart: u8, pc: u32) {
        self.group.set_reset_pc(hart, pc);
        self.group.release_reset(hart);
    }

    pub(super) fn run(&mut self, mode: RunMode, to: u64) {
        let mut random = fastrand::Rng::with_seed(match mode {
            RunMode::Slices(seed) | RunMode::Ahead(seed) => seed ^ to,
            _ => 0,
        });
        while self.group.now() < to {
            let next = match mode {
                RunMode::Whole | RunMode::Reference => to,
                RunMode::SingleCycles => self.group.now() + 1,
                RunMode::Slices(_) | RunMode::Ahead(_) => {
                    (self.group.now() + random.u64(1..200)).min(to)
                }
            };
            if mode == RunMode::Reference {
                self.group.run_plainly(&mut self.memory, &mut self.devices, next);
            } else {
                self.group.run(&mut self.memory, &mut self.devices, next);
            }
            if matches!(mode, RunMode::Ahead(_)) {
                self.group.run_ahead(&mut self.memory, to.min(self.devices.deadline()));
                if self.devices.deadline() <= self.group.now() || self.group.now() == to {
                    self.group.undo_ahead(&mut self.memory, &mut self.devices);
                }
            }
            self.events();
        }
        assert_eq!(self.group.now(), to);
    }

    /// Applies the events due at the present cycle: bytes into data or code, an order, a register.
    fn events(&mut self) {
        let now = self.group.now();
        let (events, later) = self.devices.due.drain(..).partition(|(cycle, _)| *cycle <= now);
        self.devices.due = later;
        let events: Vec<(u64, u32)> = events;
        for (_, value) in events {
            let hart = (value >> 5 & 7) as u8;
            match value >> 8 & 7 {
                0 => self.group.assert_reset(hart),
                1 => self.group.release_reset(hart),
                2 => self.memory.write_u32(0x1000 + (value >> 16 & 0x3FC), 0x13).unwrap(),
                3 => {
                    self.devices.registers[0] ^= 1;
                    self.group.devices_changed(DeviceSet::of(0));
                }
                _ => self.memory.write_u32(0x8000 + (value >> 16 & 0x1C), value >> 11).unwrap(),
            }
        }
    }

    /// Returns the number of instructions executed, not skipped, by all harts.
    pub(super) fn executed(&self) -> u64 {
        (0..5).map(|hart| self.group.executed(hart)).sum()
    }

    /// Returns all state as text, so that two states can be compared and the first difference read.
    pub(super) fn state(&mut self) -> Vec<String> {
        let mut lines = vec![format!("cycle {}", self.group.now()), format!("{:?}", self.devices)];
        for hart in 0..5 {
            let group = &mut self.group;
            let registers: Vec<u32> =
                (0..32).map(|register| group.register(hart, register)).collect();
            lines.push(format!(
                "hart {hart} pc {:#x} reset {} debug {:x?} {:?} stop {:?} retired {} {registers:x?}",
                group.pc(hart),
                group.in_reset(hart),
                group.debug_registers(hart),
                group.refused_order(hart),
                group.stopped(hart),
                group.retired(hart),
            ));
            let local: Vec<(usize, u8)> = group
                .clone()
                .local_ram(hart)
                .iter()
                .copied()
                .enumerate()
                .filter(|(_, byte)| *byte != 0)
                .collect();
            lines.push(format!("hart {hart} local {local:x?}"));
        }
        let bytes = self.memory.slice(0, 0x1_0000).unwrap().chunks(64).enumerate();
        lines.extend(
            bytes
                .filter(|(_, line)| line.iter().any(|byte| *byte != 0))
                .map(|(index, line)| format!("{:#x} {line:x?}", index * 64)),
        );
        lines
    }
}

/// An assembler for the instructions that the tests use.
pub(super) mod asm {
    pub(in super::super) fn i(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
        (imm as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
    }
    pub(in super::super) fn r(funct7: u32, funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
        funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
    }
    pub(in super::super) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
        i(0x13, 0, rd, rs1, imm)
    }
    pub(in super::super) fn lw(rd: u32, rs1: u32, imm: i32) -> u32 {
        load(2, rd, rs1, imm)
    }
    pub(in super::super) fn sw(rs2: u32, rs1: u32, imm: i32) -> u32 {
        store(2, rs2, rs1, imm)
    }
    pub(in super::super) fn lui(rd: u32, value: u32) -> u32 {
        value & 0xFFFF_F000 | rd << 7 | 0x37
    }
    pub(in super::super) fn load(funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
        i(0x03, funct3, rd, rs1, imm)
    }
    pub(in super::super) fn store(funct3: u32, rs2: u32, rs1: u32, imm: i32) -> u32 {
        let imm = imm as u32;
        (imm >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 0x1F) << 7 | 0x23
    }
    pub(in super::super) fn branch(funct3: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
        let imm = offset as u32;
        (imm >> 12 & 1) << 31
            | (imm >> 5 & 0x3F) << 25
            | rs2 << 20
            | rs1 << 15
            | funct3 << 12
            | (imm >> 1 & 0xF) << 8
            | (imm >> 11 & 1) << 7
            | 0x63
    }
    pub(in super::super) fn jal(rd: u32, offset: i32) -> u32 {
        let imm = offset as u32;
        (imm >> 20 & 1) << 31
            | (imm >> 1 & 0x3FF) << 21
            | (imm >> 11 & 1) << 20
            | (imm >> 12 & 0xFF) << 12
            | rd << 7
            | 0x6F
    }
    pub(in super::super) fn jalr(rd: u32, rs1: u32, imm: i32) -> u32 {
        i(0x67, 0, rd, rs1, imm)
    }
}
