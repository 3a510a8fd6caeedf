//! Memory as a core sees it: its private RAM by the core itself, the rest over the NoC.

use super::CoreControl;
use crate::occupancy::check_permissions;
use crate::outcome::RunError;
use crate::undebuggable::Undebuggable;
use layouts::{CoreAddr, NocAddr, WritePermission};
use machine::snapshot::{Plan, Span};
use machine::target::Target;

impl CoreControl {
    /// Reads memory. A range ends where private RAM does.
    ///
    /// # Errors
    /// When the core is not paused and the memory is private, or nothing is known at the address.
    pub fn read(
        &mut self,
        target: &mut dyn Target,
        addr: u32,
        len: u32,
    ) -> Result<Vec<u8>, RunError> {
        let Some(len) = self.private(addr, len) else {
            let addr = self.shared(addr)?;
            let snapshot = target.read(&Plan { spans: vec![Span { addr, len }] });
            return Ok(snapshot.bytes(addr, len)?.to_vec());
        };
        self.ensure_paused(target)?;
        let first = addr & !3;
        let mut bytes = Vec::new();
        for word in (first..addr + len).step_by(4) {
            bytes.extend(self.word(target, word)?.to_le_bytes());
        }
        bytes.drain(..(addr - first) as usize);
        bytes.truncate(len as usize);
        Ok(bytes)
    }

    /// Writes memory.
    ///
    /// # Errors
    /// As [`CoreControl::read`], and when the target does not permit it.
    pub fn write(
        &mut self,
        target: &mut dyn Target,
        addr: u32,
        bytes: &[u8],
    ) -> Result<(), RunError> {
        check_permissions(target, "writing memory", &[WritePermission::Write])?;
        let len = bytes.len() as u32;
        let Some(private) = self.private(addr, len) else {
            return Ok(target.write(self.shared(addr)?, bytes)?);
        };
        if private < len {
            let why = "the private RAM of the core ends before".to_owned();
            return Err(Undebuggable::OutOfReach(self.core(), addr + len - 1, why).into());
        }
        self.ensure_paused(target)?;
        for word in (addr & !3..addr + len).step_by(4) {
            let mut value = [0; 4];
            if word < addr || word + 4 > addr + len {
                value = self.word(target, word)?.to_le_bytes();
            }
            for (at, byte) in (word..).zip(&mut value) {
                if let Some(new) = at.checked_sub(addr).and_then(|at| bytes.get(at as usize)) {
                    *byte = *new;
                }
            }
            self.set_word(target, word, u32::from_le_bytes(value))?;
        }
        Ok(())
    }

    /// Returns how many of these bytes are in private RAM; none if the first is not.
    fn private(&self, addr: u32, len: u32) -> Option<u32> {
        let (first, bytes) = self.layout.local_ram(self.core().core)?;
        let offset = addr.checked_sub(first).filter(|offset| *offset < bytes)?;
        Some(len.min(bytes - offset))
    }

    fn shared(&self, addr: u32) -> Result<NocAddr, RunError> {
        let at = self.layout.core_to_noc(self.core(), CoreAddr(addr));
        let out = |why: layouts::Reason| {
            Undebuggable::OutOfReach(self.core(), addr, why.to_string()).into()
        };
        at.map_err(out)
    }

    /// Reads a word as the core does.
    fn word(&self, target: &mut dyn Target, addr: u32) -> Result<u32, RunError> {
        let debug = &self.layout.risc_debug;
        self.port.write(target, debug.registers.argument, addr)?;
        self.command(target, debug.command.read_memory)?;
        self.complete(target, addr)?;
        self.port.read(target, debug.registers.result)
    }

    /// Writes a word as the core does.
    fn set_word(&self, target: &mut dyn Target, addr: u32, value: u32) -> Result<(), RunError> {
        let debug = &self.layout.risc_debug;
        self.port.write(target, debug.registers.argument, addr)?;
        self.port.write(target, debug.registers.data, value)?;
        self.command(target, debug.command.write_memory)?;
        self.complete(target, addr)
    }

    fn complete(&self, target: &mut dyn Target, addr: u32) -> Result<(), RunError> {
        let core = self.core();
        let paused = self.wait_paused(target)?;
        if paused { Ok(()) } else { Err(Undebuggable::Busy(core, addr).into()) }
    }

    /// Disables the branch predictor of a core that has just been paused.
    pub(super) fn disable_predictor(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        let predictor = &self.layout.risc_debug.predictor;
        let Some(bit) = predictor.bit(self.core().core).filter(|_| self.predictor.is_none()) else {
            return Ok(());
        };
        let word = self.word(target, predictor.at)?;
        self.predictor = Some(word & bit);
        self.set_word(target, predictor.at, word | bit)
    }

    /// Puts the bit of the branch predictor back.
    pub(super) fn restore_predictor(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        let predictor = &self.layout.risc_debug.predictor;
        let Some((bit, old)) = predictor.bit(self.core().core).zip(self.predictor.take()) else {
            return Ok(());
        };
        // Other cores may have written the other bits meanwhile.
        let word = self.word(target, predictor.at)?;
        self.set_word(target, predictor.at, word & !bit | old)
    }
}
