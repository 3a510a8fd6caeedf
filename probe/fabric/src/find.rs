//! Finds the fabric that runs on a mesh, by the words of its routers: another process can have
//! started it.

use super::words::{ROUTER_IMAGES, RouterImage, router_image};
use super::{FabricMesh, FabricPlan, Router};
use images::{ImageMap, Member};
use launch::records::bytes_read;
use launch::{ControlError, Firmware, running};
use layouts::{ChipId, ChipKind, EthId};
use machine::fabric::{Direction, FabricNode, FabricTopology};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::collections::BTreeMap;

/// Finds the fabric whose routers run on a mesh, if one does. Nothing is written.
///
/// # Errors
/// When no tile can be read, an image lacks a member, or the running routers are not one fabric. Of
/// chips that do not answer the routers are left out ([`FabricPlan::missing`]).
pub fn running_fabric(
    target: &mut dyn Target,
    images: &ImageMap,
) -> Result<Option<FabricPlan>, ControlError> {
    let ends = target.mesh().links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
    let mut ends: BTreeMap<EthId, EthId> = ends.collect();
    for (topology, exits_apart) in ROUTER_IMAGES {
        let image = router_image(topology, exits_apart);
        if images.named(image).is_none() {
            continue;
        }
        let found = loop {
            let places = ends.keys().map(|&eth| target.mesh().place(eth));
            let places = places.collect::<Result<_, _>>()?;
            let firmware = Firmware::BUILT_IN.application;
            match running(target, images, firmware, image, places) {
                Err(ControlError::Access { addr, reason }) => {
                    ends.retain(|eth, _| eth.chip != addr.chip);
                    if ends.is_empty() {
                        return Err(ControlError::Access { addr, reason });
                    }
                }
                found => break found?,
            }
        };
        if found.is_empty() {
            continue;
        }
        let words = RouterSpans::of(RouterImage::of(images, image)?)?;
        let mut routers = Vec::new();
        for (&eth, &peer) in &ends {
            let place = target.mesh().place(eth)?;
            if found.contains(&place) {
                routers.push(words.read(target, eth, peer, place)?);
            }
        }
        let plan = complete_plan(target.mesh().kind, topology, routers)?;
        return Ok(Some(FabricPlan { exits_apart, ..plan }));
    }
    Ok(None)
}

/// A router, with its place and its mesh's shape from its tables.
struct RouterNode {
    router: Router,
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

struct RouterSpans {
    args: u64,
    args_bytes: u64,
    tables: u64,
    tables_bytes: u64,
    image: RouterImage,
}

impl RouterSpans {
    fn of(image: RouterImage) -> Result<Self, ControlError> {
        Ok(Self {
            args: image.state("args")?,
            args_bytes: image.size("fabric_router_args_t")?,
            tables: image.constant("routing_info_addr")?.into(),
            tables_bytes: image.size("routing_l1_info_t")?,
            image,
        })
    }

