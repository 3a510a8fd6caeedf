//! `bundle`: an archive of a recording, its verdict and its pictures, to send to a colleague.

mod archive;
mod left_out;
mod versions;

use super::record;
use super::why;
use crate::interrupt;
use crate::output::say;
use crate::screens::{Looks, Picture, Screen, Screens};
use crate::target::{Style, open, report};
use crate::verb::{Pages, Verb};
use crate::verbs::export::USUAL_SIZE;
use crate::waiting::Opened;
use archive::Archive;
use console::exit::{Failure, Outcome};
use console::fresh;
use console::glyph::Glyphs;
use console::machine::{Machine, Opening};
use console::recording::RecordingFile;
use console::run::Bundle;
use diagnosis::Place;
use machine::progress::Listener;
use machine::target::Allow;
use machine::words::counted;
use probe::session::{Inspected, OpenOptions, WATCHED_CYCLES, Watched};
use recordings::{Kept, RecordingError, Redacted, Replay};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Write an archive to send to a colleague: recording, verdict, pictures, versions, and what was
/// left out. What is private is left out unless --with names it.
#[derive(clap::Args, Debug)]
pub(crate) struct BundleArguments {
    /// The archive, such as hang.tar.gz; an existing file is not overwritten.
    pub(crate) file: PathBuf,
    /// Number of snapshots that are recorded of a live target, 1 ms apart.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) moments: String,
    /// What is not left out: users (the user's name and process ids), paths (the folders of files),
    /// writes (the bytes that were written), run (the run of an emulated mesh, for rerun=).
    #[arg(long, value_enum, value_name = "WHAT,...", value_delimiter = ',')]
    pub(crate) with: Vec<Private>,
}

/// What a bundle lacks by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Private {
    /// The user's name, and process ids.
    Users,
    /// The folders of absolute paths.
    Paths,
    /// The bytes of writes.
    Writes,
    /// The run of an emulated mesh.
    Run,
}

