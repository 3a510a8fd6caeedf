//! `debug`: pauses a core, steps it or waits for a breakpoint, and lets it go on.

use super::cores::read_set;
use super::target::{Style, core_of, end_of_all, open};
use crate::args::DebugArguments;
use crate::exit::{Failure, Outcome};
use crate::halted::{self, Pause, code_rows};
use crate::interrupt;
use crate::locate::{self, NamedPlace};
use crate::machine::{Machine, Opening};
use crate::output::{json, say, text};
use crate::shape::{DebugStop, Debugged};
use crate::words::cycles;
use launch::debugging::{CoreControl, LineStep, Stop, Watched, Watchpoint};
use launch::outcome::RunError;
use layouts::CoreId;
use std::fmt::Write;

/// Time between two looks at a core that runs to a breakpoint, in device cycles.
const POLL_CYCLES: u64 = 20_000;
/// Time between two looks at a core that steps by source lines, which runs only in functions.
const STEP_CYCLES: u64 = 500;
/// A line that has not ended by then waits for something: 10 ms, if a cycle is a nanosecond.
const LINE_CYCLES: u64 = 10_000_000;
/// Instructions that are shown before and after the program counter.
const AROUND: (u32, u32) = (6, 10);

/// A command to a paused core.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DebugCommand {
    Step,
    /// A step to another source line, over functions that are called or into them.
    Line {
        over: bool,
    },
    Registers,
    Code,
    /// A breakpoint at an address, a function or a source line.
    Break(String),
    Watch(u32),
    Continue,
}

impl DebugCommand {
    fn parse(word: &str) -> Result<Self, String> {
        match word.split_once('=') {
            Some(("break", place)) if !place.is_empty() => Ok(Self::Break(place.to_owned())),
            Some(("watch", addr)) => Ok(Self::Watch(halted::address(addr)?)),
            None if word == "step" => Ok(Self::Step),
            None if word == "step-line" => Ok(Self::Line { over: false }),
            None if word == "next-line" => Ok(Self::Line { over: true }),
            None if word == "registers" => Ok(Self::Registers),
            None if word == "code" => Ok(Self::Code),
            None if word == "continue" => Ok(Self::Continue),
            _ => Err(format!(
                "'{word}' is not a command: step, step-line, next-line, registers, code, \
                 break=PLACE, watch=ADDR, continue"
            )),
        }
    }
}

/// A pause, and what of it is shown.
struct Shown {
    pause: Pause,
    registers: bool,
    code: bool,
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
    // A name that means nothing is reported before the core is paused.
    for command in &commands {
        breakpoints(&mut machine, core, command).map_err(Failure::Usage)?;
    }
    let mut control = CoreControl::attach(machine.target(), core).map_err(failed)?;
    let mut stops = Vec::new();
    let done = carry_out(&mut machine, &mut control, &commands, (&stop, &mut stops));
    let ended = control.end(machine.target());
    done.and(ended).map_err(failed)?;
    say(&format!("{core} runs on"));
    if stop.is_requested() {
        return Err(Failure::Interrupted);
    }
    // Where the core was at the end is what a person wants to see.
    if let Some(last) = stops.last_mut() {
        last.code = true;
    }
    show(style, core, stops)
}

/// Returns the addresses of the breakpoints that a command sets.
fn breakpoints(
    machine: &mut Machine,
    core: CoreId,
    command: &DebugCommand,
) -> Result<Vec<u32>, String> {
    match command {
        DebugCommand::Break(place) => halted::code_places(machine.images(), core, place),
        _ => Ok(Vec::new()),
    }
}

