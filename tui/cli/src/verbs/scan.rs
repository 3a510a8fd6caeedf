//! `scan`: what files of many hosts and days say, as Parquet, and questions to it.

#[cfg(feature = "scan")]
mod asked;
#[cfg(feature = "scan")]
mod cables;
#[cfg(feature = "scan")]
mod gathered;
#[cfg(feature = "scan")]
mod recording;

use crate::shape::schema;
use crate::target::Style;
use crate::verb::{Pages, Schemas, Verb};
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use logs::{By, Day, Question};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;
use std::str::FromStr;
use strum::VariantNames;

/// Write what recordings, link counters, verdicts and logs of many hosts say as Parquet, and ask it with
/// SQL.
#[derive(clap::Args, Debug)]
pub(crate) struct ScanArguments {
    /// Folders with such files; to ask, folders that --out wrote.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Write a row for each observation below this folder, which is new or empty.
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::AnyPath,
        required_unless_present_any = ["ask", "sql"],
        conflicts_with_all = ["ask", "sql"]
    )]
    out: Option<PathBuf>,
    /// The host of all files; the default is the first folder below DIR.
    #[arg(long, value_name = "NAME", requires = "out")]
    host: Option<String>,
    /// Ask what comes back, how often links retrain, what was seen first, or what else changed.
    #[arg(long, value_parser = one_of::<Question>(), conflicts_with = "sql")]
    ask: Option<Question>,
    /// What is counted together.
    #[arg(long, value_parser = one_of::<By>(), default_value = "cable", requires = "ask")]
    by: By,
    /// Only this day, such as 2026-11-03, UTC.
    #[arg(long, value_name = "DAY", requires = "ask")]
    day: Option<Day>,
    /// Ask in SQL, which only reads, of the table `log`.
    #[arg(long, value_name = "SQL")]
    sql: Option<String>,
}

/// A parser of words that are variants.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS)
        .try_map(|word| word.parse::<T>().map_err(|error| error.to_string()))
}

impl Verb for ScanArguments {
    const NAME: &str = "scan";
    const PAGES: Pages = &[("scan", include_str!("../manual/verbs/scan.md"))];
    const SCHEMAS: Schemas = &[("scan", schema::<Scanned>)];
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(self, target, style)
    }
}

/// What was written, or the answer to a question.
#[derive(Default, Serialize, JsonSchema)]
struct Scanned {
    /// The rows and files that were written; null if a question was asked.
    written: Option<Amount>,
    /// The SQL of the question; null if none was asked.
    sql: Option<String>,
    /// The names of the columns of the answer.
    columns: Vec<String>,
    /// The rows of the answer, at most 10000: numbers, booleans, null, or the text of anything else.
    rows: Vec<Vec<Value>>,
    /// Whether the answer has more rows.
    more: bool,
    /// What was left out or could not be read, a sentence each.
    left_out: Vec<String>,
}

/// What was written.
#[derive(Serialize, JsonSchema)]
struct Amount {
    /// Rows.
    rows: u64,
    /// Files.
    files: u64,
    /// Bytes of the files.
    bytes: u64,
}

#[cfg(not(feature = "scan"))]
fn run(_: &ScanArguments, _: &Opening, _: Style) -> Result<Outcome, Failure> {
    let how = "cargo install --path tui --features scan";
    Err(Failure::Usage(format!("scan: this meshscope is built without Parquet and SQL: {how}")))
}

#[cfg(feature = "scan")]
fn run(arguments: &ScanArguments, target: &Opening, style: Style) -> Result<Outcome, Failure> {
    let question = arguments.ask.map(|ask| ask.sql(arguments.by, arguments.day));
    match (question.as_ref().or(arguments.sql.as_ref()), &arguments.out) {
        (Some(sql), _) => asked::ask(&arguments.folders, sql, style),
        (None, Some(out)) => {
            let host = arguments.host.as_deref();
            gathered::gather((&arguments.folders, host), out, target, style)
        }
        (None, None) => Err(Failure::Usage("scan: --out, --ask or --sql says what to do".into())),
    }
}

#[cfg(feature = "scan")]
fn failure(error: &logs::LogError) -> Failure {
    match error {
        logs::LogError::Engine(_) => Failure::Internal(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    }
}

/// Says what was left out; not thousands of sentences.
#[cfg(feature = "scan")]
fn say_left_out(left_out: &[String]) {
    /// Sentences that are said.
    const SAID: usize = 20;
    left_out.iter().take(SAID).for_each(|why| crate::output::say(why));
    if let Some(more) = left_out.len().checked_sub(SAID).filter(|more| *more > 0) {
        crate::output::say(&format!("{more} more were left out: --json lists them"));
    }
}
