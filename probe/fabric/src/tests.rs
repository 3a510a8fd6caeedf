//! Tests of plans and tables on meshes of every shape; nothing is booted.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod channels;
mod walks;

use super::*;
use layouts::{ChipId, EthId};
use machine::fabric::{Direction, Entry, FabricNode, FabricTopology, RoutingTables};
use machine::target::Mesh;
use std::collections::BTreeSet;

/// A shipped mesh, such as `galaxy,cabling=torus`.
fn mesh(name: &str) -> Mesh {
    Mesh::from_descriptor(&workloads::scene::described(name, name).unwrap())
}

fn chips(ids: &[u16]) -> Vec<ChipId> {
    ids.iter().map(|&id| ChipId(id)).collect()
}

fn plan(name: &str, request: &FabricRequest) -> FabricPlan {
    let plan = FabricPlan::new(&mesh(name), request);
    plan.unwrap_or_else(|error| panic!("{name} {request:?}: {error}"))
}

fn whole(name: &str, topology: FabricTopology) -> FabricPlan {
    plan(name, &FabricRequest::new(topology))
}

fn refused(name: &str, request: &FabricRequest) -> String {
    let plan = FabricPlan::new(&mesh(name), request);
    plan.map(|plan| plan.meshes).unwrap_err().to_string()
}

fn without(name: &str, plan: &FabricPlan, out: &str) -> Result<FabricPlan, String> {
    let out = plan.chips_of(&[out.parse()?])?;
    plan.without(&mesh(name), &out).map_err(|error| error.to_string())
}

/// Every fabric of the tests.
fn all() -> Vec<(String, FabricPlan)> {
    use FabricTopology::{Line, Mesh, Ring, Torus};
    let mut all = Vec::new();
    for (name, topologies) in [
        ("n300", &[Line, Mesh][..]),
        ("t3000", &[Line, Ring, Mesh, Torus]),
        ("galaxy", &[Line, Ring, Mesh]),
        ("galaxy,cabling=ring", &[Ring, Torus]),
        ("galaxy,cabling=torus", &[Ring, Mesh, Torus]),
        ("tg", &[Ring, Mesh]),
        ("dual_galaxy", &[Mesh]),
    ] {
        for &topology in topologies {
            all.push((format!("{name} {topology}"), whole(name, topology)));
        }
    }
    for (name, topology) in [
        ("n300", Line),
        ("n300", Mesh),
        ("t3000", Line),
        ("t3000", Mesh),
        ("galaxy", Mesh),
        ("dual_galaxy", Mesh),
        ("tgg", Mesh),
    ] {
        let division = Division::Parts(2);
        let request = FabricRequest { division, ..FabricRequest::new(topology) };
        all.push((format!("{name} {topology} in two"), plan(name, &request)));
    }
    for (name, topology, out) in [
        ("t3000", Torus, "5"),
        ("t3000", Ring, "5"),
        ("t3000", Torus, "column:0"),
        ("galaxy", Mesh, "row:0"),
        ("galaxy", Mesh, "column:7"),
        ("galaxy,cabling=torus", Torus, "row:1"),
        ("galaxy,cabling=torus", Torus, "column:3"),
    ] {
        let left = without(name, &whole(name, topology), out).unwrap();
        all.push((format!("{name} {topology} without {out}"), left));
    }
    all
}

#[test]
fn every_fabric_is_whole() {
    for (name, plan) in all() {
        let mut cores = BTreeSet::new();
        for router in &plan.routers {
            assert!(cores.insert(router.eth), "{name}: {} is two routers", router.eth);
            assert_eq!(plan.chip(router.node), Some(router.eth.chip), "{name}");
            assert_eq!(plan.node(router.peer.chip), Some(router.neighbor), "{name}");
            assert_eq!(router.inter_mesh, router.node.mesh != router.neighbor.mesh);
            let peer = plan.router_at(router.peer).unwrap();
            assert_eq!((peer.peer, peer.plane), (router.eth, router.plane), "{name}: {router}");
            assert_eq!(peer.dateline, router.dateline, "{name}: cut once each way");
            assert_eq!(peer.inter_mesh, router.inter_mesh);
            if !router.inter_mesh {
                assert_eq!(peer.direction, router.direction.opposite(), "{name}: {router}");
            }
            assert!(plan.router(router.node, router.direction, router.plane) == Some(router));
            assert!(plan.fallbacks(router).len() as u32 >= plan.planes - 1, "{name}: {router}");
        }
        for node in plan.nodes() {
            let chip = plan.chip(node).unwrap();
            let masters: Vec<bool> = plan.routers_of(chip).map(|router| router.master).collect();
            assert!(masters[0] && !masters[1..].contains(&true), "{name}: one master, the first");
            assert!(masters.len() <= 16);
        }
        for tables in routing_tables(&plan) {
            assert_eq!(check_tables(&tables, &plan), Ok(()), "{name}");
        }
    }
}

