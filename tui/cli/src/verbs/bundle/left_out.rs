//! What a bundle lacks: ELFs that are not at hand, ranges that were not read, and what is private.

use console::machine::{Machine, Opening};
use decode::inspect::ReadSet;
use decode::state::MeshState;
use machine::words::counted;
use probe::session::Watched;
use recordings::Redacted;
use std::collections::{BTreeMap, BTreeSet};

/// Returns a sentence for each thing.
pub(super) fn lines(machine: &mut Machine, target: &Opening, watched: &Watched) -> Vec<String> {
    let everything = ReadSet::everything(&machine.mesh());
    let state = machine.take(&everything).state;
    let mut lines = unknown_images(&state);
    lines.extend(elfs(machine));
    let manifests = target.options.manifests.iter().map(|it| it.display());
    lines.extend(manifests.map(|it| format!("the fabric manifest {it}")));
    lines.extend(watched.newest.iter().flat_map(|newest| gaps(&newest.state)));
    lines.extend(state.problems.iter().cloned());
    lines.extend(watched.diagnosis.missing.iter().map(|it| format!("unknown: {it}")));
    lines
}

/// Returns a sentence for each private thing that is left out, with the option that keeps it.
pub(super) fn redacted(lacks: &Redacted) -> Vec<String> {
    let Redacted { users, paths, writes, run } = *lacks;
    let users = counted(users, "line", "lines");
    let sentences = [
        (lacks.users, format!("user and process id in {users} of the audit log (--with users)")),
        (paths, format!("the folders of {} (--with paths)", counted(paths, "path", "paths"))),
        (writes, format!("the bytes of {} (--with writes)", counted(writes, "write", "writes"))),
        (run.into(), "the run of the mesh, which rerun= executes (--with run)".to_owned()),
    ];
    sentences.into_iter().filter(|(count, _)| *count > 0).map(|(_, said)| said).collect()
}

/// Code on cores without its ELF.
fn unknown_images(state: &MeshState) -> Vec<String> {
    let cores = state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    let findings = cores.flat_map(|core| &core.findings);
    let sentences: BTreeSet<String> = findings.map(ToString::to_string).collect();
    sentences.into_iter().collect()
}

/// ELFs of the command line that are not in the recording.
fn elfs(machine: &mut Machine) -> Vec<String> {
    let head = machine.session().file().and_then(|file| file.head.clone());
    let has = |name: &String| head.iter().any(|head| head.attached.contains(name));
    let used = machine.images().attachments();
    let lacking = used.iter().filter(|(name, _)| !has(name));
    lacking
        .map(|(name, _)| format!("the ELF {name}: it runs, and is not in the recording"))
        .collect()
}

/// Ranges that could not be read, by reason.
fn gaps(state: &MeshState) -> Vec<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for gap in &state.gaps {
        *counts.entry(gap.reason.name()).or_default() += 1;
    }
    let line = |(reason, count): (&str, u64)| {
        format!("{}: {}", counted(count, "range", "ranges"), reason.replace('_', " "))
    };
    counts.into_iter().map(line).collect()
}
