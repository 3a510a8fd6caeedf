//! `fabric check` and `fabric load`: routing tables are proved, and written into L1.

use super::routes::read_memory;
use crate::args::{LoadArguments, ProofArguments};
use crate::output::{json, say, text};
use crate::shape;
use crate::target::{Style, open};
use crate::verb::Previewer;
use console::exit::{Failure, Outcome};
use console::fabric::{Rewrite, TablesFile, proof_text, replace_tables};
use console::machine::{Machine, Opening};
use decode::state::MeshState;
use diagnosis::TablesProof;
use launch::Operation;
use machine::snapshot::Span;
use machine::target::Preview;
use machine::words::counted;
use std::path::{Path, PathBuf};

pub(super) fn check(
    target: &Opening,
    style: Style,
    options: &ProofArguments,
) -> Result<Outcome, Failure> {
    let file = options.tables.as_deref().map(FileOfTables::read).transpose()?;
    let mut machine = open(target)?;
    let (state, _) = proposed(target, &mut machine, file.as_ref())?;
    proved(target, style, &state)
}

/// Proves the tables in L1.
pub(super) fn prove(
    target: &Opening,
    style: Style,
    machine: &mut Machine,
) -> Result<Outcome, Failure> {
    let (state, _) = proposed(target, machine, None)?;
    proved(target, style, &state)
}

/// Prints the proof, and returns what came of it.
fn proved(target: &Opening, style: Style, state: &MeshState) -> Result<Outcome, Failure> {
    let proof = TablesProof::of(state);
    let outcome = judge(&proof);
    if style.json {
        json(shape::fabric_proof(&target.words, state, &proof))?;
    } else if proof.nodes > 0 {
        text(&proof_text(&proof))?;
    }
    match outcome {
        _ if proof.nodes == 0 => say("no router with routing tables runs there"),
        Outcome::Healthy => say("the tables are proved"),
        Outcome::Partial => say("the tables are not proved: not all routers were read"),
        Outcome::Findings => say("the tables are not proved"),
    }
    Ok(outcome)
}

pub(super) fn load(
    target: &Opening,
    style: Style,
    options: &LoadArguments,
) -> Result<Outcome, Failure> {
    let file = FileOfTables::read(&options.file)?;
    let mut machine = open(target)?;
    let (state, rewrites) = proposed(target, &mut machine, Some(&file))?;
    let outcome = proved(target, style, &state)?;
    if outcome != Outcome::Healthy {
        say("nothing was written: the tables are not proved");
        return Ok(outcome);
    }
    for Rewrite { router, at, bytes } in &rewrites {
        let mut operation = Operation::new(format!("load the routing tables of {router}"));
        operation.write(*at, bytes.clone());
        let failed = |error| Failure::of_control(&target.words, &error);
        operation.finish(machine.target()).map_err(failed)?;
    }
    let routers = counted(rewrites.len() as u64, "router", "routers");
    say(&format!("loaded: the tables of {routers} changed"));
    Ok(Outcome::Healthy)
}

/// The writes of `fabric load`.
pub(super) fn preview(opening: &Opening, options: &LoadArguments) -> Result<Previewer, Failure> {
    let (file, opening) = (FileOfTables::read(&options.file)?, opening.clone());
    Ok(Box::new(move |machine| {
        let (_, rewrites) = proposed(&opening, machine, Some(&file))?;
        let mut whole = Preview::default();
        for Rewrite { at, bytes, .. } in rewrites {
            let span = Span { addr: at, len: bytes.len() as u32 };
            let Preview { accesses, gaps } = machine.target().preview_write(span);
            whole.accesses.extend(accesses);
            whole.gaps.extend(gaps);
        }
        Ok(whole)
    }))
}

/// Tables of a file.
struct FileOfTables {
    path: PathBuf,
    tables: TablesFile,
}

impl FileOfTables {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = files::read_text(path, files::Kind::TABLES);
        let text = text.map_err(|error| Failure::Usage(error.to_string()))?;
        let tables = serde_json::from_str(&text).map_err(|error| {
            Failure::Usage(format!("{} holds no routing tables: {error}", path.display()))
        })?;
        Ok(Self { path: path.to_owned(), tables })
    }
}

/// Returns the fabric with the tables of a file in place of those that were read, and what must be
/// written for that.
fn proposed(
    opening: &Opening,
    machine: &mut Machine,
    file: Option<&FileOfTables>,
) -> Result<(MeshState, Vec<Rewrite>), Failure> {
    let (mut state, memory) = read_memory(opening, machine, None)?;
    let Some(FileOfTables { path, tables }) = file else { return Ok((state, Vec::new())) };
    let (_, images) = machine.session().parts();
    let rewrites = replace_tables(tables.clone(), &mut state, &memory, images);
    let rewrites = rewrites.map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))?;
    Ok((state, rewrites))
}

fn judge(proof: &TablesProof) -> Outcome {
    match proof.unread {
        _ if !proof.holds() => Outcome::Findings,
        0 => Outcome::Healthy,
        _ => Outcome::Partial,
    }
}
