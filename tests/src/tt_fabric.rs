//! Builds the kernels of a fabric out of tt-metal's own sources, for a mesh, into a folder that
//! `emulator:<mesh>,run=tt-fabric,kernels=<folder>` brings up. `tests/tt-fabric.md` describes it.
//!
//! A router is compiled for its direction, channel and neighbours: what tt-metal's host computes
//! for it is computed here, by the plan of the `fabric` crate.

mod arguments;
mod clients;
mod compile;
mod l1;
mod manifest;
mod mux;
mod mux_v2;
mod router;
mod sources;
mod tables;
mod tensix;

use clients::Clients;
use fabric::{FabricPlan, FabricRequest};
use layouts::{ClusterDescriptor, NocXy};
use machine::fabric::FabricTopology;
use machine::place::Place;
use machine::target::Mesh;
use router::Routers;
use sources::Sources;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use workloads::scene::Scene;
use workloads::scene::tt_fabric::{DOCUMENT, Document, MetalMesh, SCHEMA};

pub use clients::Route;
pub use compile::Compiled;

/// A folder of the wheel's firmware; kernels of all of them have the same addresses.
const FIRMWARE: &str = "tt_metal/pre-compiled/1003041148146844629";

/// The link to that folder in the result.
const FIRMWARE_LINK: &str = "firmware";

/// What tt-metal's host chooses by the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Whether the router of every link yields to base firmware often, as that of a link which
    /// dispatch uses: hosts then reach far chips faster.
    pub every_link_yields: bool,
    /// Whether credits are counted in L1 instead of by streams, as with several transmit queues.
    pub counter_credits: bool,
    /// Whether receivers acknowledge packets before they forward them, as in rings.
    pub first_level_ack: bool,
}

/// The fabric to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The mesh, as `emulator:` names it.
    pub mesh: String,
    /// [`FabricTopology::Line`] or [`FabricTopology::Mesh`].
    pub topology: FabricTopology,
    /// How the workers' packets reach the routers.
    pub route: Route,
    /// What tt-metal's host chooses by the machine.
    pub settings: Settings,
    /// The folder of the unpacked wheel.
    pub wheel: PathBuf,
    /// The folder of the result.
    pub folder: PathBuf,
    /// The folder of what was compiled, which fabrics may share.
    pub compiled: PathBuf,
}

/// Why a fabric cannot be built.
#[derive(Debug)]
pub struct BuildError(String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

impl BuildError {
    fn new(why: impl fmt::Display) -> Self {
        Self(why.to_string())
    }

    fn at(path: &Path, why: impl fmt::Display) -> Self {
        Self(format!("{}: {why}", path.display()))
    }
}

/// Compiles what has changed, and writes the document. A build with the same folder of what was
/// compiled waits.
///
/// # Errors
/// What is missing or wrong, with the compiler's first errors.
pub fn build(request: &Request) -> Result<Compiled, BuildError> {
    let ttnn = request.wheel.join("ttnn");
    let sources = Sources::read(&ttnn)?;
    let descriptor = Scene::new(&request.mesh).descriptor().map_err(BuildError::new)?;
    let mesh = Mesh::from_descriptor(&descriptor);
    if !matches!(request.topology, FabricTopology::Line | FabricTopology::Mesh) {
        let topology = request.topology;
        return Err(BuildError(format!("{topology}: only line and mesh are built")));
    }
    let request_of_plan =
        FabricRequest { with_dispatch_links: true, ..FabricRequest::new(request.topology) };
    let plan = FabricPlan::new(&mesh, &request_of_plan);
    let plan = plan.map_err(BuildError::new)?;
    let fabric = Fabric { plan, mesh, descriptor };
    let routers = Routers::new(&fabric, &sources, request.settings)?;
    let mut builds = Vec::new();
    let router_words = routers.all(&mut builds)?;
    let clients = Clients { fabric: &fabric, route: request.route, routers: &routers };
    let (muxes, workers) = clients.all(&mut builds)?;
    let firmware = ttnn.join(FIRMWARE);
    let folder = &request.folder;
    let _lock =
        locked(&request.compiled).map_err(|error| BuildError::at(&request.compiled, error))?;
    let compiled = compile::all(&builds, &ttnn, &firmware, &sources, request)?;
    link(&firmware, &folder.join(FIRMWARE_LINK))?;
    write(
        &folder.join(manifest::FILE),
        serde_json::to_string_pretty(&manifest::manifest(&routers)?),
    )?;
    let document = Document {
        schema: SCHEMA,
        mesh: MetalMesh::new(&request.mesh, &fabric.mesh),
        topology: request.topology.to_string(),
        firmware: FIRMWARE_LINK.into(),
        routers: router_words,
        muxes,
        workers,
    };
    write(&folder.join(DOCUMENT), serde_json::to_string_pretty(&document))?;
    Ok(compiled)
}

/// Locks a folder; the lock ends with the file.
fn locked(folder: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let file = fs::File::options().create(true).append(true).open(folder.join("lock"))?;
    file.lock().map(|()| file)
}

/// Writes JSON.
fn write(path: &Path, text: serde_json::Result<String>) -> Result<(), BuildError> {
    place(path, (text.map_err(BuildError::new)? + "\n").as_bytes())
}

/// Writes a file that differs; who reads the older one meanwhile reads all of it.
fn place(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let new = path.with_extension("new");
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    let placed = made.and_then(|()| fs::write(&new, bytes)).and_then(|()| fs::rename(&new, path));
    placed.map_err(|error| BuildError::at(path, error))
}

/// Makes a symbolic link to a folder, so that the ELFs of firmware are found with those of kernels.
fn link(to: &Path, at: &Path) -> Result<(), BuildError> {
    let linked = std::path::absolute(to).and_then(|to| {
        if fs::read_link(at).is_ok_and(|there| there == to) {
            return Ok(());
        }
        let _ = fs::remove_file(at);
        std::os::unix::fs::symlink(to, at)
    });
    linked.map_err(|error| BuildError::at(at, error))
}

/// The planned fabric and the mesh.
struct Fabric {
    plan: FabricPlan,
    mesh: Mesh,
    descriptor: ClusterDescriptor,
}

impl Fabric {
    /// Returns the coordinates of a tile as kernels use them.
    fn xy(&self, place: Place) -> Result<[u8; 2], BuildError> {
        let chip = self.descriptor.chip(place.chip);
        let chip = chip.ok_or_else(|| BuildError(format!("there is no chip {}", place.chip)))?;
        if !chip.noc_translation {
            return Ok([place.tile.x, place.tile.y]);
        }
        let tiles = &self.plan.layout().tiles;
        let (x, y) = (tiles.translation.first_x, tiles.translation.first_y);
        let mut all = (y..y + tiles.rows).flat_map(|y| (x..x + tiles.columns).map(move |x| [x, y]));
        let stands =
            |[x, y]: [u8; 2]| tiles.untranslated(x, y, &chip.harvested_rows) == Some(place.tile);
        let found = all.find(|&xy| stands(xy));
        found.ok_or_else(|| BuildError(format!("{place} has no coordinates")))
    }

    /// Returns a compute tile of a chip, by its number.
    fn compute_tile(&self, chip: layouts::ChipId, number: usize) -> Result<Place, BuildError> {
        let none = || BuildError(format!("chip {chip} has no compute tile {number}"));
        self.mesh.compute_tiles(chip).nth(number).ok_or_else(none)
    }
}

/// Returns a tile as the document has it.
fn tile(xy: NocXy) -> [u8; 2] {
    [xy.x, xy.y]
}
