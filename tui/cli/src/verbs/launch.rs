//! `launch`: a person's own kernel, launched as tt-metal's host does, watched, and taken away.

use super::cores::{HEAD, row};
use super::line::STEP_CYCLES;
use super::run::idle;
use crate::args::{Arguments, LaunchArguments};
use crate::interrupt::Stop;
use crate::output::{Columns, can_wait, json, say, wait_for, waited};
use crate::shape::schema;
use crate::shape::{self, Judged};
use crate::target::{Style, open};
use crate::verb::{Ask, Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::launching::{Launch, LaunchedTile, Order};
use console::machine::{Machine, Opening};
use console::verdict;
use console::words;
use decode::state::CoreState;
use diagnosis::{Diagnosis, Health};
use launch::Operation;
use launch::elf_kernel::Left;
use launch::outcome::RunError;
use machine::target::Preview;
use probe::session::WATCHED_CYCLES;
use std::time::{Duration, Instant};

impl Verb for LaunchArguments {
    const NAME: &str = "launch";
    const PAGES: Pages = &[("launch", include_str!("../manual/verbs/launch.md"))];
    const SCHEMAS: Schemas = &[("launch", schema::<shape::Launched<'_>>)];
    fn cleans_up(&self) -> bool {
        true
    }
    fn opening(&self, arguments: &Arguments) -> Opening {
        idle(arguments)
    }
    const QUESTION: Ask<Self> = Some(|verb, _| {
        check(verb)?;
        let options = verb.clone();
        Ok(Some(Box::new(move |machine| preview(machine, &options))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// Cycles of the target between two polls of the start and the end.
const POLL_CYCLES: u64 = 2_000;
/// Cycles that a kernel runs before it is shown, if nobody waits for it.
const FIRST_CYCLES: u64 = 100_000;
/// Interval of the progress line on a terminal, and of the lines elsewhere.
const SHOW_PAUSE: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(5)];

/// How the watch of a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// All kernels have returned.
    Returned,
    /// They were left running.
    Running,
    /// The time was over.
    TimeOver,
    /// The user or the system ended it.
    Interrupted,
    /// They were to be taken away.
    Stopped,
}

pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &LaunchArguments,
) -> Result<Outcome, Failure> {
    let order = options.order()?;
    let elf = order.open()?;
    let stop = Stop::listen()?;
    let mut machine = open(opening)?.into_machine();
    let layout = machine.mesh().layout();
    let failed = |error: &RunError| Failure::of_run(&opening.words, layout, error);
    let prepared = Launch::prepare(machine.session(), &order, elf.as_ref());
    let mut launch = prepared.map_err(|error| failed(&error))?;
    stop.takes_time();
    let began = machine.target().now().map_err(|error| Failure::of_access("time", &error))?;
    let watched = if order.elf.is_some() {
        start(&mut machine, &mut launch).map_err(|error| failed(&error))?;
        say(&launch.begun());
        watch(&mut machine, &mut launch, &order, &stop)
    } else {
        Ok(Watched::Stopped)
    };
    waited();
    // Where that is not possible, the launch is reported all the same.
    let stands = matches!(watched, Ok(Watched::TimeOver)) && order.wait;
    let verdict = stands.then(|| machine.diagnose(WATCHED_CYCLES).ok()).flatten();
    let verdict = verdict.map(|watched| watched.diagnosis);
    let ended = finish(&mut machine, &mut launch, &watched);
    let now = machine.target().now().unwrap_or(began);
    let cycles = now.saturating_sub(began);
    let is_own = machine.session().ends_with_process();
    report(opening, style, (&launch, is_own), (cycles, verdict.as_ref()))?;
    ended.map_err(|error| failed(&error))?;
    outcome(watched.map_err(|error| failed(&error))?, &launch, &order, opening)
}

/// Reads the cores once more, takes away what is to end, and gives back what was taken.
fn finish(
    machine: &mut Machine,
    launch: &mut Launch,
    watched: &Result<Watched, RunError>,
) -> Result<(), RunError> {
    launch.look(machine.session());
    let stays = matches!(watched, Ok(Watched::Returned | Watched::Running));
    launch.finish(!stays);
    carry_out(machine, launch)?;
    launch.failed().map_or(Ok(()), Err)
}

/// Boots, places and starts the kernel on every tile. If that fails, what was started is ended.
fn start(machine: &mut Machine, launch: &mut Launch) -> Result<(), RunError> {
    let queued = launch.start(machine.session().images()).map_err(RunError::from);
    queued.and_then(|()| carry_out(machine, launch)).inspect_err(|_| {
        launch.finish(true);
        // The first error is the one that is reported.
        let _ = carry_out(machine, launch);
    })
}

fn carry_out(machine: &mut Machine, launch: &mut Launch) -> Result<(), RunError> {
    while !launch.poll(machine.session())? {
        machine.target().pass(POLL_CYCLES)?;
    }
    Ok(())
}

fn report(
    opening: &Opening,
    style: Style,
    (launch, is_own): (&Launch, bool),
    (cycles, verdict): (u64, Option<&Diagnosis>),
) -> Result<(), Failure> {
    if style.json {
        let tiles = launch.tiles.iter().map(|tile| shape::LaunchedTile {
            core: tile.core,
            booted: tile.site.boots.is_some(),
            config_base: tile.config_base,
            outcome: tile.outcome(),
            seen: tile.seen.as_ref(),
        });
        let launched = shape::Launched::new(&opening.words, &launch.kernel, cycles, tiles);
        let judged = |verdict| Judged { target: &opening.words, verdict, files: None };
        json(launched.judged(verdict.map(judged)))?;
    } else {
        style.print(table(style, launch))?;
        if let Some(verdict) = verdict.filter(|it| Health::of(it) != Health::Healthy) {
            verdict::page(verdict).lines().for_each(say);
        }
    }
    for line in launch.tiles.iter().filter_map(|tile| remark(tile, is_own)) {
        say(&line);
    }
    Ok(())
}

/// Checks the arguments before a target is opened.
pub(super) fn check(options: &LaunchArguments) -> Result<(), Failure> {
    options.order()?.open().map(drop)
}

/// The writes of a launch.
pub(super) fn preview(
    machine: &mut Machine,
    options: &LaunchArguments,
) -> Result<Preview, Failure> {
    let order = options.order()?;
    let elf = order.open()?;
    let layout = machine.mesh().layout();
    let name = machine.target().name().to_owned();
    let failed = |error: RunError| Failure::of_run(&name, layout, &error);
    let launch = Launch::prepare(machine.session(), &order, elf.as_ref()).map_err(failed)?;
    let (target, images) = machine.session().parts();
    let operations = launch.operations(images).map_err(|error| failed(error.into()))?;
    Ok(Operation::preview(&operations, target))
}

/// Lets the kernel run until it has returned, its time is over, or somebody ends it.
fn watch(
    machine: &mut Machine,
    launch: &mut Launch,
    order: &Order,
    stop: &Stop,
) -> Result<Watched, RunError> {
    let began = machine.target().now()?;
    let end = order.over_cycles.map(|cycles| began.saturating_add(cycles));
    let mut shown = Instant::now();
    loop {
        if launch.watch(machine.session())? {
            return Ok(Watched::Returned);
        }
        let now = machine.target().now()?;
        match end {
            _ if stop.is_requested() => return Ok(Watched::Interrupted),
            Some(end) if now >= end => return Ok(Watched::TimeOver),
            None if now >= began + FIRST_CYCLES => return Ok(Watched::Running),
            _ => {}
        }
        let [on_terminal, elsewhere] = SHOW_PAUSE;
        if shown.elapsed() > if can_wait() { on_terminal } else { elsewhere } {
            launch.look(machine.session());
            show(launch, now - began);
            shown = Instant::now();
        }
        machine.target().pass(STEP_CYCLES)?;
    }
}

/// Shows where the kernels are: each in a line of its own, and on a terminal the first.
fn show(launch: &Launch, cycles: u64) {
    let running = launch.tiles.iter().filter(|tile| !tile.returned);
    let mut cores = running.filter_map(|tile| tile.seen.as_ref());
    let line = |core: &CoreState| {
        let waypoint = core.waypoint.known().map_or("no waypoint", String::as_str);
        let source = words::sources(core).unwrap_or_default();
        let (kernel, after) = (&launch.kernel.image, words::cycles(cycles));
        format!("{kernel} on {}: {waypoint} {source} after {after}", core.id)
    };
    if !can_wait() {
        return cores.for_each(|core| say(&line(core)));
    }
    if let Some(first) = cores.next() {
        let more = match cores.count() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        wait_for(&(line(first) + &more));
    }
}

fn table(style: Style, launch: &Launch) -> Columns {
    let [chip, tile, core, rest @ ..] = HEAD;
    let mut table = Columns::new(&[&[chip, tile, core, "OUTCOME"], &rest[..]].concat());
    for tile in &launch.tiles {
        let id = tile.core;
        let unread = || vec![id.chip.to_string(), id.tile.to_string(), id.core.name().to_owned()];
        let mut cells = tile.seen.as_ref().map_or_else(unread, |core| row(style, core));
        cells.insert(3, tile.outcome().to_owned());
        table.row(cells);
    }
    table
}

/// What is to be said about what is left on a tile; `is_own`: the mesh ends with this process.
fn remark(tile: &LaunchedTile, is_own: bool) -> Option<String> {
    let core = tile.core;
    match &tile.left {
        None if tile.returned => None,
        None if is_own => Some(format!("{core} runs until this process and its mesh end")),
        None => Some(format!(
            "{core} runs on; `launch --stop --on {}` takes the kernel away",
            tile.site.place
        )),
        Some(_) => tile.remark(),
    }
}

fn outcome(
    watched: Watched,
    launch: &Launch,
    order: &Order,
    opening: &Opening,
) -> Result<Outcome, Failure> {
    let stays = launch.tiles.iter().any(|tile| matches!(tile.left, Some(Left::Stays(_))));
    match watched {
        Watched::Interrupted => Err(Failure::Interrupted),
        Watched::TimeOver if order.wait => {
            let waited = words::cycles(order.over_cycles.unwrap_or(0));
            let kernel = &launch.kernel.image;
            let text = format!("{}: {kernel} has not returned within {waited}", opening.words);
            Err(Failure::Finding(text))
        }
        _ if stays => Ok(Outcome::Findings),
        _ => Ok(Outcome::Healthy),
    }
}
