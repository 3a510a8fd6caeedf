//! Tests that the tables reach every device by the shortest route, along rows first.

use super::*;
use std::collections::{BTreeMap, VecDeque};

/// Returns the least number of links from a device to every other of its mesh: in one dimension
/// without a turn.
fn distances(plan: &FabricPlan, from: FabricNode) -> BTreeMap<FabricNode, usize> {
    let mut distances = BTreeMap::from([(from, 0)]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        let near = plan.routers.iter().filter(|router| router.node == at && !router.inter_mesh);
        let there = |node: FabricNode| plan.meshes[0].place(node.device.into());
        let straight = |to: FabricNode| {
            let (from, to) = (there(from), there(to));
            plan.topology.is_2d() || from.0 == to.0 || from.1 == to.1
        };
        let near = near.filter(|router| straight(router.neighbor));
        for router in near {
            if !distances.contains_key(&router.neighbor) {
                distances.insert(router.neighbor, distances[&at] + 1);
                queue.push_back(router.neighbor);
            }
        }
    }
    distances
}

fn table(tables: &[RoutingTables], node: FabricNode) -> &RoutingTables {
    tables.iter().find(|tables| tables.node == node).unwrap()
}

#[test]
fn l0_reaches_every_device_by_the_shortest_way_and_rows_first() {
    for (name, plan) in all() {
        let tables = routing_tables(&plan);
        for from in plan.nodes() {
            let distances = distances(&plan, from);
            for (&to, &distance) in &distances {
                let (mut at, mut turned, mut hops) = (from, false, 0);
                while let Entry::To(route) = table(&tables, at).intra_mesh[usize::from(to.device)] {
                    assert!(route.is_along_row() <= !turned, "{name}: {from} to {to} turns back");
                    turned |= !route.is_along_row();
                    at = plan.router(at, route, 0).unwrap().neighbor;
                    hops += 1;
                    assert!(hops <= distance, "{name}: {from} to {to} takes a detour");
                }
                assert_eq!((at, hops), (to, distance), "{name}: {from} to {to}");
                assert_eq!(plan.hops(from, to.device), distance);
            }
            let mesh = plan.mesh_of(from).unwrap();
            let straight = mesh.rows + mesh.columns - 1;
            let devices = if plan.topology.is_2d() { mesh.chips.len() } else { straight };
            assert_eq!(distances.len(), devices, "{name}: every device");
        }
    }
}

#[test]
fn l1_reaches_every_mesh() {
    for (name, plan) in all() {
        let tables = routing_tables(&plan);
        for from in plan.nodes() {
            for mesh in 0..plan.meshes.len() as u16 {
                let (mut at, mut hops) = (from, 0);
                while let Entry::To(route) = table(&tables, at).inter_mesh[usize::from(mesh)] {
                    at = plan.router(at, route, 0).unwrap().neighbor;
                    hops += 1;
                    assert!(hops < 100, "{name}: from {from} to mesh {mesh} for ever");
                }
                assert_eq!(at.mesh, mesh, "{name}: from {from}");
                let exit = table(&tables, from).exit_nodes[usize::from(mesh)];
                assert_eq!(exit.is_some(), mesh != from.mesh, "{name}: from {from}");
                let nearest = exit.map(|device| plan.hops(from, device) + 1);
                assert_eq!(nearest.unwrap_or(0), hops, "{name}: by the exit that is named");
            }
        }
    }
}
