//! `links`: every link with the values at each end.

use crate::output::{Columns, json, say};
use crate::shape::Links;
use crate::shape::schema;
use crate::target::{Style, cell, inspect, judge, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, inspected};
use console::exit::{Failure, Outcome};
use console::glyph::link_letter;
use console::machine::Opening;
use console::words;
use decode::inspect::ReadSet;
use decode::state::{EthState, MeshState};
use images::Reading;
use layouts::EthId;

/// Print the links with both ends, once.
#[derive(clap::Args, Debug)]
pub(crate) struct LinksArguments {}

impl Verb for LinksArguments {
    const NAME: &str = "links";
    const PAGES: Pages = &[("links", include_str!("../manual/verbs/links.md"))];
    const SCHEMAS: Schemas = &[("links", schema::<Links<'_>>)];
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> =
        Some(|_, _| Ok(Some(inspected(ReadSet { links: true, ..ReadSet::default() }))));
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style)
    }
}

const HEAD: [&str; 9] =
    ["", "STATE", "END", "TILE", "WAYPOINT", "IN FLIGHT", "SENT", "RETRAINS", "CRC ERRORS"];

pub(super) fn run(target: &Opening, style: Style) -> Result<Outcome, Failure> {
    let snapshot = inspect(target, |_| ReadSet { links: true, ..ReadSet::default() })?;
    report(target, &snapshot.state);
    let state = &snapshot.state;
    if style.json {
        json(Links::new(&target.words, state))?;
    } else {
        let placed = state.chips.iter().any(|chip| chip.chip.seat.is_some());
        let head: Vec<_> = HEAD.into_iter().chain(placed.then_some("STANDS AT")).collect();
        let mut table = Columns::new(&head);
        for link in &state.links {
            let condition = words::link(link.condition).to_owned();
            let letter = link_letter(link.condition).to_owned();
            table.row(end(style, state, [letter, condition], link.link.a, link.a_to_b));
            table.row(end(style, state, [String::new(), String::new()], link.link.b, link.b_to_a));
        }
        for at in state.ports_without_peer() {
            table.row(end(style, state, [String::new(), words::NO_PEER.to_owned()], at, None));
        }
        style.print(table)?;
    }
    let ends = state.links.iter().flat_map(|link| [link.link.a, link.link.b]);
    let cores = ends.filter_map(|end| state.eth(end)?.cores.first());
    if let Some(text) = words::without_waypoints(cores) {
        say(&text);
    }
    Ok(judge(state))
}

/// The row of one end; the bytes in flight go from here to the other end.
fn end(
    style: Style,
    state: &MeshState,
    head: [String; 2],
    at: EthId,
    sent: Option<u64>,
) -> Vec<String> {
    let tile = state.eth(at);
    let eth = tile.and_then(|t| t.eth.as_ref());
    let small = |of: fn(&EthState) -> &Reading<u32>| {
        eth.map_or("?".to_owned(), |e| cell(style, of(e), u32::to_string))
    };
    let waypoint =
        tile.and_then(|t| t.cores.first()).map(|c| cell(style, &c.waypoint, Clone::clone));
    let unread = || "?".to_owned();
    let [letter, condition] = head;
    vec![
        letter,
        condition,
        at.to_string(),
        tile.map_or_else(unread, |t| t.xy.to_string()),
        waypoint.unwrap_or_else(unread),
        sent.map_or_else(unread, words::bytes),
        eth.map_or_else(unread, |e| cell(style, &e.packets_sent, u64::to_string)),
        small(|e| &e.retrain_count),
        small(|e| &e.crc_errors),
    ]
    .into_iter()
    .chain(state.port(at))
    .collect()
}