#[test]
fn what_is_taken_out_is_gone_and_the_rest_is_closed_if_it_can_be() {
    use FabricTopology::{Mesh, Torus};
    let torus = whole("t3000", Torus);
    let without = |out| without("t3000", &torus, out);
    let left = without("5").unwrap();
    assert_eq!((left.topology, shape(&left)), (Mesh, (1, 7, 1)));
    assert_eq!(left.node(ChipId(5)), None);
    let left = without("column:0").unwrap();
    assert_eq!((left.topology, shape(&left)), (Torus, (2, 3, 1)));
    assert_eq!(left.missing(), []);
    let error = |out| without(out).unwrap_err();
    assert_eq!(error("8"), "the fabric has no chip 8, or only one that is taken out already");
    assert_eq!(error("row:x"), "'row:x' is no chip, row or column, such as 5, row:1 or column:2");
    let all = [TakenOut::Row(0), TakenOut::Row(1)];
    let nothing = torus.without(&mesh("t3000"), &torus.chips_of(&all).unwrap());
    assert_eq!(nothing, Err(FabricError::TooFewChips(0)));
}

fn shape(plan: &FabricPlan) -> (usize, usize, u32) {
    (plan.meshes[0].rows, plan.meshes[0].columns, plan.planes)
}

#[test]
fn the_shapes_are_those_of_the_machines() {
    use FabricTopology::{Mesh, Ring, Torus};
    let n300 = whole("n300", Mesh);
    assert_eq!(shape(&n300), (1, 2, 1), "one link is left to dispatch");
    let names: Vec<String> = n300.routers.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["0:e9 (M0D0 EAST plane 0)", "1:e1 (M0D1 WEST plane 0)"]);
    assert_eq!(shape(&whole("t3000", Ring)), (1, 8, 1));
    let t3000 = whole("t3000", Mesh);
    assert_eq!(shape(&t3000), (2, 4, 1));
    assert_eq!(t3000.meshes[0].chips, chips(&[4, 0, 2, 5, 6, 1, 3, 7]));
    let torus = whole("t3000", Torus);
    assert_eq!(shape(&torus), (2, 4, 1));
    assert_eq!((torus.meshes[0].closed_rows, torus.meshes[0].closed_columns), (false, true));
    assert_eq!(shape(&whole("galaxy", Mesh)), (4, 8, 4));
    assert_eq!(whole("galaxy", Mesh).routers.len(), 2 * 208);
    let torus = whole("galaxy,cabling=torus", Torus);
    assert_eq!((shape(&torus), torus.routers.len()), ((4, 8, 4), 2 * 256));
    let datelines = torus.routers.iter().filter(|router| router.dateline).count();
    assert_eq!(datelines, 2 * 4 * (4 + 8), "both ends of the wrap links of all rows and columns");
    let closed = &whole("galaxy,cabling=ring", Torus).meshes[0];
    assert_eq!((closed.closed_rows, closed.closed_columns), (true, false));
    assert_eq!(
        shape(&whole("tg", Mesh)),
        (8, 4, 3),
        "without gateways and what is left to dispatch"
    );
    let request = FabricRequest { chips: chips(&[0, 1, 2, 3]), ..FabricRequest::new(Mesh) };
    assert_eq!(shape(&plan("t3000", &request)), (2, 2, 2), "two planes between chips with PCIe");
}

#[test]
fn meshes_are_joined_at_their_edges() {
    use FabricTopology::Mesh;
    let request = FabricRequest { division: Division::Parts(2), ..FabricRequest::new(Mesh) };
    for (name, rows, columns, planes, exits) in [
        ("n300", 1, 1, 1, 1),
        ("t3000", 2, 2, 1, 2),
        ("galaxy", 4, 4, 4, 4),
        ("dual_galaxy", 4, 8, 4, 8),
        ("tgg", 8, 4, 2, 8),
    ] {
        let plan = plan(name, &request);
        assert_eq!((plan.meshes.len(), shape(&plan)), (2, (rows, columns, planes)), "{name}");
        let leads: Vec<&Router> =
            plan.routers.iter().filter(|router| router.inter_mesh && router.plane == 0).collect();
        assert_eq!(leads.len(), 2 * exits, "{name}");
        for router in leads {
            let peer = plan.router_at(router.peer).unwrap();
            assert_eq!(peer.direction, router.direction.opposite(), "{name}: straight on");
        }
    }
    let division = Division::Chips(vec![chips(&[4, 0, 6, 1]), chips(&[2, 5, 3, 7])]);
    let halves = plan("t3000", &FabricRequest { division, ..FabricRequest::new(Mesh) });
    assert_eq!(halves.meshes, plan("t3000", &request).meshes);
}

