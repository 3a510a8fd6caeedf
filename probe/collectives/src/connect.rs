//! The fabric arguments of a program's kernels: muxes, connections, and the far ends of channels.

use super::edm_builder::{ChannelAddresses, xy};
use super::program::{Program, WorkerPlan};
use super::transport::{Crossing, Exit, FarEnd, MuxPlan, WorkerEnds};
use super::worker::{WORKER, WorkerPlaces, routing_at, worker_semaphore};
use fabric::client::Connection;
use fabric::mux::Mux;
use fabric::{Fabric, FabricPlan, FabricSettings, connection, header_bytes};
use fabric::{pack_tables, routing_tables};
use images::ImageMap;
use launch::outcome::{Cause, RunError, User};
use launch::records::field;
use launch::{ControlError, Operation, constant_of, image};
use layouts::NocXy;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::collections::BTreeMap;

/// Returns the mux of a plan, ready to launch.
///
/// # Errors
/// `NoImage` or `NoMember`; `Settings` if the router does not exist.
pub(super) fn mux(
    images: &ImageMap,
    crossing: &Crossing,
    plan: &MuxPlan,
) -> Result<Mux, ControlError> {
    let router = crossing.plan.router_at(plan.router);
    let missing = || ControlError::Settings(format!("there is no router at {}", plan.router));
    Ok(Mux {
        place: plan.place,
        core: crossing.options.core,
        policy: crossing.options.policy,
        channels: plan.clients.len() as u32,
        buffer_count: crossing.options.slots,
        header_bytes: header_bytes(images, &crossing.plan)?,
        router: connection(images, &crossing.plan, router.ok_or_else(missing)?)?,
    })
}

/// Returns the operation that writes the routing tables of a worker.
///
/// # Errors
/// As [`pack_tables`].
pub(super) fn write_tables(
    images: &ImageMap,
    crossing: &Crossing,
    plan: &WorkerPlan,
) -> Result<Option<Operation>, ControlError> {
    let ends = crossing.ends.get(&plan.place).filter(|_| crossing.plan.topology.is_2d());
    let Some(ends) = ends else { return Ok(None) };
    let tables = routing_tables(&crossing.plan);
    let Some(tables) = tables.iter().find(|tables| tables.node == ends.node) else {
        return Ok(None);
    };
    let mut operation = Operation::new(format!("routing tables of {}", plan.place));
    operation.write(routing_at(plan), pack_tables(tables, images, &crossing.plan)?);
    Ok(Some(operation))
}

/// Refuses a fabric that cannot come up, or whose routers have other clients. Writes nothing.
///
/// # Errors
/// The reason for the refusal.
pub(super) fn refuse(
    target: &mut dyn Target,
    images: &ImageMap,
    crossing: &Crossing,
) -> Result<(), RunError> {
    let plan = &crossing.plan;
    if !crossing.found {
        return Fabric::new(plan.clone(), FabricSettings::default()).refuse(target, images);
    }
    let mut spans = BTreeMap::new();
    for eth in crossing.clients().into_keys() {
        let Some(router) = plan.router_at(eth) else { continue };
        let of = connection(images, plan, router)?;
        // Both coordinates of the client are in one word.
        let client = u64::from(of.location_info) + worker_x(images, plan)?;
        let words = [of.handshake.into(), client];
        spans.insert(eth, words.map(|at| Span { addr: router.place.at(at), len: 4 }));
    }
    let snapshot = target.read(&Plan { spans: spans.values().flatten().copied().collect() });
    for (eth, [handshake, client]) in spans {
        if snapshot.word(handshake.addr)? != 0 {
            let [x, _, y, _] = snapshot.word(client.addr)?.to_le_bytes();
            let client = Place { chip: eth.chip, tile: NocXy { x, y } };
            let user = User::Client(eth, client);
            return Err(RunError::new(Cause::InUse(user)).at(handshake.addr.into()));
        }
    }
    Ok(())
}

fn worker_x(images: &ImageMap, plan: &FabricPlan) -> Result<u64, ControlError> {
    let (router, path) = (plan.router_image(), "EDMChannelWorkerLocationInfo.worker_x");
    Ok(field(&*image(images, router)?, path)?.offset)
}

