//! `who-wrote`: the last write to a range of memory, found by running the past of the mesh again.

use super::read;
use crate::amount;
use crate::output::{json, say, text};
use crate::shape::WhoWrote;
use crate::shape::schema;
use crate::target::{Style, open};
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::past::{value, writer};
use console::words;
use images::code::source_at;
use layouts::{CoreId, NocAddr};
use machine::past::{Keeps, PastError, PastProgress, PastWrite, PastWriter, WriteSearch};
use machine::snapshot::{AccessError, Span};
use machine::target::Past;
use std::time::{Duration, Instant};

/// Say who wrote to memory of a tile last, and when; for an emulated mesh.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct WhoWroteArguments {
    /// The place: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>, in L1 or
    /// DRAM; the address decimal or 0x hexadecimal.
    pub(crate) place: String,
    /// Number of bytes, decimal or 0x hexadecimal.
    #[arg(long, default_value = "4", value_name = "N")]
    pub(crate) len: String,
    /// Only writes before this time of the target since power on, such as 12ms or 4936938ns; by
    /// default, all.
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Only writes that changed a byte.
    #[arg(long)]
    pub(crate) changed: bool,
}

impl Verb for WhoWroteArguments {
    const NAME: &str = "who-wrote";
    const READS: bool = true;
    const PAGES: Pages = &[("who-wrote", include_str!("../manual/verbs/who-wrote.md"))];
    const SCHEMAS: Schemas = &[("who-wrote", schema::<WhoWrote>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("who-wrote")
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// Time between two sentences about the search.
const PATIENCE: Duration = Duration::from_secs(2);

/// Searches, and prints the write.
pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &WhoWroteArguments,
) -> Result<Outcome, Failure> {
    let span = read::span(&options.place, &options.len)?;
    let at = options.at.as_deref().map(|at| amount::time("--at", at)).transpose();
    let at = at.map_err(Failure::Usage)?;
    let mut machine = open(&target.keeping(Keeps::Past))?;
    let past = past(&mut machine, target)?;
    let (first, last) = past.cycles();
    // The host's writes of the present cycle count too.
    let search = WriteSearch { before_cycles: at.unwrap_or(last + 1), unchanged: !options.changed };
    let mut tells = telling(|progress| searching(progress, first));
    let found = past.last_write(span, search, &mut tells);
    let found = found.map_err(|error| failure(&span, &error))?;
    let source = found.as_ref().and_then(|write| source(&mut machine, span, write));
    if style.json {
        let write = found.as_ref().map(|write| (write, source));
        json(WhoWrote::new(span, (first, search.before_cycles), write))?;
    } else {
        let page = found.map_or_else(
            || nothing(&span, first, search.unchanged),
            |write| page(&span, &write, source.as_deref()),
        );
        text(&page)?;
    }
    Ok(Outcome::Healthy)
}

/// Returns the past of a target, and says how far a recorded run is executed again.
pub(super) fn past(machine: &mut Machine, target: &Opening) -> Result<Box<dyn Past>, Failure> {
    let mut tells = telling(|progress| reached("executes the run again", progress));
    let past = machine.session().past(&mut tells);
    past.map_err(|why| Failure::Usage(format!("{}: {why}", target.words)))
}

/// Returns what says now and then how far a machine of the past has run.
pub(super) fn telling(
    sentence: impl Fn(PastProgress) -> String,
) -> impl FnMut(PastProgress) -> bool {
    let mut told = Instant::now();
    move |progress| {
        if told.elapsed() > PATIENCE {
            told = Instant::now();
            say(&sentence(progress));
        }
        true
    }
}

/// Says what is done, and how far it has come.
pub(super) fn reached(what: &str, progress: PastProgress) -> String {
    let (at, to) = (progress.at_cycles, progress.to_cycles);
    format!("{what}: {} of {}", words::cycles(at), words::cycles(to))
}

fn searching(progress: PastProgress, first: u64) -> String {
    format!(
        "searching back: {} of {} to {}",
        words::cycles(progress.from_cycles),
        words::cycles(progress.to_cycles),
        words::cycles(first)
    )
}

fn failure(span: &Span, error: &PastError) -> Failure {
    match error {
        PastError::Outside { .. } => Failure::Usage(format!("--at: {error}")),
        PastError::NoMemory | PastError::Unreadable(_) | PastError::Differs => {
            Failure::Usage(format!("{}: {error}", span.addr))
        }
        PastError::Cancelled => {
            Failure::of_access(&span.addr.to_string(), &AccessError::Refused(error.to_string()))
        }
    }
}

/// The source line of the instruction that wrote, by the images that run there now.
fn source(machine: &mut Machine, span: Span, write: &PastWrite) -> Option<String> {
    let PastWriter::Core(core, pc) = write.by else { return None };
    let core = CoreId { chip: span.addr.chip, tile: span.addr.tile, core };
    let session = machine.session();
    session.verify_on(core);
    let (_, lines) = source_at(session.parts().1, core, pc);
    lines.first().map(ToString::to_string)
}

fn nothing(span: &Span, first: u64, unchanged: bool) -> String {
    let what = if unchanged { "written" } else { "changed" };
    let since = if first == 0 { "power on".to_owned() } else { words::cycles(first) };
    format!("{}: not {what} since {since}\n", span.addr)
}

fn page(span: &Span, write: &PastWrite, source: Option<&str>) -> String {
    let what = if write.old == write.new { "written, not changed," } else { "written" };
    let source = source.map_or_else(String::new, |source| format!("  {source}\n"));
    let place = NocAddr { offset: write.offset, ..span.addr };
    let (at, by) = (words::cycles(write.at_cycles), writer(&write.by));
    let cycle = write.at_cycles;
    let (old, new) = (value(&write.old), value(&write.new));
    format!("{place} {what} at {at} (cycle {cycle}) by {by}\n{source}  old {old}\n  new {new}\n")
}
