//! `schema`: the JSON Schema of what a verb prints with `--json`.

use crate::output::text;
use crate::shape::{DryRun, schema};
use crate::target::Style;
use crate::verb::{Descriptions, Pages, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use schemars::Schema;

/// Print the JSON Schema of a verb's --json output; without a verb, list the verbs that have
/// one.
#[derive(clap::Args, Debug)]
pub(crate) struct SchemaArguments {
    /// A verb with its subcommand, such as symbols type; dry-run; or kept-entry, a line of the
    /// file of fabric status --keep.
    pub(crate) verb: Vec<String>,
}

impl Verb for SchemaArguments {
    const NAME: &str = "schema";
    const PRINTS_JSON: bool = true;
    const PAGES: Pages = &[("schema", include_str!("../manual/verbs/schema.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("schema")
    }
    fn run(&self, _: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(&self.verb, style.verbs)
    }
}

/// All JSON outputs, by verb, and that of any verb with --dry-run.
fn schemas(verbs: Descriptions) -> impl Iterator<Item = (&'static str, fn() -> Schema)> {
    let dry_run: (_, fn() -> Schema) = ("dry-run", schema::<DryRun<'_>>);
    verbs().into_iter().flat_map(|verb| verb.schemas.iter().copied()).chain([dry_run])
}

/// Prints the schema of a verb's JSON, or the verbs that have one.
fn run(verb: &[String], verbs: Descriptions) -> Result<Outcome, Failure> {
    if verb.is_empty() {
        let names: Vec<&str> = schemas(verbs).map(|(name, _)| name).collect();
        text(&(names.join("\n") + "\n"))?;
        return Ok(Outcome::Healthy);
    }
    let verb = verb.join(" ");
    let found = schemas(verbs).find(|(name, _)| *name == verb);
    let Some((_, make)) = found else {
        let why = format!("`{verb}` prints no JSON; meshscope schema lists the verbs that do");
        return Err(Failure::Usage(why));
    };
    let mut schema = make();
    schema.insert("title".to_owned(), format!("meshscope {verb}").into());
    let page = serde_json::to_string_pretty(&schema);
    text(&(page.map_err(|e| Failure::Internal(format!("JSON: {e}")))? + "\n"))?;
    Ok(Outcome::Healthy)
}
