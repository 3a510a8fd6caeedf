//! tt-metal's fabric snapshots: what its capture tool read of the fabric's routers on one host.
//!
//! A snapshot is a JSON and, beside it, a file with the bytes. It holds L1, stream registers, words
//! of the routers' lives and the heartbeats of a few rounds before. Its chips and links are in the
//! fabric manifest of its run, which the caller finds by [`FabricSnapshot::manifest_sha256`].
//!
//! What was not captured is a gap. Bytes whose SHA-256 differs are not shown.

mod document;
mod memory;
mod moment;
mod raw;
mod remarks;
mod target;
mod time;

use crate::error::RecordingError;
use document::Document;
use layouts::{ChipId, ChipKind, EthId};
use machine::target::{Chip, Mesh};
use moment::Capture;
use raw::Raw;
pub use raw::digest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
pub use target::FabricSnapshotTarget;

/// The addresses of words that a snapshot names without an address: the manifest gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FabricWords {
    /// The first go message.
    pub go_message: Option<u64>,
    /// Words of each router.
    pub routers: BTreeMap<EthId, RouterWords>,
}

/// The addresses of a router's words in its L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterWords {
    /// `edm_status`.
    pub status: Option<u64>,
    /// `termination_signal`.
    pub termination: Option<u64>,
}

/// A fabric snapshot that was read.
#[derive(Debug)]
pub struct FabricSnapshot {
    path: PathBuf,
    document: Document,
    chips: ChipKind,
    raw: Raw,
}

impl FabricSnapshot {
    /// Reads a snapshot and the file with its bytes. A file that is missing or damaged leaves gaps.
    ///
    /// # Errors
    /// If it is of another kind or version, of chips that are not supported, or no JSON.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let bytes = files::read(path, files::Kind::FABRIC_SNAPSHOT);
        let (document, chips) = document::parse(path, &bytes.map_err(RecordingError::Unusable)?)?;
        let raw = Raw::read(path, &document.raw);
        Ok(Self { path: path.to_owned(), document, chips, raw })
    }

    /// Returns the path of its manifest when it was captured.
    pub fn manifest_path(&self) -> &str {
        &self.document.manifest.path
    }

    /// Returns the SHA-256 of its manifest's file, in lower-case hexadecimal.
    pub fn manifest_sha256(&self) -> &str {
        &self.document.manifest.sha256
    }

    /// Returns the mesh without a manifest: chips, and no links.
    pub fn mesh(&self) -> Mesh {
        let mut asics: BTreeMap<u16, Option<u64>> = BTreeMap::new();
        for router in self.document.samples.iter().flat_map(|sample| &sample.routers) {
            let digits = router.asic_id.as_deref().and_then(|id| id.strip_prefix("0x"));
            let asic = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
            asics.entry(router.physical_chip_id).or_insert(asic);
        }
        let chips = asics.into_iter().map(|(id, unique_id)| Chip {
            id: ChipId(id),
            coord: None,
            pcie: false,
            unique_id,
            board: None,
            gateway: None,
            harvested_rows: None,
            seat: None,
        });
        Mesh { kind: self.chips, chips: chips.collect(), ..Mesh::default() }
    }

    /// Makes a target of it, with the mesh and the addresses that its manifest gives.
    pub fn into_target(self, mut mesh: Mesh, words: &FabricWords) -> FabricSnapshotTarget {
        let layout = self.chips.layout();
        let capture = Capture { layout, raw: &self.raw, words };
        let samples = &self.document.samples;
        let moments = samples.iter().map(|sample| capture.moment(sample)).collect();
        mesh.problems.extend(self.raw.problem.clone());
        // Of several samples the last one tells.
        let said = samples.last().map(|sample| remarks::remarks(sample, layout));
        mesh.problems.extend(said.unwrap_or_default());
        FabricSnapshotTarget::new(self.path.display().to_string(), mesh, moments)
    }
}
