//! `fabric`: routers, muxes and clients, their channels and the credits of both ends of each link,
//! once.

mod check;
mod keep;
pub(super) mod rebuild;
mod routes;
mod status;
mod waits;

pub(super) use keep::KeptEntry;

use super::cores;
use crate::args::FabricQuestion;
use crate::output::{Columns, Page, json, say};
use crate::shape;
use crate::shape::schema;
use crate::target::{Style, cell, end_of_all, judge, open, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, inspected};
use console::exit::{Failure, Outcome};
use console::fabric::{
    candidates, channel_table, client_table, client_text, ledger_table, link, mux_table, mux_text,
    router_text, unknown_text,
};
use console::feed::MeshSnapshot;
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{ClientState, FabricState, MeshState, MuxState, RouterState};
use images::Reading;

/// Print the routers, muxes and clients of the fabric with their channels and credits, once.
///
/// Subcommands print its status queues, waits, routing tables and paths, prove and load routing tables,
/// and rebuild it without a chip, row or column.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct FabricArguments {
    /// Only this chip, tile, Ethernet channel or core, with its channels: 0, 0:9-6, 0:e8 or
    /// 0:9-6:erisc.
    pub(crate) place: Option<String>,
    /// What to print instead.
    #[command(subcommand)]
    pub(crate) question: Option<FabricQuestion>,
}

