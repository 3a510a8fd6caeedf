//! `check`: whether a mesh is healthy, for scripts: a line for each condition that is not.

use super::expect;
use crate::amount;
use crate::output::{Columns, json, say, text};
use crate::shape::Checked;
use crate::shape::schema;
use crate::target::{Style, end_of_all, open, report};
use crate::verb::{Ask, Pages, Schemas, Verb, everything};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use decode::state::MeshState;
use diagnosis::expect::{Difference, crc_errors};
use diagnosis::{Finding, Health};

/// Say whether the mesh is healthy, for scripts.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckArguments {
    /// Also compare with this cluster descriptor, as UMD writes it, or with a shipped mesh such as
    /// t3000.
    #[arg(long, value_name = "DESCRIPTOR")]
    pub(crate) expect: Option<String>,
    /// Time over which the mesh is watched, such as 20ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "20ms")]
    pub(crate) over: String,
    /// Most CRC errors that an end of a link may have counted since its boot.
    #[arg(long, value_name = "N")]
    pub(crate) max_crc: Option<u32>,
}

impl Verb for CheckArguments {
    const NAME: &str = "check";
    const PAGES: Pages = &[("check", include_str!("../manual/verbs/check.md"))];
    const SCHEMAS: Schemas = &[("check", schema::<Checked<'_>>)];
    const QUESTION: Ask<Self> = Some(|_, _| Ok(Some(everything())));
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &CheckArguments,
) -> Result<Outcome, Failure> {
    let over = amount::time("--for", &options.over).map_err(Failure::Usage)?;
    let expected = options.expect.as_deref().map(expect::load).transpose()?;
    let mut machine = open(target)?;
    let watched =
        machine.diagnose(over).map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let Some(last) = &watched.newest else {
        return Err(Failure::Internal("no snapshot was taken".to_owned()));
    };
    if let Some(gone) = end_of_all(&last.snapshot) {
        return Err(Failure::of_access(&target.words, gone));
    }
    // The report is about all snapshots.
    let state = MeshState { transactions: watched.transactions, ..last.state.clone() };
    report(target, &state);
    let mut diagnosis = watched.diagnosis;
    if let Some(expected) = &expected {
        let differences = expect::compare(&last.state, expected);
        diagnosis.findings.extend(differences.iter().map(Difference::finding));
    }
    if let Some(most) = options.max_crc {
        diagnosis.findings.extend(crc_errors(&last.state, most));
    }
    for missing in &diagnosis.missing {
        say(&format!("unknown: {missing}"));
    }
    if style.json {
        json(Checked::new(&target.words, &last.state, &diagnosis))?;
    } else if diagnosis.findings.is_empty() && !style.csv {
        text("healthy\n")?;
    } else {
        style.print(table(&diagnosis.findings))?;
    }
    Ok(Outcome::of(Health::of(&diagnosis), !last.state.gaps.is_empty()))
}

fn table(found: &[Finding]) -> Columns {
    let mut table = Columns::new(&["CONDITION", "SEVERITY", "PLACE", "FOUND"]);
    for it in found {
        let (place, sentence) = (it.place.to_string(), it.sentence.clone());
        table.row(vec![it.condition.name().into(), it.severity.word().into(), place, sentence]);
    }
    table
}
