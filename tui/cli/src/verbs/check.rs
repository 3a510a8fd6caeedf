//! `check`: whether a mesh is healthy, for scripts: a line for each condition that is not.

use super::expect;
use super::target::{Style, end_of_all, open, report};
use crate::amount;
use crate::output::{Columns, json, say, text};
use crate::shape::schema;
use crate::shape::{Checked, Unhealthy};
use crate::verb::{Pages, Previewer, Schemas, Verb, everything};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use decode::state::MeshState;
use diagnosis::Severity;
use layouts::EthId;

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
    const DRY_RUN: bool = true;

    fn question(&self, _: &Opening) -> Result<Previewer, Failure> {
        Ok(everything())
    }
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
    let mut found: Vec<Unhealthy> =
        watched.diagnosis.findings.iter().map(Unhealthy::finding).collect();
    if let Some(expected) = &expected {
        let differences = expect::compare(&last.state, expected);
        found.extend(
            differences
                .iter()
                .map(|it| Unhealthy::fault(it.kind(), "mesh".to_owned(), expect::sentence(it))),
        );
    }
    if let Some(most) = options.max_crc {
        found.extend(crc_errors(&last.state, most));
    }
    let missing = &watched.diagnosis.missing;
    for missing in missing {
        say(&format!("unknown: {missing}"));
    }
    let sick = found.iter().any(|it| it.severity > Severity::Slow);
    let partial = !last.state.gaps.is_empty() || !missing.is_empty();
    if style.json {
        json(Checked::new(&target.words, &last.state, !sick, &found))?;
    } else if found.is_empty() && !style.csv {
        text("healthy\n")?;
    } else {
        style.print(table(&found))?;
    }
    Ok(if sick {
        Outcome::Findings
    } else if partial {
        Outcome::Partial
    } else {
        Outcome::Healthy
    })
}

fn table(found: &[Unhealthy]) -> Columns {
    let mut table = Columns::new(&["CONDITION", "SEVERITY", "PLACE", "FOUND"]);
    for it in found {
        let cells = [it.condition, it.severity.word(), &it.place, &it.sentence];
        table.row(cells.map(str::to_owned).to_vec());
    }
    table
}

/// Returns the ends that have counted more CRC errors than may be.
fn crc_errors(state: &MeshState, most: u32) -> Vec<Unhealthy> {
    let ends = state.links.iter().flat_map(|link| [link.link.a, link.link.b]);
    let counted = |end: EthId| {
        let count = *state.eth(end)?.eth.as_ref()?.crc_errors.known()?;
        (count > most).then(|| {
            let words = format!("{count} CRC errors, {most} allowed");
            Unhealthy::fault("crc-errors", end.to_string(), words)
        })
    };
    ends.filter_map(counted).collect()
}
