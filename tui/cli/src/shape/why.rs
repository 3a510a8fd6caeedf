//! The JSON of a verdict.

use decode::state::MeshState;
use diagnosis::Diagnosis;
use images::Provenance;
use machine::clients::MetalProcess;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The verdict on a mesh by some snapshots of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Judged<'a> {
    /// The words of `--target`.
    pub(crate) target: &'a str,
    #[serde(flatten)]
    pub(crate) verdict: &'a Diagnosis,
    /// The files that it rests on; absent after a launch and in a bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Files<'a>>,
}

/// Where files were found, and which ELFs are used.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Files<'a> {
    /// Where they were looked for.
    #[serde(flatten)]
    sought: Sought<'a>,
    /// The ELFs of files that run.
    elfs: Vec<Elf<'a>>,
}

/// Where the ELFs and logs of what runs were looked for, besides named directories.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sought<'a> {
    /// The processes that run tt-metal on the target, with the directories where ELFs were looked for.
    processes: &'a [MetalProcess],
    /// Where else ELFs were looked for, since no such process tells its files.
    usual_places: &'a [PathBuf],
}

/// An ELF of a file.
#[derive(Serialize, JsonSchema)]
struct Elf<'a> {
    /// The file.
    path: &'a str,
    /// How it is known to run.
    provenance: Provenance,
    /// On how many cores it runs.
    cores: usize,
}

impl<'a> Files<'a> {
    pub(crate) fn new(state: &'a MeshState) -> Self {
        let tiles = state.chips.iter().flat_map(|chip| &chip.tiles);
        let images = tiles.flat_map(|tile| &tile.cores).flat_map(|core| &core.images);
        let mut elfs: BTreeMap<(&str, Provenance), usize> = BTreeMap::new();
        for image in images {
            if let Some(path) = &image.path {
                *elfs.entry((path, image.evidence)).or_default() += 1;
            }
        }
        let elf = |((path, provenance), cores)| Elf { path, provenance, cores };
        Self { sought: Sought::new(state), elfs: elfs.into_iter().map(elf).collect() }
    }
}

impl<'a> Sought<'a> {
    pub(crate) fn new(state: &'a MeshState) -> Self {
        Self { processes: &state.processes, usual_places: &state.usual_places }
    }
}
