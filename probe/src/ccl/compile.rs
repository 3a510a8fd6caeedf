//! A mesh and a wish become a [`Program`].

mod all_gather;
mod build;
mod channels;
mod data;
mod shape;

use super::error::CclError;
use super::program::{Op, Program};
use super::request::{Bidirectional, Request, TopologyKind};
use super::topology::Topology;
use crate::target::Mesh;
use build::Build;
use shape::Shape;

/// Compiles a collective.
///
/// # Errors
/// What keeps it from being, before anything is written.
pub fn compile(mesh: &Mesh, request: &Request) -> Result<Program, CclError> {
    request.check_sizes()?;
    if request.root > 0 && !request.op.has_root() {
        return Err(CclError::NoRoot(request.op));
    }
    let topology = Topology::find(mesh, &request.chips, request.topology, request.links)?;
    if request.root as usize >= topology.size() {
        let ranks = topology.size();
        return Err(CclError::RootOutOfRange { root: request.root, ranks });
    }
    direction(request, topology.kind)?;
    let shape = Shape::new(request, &topology)?;
    let mut build = Build::new(mesh, request, &topology, shape)?;
    for lane in build.lanes() {
        match request.op {
            Op::AllGather => all_gather::workers(&mut build, &lane)?,
            op => {
                let (kind, way) = (topology.kind, request.bidirectional);
                return Err(CclError::Direction { op, kind, way, why: "it is still being built" });
            }
        }
    }
    build.finish()
}

/// Can the operation use the directions of this topology in that way?
fn direction(request: &Request, kind: TopologyKind) -> Result<(), CclError> {
    use Bidirectional::{FullTensors, HalfTensors, No};
    let (op, way) = (request.op, request.bidirectional);
    let why = match (kind, way) {
        (_, No) => return Ok(()),
        (TopologyKind::Line, HalfTensors) => "what leaves a chip of a line cannot come round",
        (_, _) if op == Op::SendReceive => "a socket's credits go the other way",
        (_, FullTensors) if matches!(op, Op::ReduceScatter | Op::AllReduce) => {
            "a sum has to pass every rank"
        }
        _ => return Ok(()),
    };
    Err(CclError::Direction { op, kind, way, why })
}