fn carry_out(
    machine: &mut Machine,
    control: &mut CoreControl,
    commands: &[DebugCommand],
    (wish, stops): (&interrupt::Stop, &mut Vec<Shown>),
) -> Result<(), RunError> {
    let stop = control.pause(machine.target())?;
    note(machine, control, stop, stops)?;
    for command in commands {
        match *command {
            DebugCommand::Break(_) => {
                let addrs = breakpoints(machine, control.core(), command).unwrap_or_default();
                for addr in addrs {
                    let watched = Watched::Execution;
                    control.watch(machine.target(), Watchpoint { addr, watched })?;
                }
            }
            DebugCommand::Watch(addr) => {
                let watched = Watched::Stores;
                control.watch(machine.target(), Watchpoint { addr, watched })?;
            }
            DebugCommand::Registers | DebugCommand::Code => {
                if let Some(last) = stops.last_mut() {
                    last.registers |= *command == DebugCommand::Registers;
                    last.code |= *command == DebugCommand::Code;
                }
            }
            DebugCommand::Step => {
                control.step(machine.target())?;
                note(machine, control, Stop::Command, stops)?;
            }
            DebugCommand::Line { over } => {
                let Some(stop) = step_line(machine, control, over, wish)? else { return Ok(()) };
                note(machine, control, stop, stops)?;
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

/// Steps to another source line; none if the user does not want to any longer.
fn step_line(
    machine: &mut Machine,
    control: &mut CoreControl,
    over: bool,
    wish: &interrupt::Stop,
) -> Result<Option<Stop>, RunError> {
    let (target, images) = machine.session().parts();
    let mut step = LineStep::begin(target, images, control, over)?;
    let began = target.now()?;
    while !wish.is_requested() {
        if let Some(stop) = step.poll(target, images, control)? {
            return Ok(Some(stop));
        }
        target.pass(STEP_CYCLES)?;
        if target.now()?.saturating_sub(began) >= LINE_CYCLES {
            let stop = control.pause(target)?;
            step.cancel(target, control)?;
            say(&format!("{} is in the same line after {}", control.core(), cycles(LINE_CYCLES)));
            return Ok(Some(stop));
        }
    }
    Ok(None)
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
    stops: &mut Vec<Shown>,
) -> Result<(), RunError> {
    let (target, images) = machine.session().parts();
    let pause = Pause::of(target, images, control, stop, AROUND)?;
    stops.push(Shown { pause, registers: false, code: false });
    Ok(())
}

fn show(style: Style, core: CoreId, stops: Vec<Shown>) -> Result<Outcome, Failure> {
    if style.json {
        let stops = stops
            .into_iter()
            .map(|Shown { pause, registers, code }| DebugStop::new(pause, registers, code));
        json(Debugged::new(core, stops.collect()))?;
        return Ok(Outcome::Healthy);
    }
    let mut lines = String::new();
    for Shown { pause, registers, code } in &stops {
        let addr = pause.addr.map_or_else(String::new, |addr| format!(" {addr:#x}"));
        let _ = writeln!(lines, "pc {:#010x}  {}{addr}  {}", pause.pc, pause.why, pause.place());
        if *registers {
            for row in halted::register_rows(pause, 4, "  ") {
                let _ = writeln!(lines, "  {row}");
            }
        }
        if *code {
            for (instruction, [addr, text, source]) in pause.code.iter().zip(code_rows(&pause.code))
            {
                let next = instruction.addr == pause.pc;
                let mark = if next { ">" } else { " " };
                let pushes = pause.pushes.iter().filter(|_| next);
                let text = pushes.fold(text, |text, pushed| format!("{text}  # {pushed}"));
                let row = format!("  {mark} {addr}  {text:<30}  {source}");
                let _ = writeln!(lines, "{}", row.trim_end());
            }
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
        let breakpoint = DebugCommand::Break("brisc.cpp:59".to_owned());
        assert_eq!(DebugCommand::parse("break=brisc.cpp:59"), Ok(breakpoint));
        assert_eq!(DebugCommand::parse("watch=0x3bb0"), Ok(DebugCommand::Watch(0x3BB0)));
        assert_eq!(DebugCommand::parse("step"), Ok(DebugCommand::Step));
        for wrong in ["halt", "break", "break=", "watch=0x1_0000_0000", "step=1"] {
            assert!(DebugCommand::parse(wrong).is_err(), "{wrong}");
        }
    }
}
