//! A run that is brought to a point and left there, with its host gone.

use super::bench::Bench;
use super::case::{Case, Congestion};
use super::{MuxSetup, MuxWait};
use crate::scene::SceneError;
use access::bar_target::BarTarget;
use fabric::traffic::WorkerId;
use images::ImageMap;
use machine::place::Place;
use machine::target::Target;

/// A mesh with the kernels of a run.
pub struct StagedMux {
    /// The mesh.
    pub target: BarTarget,
    /// The images that run there.
    pub images: ImageMap,
    /// The muxes, by link; those with congestion come first.
    pub muxes: Vec<Place>,
    /// The senders of each mux.
    pub senders: Vec<Vec<Place>>,
    /// Every kernel of the run.
    pub kernels: Vec<(Place, &'static str)>,
}

/// Launches a case and passes time up to the end of the congestion's beginning; no core is held.
///
/// # Errors
/// When the mesh or its fabric cannot be built.
pub fn stage(
    setup: &MuxSetup<'_>,
    case: &Case,
    wait: MuxWait,
    congestion: Option<&Congestion>,
) -> Result<StagedMux, SceneError> {
    let mut bench = Bench::open(setup)?;
    let cast = bench.start(case, wait)?;
    let start = bench.target.now()?;
    bench.congest(case, congestion, start)?;
    let begins = congestion.map_or(0, |congestion| congestion.from_cycles);
    bench.target.pass(begins)?;
    let mut kernels = vec![(bench.dispatcher.place, "dispatch")];
    kernels.extend(cast.muxes.iter().map(|mux| (mux.place, mux.kernel())));
    for &id in cast.senders.iter().flatten().chain(&cast.receivers) {
        kernels.push((cast.traffic.place(id)?, "fabric_traffic"));
    }
    let router = bench.plan.router_image();
    kernels.extend(bench.plan.routers.iter().map(|at| (at.place, router)));
    let muxes = cast.muxes.iter().map(|mux| mux.place).collect();
    let place = |id: &WorkerId| cast.traffic.place(*id);
    let senders = cast.senders.iter().map(|mux| mux.iter().map(place).collect());
    let senders = senders.collect::<Result<_, _>>()?;
    Ok(StagedMux { target: bench.target, images: bench.images, muxes, senders, kernels })
}
