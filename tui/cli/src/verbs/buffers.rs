//! `buffers`: the circular buffers, semaphores and sockets of what runs, and who waits for them.

use super::cores::{check, sample};
use crate::output::{Columns, Page, json, say};
use crate::shape::schema;
use crate::target::{Style, end_of_all, judge, open, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, everything};
use console::exit::{Failure, Outcome};
use console::locate::{self, NamedPlace};
use console::machine::Opening;
use diagnosis::{
    BufferWait, CircularBuffer, Diagnosis, LEAST_APART_CYCLES, Semaphore, SemaphoreWait,
    SocketState,
};
use machine::place::Place;
use probe::session::Watch;
use schemars::JsonSchema;
use serde::Serialize;

/// Print the circular buffers, semaphores and sockets of what runs, and which cores wait for them.
#[derive(clap::Args, Debug)]
pub(crate) struct BuffersArguments {
    /// Only this chip, tile or core: 0, 0:1-2 or 0:1-2:brisc.
    pub(crate) place: Option<String>,
}

impl Verb for BuffersArguments {
    const NAME: &str = "buffers";
    const PAGES: Pages = &[("buffers", include_str!("../manual/verbs/buffers.md"))];
    const SCHEMAS: Schemas = &[("buffers", schema::<Found<'_>>)];
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|_, _| Ok(Some(everything())));
    fn cleans_up(&self) -> bool {
        true
    }

    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let place = self.place.as_deref().map(locate::place).transpose();
        let place = place.map_err(Failure::Usage)?;
        let mut machine = open(target)?;
        let mut watch = Watch::new(LEAST_APART_CYCLES);
        machine.session().look(&mut watch);
        let verdict = machine.session().judge(&mut watch);
        let Some(newest) = watch.newest() else { return Ok(Outcome::Partial) };
        if let Some(gone) = end_of_all(&newest.snapshot) {
            return Err(Failure::of_access(&target.words, gone));
        }
        check(&newest.state, place)?;
        if !newest.sampled.is_empty() {
            say(&sample::written(&newest.sampled.keys().copied().collect()));
        }
        report(target, &newest.state);
        let all = Found::new(&target.words, verdict, place);
        if style.json {
            json(all)?;
        } else {
            style.print(page(&all))?;
        }
        Ok(judge(&newest.state))
    }
}

/// The circular buffers, semaphores and sockets of what runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Buffers")]
struct Found<'a> {
    /// The target, in the words of the command line.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The circular buffers of the running kernels, by tile and number.
    circular_buffers: Vec<CircularBuffer>,
    /// The semaphores of programs whose kernels wait for one, or do not tell what they wait for, and
    /// the global ones that are awaited or were changed.
    semaphores: Vec<Semaphore>,
    /// The ends of the sockets of which Inspectors tell.
    sockets: Vec<SocketState>,
}

impl<'a> Found<'a> {
    fn new(target: &'a str, verdict: Diagnosis, place: Option<NamedPlace>) -> Self {
        let passes = |tile: Place| place.is_none_or(|place| place.has_tile(tile.chip, tile.tile));
        let Diagnosis { cycles, mut circular_buffers, mut semaphores, mut sockets, .. } = verdict;
        circular_buffers.retain(|it| passes(it.tile));
        semaphores.retain(|it| passes(it.tile));
        sockets.retain(|it| passes(it.tile));
        Self { target, cycles, circular_buffers, semaphores, sockets }
    }
}

fn page(all: &Found<'_>) -> Page {
    let mut buffers = Columns::new(&["TILE", "BUFFER", "PAGES", "OF", "WAITING"]);
    for one in &all.circular_buffers {
        let waiting: Vec<String> = one.waiting.iter().map(BufferWait::words).collect();
        buffers.row(vec![
            one.tile.to_string(),
            one.number.to_string(),
            one.held.to_string(),
            one.pages.to_string(),
            waiting.join(", "),
        ]);
    }
    let mut semaphores = Columns::new(&["TILE", "SEMAPHORE", "VALUE", "WAITING"]);
    for one in &all.semaphores {
        let waiting: Vec<String> = one.waiting.iter().map(SemaphoreWait::words).collect();
        semaphores.row(vec![
            one.tile.to_string(),
            one.words(),
            one.value_words(),
            waiting.join(", "),
        ]);
    }
    let none = |none: bool, what: &str| {
        if none { format!("(no kernel that runs {what})\n") } else { String::new() }
    };
    let no_buffer = none(all.circular_buffers.is_empty(), "has one");
    let no_semaphore = none(all.semaphores.is_empty(), "is known to wait for one");
    let mut sockets = Columns::new(&["TILE", "SOCKET", "END", "COUNTS", "QUEUE"]);
    for one in &all.sockets {
        sockets.row(vec![
            one.tile.to_string(),
            format!("{:#x}", one.addr),
            (if one.sends { "sends" } else { "receives" }).to_owned(),
            one.words(),
            format!("{} bytes", one.fifo_bytes),
        ]);
    }
    let page = Page::default().with(buffers).with(no_buffer + "\n");
    let page = page.with(semaphores).with(no_semaphore);
    if all.sockets.is_empty() { page } else { page.with("\n".to_owned()).with(sockets) }
}