/// Whoever sends to the other half leaves by one link, and whoever answers by another one.
#[test]
fn opposite_flows_between_two_meshes_share_no_link() {
    for (name, plan) in all().into_iter().filter(|(_, plan)| plan.exits_apart) {
        let links = |(from, to): (u16, u16)| -> BTreeSet<(EthId, EthId)> {
            let nodes = plan.nodes().filter(|node| node.mesh == from);
            let exits = nodes.map(|node| {
                let (device, direction) = plan.exit(node, to).unwrap();
                let router = plan.router(FabricNode { device, ..node }, direction, 0).unwrap();
                (router.eth.min(router.peer), router.eth.max(router.peer))
            });
            exits.collect()
        };
        let (there, back) = (links((0, 1)), links((1, 0)));
        assert!(there.is_disjoint(&back), "{name}: {there:?} {back:?}");
        assert_eq!(plan.router_image(), "fabric_router_intermesh", "{name}");
    }
    let halves =
        FabricRequest { division: Division::Parts(2), ..FabricRequest::new(FabricTopology::Mesh) };
    assert!(plan("t3000", &halves).exits_apart);
    assert!(!plan("n300", &halves).exits_apart, "one link");
    // In the middle of four meshes in a row, packets of both directions pass through.
    let quarters = FabricRequest { division: Division::Parts(4), ..halves };
    assert!(!plan("t3000", &quarters).exits_apart);
}

#[test]
fn what_is_missing_is_named() {
    use FabricTopology::{Line, Mesh, Ring, Torus};
    let with =
        |topology, ids: &[u16]| FabricRequest { chips: chips(ids), ..FabricRequest::new(topology) };
    let planes =
        |topology, planes| FabricRequest { planes: Some(planes), ..FabricRequest::new(topology) };
    for (name, request, why) in [
        ("n300", with(Mesh, &[0, 7]), "there is no chip 7: the mesh has chips 0 to 1"),
        ("n300", with(Mesh, &[0, 0]), "chip 0 is named twice"),
        ("n150", with(Mesh, &[]), "a fabric needs at least two linked chips, and there are none"),
        (
            "n300",
            with(Ring, &[]),
            "chips 0 and 1 have no link left for a routing plane, not counting 1 reserved for dispatch",
        ),
        (
            "n300",
            planes(Line, 2),
            "2 routing planes were requested, but chips 0 and 1 have 1 link for them, not counting 1 reserved for dispatch",
        ),
        (
            "galaxy",
            planes(Mesh, 5),
            "5 routing planes were requested, but chips 0 and 4 have 4 links for them",
        ),
        ("galaxy", planes(Mesh, 0), "planes: a fabric needs one or more"),
        (
            "galaxy",
            with(Line, &[0, 4, 8, 12, 14, 10, 6, 2, 16, 20, 24, 28, 30, 26, 22, 18, 19, 23]),
            "a line of 18 chips is up to 17 hops long, more than the 16 that a packet's route can hold",
        ),
        (
            "dual_galaxy",
            with(Ring, &[]),
            "a ring of 64 chips is up to 32 hops long, more than the 16 that a packet's route can hold",
        ),
        (
            "t3000",
            with(Ring, &[4, 0, 2]),
            "the chips form no ring: chip 4 has links to chip 0 only",
        ),
        (
            "t3000",
            with(Mesh, &[0, 1, 2, 4]),
            "the 4 chips form no mesh: they have no arrangement in linked rows and columns",
        ),
        (
            "galaxy",
            with(Torus, &[]),
            "the 32 chips form no torus: they have no arrangement with closed rows or columns",
        ),
    ] {
        assert_eq!(refused(name, &request), why);
    }
    let parts = |division| FabricRequest { division, ..FabricRequest::new(Mesh) };
    assert_eq!(
        refused("t3000", &parts(Division::Parts(3))),
        "the chips cannot be cut into 3 meshes: they form 2 rows of 4"
    );
    let far = Division::Chips(vec![chips(&[4, 6]), chips(&[5, 7])]);
    assert_eq!(refused("t3000", &parts(far)), "no link leads from mesh 1 to another one");
}

