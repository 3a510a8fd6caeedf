//! `cores --sample`: where cores are, by program counters that are read without halting them.

use super::{HEAD, check, read_set, row, say_findings};
use crate::interrupt::Stop;
use crate::output::{Columns, json, say, text};
use crate::shape::Cores;
use crate::target::{Style, end_of_all, judge, open, report};
use crate::verbs::record::number;
use console::exit::{Failure, Outcome};
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use console::words;
use decode::profile::{CoreProfile, profile};
use decode::state::{Activity, CoreState, MeshState};
use images::Reading;
use layouts::CoreId;
use machine::place::Place;
use machine::samples::SampleOrder;
use machine::snapshot::AccessError;
use machine::words::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Limit of the number of samples.
const MOST: u64 = 100_000;
/// What an Ethernet core of a chip without PCIe may be seen at.
const RELAYS: &str = "; it may relay its own samples, and is then seen doing so";
/// Limit of the cycles between two samples, a second of the target.
const MOST_CYCLES: u64 = 1_000_000_000;

pub(super) fn run(
    target: &Opening,
    style: Style,
    place: Option<&str>,
    times: (&str, &str),
) -> Result<Outcome, Failure> {
    // Invalid arguments are reported before a target is opened.
    let place = place.map(locate::place).transpose().map_err(Failure::Usage)?;
    let order = order(times)?;
    let stop = Stop::listen()?;
    let mut machine = open(target)?;
    let read_set = read_set(&machine.mesh(), place);
    let snapshot = machine.take(&read_set);
    if let Some(gone) = end_of_all(&snapshot.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let state = &snapshot.state;
    check(state, place)?;
    report(target, state);
    let all = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    let cores: Vec<_> = all.filter(|core| is_sampled(place, core)).collect();
    let ids: BTreeSet<CoreId> = cores.iter().map(|core| core.id).collect();
    let profiles = sample(&mut machine, target, &ids, (order, &stop))?;
    refused_all(target, &profiles)?;
    say(&written(&ids));
    let passes = |core: &CoreState| ids.contains(&core.id);
    if style.json {
        json(Cores::new(&target.words, state, false, passes).with_profiles(&profiles))?;
    } else {
        text(&table(style, &cores, &profiles))?;
    }
    say_findings(&state.chips, passes);
    Ok(outcome(state, &profiles))
}

/// The samples to take, from the words of `--sample` and `--every`.
pub(super) fn order((count, every): (&str, &str)) -> Result<SampleOrder, Failure> {
    Ok(SampleOrder {
        count: number("--sample", count, 1..=MOST)? as u32,
        apart_cycles: number("--every", every, 1..=MOST_CYCLES)?,
    })
}

/// Whether a core is sampled: one that runs, or of a tile every one that is not in reset.
pub(super) fn is_sampled(place: Option<NamedPlace>, core: &CoreState) -> bool {
    let of_tile = matches!(place, Some(NamedPlace::Tile(..) | NamedPlace::Core(_)));
    let runs = match core.activity {
        Reading::Known(Activity::Running) => true,
        Reading::Known(Activity::InReset) => false,
        _ => of_tile,
    };
    runs && place.is_none_or(|place| place.has_core(core.id))
}

/// What was written, and where that is kept.
pub(in crate::verbs) fn written(cores: &BTreeSet<CoreId>) -> String {
    if cores.is_empty() {
        return "no core runs, so none is sampled; name a tile to sample all of its cores"
            .to_owned();
    }
    let tiles: BTreeSet<_> = cores.iter().map(|c| Place { chip: c.chip, tile: c.tile }).collect();
    let (cores, tiles) = (cores.len() as u64, tiles.len() as u64);
    format!(
        "sampled {} over the debug bus of {}, which changes no core; the audit log has each write",
        counted(cores, "core", "cores"),
        counted(tiles, "tile", "tiles")
    )
}

pub(super) fn sample(
    machine: &mut Machine,
    target: &Opening,
    cores: &BTreeSet<CoreId>,
    (order, stop): (SampleOrder, &Stop),
) -> Result<Vec<CoreProfile>, Failure> {
    let cores: Vec<CoreId> = cores.iter().copied().collect();
    if cores.is_empty() {
        return Ok(Vec::new());
    }
    let layout = machine.mesh().layout();
    // The debug buses are put back, however it ends.
    stop.takes_time();
    let samples = machine.session().sample_while(&cores, order, &mut || !stop.is_requested());
    let samples = samples.map_err(|error| Failure::of_run(&target.words, layout, &error))?;
    samples.problems.iter().for_each(|problem| say(problem));
    if stop.is_requested() {
        return Err(Failure::Interrupted);
    }
    let images = machine.images();
    Ok(samples.cores.iter().map(|core| profile(images, core)).collect())
}

fn table(style: Style, cores: &[&CoreState], profiles: &[CoreProfile]) -> String {
    let mut table = Columns::new(&HEAD);
    for core in cores {
        table.row(row(style, core));
    }
    let lines = table.text();
    let (head, rows) = lines.split_once('\n').unwrap_or_default();
    let mut text = format!("{head}\n");
    for (line, core) in rows.lines().zip(cores) {
        let _ = writeln!(text, "{line}");
        if let Some(profile) = profiles.iter().find(|profile| profile.core == core.id) {
            histogram(&mut text, profile);
        }
    }
    text
}

fn histogram(text: &mut String, profile: &CoreProfile) {
    let samples = counted(profile.samples.into(), "sample", "samples");
    let relays = if profile.relays { RELAYS } else { "" };
    let taken = || format!(" in {}{relays}", words::cycles(profile.span_cycles));
    let rest = profile.missing.as_ref().map_or_else(taken, |reason| format!(": {reason}"));
    let _ = writeln!(text, "      {samples}{rest}");
    for place in &profile.places {
        let percent = 100 * u64::from(place.count) / u64::from(profile.samples.max(1));
        let _ = writeln!(text, "{:>11} {percent:>3}%  {}", place.count, place.words());
    }
}

/// Ends the verb if every core was refused.
pub(super) fn refused_all(target: &Opening, profiles: &[CoreProfile]) -> Result<(), Failure> {
    let refused = |profile: &CoreProfile| matches!(profile.missing, Some(AccessError::Refused(_)));
    let first = profiles.first().and_then(|profile| profile.missing.as_ref());
    match first.filter(|_| profiles.iter().all(refused)) {
        Some(reason) => Err(Failure::of_access(&target.words, reason)),
        None => Ok(()),
    }
}

/// Says which cores were not sampled, and why.
pub(super) fn outcome(state: &MeshState, profiles: &[CoreProfile]) -> Outcome {
    let mut reasons: BTreeMap<String, Vec<CoreId>> = BTreeMap::new();
    for profile in profiles {
        if let Some(reason) = &profile.missing {
            reasons.entry(reason.to_string()).or_default().push(profile.core);
        }
    }
    for (reason, cores) in &reasons {
        let first = cores.first().map(ToString::to_string).unwrap_or_default();
        let more = match cores.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        say(&format!("{first}{more} could not be sampled: {reason}"));
    }
    match judge(state) {
        Outcome::Healthy if !reasons.is_empty() => Outcome::Partial,
        judged => judged,
    }
}
