//! Operations of tt-metal's own runtime on an emulated mesh, each drawn from a seed: the program of
//! `tests/tt-metal` queues them, and `why` judges the last one while the program lives.

use crate::runtime::Runtime;
use launch::dice::Random;
use layouts::{ChipId, NocXy};
use machine::target::Mesh;
use probe::spec::TargetSpec;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// Operations of tt-metal's runtime, judged.
pub const STUDY: Study = Study {
    name: "operations",
    about: "Run operations of tt-metal's own runtime on an emulated mesh, and judge each with why",
    options: &[
        Choice::optional("runtime", "FOLDER", "What tests/tt-metal/setup has made"),
        Choice::new("seed", "N", "1", "Seed of all that is drawn"),
        Choice::new("count", "N", "9", "Number of programs; the kinds take turns"),
        Choice::new("mesh", "MESH", "n150", "The mesh; the operations run on its first chip"),
        super::MESHSCOPE,
    ],
    tables: &[KINDS_TABLE],
    run,
};

const KINDS_TABLE: Table = Table {
    name: "rows",
    columns: &[
        column("KIND", "kind", Unit::Text(10)),
        column("RUNS", "runs", Unit::Count),
        column("CAUSE", "causes", Unit::Count),
        column("PLACE", "places", Unit::Count),
        column("TRANSACTIONS", "transactions", Unit::Count),
    ],
};
const MOST_PROGRAMS: u64 = 10_000;
/// Time until a program is ended, in seconds.
const LIMIT: u32 = 300;
/// Time for which the host of an operation waits before it is looked at.
const PAUSE: Duration = Duration::from_secs(1);
/// Columns and rows of the cores that every board leaves to operations.
const GRID: [u64; 2] = [7, 6];
/// tt-metal's watcher, for which kernels show waypoints. Its assertions take firmware that the wheel does
/// not have, and it ends programs whose requests go where nothing is.
const WATCHER: [(&str, &str); 3] = [
    ("TT_METAL_WATCHER", "1"),
    ("TT_METAL_WATCHER_DISABLE_ASSERT", "1"),
    ("TT_METAL_WATCHER_DISABLE_SANITIZE_NOC", "1"),
];
/// The program's operations that end, and programs without operations.
const ENDS: &str = "gather";
const IDLE: &str = "idle";
/// The program's operation that overwrites the mailboxes of its tile.
const OVERWRITES: &str = "mailbox";

/// Where the cause of a kind is.
#[derive(Clone, Copy)]
enum Root {
    /// The core that is unlike the others.
    Victim,
    /// The tile of that core.
    Tile,
    /// The first core, which waits for the others.
    First,
    /// Any core of the operation.
    Any,
}

/// A kind of last operation: its name in the program, and the condition that must be named first;
/// none: the program is healthy.
struct Kind {
    name: &'static str,
    truth: Option<(&'static str, Root)>,
}

const fn hangs(name: &'static str, condition: &'static str, root: Root) -> Kind {
    Kind { name, truth: Some((condition, root)) }
}

const KINDS: [Kind; 12] = [
    Kind { name: "moves", truth: None },
    hangs("semaphore", "increment-never-sent", Root::First),
    hangs("loop", "not-finished", Root::Victim),
    hangs("buffer", "increment-never-sent", Root::Victim),
    Kind { name: ENDS, truth: None },
    hangs("circle", "increment-never-sent", Root::Any),
    hangs("barrier", "core-stuck", Root::Victim),
    hangs("full", "increment-never-sent", Root::Victim),
    hangs("unanswered", "noc-unanswered", Root::Victim),
    hangs(OVERWRITES, "text-overwritten", Root::Tile),
    Kind { name: IDLE, truth: None },
    hangs("retry", "not-finished", Root::Victim),
];

/// An operation: its kernel, and the logical coordinates of its cores.
struct Operation {
    kernel: &'static str,
    cores: Vec<[u64; 2]>,
    victim: usize,
    ncrisc: bool,
    /// A tile that does not answer.
    absent: NocXy,
}

impl Operation {
    fn drawn(kernel: &'static str, mesh: &Mesh, dice: &mut Random) -> Self {
        let size = [1 + dice.below(3), 1 + dice.below(2)];
        // One core has nobody to wait for.
        let size = if size == [1, 1] { [2, 1] } else { size };
        let at = [0, 1].map(|axis| dice.below(GRID[axis] - size[axis]));
        let rows = at[1]..at[1] + size[1];
        let cores: Vec<_> =
            rows.flat_map(|y| (at[0]..at[0] + size[0]).map(move |x| [x, y])).collect();
        let victim = dice.below(cores.len() as u64) as usize;
        let rows = mesh.chip(ChipId(0)).and_then(|chip| chip.harvested_rows.as_ref());
        let row = rows.and_then(|rows| rows.first()).map_or(0, |row| *row);
        let absent = NocXy { x: 1 + dice.below(4) as u8, y: row };
        // On BRISC the kernel would return to what it has overwritten.
        let ncrisc = dice.below(2) == 1 || kernel == OVERWRITES;
        Self { kernel, cores, victim, ncrisc, absent }
    }

