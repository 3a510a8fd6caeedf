//! `doctor`: whether this host is set up: driver, permissions, hugepages, ELFs. It opens no card.

use crate::output::{Columns, Page, json};
use crate::shape::{Checkup, grade_word, schema};
use crate::target::Style;
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use images::usual_places;
use std::path::Path;
use transport::silicon::host::{Grade, HostFact, survey};

/// Say whether this host is set up: driver, permissions, hugepages, ELFs. No card is opened.
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArguments {}

impl Verb for DoctorArguments {
    const NAME: &str = "doctor";
    const READS: bool = true;
    const PAGES: Pages = &[("doctor", include_str!("../manual/verbs/doctor.md"))];
    const SCHEMAS: Schemas = &[("doctor", schema::<Checkup>)];
    fn run(&self, opening: &Opening, style: Style) -> Result<Outcome, Failure> {
        let mut facts = survey(Path::new("/"));
        facts.push(elfs(opening));
        let bad = facts.iter().any(|fact| fact.grade == Grade::Bad);
        if style.json {
            json(Checkup::new(&facts))?;
        } else {
            style.print(page(&facts))?;
        }
        Ok(if bad { Outcome::Findings } else { Outcome::Healthy })
    }
}

/// The directories that are searched for ELFs.
fn elfs(opening: &Opening) -> HostFact {
    let working = std::env::current_dir().unwrap_or_else(|_| ".".into());
    let places = usual_places(std::env::vars_os(), working);
    let given = &opening.options.elfs;
    let shown = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let (grade, says) = match (&given[..], &places[..]) {
        ([], []) => (
            Grade::Note,
            "no directory is named, and none of tt-metal's usual places is there: --elfs names one"
                .to_owned(),
        ),
        ([], places) => (Grade::Note, format!("the usual places: {}", shown(places))),
        (given, _) => match given.iter().find(|path| !path.exists()) {
            Some(missing) => (Grade::Warning, format!("{} does not exist", missing.display())),
            None => (Grade::Good, format!("read from {}", shown(given))),
        },
    };
    HostFact { what: "ELFs".to_owned(), grade, says }
}

fn page(facts: &[HostFact]) -> Page {
    let mut table = Columns::new(&["", "WHAT", "STATE"]);
    for HostFact { what, grade, says } in facts {
        table.row(vec![grade_word(*grade).to_owned(), what.clone(), says.clone()]);
    }
    Page::from(table)
}
