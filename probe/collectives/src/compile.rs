//! Compiles a mesh and a request to a [`Program`].

mod all_gather;
mod all_reduce;
mod all_to_all;
mod build;
mod channels;
mod data;
mod fabric;
mod link_shares;
mod reduce_scatter;
mod rooted;
mod send_receive;
mod shape;

use super::error::CclError;
use super::op::{Bidirectional, Op};
use super::program::Program;
use super::request::Request;
use super::transport::{Crossing, Transport};
use ::fabric::FabricPlan;
use build::Build;
use launch::topology::Topology;
use launch::topology::TopologyKind;
use layouts::ChipId;
use machine::target::Mesh;
use shape::Shape;

/// Compiles a collective.
///
/// # Errors
/// The reason why the collective cannot be compiled; nothing has been written.
pub fn compile(mesh: &Mesh, request: &Request) -> Result<Program, CclError> {
    compile_over(mesh, request, None)
}

/// Compiles a collective; over the fabric that runs on the mesh, if the request's transport is the
/// fabric.
///
/// # Errors
/// As [`compile`].
pub fn compile_over(
    mesh: &Mesh,
    request: &Request,
    running: Option<&FabricPlan>,
) -> Result<Program, CclError> {
    request.check()?;
    let (topology, fabric) = match request.transport {
        Transport::Edm => (topology(mesh, request)?, None),
        Transport::Fabric(options) => {
            let (topology, fabric) = fabric::ranks(mesh, request, options, running)?;
            (topology, Some(fabric))
        }
    };
    if request.root as usize >= topology.size() {
        let ranks = topology.size();
        return Err(CclError::RootOutOfRange { root: request.root, ranks });
    }
    direction(request, topology.kind)?;
    let shape = Shape::new(request, &topology)?;
    let mut build = Build::new(mesh, request, &topology, shape)?;
    for share in build.link_shares() {
        match request.op {
            Op::AllGather => all_gather::workers(&mut build, &share)?,
            Op::ReduceScatter => reduce_scatter::workers(&mut build, &share)?,
            Op::AllReduce => all_reduce::workers(&mut build, &share)?,
            Op::Broadcast => rooted::broadcast(&mut build, &share)?,
            Op::Reduce => rooted::reduce(&mut build, &share)?,
            Op::Gather => rooted::gather(&mut build, &share)?,
            Op::Scatter => rooted::scatter(&mut build, &share)?,
            Op::AllToAll => all_to_all::workers(&mut build, &share)?,
            Op::SendReceive => send_receive::workers(&mut build, &share)?,
        }
    }
    finish(build, fabric)
}

/// Returns the chips in rank order. A socket between two chips takes the shortest route, through
/// other chips if necessary.
fn topology(mesh: &Mesh, request: &Request) -> Result<Topology, CclError> {
    let found = match (request.op, request.topology, request.chips.as_slice()) {
        (Op::SendReceive, None | Some(TopologyKind::Line), &[from, to]) => {
            Topology::line_between(mesh, from, to, request.links)
        }
        (Op::SendReceive, None, chips) => {
            Topology::find(mesh, chips, Some(TopologyKind::Line), request.links)
        }
        (_, kind, chips) => Topology::find(mesh, chips, kind, request.links),
    };
    Ok(found?)
}

/// Checks that the operation supports the requested use of both directions on this topology.
fn direction(request: &Request, kind: TopologyKind) -> Result<(), CclError> {
    use Bidirectional::{FullTensors, HalfTensors, No};
    let (op, way) = (request.op, request.bidirectional);
    let why = match (kind, way) {
        (_, No) => return Ok(()),
        (TopologyKind::Line, HalfTensors) => "data cannot travel all the way round a line",
        (_, _) if op == Op::SendReceive => "a socket's credits need the opposite direction",
        (_, FullTensors) if op == Op::AllReduce => "each sum must pass every rank",
        _ => return Ok(()),
    };
    Err(CclError::Direction { op, kind, way, why })
}

fn crossing(
    build: &mut Build<'_>,
    fabric: Option<(FabricPlan, bool)>,
) -> Result<Option<Crossing>, CclError> {
    let (Some(fabric), Transport::Fabric(options)) = (fabric, build.request.transport) else {
        return Ok(None);
    };
    let Build { mesh, workers, tiles, .. } = build;
    let mut next = |chip: ChipId| {
        let (tiles, used) = tiles.entry(chip).or_default();
        *used += 1;
        let few = CclError::TooFewTiles { chip, wanted: *used, tiles: tiles.len() };
        tiles.get(*used - 1).copied().ok_or(few)
    };
    Crossing::new(mesh, fabric, options, workers, &mut next).map(Some)
}

/// Adds the fills, EDMs and checks of the workers.
fn finish(mut build: Build<'_>, fabric: Option<(FabricPlan, bool)>) -> Result<Program, CclError> {
    let pieces = build.pieces();
    let crossing = crossing(&mut build, fabric)?;
    let edms = if crossing.is_some() { Vec::new() } else { channels::edms(&build.workers) };
    let fills = data::fills(&build, &pieces)?;
    let (checks, expected) = data::checks(&build, &pieces)?;
    Ok(Program {
        chip_kind: build.mesh.kind,
        op: build.request.op,
        data_type: build.request.data_type,
        topology: build.topology.kind,
        ranks: build.topology.ranks.clone(),
        seed: build.request.seed,
        buffer_bytes: build.request.buffer_bytes,
        buffers_per_channel: build.request.buffers_per_channel,
        worker_initiated: build.request.worker_initiated,
        delay_cycles: build.request.delay_cycles,
        fills,
        edms,
        crossing,
        workers: build.workers,
        checks,
        expected,
        size_bytes: build.request.bytes,
        count: build.shape.count(),
        bus_factor: build.request.op.bus_factor(build.topology.size()),
    })
}
