//! Files that somebody made to do harm, or that were damaged, are given to the program: it must answer or
//! refuse them, within limits of its time and memory, and print nothing on which a terminal acts.

use launch::dice::Random;
use layouts::{ChipId, EthId, NocAddr};
use machine::history::History as _;
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Abilities, Chip, Link, Mesh, Target};
use recordings::{Replay, Writer};
use serde_json::json;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// The hostile corpus, which is drawn.
pub const STUDY: Study = Study {
    name: "hostile",
    about: "Give files that were damaged, or made to do harm, to meshscope",
    options: &[
        Choice::new("seed", "N", "1", "Seed of all that is drawn"),
        Choice::new("count", "N", "200", "Number of files"),
        super::MESHSCOPE,
    ],
    tables: &[KINDS],
    run,
};

const KINDS: Table = Table {
    name: "rows",
    columns: &[
        column("KIND", "kind", Unit::Text(11)),
        column("FILES", "files", Unit::Count),
        column("ANSWERED", "answered", Unit::Count),
        column("REFUSED", "refused", Unit::Count),
        column("HARMED", "harmed", Unit::Count),
    ],
};
const MOST_FILES: u64 = 1_000_000;
/// Limits of a run: address space, in KiB, the first argument; time of the processor and of the clock,
/// in seconds.
const LIMITS: &str = "ulimit -v $0; ulimit -t 60; exec timeout -s KILL 600 \"$@\"";
/// The address space of a run, in KiB; that of an emulated mesh of a descriptor has the reserved memory
/// of its chips.
const ADDRESSES: u64 = 2 << 20;
const ADDRESSES_OF_MESH: u64 = 32 << 20;
/// The exit codes of answers and refusals; others are harm.
const ANSWERS: [i32; 3] = [0, 1, 4];
const REFUSALS: [i32; 3] = [2, 3, 5];
/// Bytes that a file grows to at most.
const MOST_BYTES: usize = 16 << 20;
/// Words at the edges of what counters, sizes and addresses can be.
const EDGES: [u64; 8] = [0, 1, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 40, u64::MAX];
/// What a line of text is replaced with, or gets.
const WORDS: [&str; 8] = [
    "99999999999999999999",
    "-1",
    "&a [*a, *a, *a]",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "{",
    "\u{1b}[2J\u{202e}\u{9b}c",
    "/dev/zero",
    "\"",
];

/// Writes a file.
type Make = fn(&mut Random, &Path) -> Result<(), Box<dyn Error>>;

