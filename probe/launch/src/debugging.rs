//! Pauses, steps and inspects a core by the RISC debug interface (wormhole.md 4.3).
//!
//! Slow mode is switched on before a pause, and the branch predictor off after it, because a core
//! could otherwise not go on safely. A core pauses after the instruction of a breakpoint. It is
//! shown at that instruction, as if it had not been executed: the next step only shows what follows.
//! What [`CoreControl`] paused goes on at its [`CoreControl::end`].

mod line_step;
mod memory;
mod port;
mod skid;
mod stops;

pub use line_step::LineStep;
pub use stops::{CoreRegisters, REGISTERS, Stop, Watched, Watchpoint};

use crate::occupancy::check_permissions;
use crate::outcome::RunError;
use crate::sampling::Sampling;
use crate::undebuggable::Undebuggable;
use layouts::{ChipLayout, CoreId, WritePermission};
use machine::place::Place;
use machine::samples::SampleOrder;
use machine::target::Target;
use port::DebugPort;
use skid::Skid;

/// The time in which a core must pause, in cycles. It takes a handful, unless the core waits for a
/// FIFO.
const DEADLINE_CYCLES: u64 = 100_000;
/// Cycles between two looks at a core that is to pause.
const POLL_CYCLES: u64 = 100;
/// A core under control.
#[derive(Debug)]
pub struct CoreControl {
    port: DebugPort,
    layout: &'static ChipLayout,
    watchpoints: Vec<Option<Watchpoint>>,
    /// The word that disables branch predictors, as it was.
    predictor: Option<u32>,
    /// Whether this control has paused the core or found it paused, so that its mode has changed.
    held: bool,
    /// Whether the core was paused by itself before, and is to stay so.
    stays: bool,
    skid: Option<Skid>,
}

impl CoreControl {
    /// Takes control of a core that nobody debugs. Changes nothing yet. A core that an `ebreak`
    /// paused stays so at the end, unless it is told to go on.
    ///
    /// # Errors
    /// When the core cannot be debugged, when another debugger controls it, or when the target does
    /// not permit it.
    pub fn attach(target: &mut dyn Target, core: CoreId) -> Result<Self, RunError> {
        let mut control = Self::of(target, core)?;
        let debug = &control.layout.risc_debug;
        let registers = &debug.registers;
        let status = control.port.read(target, registers.status)?;
        let command = control.port.read(target, registers.command)?;
        let modes = control.port.read(target, registers.watch_modes)?;
        control.stays = status & debug.status.ebreak != 0;
        let paused = status & debug.status.paused != 0;
        if paused && !control.stays || command & debug.command.slow != 0 || modes != 0 {
            return Err(Undebuggable::Taken(core).into());
        }
        Ok(control)
    }

    /// Releases a core that another debugger left paused. Returns whether it was.
    ///
    /// # Errors
    /// As [`CoreControl::attach`], but for the other debugger.
    pub fn release(target: &mut dyn Target, core: CoreId) -> Result<bool, RunError> {
        let mut control = Self::of(target, core)?;
        let paused = control.status(target)? & control.layout.risc_debug.status.paused != 0;
        control.held = paused;
        control.end(target)?;
        Ok(paused)
    }

    /// Finds the interface of a core and checks what can be checked without a write.
    fn of(target: &mut dyn Target, core: CoreId) -> Result<Self, RunError> {
        check_permissions(target, "pausing a core", &[WritePermission::Halt])?;
        let layout = target.mesh().layout();
        let port = DebugPort::of(layout, core).ok_or(Undebuggable::NoInterface(core))?;
        refuse_active(target, core)?;
        port.ask(target)?;
        let place = Place { chip: core.chip, tile: core.tile };
        if let Some(at) = layout.soft_reset(layout.kind_at(core.tile)) {
            let held = target.read_word(place.at(at))?;
            if held >> layout.reset_bit(core.core) & 1 == 1 {
                return Err(Undebuggable::InReset(core).into());
            }
        }
        let watches = layout.risc_debug.registers.watches as usize;
        let watchpoints = vec![None; watches];
        let (held, stays) = (false, false);
        Ok(Self { port, layout, watchpoints, predictor: None, held, stays, skid: None })
    }

