//! tt-metal's fabric manifest: where the routers of one run keep their state, as the host that
//! compiled them wrote it (tt-metal.md 8.5).
//!
//! Each rank writes `generated/fabric/fabric_manifest_rank_R_of_N.json` after it has launched the
//! routers and before it waits for them. The file is proof neither that a router started nor that
//! the run still exists.
//!
//! A file of another kind or version, or one that contradicts itself, is refused in one sentence
//! with the path of the key. Unknown further keys are allowed. A null and a field that is left out
//! mean the same: the router has no such word.

mod areas;
mod channels;
mod cursor;
mod described_mesh;
mod fields;
mod layout;
mod mesh;
mod path;
mod router;
#[cfg(test)]
mod tests;
mod types;

pub use areas::{Areas, Heartbeat};
pub use channels::{
    ChannelStatus, Credit, CreditCounters, DownstreamEdge, Producer, ReceiverChannel, RingBuffer,
    SenderChannel,
};
pub use cursor::ManifestError;
pub use fields::{Content, Fields, StreamRef, StreamRegister};
pub use mesh::{CreditTransport, LocalChip, LocalSync, ManifestChip, ManifestMesh, Torus};
pub use path::{ChannelPath, RouterPath};
pub use router::{Erisc, EthLink, ManifestRouter, RouterShape};
pub use types::{ElementType, L1Region, Schema, StructLayout, StructMember};

use cursor::{Cursor, Parsed};
use layouts::ChipKind;
use machine::fabric::FabricNode;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use types::Context;

/// The names of all ranks' files begin so.
const FILE_PREFIX: &str = "fabric_manifest_rank_";
const KIND: &str = "fabric_manifest";
const VERSION: u64 = 1;

/// A fabric manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricManifest {
    /// The run that wrote it.
    pub run: ManifestRun,
    /// Numbers of the whole fabric.
    pub context: FabricContext,
    /// Words at the same address in every router.
    pub areas: Areas,
    /// Structs by name.
    pub structs: BTreeMap<String, StructLayout>,
    /// Enums by name: their values by name, in lower case.
    pub enums: BTreeMap<String, BTreeMap<String, u32>>,
    /// All meshes of the fabric by number. Only chips of this host have routers.
    pub meshes: BTreeMap<u16, ManifestMesh>,
}

/// The run that wrote a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestRun {
    /// The kind of its chips.
    pub chips: ChipKind,
    /// tt-metal's `FabricConfig`, such as `fabric_2d`.
    pub fabric_config: String,
    /// tt-metal's `FabricReliabilityMode`.
    pub reliability_mode: String,
    /// tt-metal's `FabricTensixConfig`, such as `disabled` or `mux`.
    pub tensix_config: String,
    /// tt-metal's `FabricUDMMode`.
    pub udm_mode: String,
    /// The host's number in the mesh graph.
    pub host_rank: u32,
    /// The process's number in MPI.
    pub mpi_rank: u32,
    /// Number of processes, each with its own manifest.
    pub world_size: u32,
    /// Time of writing, UTC, such as `2026-09-15T12:00:00Z`.
    pub written_at: String,
}

/// Numbers of the whole fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricContext {
    /// `linear`, `ring`, `mesh` or `torus`.
    pub topology: String,
    /// Whether packets are routed in two dimensions.
    pub is_2d: bool,
    /// Bytes of a packet header.
    pub header_bytes: u32,
    /// Most bytes of a payload.
    pub payload_bytes: u32,
    /// Bytes of a slot of a channel.
    pub slot_bytes: u32,
    /// Bytes of the route in a header; in two dimensions only.
    pub route_bytes: Option<u32>,
    /// Further words of the route in a header; in one dimension only.
    pub extension_words: Option<u32>,
    /// Whether senders and receivers use different Ethernet transmit queues.
    pub multi_txq: bool,
}

/// Values of a manifest at most: a few hundred for each router, of which a TGG has a thousand.
const MOST_VALUES: usize = 1 << 20;

