//! `debug`: pauses a core, steps it or waits for a breakpoint, and lets it go on.

use super::cores::read_set;
use crate::interrupt;
use crate::line::{self, CoreWords, DebugWords};
use crate::output::{json, say, text};
use crate::shape::schema;
use crate::shape::{DebugStop, Debugged};
use crate::target::{Style, core_of, end_of_all, open};
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::halted::{self, CoreCommand, Held, Pause, code_rows, watchpoints};
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use console::words::cycles;
use launch::debugging::CoreControl;
use launch::outcome::RunError;
use layouts::CoreId;
use std::fmt::Write;

/// Pause a core, step it or wait for a breakpoint, and let it go on.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DebugArguments {
    /// The core: 0:1-2:trisc0 or 0:1-2; without a core's name the first of the tile.
    pub(crate) core: String,
    /// What to do, in order: stepi [N], step-line, next-line, registers, code, break PLACE,
    /// watch ADDR, delete, continue.
    #[arg(value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
}

impl Verb for DebugArguments {
    const NAME: &str = "debug";
    const PAGES: Pages = &[("debug", include_str!("../manual/verbs/debug.md"))];
    const SCHEMAS: Schemas = &[("debug", schema::<Debugged>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("debug")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// Time between two looks at a core that runs to a breakpoint, in device cycles.
const POLL_CYCLES: u64 = 20_000;
/// Time between two looks at a core that steps by source lines, which runs only in functions.
const STEP_CYCLES: u64 = 500;
/// A line that has not ended by then waits for something: 10 ms, if a cycle is a nanosecond.
const LINE_CYCLES: u64 = 10_000_000;
/// Instructions that are shown before and after the program counter.
const AROUND: (u32, u32) = (6, 10);

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
    let commands = line::commands(&options.commands).map_err(Failure::Usage)?;
    let stop = interrupt::Stop::listen()?;
    let mut machine = open(opening)?;
    let mesh = machine.mesh();
    let core = core_of(place, &mesh)?;
    let failed = |error: RunError| Failure::of_run(&opening.words, mesh.layout(), &error);
    stop.takes_time();
    machine.target().commanded_by("debug");
    if commands == [DebugWords::Core(CoreWords::Continue)] {
        let released = CoreControl::release(machine.target(), core).map_err(failed)?;
        say(&format!(
            "{core} {}",
            if released { "was paused, and runs" } else { "was not paused" }
        ));
        return show(style, core, Vec::new());
    }
    // The images that run there say where the core is.
    let named = NamedPlace::Core(core);
    let snapshot = machine.take(&read_set(&mesh, Some(named)));
    if let Some(gone) = end_of_all(&snapshot.memory) {
        return Err(Failure::of_access(&opening.words, gone));
    }
    machine.target().commanded_by("debug");
    // A name that means nothing is reported before the core is paused.
    for command in &commands {
        if let DebugWords::Core(command) = command {
            let command = command.clone().into();
            watchpoints(&command, machine.images(), core).map_err(Failure::Usage)?;
        }
    }
    let mut held = Held::attach(core, AROUND, machine.session()).map_err(failed)?;
    let mut stops = Vec::new();
    let done = carry_out(&mut machine, &mut held, &commands, (&stop, &mut stops));
    let ended = held.end(machine.session());
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

/// Carries out the commands, and notes each pause.
fn carry_out(
    machine: &mut Machine,
    held: &mut Held,
    commands: &[DebugWords],
    (wish, stops): (&interrupt::Stop, &mut Vec<Shown>),
) -> Result<(), RunError> {
    held.halt(machine.session())?;
    note(held, stops);
    for command in commands {
        let command = match command {
            DebugWords::Registers | DebugWords::Code => {
                if let Some(last) = stops.last_mut() {
                    last.registers |= *command == DebugWords::Registers;
                    last.code |= *command == DebugWords::Code;
                }
                continue;
            }
            DebugWords::Core(command) => CoreCommand::from(command.clone()),
        };
        match command {
            CoreCommand::Break { .. } | CoreCommand::Watch { .. } => {
                let watches = watchpoints(&command, machine.images(), held.core());
                held.watch(&watches.unwrap_or_default(), machine.session())?;
                continue;
            }
            CoreCommand::Delete => {
                held.delete(machine.session())?;
                continue;
            }
            CoreCommand::Continue => held.go_on(machine.session())?,
            _ => held.step(&command, machine.session())?,
        }
        if !settle(machine, held, wish)? {
            return Ok(());
        }
        note(held, stops);
    }
    Ok(())
}

/// Lets time pass until the core is paused; false if the user does not want to wait any longer.
fn settle(
    machine: &mut Machine,
    held: &mut Held,
    wish: &interrupt::Stop,
) -> Result<bool, RunError> {
    let (runs, began) = (held.pause().is_none(), machine.target().now()?);
    let cycles_between = if runs { POLL_CYCLES } else { STEP_CYCLES };
    while !wish.is_requested() {
        held.poll(machine.session())?;
        if !held.moves() {
            return Ok(true);
        }
        machine.target().pass(cycles_between)?;
        if !runs && machine.target().now()?.saturating_sub(began) >= LINE_CYCLES {
            held.halt(machine.session())?;
            say(&format!("{} is in the same line after {}", held.core(), cycles(LINE_CYCLES)));
            return Ok(true);
        }
    }
    Ok(false)
}

fn note(held: &Held, stops: &mut Vec<Shown>) {
    let shown = |pause: &Pause| Shown { pause: pause.clone(), registers: false, code: false };
    stops.extend(held.pause().map(shown));
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
