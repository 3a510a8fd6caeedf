//! `debug`: pauses a core, steps it or waits for a breakpoint, and lets it go on.

use super::cores::read_set;
use super::sample::chain;
use super::target::{Style, core_of, end_of_all, open};
use crate::args::DebugArguments;
use crate::exit::{Failure, Outcome};
use crate::interrupt;
use crate::locate::{self, NamedPlace};
use crate::machine::{Machine, Opening};
use crate::output::{json, say, text};
use crate::shape::{DebugStop, Debugged};
use decode::profile::profile;
use launch::debugging::{CoreControl, CoreRegisters, Stop, Watched, Watchpoint};
use launch::outcome::RunError;
use layouts::CoreId;
use machine::samples::{CoreSamples, PcSample};
use std::fmt::Write;

/// Time between two looks at a core that runs to a breakpoint, in device cycles.
const POLL_CYCLES: u64 = 20_000;
/// The names of x0 to x31 in assembly.
const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// A command to a paused core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DebugCommand {
    Step,
    Registers,
    Watch(Watchpoint),
    Continue,
}

impl DebugCommand {
    fn parse(word: &str) -> Result<Self, String> {
        let watch = |addr: &str, watched| {
            let addr = u32::try_from(locate::number(addr)?);
            let addr = addr.map_err(|_| format!("'{word}': an address of a core has 32 bits"))?;
            Ok(Self::Watch(Watchpoint { addr, watched }))
        };
        match word.split_once('=') {
            Some(("break", addr)) => watch(addr, Watched::Execution),
            Some(("watch", addr)) => watch(addr, Watched::Stores),
            None if word == "step" => Ok(Self::Step),
            None if word == "registers" => Ok(Self::Registers),
            None if word == "continue" => Ok(Self::Continue),
            _ => Err(format!(
                "'{word}' is not a command: step, registers, break=ADDR, watch=ADDR, continue"
            )),
        }
    }
}

pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &DebugArguments,
) -> Result<Outcome, Failure> {
    let place = locate::core(&options.core).map_err(Failure::Usage)?;
    let commands: Result<Vec<_>, _> =
        options.commands.iter().map(|word| DebugCommand::parse(word)).collect();
    let commands = commands.map_err(Failure::Usage)?;
    let stop = interrupt::Stop::listen()?;
    let mut machine = open(opening)?;
    let mesh = machine.mesh();
    let core = core_of(place, &mesh)?;
    let failed = |error: RunError| Failure::of_run(&opening.words, mesh.layout(), &error);
    stop.takes_time();
    machine.target().commanded_by("debug");
    if commands == [DebugCommand::Continue] {
        let released = CoreControl::release(machine.target(), core).map_err(failed)?;
        say(&format!(
            "{core} {}",
            if released { "was paused, and runs" } else { "was not paused" }
        ));
        return show(style, core, Vec::new());
    }
    // The images that run there say where the core is.
    let named = NamedPlace::Tile(core.chip, core.tile, None);
    let snapshot = machine.take(&read_set(&mesh, Some(named)));
    if let Some(gone) = end_of_all(&snapshot.memory) {
        return Err(Failure::of_access(&opening.words, gone));
    }
    machine.target().commanded_by("debug");
    let mut control = CoreControl::attach(machine.target(), core).map_err(failed)?;
    let mut stops = Vec::new();
    let done = carry_out(&mut machine, &mut control, &commands, (&stop, &mut stops));
    let ended = control.end(machine.target());
    done.and(ended).map_err(failed)?;
    say(&format!("{core} runs on"));
    if stop.is_requested() {
        return Err(Failure::Interrupted);
    }
    show(style, core, stops)
}

fn carry_out(
    machine: &mut Machine,
    control: &mut CoreControl,
    commands: &[DebugCommand],
    (wish, stops): (&interrupt::Stop, &mut Vec<DebugStop>),
) -> Result<(), RunError> {
    let stop = control.pause(machine.target())?;
    note(machine, control, stop, stops)?;
    for command in commands {
        match *command {
            DebugCommand::Watch(watchpoint) => control.watch(machine.target(), watchpoint)?,
            DebugCommand::Registers => {
                let registers = control.registers(machine.target())?;
                if let Some(last) = stops.last_mut() {
                    last.registers = Some(registers.general);
                }
            }
            DebugCommand::Step => {
                control.step(machine.target())?;
                note(machine, control, Stop::Command, stops)?;
            }
            DebugCommand::Continue => {
                control.go_on(machine.target())?;
                let Some(stop) = wait(machine, control, wish)? else { return Ok(()) };
                note(machine, control, stop, stops)?;
            }
        }
    }
    Ok(())
}

/// Waits until the core is paused; none if the user does not want to any longer.
fn wait(
    machine: &mut Machine,
    control: &mut CoreControl,
    wish: &interrupt::Stop,
) -> Result<Option<Stop>, RunError> {
    while !wish.is_requested() {
        if let Some(stop) = control.poll(machine.target())? {
            return Ok(Some(stop));
        }
        machine.target().pass(POLL_CYCLES)?;
    }
    Ok(None)
}

fn note(
    machine: &mut Machine,
    control: &mut CoreControl,
    stop: Stop,
    stops: &mut Vec<DebugStop>,
) -> Result<(), RunError> {
    let registers = control.registers(machine.target())?;
    let place = place(machine, control.core(), &registers);
    stops.push(DebugStop::new(stop, &registers, place));
    Ok(())
}

/// The source line of a program counter.
fn place(machine: &mut Machine, core: CoreId, registers: &CoreRegisters) -> String {
    let sample = PcSample { cycles: 0, pc: registers.pc, certain: true };
    let samples = CoreSamples { core, samples: vec![sample], relays: false, missing: None };
    let found = profile(machine.images(), &samples);
    found.places.first().map_or_else(String::new, chain)
}

fn show(style: Style, core: CoreId, stops: Vec<DebugStop>) -> Result<Outcome, Failure> {
    if style.json {
        json(Debugged::new(core, stops))?;
        return Ok(Outcome::Healthy);
    }
    let mut lines = String::new();
    for stop in &stops {
        let addr = stop.addr.map_or_else(String::new, |addr| format!(" {addr:#x}"));
        let _ = writeln!(lines, "pc {:#010x}  {}{addr}  {}", stop.pc, stop.why, stop.place);
        let named: Vec<_> = stop.registers.iter().flatten().zip(NAMES).collect();
        for row in named.chunks(4) {
            let cells = row.iter().map(|(value, name)| format!("{name:>4} {value:#010x}"));
            let _ = writeln!(lines, "  {}", cells.collect::<Vec<_>>().join("  "));
        }
    }
    text(&lines)?;
    Ok(Outcome::Healthy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_words_and_addresses() {
        let breakpoint = Watchpoint { addr: 0x3BB0, watched: Watched::Execution };
        assert_eq!(DebugCommand::parse("break=0x3bb0"), Ok(DebugCommand::Watch(breakpoint)));
        assert_eq!(DebugCommand::parse("step"), Ok(DebugCommand::Step));
        for wrong in ["halt", "break", "break=x", "watch=0x1_0000_0000", "step=1"] {
            assert!(DebugCommand::parse(wrong).is_err(), "{wrong}");
        }
    }
}
