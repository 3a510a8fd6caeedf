//! `changes` and `diff`: what differs between two moments of a recording, or between two targets.

use super::cores;
use super::record::Moments;
use crate::output::{json, say, text};
use crate::shape::Changes;
use crate::shape::schema;
use crate::target::{Style, open, report};
use crate::verb::{Pages, Schemas, Verb};
use console::changes::{TileChange, WordChange, compare};
use console::exit::{Failure, Outcome};
use console::feed::MeshSnapshot;
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use console::words;
use layouts::{ChipId, NocXy};
use machine::history::{Watched, seek_change};
use machine::notes::Note;
use machine::target::Mesh;
use machine::words::counted;
use probe::spec::Moment;
use std::fmt::Write as _;

/// Print what changed between two moments of a recording, or when a word last changed.
#[derive(clap::Args, Debug)]
pub(crate) struct ChangesArguments {
    /// Only this chip, tile or core: 0, 0:9-6, 0:e8 or 0:9-6:erisc; or the word 0:e8:0x1104, whose
    /// last change is shown with what else changed then.
    pub(crate) place: Option<String>,
    /// The moment to compare with: -2ms before the last one, 17ms of the target's time, or #12; by
    /// default the one before.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// The moment that is compared; by default the one at which the recording opens.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Print every word.
    #[arg(long)]
    pub(crate) all: bool,
}

