//! Routers, muxes and clients of the fabric: the cells of a row, and the filter.

use crate::model::Model;
use console::fabric::{self, FabricPart};
use console::reading::short;
use decode::state::{LedgerState, ReceiverState, RouterState, SenderState, Verdict};
use images::Reading;
use layouts::EthId;

/// The parts of the fabric that pass the filter.
pub(crate) fn parts(model: &Model) -> Vec<FabricPart<'_>> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let wanted = model.part_filter.to_lowercase();
    let holds = |part: &FabricPart<'_>| {
        wanted.is_empty() || text(model, part).to_lowercase().contains(&wanted)
    };
    FabricPart::all(&mesh.fabric).filter(holds).collect()
}

/// The text of a row, which `/` searches.
fn text(model: &Model, part: &FabricPart<'_>) -> String {
    part_cells(model, part).join(" ")
}

/// A row of the list.
pub(crate) fn part_cells(model: &Model, part: &FabricPart<'_>) -> [String; 5] {
    let g = model.glyphs;
    let count = |reading: &Reading<u64>| short(g, reading, u64::to_string);
    match part {
        FabricPart::Router(router) => {
            let node = short(g, &router.facts.node, ToString::to_string);
            let direction = short(g, &router.facts.direction, |it| it.name().to_owned());
            let queued = total(router.senders.iter().map(|channel| &channel.facts.queued));
            let (flying, received) = (in_flight(&router.senders), received(&router.receivers));
            [
                router.at.to_string(),
                format!("router {node} {direction}"),
                fabric::stage_or_status(g, router),
                format!("{queued}+{flying}+{received}"),
                link_or_wait(model, router),
            ]
        }
        FabricPart::Mux(mux) => [
            mux.at.to_string(),
            format!("mux {}", fabric::policy(g, mux)),
            short(g, &mux.facts.status, ToString::to_string),
            total(mux.channels.iter().map(|channel| &channel.facts.queued)),
            match &mux.facts.holder {
                Reading::Known(holder) => format!("slot of the router, channel {holder}"),
                _ => String::new(),
            },
        ],
        FabricPart::Client(client) => [
            client.at.to_string(),
            format!("{} to {}", client.name, fabric::target(client)),
            fabric::stage(g, client),
            count(&client.facts.used),
            fabric::client_wait(client).to_owned(),
        ],
    }
}

/// Packets in flight of a router; where only bounds are known, the most that there can be.
fn in_flight(senders: &[SenderState]) -> String {
    let count = |channel: &SenderState| {
        channel.facts.in_flight.known().copied().or(channel.in_flight_at_most)
    };
    let bounded = senders.iter().any(|channel| channel.facts.in_flight.known().is_none());
    match senders.iter().map(count).sum::<Option<u64>>() {
        None => "?".to_owned(),
        Some(most) if bounded && most > 0 => format!("<={most}"),
        Some(count) => count.to_string(),
    }
}

/// Packets that the receivers of a router hold; where a router keeps a count to itself, the least.
fn received<'a>(receivers: impl IntoIterator<Item = &'a ReceiverState>) -> String {
    let (mut least, mut exact) = (0, true);
    for ReceiverState { facts, .. } in receivers {
        let Some(arrived) = facts.arrived.known() else { return "?".to_owned() };
        least += arrived + facts.held.known().unwrap_or(&0);
        exact &= facts.held.known().is_some();
    }
    match (exact, least) {
        (true, _) => least.to_string(),
        (false, 0) => "?".to_owned(),
        (false, _) => format!(">={least}"),
    }
}

/// A sum; `?` where a part of it is not known.
fn total<'a>(all: impl Iterator<Item = &'a Reading<u64>>) -> String {
    let sum: Option<u64> = all.map(|count| count.known().copied()).sum();
    sum.map_or("?".to_owned(), |sum| sum.to_string())
}

/// What a router's receivers wait for, and the state of its link.
fn link_or_wait(model: &Model, router: &RouterState) -> String {
    let waits =
        router.receivers.iter().filter(|channel| channel.facts.waits_for.value() != Some(0));
    let waits: Vec<_> = waits
        .filter(|channel| channel.head.is_some())
        .map(|channel| {
            let (count, wait) = (received([channel]), fabric::receiver_wait(model.glyphs, channel));
            format!("receiver {}: {count} of {}, {wait}", channel.index, channel.slots)
        })
        .collect();
    // The credits are those of what it sends: empty does not hold for a router that holds packets.
    let credits = worst_credits(model, router.at);
    let credits = credits.filter(|it| waits.is_empty() || it.verdict != Verdict::Empty);
    let link = match router.facts.link {
        Reading::Absent => None,
        _ => Some(fabric::link(model.glyphs, router)),
    };
    let link: Vec<_> = credits.map(LedgerState::words).into_iter().chain(link).collect();
    let link = Some(link.join(", ")).filter(|link| !link.is_empty());
    waits.into_iter().chain(link).collect::<Vec<_>>().join("; ")
}

/// The worst credit verdict of the link in this router's direction.
pub(crate) fn worst_credits(model: &Model, from: EthId) -> Option<&LedgerState> {
    let ledgers = &model.mesh()?.fabric.ledgers;
    ledgers.iter().filter(|ledger| ledger.from == from).max_by_key(|ledger| ledger.verdict)
}