/// Returns the addresses of the two sides of a worker's channels: buffers of the receiver,
/// semaphore of the other worker.
///
/// # Errors
/// `NoImage` or `NoMember`, or `Settings` if something does not fit.
pub(super) fn sides(
    images: &ImageMap,
    program: &Program,
    plan: &WorkerPlan,
) -> Result<[Option<ChannelAddresses>; 2], ControlError> {
    let buffers = WorkerPlaces::of(images, program, plan)?.fifo;
    let side = |used: bool, name| {
        let semaphore = worker_semaphore(images, name)?;
        Ok::<_, ControlError>(used.then_some(ChannelAddresses { buffers, semaphore }))
    };
    Ok([
        side(plan.inbound.is_some(), "CCL_SEMAPHORE_OUTBOUND")?,
        side(plan.outbound.is_some(), "CCL_SEMAPHORE_INBOUND")?,
    ])
}

/// Returns the fabric members of a worker's arguments.
///
/// # Errors
/// `NoImage` or `NoMember`.
pub(super) fn members(
    images: &ImageMap,
    crossing: &Crossing,
    plan: &WorkerPlan,
) -> Result<Vec<(String, u32)>, ControlError> {
    let Some(ends) = crossing.ends.get(&plan.place) else { return Ok(Vec::new()) };
    let mut values = vec![
        ("is_2d".to_owned(), crossing.plan.topology.is_2d().into()),
        ("mesh_id".to_owned(), ends.node.mesh.into()),
        ("device_id".to_owned(), ends.node.device.into()),
        ("routing_info_address".to_owned(), routing_at(plan).offset as u32),
        ("connections".to_owned(), ends.exits.len() as u32),
    ];
    for (side, far) in [("inbound", ends.inbound), ("outbound", ends.outbound)] {
        let Some(FarEnd { place, node, hops, exit }) = far else { continue };
        for (member, value) in [
            ("over_fabric", 1),
            ("connection", exit as u32),
            ("peer_xy", xy(place.tile)),
            ("peer_mesh_id", node.mesh.into()),
            ("peer_device_id", node.device.into()),
            ("peer_hops", hops),
        ] {
            values.push((format!("{side}.{member}"), value));
        }
    }
    for (index, exit) in ends.exits.iter().enumerate() {
        let path = format!("connection[{index}]");
        values.extend(client(images, crossing, *exit)?.values(&format!("{path}.client")));
        if let Exit::Mux { mux, .. } = exit {
            values.extend(termination(images, crossing, plan.place, *mux, &path)?);
        }
    }
    Ok(values)
}

/// Returns a worker's connection to its router or mux.
fn client(images: &ImageMap, crossing: &Crossing, exit: Exit) -> Result<Connection, ControlError> {
    let missing = || ControlError::Settings("an exit has no router or mux".to_owned());
    match exit {
        Exit::Router(eth) => {
            let router = crossing.plan.router_at(eth).ok_or_else(missing)?;
            connection(images, &crossing.plan, router)
        }
        Exit::Mux { mux: index, channel } => {
            let plan = crossing.muxes.get(index).ok_or_else(missing)?;
            mux(images, crossing, plan)?.connection(images, channel)
        }
    }
}

/// Returns a worker's arguments for the termination of a mux: the first client is the termination
/// master.
fn termination(
    images: &ImageMap,
    crossing: &Crossing,
    place: Place,
    index: usize,
    path: &str,
) -> Result<Vec<(String, u32)>, ControlError> {
    let Some(plan) = crossing.muxes.get(index) else { return Ok(Vec::new()) };
    let Some(&master) = plan.clients.first() else { return Ok(Vec::new()) };
    let part = if master == place { "CCL_TERMINATION_MASTER" } else { "CCL_TELLS_MASTER" };
    let is_mux = |exit: &Exit| matches!(exit, Exit::Mux { mux, .. } if *mux == index);
    let number = |ends: &WorkerEnds| ends.exits.iter().position(is_mux);
    let apart = || {
        ControlError::Settings(format!("{master} is not a client of the mux that it terminates"))
    };
    let number = crossing.ends.get(&master).and_then(number).ok_or_else(apart)? as u32;
    let values = [
        ("termination", constant_of(images, WORKER, part)?),
        ("mux_clients", plan.clients.len() as u32),
        ("master_xy", xy(master.tile)),
        ("master_address", closed_semaphore(images, number)?),
        ("termination_address", mux(images, crossing, plan)?.word(images, "termination_signal")?),
    ];
    Ok(values.into_iter().map(|(member, value)| (format!("{path}.{member}"), value)).collect())
}

/// Returns the semaphore that clients of a termination master's connection of this number
/// increment.
fn closed_semaphore(images: &ImageMap, number: u32) -> Result<u32, ControlError> {
    let first = worker_semaphore(images, "CCL_SEMAPHORE_CLOSED")?;
    let next = worker_semaphore(images, "CCL_SEMAPHORE_SIGNAL")?;
    Ok(first + number * (first - next))
}
