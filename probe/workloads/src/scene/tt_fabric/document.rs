//! `fabric.json`: the kernels of a fabric, their tiles and arguments, and the words that a host
//! writes.

use super::mesh::MetalMesh;
use layouts::{ChipId, NocXy};
use machine::place::Place;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the document in its folder.
pub const DOCUMENT: &str = "fabric.json";
/// The version of the document's form.
pub const SCHEMA: u32 = 2;

/// A fabric of tt-metal's kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The mesh for which the kernels were compiled.
    pub mesh: MetalMesh,
    /// The topology: `line` or `mesh`.
    pub topology: String,
    /// The folder of tt-metal's firmware, relative to the document's.
    pub firmware: PathBuf,
    /// The routers.
    pub routers: Vec<MetalRouter>,
    /// The muxes; each is the client of a router.
    pub muxes: Vec<MetalMux>,
    /// Workers that send packets.
    pub workers: Vec<MetalWorker>,
}

/// A kernel and its launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its name, which is that of its folder.
    pub name: String,
    /// Its ELF, relative to the document's folder.
    pub elf: PathBuf,
    /// The chip's number.
    pub chip: u16,
    /// The tile: x and y of NOC 0.
    pub tile: [u8; 2],
    /// `kernel_config_base` of the launch message.
    pub config_base: u64,
    /// `kernel_text_offset` of the launch message.
    pub text_offset: u64,
    /// Runtime arguments.
    pub arguments: Vec<u32>,
    /// The kernel that runs on NCRISC of the same tile, with the same arguments.
    pub ncrisc: Option<Ncrisc>,
    /// Initial values of the program's semaphores.
    pub semaphores: Vec<u32>,
    /// What a host writes into the tile's L1 before the launch.
    pub words: Vec<L1Words>,
}

impl Kernel {
    /// Returns the tile.
    pub fn place(&self) -> Place {
        let [x, y] = self.tile;
        Place { chip: ChipId(self.chip), tile: NocXy { x, y } }
    }
}

/// A kernel for NCRISC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ncrisc {
    /// Its name, which is that of its folder.
    pub name: String,
    /// Its ELF, relative to the document's folder.
    pub elf: PathBuf,
    /// `kernel_text_offset` of the launch message.
    pub text_offset: u64,
}

/// Words of L1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1Words {
    /// What they are.
    pub what: String,
    /// Address of the first.
    pub address: u64,
    /// Their values.
    pub values: Vec<u32>,
}

impl L1Words {
    /// Makes words.
    pub fn new(what: impl Into<String>, address: u32, values: Vec<u32>) -> Self {
        Self { what: what.into(), address: address.into(), values }
    }
}

/// A router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetalRouter {
    /// Its kernel.
    pub kernel: Kernel,
    /// Its Ethernet channel.
    pub channel: u8,
    /// The direction of its link.
    pub direction: String,
    /// Whether it is the router of its chip with which the host communicates.
    pub master: bool,
    /// Address of its `EDMStatus`.
    pub status: u64,
    /// Address of its `RouterState`.
    pub state: u64,
    /// Address of its `TerminationSignal`.
    pub termination: u64,
}

/// A mux.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetalMux {
    /// Its kernel.
    pub kernel: Kernel,
    /// Address of its `EDMStatus`.
    pub status: u64,
    /// Address of its `TerminationSignal`; none if it ends with its clients.
    pub termination: Option<u64>,
}

/// A worker that sends packets to a tile of another chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetalWorker {
    /// Its kernel.
    pub kernel: Kernel,
    /// Which of its arguments is the number of packets.
    pub packets_argument: usize,
    /// Address of the number of packets that it has sent.
    pub sent: u64,
    /// Where the packets go.
    pub delivery: Delivery,
}

/// Where a worker's packets go: packet n is written to slot n modulo `slots`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// The chip's number.
    pub chip: u16,
    /// The tile: x and y of NOC 0.
    pub tile: [u8; 2],
    /// Address of the first slot.
    pub address: u64,
    /// Number of slots.
    pub slots: u32,
    /// The payload; the worker replaces its first word by the packet's number.
    pub payload: Vec<u32>,
}

/// The version, which is read first: another version may have any other members.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

impl Document {
    /// Reads the document of a folder.
    ///
    /// # Errors
    /// The file and what is wrong with it, in one sentence.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join(DOCUMENT);
        let wrong = |why: String| format!("{}: {why}", path.display());
        if !folder.is_dir() {
            return Err(format!("{}: there is no such folder of kernels", folder.display()));
        }
        let bytes = files::read(&path, files::Kind::DESCRIPTOR).map_err(|e| wrong(e.reason()))?;
        let Version { schema } =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if schema != SCHEMA {
            return Err(wrong(format!("its schema is {schema}; this version reads {SCHEMA}")));
        }
        let document: Self =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        document.check().map_err(wrong)?;
        Ok(document)
    }

    /// Returns all kernels: routers, muxes, workers.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        let routers = self.routers.iter().map(|router| &router.kernel);
        let muxes = self.muxes.iter().map(|mux| &mux.kernel);
        routers.chain(muxes).chain(self.workers.iter().map(|worker| &worker.kernel))
    }

    /// Checks what the types do not.
    fn check(&self) -> Result<(), String> {
        if self.routers.is_empty() {
            return Err("it has no routers".to_owned());
        }
        for worker in &self.workers {
            let (name, arguments) = (&worker.kernel.name, worker.kernel.arguments.len());
            if worker.packets_argument >= arguments {
                let at = worker.packets_argument;
                return Err(format!("{name} has {arguments} arguments and none of number {at}"));
            }
        }
        let mut places: Vec<_> = self.kernels().map(|kernel| (kernel.place(), kernel)).collect();
        places.sort_by_key(|(place, _)| *place);
        let twice = places.windows(2).find_map(|pair| match pair {
            [(a, first), (b, second)] if a == b => Some((first, second)),
            _ => None,
        });
        twice.map_or(Ok(()), |(first, second)| {
            Err(format!("{} and {} run on the same tile", first.name, second.name))
        })
    }
}
