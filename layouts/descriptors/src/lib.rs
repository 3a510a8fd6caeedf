//! tt-metal's descriptors of meshes, systems and halls, read as cluster descriptors.
//!
//! [`read`] tells the kinds apart by their fields and answers with a [`Descriptor`]: a mesh (of UMD's cluster descriptor, a
//! mesh graph, a factory, cabling, physical or global system descriptor), the hosts of a deployment, or rank bindings. The
//! message descriptions in `proto` are our own; the parser of the text format is prost-reflect's.
//!
//! ```
//! use descriptors::{Descriptor, read};
//!
//! let text = r#"
//!     mesh_descriptors {
//!         name: "M0" arch: WORMHOLE_B0
//!         device_topology { dims: [ 2, 4 ] }
//!         channels { count: 2 }
//!     }
//!     top_level_instance { mesh { mesh_descriptor: "M0" mesh_id: 0 } }
//! "#;
//! let Ok(Descriptor::Mesh(mesh)) = read("t3k.textproto", text) else { unreachable!() };
//! assert_eq!((mesh.chips.len(), mesh.links.len()), (8, 20));
//! ```

mod boards;
mod cabling;
mod factory;
mod mesh_graph;
mod physical;
mod place;
mod ranks;
mod system;
mod text;

pub use factory::DeployedHost;
pub use mesh_graph::{MeshGraph, mesh_graph_of};
pub use place::place;
pub use ranks::{RankBinding, RankBindings};

use layouts::{ClusterDescriptor, DescriptorError, DescriptorProblem, TextError};

/// What a file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// A mesh of chips and links.
    Mesh(ClusterDescriptor),
    /// Hosts and where they stand, without what they hold.
    Hosts(Vec<DeployedHost>),
    /// The ranks of a run, and the name of its mesh.
    Ranks(RankBindings),
}

#[derive(Clone, Copy)]
enum Kind {
    MeshGraph,
    Factory,
    Cabling,
    Physical,
    Deployment,
    Global,
    Ranks,
    /// A kind that is refused by this name.
    Other(&'static str),
}

/// Kinds of files, with top-level fields of which no kind above it has one.
const KINDS: [(Kind, &[&str]); 13] = [
    (
        Kind::MeshGraph,
        &["mesh_descriptors", "switch_descriptors", "graph_descriptors", "top_level_instance"],
    ),
    (Kind::Factory, &["eth_connections", "board_types"]),
    (Kind::Cabling, &["node_descriptors", "graph_templates", "root_instance"]),
    (Kind::Physical, &["system_graph", "asic_descriptors"]),
    (Kind::Global, &["compute_node_specs"]),
    (Kind::Ranks, &["rank_bindings"]),
    (Kind::Deployment, &["hosts", "rack_capacity"]),
    (Kind::Other("a physical grouping descriptor"), &["groupings"]),
    (Kind::Other("a node descriptor"), &["port_type_connections"]),
    (Kind::Other("a table of port descriptors"), &["mesh_port_descriptors"]),
    (Kind::Other("a map of router port directions"), &["fabric_node_maps", "local_mesh_id"]),
    (Kind::Other("a list of faulty links"), &["faulty_links"]),
    (Kind::Other("a report of Ethernet link metrics"), &["link_metrics"]),
];

/// Whether the fields are those of a kind of tt-metal's own.
pub fn has_kind(text: &str) -> bool {
    kind(text).is_some()
}

fn kind(text: &str) -> Option<Kind> {
    let fields = text::top_fields(text);
    let is = |(_, own): &&(Kind, &[&str])| own.iter().any(|field| fields.contains(field));
    Some(KINDS.iter().find(is)?.0)
}

/// Reads a descriptor of any kind. Messages call it `name`: for a file, its path.
///
/// # Errors
/// What is wrong, with its line, and for a kind that is not read its name.
pub fn read(name: &str, text: &str) -> Result<Descriptor, DescriptorError> {
    let described = match kind(text) {
        None => return ClusterDescriptor::parse(name, text).map(Descriptor::Mesh),
        Some(Kind::MeshGraph) => mesh_graph::mesh_graph(name, text).map(Descriptor::Mesh),
        Some(Kind::Factory) => factory::factory(name, text).map(Descriptor::Mesh),
        Some(Kind::Cabling) => cabling::cabling(name, text).map(Descriptor::Mesh),
        Some(Kind::Physical) => physical::physical(name, text).map(Descriptor::Mesh),
        Some(Kind::Global) => physical::global(name, text).map(Descriptor::Mesh),
        Some(Kind::Deployment) => factory::deployment(text).map(Descriptor::Hosts),
        Some(Kind::Ranks) => ranks::bindings(text).map(Descriptor::Ranks),
        Some(Kind::Other(kind)) => {
            Err(text::wrong(0, format!("this is {kind} of tt-metal, which is not read")))
        }
    };
    described.map_err(|error| in_file(name, error))
}

fn in_file(name: &str, TextError { line, what }: TextError) -> DescriptorError {
    DescriptorError { name: name.to_owned(), problems: vec![DescriptorProblem { line, what }] }
}

/// Returns the hosts of OpenMPI's hostfile (`anna slots=4`) in its order, or of its rankfile
/// (`rank 0=anna slot=0`) in the order of ranks, each once. The rankfile must place all ranks of the
/// bindings, if there are any. Messages call the file `name`.
///
/// # Errors
/// The line that is neither, and what is missing.
pub fn hosts(
    name: &str,
    text: &str,
    bindings: Option<&RankBindings>,
) -> Result<Vec<String>, DescriptorError> {
    ranks::hosts(text, bindings).map_err(|error| in_file(name, error))
}

/// Says where the hosts of a mesh stand. A host of a deployment is known by its name; of a cabling
/// descriptor, which has no names, by its number.
///
/// # Errors
/// The deployment lacks a host.
pub fn deploy(mesh: &mut ClusterDescriptor, hosts: &[DeployedHost]) -> Result<(), String> {
    let mut of = Vec::new();
    for (index, name) in mesh.hosts.iter().enumerate() {
        let named = hosts.iter().find(|host| host.name == *name);
        let numbered = hosts.get(index).filter(|_| *name == format!("host{index}"));
        let lacks =
            || format!("the deployment of {} hosts has no {name} of {}", hosts.len(), mesh.name);
        of.push(named.or(numbered).ok_or_else(lacks)?);
    }
    for (name, host) in mesh.hosts.iter_mut().zip(&of) {
        name.clone_from(&host.name);
    }
    for chip in &mut mesh.chips {
        if let (Some(seat), Some(host)) = (&mut chip.seat, of.get(usize::from(chip.host))) {
            seat.host.clone_from(&host.name);
            seat.stand = Some(host.stand.clone());
        }
    }
    Ok(())
}
