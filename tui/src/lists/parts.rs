//! The rows of routers, muxes and clients of the fabric.

use crate::model::{List, Model};
use crate::table::{Cell, Rank, Row, Value};
use console::fabric::{self, FabricPart};
use console::reading::short;
use console::words;
use decode::state::{LedgerState, ReceiverState, RouterState, SenderState, Verdict};
use diagnosis::Place;
use images::Reading;
use layouts::{CoreId, EthId};
use ratatui::style::Style;
use ratatui::text::Span;

/// The rows of all parts of the fabric.
pub(crate) fn part_rows(model: &Model) -> Vec<Row> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let row = |(item, part): (usize, FabricPart<'_>)| {
        let chip = part.tile().0;
        Row {
            key: part.name(),
            item,
            rank: rank(model, &part),
            place: core(model, &part).map(Place::Core),
            cells: part_cells(model, &part),
            hidden: vec![("chip", Value::Number(Some(chip.0.into())))],
        }
    };
    FabricPart::all(&mesh.fabric).enumerate().map(row).collect()
}

/// The selected part.
pub(crate) fn part_selected(model: &Model) -> Option<FabricPart<'_>> {
    FabricPart::all(&model.mesh()?.fabric).nth(model.lists[List::Parts].selected()?.item)
}

/// The packet that has stood longest, of those at the heads of channels: whose it is, and where.
pub(crate) fn oldest_packet(model: &Model) -> Option<String> {
    let mesh = model.mesh()?;
    let parts = FabricPart::all(&mesh.fabric).filter_map(|part| Some((stood(model, &part)?, part)));
    let held = parts.filter_map(|(stood, part)| {
        let packet = part.heads().find_map(|head| head.packet.known())?;
        Some((stood, part, packet.facts.clone()))
    });
    let (stood, part, facts) = held.max_by_key(|(stood, ..)| *stood)?;
    let g = model.glyphs;
    let source =
        short(g, &facts.source, |node| format!("{node} (chip {})", fabric::chip_of(mesh, *node)));
    let number = short(g, &facts.number, u64::to_string);
    let stood = if stood == 0 { "moves".to_owned() } else { words::brief(stood) };
    Some(format!("oldest packet: #{number} of {source}, at {}, {stood}", part.name()))
}

/// How much a part matters. A client or a mux is never idle: it says what it waits for.
fn rank(model: &Model, part: &FabricPart<'_>) -> Rank {
    let (chip, tile) = part.tile();
    let held = model.pulse.held(chip, tile);
    let FabricPart::Router(router) = part else {
        return held.unwrap_or(Rank::Moves);
    };
    let worst = worst_credits(model, router.at).map(|ledger| ledger.verdict);
    let down = router.facts.link.value().is_some_and(|link| link != 0);
    let holds = |channel: &ReceiverState| channel.head.is_some();
    let queued = router.senders.iter().filter_map(|channel| channel.facts.queued.known());
    match (held, worst) {
        _ if router.refused() || down => Rank::Fault,
        (_, Some(Verdict::Miscounted)) => Rank::Fault,
        (Some(rank), _) => rank,
        _ if model.pulse.stands(chip, tile).is_some() => Rank::Slow,
        _ if model.pulse.sends(router.at).is_some_and(|rate| rate > 0) => Rank::Moves,
        (_, Some(Verdict::BackPressured | Verdict::Paused | Verdict::Full)) => Rank::Moves,
        _ if router.receivers.iter().any(holds) || queued.sum::<u64>() > 0 => Rank::Moves,
        _ => Rank::Idle,
    }
}

/// The cells of a part, with the fields that filters name.
fn part_cells(model: &Model, part: &FabricPart<'_>) -> Vec<Cell> {
    let style = tone(model, part);
    let [at, what, status, packets, wait] = part_texts(model, part);
    let text = |field, text: String| Cell::text(field, Span::styled(text, style));
    let sends = match part {
        FabricPart::Router(router) => model.pulse.sends(router.at),
        FabricPart::Mux(_) | FabricPart::Client(_) => None,
    };
    let sends_text = sends.map_or(String::new(), words::count);
    let stood = stood(model, part);
    let stood_text = match stood {
        None => Span::raw(""),
        Some(0) => Span::styled("moves", model.theme.ok()),
        Some(cycles) => Span::styled(words::brief(cycles), style),
    };
    vec![
        text("part", at),
        text("what", what),
        text("status", status),
        text("packets", packets),
        Cell::number("rate", Span::styled(sends_text, style), sends),
        Cell::number("still", stood_text, stood),
        text("wait", wait),
    ]
}

/// The core of a part.
fn core(model: &Model, part: &FabricPart<'_>) -> Option<CoreId> {
    Some(match part {
        FabricPart::Router(router) => model.mesh()?.eth(router.at)?.cores.first()?.id,
        FabricPart::Mux(mux) => mux.at,
        FabricPart::Client(client) => client.at,
    })
}

/// How long the core of a part stands by the verdict, in cycles; 0 if it moves.
fn stood(model: &Model, part: &FabricPart<'_>) -> Option<u64> {
    let core = core(model, part)?;
    super::cores::stood(model, core, model.verdict()?.progress.get(&core).copied())
}

fn tone(model: &Model, part: &FabricPart<'_>) -> Style {
    let FabricPart::Router(router) = part else { return Style::new() };
    let (chip, tile) = part.tile();
    match worst_credits(model, router.at).map(|ledger| ledger.verdict) {
        _ if router.refused() => model.theme.bad(),
        Some(Verdict::Miscounted) => model.theme.bad(),
        _ if router.facts.link.value().is_some_and(|link| link != 0) => model.theme.bad(),
        // A fabric under load is full, and healthy.
        _ if model.pulse.stands(chip, tile).is_some() => model.theme.warn(),
        _ => Style::new(),
    }
}

/// The texts of a part.
fn part_texts(model: &Model, part: &FabricPart<'_>) -> [String; 5] {
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
fn worst_credits(model: &Model, from: EthId) -> Option<&LedgerState> {
    let ledgers = &model.mesh()?.fabric.ledgers;
    ledgers.iter().filter(|ledger| ledger.from == from).max_by_key(|ledger| ledger.verdict)
}