    fn read(
        &self,
        target: &mut dyn Target,
        eth: EthId,
        peer: EthId,
        place: Place,
    ) -> Result<RouterNode, ControlError> {
        let args = Span { addr: place.at(self.args), len: self.args_bytes as u32 };
        let tables = Span { addr: place.at(self.tables), len: self.tables_bytes as u32 };
        let snapshot = target.read(&Plan { spans: vec![args, tables] });
        let (args, tables) = (bytes_read(&snapshot, args)?, bytes_read(&snapshot, tables)?);
        let value = |ty: &str, member: &str, bytes: &[u8]| {
            let (at, size) = self.image.field(&format!("{ty}.{member}"))?;
            let bytes = bytes.get(at as usize..(at + size.min(4)) as usize);
            Ok::<_, ControlError>(
                Member::value(bytes.ok_or_else(|| self.image.missing(member))?) as u32
            )
        };
        let arg = |member| value("fabric_router_args_t", member, args);
        let table = |member| value("routing_l1_info_t", member, tables);
        let route = arg("my_direction")?;
        let direction = Direction::ALL.into_iter();
        let direction = direction.map(|route| Ok((self.image.constant(route.name())?, route)));
        let direction: Vec<(u32, Direction)> = direction.collect::<Result<_, ControlError>>()?;
        let direction = direction.into_iter().find_map(|(code, it)| (code == route).then_some(it));
        let unknown =
            || ControlError::Settings(format!("the router of {eth} has unknown direction {route}"));
        let node =
            FabricNode { mesh: table("my_mesh_id")? as u16, device: table("my_device_id")? as u16 };
        let neighbor = FabricNode {
            mesh: arg("neighbor_mesh_id")? as u16,
            device: arg("neighbor_device_id")? as u16,
        };
        let router = Router {
            eth,
            place,
            node,
            direction: direction.ok_or_else(unknown)?,
            plane: 0,
            peer,
            peer_place: target.mesh().place(peer)?,
            neighbor,
            dateline: arg("dateline")? != 0,
            inter_mesh: arg("inter_mesh")? != 0,
            master: arg("is_local_master")? != 0,
        };
        Ok(RouterNode {
            router,
            row: table("my_row")? as usize,
            column: table("my_column")? as usize,
            rows: table("mesh_rows")? as usize,
            columns: table("mesh_columns")? as usize,
        })
    }
}

/// Makes the plan of the fabric that these routers form.
fn complete_plan(
    chip_kind: ChipKind,
    topology: FabricTopology,
    nodes: Vec<RouterNode>,
) -> Result<FabricPlan, ControlError> {
    let broken =
        |why: String| Err(ControlError::Settings(format!("the fabric is incomplete: {why}")));
    let mut meshes: BTreeMap<u16, (FabricMesh, BTreeMap<u16, ChipId>)> = BTreeMap::new();
    for node in &nodes {
        let RouterNode { router, row, column, rows, columns } = node;
        let FabricNode { mesh: number, device } = router.node;
        let (mesh, chips) = meshes
            .entry(number)
            .or_insert_with(|| (FabricMesh::open(*rows, *columns, Vec::new()), BTreeMap::new()));
        let place = (mesh.rows, mesh.columns) == (*rows, *columns)
            && row * columns + column == usize::from(device)
            && usize::from(device) < rows * columns;
        let chip = *chips.entry(device).or_insert(router.eth.chip);
        if !router.inter_mesh {
            // Its own routers cannot be read if it is dead.
            chips.entry(router.neighbor.device).or_insert(router.peer.chip);
        }
        if !place || chip != router.eth.chip {
            return broken(format!(
                "the tables of {} differ from those of the other routers",
                router.eth
            ));
        }
        let last = match router.direction {
            Direction::East => column + 1 == *columns,
            Direction::West => *column == 0,
            Direction::North => *row == 0,
            Direction::South => row + 1 == *rows,
        };
        let closes = last && !router.inter_mesh;
        mesh.closed_rows |= closes && router.direction.is_along_row();
        mesh.closed_columns |= closes && !router.direction.is_along_row();
    }
    let mut plan = FabricPlan {
        chip_kind,
        topology,
        planes: 1,
        meshes: Vec::new(),
        exits_apart: false,
        routers: Vec::new(),
    };
    for (wanted, (number, (mut mesh, chips))) in (0..).zip(meshes) {
        if number != wanted {
            return broken(format!("no router of mesh {wanted} runs"));
        }
        for device in 0..(mesh.rows * mesh.columns) as u16 {
            let Some(chip) = chips.get(&device) else {
                let node = FabricNode { mesh: number, device };
                return broken(format!("no router of {node} runs"));
            };
            mesh.chips.push(*chip);
        }
        plan.meshes.push(mesh);
    }
    let mut routers: Vec<Router> = nodes.into_iter().map(|node| node.router).collect();
    // Planes number the links of an edge in the order of the lower chip's channels.
    routers.sort_unstable_by_key(|router| router.eth.min(router.peer));
    let mut edges: BTreeMap<(FabricNode, Direction), u32> = BTreeMap::new();
    for router in &mut routers {
        let plane = edges.entry((router.node, router.direction)).or_default();
        router.plane = *plane;
        *plane += 1;
    }
    // Further routers of an edge are spare; a single chip has one plane and no edge.
    plan.planes = edges.into_values().min().unwrap_or(1);
    routers.sort_unstable_by_key(|router| (router.eth.chip, !router.master, router.eth.channel));
    plan.routers = routers;
    Ok(plan)
}