#[test]
fn a_galaxy_in_one_dimension_is_a_line_of_each_row_and_column() {
    use FabricTopology::{Line, Ring};
    let plan = whole("galaxy", Line);
    assert_eq!(shape(&plan), (4, 8, 4));
    assert_eq!(plan.routers.len(), 2 * 208, "as many as in two dimensions");
    let node = |device| FabricNode { mesh: 0, device };
    let ways = [1, 7, 8, 24, 0, 9].map(|device| plan.within(node(0), device));
    let (east, south) = (Entry::To(Direction::East), Entry::To(Direction::South));
    assert_eq!(ways, [east, east, south, south, Entry::Here, Entry::Absent]);
    assert_eq!(plan.next_hop(node(9), node(0)), None, "no packet turns");
    // Rows are rings where they are closed, and columns lines; on a torus all are rings.
    let ring = whole("galaxy,cabling=ring", Ring);
    assert_eq!((ring.meshes[0].closed_rows, ring.meshes[0].closed_columns), (true, false));
    assert_eq!(ring.within(node(0), 7), Entry::To(Direction::West), "over the wrap");
    let torus = whole("galaxy,cabling=torus", Ring);
    assert_eq!((torus.meshes[0].closed_rows, torus.meshes[0].closed_columns), (true, true));
    // What closes nothing stays one ring of all chips.
    assert_eq!(shape(&whole("galaxy", Ring)), (1, 32, 4), "no chip is more than 16 hops away");
}

#[test]
fn the_header_has_room_for_so_many_hops() {
    let (images, _) = images::ImageMap::firmware();
    let line = super::words::RouterImage::of(&images, "fabric_router_line").unwrap();
    let most = line.constant("LOW_LATENCY_MAX_HOPS").unwrap();
    assert_eq!(most as usize, super::plan::MOST_HOPS);
    let halves =
        FabricRequest { division: Division::Parts(2), ..FabricRequest::new(FabricTopology::Line) };
    assert_eq!(shape(&plan("galaxy", &halves)), (4, 4, 4), "lines of 4 each");
    let rows = chips(&[0, 4, 8, 12, 14, 10, 6, 2, 16, 20, 24, 28, 30, 26, 22, 18]);
    let rows = FabricRequest { chips: rows, ..FabricRequest::new(FabricTopology::Line) };
    assert_eq!(shape(&plan("galaxy", &rows)), (1, 16, 4), "15 hops each");
}

#[test]
fn a_table_that_names_an_absent_chip_is_refused() {
    let plan = whole("t3000", FabricTopology::Mesh);
    let tables = routing_tables(&plan);
    let wrong = |change: &dyn Fn(&mut RoutingTables)| {
        let mut tables = tables[0].clone();
        change(&mut tables);
        check_tables(&tables, &plan).map_err(|error| error.to_string())
    };
    let east = Entry::To(Direction::East);
    assert_eq!(
        wrong(&|tables| tables.intra_mesh.push(east)).unwrap_err(),
        "the L0 table of M0D0 names device 8, but its mesh has devices 0 to 7"
    );
    assert_eq!(
        wrong(&|tables| tables.inter_mesh.push(east)).unwrap_err(),
        "the L1 table of M0D0 names mesh 1, but there are meshes 0 to 0"
    );
    assert_eq!(
        wrong(&|tables| tables.intra_mesh[5] = Entry::To(Direction::North)).unwrap_err(),
        "entry 5 of the L0 table of M0D0 leads NORTH, where the node has no neighbor"
    );
    assert_eq!(
        wrong(&|tables| tables.exit_nodes[0] = Some(9)).unwrap_err(),
        "the exit node table of M0D0 names device 9, but its mesh has devices 0 to 7"
    );
    let round = wrong(&|tables| tables.intra_mesh[4] = east);
    assert_eq!(round, Ok(()), "a detour or a loop is allowed");
}

#[test]
fn routers_that_take_over_go_the_same_way() {
    let plan = whole("galaxy", FabricTopology::Mesh);
    let router = plan.router_at(EthId { chip: ChipId(0), channel: 9 }).unwrap();
    let planes: Vec<u32> = plan.fallbacks(router).iter().map(|other| other.plane).collect();
    assert_eq!((router.plane, planes), (1, vec![2, 3, 0]));
    // Between some chips of a T3000 there are two links, and one between others: one plane, and
    // spare routers.
    let plan = whole("t3000", FabricTopology::Mesh);
    let spare = plan.routers.iter().filter(|router| router.plane >= plan.planes).count();
    let alone = plan.routers.iter().filter(|router| plan.fallbacks(router).is_empty()).count();
    assert_eq!((plan.planes, plan.routers.len(), spare, alone), (1, 32, 12, 8));
}
