//! Multicasts in two dimensions: from every chip of a T3000 to all others, by hops to the east,
//! west, north and south.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle};
use fabric::traffic::{PacketSpec, Route, SendType, Traffic, WorkerId};
use fabric::{Fabric, FabricMesh, FabricPlan, FabricRequest, FabricSettings, connection};
use launch::{Firmware, go_kernel};
use layouts::NocXy;
use machine::fabric::{Direction, FabricTopology};
use machine::place::Place;
use machine::target::Target;

const STEP: u64 = 2_000;
const BYTES: u32 = 1_024;

/// Returns the hops in each direction from a device to the last device there.
fn hops(mesh: &FabricMesh, device: usize) -> [u8; 4] {
    let (row, column) = mesh.place(device);
    [mesh.columns - 1 - column, column, row, mesh.rows - 1 - row].map(|hops| hops as u8)
}

/// Returns the devices that a multicast packet in a direction reaches: eastwards and westwards
/// whole columns, northwards and southwards only the device's own column.
fn reached(mesh: &FabricMesh, device: usize, direction: Direction) -> Vec<usize> {
    let (row, column) = mesh.place(device);
    let behind = |other: &usize| {
        let (to_row, to_column) = mesh.place(*other);
        match direction {
            Direction::East => to_column > column,
            Direction::West => to_column < column,
            Direction::North => to_column == column && to_row < row,
            Direction::South => to_column == column && to_row > row,
        }
    };
    (0..mesh.chips.len()).filter(behind).collect()
}

#[test]
fn every_chip_writes_to_all_others_with_a_packet_in_each_direction() {
    let (mut target, mut images) = built(&idle("t3000"));
    let request = FabricRequest::new(FabricTopology::Mesh);
    let plan = FabricPlan::new(target.mesh(), &request).unwrap();
    let mesh = &plan.meshes[0];
    let tables = fabric::routing_tables(&plan);

    // A multicast writes to the same tile on every chip.
    let chips = &target.mesh().chips;
    let everywhere =
        |y: &u8| *y != 6 && chips.iter().all(|chip| chip.is_fused_off(*y) == Some(false));
    let tile = NocXy { x: 1, y: (1..12).find(everywhere).unwrap() };
    let mut traffic = Traffic::new(plan.layout(), true);
    let ids: Vec<WorkerId> = plan
        .nodes()
        .map(|node| {
            let place = Place { chip: plan.chip(node).unwrap(), tile };
            traffic.add_worker(place, node)
        })
        .collect();
    for (device, node) in plan.nodes().enumerate() {
        for direction in Direction::ALL {
            let Some(router) = plan.router(node, direction, 0) else { continue };
            let channel = connection(&images, &plan, router).unwrap();
            let shipment = PacketSpec {
                connection: traffic.connect(ids[device], channel, None).unwrap(),
                send: SendType::Fused,
                bytes: BYTES,
                ttl: 8,
                route: Route::Rectangle(hops(mesh, device)),
                control: false,
                arrives: true,
            };
            let to: Vec<_> = reached(mesh, device, direction).into_iter().map(|d| ids[d]).collect();
            for _ in 0..4 {
                traffic.send(ids[device], &to, shipment).unwrap();
            }
        }
    }
    Fabric::new(plan.clone(), FabricSettings::default())
        .finish(&mut target, &mut images, STEP)
        .unwrap();
    for (id, tables) in ids.iter().zip(&tables) {
        let routing = fabric::pack_tables(tables, &images, &plan).unwrap();
        let kernel = traffic.place_kernel(&mut images, *id, 1, &routing).unwrap();
        kernel.finish(&mut target).unwrap();
    }
    for chip in &mesh.chips {
        let go = go_kernel(&images, Firmware::BUILT_IN.tensix[0], Place { chip: *chip, tile });
        go.unwrap().finish(&mut target).unwrap();
    }
    target.pass(1_000_000).unwrap();
    for id in ids {
        let outcome = traffic.outcome(&mut target, &images, id).unwrap();
        assert!(outcome.is_finished(), "{outcome:?}");
        let wrong = [outcome.wrong_words, outcome.doubled, outcome.missing, outcome.refused];
        assert_eq!((outcome.arrived, wrong), (4 * 7, [0; 4]), "four from each other chip");
    }
}
