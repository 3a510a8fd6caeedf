//! The tiles of a run: routers of one chip, for each a mux with its workers and a receiver at the
//! other end, and a dispatcher.

use super::MuxSetup;
use crate::scene::SceneError;
use collectives::idle_tiles;
use fabric::{FabricPlan, FabricRequest, Router};
use launch::Dispatcher;
use layouts::ChipId;
use machine::fabric::{FabricTopology, MuxCore};
use machine::place::Place;
use machine::target::Mesh;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Default number of links.
const MOST_LINKS: usize = 2;

/// A router of the first chip, the mux in front of it, its workers, and the receiver at the other
/// end.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) router: Router,
    pub(super) mux: Place,
    pub(super) senders: Vec<Place>,
    pub(super) receiver: Place,
}

/// Returns the fabric of a run: of the chips with PCIe the one with the most routers, its first
/// links, and the chips at their other ends.
pub(super) fn neighbourhood(
    mesh: &Mesh,
    setup: &MuxSetup<'_>,
) -> Result<(Vec<Router>, FabricPlan), SceneError> {
    let line = || FabricRequest::new(FabricTopology::Line);
    let whole = FabricPlan::new(mesh, &line()).map_err(SceneError::Fabric)?;
    let near = mesh.chips.iter().filter(|chip| chip.pcie).map(|chip| chip.id);
    let first = near.min_by_key(|&chip| (Reverse(routers_of(&whole, chip).len()), chip));
    let first = first.unwrap_or(ChipId(0));
    let mut routers = routers_of(&whole, first);
    let (all, links) = (routers.len(), setup.links.unwrap_or(MOST_LINKS.min(routers.len())));
    if links == 0 || links > all {
        let why = format!("{}: {links} links requested; chip {first} has {all}", setup.mesh);
        return Err(SceneError::BadOption(why));
    }
    routers.truncate(links);
    let mut chips: Vec<ChipId> = routers.iter().map(|router| router.peer.chip).collect();
    chips.push(first);
    chips.sort_unstable();
    chips.dedup();
    let request = FabricRequest { chips, ..line() };
    let plan = FabricPlan::new(mesh, &request).map_err(SceneError::Fabric)?;
    // The same links, by their places in this fabric.
    let ends: Vec<_> = routers.iter().map(|router| router.eth).collect();
    let mut routers = routers_of(&plan, first);
    routers.retain(|router| ends.contains(&router.eth));
    Ok((routers, plan))
}

fn routers_of(plan: &FabricPlan, chip: ChipId) -> Vec<Router> {
    plan.routers.iter().filter(|router| router.eth.chip == chip).copied().collect()
}

/// Returns the tiles of a run: for each router a mux with its workers on the same chip, and a
/// receiver at the other end.
pub(super) fn posts(
    mesh: &Mesh,
    routers: &[Router],
    setup: &MuxSetup<'_>,
) -> Result<(Vec<Post>, Dispatcher), SceneError> {
    let few = || {
        let links = routers.len();
        SceneError::BadOption(format!("{}: a chip has too few tiles for {links} muxes", setup.mesh))
    };
    let first = routers.first().map(|router| router.eth.chip).ok_or_else(few)?;
    let tiles = |chip: ChipId| mesh.compute_tiles(chip);
    let mut near = tiles(first);
    let mut idle = idle_tiles(mesh, first).into_iter();
    let mut far = BTreeMap::new();
    let dispatcher = Dispatcher { place: near.next().ok_or_else(few)? };
    let mut posts = Vec::new();
    for &router in routers {
        let on_tensix = setup.core == MuxCore::Tensix;
        let mux = if on_tensix { near.next() } else { idle.next() };
        let senders: Vec<Place> = near.by_ref().take(setup.workers).collect();
        let chip = router.peer.chip;
        let receiver = far.entry(chip).or_insert_with(|| tiles(chip)).next();
        let complete = senders.len() == setup.workers;
        let (Some(mux), Some(receiver), true) = (mux, receiver, complete) else {
            return Err(few());
        };
        posts.push(Post { router, mux, senders, receiver });
    }
    Ok((posts, dispatcher))
}
