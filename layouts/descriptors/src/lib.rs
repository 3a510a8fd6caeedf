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
mod ranks;
mod system;
mod text;

pub use factory::DeployedHost;
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
    (Kind::Other("a node descriptor"), &["port_type_connections", "boards {", "motherboard"]),
    (Kind::Other("a table of port descriptors"), &["mesh_port_descriptors"]),
    (Kind::Other("a map of router port directions"), &["fabric_node_maps", "local_mesh_id"]),
    (Kind::Other("a list of faulty links"), &["faulty_links"]),
    (Kind::Other("a report of Ethernet link metrics"), &["link_metrics"]),
];

fn kind(text: &str) -> Option<Kind> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let has = |field: &str| {
        let mut rest = text.lines().filter_map(|line| line.trim_start().strip_prefix(field));
        rest.any(|rest| !rest.starts_with(word) && rest.trim_start().starts_with([':', '{', '<']))
    };
    Some(KINDS.iter().find(|(_, fields)| fields.iter().any(|field| has(field)))?.0)
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
    described.map_err(|TextError { line, what }| DescriptorError {
        name: name.to_owned(),
        problems: vec![DescriptorProblem { line, what }],
    })
}

/// Names the hosts of a mesh as a deployment has them, in its order, and says where they stand.
///
/// # Errors
/// The deployment has fewer hosts.
pub fn deploy(mesh: &mut ClusterDescriptor, hosts: &[DeployedHost]) -> Result<(), String> {
    let (wanted, given) = (mesh.hosts.len(), hosts.len());
    if wanted > given {
        return Err(format!("{} has {wanted} hosts, and the deployment has {given}", mesh.name));
    }
    for (name, host) in mesh.hosts.iter_mut().zip(hosts) {
        name.clone_from(&host.name);
    }
    for chip in &mut mesh.chips {
        let host = hosts.get(usize::from(chip.host));
        if let (Some(seat), Some(host)) = (&mut chip.seat, host) {
            seat.host.clone_from(&host.name);
            seat.stand = Some(host.stand.clone());
        }
    }
    Ok(())
}
