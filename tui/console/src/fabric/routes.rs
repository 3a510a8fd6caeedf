//! Routing tables, and the paths of packets by them.

use crate::locate::{self, NamedPlace};
use crate::table::Columns;
use decode::state::{FabricRoute, MeshState, RouteEnd, TablesState};
use layouts::ChipId;
use machine::fabric::{Entry, FabricNode};
use std::fmt::Write as _;
use std::str::FromStr;

/// Maximum number of devices in a line.
const MOST_IN_A_LINE: usize = 8;

/// The source or destination of a packet, as a user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// The node of this chip.
    Chip(ChipId),
    /// A node of the fabric.
    Node(FabricNode),
}

impl FromStr for Addressee {
    type Err = String;

    /// A chip by its number, or a node of the fabric as `M0D3`.
    fn from_str(words: &str) -> Result<Self, String> {
        if words.starts_with(['M', 'm']) {
            return words.parse().map(Self::Node);
        }
        match locate::place(words) {
            Ok(NamedPlace::Chip(chip)) => Ok(Self::Chip(chip)),
            _ => Err(format!("'{words}' is not a chip, such as 7, nor a node, such as M0D3")),
        }
    }
}

impl Addressee {
    /// The chip of this node.
    ///
    /// # Errors
    /// When no router of that node runs.
    pub fn chip(self, state: &MeshState) -> Result<ChipId, String> {
        let node = match self {
            Self::Chip(chip) => return Ok(chip),
            Self::Node(node) => node,
        };
        let mut routers = state.fabric.routers.iter();
        let there = routers.find(|router| router.facts.node.known() == Some(&node));
        there.map(|it| it.at.chip).ok_or_else(|| format!("no router runs of node {node}"))
    }

    /// The node of this chip.
    ///
    /// # Errors
    /// When no router of a fabric runs on that chip.
    pub fn node(self, state: &MeshState) -> Result<FabricNode, String> {
        let chip = match self {
            Self::Node(node) => return Ok(node),
            Self::Chip(chip) => chip,
        };
        let mut there = state.fabric.routers.iter().filter(|router| router.at.chip == chip);
        let node = there.find_map(|router| router.facts.node.known()).copied();
        node.ok_or_else(|| format!("no router of a fabric runs on chip {chip}"))
    }
}

/// Groups adjacent tables that are alike on a chip.
pub fn groups(tables: &[TablesState]) -> Vec<&[TablesState]> {
    tables.chunk_by(|a, b| a.at.chip == b.at.chip && a.tables == b.tables).collect()
}

/// The chip of the tables, and its routers that hold them.
pub fn tables_title(group: &[TablesState]) -> String {
    let Some(TablesState { at, place, shape, tables }) = group.first() else {
        return String::new();
    };
    let copies: Vec<_> = group.iter().map(|tables| format!("e{}", tables.at.channel)).collect();
    format!(
        "chip {}  {}  row {} column {} of {} x {}  in {}",
        at.chip,
        tables.node,
        place.0,
        place.1,
        shape.0,
        shape.1,
        copies.join(" ")
    )
}

/// L0 in the shape of the mesh, and L1 if there are other meshes.
pub fn tables_text(state: &MeshState, TablesState { shape, tables, .. }: &TablesState) -> String {
    let device = |(device, next): (usize, &Entry)| {
        let node = FabricNode { mesh: tables.node.mesh, device: device as u16 };
        format!("D{device} {} {}", chip_of(state, node), entry(*next))
    };
    let cells: Vec<_> = tables.intra_mesh.iter().enumerate().map(device).collect();
    let in_a_line = usize::try_from(shape.1).unwrap_or(MOST_IN_A_LINE).clamp(1, MOST_IN_A_LINE);
    let mut lines = cells.chunks(in_a_line);
    let first: Vec<&str> = lines.next().unwrap_or_default().iter().map(String::as_str).collect();
    let mut l0 = Columns::new(&first);
    lines.for_each(|line| l0.row(line.to_vec()));
    let mut text = format!(
        "L0: each device, its chip, and the direction to it: E W N S, o here, - nowhere\n{}",
        l0.text()
    );
    if tables.inter_mesh.iter().any(|next| matches!(next, Entry::To(_))) {
        let mut l1 = Columns::new(&["L1 MESH", "NEXT", "EXIT DEVICE"]);
        for (mesh, next) in tables.inter_mesh.iter().enumerate() {
            let exit = tables.exit_nodes.get(mesh).copied().flatten();
            let exit = exit.map_or("-".to_owned(), |device| format!("D{device}"));
            l1.row(vec![format!("M{mesh}"), entry(*next).to_owned(), exit]);
        }
        text += &l1.text();
    }
    text
}

/// The chip of a node.
pub fn chip_of(state: &MeshState, node: FabricNode) -> String {
    Addressee::Node(node).chip(state).map_or("-".to_owned(), |chip| chip.to_string())
}

/// A direction by its first letter.
fn entry(entry: Entry) -> &'static str {
    match entry {
        Entry::To(direction) => direction.name().get(..1).unwrap_or_default(),
        Entry::Here => "o",
        Entry::Absent => "-",
    }
}

/// The path in each plane, link after link, and where it ends.
pub fn routes_text(routes: &[FabricRoute]) -> String {
    let heads: Vec<_> = (0..routes.len()).map(|plane| format!("PLANE {plane}")).collect();
    let heads = std::iter::once("HOP").chain(heads.iter().map(String::as_str));
    let mut table = Columns::new(&heads.collect::<Vec<_>>());
    let longest = routes.iter().map(|route| route.hops.len()).max().unwrap_or(0);
    for hop in 0..longest {
        let link = |route: &FabricRoute| {
            route.hops.get(hop).map_or_else(String::new, |hop| {
                let second = if hop.virtual_channel == 1 { " VC 1" } else { "" };
                format!("{} {} -> {}{second}", hop.direction.name(), hop.out, hop.into)
            })
        };
        let number = (hop + 1).to_string();
        table.row(std::iter::once(number).chain(routes.iter().map(link)).collect());
    }
    let mut text = if longest > 0 { table.text() } else { String::new() };
    for (plane, route) in routes.iter().enumerate() {
        let hops = match route.hops.len() {
            0 => String::new(),
            1 => " after 1 hop".to_owned(),
            n => format!(" after {n} hops"),
        };
        let _ = writeln!(text, "plane {plane}: {}{hops}", end(route.end));
    }
    text
}

/// Where a route ends, in words.
pub(super) fn end(end: RouteEnd) -> String {
    match end {
        RouteEnd::Arrived => "arrived".to_owned(),
        RouteEnd::NoEntry(at) => format!("dropped: the tables of {at} have no entry for it"),
        RouteEnd::NoRouter(at, direction) => {
            format!("dropped: the plane of {at} has no router towards {direction}")
        }
        RouteEnd::Loop(at) => {
            format!("loops: it returns to {at} until its time to live is 0")
        }
        RouteEnd::Unread(at) => format!("unknown: {at} was not read"),
    }
}
