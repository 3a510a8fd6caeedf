//! Mesh graph descriptor: grids of chips, and how many links join them. It names no channels.

mod grids;
mod write;

pub use write::{MeshGraph, mesh_graph_of};

use crate::text::{Message, Text, wrong};
use grids::Grid;
use layouts::{
    ChipCoord, ChipId, ClusterDescriptor, DescribedBoard, DescribedChip, EthId, MOST_CHIPS,
    TextError,
};
use std::collections::BTreeSet;

/// Graphs in graphs. The largest public file nests 1.
const MOST_NESTED: usize = 8;

/// The instance of a mesh: its name and number in each graph from the top, and where its chips begin.
struct Instance {
    path: Vec<(String, u32)>,
    first: usize,
    grid: Grid,
}

struct Builder<'a> {
    text: &'a Text<'a>,
    instances: Vec<Instance>,
    /// How many instances of meshes and graphs were seen.
    nodes: usize,
    links: Vec<(EthId, EthId)>,
    /// The channels of each chip that are not linked.
    free: Vec<BTreeSet<u8>>,
}

pub(crate) fn mesh_graph(name: &str, text: &str) -> Result<ClusterDescriptor, TextError> {
    let text = Text::read("mesh_graph.MeshGraphDescriptor", text)?;
    let mut builder = Builder {
        text: &text,
        instances: Vec::new(),
        nodes: 0,
        links: Vec::new(),
        free: Vec::new(),
    };
    builder.check_arch()?;
    let top = text.message().one("top_level_instance");
    builder.node(top, &mut Vec::new())?;
    let shipped = grids::shipped(builder.instances.iter().map(|it| it.grid));
    let mut descriptor = shipped.unwrap_or_else(|| builder.describe());
    builder.pin(&mut descriptor)?;
    Ok(ClusterDescriptor { name: name.to_owned(), counted: true, ..descriptor })
}

