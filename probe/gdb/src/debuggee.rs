//! The cores as GDB's target: threads, registers, memory.

use gdbstub::common::Tid;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{MultiThreadBase, MultiThreadResumeOps};
use gdbstub::target::ext::breakpoints::BreakpointsOps;
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target as GdbTarget, TargetError, TargetResult};
use gdbstub_arch::riscv::Riscv32;
use gdbstub_arch::riscv::reg::RiscvCoreRegs;
use launch::debugging::{CoreControl, CoreRegisters};
use launch::outcome::{Cause, RunError};
use machine::snapshot::AccessError;
use machine::target::Target;

/// The registers of a baby RISC-V core.
const DESCRIPTION: &str = include_str!("target.xml");

/// What a thread does when the cores go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It runs.
    Continue,
    /// It executes one instruction.
    Step,
    /// It steps while its program counter is in this range.
    StepIn(u32, u32),
}

/// A core as a thread.
pub(crate) struct Thread {
    pub(crate) control: CoreControl,
    pub(crate) action: Action,
}

/// The cores, and the target that they are part of.
pub(crate) struct Debuggee<'a> {
    pub(crate) target: &'a mut dyn Target,
    pub(crate) threads: Vec<Thread>,
    /// Addresses of breakpoints that the client takes for those of software.
    pub(crate) software: Vec<u32>,
    /// What the client is only told as an error.
    pub(crate) tell: &'a mut dyn FnMut(&RunError),
}

/// Returns the name of a thread: its number from 1.
pub(crate) fn tid(index: usize) -> Option<Tid> {
    Tid::new(index + 1)
}

impl Debuggee<'_> {
    /// Does something with a core. Only the loss of the machine ends the session.
    pub(crate) fn with<T>(
        &mut self,
        tid: Tid,
        act: impl FnOnce(&mut CoreControl, &mut dyn Target) -> Result<T, RunError>,
    ) -> TargetResult<T, Self> {
        let thread = self.threads.get_mut(tid.get() - 1).ok_or(TargetError::NonFatal)?;
        act(&mut thread.control, self.target).map_err(|error| {
            (self.tell)(&error);
            if is_gone(&error) { TargetError::Fatal(error) } else { TargetError::NonFatal }
        })
    }
}

/// Whether the machine is lost.
pub(crate) fn is_gone(error: &RunError) -> bool {
    matches!(error.cause, Cause::Access(AccessError::DeviceGone(_)))
}

impl GdbTarget for Debuggee<'_> {
    type Arch = Riscv32;
    type Error = RunError;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::MultiThread(self)
    }

    // Breakpoints of software are those of hardware here, which the stub cannot know.
    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Debuggee<'_> {
    fn read_registers(
        &mut self,
        registers: &mut RiscvCoreRegs<u32>,
        tid: Tid,
    ) -> TargetResult<(), Self> {
        let CoreRegisters { general, pc } =
            self.with(tid, |control, target| control.registers(target))?;
        *registers = RiscvCoreRegs { x: general, pc };
        Ok(())
    }

    fn write_registers(
        &mut self,
        registers: &RiscvCoreRegs<u32>,
        tid: Tid,
    ) -> TargetResult<(), Self> {
        let old = self.with(tid, |control, target| control.registers(target))?;
        if registers.pc != old.pc {
            // Sources differ on how a program counter is set (wormhole.md 4.3).
            return Err(TargetError::NonFatal);
        }
        let changed = (0u32..).zip(registers.x.iter().zip(old.general)).skip(1);
        for (index, (value, old)) in changed {
            if *value != old {
                self.with(tid, |control, target| control.set_register(target, index, *value))?;
            }
        }
        Ok(())
    }

    fn read_addrs(&mut self, addr: u32, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let len = data.len() as u32;
        let bytes = self.with(tid, |control, target| control.read(target, addr, len))?;
        for (slot, byte) in data.iter_mut().zip(&bytes) {
            *slot = *byte;
        }
        Ok(bytes.len())
    }

    fn write_addrs(&mut self, addr: u32, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        self.with(tid, |control, target| control.write(target, addr, data))
    }

    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> Result<(), Self::Error> {
        for index in 0..self.threads.len() {
            tid(index).into_iter().for_each(&mut *active);
        }
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Debuggee<'_> {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Self::Error> {
        let thread = self.threads.get(tid.get() - 1);
        let name = thread.map_or_else(String::new, |thread| thread.control.core().to_string());
        let len = name.len().min(buf.len());
        buf[..len].copy_from_slice(&name.as_bytes()[..len]);
        Ok(len)
    }
}

impl TargetDescriptionXmlOverride for Debuggee<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let rest = DESCRIPTION.as_bytes().get(offset as usize..).map_or(&[][..], |rest| rest);
        let len = rest.len().min(length).min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}
