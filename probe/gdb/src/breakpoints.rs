//! Breakpoints and watchpoints: eight of the hardware for each core, set in all of them.

use crate::debuggee::{Debuggee, Thread, tid};
use gdbstub::target::TargetResult;
use gdbstub::target::ext::breakpoints::{
    Breakpoints, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use launch::debugging::{Watched, Watchpoint};

impl Debuggee<'_> {
    /// Sets a watchpoint in every core, or in none.
    fn set(&mut self, watchpoint: Watchpoint) -> TargetResult<bool, Self> {
        for tid in (0..self.threads.len()).filter_map(tid) {
            if self.with(tid, |control, target| control.watch(target, watchpoint)).is_err() {
                self.clear(watchpoint)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn clear(&mut self, watchpoint: Watchpoint) -> TargetResult<bool, Self> {
        let mut found = false;
        for tid in (0..self.threads.len()).filter_map(tid) {
            found |= self.with(tid, |control, target| control.unwatch(target, watchpoint))?;
        }
        Ok(found)
    }

    /// Returns one watchpoint for each word of a range: the hardware compares with one address. None
    /// for a range of more words than each core has watchpoints.
    fn words(
        &self,
        addr: u32,
        len: u32,
        kind: WatchKind,
    ) -> Option<impl Iterator<Item = Watchpoint> + use<>> {
        let watched = match kind {
            WatchKind::Write => Watched::Stores,
            WatchKind::Read => Watched::Loads,
            WatchKind::ReadWrite => Watched::Accesses,
        };
        let addrs = (addr..addr.saturating_add(len)).step_by(4);
        let fits = |thread: &Thread| addrs.len() <= thread.control.most_watchpoints();
        let words = addrs.clone().map(move |addr| Watchpoint { addr, watched });
        self.threads.iter().all(fits).then_some(words)
    }
}

fn execution(addr: u32) -> Watchpoint {
    Watchpoint { addr, watched: Watched::Execution }
}

impl Breakpoints for Debuggee<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debuggee<'_> {
    fn add_sw_breakpoint(&mut self, addr: u32, _kind: usize) -> TargetResult<bool, Self> {
        let set = self.set(execution(addr))?;
        if set {
            self.software.push(addr);
        }
        Ok(set)
    }

    fn remove_sw_breakpoint(&mut self, addr: u32, _kind: usize) -> TargetResult<bool, Self> {
        self.software.retain(|known| *known != addr);
        self.clear(execution(addr))
    }
}

impl HwBreakpoint for Debuggee<'_> {
    fn add_hw_breakpoint(&mut self, addr: u32, _kind: usize) -> TargetResult<bool, Self> {
        self.set(execution(addr))
    }

    fn remove_hw_breakpoint(&mut self, addr: u32, _kind: usize) -> TargetResult<bool, Self> {
        self.clear(execution(addr))
    }
}

impl HwWatchpoint for Debuggee<'_> {
    fn add_hw_watchpoint(
        &mut self,
        addr: u32,
        len: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let Some(words) = self.words(addr, len, kind) else { return Ok(false) };
        let mut set = true;
        for word in words {
            set = set && self.set(word)?;
        }
        if !set {
            self.remove_hw_watchpoint(addr, len, kind)?;
        }
        Ok(set)
    }

    fn remove_hw_watchpoint(
        &mut self,
        addr: u32,
        len: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let Some(words) = self.words(addr, len, kind) else { return Ok(false) };
        let mut found = true;
        for word in words {
            found &= self.clear(word)?;
        }
        Ok(found)
    }
}