impl Verb for ChangesArguments {
    const NAME: &str = "changes";
    const READS: bool = true;
    const PAGES: Pages = &[("changes", include_str!("../manual/verbs/changes.md"))];
    const SCHEMAS: Schemas = &[("changes", schema::<Changes<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("changes")
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        changes(target, style, self)
    }
}

/// Print what differs between two recordings or other targets, tile by tile.
#[derive(clap::Args, Debug)]
pub(crate) struct DiffArguments {
    /// A recording, or another target: run.mcap, run.mcap,at=17ms.
    pub(crate) a: String,
    /// The one that is compared with it.
    pub(crate) b: String,
    /// Only this chip, tile or core: 0, 0:9-6, 0:e8 or 0:9-6:erisc.
    pub(crate) place: Option<String>,
    /// Print every word.
    #[arg(long)]
    pub(crate) all: bool,
}

impl Verb for DiffArguments {
    const NAME: &str = "diff";
    const READS: bool = true;
    const PAGES: Pages = &[("diff", include_str!("../manual/verbs/diff.md"))];
    const SCHEMAS: Schemas = &[("diff", schema::<Changes<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("diff")
    }
    fn named(&self) -> Vec<&str> {
        vec![&self.a, &self.b]
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        diff(target, style, self)
    }
}

/// Words of a tile that are printed without --all.
const MOST: usize = 8;

pub(super) fn changes(
    target: &Opening,
    style: Style,
    options: &ChangesArguments,
) -> Result<Outcome, Failure> {
    let moment = |words: &Option<String>, option: &str| {
        let parsed = words.as_deref().map(Moment::parse).transpose();
        parsed.map_err(|error| Failure::Usage(format!("{option}: {error}")))
    };
    let (from, to) = (moment(&options.from, "--from")?, moment(&options.to, "--to")?);
    let place = options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    let tile = place.map(|place| match place {
        NamedPlace::Word(chip, tile, _) => NamedPlace::Tile(chip, tile),
        other => other,
    });
    cores::check_on(&machine.mesh(), tile)?;
    seek(&mut machine, target, to)?;
    if let Some(NamedPlace::Word(chip, tile, addr)) = place {
        last_change(&mut machine, target, (chip, tile, addr))?;
    }
    let mut moments = Moments::new(&mut machine);
    let after = taken(&mut moments, &mut machine, target)?;
    let to = position(&mut machine);
    match from {
        Some(_) => seek(&mut machine, target, from)?,
        None => step_back(&mut machine, target)?,
    }
    let before = taken(&mut moments, &mut machine, target)?;
    let notes = notes_between(&mut machine, to);
    report(target, &after.state);
    // Of a word, what else changed on the whole mesh is of interest.
    let place = place.filter(|place| !matches!(place, NamedPlace::Word(..)));
    show(style, &target.words, (&before, &after), &notes, (place, options.all))
}

pub(super) fn diff(
    target: &Opening,
    style: Style,
    options: &DiffArguments,
) -> Result<Outcome, Failure> {
    let place = options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
    let open_taken = |words: &String| -> Result<(Mesh, MeshSnapshot), Failure> {
        let opening = Opening { words: words.clone(), ..target.clone() };
        let mut machine = open(&opening)?;
        let mut moments = Moments::new(&mut machine);
        let snapshot = taken(&mut moments, &mut machine, &opening)?;
        Ok((machine.mesh(), snapshot))
    };
    let ((mesh_a, before), (mesh_b, after)) = (open_taken(&options.a)?, open_taken(&options.b)?);
    cores::check_on(&mesh_b, place)?;
    let same = |of: fn(&Mesh) -> usize| of(&mesh_a) == of(&mesh_b);
    if !same(|mesh| mesh.chips.len()) || mesh_a.links != mesh_b.links {
        let chips = |mesh: &Mesh| counted(mesh.chips.len() as u64, "chip", "chips");
        say(&format!(
            "the meshes differ: {} has {}, {} has {}; only tiles that both have are compared",
            options.a,
            chips(&mesh_a),
            options.b,
            chips(&mesh_b)
        ));
    }
    show(
        style,
        &format!("{} and {}", options.a, options.b),
        (&before, &after),
        &[],
        (place, options.all),
    )
}

/// Takes a moment, whose time is that of the target: texts may have been read long before.
fn taken(
    moments: &mut Moments,
    machine: &mut Machine,
    target: &Opening,
) -> Result<MeshSnapshot, Failure> {
    let mut snapshot = moments.take(machine);
    let now = machine.target().now().map_err(|why| Failure::of_access(&target.words, &why))?;
    snapshot.state.cycles = now;
    Ok(snapshot)
}

/// Goes to a moment; stays if none is named.
fn seek(machine: &mut Machine, target: &Opening, moment: Option<Moment>) -> Result<(), Failure> {
    let Some(history) = machine.target().history() else { return Err(no_past(target)) };
    let named = moment.map_or(Ok(()), |moment| moment.seek(history));
    named.map_err(|error| Failure::Usage(format!("{}: {error}", target.words)))
}

fn position(machine: &mut Machine) -> usize {
    machine.target().history().map_or(0, |history| history.position())
}

/// Returns what was done and reported between the current moment of a recording and another one.
fn notes_between(machine: &mut Machine, to: usize) -> Vec<Note> {
    let from = position(machine);
    let notes = machine.target().history().map_or_else(Vec::new, |history| history.notes());
    let between = |moment: usize| from.min(to) < moment && moment <= from.max(to);
    notes.into_iter().filter(|(at, _)| between(*at)).map(|(_, note)| note).collect()
}

fn step_back(machine: &mut Machine, target: &Opening) -> Result<(), Failure> {
    let Some(history) = machine.target().history() else { return Err(no_past(target)) };
    match history.position() {
        0 => Err(Failure::Usage(format!("{}: no moment is before its first", target.words))),
        at => {
            history.seek(at - 1);
            Ok(())
        }
    }
}

/// Goes to the last moment at which a word changed.
fn last_change(
    machine: &mut Machine,
    target: &Opening,
    (chip, tile, addr): (ChipId, NocXy, u64),
) -> Result<(), Failure> {
    let Some(history) = machine.target().history() else { return Err(no_past(target)) };
    let word = [Watched { range: addr..addr + 4, ..Watched::tile(chip, tile) }];
    let at = history.position();
    let found = seek_change(history, &word, (1..=at).rev());
    if found {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{}: {chip}:{tile}:{addr:#x} does not change up to this moment, or was not recorded",
        target.words
    )))
}

fn no_past(target: &Opening) -> Failure {
    Failure::Usage(format!(
        "{}: it has no past: `meshscope record FILE` keeps its moments",
        target.words
    ))
}

fn show(
    style: Style,
    words: &str,
    (before, after): (&MeshSnapshot, &MeshSnapshot),
    notes: &[Note],
    (place, all): (Option<NamedPlace>, bool),
) -> Result<Outcome, Failure> {
    let mut changes = compare(before, after);
    changes.retain(|change| place.is_none_or(|place| place.has_tile(change.chip, change.tile)));
    let times = (before.state.cycles, after.state.cycles);
    if style.json {
        json(Changes::new(words, times, notes, &changes))?;
    } else {
        text(&page(times, notes, &changes, all))?;
    }
    Ok(Outcome::Healthy)
}

/// Returns the page: what was noted, and what changed, tile by tile, named words first.
fn page((from, to): (u64, u64), notes: &[Note], changes: &[TileChange], all: bool) -> String {
    let tiles = counted(changes.len() as u64, "tile differs", "tiles differ");
    let (from, to) = (words::cycles(from), words::cycles(to));
    let mut page = format!("from {from} to {to}: {tiles}\n");
    let shown = if all { notes.len() } else { MOST.min(notes.len()) };
    for note in notes.iter().take(shown) {
        let _ = writeln!(page, "{}: {note}", note.kind());
    }
    if notes.len() > shown {
        let more = counted((notes.len() - shown) as u64, "more note", "more notes");
        let _ = writeln!(page, "and {more} (--all)");
    }
    for change in changes {
        let count = counted(change.words.len() as u64, "word", "words");
        let _ = writeln!(page, "{}:{}  {count}", change.chip, change.tile);
        for (core, before, after) in &change.waypoints {
            let _ = writeln!(page, "  {}  waypoint {before} became {after}", core.core.name());
        }
        let mut words: Vec<&WordChange> = change.words.iter().collect();
        words.sort_by_key(|word| word.name.is_none());
        let shown = if all { words.len() } else { MOST.min(words.len()) };
        for word in words.iter().take(shown) {
            let name = word.name.as_deref().unwrap_or("?");
            let WordChange { addr, before, after, .. } = word;
            let _ = writeln!(page, "  {addr:#08x}  {before:#010x} became {after:#010x}  {name}");
        }
        if words.len() > shown {
            let _ = writeln!(page, "  and {} more (--all)", words.len() - shown);
        }
    }
    page
}
