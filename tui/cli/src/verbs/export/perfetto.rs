//! `export --to perfetto`: the moments of a recording as tracks.

use super::state::{self, Stages};
use super::track::Track;
use super::tracks::{Event, Tracks};
use crate::output::say;
use crate::target::{open, report};
use crate::verbs::record::Moments;
use crate::verbs::who_wrote::{past, reached, telling};
use console::exit::Failure;
use console::machine::{Machine, Opening};
use diagnosis::{Diagnosis, Finding};
use layouts::{ChipId, CoreId, CoreKind};
use machine::history::Mark;

/// What the file says of itself.
const ABOUT: &str = "slices and counters are what each moment shows: samples, not events; a slice \
                     lasts from the first moment that shows it to the first that shows another, and \
                     what happened between two moments is not known; times are the target's own, in \
                     ns";

/// Packets of the links in a trace: the last ones, some ten megabytes.
const MOST_PACKETS: usize = 100_000;

/// The clock of the target along the moments.
#[derive(Default)]
struct Clock {
    /// From which time of the target to which, and what is added to it, in cycles.
    spans: Vec<(u64, u64, u64)>,
}

impl Clock {
    /// Returns the time of the next moment on the trace, where time never runs backwards.
    fn next(&mut self, cycles: u64) -> u64 {
        match self.spans.last_mut() {
            Some((_, last, shift)) if cycles >= *last => {
                *last = cycles;
                cycles.saturating_add(*shift)
            }
            Some((_, last, shift)) => {
                say("the target's clock began again; its times are moved on from there");
                let shift = last.saturating_add(*shift).saturating_add(1).saturating_sub(cycles);
                self.spans.push((cycles, cycles, shift));
                cycles.saturating_add(shift)
            }
            None => {
                self.spans.push((cycles, cycles, 0));
                cycles
            }
        }
    }

    /// Returns where a time of the target is on the trace.
    fn place(&self, cycles: u64) -> u64 {
        let within = |(first, last, _): &&(u64, u64, u64)| (*first..=*last).contains(&cycles);
        let span = self.spans.iter().rev().find(within).or(self.spans.last());
        cycles.saturating_add(span.map_or(0, |(_, _, shift)| *shift))
    }
}

/// Returns the file, and the number of moments in it.
pub(super) fn trace(target: &Opening, packets: bool) -> Result<(Vec<u8>, usize), Failure> {
    let mut machine = open(target)?;
    let Some(history) = machine.target().history() else {
        let words = &target.words;
        return Err(Failure::Usage(format!(
            "--to perfetto: {words} has no past: record it first (`meshscope record FILE`)"
        )));
    };
    let (times, marks) = (history.moments().to_vec(), history.marks().to_vec());
    let notes = history.notes();
    let (mut tracks, mut clock) = (Tracks::default(), Clock::default());
    walk(&mut machine, target, times.len(), (&mut tracks, &mut clock));
    for mark in &marks {
        let at = clock.place(mark.target_cycles);
        tracks.instant(&Track::Recording("marks"), at, marked(mark));
    }
    for (moment, note) in &notes {
        let at = clock.place(times.get(*moment).copied().unwrap_or(0));
        let event = Event { name: note.to_string(), values: Vec::new() };
        tracks.instant(&Track::Recording(note.kind()), at, event);
    }
    let over =
        times.last().zip(times.first()).map_or(0, |(last, first)| last.saturating_sub(*first));
    let watched = machine.diagnose(over);
    let watched = watched.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    note_findings(&watched.diagnosis, &clock, &mut tracks);
    if packets {
        let within = times.first().copied().zip(times.last().copied());
        add_packets(&mut machine, target, within.unwrap_or((0, 0)), &mut tracks)?;
    }
    Ok((tracks.finish(), times.len()))
}

/// Adds every moment.
fn walk(
    machine: &mut Machine,
    target: &Opening,
    count: usize,
    (tracks, clock): (&mut Tracks, &mut Clock),
) {
    let (mesh, mut moments, mut stages) =
        (machine.mesh(), Moments::new(machine), Stages::default());
    for moment in 0..count {
        machine.session().seek(moment);
        let snapshot = moments.take(machine);
        tracks.now = clock.next(snapshot.state.cycles);
        if moment == 0 {
            report(target, &snapshot.state);
            state::name(&snapshot.state, tracks);
            tracks.instant(&Track::Recording("moments"), tracks.now, about(target));
        }
        let values = vec![("gaps", snapshot.state.gaps.len().to_string())];
        let event = Event { name: format!("moment #{moment}"), values };
        tracks.instant(&Track::Recording("moments"), tracks.now, event);
        state::note(&snapshot.state, &mesh, tracks, &mut stages);
    }
}

fn about(target: &Opening) -> Event {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let values =
        vec![("about", ABOUT.to_owned()), ("meshscope", version), ("target", target.words.clone())];
    Event { name: "about this trace".to_owned(), values }
}

fn marked(mark: &Mark) -> Event {
    let condition = mark.condition.clone().map(|it| ("condition", it));
    Event { name: mark.text.clone(), values: condition.into_iter().collect() }
}

/// Adds the verdict on all moments: each finding from when it is seen.
fn note_findings(diagnosis: &Diagnosis, clock: &Clock, tracks: &mut Tracks) {
    for finding in &diagnosis.findings {
        let since = finding.since_cycles.unwrap_or(diagnosis.cycles);
        tracks.instant(&Track::Recording("findings"), clock.place(since), found(finding));
    }
    diagnosis.missing.iter().for_each(|missing| say(&format!("unknown: {missing}")));
}

fn found(finding: &Finding) -> Event {
    let values = vec![
        ("place", finding.place.to_string()),
        ("sentence", finding.sentence.clone()),
        ("signature", finding.signature.clone()),
    ];
    Event { name: finding.condition.name().to_owned(), values }
}

/// Adds the packets of the Ethernet links between two times of a recorded run, which is executed again.
/// The clock of such a run never begins again.
fn add_packets(
    machine: &mut Machine,
    target: &Opening,
    within: (u64, u64),
    tracks: &mut Tracks,
) -> Result<(), Failure> {
    let past = past(machine, target)?;
    let mut tells = telling(|progress| reached("looks at the packets", progress));
    let packets = past.eth_packets(within, &mut tells);
    let packets = packets.map_err(|error| Failure::Usage(format!("{}: {error}", target.words)))?;
    let mesh = machine.mesh();
    let erisc = |(chip, channel): (ChipId, u8)| {
        let tile = mesh.layout().eth_channel(channel)?;
        Some(CoreId { chip, tile, core: CoreKind::Erisc })
    };
    let left_out = packets.len().saturating_sub(MOST_PACKETS);
    if left_out > 0 {
        say(&format!("the first {left_out} of {} packets are left out", packets.len()));
    }
    for packet in packets.iter().skip(left_out) {
        let Some((from, to)) = erisc(packet.from).zip(erisc(packet.to)) else { continue };
        let from = Track::OfCore(from, "packets sent".to_owned());
        let to = Track::OfCore(to, "packets received".to_owned());
        let event = Event { name: packet.what.clone(), values: Vec::new() };
        tracks.flow((&from, packet.sent_cycles), (&to, packet.arrives_cycles), &event);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_clock_that_begins_again_goes_on() {
        let mut clock = Clock::default();
        let times = [500, 600, 600, 0, 10].map(|cycles| clock.next(cycles));
        assert_eq!(times, [500, 600, 600, 601, 611]);
        assert_eq!([550, 5, 700].map(|cycles| clock.place(cycles)), [550, 606, 1301]);
    }
}
