//! The JSON of a fabric snapshot, as tt-metal's capture tool writes it
//! (tt_metal/fabric/debug/visualizer/schema/fabric_snapshot_schema.json, version 1).

use crate::error::RecordingError;
use layouts::ChipKind;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const KIND: &str = "fabric_snapshot";
const VERSION: u64 = 1;

/// What other files of the same tools are, by their `kind`.
const OTHERS: [(&str, &str); 4] = [
    ("fabric_debug_snapshot", "of an earlier format"),
    ("fabric_snapshot_decoded", "what tt-metal's decoder made of a snapshot, without its bytes"),
    ("fabric_manifest", "a manifest, for --manifest"),
    ("fabric_debug_manifest", "a manifest of an earlier format"),
];

/// A snapshot of one host.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) manifest: ManifestReference,
    pub(super) raw: RawFile,
    pub(super) samples: Vec<Sample>,
}

/// The manifest that named the routers.
#[derive(Debug, Deserialize)]
pub(super) struct ManifestReference {
    /// Where it was; the file may have moved since.
    pub(super) path: String,
    pub(super) sha256: String,
    pub(super) run: Run,
}

#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) arch: String,
}

/// The file with the bytes.
#[derive(Debug, Deserialize)]
pub(super) struct RawFile {
    pub(super) file: String,
    pub(super) size: u64,
    pub(super) sha256: String,
}

/// One pass over all routers.
#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    pub(super) capture_time: String,
    pub(super) routers: Vec<Router>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Router {
    pub(super) id: Endpoint,
    /// UMD's number of the chip on the host.
    pub(super) physical_chip_id: u16,
    /// The ASIC id that the manifest gives, in hexadecimal; none in older ones.
    pub(super) asic_id: Option<String>,
    pub(super) asic_id_matches_physical: Option<bool>,
    pub(super) status: Status,
    pub(super) error: Option<String>,
    pub(super) health: Health,
    pub(super) lifecycle: Lifecycle,
    /// The rounds before the pass, one heartbeat each.
    pub(super) liveness: Vec<Beat>,
    pub(super) streams: Streams,
    pub(super) blobs: BTreeMap<String, Blob>,
    pub(super) identity: Identity,
}

/// A router by its fabric node and Ethernet channel.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Endpoint {
    pub(super) mesh_id: u16,
    pub(super) chip_id: u16,
    pub(super) eth_chan: u8,
}

/// What the tool says of a router, or of a blob.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    /// At least one read failed.
    Unreadable,
    /// A core of the tile is in reset.
    Reset,
    /// Streams moved while the memory was read.
    Torn,
    /// The tile was not found, or its status word has no name.
    Unknown,
    /// The range was not to be read.
    Unsupported,
}

/// Registers of a tile; none if unreadable.
#[derive(Debug, Deserialize)]
pub(super) struct Health {
    /// The soft-reset register.
    pub(super) reset: Option<u32>,
    /// Cycles of the chip.
    pub(super) wall_clock: Option<u64>,
}

/// Words of a router that were read before its memory; none if unreadable.
#[derive(Debug, Deserialize)]
pub(super) struct Lifecycle {
    pub(super) edm_status: Option<u32>,
    pub(super) termination_signal: Option<u32>,
    /// The high byte of the first go message.
    pub(super) go_signal: Option<u8>,
}

/// A heartbeat and when it was read.
#[derive(Debug, Deserialize)]
pub(super) struct Beat {
    /// UTC, in whole seconds.
    pub(super) t: String,
    pub(super) heartbeat: Option<u32>,
    pub(super) wall_clock: Option<u64>,
}

/// Credit counters by stream, before and after the memory was read.
#[derive(Debug, Deserialize)]
pub(super) struct Streams {
    pub(super) pre: BTreeMap<u8, Stream>,
    pub(super) post: BTreeMap<u8, Stream>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct Stream {
    /// The low 17 bits of the register.
    pub(super) buf_space_available: u32,
}

/// A range of L1; its bytes are in the other file.
#[derive(Debug, Deserialize)]
pub(super) struct Blob {
    pub(super) address: u64,
    pub(super) size: u32,
    /// Its first byte in that file; none if it was not read.
    pub(super) offset: Option<u64>,
    pub(super) sha256: Option<String>,
    /// Parts that could not be read are zeros.
    pub(super) status: Status,
    pub(super) error: Option<String>,
}

/// The node that the routing table in L1 names.
#[derive(Debug, Deserialize)]
pub(super) struct Identity {
    pub(super) my_mesh_id: Option<u16>,
    pub(super) my_device_id: Option<u16>,
    pub(super) matches_manifest: Option<bool>,
}

/// Parses the JSON of a snapshot; returns the kind of its chips with it.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<(Document, ChipKind), RecordingError> {
    let refused = |what| RecordingError::FabricSnapshot { path: path.to_owned(), what };
    let value: Value =
        serde_json::from_slice(bytes).map_err(|e| refused(format!("no JSON: {e}")))?;
    check_format(&value).map_err(refused)?;
    let document: Document = serde_json::from_value(value).map_err(|error| {
        refused(format!("it does not have the form of a {KIND}, version {VERSION}: {error}"))
    })?;
    let arch = &document.manifest.run.arch;
    let what = || refused(format!("it is of {arch:?} chips, and only Wormhole is supported"));
    let chips = ChipKind::of_arch(arch).ok_or_else(what)?;
    if document.samples.is_empty() {
        return Err(refused("it has no sample".to_owned()));
    }
    Ok((document, chips))
}

/// Refuses every file but a snapshot of the known version.
fn check_format(value: &Value) -> Result<(), String> {
    let Some(kind) = value.get("kind").and_then(Value::as_str) else {
        return Err(format!("no {KIND} of tt-metal: it has no `kind`"));
    };
    if kind != KIND {
        let other = OTHERS.iter().find(|(name, _)| *name == kind);
        let what = other.map_or("unknown", |(_, what)| what);
        return Err(format!("its kind is {kind:?}, which is {what}; only {KIND:?} opens"));
    }
    match value.get("snapshot_version") {
        Some(version) if *version == VERSION => Ok(()),
        Some(version) => {
            Err(format!("snapshot_version is {version}, and only version {VERSION} is supported"))
        }
        None => Err("it has no snapshot_version".to_owned()),
    }
}
