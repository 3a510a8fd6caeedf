//! `cores`: groups of equal cores, or a line for each core, of a chip or tile if one is named.

mod groups;
mod merge;
pub(super) mod sample;

use crate::output::{Columns, json, say, text};
use crate::shape::Cores;
use crate::shape::schema;
use crate::target::{Style, cell, inspect, judge, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches};
use console::exit::{Failure, Outcome};
use console::locate::{self, NamedPlace};
use console::machine::Opening;
use console::words;
use decode::inspect::ReadSet;
use decode::state::{ChipState, CoreState, MemberState, MeshState};
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::target::Mesh;

/// Print the cores with their waypoints, once; without a place, groups of equal cores.
#[derive(Debug, clap::Args)]
pub(crate) struct CoresArguments {
    /// Only this chip, tile, Ethernet channel or core: 0, 0:9-6, 0:e8 or 0:1-2:brisc.
    pub(crate) place: Option<String>,
    /// Print a line for each core of the mesh, instead of groups of equal ones.
    #[arg(long, conflicts_with = "merge")]
    pub(crate) all: bool,
    /// Also print the decoded words of each core.
    #[arg(long, conflicts_with = "merge")]
    pub(crate) words: bool,
    /// Print one tree of kernel, function and source line, with the cores at each, and what moved
    /// between two snapshots.
    ///
    /// With --sample the function is the one at which the core was sampled most often, where that
    /// is known, else the one that sets its waypoint.
    #[arg(long)]
    pub(crate) merge: bool,
    /// Time between the two snapshots of --merge, such as 1ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "1ms", requires = "merge")]
    pub(crate) over: String,
    /// Sample the program counter of each running core N times, without halting it, and print where
    /// it was; of a tile or channel, of every core that is not in reset.
    ///
    /// It writes to the debug bus of each tile. On a target outside this process it needs --allow
    /// sample.
    #[arg(long, value_name = "N", conflicts_with = "words")]
    pub(crate) sample: Option<String>,
    /// Mean time of the target between two samples, in cycles of a nanosecond; a second at most.
    #[arg(long, default_value = "10_000", value_name = "CYCLES", requires = "sample")]
    pub(crate) every: String,
}

impl Verb for CoresArguments {
    const NAME: &str = "cores";
    const PAGES: Pages = &[("cores", include_str!("../manual/verbs/cores.md"))];
    const SCHEMAS: Schemas = &[("cores", schema::<Cores<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        match (self.merge, &self.sample, self.words) {
            (false, Some(_), _) => Some("cores --sample"),
            (false, None, true) => Some("cores --words"),
            _ => None,
        }
    }
    fn cleans_up(&self) -> bool {
        self.sample.is_some()
    }
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, _| {
        if verb.sample.is_some() {
            let why = "--dry-run: only a snapshot shows which cores --sample would sample";
            return Err(Failure::Usage(why.into()));
        }
        let place = verb.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
        let details = verb.words;
        Ok(Some(Box::new(move |machine| {
            check_on(&machine.mesh(), place)?;
            let read_set = read_set(&machine.mesh(), place);
            Ok(machine.preview(&ReadSet { details, ..read_set }))
        })))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        match &self.sample {
            _ if self.merge => merge::run(target, style, self),
            Some(count) => sample::run(target, style, self.place.as_deref(), (count, &self.every)),
            None => run(target, style, self),
        }
    }
}

pub(super) const HEAD: [&str; 7] = ["CHIP", "TILE", "CORE", "WAYPOINT", "STATE", "GO", "SOURCE"];

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &CoresArguments,
) -> Result<Outcome, Failure> {
    // An invalid place is reported before a target is opened.
    let place = options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
    let words = options.words;
    let snapshot = inspect(target, |mesh| ReadSet { details: words, ..read_set(mesh, place) })?;
    let state = &snapshot.state;
    check(state, place)?;
    report(target, state);
    let passes = |core: &CoreState| place.is_none_or(|p| p.has_core(core.id));
    if style.json {
        json(Cores::new(&target.words, state, words, passes))?;
    } else if place.is_none() && !options.all && !words {
        style.print(groups::page(style, state))?;
    } else {
        let all = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
        let cores: Vec<_> = all.filter(|c| passes(c)).collect();
        if words {
            text(&with_words(style, &cores))?;
        } else {
            style.print(table(style, &cores))?;
        }
    }
    say_findings(&state.chips, passes);
    let cores = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    if let Some(text) = words::without_waypoints(cores.filter(|c| passes(c))) {
        say(&text);
    }
    Ok(judge(state))
}

/// A line for each core.
fn table(style: Style, cores: &[&CoreState]) -> Columns {
    let mut table = Columns::new(&HEAD);
    for core in cores {
        table.row(row(style, core));
    }
    table
}