impl Verb for BundleArguments {
    const NAME: &str = "bundle";
    const PAGES: Pages = &[("bundle", include_str!("../manual/verbs/bundle.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("bundle")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// The screens that are drawn, each as text and as SVG.
const SCREENS: [(Screen, &str); 5] = [
    (Screen::Mesh, "mesh"),
    (Screen::Chip, "chip"),
    (Screen::Core, "core"),
    (Screen::Fabric, "fabric"),
    (Screen::Why, "why"),
];
/// What stands in the archive, for its reader.
const CONTENTS: &str = "\
why.txt       the verdict
why.json      the same as JSON (meshscope schema why)
versions.txt  versions, and the ELFs that run
pictures      the screens, as text and as SVG
";

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &BundleArguments,
) -> Result<Outcome, Failure> {
    fresh::check(&options.file)?;
    let moments = record::number("--moments", &options.moments, 2..=10_000)?;
    let recording = options.file.with_added_extension("mcap");
    let kept = RecordingFile::new(&recording)?;
    interrupt::end_file(&kept)?;
    let mut machine = open(target)?;
    let packed = if let Some(file) = machine.session().file().cloned() {
        let name = file_name(&file.path);
        let source = Source { recording: &file.path, is_mcap: file.head.is_some(), name: &name };
        pack(target, &mut machine, style, options, &source)
    } else {
        record(machine, target, &kept, moments)?;
        // What was recorded just now is judged as the colleague will judge it.
        let unchanged = OpenOptions { allow: Allow::default(), ..target.options.clone() };
        let words = recording.display().to_string();
        let own = Opening { words, options: unchanged, ..target.clone() };
        let source = Source { recording: &recording, is_mcap: true, name: "run.mcap" };
        let packed =
            open(&own).and_then(|mut machine| pack(target, &mut machine, style, options, &source));
        let _ = fs::remove_file(&recording);
        packed
    };
    let Packed { bytes, files, newest } = packed?;
    if let Some(last) = newest {
        report(target, &last.state);
    }
    say(&written(&options.file, &bytes, files)?);
    Ok(Outcome::Healthy)
}

/// Writes the archive of a recording for the live view, without what is private; returns a sentence
/// about it.
///
/// # Errors
/// If the recording cannot be read, or the archive not be written.
pub fn bundle(
    Bundle { archive, recording, temporary }: &Bundle,
    screens: &'static dyn Screens,
) -> Result<String, Failure> {
    let options = BundleArguments { file: archive.clone(), moments: String::new(), with: vec![] };
    let looks = Looks { color: true, glyphs: Glyphs { ascii: false } };
    let style =
        Style { json: false, csv: false, watch: false, looks, screens, verbs: super::descriptions };
    let target = Opening::of_words(&recording.display().to_string());
    let packed = Machine::open(&target, &Listener::default()).and_then(|mut machine| {
        let is_mcap = machine.session().file().is_some_and(|file| file.head.is_some());
        let name = if *temporary { "run.mcap".to_owned() } else { file_name(recording) };
        let source = Source { recording, is_mcap, name: &name };
        pack(&target, &mut machine, style, &options, &source)
    });
    if *temporary {
        let _ = fs::remove_file(recording);
    }
    let Packed { bytes, files, .. } = packed?;
    written(archive, &bytes, files)
}

/// Writes the archive; returns a sentence about it.
fn written(archive: &Path, bytes: &[u8], files: usize) -> Result<String, Failure> {
    fresh::write(archive, bytes)?;
    let files = counted(files as u64, "file", "files");
    Ok(format!("{}: {files}; README.txt says what was left out", archive.display()))
}

/// An archive in memory.
struct Packed {
    bytes: Vec<u8>,
    /// The number of files in it.
    files: usize,
    /// The newest snapshot of the verdict.
    newest: Option<Inspected>,
}

/// The recording of a bundle.
struct Source<'a> {
    recording: &'a Path,
    /// Whether it is a recording; else a fabric snapshot, which is text.
    is_mcap: bool,
    /// Its name in the archive.
    name: &'a str,
}

/// Records a live target over the time on which a verdict rests.
fn record(
    mut machine: Opened,
    target: &Opening,
    kept: &RecordingFile,
    moments: u64,
) -> Result<(), Failure> {
    let every_cycles = WATCHED_CYCLES / (moments - 1);
    kept.create(machine.target(), ("bundle", Some(every_cycles)))?;
    let gaps = record::keep_moments(&mut machine, target, kept, (moments, every_cycles));
    kept.end()?;
    gaps.map(drop)
}

/// Makes the archive.
fn pack(
    target: &Opening,
    machine: &mut Machine,
    style: Style,
    options: &BundleArguments,
    source: &Source<'_>,
) -> Result<Packed, Failure> {
    let watched = machine.diagnose(WATCHED_CYCLES);
    let watched = watched.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let keeps = |what| options.with.contains(&what);
    let mut archive = Archive::new(&stem(&options.file), keeps(Private::Paths));
    let lacks = add_recording(&mut archive, source, options)?;
    let words = &archive.text(&target.words);
    archive.add_text("why.txt", &why::page(words, &watched.diagnosis))?;
    archive.add_text("why.json", &why::line(words, &watched.diagnosis, None)?)?;
    draw(&mut archive, machine, words, style, &watched)?;
    archive.add_text("versions.txt", &versions::text(machine, target))?;
    let mut left_out = left_out::lines(machine, target, &watched);
    let paths = lacks.paths + archive.paths();
    left_out.extend(left_out::redacted(&Redacted { paths, ..lacks }));
    archive.add_text("README.txt", &readme(words, source.name, &left_out))?;
    let (bytes, files) = archive.finish()?;
    Ok(Packed { bytes, files, newest: watched.newest })
}

/// Adds the recording, or a copy without what is private; returns what the copy lacks.
fn add_recording(
    archive: &mut Archive,
    source: &Source<'_>,
    options: &BundleArguments,
) -> Result<Redacted, Failure> {
    let unreadable = |error| Failure::Usage(format!("{}: {error}", source.recording.display()));
    if !source.is_mcap {
        let text = fs::read_to_string(source.recording).map_err(unreadable)?;
        archive.add_text(source.name, &text)?;
        return Ok(Redacted::default());
    }
    let keeps = |what| options.with.contains(&what);
    let kept = Kept {
        users: keeps(Private::Users),
        paths: keeps(Private::Paths),
        writes: keeps(Private::Writes),
        run: keeps(Private::Run),
    };
    let failed = |error: RecordingError| Failure::Usage(error.to_string());
    let copy = options.file.with_added_extension("copy.mcap");
    let copied = Replay::open(source.recording).and_then(|mut replay| replay.copy(&copy, kept));
    let lacks = copied.map_err(failed)?;
    // A recording with nothing private is as it was.
    let file = if lacks == Redacted::default() { source.recording } else { &copy };
    let bytes = fs::read(file).map_err(unreadable);
    let _ = fs::remove_file(&copy);
    archive.add(source.name, &bytes?)?;
    Ok(lacks)
}

fn draw(
    archive: &mut Archive,
    machine: &mut Machine,
    words: &str,
    style: Style,
    watched: &Watched,
) -> Result<(), Failure> {
    let verdict = Arc::new(watched.diagnosis.clone());
    let place = verdict.findings.first().and_then(|first| words_of(first.place));
    for (screen, name) in SCREENS {
        let (place, looks) = (place.clone(), style.looks);
        let title = format!("meshscope {words}: {name}");
        let picture = Picture { screen, size: USUAL_SIZE, place, looks, title };
        let drawn = style.screens.draw(&picture, machine, words, &verdict);
        archive.add_text(&format!("pictures/{name}.txt"), &drawn.text)?;
        archive.add_text(&format!("pictures/{name}.svg"), &drawn.svg)?;
    }
    Ok(())
}

/// The place of a finding as the screens take it, to show what it is about.
fn words_of(place: Place) -> Option<String> {
    match place {
        Place::Core(core) => Some(format!("{}:{}", core.chip, core.tile)),
        Place::Router(at) | Place::Link(at, _) | Place::End(at) => Some(at.to_string()),
        Place::Chip(chip) => Some(chip.to_string()),
        Place::Mesh | Place::Host => None,
    }
}

fn readme(words: &str, recording: &str, left_out: &[String]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let left_out = match left_out {
        [] => "nothing".to_owned(),
        lines => lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
    };
    format!(
        "What meshscope {version} saw of {words}\n\n\
         {recording}: the recording; open it with\n\
         \x20   meshscope --target {recording}\n\
         {CONTENTS}\n\
         Left out:\n{left_out}\n"
    )
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The folder in the archive: its own name without endings.
fn stem(file: &Path) -> String {
    let name = file_name(file);
    let stem = name.split('.').find(|part| !part.is_empty());
    stem.map_or_else(|| "bundle".to_owned(), str::to_owned)
}