impl Verb for FabricArguments {
    const NAME: &str = "fabric";
    const CHANGES: &[&str] = &["drain", "load", "rebuild"];
    const PAGES: Pages = &[
        ("fabric", include_str!("../manual/verbs/fabric.md")),
        ("fabric status", include_str!("../manual/verbs/fabric-status.md")),
        ("fabric drain", include_str!("../manual/verbs/fabric-drain.md")),
        ("fabric waits", include_str!("../manual/verbs/fabric-waits.md")),
        ("fabric tables", include_str!("../manual/verbs/fabric-tables.md")),
        ("fabric path", include_str!("../manual/verbs/fabric-path.md")),
        ("fabric check", include_str!("../manual/verbs/fabric-check.md")),
        ("fabric load", include_str!("../manual/verbs/fabric-load.md")),
        ("fabric rebuild", include_str!("../manual/verbs/fabric-rebuild.md")),
    ];
    const SCHEMAS: Schemas = &[
        ("fabric", schema::<shape::Fabric<'_>>),
        ("fabric status", schema::<shape::Status<'_>>),
        ("fabric drain", schema::<shape::Status<'_>>),
        ("fabric waits", schema::<shape::FabricWaits<'_>>),
        ("fabric tables", schema::<shape::FabricTables<'_>>),
        ("fabric path", schema::<shape::FabricRoutes<'_>>),
        ("fabric check", schema::<shape::FabricProof<'_>>),
        ("fabric load", schema::<shape::FabricProof<'_>>),
        ("fabric rebuild", schema::<shape::FabricProof<'_>>),
        ("kept-entry", schema::<KeptEntry<'_>>),
    ];
    fn no_table(&self) -> Option<&'static str> {
        match self.question.as_ref()? {
            FabricQuestion::Waits(_) => Some("fabric waits"),
            FabricQuestion::Tables(_) => Some("fabric tables"),
            FabricQuestion::Path(_) => Some("fabric path"),
            FabricQuestion::Check(_) => Some("fabric check"),
            FabricQuestion::Load(_) => Some("fabric load"),
            FabricQuestion::Rebuild(_) => Some("fabric rebuild"),
            FabricQuestion::Status(_) | FabricQuestion::Drain(_) => None,
        }
    }
    fn cleans_up(&self) -> bool {
        matches!(self.question, Some(FabricQuestion::Rebuild(_)))
    }
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, opening| match &verb.question {
        Some(FabricQuestion::Load(options)) => check::preview(opening, options).map(Some),
        Some(FabricQuestion::Rebuild(options)) => Ok(Some(rebuild::preview(options))),
        Some(_) => Ok(None),
        None => {
            let read_set =
                ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
            Ok(Some(inspected(read_set)))
        }
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        match &self.question {
            Some(question) => ask(target, style, question),
            None => run(target, style, self.place.as_deref()),
        }
    }
}

const ROUTERS: [&str; 8] =
    ["ROUTER", "NODE", "DIRECTION", "STATUS", "LINK", "SENT", "RECEIVED", "DROPPED"];
/// Below the table, if a router's kernel is not known.
const UNKNOWN: &str = "\
? no ELF with debug information (--elfs) and no manifest (--manifest) of these routers is known: they
  show what they publish at fixed addresses
";
/// Number of snapshots after the first: from routers to muxes, their clients, and the words of all
/// of them.
const MOST_SNAPSHOTS: usize = 6;

/// Runs a subcommand.
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
        FabricQuestion::Check(options) => check::check(target, style, options),
        FabricQuestion::Load(options) => check::load(target, style, options),
        FabricQuestion::Rebuild(options) => rebuild::run(target, style, options),
    }
}

pub(super) fn run(target: &Opening, style: Style, place: Option<&str>) -> Result<Outcome, Failure> {
    let place = place.map(locate::place).transpose().map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    cores::check_on(&machine.mesh(), place)?;
    let read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    let (_, snapshot) = follow(&mut machine, read_set);
    if let Some(gone) = end_of_all(&snapshot.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let mut state = snapshot.state;
    narrow(&mut state.fabric, place);
    report(target, &state);
    if style.json {
        json(shape::fabric(&target.words, &state))?;
    } else {
        style.print(page(style, &state, place.is_some()))?;
    }
    let FabricState { routers, muxes, clients, .. } = &state.fabric;
    if routers.is_empty() && muxes.is_empty() && clients.is_empty() {
        say("no router, mux or client of a fabric runs there");
    }
    Ok(judge(&state))
}

/// Takes snapshots until the read set is complete: oldest packets, clients and their words are
/// known only after a snapshot of the connections.
fn follow(machine: &mut Machine, mut read_set: ReadSet) -> (ReadSet, MeshSnapshot) {
    let mut snapshot = machine.take(&read_set);
    for inspected in 0..MOST_SNAPSHOTS {
        let next = fabric_read_set(&snapshot.state.fabric, &read_set);
        // Moving packets can upset the credits of one snapshot; a second one decides.
        if next == read_set && inspected > 0 || end_of_all(&snapshot.memory).is_some() {
            break;
        }
        read_set = next;
        snapshot = machine.take(&read_set);
    }
    (read_set, snapshot)
}

/// The parts in the given place; of a chip also its clients and muxes.
fn narrow(fabric: &mut FabricState, place: Option<NamedPlace>) {
    let Some(place) = place else { return };
    fabric.routers.retain(|router| place.has_tile(router.at.chip, router.tile));
    let FabricState { routers, tables, .. } = fabric;
    tables.retain(|tables| routers.iter().any(|router| router.at == tables.at));
    fabric.muxes.retain(|mux| place.has_core(mux.at));
    fabric.clients.retain(|client| place.has_core(client.at));
}

fn page(style: Style, state: &MeshState, channels: bool) -> Page {
    let fabric = &state.fabric;
    let unknown = if fabric.routers.iter().any(RouterState::is_unknown) { UNKNOWN } else { "" };
    let mut page = Page::from(routers(style, fabric)).with(unknown);
    let shown = |at| fabric.routers.iter().any(|router| router.at == at);
    let ledgers = fabric.ledgers.iter().filter(|it| shown(it.from) || shown(it.to));
    page = page.with("\n").with(ledger_table(ledgers));
    if !fabric.muxes.is_empty() {
        page = page.with("\n").with(mux_table(style.looks.glyphs, &fabric.muxes));
    }
    if !fabric.clients.is_empty() {
        page = page.with("\n").with(client_table(style.looks.glyphs, &fabric.clients));
    }
    if channels { details(style, state, page) } else { page }
}

/// The channels of each router, and what is known of muxes and clients.
fn details(style: Style, state: &MeshState, page: Page) -> Page {
    let fabric = &state.fabric;
    let mut page = page;
    for router in &fabric.routers {
        page = page
            .with(format!("\n{} {}\n", router.at, router.image))
            .with(router_text(state, router))
            .with(channel_table(style.looks.glyphs, router))
            .with(candidates(style.looks.glyphs, router))
            .with(unknown_text(router));
    }
    let mux = |mux: &MuxState| {
        format!("\n{} {}\n{}", mux.at, mux.image, mux_text(style.looks.glyphs, mux))
    };
    page = fabric.muxes.iter().map(mux).fold(page, Page::with);
    let client = |client: &ClientState| {
        format!("\n{} {}: {}\n{}", client.at, client.image, client.name, client_text(client))
    };
    fabric.clients.iter().map(client).fold(page, Page::with)
}

fn routers(style: Style, fabric: &FabricState) -> Columns {
    let mut table = Columns::new(&ROUTERS);
    for router in &fabric.routers {
        let count = |own: &Reading<u64>, all: &mut dyn Iterator<Item = &Reading<u64>>| {
            let all: Option<Vec<_>> = all.map(|count| count.known().copied()).collect();
            let all = all.filter(|all| !all.is_empty()).map(|all| all.into_iter().sum());
            // A router on one ERISC counts both together.
            let most = || match router.facts.packets_moved.known()? {
                0 => Some("0".to_owned()),
                moved => Some(format!("<={moved}")),
            };
            let exact = own.known().copied().or(all).map(|count: u64| count.to_string());
            exact.or_else(most).unwrap_or_else(|| "?".to_owned())
        };
        let dropped = router.counts.dropped();
        table.row(vec![
            router.at.to_string(),
            cell(style, &router.facts.node, ToString::to_string),
            cell(style, &router.facts.direction, |direction| direction.name().to_owned()),
            console::fabric::status(style.looks.glyphs, router),
            link(style.looks.glyphs, router),
            count(
                &router.facts.packets_sent,
                &mut router.senders.iter().map(|channel| &channel.facts.sent),
            ),
            count(
                &router.facts.packets_received,
                &mut router.receivers.iter().map(|channel| &channel.facts.received),
            ),
            dropped.map_or("?".to_owned(), |dropped| dropped.to_string()),
        ]);
    }
    table
}
