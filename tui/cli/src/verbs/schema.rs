//! `schema`: the JSON Schema of what a verb prints with `--json`.

use super::fabric::KeptEntry;
use crate::output::text;
use crate::shape::{
    Bytes, Changes, Checked, Cleaned, Cores, Debugged, DryRun, Explained, Fabric, FabricRoutes,
    FabricTables, FabricWaits, Frames, Functions, Images, Judged, Launched, Layout, Line, Links,
    Mesh, Names, PausedMesh, Printed, Resumed, Stack, Status, SteppedMesh, Sweep, Valued, WhoWrote,
    Written, schema,
};
use console::exit::{Failure, Outcome};
use schemars::Schema;

/// A function that builds a schema.
type Make = fn() -> Schema;

/// All JSON outputs, by verb; `dry-run` is that of any verb with --dry-run, `kept-entry` a line of
/// the file of `fabric status --keep`.
const SCHEMAS: &[(&str, Make)] = &[
    ("mesh", schema::<Mesh<'_>>),
    ("cores", schema::<Cores<'_>>),
    ("images", schema::<Images<'_>>),
    ("links", schema::<Links<'_>>),
    ("why", schema::<Judged<'_>>),
    ("check", schema::<Checked<'_>>),
    ("explain", schema::<Vec<Explained>>),
    ("fabric", schema::<Fabric<'_>>),
    ("fabric status", schema::<Status<'_>>),
    ("fabric drain", schema::<Status<'_>>),
    ("fabric waits", schema::<FabricWaits<'_>>),
    ("fabric tables", schema::<FabricTables<'_>>),
    ("fabric path", schema::<FabricRoutes<'_>>),
    ("kept-entry", schema::<KeptEntry<'_>>),
    ("read", schema::<Bytes>),
    ("print", schema::<Printed<'_>>),
    ("who-wrote", schema::<WhoWrote>),
    ("changes", schema::<Changes<'_>>),
    ("diff", schema::<Changes<'_>>),
    ("write", schema::<Written>),
    ("debug", schema::<Debugged>),
    ("pause", schema::<PausedMesh<'_>>),
    ("resume", schema::<Resumed<'_>>),
    ("step", schema::<SteppedMesh<'_>>),
    ("dry-run", schema::<DryRun<'_>>),
    ("symbols type", schema::<Layout<'_>>),
    ("symbols value", schema::<Valued<'_>>),
    ("symbols line", schema::<Line<'_>>),
    ("symbols function", schema::<Functions<'_>>),
    ("symbols list", schema::<Names<'_>>),
    ("symbols addr", schema::<Frames<'_>>),
    ("symbols backtrace", schema::<Stack<'_>>),
    ("run", schema::<Sweep<'_>>),
    ("launch", schema::<Launched<'_>>),
    ("clean", schema::<Cleaned<'_>>),
];

/// Prints the schema of a verb's JSON, or the verbs that have one.
pub(super) fn run(verb: &[String]) -> Result<Outcome, Failure> {
    if verb.is_empty() {
        let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
        text(&(names.join("\n") + "\n"))?;
        return Ok(Outcome::Healthy);
    }
    let verb = verb.join(" ");
    let found = SCHEMAS.iter().find(|(name, _)| *name == verb);
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