/// How a file is made, and what is done with it.
struct Kind {
    name: &'static str,
    extension: &'static str,
    addresses: u64,
    make: Make,
    /// The commands; FILE and FOLDER stand for the file and its folder.
    commands: &'static [&'static [&'static str]],
}

/// What is asked about a recording.
const QUESTIONS: &[&[&str]] = &[
    &["--target", "FILE", "mesh"],
    &["--target", "FILE", "why"],
    &["--target", "FILE", "cores"],
    &["--target", "FILE", "--json", "fabric"],
    &["--target", "FILE", "images"],
    &["--target", "FILE", "changes"],
    &["--target", "FILE,at=#0", "check"],
    &["--target", "FILE", "record", "FOLDER/copy"],
];
const fn of_recording(name: &'static str, make: Make) -> Kind {
    Kind { name, extension: "mcap", addresses: ADDRESSES, make, commands: QUESTIONS }
}

const ALL: [Kind; 6] = [
    of_recording("recording", records),
    of_recording("bytes", recording_bytes),
    of_recording("memory", memory),
    of_recording("mesh", mesh),
    Kind {
        name: "elf",
        extension: "elf",
        addresses: ADDRESSES,
        make: elf,
        commands: &[
            &["symbols", "list", "functions", "--elf", "FILE"],
            &["symbols", "list", "types", "--elf", "FILE"],
            &["symbols", "addr", "0x5000", "--elf", "FILE"],
            &["--target", "emulator:n150,run=idle", "--elfs", "FOLDER", "images"],
        ],
    },
    Kind {
        name: "descriptor",
        extension: "yaml",
        addresses: ADDRESSES_OF_MESH,
        make: descriptor,
        commands: &[
            &["--target", "emulator:FILE,run=idle", "mesh"],
            &["--target", "RING", "mesh", "--expect", "FILE"],
        ],
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns one of the files of a folder of the house.
fn one_of(dice: &mut Random, folder: &str, extension: &str) -> Result<PathBuf, Box<dyn Error>> {
    let files = std::fs::read_dir(root().join(folder))?.filter_map(Result::ok);
    let files = files.map(|file| file.path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    let chosen = files.get(dice.below(files.len() as u64) as usize);
    Ok(chosen.ok_or_else(|| format!("{folder} is empty"))?.clone())
}

/// Bytes are flipped, replaced by words at an edge, cut off or repeated.
fn damage(dice: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() as u64) as usize;
        let end = (at + 1 + dice.below(64) as usize).min(bytes.len());
        match dice.below(5) {
            0 => bytes.truncate(at),
            1 => {
                let part = bytes.get(at..end).map_or_else(Vec::new, <[u8]>::to_vec);
                bytes.splice(at..at, part);
            }
            2 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << dice.below(8)),
            _ => {
                let edge = dice.one(&EDGES).unwrap_or(0).to_le_bytes();
                let size = 1 << dice.below(4);
                let words = bytes.iter_mut().skip(at).take(size).zip(edge);
                words.for_each(|(byte, edge)| *byte = edge);
            }
        }
    }
}

fn recording_bytes(dice: &mut Random, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut bytes = std::fs::read(one_of(dice, "recordings/library", "mcap")?)?;
    damage(dice, &mut bytes);
    Ok(std::fs::write(file, bytes)?)
}

fn elf(dice: &mut Random, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut bytes = std::fs::read(one_of(dice, "firmware/images", "elf")?)?;
    damage(dice, &mut bytes);
    Ok(std::fs::write(file, bytes)?)
}

/// Whole records of an MCAP file (its opcode, the length of its content in eight bytes, and that) are
/// repeated, moved, left out, or damaged inside.
fn records(dice: &mut Random, file: &Path) -> Result<(), Box<dyn Error>> {
    const MAGIC: usize = 8;
    const HEAD: usize = 9;
    let bytes = std::fs::read(one_of(dice, "recordings/library", "mcap")?)?;
    let (mut at, mut all) = (MAGIC, Vec::new());
    while let Some(length) = bytes.get(at + 1..at + HEAD) {
        let length = u64::from_le_bytes(length.try_into()?) as usize;
        let Some(record) = bytes.get(at..at + HEAD + length) else { break };
        all.push(record.to_vec());
        at += HEAD + length;
    }
    for _ in 0..=dice.below(3) {
        let (one, other) = (dice.below(all.len() as u64), dice.below(all.len() as u64));
        let (one, other) = (one as usize, other as usize);
        match dice.below(4) {
            0 => all.swap(one, other),
            1 => drop(all.remove(one)),
            2 => all.get_mut(one).into_iter().for_each(|record| damage(dice, record)),
            _ => {
                let record = all.get(one).cloned().ok_or("a recording without records")?;
                let most = MOST_BYTES / (record.len() + 1);
                let times = dice.one(&[1, 2, 100, 300_000]).unwrap_or(1).min(most);
                let _ = all.splice(other..other, std::iter::repeat_n(record, times)).count();
            }
        }
    }
    let mut made = bytes.get(..MAGIC).ok_or("an empty recording")?.to_vec();
    made.extend(all.into_iter().flatten());
    made.extend(bytes.get(at..).unwrap_or_default());
    Ok(std::fs::write(file, made)?)
}

/// A sound recording of memory in which words are at an edge, or drawn.
fn memory(dice: &mut Random, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut replay = Replay::open(&one_of(dice, "recordings/library", "mcap")?)?;
    let mut writer = Writer::create(file, &replay, "hostile memory")?;
    let moments = replay.moments().len();
    let dense = 1 << (3 + dice.below(8));
    for moment in 0..moments.min(3) {
        replay.seek(moment);
        let Some(mut snapshot) = replay.moment().cloned() else { continue };
        for piece in &mut snapshot.pieces {
            let mut bytes = piece.bytes.to_vec();
            for word in bytes.chunks_exact_mut(4) {
                if dice.below(dense) == 0 {
                    let edge = dice.one(&EDGES).unwrap_or(0);
                    let value = if dice.below(2) == 0 { edge } else { dice.next() };
                    word.copy_from_slice(&(value as u32).to_le_bytes());
                }
            }
            piece.bytes = bytes.into();
        }
        writer.append(&snapshot)?;
    }
    Ok(writer.finish()?)
}

/// The target of a recording that names a mesh of its own.
struct Claimed {
    mesh: Mesh,
    abilities: Abilities,
}

impl Target for Claimed {
    fn name(&self) -> &'static str {
        "emulator:n300"
    }
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }
    fn mesh(&self) -> &Mesh {
        &self.mesh
    }
    fn read(&mut self, _: &Plan) -> Snapshot {
        Snapshot::default()
    }
    fn write(&mut self, _: NocAddr, _: &[u8]) -> Result<(), AccessError> {
        Ok(())
    }
    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(0)
    }
    fn pass(&mut self, _: u64) -> Result<(), AccessError> {
        Ok(())
    }
}

