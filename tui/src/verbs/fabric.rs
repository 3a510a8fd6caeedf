//! `fabric`: routers, muxes and clients, their channels and the credits of both ends of each link, once.

mod keep;
mod routes;
mod status;
mod waits;

pub(super) use keep::KeptEntry;

use super::cores;
use super::target::{Style, cell, end_of_all, judge, open, tell};
use crate::args::FabricQuestion;
use crate::exit::{Failure, Outcome};
use crate::fabric::{channel_table, client_table, ledger_table, link, mux_table};
use crate::feed::Sample;
use crate::locate::{self, Place};
use crate::machine::{Machine, Opening};
use crate::output::{Columns, json, say, text};
use crate::shape;
use decode::inspect::{Interest, fabric_interest};
use decode::state::{FabricState, MeshState, Reading, RouterState, Verdict};
use layouts::{ChipId, NocXy};

const ROUTERS: [&str; 8] =
    ["ROUTER", "NODE", "DIRECTION", "STATUS", "LINK", "SENT", "RECEIVED", "DROPPED"];
/// How many looks follow what the first one led to: from routers to muxes, their clients, and the words of all of them.
const MOST_LOOKS: usize = 6;
/// The names of what a router counts as dropped.
const DROPS: [&str; 3] = ["expired", "timed_out", "routing_errors"];

/// Answers one of the questions beside the first.
pub(super) fn ask(
    target: &Opening,
    style: Style,
    question: &FabricQuestion,
) -> Result<Outcome, Failure> {
    match question {
        FabricQuestion::Status(options) => status::run(target, style, options, false),
        FabricQuestion::Drain(options) => status::run(target, style, options, true),
        FabricQuestion::Tables(options) => routes::tables(target, style, options),
        FabricQuestion::Path(options) => routes::path(target, style, *options),
        FabricQuestion::Waits(options) => waits::run(target, style, options),
    }
}

pub(super) fn run(target: &Opening, style: Style, place: Option<&str>) -> Result<Outcome, Failure> {
    let place = place.map(locate::place).transpose().map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    cores::check_on(&machine.mesh(), place)?;
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    let (_, sample) = follow(&mut machine, interest);
    if let Some(gone) = end_of_all(&sample.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let mut state = sample.state;
    narrow(&mut state.fabric, place);
    tell(target, &state);
    if style.json {
        json(shape::fabric(&target.words, &state))?;
    } else {
        text(&page(style, &state.fabric, place.is_some()))?;
    }
    let FabricState { routers, muxes, clients, .. } = &state.fabric;
    if routers.is_empty() && muxes.is_empty() && clients.is_empty() {
        say("no router, mux or client of a fabric runs there");
    }
    Ok(outcome(&state))
}

/// Looks until nothing new comes: which packets are oldest, who the clients are and where their words stand is only known
/// after a look at who they send to.
fn follow(machine: &mut Machine, mut interest: Interest) -> (Interest, Sample) {
    let mut sample = machine.take(&interest);
    for look in 0..MOST_LOOKS {
        let next = fabric_interest(&sample.state.fabric, &interest);
        // Whether counts do not add up because packets move shows only a second look.
        if next == interest && look > 0 || end_of_all(&sample.memory).is_some() {
            break;
        }
        interest = next;
        sample = machine.take(&interest);
    }
    (interest, sample)
}

/// A look that has all of a fabric, if there is one: words and packets that are known only after a look at who was told of them.
pub(super) fn whole(machine: &mut Machine, interest: &Interest) -> Sample {
    let mut wish = interest.clone();
    let mut sample = machine.take(&wish);
    for _ in 0..MOST_LOOKS {
        let fabric = &sample.state.fabric;
        let none =
            fabric.routers.is_empty() && fabric.muxes.is_empty() && fabric.clients.is_empty();
        let next = fabric_interest(fabric, &wish);
        if none || next == wish || end_of_all(&sample.memory).is_some() {
            break;
        }
        wish = next;
        sample = machine.take(&wish);
    }
    sample
}

/// What a person asked for, and what its clients and muxes are if that is a chip.
fn narrow(fabric: &mut FabricState, place: Option<Place>) {
    let Some(place) = place else { return };
    fabric.routers.retain(|router| {
        matches!(place, Place::Channel(chip, channel)
            if router.at.chip == chip && router.at.channel == channel)
            || is_at(place, router.at.chip, router.tile)
    });
    let FabricState { routers, tables, .. } = fabric;
    tables.retain(|tables| routers.iter().any(|router| router.at == tables.at));
    fabric.muxes.retain(|mux| is_at(place, mux.at.chip, mux.at.tile));
    fabric.clients.retain(|client| is_at(place, client.at.chip, client.at.tile));
}

fn is_at(place: Place, chip: ChipId, tile: NocXy) -> bool {
    match place {
        Place::Chip(of) => of == chip,
        Place::Tile(of, xy, _) => of == chip && xy == tile,
        Place::Channel(..) | Place::Address(_) => false,
    }
}

fn outcome(state: &MeshState) -> Outcome {
    let refused =
        |router: &RouterState| router.refusal.known().is_some_and(|refusal| *refusal != 0);
    let miscounted = state.fabric.ledgers.iter().any(|l| l.verdict == Verdict::Miscounted);
    if miscounted || state.fabric.routers.iter().any(refused) {
        Outcome::Findings
    } else {
        judge(state)
    }
}

fn page(style: Style, fabric: &FabricState, channels: bool) -> String {
    let mut page = routers(style, fabric);
    let shown = |at| fabric.routers.iter().any(|router| router.at == at);
    let ledgers = fabric.ledgers.iter().filter(|it| shown(it.from) || shown(it.to));
    page += "\n";
    page += &ledger_table(ledgers);
    if !fabric.muxes.is_empty() {
        page += "\n";
        page += &mux_table(style.glyphs, &fabric.muxes);
    }
    if !fabric.clients.is_empty() {
        page += "\n";
        page += &client_table(style.glyphs, &fabric.clients);
    }
    let detail = |router: &RouterState| {
        format!("\n{} {}\n{}", router.at, router.image, channel_table(style.glyphs, router))
    };
    page.extend(fabric.routers.iter().filter(|_| channels).map(detail));
    page
}

fn routers(style: Style, fabric: &FabricState) -> String {
    let mut table = Columns::new(&ROUTERS);
    for router in &fabric.routers {
        let sum = |all: &mut dyn Iterator<Item = &Reading<u64>>| {
            let all: Option<u64> = all.map(|count| count.known().copied()).sum();
            all.map_or("?".to_owned(), |sum| sum.to_string())
        };
        let drops = router.counts.iter().filter(|(name, _)| DROPS.contains(name));
        table.row(vec![
            router.at.to_string(),
            cell(style, &router.node, ToString::to_string),
            cell(style, &router.direction, |direction| direction.name().to_owned()),
            cell(style, &router.status, |status| (*status).to_owned()),
            cell(style, &router.link, |it| link(*it)),
            sum(&mut router.senders.iter().map(|channel| &channel.sent)),
            sum(&mut router.receivers.iter().map(|channel| &channel.received)),
            sum(&mut drops.map(|(_, count)| count)),
        ]);
    }
    table.text()
}
