//! `why`: what stands still, what it waits for, and the likely causes, first the likeliest.

use super::cores::sample;
use super::record;
use crate::amount;
use crate::interrupt;
use crate::junit;
use crate::output::{json_line, say, text};
use crate::shape::schema;
use crate::shape::{Files, Judged};
use crate::target::Style;
use crate::target::{end_of_all, open, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches, everything};
use console::exit::{Failure, Outcome};
use console::fresh;
use console::machine::{Machine, Opening};
use console::recording::{FLIGHT_BYTES, RecordingFile};
use console::verdict;
use console::words;
use decode::state::MeshState;
use diagnosis::{Diagnosis, Health};
use machine::past::Keeps;
use probe::session::{Inspected, Session, Watch, Watched};
use recordings::FlightRecorder;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Say what stands still, what it waits for, and the likely causes.
#[derive(clap::Args, Debug)]
pub(crate) struct WhyArguments {
    /// Time over which the mesh is watched, such as 50ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "50ms")]
    pub(crate) over: String,
    /// The recording of --watch; an existing file is not overwritten. The default is
    /// why-SECONDS.mcap in the current directory.
    #[arg(long, value_name = "FILE", requires = "watch")]
    pub(crate) record: Option<PathBuf>,
    /// Also write the verdict to this file, as JUnit XML; an existing file is not overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

impl WhyArguments {
    /// What the verb does without options.
    pub(crate) fn usual() -> Self {
        Self { over: "50ms".to_owned(), record: None, junit: None }
    }
}

impl Verb for WhyArguments {
    const NAME: &str = "why";
    const PAGES: Pages = &[("why", include_str!("../manual/verbs/why.md"))];
    const SCHEMAS: Schemas = &[("why", schema::<Judged<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("why")
    }
    const WATCH: Watches = Watches::Itself;
    fn cleans_up(&self) -> bool {
        true
    }
    const QUESTION: Ask<Self> = Some(|_, _| Ok(Some(everything())));
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// Moments that are recorded after the first finding.
const MOMENTS: u64 = 4;

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &WhyArguments,
) -> Result<Outcome, Failure> {
    let over = amount::time("--for", &options.over).map_err(Failure::Usage)?;
    options.junit.as_deref().map_or(Ok(()), fresh::check)?;
    if style.watch {
        return watch(target, style, over, options);
    }
    let mut machine = open(target)?;
    let watched =
        machine.diagnose(over).map_err(|gone| Failure::of_access(&target.words, &gone))?;
    conclude(target, style, &watched, options)
}

/// Reports all snapshots of a diagnosis, and returns the newest.
pub(super) fn newest<'a>(target: &Opening, watched: &'a Watched) -> Result<&'a Inspected, Failure> {
    let Some(last) = &watched.newest else {
        return Err(Failure::Internal("no snapshot was taken".to_owned()));
    };
    if let Some(gone) = end_of_all(&last.snapshot) {
        return Err(Failure::of_access(&target.words, gone));
    }
    if !last.sampled.is_empty() {
        say(&sample::written(&last.sampled.keys().copied().collect()));
    }
    report(target, &MeshState { transactions: watched.transactions, ..last.state.clone() });
    Ok(last)
}

/// Prints the verdict.
fn conclude(
    target: &Opening,
    style: Style,
    watched: &Watched,
    options: &WhyArguments,
) -> Result<Outcome, Failure> {
    let last = newest(target, watched)?;
    let diagnosis = &watched.diagnosis;
    let words = &target.words;
    text(&if style.json {
        line(words, diagnosis, Some(&last.state))?
    } else {
        page(words, diagnosis)
    })?;
    diagnosis.missing.iter().for_each(|missing| say(&format!("unknown: {missing}")));
    if let Some(file) = &options.junit {
        junit::write(file, (WhyArguments::NAME, words), diagnosis)?;
    }
    Ok(Outcome::of(Health::of(diagnosis), !last.state.gaps.is_empty()))
}

/// The verdict on a target as text.
pub(super) fn page(words: &str, diagnosis: &Diagnosis) -> String {
    let mut page = verdict::page(diagnosis);
    if let Some(paragraph) = verdict::paragraph(words, diagnosis) {
        let _ = write!(page, "\nTo paste into an issue:\n\n{paragraph}\n");
    }
    page
}