/// A recording whose session names chips and links that are not there.
fn mesh(dice: &mut Random, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut replay = Replay::open(&one_of(dice, "recordings/library", "mcap")?)?;
    let mut mesh = replay.mesh().clone();
    let count = dice.one(&[1, 3, 128, 1_024, 60_000]).unwrap_or(1);
    let sound = mesh.chips.clone();
    let named = |id| {
        let chip = sound.get(usize::from(id) % sound.len().max(1)).cloned();
        chip.map(|chip| Chip { id: ChipId(id), ..chip })
    };
    mesh.chips = (0..count).filter_map(named).collect();
    let mut end = || EthId {
        chip: ChipId(dice.below(u64::from(count) + 2) as u16),
        channel: dice.below(18) as u8,
    };
    let links: BTreeSet<_> = (0..count).map(|_| Link { a: end(), b: end() }).collect();
    mesh.links.extend(links);
    let claimed = Claimed { mesh, abilities: replay.abilities().clone() };
    let mut writer = Writer::create(file, &claimed, "a hostile mesh")?;
    replay.seek(0);
    if let Some(mut snapshot) = replay.moment().cloned() {
        snapshot.pieces.retain(|piece| piece.addr.chip.0 < count);
        writer.append(&snapshot)?;
    }
    Ok(writer.finish()?)
}

/// Lines of a descriptor are repeated, left out, or get other words.
fn descriptor(dice: &mut Random, file: &Path) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(one_of(dice, "layouts/data/systems", "yaml")?)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(lines.len() as u64) as usize;
        let word = dice.one(&WORDS).unwrap_or("");
        let line = lines.get(at).cloned().ok_or("an empty descriptor")?;
        let (start, _) =
            line.split_once(':').or_else(|| line.split_once('-')).unwrap_or((&line, ""));
        match dice.below(5) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, format!("{start}: {word}")),
            2 => lines.insert(at, format!("{line}{}", word.repeat(1 << dice.below(14)))),
            3 => {
                let times = dice.one(&[1, 10, 100_000]).unwrap_or(1);
                let _ = lines.splice(at..at, std::iter::repeat_n(line, times)).count();
            }
            _ => lines.insert(at, word.to_owned()),
        }
    }
    Ok(std::fs::write(file, lines.join("\n"))?)
}

