//! A ring of eight chips without its dateline: packets in one direction fill every slot, and none
//! can move.
#![allow(unreachable_pub, reason = "a module of a test")]

use crate::common::{built, idle};
use fabric::traffic::{PacketSpec, Route, SendType, Traffic};
use fabric::{Fabric, FabricPlan, FabricRequest, FabricSettings, connection};
use launch::{Firmware, Operation, go_kernel};
use layouts::NocXy;
use machine::fabric::{Direction, FabricTopology};
use machine::place::Place;
use machine::target::Target;
use probe::session::Session;
use workloads::scene::Scene;

/// Hops of a packet.
const HOPS: u8 = 7;
/// Packets of each chip.
const PACKETS: u32 = 200;

/// Every chip sends to the chip behind it, the long way round, faster than the links can carry it.
pub fn jammed() -> Session {
    let (mut target, mut images) = built(&Scene { seed: 3, ..idle("t3000") });
    let request = FabricRequest { planes: Some(1), ..FabricRequest::new(FabricTopology::Ring) };
    let mut plan = FabricPlan::new(target.mesh(), &request).unwrap();
    plan.routers.iter_mut().for_each(|router| router.dateline = false);
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    fabric.finish(&mut target, &mut images, 2_000).unwrap();
    let east: Vec<_> =
        plan.routers.iter().filter(|r| r.plane == 0 && r.direction == Direction::East).collect();
    assert_eq!(east.len(), 8);
    let mut traffic = Traffic::new(plan.layout(), false);
    let ids: Vec<_> = east
        .iter()
        .map(|router| {
            let chip = target.mesh().chip(plan.chip(router.node).unwrap()).unwrap();
            let rows = (1..12u8).filter(|y| *y != 6 && chip.is_fused_off(*y) == Some(false));
            let tile = rows.map(|y| NocXy { x: 1, y }).next().unwrap();
            traffic.add_worker(Place { chip: chip.id, tile }, router.node)
        })
        .collect();
    for (n, router) in east.iter().enumerate() {
        traffic.connect(ids[n], connection(&images, &plan, router).unwrap(), None).unwrap();
        let mut node = router.node;
        for _ in 0..HOPS {
            node = east.iter().find(|r| r.node == node).unwrap().neighbor;
        }
        let to = ids[east.iter().position(|r| r.node == node).unwrap()];
        for _ in 0..PACKETS {
            let (send, route, bytes) = (SendType::Atomic, Route::Hops(HOPS, HOPS), 0);
            let (control, arrives, ttl) = (false, true, 16);
            let shipment = PacketSpec { connection: 0, send, bytes, ttl, route, control, arrives };
            traffic.send(ids[n], &[to], shipment).unwrap();
        }
    }
    let (mut places, mut gos) = (Vec::new(), Vec::new());
    for id in ids {
        places.push(traffic.place_kernel(&mut images, id, 1, &[]).unwrap());
        let place = traffic.place(id).unwrap();
        gos.push(go_kernel(&images, Firmware::BUILT_IN.tensix[0], place).unwrap());
    }
    Operation::finish_all(places, &mut target).unwrap();
    Operation::finish_all(gos, &mut target).unwrap();
    target.pass(250_000).unwrap();
    Session::with_target(Box::new(target), images)
}
