//! `mesh`: chips and links, once.

use super::expect;
use super::target::{Style, inspect, judge, report};
use crate::exit::{Failure, Outcome};
use crate::glyph::link_letter;
use crate::machine::Opening;
use crate::output::{Columns, Page, Part, json, say, text};
use crate::shape::Mesh;
use crate::words;
use access::descriptor::descriptor;
use decode::inspect::ReadSet;
use decode::state::{ChipState, LinkState, MeshState};
use layouts::EthId;

pub(super) fn run(
    target: &Opening,
    style: Style,
    expected: Option<&str>,
) -> Result<Outcome, Failure> {
    let expected = expected.map(expect::load).transpose()?;
    let snapshot = inspect(target, |_| ReadSet { links: true, ..ReadSet::default() })?;
    report(target, &snapshot.state);
    for chip in snapshot.state.chips.iter().filter(|chip| !chip.holders.is_empty()) {
        let holders: Vec<_> = chip.holders.iter().map(ToString::to_string).collect();
        say(&format!("chip {} is also open in {}", chip.chip.id, holders.join(", ")));
    }
    for sentence in words::before(&snapshot.state.before, snapshot.taken_micros) {
        say(&sentence);
    }
    let differences = expected.as_ref().map(|expected| expect::compare(&snapshot.state, expected));
    if style.json {
        json(Mesh::new(&target.words, &snapshot.state, differences.as_deref()))?;
    } else {
        let compared = expected.as_ref().zip(differences.as_ref());
        let page = Page::from(chips(&snapshot.state)).with("\n").with(links(&snapshot.state));
        style.print(match compared {
            Some((expected, all)) => page.with("\n").with(expect::table(all, expected)),
            None => page,
        })?;
    }
    let differs = differences.is_some_and(|all| !all.is_empty());
    Ok(if differs { Outcome::Findings } else { judge(&snapshot.state) })
}

/// Prints the mesh as a cluster descriptor.
pub(super) fn describe(target: &Opening, style: Style) -> Result<Outcome, Failure> {
    if style.json {
        let why = "--descriptor prints YAML, in UMD's format: it has no --json";
        return Err(Failure::Usage(why.into()));
    }
    let snapshot = inspect(target, |_| ReadSet { links: true, ..ReadSet::default() })?;
    report(target, &snapshot.state);
    let name = &target.words;
    let descriptor = descriptor(name, &snapshot.state.mesh());
    text(&descriptor.map_err(Failure::Unreachable)?.to_yaml())?;
    Ok(judge(&snapshot.state))
}

fn chips(state: &MeshState) -> Columns {
    let mut table =
        Columns::new(&["CHIP", "X,Y", "RACK", "SHELF", "REACHED BY", "BOARD", "HARVESTED ROWS"]);
    for ChipState { chip, gateways: routes, .. } in &state.chips {
        let at = chip
            .coord
            .map(|c| [format!("{},{}", c.x, c.y), c.rack.to_string(), c.shelf.to_string()]);
        let [xy, rack, shelf] = at.unwrap_or_else(|| std::array::from_fn(|_| "?".to_owned()));
        let route = match (&chip.gateway, chip.pcie) {
            (_, true) => "PCIe".to_owned(),
            (Some(_), false) if routes.is_empty() => "no link up".to_owned(),
            (Some(_), false) => routes.iter().map(EthId::to_string).collect::<Vec<_>>().join(" "),
            (None, false) => "?".to_owned(),
        };
        let words = |rows: &Vec<u8>| rows.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
        let rows = chip.harvested_rows.as_ref().map_or_else(|| "?".to_owned(), words);
        let board = chip.board.clone().unwrap_or_else(|| "?".into());
        table.row(vec![chip.id.to_string(), xy, rack, shelf, route, board, rows]);
    }
    table
}

fn links(state: &MeshState) -> Part {
    if state.links.is_empty() {
        return "no links\n".into();
    }
    let mut table = Columns::new(&["", "STATE", "A", "B", "A>B", "B>A"]);
    let bytes = |b: Option<u64>| b.map_or("?".to_owned(), words::bytes);
    for LinkState { link, condition, a_to_b, b_to_a, .. } in &state.links {
        table.row(vec![
            link_letter(*condition).to_owned(),
            words::link(*condition).to_owned(),
            link.a.to_string(),
            link.b.to_string(),
            bytes(*a_to_b),
            bytes(*b_to_a),
        ]);
    }
    table.into()
}
