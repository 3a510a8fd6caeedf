//! `bundle`: an archive of a recording, its verdict and its pictures, to send to a colleague.

mod archive;
mod left_out;
mod versions;

use super::record;
use super::target::{Style, open, report};
use super::why;
use crate::args::BundleArguments;
use crate::exit::{Failure, Outcome};
use crate::fresh;
use crate::interrupt;
use crate::machine::{Machine, Opening};
use crate::model::Screen;
use crate::output::say;
use crate::picture::{self, Picture};
use crate::recording::RecordingFile;
use crate::theme::Theme;
use crate::verbs::export::USUAL_SIZE;
use archive::Archive;
use diagnosis::Place;
use machine::target::Allow;
use machine::words::counted;
use probe::session::{WATCHED_CYCLES, Watched};
use probe::spec::TargetSpec;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    theme: Theme,
    options: &BundleArguments,
) -> Result<Outcome, Failure> {
    fresh::check(&options.file)?;
    let moments = record::number("--moments", &options.moments, 2..=10_000)?;
    let (recording, is_ours) = match recorded(&target.words) {
        Some(file) => (file, false),
        None => (record(target, &options.file, moments)?, true),
    };
    let packed = pack(target, (style, theme), &options.file, (&recording, is_ours));
    if is_ours {
        let _ = fs::remove_file(&recording);
    }
    let (bytes, files) = packed?;
    fresh::write(&options.file, &bytes)?;
    let files = counted(files as u64, "file", "files");
    say(&format!("{}: {files}; README.txt says what was left out", options.file.display()));
    Ok(Outcome::Healthy)
}

/// The file of a target that is a recording already.
fn recorded(words: &str) -> Option<PathBuf> {
    match TargetSpec::parse(words) {
        Ok(TargetSpec::Recording(file, _) | TargetSpec::FabricSnapshot(file)) => Some(file),
        _ => None,
    }
}

/// Records a live target beside the archive, over the time on which a verdict rests.
fn record(target: &Opening, archive: &Path, moments: u64) -> Result<PathBuf, Failure> {
    let file = archive.with_added_extension("mcap");
    let kept = RecordingFile::new(&file)?;
    kept.end_at_signals()?;
    let mut machine = open(target)?;
    let every_cycles = WATCHED_CYCLES / (moments - 1);
    kept.create(machine.target(), ("bundle", Some(every_cycles)))?;
    let gaps = record::keep_moments(&mut machine, target, &kept, (moments, every_cycles));
    kept.end()?;
    gaps.map(|_| file)
}

/// Returns the archive, and the number of files in it.
fn pack(
    target: &Opening,
    looks: (Style, Theme),
    file: &Path,
    (recording, is_ours): (&Path, bool),
) -> Result<(Vec<u8>, usize), Failure> {
    let unreadable = |error| Failure::Usage(format!("{}: {error}", recording.display()));
    let bytes = fs::read(recording).map_err(unreadable)?;
    // What was recorded just now is judged as the colleague will judge it.
    let own = Opening {
        words: recording.display().to_string(),
        allow: Allow::default(),
        ..target.clone()
    };
    let opening = if is_ours { &own } else { target };
    if !is_ours {
        interrupt::watch(|| None)?;
    }
    let mut machine = open(opening)?;
    let watched = machine.diagnose(WATCHED_CYCLES);
    let watched = watched.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let mut archive = Archive::new(&stem(file));
    let name = if is_ours { "run.mcap".to_owned() } else { file_name(recording) };
    archive.add(&name, &bytes)?;
    archive.add("why.txt", why::page(&target.words, &watched.diagnosis).as_bytes())?;
    archive.add("why.json", why::line(&target.words, &watched.diagnosis)?.as_bytes())?;
    draw(&mut archive, &mut machine, &target.words, looks, &watched)?;
    let versions = versions::text(&mut machine, target, recording);
    archive.add("versions.txt", versions.as_bytes())?;
    if let Some(last) = &watched.newest {
        report(target, &last.state);
    }
    let readme =
        readme(&target.words, &name, &left_out::lines(&mut machine, target, recording, &watched));
    archive.add("README.txt", readme.as_bytes())?;
    archive.finish()
}

fn draw(
    archive: &mut Archive,
    machine: &mut Machine,
    words: &str,
    (style, theme): (Style, Theme),
    watched: &Watched,
) -> Result<(), Failure> {
    let verdict = Arc::new(watched.diagnosis.clone());
    let place = verdict.findings.first().and_then(|first| words_of(first.place));
    for (screen, name) in SCREENS {
        let (place, glyphs) = (place.clone(), style.glyphs);
        let picture = Picture { screen, size: USUAL_SIZE, place, theme, glyphs };
        let buffer = picture.draw(machine, words, &verdict);
        let svg = picture::svg(&buffer, &format!("meshscope {words}: {name}"));
        archive.add(&format!("pictures/{name}.txt"), picture::text(&buffer).as_bytes())?;
        archive.add(&format!("pictures/{name}.svg"), svg.as_bytes())?;
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
