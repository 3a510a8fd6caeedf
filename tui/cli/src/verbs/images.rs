//! `images`: the images on each core, with their provenance and problems.

use super::cores::{check, check_on, read_set, say_findings};
use crate::output::{Columns, json, say};
use crate::shape::Images;
use crate::shape::schema;
use crate::target::{Style, inspect, judge, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use console::words;
use decode::inspect::ReadSet;
use decode::state::{CoreState, ImageUse};
use std::path::PathBuf;

/// Print which image runs on which core, and compare the whole text of each with L1.
#[derive(clap::Args, Debug)]
pub(crate) struct ImagesArguments {
    /// Only this chip, tile, Ethernet channel or core: 0, 0:9-6, 0:e8 or 0:1-2:brisc.
    pub(crate) place: Option<String>,
}

impl Verb for ImagesArguments {
    const NAME: &str = "images";
    const PAGES: Pages = &[("images", include_str!("../manual/verbs/images.md"))];
    const SCHEMAS: Schemas = &[("images", schema::<Images<'_>>)];
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, _| {
        let place = verb.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
        Ok(Some(Box::new(move |machine| {
            check_on(&machine.mesh(), place)?;
            let read_set = read_set(&machine.mesh(), place);
            Ok(machine.preview(&ReadSet { proofs: true, texts: true, ..read_set }))
        })))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self.place.as_deref())
    }
}

const HEAD: [&str; 7] = ["CORE", "ROLE", "IMAGE", "LOADED AT", "PROVENANCE", "COMPARED", "FILE"];

pub(super) fn run(target: &Opening, style: Style, place: Option<&str>) -> Result<Outcome, Failure> {
    let place = place.map(locate::place).transpose().map_err(Failure::Usage)?;
    let whole = |read_set| ReadSet { proofs: true, texts: true, ..read_set };
    let snapshot = inspect(target, |mesh| whole(read_set(mesh, place)))?;
    let state = &snapshot.state;
    check(state, place)?;
    report(target, state);
    for process in &state.processes {
        let directories = listed(&process.directories);
        let shared = process.shares_logs_with.map_or_else(String::new, |other| {
            format!(
                "; process {other} writes logs there too: they count only where L1 has the text"
            )
        });
        say(&format!("ELFs of {process}: {directories}{shared}"));
    }
    if !state.usual_places.is_empty() {
        let places = listed(&state.usual_places);
        say(&format!(
            "no process tells where its ELFs are; searched, and used where L1 has the text: {places}"
        ));
    }
    let passes = |core: &CoreState| place.is_none_or(|place| place.has_core(core.id));
    let all = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    let cores: Vec<_> = all.filter(|core| passes(core)).collect();
    if style.json {
        json(Images::new(&target.words, state, &cores))?;
    } else {
        let mut table = Columns::new(&HEAD);
        for core in &cores {
            for image in &core.images {
                table.row(row(core, image));
            }
        }
        style.print(table)?;
    }
    say_findings(&state.chips, passes);
    Ok(judge(state))
}

fn listed(directories: &[PathBuf]) -> String {
    let shown = directories.iter().map(|it| it.display().to_string());
    shown.collect::<Vec<_>>().join(", ")
}

fn row(core: &CoreState, image: &ImageUse) -> Vec<String> {
    let also = match image.also.len() {
        0 => String::new(),
        count => format!(" ({count} more with the same text)"),
    };
    let moved = if image.bias == 0 { "" } else { " moved" };
    let runs = match image.run_addr {
        at if at == image.load_addr => String::new(),
        at => format!(", runs at {at:#x}"),
    };
    vec![
        core.id.to_string(),
        image.role.name().to_owned(),
        format!("{}{also}", image.name),
        format!("{:#x}{moved}{runs}", image.load_addr),
        words::evidence(image.evidence).to_owned(),
        words::compared(&image.comparison),
        image.path.clone().unwrap_or_default(),
    ]
}
