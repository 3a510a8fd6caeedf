//! The ranks of a collective that goes over a fabric, and that fabric.

use crate::error::CclError;
use crate::request::Request;
use crate::transport::FabricOptions;
use fabric::{FabricPlan, FabricRequest};
use launch::topology::Topology;
use launch::topology::TopologyError;
use launch::topology::TopologyKind;
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::target::Mesh;

/// The order of the ranks, and the fabric: the one that runs, or else one that is to be brought up.
pub(super) fn ranks(
    mesh: &Mesh,
    request: &Request,
    options: FabricOptions,
    running: Option<&FabricPlan>,
) -> Result<(Topology, (FabricPlan, bool)), CclError> {
    let ordered = super::topology(mesh, &Request { links: 1, ..request.clone() });
    let (topology, plan) = match running {
        Some(plan) => (ordered.or_else(|error| any_order(plan, request, error))?, plan.clone()),
        None => planned(mesh, request, options, ordered)?,
    };
    if request.links > plan.planes {
        return Err(CclError::TooFewPlanes { links: request.links, planes: plan.planes });
    }
    let outside = topology.ranks.iter().find(|chip| plan.node(**chip).is_none());
    if let (Some(&to), Some(&from)) = (outside, topology.ranks.first()) {
        return Err(CclError::NoRoute { from, to });
    }
    Ok((topology, (plan, running.is_some())))
}

/// A line or ring of the ranks alone if they form one, else, or if it was asked for, a mesh or torus of all chips.
fn planned(
    mesh: &Mesh,
    request: &Request,
    options: FabricOptions,
    ordered: Result<Topology, CclError>,
) -> Result<(Topology, FabricPlan), CclError> {
    let plan = |topology, chips: &[ChipId]| {
        let of = |planes| {
            let chips = chips.to_vec();
            FabricPlan::new(mesh, &FabricRequest { chips, planes, ..FabricRequest::new(topology) })
        };
        let found = match options.planes {
            Some(planes) => of(Some(planes)),
            None => of(Some(request.links + 1)).or_else(|_| of(None)),
        };
        found.map_err(|error| CclError::NoFabric(Box::new(error)))
    };
    match (options.topology, ordered) {
        (Some(kind), Ok(topology)) if kind.is_2d() => Ok((topology, plan(kind, &[])?)),
        (Some(kind), Ok(topology)) => {
            let plan = plan(kind, &topology.ranks)?;
            Ok((topology, plan))
        }
        (Some(kind), Err(error)) if kind.is_2d() => {
            let plan = plan(kind, &[])?;
            Ok((any_order(&plan, request, error)?, plan))
        }
        (None, Ok(topology)) => {
            let ring = topology.kind == TopologyKind::Ring;
            let first = if ring { FabricTopology::Ring } else { FabricTopology::Line };
            let found = plan(first, &topology.ranks)
                .or_else(|error| plan(FabricTopology::Line, &topology.ranks).map_err(|_| error))
                .or_else(|error| plan(FabricTopology::Mesh, &[]).map_err(|_| error))?;
            Ok((topology, found))
        }
        (_, Err(error)) => Err(error),
    }
}

/// The chips as they were named, or row after row: over a fabric every rank reaches every other.
fn any_order(plan: &FabricPlan, request: &Request, error: CclError) -> Result<Topology, CclError> {
    if !matches!(error, CclError::Topology(TopologyError::NoTopology { .. })) {
        return Err(error);
    }
    let all = || plan.meshes.iter().flat_map(|mesh| mesh.chips.clone()).collect();
    let ranks = if request.chips.is_empty() { all() } else { request.chips.clone() };
    let kind = request.topology.unwrap_or(TopologyKind::Ring);
    Ok(Topology { kind, edges: vec![Vec::new(); ranks.len()], ranks })
}