    fn json(&self) -> Value {
        let Self { kernel, cores, victim, ncrisc, absent } = self;
        let ends = [cores.first(), cores.last()];
        json!({"kernel": kernel, "cores": ends, "victim": victim, "ncrisc": ncrisc, "absent": [absent.x, absent.y]})
    }

    /// Returns the names of the places at which the cause can be.
    fn roots(&self, root: Root, mesh: &Mesh) -> Vec<String> {
        let cores = match root {
            Root::Victim | Root::Tile => self.cores.get(self.victim..=self.victim),
            Root::First => self.cores.get(..1),
            Root::Any => Some(self.cores.as_slice()),
        };
        let ncrisc = self.ncrisc && !matches!(root, Root::Tile);
        let processor = if ncrisc { "ncrisc" } else { "brisc" };
        let tiles: Vec<_> = mesh.compute_tiles(ChipId(0)).map(|place| place.tile).collect();
        let xs: BTreeSet<u8> = tiles.iter().map(|tile| tile.x).collect();
        let ys: BTreeSet<u8> = tiles.iter().map(|tile| tile.y).collect();
        let named = |[x, y]: &[u64; 2]| {
            let (x, y) = (xs.iter().nth(*x as usize)?, ys.iter().nth(*y as usize)?);
            Some(format!("core 0:{x}-{y}:{processor}"))
        };
        cores.unwrap_or_default().iter().filter_map(named).collect()
    }
}

/// A program of the runtime on its mesh.
struct Program {
    child: Child,
    socket: PathBuf,
}

/// What is needed for a program.
struct Setting {
    runtime: Runtime,
    mesh: String,
}

impl Program {
    fn start(setting: &Setting, operations: &[Operation], watched: bool) -> std::io::Result<Self> {
        let socket =
            std::env::temp_dir().join(format!("meshscope-operations-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        let operations: Vec<Value> = operations.iter().map(Operation::json).collect();
        let child = setting
            .runtime
            .exec((&setting.mesh, &socket), LIMIT, "operations.py")?
            .arg(json!(operations).to_string())
            .envs(WATCHER.into_iter().filter(|_| watched))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, socket })
    }

    /// Waits until it prints a line.
    fn says(&mut self, awaited: &str) -> Result<(), Box<dyn Error>> {
        let stdout = self.child.stdout.as_mut().ok_or("no output")?;
        let mut seen = Vec::new();
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if line == awaited {
                return Ok(());
            }
            seen.push(line);
        }
        let (last, status) = (seen.last().map_or("nothing", String::as_str), self.child.wait()?);
        Err(format!("the program ended ({status}) without {awaited:?}; it said last: {last}")
            .into())
    }