    /// Returns the core.
    pub fn core(&self) -> CoreId {
        self.port.core
    }

    /// Pauses the core, if it runs.
    ///
    /// # Errors
    /// When it has not paused after a while: it waits for a load or store, and pauses later.
    pub fn pause(&mut self, target: &mut dyn Target) -> Result<Stop, RunError> {
        if !self.held {
            self.command(target, 0)?;
            target.pass(self.layout.risc_debug.drain_cycles)?;
        }
        if let Some(stop) = self.poll(target)? {
            return Ok(stop);
        }
        self.held = true;
        self.command(target, self.layout.risc_debug.command.pause)?;
        let start = target.now()?;
        loop {
            if let Some(stop) = self.poll(target)? {
                return Ok(stop);
            }
            let waited_cycles = target.now()?.saturating_sub(start);
            if waited_cycles >= DEADLINE_CYCLES {
                let (core, pc) = (self.core(), sampled_pc(target, self.core()));
                return Err(Undebuggable::Runs { core, waited_cycles, pc }.into());
            }
            target.pass(POLL_CYCLES)?;
        }
    }

    /// Returns why the core is paused; none while it runs.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<Option<Stop>, RunError> {
        let bits = &self.layout.risc_debug.status;
        let status = self.status(target)?;
        if status & bits.paused == 0 {
            return Ok(None);
        }
        self.held = true;
        self.disable_predictor(target)?;
        if status & bits.ebreak != 0 {
            return Ok(Some(Stop::Ebreak));
        }
        let hit = |index: &usize| status >> (bits.first_hit + *index as u32) & 1 == 1;
        let hits = (0..self.watchpoints.len()).filter(hit);
        let hits = hits.filter_map(|index| self.watchpoints[index]);
        let hits: Vec<_> = hits.collect();
        let breakpoint = hits.iter().find(|hit| hit.watched == Watched::Execution);
        let stop = breakpoint.or(hits.first()).copied();
        if let Some(Watchpoint { addr, watched: Watched::Execution }) = stop
            && self.skid.is_none()
        {
            self.skid = Some(self.skid_of(target, addr));
        }
        Ok(Some(stop.map_or(Stop::Command, Stop::Watch)))
    }

    /// Lets the paused core go on.
    ///
    /// # Errors
    /// When it is not paused.
    pub fn go_on(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        self.ensure_paused(target)?;
        (self.skid, self.stays) = (None, false);
        self.command(target, self.layout.risc_debug.command.go_on)
    }

    /// Lets the paused core execute one instruction.
    ///
    /// # Errors
    /// When it is not paused, or does not pause again.
    pub fn step(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        self.ensure_paused(target)?;
        if self.skid.take().is_some() {
            return Ok(());
        }
        self.command(target, self.layout.risc_debug.command.step)?;
        let core = self.core();
        let paused = self.wait_paused(target)?;
        if paused { Ok(()) } else { Err(Undebuggable::NotPaused(core).into()) }
    }

    /// Returns the registers of the paused core.
    ///
    /// # Errors
    /// When it is not paused.
    pub fn registers(&mut self, target: &mut dyn Target) -> Result<CoreRegisters, RunError> {
        self.ensure_paused(target)?;
        let mut general = [0; REGISTERS];
        for (index, register) in general.iter_mut().enumerate().skip(1) {
            *register = self.register(target, index as u32)?;
        }
        let pc = self.register(target, self.layout.risc_debug.pc)?;
        let mut registers = CoreRegisters { general, pc };
        if let Some(skid) = &self.skid {
            skid.apply(&mut registers);
        }
        Ok(registers)
    }

    /// Returns the program counter of the paused core.
    ///
    /// # Errors
    /// When it is not paused.
    pub fn pc(&mut self, target: &mut dyn Target) -> Result<u32, RunError> {
        self.ensure_paused(target)?;
        match &self.skid {
            Some(skid) => Ok(skid.addr),
            None => self.register(target, self.layout.risc_debug.pc),
        }
    }

    /// Sets a general register of the paused core.
    ///
    /// # Errors
    /// When it is not paused, or the target does not permit writes.
    pub fn set_register(
        &mut self,
        target: &mut dyn Target,
        index: u32,
        value: u32,
    ) -> Result<(), RunError> {
        check_permissions(target, "writing a register", &[WritePermission::Write])?;
        self.ensure_paused(target)?;
        let debug = &self.layout.risc_debug;
        self.port.write(target, debug.registers.argument, index)?;
        self.port.write(target, debug.registers.data, value)?;
        self.command(target, debug.command.write_register)
    }

    /// Returns how many watchpoints it can have.
    pub fn most_watchpoints(&self) -> usize {
        self.watchpoints.len()
    }

    /// Sets a watchpoint of the paused core.
    ///
    /// # Errors
    /// When it is not paused or has none left.
    pub fn watch(
        &mut self,
        target: &mut dyn Target,
        watchpoint: Watchpoint,
    ) -> Result<(), RunError> {
        self.ensure_paused(target)?;
        if self.watchpoints.contains(&Some(watchpoint)) {
            return Ok(());
        }
        let number = self.watchpoints.len() as u32;
        let free = self.watchpoints.iter().position(Option::is_none);
        let free = free.ok_or(Undebuggable::NoWatchLeft(self.core(), number))?;
        let register = self.layout.risc_debug.registers.watch_address + free as u32;
        self.port.write(target, register, watchpoint.addr)?;
        self.watchpoints[free] = Some(watchpoint);
        self.write_modes(target)
    }

    /// Removes a watchpoint. Returns whether there was such a one.
    ///
    /// # Errors
    /// When the core is not paused.
    pub fn unwatch(
        &mut self,
        target: &mut dyn Target,
        watchpoint: Watchpoint,
    ) -> Result<bool, RunError> {
        self.ensure_paused(target)?;
        let mut places = self.watchpoints.iter_mut();
        let Some(place) = places.find(|place| **place == Some(watchpoint)) else {
            return Ok(false);
        };
        *place = None;
        self.write_modes(target)?;
        Ok(true)
    }

    /// Returns the watchpoints.
    pub fn watchpoints(&self) -> impl Iterator<Item = Watchpoint> {
        self.watchpoints.iter().copied().flatten()
    }

    /// Removes the watchpoints, lets the core go on if this control paused it, and leaves it as it
    /// was found.
    ///
    /// # Errors
    /// When the core was not left so; it may be paused.
    pub fn end(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        if !self.held {
            return Ok(());
        }
        let debug = &self.layout.risc_debug;
        // What changed the core's mode is taken back while it is paused.
        if self.poll(target)?.is_none() {
            self.pause(target)?;
        }
        self.watchpoints.fill(None);
        self.port.write(target, debug.registers.watch_modes, 0)?;
        self.restore_predictor(target)?;
        if !self.stays {
            self.command(target, debug.command.go_on)?;
        }
        self.port.write(target, debug.registers.command, 0)?;
        (self.held, self.skid) = (false, None);
        Ok(())
    }

    fn status(&self, target: &mut dyn Target) -> Result<u32, RunError> {
        self.port.read(target, self.layout.risc_debug.registers.status)
    }

    fn ensure_paused(&self, target: &mut dyn Target) -> Result<(), RunError> {
        let paused = self.status(target)? & self.layout.risc_debug.status.paused != 0;
        if paused { Ok(()) } else { Err(Undebuggable::NotPaused(self.core()).into()) }
    }

    /// Waits until the core is paused again, after something that takes it a few cycles.
    fn wait_paused(&self, target: &mut dyn Target) -> Result<bool, RunError> {
        for _ in 0..DEADLINE_CYCLES / POLL_CYCLES {
            if self.status(target)? & self.layout.risc_debug.status.paused != 0 {
                return Ok(true);
            }
            target.pass(POLL_CYCLES)?;
        }
        Ok(false)
    }

    fn command(&self, target: &mut dyn Target, bits: u32) -> Result<(), RunError> {
        let debug = &self.layout.risc_debug;
        self.port.write(target, debug.registers.command, debug.command.slow | bits)
    }

    fn register(&self, target: &mut dyn Target, index: u32) -> Result<u32, RunError> {
        let debug = &self.layout.risc_debug;
        self.port.write(target, debug.registers.argument, index)?;
        self.command(target, debug.command.read_register)?;
        self.port.read(target, debug.registers.result)
    }

    fn write_modes(&self, target: &mut dyn Target) -> Result<(), RunError> {
        let debug = &self.layout.risc_debug;
        let mode = |watched| match watched {
            Watched::Execution => debug.watch.execute,
            Watched::Loads => debug.watch.read,
            Watched::Stores => debug.watch.write,
            Watched::Accesses => debug.watch.access,
        };
        let modes = self.watchpoints.iter().rev().fold(0, |modes, place| {
            modes << 4 | place.map_or(0, |watchpoint| mode(watchpoint.watched))
        });
        self.port.write(target, debug.registers.watch_modes, modes)
    }
}