/// The verdict on a target as a line of JSON, with the files of the newest state.
pub(super) fn line(
    words: &str,
    diagnosis: &Diagnosis,
    state: Option<&MeshState>,
) -> Result<String, Failure> {
    json_line(Judged { target: words, verdict: diagnosis, files: state.map(Files::new) })
}

/// Watches the mesh until something is found, and records it then.
fn watch(
    target: &Opening,
    style: Style,
    over: u64,
    options: &WhyArguments,
) -> Result<Outcome, Failure> {
    let file = options.record.clone().unwrap_or_else(usual_file);
    let recording = RecordingFile::new(&file)?;
    interrupt::end_file(&recording)?;
    // What it has found so far is said instead of what it waits for.
    let mut machine = open(&target.keeping(Keeps::Run))?.into_machine();
    if machine.session().file().is_some() {
        let words = &target.words;
        return Err(Failure::Usage(format!("--watch: {words} is a recording: judge it without")));
    }
    // A file that cannot be written is better known now than at the finding.
    recording.create(machine.target(), ("why --watch", None))?;
    recording.in_memory(FlightRecorder::new(FLIGHT_BYTES));
    let watched = until_found(&mut machine, (target, style), over, &recording);
    // The file is valid however the recording ended; without a moment it is removed.
    let ended = recording.end().unwrap_or_else(|failure| failure.to_string());
    if recording.is_stopped() {
        say(&ended);
        return Err(Failure::Interrupted);
    }
    let outcome = conclude(target, style, &watched?, options)?;
    say(&ended);
    Ok(outcome)
}

/// Watches the mesh until something is found, records it, and judges what came of it. A recording
/// that cannot be written does not cost the verdict.
fn until_found(
    machine: &mut Machine,
    (target, style): (&Opening, Style),
    over: u64,
    recording: &RecordingFile,
) -> Result<Watched, Failure> {
    let gone = |error| Failure::of_access(&target.words, &error);
    let mut watch = Watch::new(over);
    let (mut begun, mut said, mut told) = (None, Health::Unknown, Ok(()));
    let mut go_on = |session: &mut Session, watch: &Watch, diagnosis: &Diagnosis| {
        if let Some(newest) = watch.newest() {
            if end_of_all(&newest.snapshot).is_some() {
                return false;
            }
            // In memory, where nothing fails.
            let _ = recording.append(&newest.snapshot.completed_by(session.proofs()), false);
        }
        let begun = *begun.get_or_insert(diagnosis.cycles);
        let health = Health::of(diagnosis);
        if std::mem::replace(&mut said, health) != health {
            let since = words::cycles(diagnosis.cycles.saturating_sub(begun));
            say(&format!("watched for {since}: {}", health.word()));
            if let (true, Some(newest)) = (style.json, watch.newest()) {
                let line = line(&target.words, diagnosis, Some(&newest.state));
                told = line.and_then(|line| text(&line));
            }
        }
        !health.is_sick() && !recording.is_stopped() && told.is_ok()
    };
    let first = machine.session().diagnose_while(&mut watch, &mut go_on).map_err(gone)?;
    told?;
    // Nothing is left to be recorded.
    if let Some(end) = first.newest.as_ref().and_then(|newest| end_of_all(&newest.snapshot)) {
        return Err(gone(end.clone()));
    }
    let found = first.diagnosis.findings.first();
    let kept = recording
        .write_out()
        .and_then(|()| found.map_or(Ok(()), |found| recording.mark_finding(found)))
        .and_then(|()| {
            let each = (MOMENTS, over / (MOMENTS - 1));
            record::keep_moments(machine, target, recording, each)
        });
    if let Err(failure) = kept {
        say(&failure.to_string());
    }
    let end = first.diagnosis.cycles.saturating_add(over);
    let then = machine.session().diagnose_while(&mut watch, &mut |_, _, it| it.cycles < end);
    // What has passed meanwhile was found all the same.
    Ok(match then {
        Ok(then) if Health::of(&then.diagnosis).is_sick() => then,
        _ => first,
    })
}

/// The name of a recording, by the time.
fn usual_file() -> PathBuf {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    PathBuf::from(format!("why-{}.mcap", since.map_or(0, |since| since.as_secs())))
}
