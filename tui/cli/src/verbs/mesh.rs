//! `mesh`: chips and links, once.

use super::expect;
use crate::output::{Columns, Page, Part, json, say, text};
use crate::shape::Mesh;
use crate::shape::schema;
use crate::target::{Style, inspect, judge, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, inspected};
use access::descriptor::descriptor;
use console::exit::{Failure, Outcome};
use console::glyph::link_letter;
use console::machine::Opening;
use console::words;
use decode::inspect::ReadSet;
use decode::state::{ChipState, LinkState, MeshState};
use descriptors::mesh_graph_of;
use layouts::{ChipId, EthId};
use machine::words::counted;

/// Print chips and links, once.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct MeshArguments {
    /// Compare with this descriptor, of UMD or tt-metal (see help descriptors), or with a shipped
    /// mesh such as t3000; exit code 1 if chips or links differ.
    #[arg(long, value_name = "DESCRIPTOR")]
    pub(crate) expect: Option<String>,
    /// Print the mesh as a descriptor instead of tables: umd, a cluster descriptor as UMD writes it,
    /// or mgd, a mesh graph descriptor of tt-metal; emulator:FILE opens both.
    #[arg(
        long,
        value_name = "KIND",
        value_enum,
        num_args = 0..=1,
        default_missing_value = "umd",
        conflicts_with = "expect"
    )]
    pub(crate) descriptor: Option<Written>,
}

/// A kind of descriptor that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Written {
    /// Chips, ids, coordinates, links by channel.
    Umd,
    /// Grids of chips, links between neighbours counted.
    Mgd,
}

impl Verb for MeshArguments {
    const NAME: &str = "mesh";
    const PAGES: Pages = &[("mesh", include_str!("../manual/verbs/mesh.md"))];
    const SCHEMAS: Schemas = &[("mesh", schema::<Mesh<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        self.descriptor.map(|_| "mesh --descriptor")
    }
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> =
        Some(|_, _| Ok(Some(inspected(ReadSet { links: true, ..ReadSet::default() }))));
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        if let Some(kind) = self.descriptor {
            return describe(target, style, kind);
        }
        run(target, style, self.expect.as_deref())
    }
}

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
    for note in notes(&snapshot.state.mesh()) {
        say(&note);
    }
    for sentence in words::before(&snapshot.state.before, snapshot.taken_micros) {
        say(&sentence);
    }
    let compared = expected.as_ref().map(|expected| expect::compare(&snapshot.state, expected));
    if style.json {
        json(Mesh::new(&target.words, &snapshot.state, compared.as_ref()))?;
    } else {
        let page = Page::from(chips(&snapshot.state)).with("\n").with(links(&snapshot.state));
        style.print(match expected.as_ref().zip(compared.as_ref()) {
            Some((expected, all)) => page.with("\n").with(expect::table(all, expected)),
            None => page,
        })?;
    }
    let differs = compared.is_some_and(|all| !all.differences.is_empty());
    Ok(if differs { Outcome::Findings } else { judge(&snapshot.state) })
}

/// What the tables do not show: parts that no link joins, and chips that have the same coordinates.
fn notes(mesh: &machine::target::Mesh) -> Vec<String> {
    let mut parts: Vec<Vec<ChipId>> = mesh.chips.iter().map(|chip| vec![chip.id]).collect();
    for link in &mesh.links {
        let part = |end: EthId| parts.iter().position(|part| part.contains(&end.chip));
        if let (Some(a), Some(b)) = (part(link.a), part(link.b))
            && a != b
        {
            let joined = std::mem::take(&mut parts[b]);
            parts[a].extend(joined);
        }
    }
    parts.retain(|part| !part.is_empty());
    let count = parts.len();
    if count < 2 {
        return Vec::new();
    }
    let size = parts.first().map(Vec::len).filter(|size| parts.iter().all(|p| p.len() == *size));
    let of = size.map_or(String::new(), |size| {
        format!(" of {}", machine::words::counted(size as u64, "chip", "chips"))
    });
    let alike = mesh.chips.iter().filter(|chip| chip.coord.is_none()).count();
    let alike = (alike > 1).then(|| {
        format!(
            "{alike} chips have no coordinates of their own; tt-topology assigns them, if the cards are to be one mesh"
        )
    });
    let parts = format!("the mesh has {count} parts{of} that no link joins");
    std::iter::once(parts).chain(alike).collect()
}

/// Prints the mesh as a descriptor.
fn describe(target: &Opening, style: Style, kind: Written) -> Result<Outcome, Failure> {
    if style.json {
        let why = "--descriptor prints the format of UMD or tt-metal: it has no --json";
        return Err(Failure::Usage(why.into()));
    }
    let snapshot = inspect(target, |_| ReadSet { links: true, ..ReadSet::default() })?;
    report(target, &snapshot.state);
    let name = &target.words;
    let descriptor = descriptor(name, &snapshot.state.mesh()).map_err(Failure::Unreachable)?;
    match kind {
        Written::Umd => text(&descriptor.to_yaml())?,
        Written::Mgd => {
            let graph = mesh_graph_of(&descriptor);
            let graph = graph.map_err(|why| Failure::Usage(format!("{name}: {why}")))?;
            if graph.beyond > 0 {
                let links = counted(graph.beyond as u64, "link", "links");
                say(&format!("{links} more than all neighbours have: not described"));
            }
            text(&graph.text)?;
        }
    }
    Ok(judge(&snapshot.state))
}

fn chips(state: &MeshState) -> Columns {
    let placed = state.chips.iter().any(|chip| chip.chip.seat.is_some());
    let head = ["CHIP", "X,Y", "RACK", "SHELF", "REACHED BY", "BOARD", "HARVESTED ROWS"];
    let head: Vec<_> = head.into_iter().chain(placed.then_some("STANDS AT")).collect();
    let mut table = Columns::new(&head);
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
        let row = vec![chip.id.to_string(), xy, rack, shelf, route, board, rows];
        table.row(row.into_iter().chain(chip.seat.as_ref().map(ToString::to_string)).collect());
    }
    table
}

fn links(state: &MeshState) -> Part {
    if state.links.is_empty() {
        return "no links\n".into();
    }
    let placed = state.chips.iter().any(|chip| chip.chip.seat.is_some());
    let ports = placed.then_some(["A STANDS AT", "B STANDS AT"]);
    let head: Vec<_> = ["", "STATE", "A", "B", "A>B", "B>A"]
        .into_iter()
        .chain(ports.into_iter().flatten())
        .collect();
    let mut table = Columns::new(&head);
    let bytes = |b: Option<u64>| b.map_or("?".to_owned(), words::bytes);
    for LinkState { link, condition, a_to_b, b_to_a, .. } in &state.links {
        table.row(
            vec![
                link_letter(*condition).to_owned(),
                words::link(*condition).to_owned(),
                link.a.to_string(),
                link.b.to_string(),
                bytes(*a_to_b),
                bytes(*b_to_a),
            ]
            .into_iter()
            .chain([state.port(link.a), state.port(link.b)].into_iter().flatten())
            .collect(),
        );
    }
    table.into()
}