/// Runs the program within limits. Returns its exit code, and what harm was done, in a sentence.
fn exercise(
    program: &Path,
    addresses: u64,
    words: &[String],
) -> Result<(i32, Option<String>), Box<dyn Error>> {
    let mut command = Command::new("sh");
    command
        .args(["-c", LIMITS, &addresses.to_string()])
        .arg(program)
        .args(words)
        .stdin(Stdio::null());
    let output = command.env("RUST_BACKTRACE", "0").output()?;
    let code = output.status.code().unwrap_or(-1);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let acts = |text: &str| text.chars().find(|c| !"\n\t".contains(*c) && console::words::acts(*c));
    let last = stderr.lines().last().unwrap_or_default().to_owned();
    let harm = if let Some(c) = acts(&stdout).or_else(|| acts(&stderr)) {
        Some(format!("a terminal acts on {c:?}"))
    } else if !ANSWERS.contains(&code) && !REFUSALS.contains(&code) {
        Some(format!("{}: {}", output.status, stderr.lines().next().unwrap_or_default()))
    } else if REFUSALS.contains(&code) && !last.starts_with("meshscope: ") {
        Some(format!("refused without a sentence: {last}"))
    } else {
        None
    };
    Ok((code, harm))
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (seed, count) = (options.seed()?, options.number("count", [1, MOST_FILES])?);
    let program = super::meshscope(options)?;
    report.fact("seed", seed);
    let folder = std::env::temp_dir().join(format!("meshscope-hostile-{}", std::process::id()));
    let harmed = corpus(&program, &folder, (seed, count), report);
    let harmed = harmed.map_err(|error| StudyError::Internal(error.to_string()))?;
    Ok(harmed == 0)
}

/// Returns the number of runs that did harm; their files are kept.
fn corpus(
    program: &Path,
    folder: &Path,
    (seed, count): (u64, u64),
    report: &mut Report<'_>,
) -> Result<u64, Box<dyn Error>> {
    let ring = root().join("recordings/library/n300_ring_ping.mcap").display().to_string();
    let mut tallies = ALL.map(|_| [0_u64; 4]);
    for number in 0..count {
        report.progress(number, count, "files");
        let mut dice = Random(seed.wrapping_mul(MOST_FILES).wrapping_add(number));
        let index = (number % ALL.len() as u64) as usize;
        let (Some(kind), Some(tally)) = (ALL.get(index), tallies.get_mut(index)) else { continue };
        let case = folder.join(number.to_string());
        std::fs::create_dir_all(&case)?;
        let file = case.join(format!("file.{}", kind.extension));
        (kind.make)(&mut dice, &file)?;
        let (place, name) = (case.display().to_string(), file.display().to_string());
        let word = |word: &&str| {
            word.replace("FILE", &name).replace("FOLDER", &place).replace("RING", &ring)
        };
        let words: Vec<String> =
            dice.one(kind.commands).unwrap_or_default().iter().map(word).collect();
        let (code, harm) = exercise(program, kind.addresses, &words)?;
        let [files, answered, refused, harmed] = tally;
        *files += 1;
        if let Some(harm) = harm {
            *harmed += 1;
            report.note(format!("{}: meshscope {}: {harm}", kind.name, words.join(" ")));
            continue;
        }
        *(if ANSWERS.contains(&code) { answered } else { refused }) += 1;
        std::fs::remove_dir_all(&case)?;
    }
    for (kind, [files, answered, refused, harmed]) in ALL.iter().zip(tallies) {
        report.row(
            &KINDS,
            json!({"kind": kind.name, "files": files, "answered": answered, "refused": refused, "harmed": harmed}),
        );
    }
    // Only where nothing is kept.
    let _ = std::fs::remove_dir(folder);
    Ok(tallies.iter().map(|[.., harmed]| harmed).sum())
}
