//! The chain of waits in a run that does not end: from the workers to the link, and from the
//! dispatcher to the workers.

use super::bench::Bench;
use super::case::Case;
use super::cast::Cast;
use super::posts::Post;
use fabric::mux::Mux;
use fabric::traffic_outcome::TrafficOutcome;
use launch::ControlError;
use std::collections::BTreeMap;

/// Waiting phases of `fabric_traffic_phase_t` in words. In all other phases a worker runs.
const PHASES: [(u32, &str); 4] = [
    (1, "waits until the mux is ready (FOPW)"),
    (2, "waits for a slot of the mux (FWSW)"),
    (3, "waits until the mux answers its close (FCFW)"),
    (7, "waits for the other clients of the mux (NSMW)"),
];
/// The phase of a worker that has ended.
const ENDED: u32 = 4;

pub(super) fn chain(
    bench: &mut Bench,
    case: &Case,
    cast: &Cast,
) -> Result<Vec<String>, ControlError> {
    let mut chain = Vec::new();
    for (number, post) in bench.posts.clone().iter().enumerate() {
        let Some(mux) = cast.muxes.get(number) else { continue };
        workers(bench, case, cast, (number, mux), &mut chain)?;
        chain.push(mux_sentence(bench, mux)?);
        chain.push(router_sentence(bench, post)?);
    }
    let report = bench.dispatcher.report(&mut bench.target, &bench.images)?;
    let place = bench.dispatcher.place;
    chain.push(format!(
        "dispatcher {place} waits for {} cores, of which {} are done (PWW): DISPATCH_PROGRESS stays {} of {}",
        report.wait_count, report.done, report.progress, cast.commands
    ));
    Ok(chain)
}

/// Adds the workers of a mux, those in the same phase in one sentence.
fn workers(
    bench: &mut Bench,
    case: &Case,
    cast: &Cast,
    (number, mux): (usize, &Mux),
    chain: &mut Vec<String>,
) -> Result<(), ControlError> {
    let (senders, packets) = (cast.senders.get(number), case.packets.get(number));
    let pairs = senders.into_iter().flatten().zip(packets.into_iter().flatten());
    let mut alike = BTreeMap::<u32, Vec<String>>::new();
    for (channel, (&id, packets)) in pairs.enumerate() {
        let TrafficOutcome { phase, sent, .. } =
            cast.traffic.outcome(&mut bench.target, &bench.images, id)?;
        let place = cast.traffic.place(id)?;
        let path = format!("channels[{channel}].packets_forwarded");
        let forwarded = bench.mux_value(mux, &path)?;
        let worker = format!(
            "{place} (channel {channel}: {sent} of {packets} packets sent, {forwarded} forwarded)"
        );
        alike.entry(phase).or_default().push(worker);
    }
    for (phase, workers) in alike.into_iter().filter(|(phase, _)| *phase != ENDED) {
        let known = PHASES.iter().find(|(value, _)| *value == phase);
        let waits = known.map_or("runs", |(_, words)| words);
        chain.push(format!("worker {} {waits}", workers.join(", ")));
    }
    Ok(())
}

fn mux_sentence(bench: &mut Bench, mux: &Mux) -> Result<String, ControlError> {
    let place = mux.place;
    let holder = bench.mux_value(mux, "holder")?;
    if holder < u64::from(mux.channels) {
        return Ok(format!(
            "mux {place} waits for a slot of the router for channel {holder} (FWSW)"
        ));
    }
    let closing = bench.mux_value(mux, "router.stage")? == 3;
    Ok(if closing {
        format!("mux {place} waits until the router answers its close (FCFW)")
    } else {
        format!("mux {place} polls its channels")
    })
}

fn router_sentence(bench: &mut Bench, post: &Post) -> Result<String, ControlError> {
    let (place, kernel) = (post.router.place, bench.plan.router_image());
    let mut count = |path: &str| bench.value(place, kernel, path);
    let sent = count("fabric_router_state.senders[0].packets_sent")?;
    let completed = count("fabric_router_state.senders[0].packets_completed")?;
    let free = count("fabric_router::remotes[0].free_slots")?;
    let eth = post.router.eth;
    Ok(format!(
        "router {eth} has sent {sent} packets of this channel, {completed} are completed, and the peer has {free} free slots"
    ))
}