    /// Returns what `why` says of it: the JSON, and the bus transactions.
    fn judged(&self, meshscope: &Path) -> Result<(Value, u64), Box<dyn Error>> {
        let target = format!("socket:{}", self.socket.display());
        let mut why = Command::new(meshscope);
        let output = why.args(["--target", &target, "why", "--json"]).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let answer = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("why: {error}: {stderr}"))?;
        let count = stderr.rsplit(", ").find_map(|part| part.split_once(" bus transactions"));
        Ok((answer, count.map_or(0, |(count, _)| count.parse().unwrap_or(0))))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// How often a kind was judged, and how rightly.
#[derive(Clone, Copy, Default)]
struct Tally {
    runs: u64,
    causes: u64,
    places: u64,
    transactions: u64,
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (seed, count) = (options.seed()?, options.number("count", [1, MOST_PROGRAMS])?);
    let folder = options
        .get("runtime")
        .map(str::to_owned)
        .or_else(|| std::env::var("MESHSCOPE_TT_METAL_RUNTIME").ok())
        .ok_or_else(|| StudyError::Usage("--runtime FOLDER is missing".to_owned()))?;
    let runtime = Runtime::at(super::meshscope(options)?, Path::new(&folder)).ok_or_else(|| {
        StudyError::Usage("--runtime: not a folder that tests/tt-metal/setup has made".to_owned())
    })?;
    let mesh = options.get("mesh").unwrap_or_default().to_owned();
    let words = format!("emulator:{mesh}");
    let usage = |error: &dyn ToString| StudyError::Usage(error.to_string());
    let Ok(TargetSpec::Emulator(scene)) = TargetSpec::parse(&words) else {
        return Err(StudyError::Usage(format!("--mesh {mesh}: not an emulated mesh")));
    };
    let descriptor = scene.descriptor().map_err(|error| usage(&error))?;
    let board = Mesh::from_descriptor(&descriptor);
    let setting = Setting { runtime, mesh };
    report.fact("seed", seed);
    let mut tallies = [Tally::default(); KINDS.len()];
    for number in 0..count {
        report.progress(number, count, "programs");
        let mut dice = Random(seed.wrapping_mul(MOST_PROGRAMS).wrapping_add(number));
        let index = (number % KINDS.len() as u64) as usize;
        let (Some(kind), Some(tally)) = (KINDS.get(index), tallies.get_mut(index)) else {
            continue;
        };
        let internal = |error: Box<dyn Error>| StudyError::Internal(error.to_string());
        // Every second round of the kinds. The watcher ends a program whose mailboxes are overwritten.
        let watched = number / KINDS.len() as u64 % 2 == 1 && kind.name != OVERWRITES;
        let note = judge((kind, watched), &setting, &board, &mut dice, tally).map_err(internal)?;
        if let Some(note) = note {
            let under = if watched { " under tt-metal's watcher" } else { "" };
            report.note(format!("{} {number}{under}: {note}", kind.name));
        }
    }
    for (kind, tally) in KINDS.iter().zip(tallies) {
        let Tally { runs, causes, places, transactions } = tally;
        let each = transactions.checked_div(runs).unwrap_or(0);
        report.row(
            &KINDS_TABLE,
            json!({"kind": kind.name, "runs": runs, "causes": causes, "places": places, "transactions": each}),
        );
    }
    Ok(tallies.iter().all(|it| (it.causes, it.places) == (it.runs, it.runs)))
}

/// Runs a program of a kind, and judges it. Returns a note if the verdict is not right.
fn judge(
    (kind, watched): (&Kind, bool),
    setting: &Setting,
    mesh: &Mesh,
    dice: &mut Random,
    tally: &mut Tally,
) -> Result<Option<String>, Box<dyn Error>> {
    let before = if kind.name == IDLE { 0 } else { dice.below(3) };
    let mut operations: Vec<Operation> =
        (0..before).map(|_| Operation::drawn(ENDS, mesh, dice)).collect();
    if kind.name != IDLE {
        operations.push(Operation::drawn(kind.name, mesh, dice));
    }
    let mut program = Program::start(setting, &operations, watched)?;
    let last = operations.len().wrapping_sub(1);
    program.says(&match kind.name {
        IDLE => "open".to_owned(),
        ENDS => format!("done {last}"),
        _ => format!("queued {last}"),
    })?;
    std::thread::sleep(PAUSE);
    let (answer, transactions) = program.judged(&setting.runtime.meshscope)?;
    tally.runs += 1;
    tally.transactions += transactions;
    let first = &answer["findings"][0];
    let (cause, place) = match kind.truth.zip(operations.last()) {
        None => (first.is_null(), first.is_null()),
        Some(((condition, root), operation)) => (
            first["condition"] == condition,
            operation.roots(root, mesh).iter().any(|place| first["place"] == place.as_str()),
        ),
    };
    tally.causes += u64::from(cause);
    tally.places += u64::from(place);
    let drawn: Vec<Value> = operations.iter().map(Operation::json).collect();
    Ok((!cause || !place).then(|| {
        format!(
            "{}: {} at {}: {}",
            json!(drawn),
            first["condition"],
            first["place"],
            first["sentence"]
        )
    }))
}
