//! `--dry-run`: prints what a verb would touch.

use super::target::{Style, open};
use super::{clean, cores, launch, print, read, run, write};
use crate::args::{CoresArguments, Verb};
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::machine::{Machine, Opening};
use crate::output::{Columns, Page, json, say};
use crate::run::Sweep;
use crate::shape::DryRun;
use crate::words;
use decode::inspect::ReadSet;
use machine::snapshot::Span;
use machine::target::{PlannedAccess, Preview};

pub(super) fn dry_run(verb: &Verb, opening: &Opening, style: Style) -> Result<Outcome, Failure> {
    let ask = question(verb, opening)?;
    let mut machine = open(opening)?;
    let discovery = machine.target().transactions();
    let preview = ask(&mut machine)?;
    if let (Verb::Read { .. } | Verb::Write { .. }, Some(gap)) = (verb, preview.gaps.first()) {
        return Err(Failure::of_access(&gap.span.addr.to_string(), &gap.reason));
    }
    let words = &opening.words;
    let further = match machine.target().transactions().saturating_sub(discovery) {
        0 => "nothing else was accessed".to_owned(),
        reads => format!("finding what runs there took {reads} more; nothing was written"),
    };
    say(&format!("{words}: finding the mesh took {discovery} bus transactions; {further}"));
    if style.json {
        json(DryRun::new(&opening.words, discovery, &preview))?;
    } else {
        style.print(table(&preview))?;
    }
    Ok(if preview.gaps.is_empty() { Outcome::Healthy } else { Outcome::Partial })
}

type Question = Box<dyn FnOnce(&mut Machine) -> Result<Preview, Failure>>;

/// What to read; an invalid place is reported before a target is opened.
fn question(verb: &Verb, opening: &Opening) -> Result<Question, Failure> {
    let inspected = |read_set: ReadSet| -> Question { Box::new(move |m| Ok(m.preview(&read_set))) };
    Ok(match verb {
        Verb::Mesh { .. } | Verb::Links => inspected(ReadSet { links: true, ..ReadSet::default() }),
        Verb::Fabric { question: None, .. } => {
            inspected(ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() })
        }
        Verb::Cores(CoresArguments { sample: Some(_), .. }) => {
            return Err(Failure::Usage(
                "--dry-run: only a snapshot shows which cores --sample would sample".into(),
            ));
        }
        Verb::Cores(CoresArguments { place, words, .. }) => {
            let place = place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
            let details = *words;
            Box::new(move |machine| {
                cores::check_on(&machine.mesh(), place)?;
                let read_set = cores::read_set(&machine.mesh(), place);
                Ok(machine.preview(&ReadSet { details, ..read_set }))
            })
        }
        Verb::Images(options) => {
            let place =
                options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
            Box::new(move |machine| {
                cores::check_on(&machine.mesh(), place)?;
                let read_set = cores::read_set(&machine.mesh(), place);
                Ok(machine.preview(&ReadSet { proofs: true, texts: true, ..read_set }))
            })
        }
        Verb::Read { place, len } => {
            inspected(ReadSet { spans: vec![read::span(place, len)?], ..ReadSet::default() })
        }
        Verb::Print { core, expression, image } => {
            let question = print::Question::of(core, expression, image.as_deref())?;
            // Only a snapshot shows which files of a directory run there.
            let more = !opening.options.elfs.is_empty();
            Box::new(move |machine| print::preview(machine, &question, more))
        }
        Verb::Write { place, values, bytes } => {
            let what = write::What { place, values, bytes: bytes.as_deref() };
            let write::WriteRequest { addr, bytes } = write::WriteRequest::of(&what)?;
            let span = Span { addr, len: bytes.len() as u32 };
            Box::new(move |machine| Ok(machine.target().preview_write(span)))
        }
        Verb::Run(options) => {
            let options = options.clone();
            // Invalid arguments are reported before a target is opened.
            Sweep::of(&options).map_err(Failure::Usage)?;
            Box::new(move |machine| run::preview(machine, &options))
        }
        Verb::Launch(options) => {
            launch::check(options)?;
            let options = options.clone();
            Box::new(move |machine| launch::preview(machine, &options))
        }
        Verb::Clean(options) => {
            let options = *options;
            Box::new(move |machine| clean::preview(machine, options))
        }
        Verb::Why(_) | Verb::Check(_) => Box::new(|machine| {
            let read_set = ReadSet { fabric: true, ..ReadSet::everything(&machine.mesh()) };
            Ok(machine.preview(&read_set))
        }),
        Verb::Symbols { .. }
        | Verb::Fabric { .. }
        | Verb::Record { .. }
        | Verb::Export(_)
        | Verb::Bundle(_)
        | Verb::Pause
        | Verb::Resume
        | Verb::Step(_)
        | Verb::WhoWrote(_)
        | Verb::Changes(_)
        | Verb::Diff(_)
        | Verb::Debug(_)
        | Verb::Gdb(_)
        | Verb::Serve { .. }
        | Verb::Explain(_)
        | Verb::Help { .. }
        | Verb::Schema { .. } => {
            return Err(Failure::Usage(
                "--dry-run is for mesh, cores, images, links, why, check, read, write, print, run, \
                 launch, clean"
                    .into(),
            ));
        }
    })
}

fn table(preview: &Preview) -> Page {
    let mut table = Columns::new(&["CHIP", "TILE", "ADDRESS", "BYTES", "WHAT", "BY", "TX"]);
    for PlannedAccess { span, route, write, transactions } in &preview.accesses {
        table.row(vec![
            span.addr.chip.to_string(),
            span.addr.tile.to_string(),
            format!("{:#x}", span.addr.offset),
            span.len.to_string(),
            if *write { "write" } else { "read" }.to_owned(),
            words::route(*route).to_owned(),
            transactions.to_string(),
        ]);
    }
    let gaps = preview.gaps.iter().map(|gap| format!("{}  {}\n", gap.span.addr, gap.reason));
    let sum: u64 = preview.accesses.iter().map(|visit| visit.transactions).sum();
    let (count, gaps) = (preview.accesses.len(), gaps.collect::<String>());
    Page::from(table).with(format!(
        "{gaps}{count} accesses, {sum} bus transactions (through queues: at least)\n"
    ))
}