impl Builder<'_> {
    fn file(&self) -> Message<'_> {
        self.text.message()
    }

    fn check_arch(&self) -> Result<(), TextError> {
        for (index, mesh) in self
            .file()
            .all("mesh_descriptors")
            .chain(self.file().all("switch_descriptors"))
            .enumerate()
        {
            let arch = mesh.named("arch");
            if arch != "WORMHOLE_B0" {
                let line = self.text.line("arch", 0, index);
                let what = format!(
                    "`arch` of mesh {} is {}, and only WORMHOLE_B0 is supported",
                    mesh.words("name"),
                    if arch.is_empty() { "missing" } else { &arch }
                );
                return Err(wrong(line, what));
            }
        }
        match self.file().all("switch_descriptors").next() {
            Some(_) => Err(wrong(
                self.text.line("switch_descriptors", 0, 0),
                "`switch_descriptors` are not supported",
            )),
            None => Ok(()),
        }
    }

    /// Adds the mesh or graph that a reference names.
    fn node(&mut self, node: Message<'_>, path: &mut Vec<(String, u32)>) -> Result<(), TextError> {
        if path.len() >= MOST_NESTED {
            return Err(wrong(0, format!("its graphs nest deeper than {MOST_NESTED}")));
        }
        self.nodes += 1;
        if self.nodes > MOST_CHIPS {
            return Err(wrong(0, format!("its graphs have more than {MOST_CHIPS} instances")));
        }
        let text = self.text;
        let named = |list: &str, name: &str| {
            let line = text.line(name, 0, 0);
            let found = text.message().all(list).find(|it| it.words("name") == name);
            found.ok_or_else(|| wrong(line, format!("no `{list}` entry is called `{name}`")))
        };
        let (mesh, graph) = (node.one("mesh"), node.one("graph"));
        if node.has("mesh") {
            let name = mesh.words("mesh_descriptor");
            let grid = self.grid(named("mesh_descriptors", name)?, name)?;
            path.push((name.to_owned(), mesh.number("mesh_id")));
            self.add(path.clone(), grid)?;
        } else if node.has("graph") {
            let name = graph.words("graph_descriptor");
            let of = named("graph_descriptors", name)?;
            path.push((name.to_owned(), graph.number("graph_id")));
            self.graph(of, path)?;
        } else {
            return Err(wrong(
                text.line("top_level_instance", 0, 0),
                "`top_level_instance` must name a mesh or a graph",
            ));
        }
        path.pop();
        Ok(())
    }

    /// Adds the meshes of a graph, and the links between them.
    fn graph(
        &mut self,
        graph: Message<'_>,
        path: &mut Vec<(String, u32)>,
    ) -> Result<(), TextError> {
        let members: Vec<_> = graph.all("instances").collect();
        for member in &members {
            self.node(*member, path)?;
        }
        for edge in graph.all("connections") {
            let nodes: Vec<_> = edge.all("nodes").collect();
            let [a, b] = nodes.as_slice() else {
                return Err(wrong(
                    self.text.line("connections", 0, 0),
                    "a connection needs two `nodes`",
                ));
            };
            self.join(*a, *b, edge.one("channels").number("count"), path)?;
        }
        let topology = graph.one("graph_topology");
        let count = topology.one("channels").number("count");
        let pairs = (0..members.len()).flat_map(|a| (a + 1..members.len()).map(move |b| (a, b)));
        let ring = |(a, b): &(usize, usize)| *b == a + 1 || (*a == 0 && *b == members.len() - 1);
        let kind = topology.named("layout_type");
        let pairs: Vec<_> =
            pairs.filter(|pair| kind == "ALL_TO_ALL" || (kind == "RING" && ring(pair))).collect();
        pairs.into_iter().try_for_each(|(a, b)| self.join(members[a], members[b], count, path))
    }

    /// Reads a mesh's own fields.
    fn grid(&self, mesh: Message<'_>, name: &str) -> Result<Grid, TextError> {
        let line = self.text.line(name, 0, 0);
        let topology = mesh.one("device_topology");
        let dims = |of: Message<'_>, field: &str| {
            let dims = of.numbers("dims");
            let sizes = dims
                .iter()
                .map(|dim| usize::try_from(*dim).ok().filter(|dim| (1..=MOST_CHIPS).contains(dim)));
            match sizes.collect::<Vec<_>>().as_slice() {
                [Some(rows), Some(columns)] => Ok([*rows, *columns]),
                _ => Err(wrong(
                    line,
                    format!(
                        "`{field}` of mesh {name} must have 2 `dims` from 1 to {MOST_CHIPS}, and has {dims:?}"
                    ),
                )),
            }
        };
        let types = topology.numbers("dim_types");
        // 2 is RING, and a missing one is LINE. Two chips in a row have no ends to join.
        let size = dims(topology, "device_topology")?;
        let rings = [0, 1].map(|at| types.get(at) == Some(&2) && size[at] > 2);
        let links = mesh.one("channels").number("count") as usize;
        if !(1..=4).contains(&links) {
            return Err(wrong(
                line,
                format!(
                    "`channels` of mesh {name} must count 1 to 4 links: a chip has 16 channels, for 4 neighbours"
                ),
            ));
        }
        let hosts = if mesh.has("host_topology") {
            dims(mesh.one("host_topology"), "host_topology")?
        } else {
            [1, 1]
        };
        if [0, 1].iter().any(|at| size[*at] % hosts[*at] != 0) {
            return Err(wrong(
                line,
                format!("`host_topology` of mesh {name} does not divide its `device_topology`"),
            ));
        }
        Ok(Grid { dims: size, rings, links, hosts })
    }

    fn add(&mut self, path: Vec<(String, u32)>, grid: Grid) -> Result<(), TextError> {
        let [rows, columns] = grid.dims;
        let first = self.free.len();
        if first + rows * columns > MOST_CHIPS || self.instances.len() >= usize::from(u8::MAX) {
            return Err(wrong(0, format!("it describes more than {MOST_CHIPS} chips")));
        }
        self.free.resize(first + rows * columns, (0..16).collect());
        let at = |row: usize, column: usize| first + (row % rows) * columns + column % columns;
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            // Channels of the sides as on a Galaxy's tray.
            if column + 1 < columns || grid.rings[1] {
                self.side(at(row, column), 8, at(row, column + 1), 4, grid.links);
            }
            if row + 1 < rows || grid.rings[0] {
                self.side(at(row, column), 12, at(row + 1, column), 0, grid.links);
            }
        }
        self.instances.push(Instance { path, first, grid });
        Ok(())
    }

    fn side(&mut self, a: usize, near: u8, b: usize, far: u8, links: usize) {
        for lane in 0..links as u8 {
            self.link((a, near + lane), (b, far + lane));
        }
    }

    fn link(&mut self, a: (usize, u8), b: (usize, u8)) {
        for (chip, channel) in [a, b] {
            self.free[chip].remove(&channel);
        }
        let [a, b] = [a, b].map(|(chip, channel)| EthId { chip: ChipId(chip as u16), channel });
        self.links.push((a.min(b), a.max(b)));
    }

    /// Joins two nodes of a graph by links of chips that have free channels, in turn.
    fn join(
        &mut self,
        a: Message<'_>,
        b: Message<'_>,
        count: u32,
        path: &[(String, u32)],
    ) -> Result<(), TextError> {
        let [near, far] = [self.chips(a, path)?, self.chips(b, path)?];
        let line = self.text.line("connections", 0, 0);
        for _ in 0..count {
            let most_free = |chips: &[usize], free: &[BTreeSet<u8>]| {
                let chip = chips
                    .iter()
                    .copied()
                    .max_by_key(|chip| (free[*chip].len(), usize::MAX - chip))?;
                Some((chip, *free[chip].first()?))
            };
            let ends = most_free(&near, &self.free).zip(most_free(&far, &self.free));
            let (a, b) = ends.ok_or_else(|| {
                wrong(line, "a connection between meshes needs more channels than their chips have")
            })?;
            self.link(a, b);
        }
        Ok(())
    }

    /// Returns the chips of a node in a graph.
    fn chips(&self, node: Message<'_>, path: &[(String, u32)]) -> Result<Vec<usize>, TextError> {
        let mut path = path.to_vec();
        let mut node = node;
        while node.has("graph") {
            let graph = node.one("graph");
            path.push((graph.words("graph_descriptor").to_owned(), graph.number("graph_id")));
            node = graph.one("sub_ref");
        }
        let mesh = node.one("mesh");
        if node.has("mesh") {
            path.push((mesh.words("mesh_descriptor").to_owned(), mesh.number("mesh_id")));
        }
        let of = self.instances.iter().filter(|it| it.path.starts_with(&path));
        let chips = of.flat_map(|it| it.first..it.first + it.grid.dims[0] * it.grid.dims[1]);
        let mut chips: Vec<_> = chips.collect();
        if mesh.has("device_id") {
            chips = chips.get(mesh.number("device_id") as usize).copied().into_iter().collect();
        }
        if chips.is_empty() {
            let (name, number) = path.last().cloned().unwrap_or_default();
            let line = self.text.line("connections", 0, 0);
            return Err(wrong(
                line,
                format!(
                    "a connection names {name} number {number}, which is not among the `instances`"
                ),
            ));
        }
        Ok(chips)
    }

    /// Notes at which trays and locations chips are to stand.
    fn pin(&self, descriptor: &mut ClusterDescriptor) -> Result<(), TextError> {
        let rows = grids::rows(descriptor, self.instances.iter().map(|it| it.grid));
        let rows = rows.map_err(|what| wrong(0, what))?;
        for (index, pin) in self.file().all("pinnings").enumerate() {
            let line = self.text.line("pinnings", 0, index);
            // Those of other boards say nothing about Wormhole.
            if pin.named("board_revision").starts_with("BH") {
                continue;
            }
            let places = pin.all("physical_asic_position");
            let places = places.map(|it| numbers(it, ["tray_id", "asic_location"], line));
            let places = places.collect::<Result<Vec<_>, _>>()?;
            for node in pin.all("logical_fabric_node_id") {
                let [mesh, chip] = numbers(node, ["mesh_id", "chip_id"], line)?;
                let is = |it: &Instance| it.path.last().is_some_and(|last| last.1 == mesh);
                let of = self.instances.iter().zip(&rows).filter(|(instance, _)| is(instance));
                let of: Vec<_> = of.filter_map(|(_, chips)| chips.get(chip as usize)).collect();
                let [id] = of.as_slice() else {
                    let what = format!(
                        "`pinnings` names chip {chip} of mesh {mesh}, and there are {}",
                        of.len()
                    );
                    return Err(wrong(line, what));
                };
                let Some(pinned) = descriptor.chips.get_mut(usize::from(id.0)) else { continue };
                if !pinned.pinned.is_empty() {
                    let what = format!("`pinnings` names chip {chip} of mesh {mesh} twice");
                    return Err(wrong(line, what));
                }
                pinned.pinned.clone_from(&places);
            }
        }
        Ok(())
    }

    fn describe(&self) -> ClusterDescriptor {
        let mut descriptor =
            ClusterDescriptor { links: self.links.clone(), ..ClusterDescriptor::default() };
        for (shelf, it) in (0..).zip(&self.instances) {
            let [rows, columns] = it.grid.dims;
            let before = descriptor.hosts.len();
            let [host_rows, host_columns] = it.grid.hosts;
            let hosts =
                (before..before + host_rows * host_columns).map(|host| format!("host{host}"));
            descriptor.hosts.extend(hosts);
            for index in 0..rows * columns {
                let (row, column) = (index / columns, index % columns);
                let id = (it.first + index) as u16;
                let host = before
                    + row * host_rows / rows * host_columns
                    + column * host_columns / columns;
                descriptor.chips.push(DescribedChip {
                    id: ChipId(id),
                    coord: Some(ChipCoord { x: column as u8, y: row as u8, rack: 0, shelf }),
                    // As cards' firmware has it: 2 and the location, then the board.
                    unique_id: Some(3 << 32 | (0x100 + u64::from(id))),
                    pcie: Some(id.into()),
                    board: Some(DescribedBoard { id: None, kind: Some("ubb".into()) }),
                    asic_location: Some(1),
                    host: host as u16,
                    ..DescribedChip::blank(id.into())
                });
            }
        }
        descriptor.links.sort_unstable();
        descriptor
    }
}

/// Returns two numbers of a part of a pinning.
fn numbers(of: Message<'_>, fields: [&str; 2], line: u64) -> Result<[u32; 2], TextError> {
    let missing = fields.iter().find(|field| !of.has(field));
    let what = |field| format!("`pinnings` needs `{field}` as a number");
    missing.map_or(Ok(fields.map(|field| of.number(field))), |field| Err(wrong(line, what(field))))
}