/// Lets the debug interface of a tile show the status of a core, or that of another core of the tile
/// if only that one is halted. No core is changed by it; an interface that somebody uses right now is
/// left alone.
///
/// # Errors
/// When the core cannot be debugged, or the target does not permit it.
pub fn show_status(target: &mut dyn Target, core: CoreId) -> Result<(), RunError> {
    check_permissions(target, "asking whether a core is halted", &[WritePermission::Halt])?;
    refuse_active(target, core)?;
    let layout = target.mesh().layout();
    let cores = layout.kind_at(core.tile).cores().iter().map(|&kind| CoreId { core: kind, ..core });
    let others = cores.filter(|other| *other != core);
    let ports: Vec<_> =
        [core].into_iter().chain(others).filter_map(|core| DebugPort::of(layout, core)).collect();
    let Some(first) = ports.first() else { return Err(Undebuggable::NoInterface(core).into()) };
    let before = first.words(target)?;
    target.pass(POLL_CYCLES)?;
    if first.words(target)? != before {
        return Err(Undebuggable::Taken(core).into());
    }
    target.commanded_by("ask whether a core is halted");
    for port in ports {
        if port.read(target, layout.risc_debug.registers.status)? & layout.risc_debug.status.paused
            != 0
        {
            break;
        }
    }
    Ok(())
}

/// Refuses an Ethernet core that carries a link or by which a chip is reached.
fn refuse_active(target: &mut dyn Target, core: CoreId) -> Result<(), RunError> {
    let mesh = target.mesh();
    let own = Place { chip: core.chip, tile: core.tile };
    let is_own = |end: &_| Place::of(mesh.layout(), *end) == Ok(own);
    if let Some(link) = mesh.links.iter().flat_map(|link| [link.a, link.b]).find(is_own) {
        return Err(Undebuggable::Active(core, Some(link)).into());
    }
    let gateways = mesh.chips.iter().filter_map(|chip| chip.gateway.as_ref()).flatten();
    if gateways.copied().any(|end| is_own(&end)) {
        return Err(Undebuggable::Active(core, None).into());
    }
    Ok(())
}

/// Samples the program counter of a core that does not pause, if the target permits it.
fn sampled_pc(target: &mut dyn Target, core: CoreId) -> Option<u32> {
    let order = SampleOrder { count: 1, apart_cycles: POLL_CYCLES };
    let mut sampling = Sampling::new(target, &[core], order).ok()?;
    while let Ok(false) = sampling.poll(target) {}
    sampling.end(target).of(core)?.samples.first().map(|sample| sample.pc)
}