impl FabricManifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Why the file cannot be read, or the first key that does not fit.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = files::read(path, files::Kind::MANIFEST).map_err(|error| error.to_string())?;
        Self::parse(&path.display().to_string(), &bytes).map_err(|error| error.to_string())
    }

    /// Returns the manifests in a folder, and where tt-metal writes them below it.
    pub fn beside(folder: &Path) -> Vec<PathBuf> {
        let folders = [folder.to_owned(), folder.join("generated/fabric")];
        let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let named = paths.filter(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let is_json = path.extension().is_some_and(|extension| extension == "json");
            is_json && stem.is_some_and(|stem| stem.starts_with(FILE_PREFIX))
        });
        let mut found: Vec<_> = named.collect();
        found.sort();
        found
    }

    /// Parses a manifest; `file` is its name in errors. The caller limits the size.
    ///
    /// # Errors
    /// The first key that does not fit.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, ManifestError> {
        let refused = |what| ManifestError { file: file.to_owned(), key: String::new(), what };
        // A value takes many times its text.
        let begins = |byte: &&u8| matches!(byte, b',' | b'[' | b'{');
        if bytes.iter().filter(begins).count() > MOST_VALUES {
            return Err(refused(format!("has more than {MOST_VALUES} values")));
        }
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| refused(format!("is no JSON: {error}")))?;
        Self::take(&Cursor::root(&value)).map_err(|refused| refused.within(file))
    }

    fn take(at: &Cursor<'_>) -> Parsed<Self> {
        check_format(at)?;
        let run = at.get("run")?;
        let arch = run.get("arch")?;
        let name = arch.text()?;
        let what = || arch.refused(format!("is {}, and only Wormhole is supported", arch.shown()));
        let chips = ChipKind::of_arch(name).ok_or_else(what)?;
        let archs = at.get("archs")?;
        let arch = archs.get(name)?;
        let (types, enums) = (arch.get("types")?, at.get("enums")?);
        let (structs, enums) = (types::structs(&types)?, types::enums(&enums)?);
        let context = Context { layout: chips.layout(), structs: &structs, enums: &enums };
        types::resolve(&types, &context)?;
        let areas = context.areas(&arch.get("areas")?)?;
        let meshes = context.meshes(&at.get("meshes")?)?;
        let (run, context) = (ManifestRun::read(&run, chips)?, FabricContext::read(at)?);
        Ok(Self { run, context, areas, structs, enums, meshes })
    }

    /// Returns the chip of an ASIC id, with its fabric node.
    pub fn chip(&self, asic_id: u64) -> Option<(FabricNode, &LocalChip)> {
        self.local_chips().find(|(_, chip)| chip.asic_id == asic_id)
    }

    /// Returns a router by its path.
    pub fn router(&self, path: RouterPath) -> Option<&ManifestRouter> {
        let mesh = self.meshes.get(&path.node.mesh)?;
        let chip = mesh.chips.get(&path.node.device)?.local.as_ref()?;
        chip.routers.iter().find(|router| router.path == path)
    }

    /// Returns the chips of this host with their fabric nodes.
    pub fn local_chips(&self) -> impl Iterator<Item = (FabricNode, &LocalChip)> {
        self.meshes.iter().flat_map(|(&mesh, of)| {
            of.chips.iter().filter_map(move |(&device, chip)| {
                Some((FabricNode { mesh, device }, chip.local.as_ref()?))
            })
        })
    }

    /// Returns a member by the names of its struct and of members, such as `WorkerXY.x`:
    /// its offset from the start of the struct, and its type. In an array of structs, it is the
    /// first struct's.
    pub fn member(&self, path: &str) -> Option<(u32, &ElementType)> {
        let mut names = path.split('.');
        let mut within = self.structs.get(names.next()?)?;
        let mut offset = 0;
        loop {
            let name = names.next()?;
            let member = within.members.iter().find(|member| member.name == name)?;
            offset += member.offset;
            match &member.ty.schema {
                Schema::Struct(inner) if names.clone().next().is_some() => {
                    within = self.structs.get(inner)?;
                }
                _ => return names.next().is_none().then_some((offset, &member.ty)),
            }
        }
    }
}

/// Refuses every file but a manifest of the known version.
fn check_format(at: &Cursor<'_>) -> Parsed<()> {
    let kind = at.get("kind")?;
    if kind.text()? != KIND {
        let what = format!("is {}, and only {KIND:?} is supported", kind.shown());
        return Err(kind.refused(what));
    }
    let version = at.get("manifest_version")?;
    if version.number::<u64>()? != VERSION {
        let what = format!("is {}, and only version {VERSION} is supported", version.shown());
        return Err(version.refused(what));
    }
    // Development versions of tt-metal gave another format the same kind and version.
    match at.find("layouts") {
        Some(layouts) => Err(layouts.refused("belongs to an earlier format of version 1")),
        None => Ok(()),
    }
}

impl ManifestRun {
    fn read(at: &Cursor<'_>, chips: ChipKind) -> Parsed<Self> {
        let text = |key| Ok(at.get(key)?.text()?.to_owned());
        Ok(Self {
            chips,
            fabric_config: text("fabric_config")?,
            reliability_mode: text("reliability_mode")?,
            tensix_config: text("tensix_config")?,
            udm_mode: text("udm_mode")?,
            host_rank: at.get("host_rank")?.number()?,
            mpi_rank: at.get("mpi_rank")?.number()?,
            world_size: at.get("world_size")?.number()?,
            written_at: text("written_at")?,
        })
    }
}

impl FabricContext {
    fn read(manifest: &Cursor<'_>) -> Parsed<Self> {
        let at = manifest.get("fabric_context")?;
        let optional = |key| at.find(key).map(|at| at.number()).transpose();
        Ok(Self {
            topology: at.get("topology")?.text()?.to_owned(),
            is_2d: at.get("is_2d_routing")?.flag()?,
            header_bytes: at.get("packet_header_size_bytes")?.number()?,
            payload_bytes: at.get("max_payload_size_bytes")?.number()?,
            slot_bytes: at.get("channel_buffer_size_bytes")?.number()?,
            route_bytes: optional("routing_2d_route_buffer_size")?,
            extension_words: optional("routing_1d_extension_words")?,
            multi_txq: at.get("multi_txq")?.flag()?,
        })
    }
}
