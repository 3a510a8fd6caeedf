//! Evidence about a failed run: links that are down on the route to far chips, and cores whose
//! heartbeat has stopped.

use crate::ControlError;
use crate::outcome::{Cause, RunError};
use layouts::{ChipId, EthId};
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Mesh, Target};
use std::collections::BTreeMap;

/// Time between two reads of a heartbeat, in cycles. Base firmware increments it every few thousand
/// cycles, whenever a kernel yields the core.
const PAUSE_CYCLES: u64 = 100_000;

/// Returns a note on each gateway whose link is down. If none is known to be down and a far chip
/// did not answer, returns a note on that chip's gateways.
pub fn gateway_notes(target: &mut dyn Target, error: &RunError) -> Vec<String> {
    let lost = match &error.cause {
        Cause::InUse(_)
        | Cause::NotAllowed(_)
        | Cause::Program(_)
        | Cause::Control(ControlError::Gone(AccessError::DeviceGone(_)))
        | Cause::Access(AccessError::DeviceGone(_)) => return Vec::new(),
        Cause::Control(ControlError::Access { addr, .. }) => Some(addr.chip),
        _ => None,
    };
    let mut gateways: BTreeMap<EthId, Vec<ChipId>> = BTreeMap::new();
    for chip in &target.mesh().chips {
        for end in chip.gateway.iter().flatten() {
            gateways.entry(*end).or_default().push(chip.id);
        }
    }
    // The queue of a tile without a link routes through other tiles.
    let mesh = target.mesh();
    let linked = |end| mesh.links.iter().any(|link| link.a == end || link.b == end);
    gateways.retain(|end, chips| linked(*end) && lost.is_none_or(|lost| chips.contains(&lost)));
    let spans = gateways.keys().filter_map(|end| spans(mesh, *end)).flatten().collect();
    let snapshot = target.read(&Plan { spans });
    let mesh = target.mesh();
    let down = gateways.iter().filter(|(end, _)| is_down(mesh, &snapshot, **end));
    let down: Vec<String> = down
        .map(|(end, chips)| {
            let link = mesh.links.iter().find(|link| link.a == *end || link.b == *end);
            let link = link.map_or(format!("of {end}"), |link| format!("{}-{}", link.a, link.b));
            format!("link {link} is down, a route to {}", list("chip", chips))
        })
        .collect();
    if !down.is_empty() {
        return down;
    }
    let ends: Vec<EthId> = gateways.into_keys().collect();
    let lost = lost.filter(|_| !ends.is_empty());
    let reached = |lost| {
        format!("chip {lost} is reached through {}, whose links are up now", list("", &ends))
    };
    lost.map(reached).into_iter().collect()
}

fn list(noun: &str, each: &[impl ToString]) -> String {
    let names: Vec<String> = each.iter().map(ToString::to_string).collect();
    let plural = if noun.is_empty() || names.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", names.join(",")).trim().to_owned()
}

fn spans(mesh: &Mesh, end: EthId) -> Option<[Span; 2]> {
    let (place, l1) = (mesh.place(end).ok()?, &mesh.layout().eth.l1);
    Some([l1.train_status.at, l1.link_status.at].map(|at| Span { addr: place.at(at), len: 4 }))
}

/// Returns true if a status word shows the link down. A link status of zero, which no firmware has
/// filled, does not count.
fn is_down(mesh: &Mesh, snapshot: &Snapshot, end: EthId) -> bool {
    let Some([train, status]) = spans(mesh, end) else { return false };
    let values = &mesh.layout().eth.values;
    snapshot.word(train.addr).is_ok_and(|train| train != values.train_up)
        || snapshot.word(status.addr).is_ok_and(|status| ![0, values.link_up].contains(&status))
}

/// Returns true if the status words of this Ethernet tile show its link down.
pub fn link_is_down(target: &mut dyn Target, end: EthId) -> bool {
    let spans = spans(target.mesh(), end).into_iter().flatten().collect();
    let snapshot = target.read(&Plan { spans });
    is_down(target.mesh(), &snapshot, end)
}

/// Returns those of the Ethernet cores whose heartbeat has stopped, provided that the heartbeat of
/// another one of them, or of the other end of one of their links, moves.
///
/// # Errors
/// When time cannot pass.
pub fn stuck_cores(target: &mut dyn Target, cores: &[Place]) -> Result<Vec<Place>, RunError> {
    let heartbeat = target.mesh().layout().eth.l1.heartbeat.at;
    let beat = |place: Place| place.at(heartbeat);
    let mut inspected: Vec<Place> = cores.to_vec();
    let mesh = target.mesh();
    for link in &mesh.links {
        let (Ok(a), Ok(b)) = (mesh.place(link.a), mesh.place(link.b)) else { continue };
        inspected.extend(cores.contains(&a).then_some(b));
        inspected.extend(cores.contains(&b).then_some(a));
    }
    let span = |place: &Place| Span { addr: beat(*place), len: 4 };
    let plan = Plan { spans: inspected.iter().map(span).collect() };
    let before = target.read(&plan);
    target.pass(PAUSE_CYCLES)?;
    let after = target.read(&plan);
    let moved = |place: &Place| {
        let (before, after) = (before.word(beat(*place)).ok()?, after.word(beat(*place)).ok()?);
        Some(before != after)
    };
    if !inspected.iter().any(|place| moved(place) == Some(true)) {
        return Ok(Vec::new());
    }
    Ok(cores.iter().copied().filter(|place| moved(place) == Some(false)).collect())
}
