//! `check`: whether a mesh is healthy, for scripts: a line for each condition that is not.

use super::expect;
use super::why::newest;
use crate::amount;
use crate::junit;
use crate::output::{Columns, json, say, text};
use crate::shape::Checked;
use crate::shape::schema;
use crate::target::{Style, open};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, everything};
use console::exit::{Failure, Outcome};
use console::fresh;
use console::machine::Opening;
use console::verdict;
use diagnosis::expect::{Comparison, Difference, ExpectedEnd, crc_errors, links_in_words};
use diagnosis::{Condition, Finding, Health, Place, Severity};
use layouts::ChipId;
use machine::words::counted;
use std::path::PathBuf;

/// Say whether the mesh is healthy, for scripts.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckArguments {
    /// Also compare with this descriptor, of UMD or tt-metal (see help descriptors), or with a
    /// shipped mesh such as t3000.
    #[arg(long, value_name = "DESCRIPTOR")]
    pub(crate) expect: Option<String>,
    /// Time over which the mesh is watched, such as 20ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "20ms")]
    pub(crate) over: String,
    /// Most CRC errors that an end of a link may have counted since its boot.
    #[arg(long, value_name = "N")]
    pub(crate) max_crc: Option<u32>,
    /// Also write the verdict to this file, as JUnit XML; an existing file is not overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

impl Verb for CheckArguments {
    const NAME: &str = "check";
    const PAGES: Pages = &[("check", include_str!("../manual/verbs/check.md"))];
    const SCHEMAS: Schemas = &[("check", schema::<Checked<'_>>)];
    const WATCH: Watches = Watches::Repeats;
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
    options.junit.as_deref().map_or(Ok(()), fresh::check)?;
    let expected = options.expect.as_deref().map(expect::load).transpose()?;
    let mut machine = open(target)?;
    let watched =
        machine.diagnose(over).map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let last = newest(target, &watched)?;
    let mut diagnosis = watched.diagnosis.clone();
    let compare = |expected| expect::compare(&last.state, &expected);
    let compared = expected.map_or_else(Comparison::default, compare);
    let crc = options.max_crc.map_or_else(Vec::new, |most| crc_errors(&last.state, most));
    let mut table = table(&diagnosis.findings);
    for (condition, words) in compared.summary {
        let (severity, place) = (Severity::Fault.word().to_owned(), Place::Mesh.to_string());
        table.row(vec![condition.name().to_owned(), severity, place, words]);
    }
    for it in &crc {
        table.row(row(it));
    }
    diagnosis.findings.extend(compared.differences.iter().map(Difference::finding).chain(crc));
    for missing in &diagnosis.missing {
        say(&format!("unknown: {missing}"));
    }
    if style.json {
        json(Checked::new(&target.words, &last.state, &diagnosis))?;
    } else if diagnosis.findings.is_empty() && !style.csv {
        let gaps = last.state.gaps.len() as u64;
        let unread =
            || format!("not known to be healthy: {} unread", counted(gaps, "range", "ranges"));
        let unknown = verdict::unidentified(&diagnosis);
        let unknown = unknown.or_else(|| (gaps > 0).then(unread));
        text(&format!("{}\n", unknown.as_deref().unwrap_or("healthy")))?;
    } else {
        style.print(table)?;
    }
    if let Some(file) = &options.junit {
        junit::write(file, (CheckArguments::NAME, &target.words), &diagnosis)?;
    }
    let finished = |it: &Finding| it.condition != Condition::NotFinished;
    Ok(match Health::of(&diagnosis) {
        // What somebody left there ends by itself no more.
        Health::NotFinished if diagnosis.findings.iter().any(finished) => Outcome::Findings,
        health => Outcome::of(health, !last.state.gaps.is_empty()),
    })
}

/// A line for each finding, and one for those that several links between two chips have alike.
fn table(found: &[Finding]) -> Columns {
    let mut table = Columns::new(&["CONDITION", "SEVERITY", "PLACE", "FOUND"]);
    let mut groups: Vec<(Option<LinkFinding<'_>>, Vec<&Finding>)> = Vec::new();
    for it in found {
        let kind = link_finding(it);
        match groups.iter_mut().find(|(other, _)| kind.is_some() && *other == kind) {
            Some((_, alike)) => alike.push(it),
            None => groups.push((kind, vec![it])),
        }
    }
    for (kind, alike) in groups {
        let Some(first) = alike.first() else { continue };
        let mut cells = row(first);
        if let Some((.., sentence)) = kind.filter(|_| alike.len() > 1) {
            let ends = alike.iter().filter_map(|it| match it.place {
                Place::Link(a, b) => Some((ExpectedEnd::Found(a), ExpectedEnd::Found(b))),
                _ => None,
            });
            cells.truncate(2);
            cells.extend([links_in_words(&ends.collect::<Vec<_>>()), sentence.to_owned()]);
        }
        table.row(cells);
    }
    table
}

/// What the findings of links between two chips have alike: condition, severity, chips, and the
/// sentence without the link.
type LinkFinding<'a> = (&'static str, &'static str, ChipId, ChipId, &'a str);

fn link_finding(it: &Finding) -> Option<LinkFinding<'_>> {
    let Place::Link(a, b) = it.place else { return None };
    let sentence = it.sentence.strip_prefix(&format!("{}: ", it.place))?;
    Some((it.condition.name(), it.severity.word(), a.chip, b.chip, sentence))
}

fn row(it: &Finding) -> Vec<String> {
    let (place, sentence) = (it.place.to_string(), it.sentence.clone());
    vec![it.condition.name().into(), it.severity.word().into(), place, sentence]
}