/// A line for each core, with its words below it.
fn with_words(style: Style, cores: &[&CoreState]) -> String {
    let lines = table(style, cores).text();
    let (head, rows) = lines.split_once('\n').unwrap_or_default();
    let with_words =
        |(line, core): (&str, &&CoreState)| format!("{line}\n{}", word_lines(style, core));
    let body: Vec<_> = rows.lines().zip(cores).map(with_words).collect();
    format!("{head}\n{}", body.concat())
}

/// Reports the problems of the images of some cores.
pub(super) fn say_findings(chips: &[ChipState], passes: impl Fn(&CoreState) -> bool) {
    let cores = chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    for finding in cores.filter(|c| passes(c)).flat_map(|c| &c.findings) {
        say(&finding.to_string());
    }
}

/// The read set of all cores, or of those of the place.
pub(super) fn read_set(mesh: &Mesh, place: Option<NamedPlace>) -> ReadSet {
    let tile = match place {
        Some(NamedPlace::Chip(chip)) => {
            return ReadSet { links: true, compute: vec![chip], ..ReadSet::default() };
        }
        Some(NamedPlace::Tile(chip, xy) | NamedPlace::Word(chip, xy, _)) => (chip, xy),
        Some(NamedPlace::Core(core)) => (core.chip, core.tile),
        Some(NamedPlace::Address(_)) | None => return ReadSet::everything(mesh),
    };
    ReadSet { tile: Some(tile), ..ReadSet::default() }
}

/// The decoded words of a core, below its own line.
fn word_lines(style: Style, core: &CoreState) -> String {
    let line = |word: &MemberState| {
        let value = cell(style, &word.value, |v| format!("{v:#x}"));
        format!("      {:<9} {value:<12} {}\n", format!("{:#x}", word.addr), word.name)
    };
    core.words.iter().map(line).collect::<Vec<_>>().concat()
}

pub(super) fn row(style: Style, core: &CoreState) -> Vec<String> {
    vec![
        core.id.chip.to_string(),
        core.id.tile.to_string(),
        core.id.core.name().to_owned(),
        cell(style, &core.waypoint, Clone::clone),
        cell(style, &core.activity, |a| words::activity(*a).to_owned()),
        cell(style, &core.go, |g| words::go(*g).to_owned()),
        words::sources(core).unwrap_or_default(),
    ]
}

/// Refuses a chip, tile or core that does not exist.
pub(super) fn check(state: &MeshState, place: Option<NamedPlace>) -> Result<(), Failure> {
    let cores = |chip, xy| {
        let tile = state.tile(chip, xy);
        tile.map_or_else(Vec::new, |tile| tile.cores.iter().map(|core| core.id.core).collect())
    };
    check_place(place, |chip| state.chips.iter().any(|known| known.chip.id == chip), cores)
}

/// Refuses a chip, tile or core that does not exist, also before a snapshot.
pub(super) fn check_on(mesh: &Mesh, place: Option<NamedPlace>) -> Result<(), Failure> {
    let cores = |_, xy| {
        let tile = mesh.layout().tile_at(xy);
        tile.map_or_else(Vec::new, |tile| tile.kind.cores().to_vec())
    };
    check_place(place, |chip| mesh.chips.iter().any(|known| known.id == chip), cores)
}

/// Refuses a place that the mesh does not have, with the same message for snapshots and dry runs.
fn check_place(
    place: Option<NamedPlace>,
    has_chip: impl Fn(ChipId) -> bool,
    cores: impl Fn(ChipId, NocXy) -> Vec<CoreKind>,
) -> Result<(), Failure> {
    let (chip, tile, core) = match place {
        None => return Ok(()),
        Some(NamedPlace::Address(_) | NamedPlace::Word(..)) => {
            return Err(Failure::Usage(
                "cores are not at addresses: give a chip, a tile or a channel".into(),
            ));
        }
        Some(NamedPlace::Chip(chip)) => (chip, None, None),
        Some(NamedPlace::Tile(chip, tile)) => (chip, Some(tile), None),
        Some(NamedPlace::Core(CoreId { chip, tile, core })) => (chip, Some(tile), Some(core)),
    };
    if !has_chip(chip) {
        return Err(Failure::Usage(format!("there is no chip {chip} in this mesh")));
    }
    let Some(tile) = tile else { return Ok(()) };
    let cores = cores(chip, tile);
    if cores.is_empty() || core.is_some_and(|core| !cores.contains(&core)) {
        let what = core.map_or("cores", CoreKind::name);
        return Err(Failure::Usage(format!("tile {chip}:{tile} has no {what}")));
    }
    Ok(())
}
