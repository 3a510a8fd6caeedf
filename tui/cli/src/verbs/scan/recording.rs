//! What a recording says: the counters of links at each of its moments, the verdict, marks, commands and
//! status entries.

use super::cables::by_ports;
use console::machine::{Machine, Opening};
use console::words;
use decode::inspect::ReadSet;
use decode::state::{EthState, LinkCondition, LinkState, MeshState};
use diagnosis::{Finding, Place, Severity};
use layouts::{ChipId, EthId};
use logs::{Clock, Kind, LogError, Row, Sink, Source, cable, host_name, text};
use machine::history::{History, Mark};
use machine::notes::Note;
use machine::progress::Listener;
use machine::snapshot::Snapshot;
use probe::session::{OpenOptions, WATCHED_CYCLES};
use probe::spec::TargetSpec;

/// Makes rows of a recording, and returns in words what could not be read.
pub(super) fn read(
    source: &Source,
    target: &Opening,
    to: &mut Sink<'_>,
) -> Result<Vec<String>, LogError> {
    let words = source.path().display().to_string();
    let reads_as = TargetSpec::parse(&words);
    let is_file =
        matches!(&reads_as, Ok(TargetSpec::Recording(path, None)) if path == source.path());
    if !is_file {
        return Ok(vec![format!("{words}: a target of another kind has such a name: rename it")]);
    }
    let options = OpenOptions { find: false, ..target.options.clone() };
    let opening = Opening { words, options, budget: None };
    match Machine::open(&opening, &Listener::default()) {
        Ok(mut machine) => take(source, &mut machine, to),
        Err(why) => Ok(vec![why.to_string()]),
    }
}

fn take(
    source: &Source,
    machine: &mut Machine,
    to: &mut Sink<'_>,
) -> Result<Vec<String>, LogError> {
    let mut said = verdict(source, machine, to)?;
    let moments = machine.target().history().map_or(0, |history| history.moments().len());
    let mut is_first = true;
    for index in 0..moments {
        let Some(history) = machine.target().history() else { break };
        history.seek(index);
        let Some(taken) = history.moment().map(|moment| taken(source, moment)) else { continue };
        let state = machine.session().inspect(&ReadSet { links: true, ..ReadSet::default() }).state;
        let moment = Moment { source, state: &state, taken };
        if std::mem::take(&mut is_first) {
            moment.facts(machine, to)?;
            said.extend(damage(source, &state));
        }
        state.links.iter().try_for_each(|link| moment.link(link, to))?;
    }
    if let Some(history) = machine.target().history() {
        said_and_done(source, history, to)?;
    }
    Ok(said)
}

/// When a snapshot was taken, in microseconds since the Unix epoch; of an emulated host's, which has no
/// time, when the file was written.
fn taken(source: &Source, snapshot: &Snapshot) -> (i64, Clock) {
    let newest = snapshot.pieces.iter().map(|piece| piece.host_micros).max();
    match newest.and_then(|newest| i64::try_from(newest).ok()) {
        None | Some(0) => (source.modified_micros, Clock::File),
        Some(newest) => (newest, Clock::Host),
    }
}

/// What is damaged in the file.
fn damage(source: &Source, state: &MeshState) -> Vec<String> {
    let named = |problem| format!("{}: {problem}", source.path().display());
    state.problems.iter().take(state.damage).map(named).collect()
}

/// The findings at the moment at which the recording is opened.
fn verdict(
    source: &Source,
    machine: &mut Machine,
    to: &mut Sink<'_>,
) -> Result<Vec<String>, LogError> {
    let watched = match machine.diagnose(WATCHED_CYCLES) {
        Ok(watched) => watched,
        Err(why) => return Ok(vec![format!("{}: no verdict: {why}", source.path().display())]),
    };
    let Some(newest) = &watched.newest else { return Ok(Vec::new()) };
    let taken = taken(source, &newest.snapshot);
    let moment = Moment { source, state: &newest.state, taken };
    for found in &watched.diagnosis.findings {
        to(moment.finding(found))?;
    }
    Ok(Vec::new())
}

/// A moment of a recording.
struct Moment<'a> {
    source: &'a Source,
    state: &'a MeshState,
    taken: (i64, Clock),
}

impl Moment<'_> {
    fn row(&self, kind: Kind, name: &str) -> Row {
        let (time_micros, clock) = self.taken;
        Row { time_micros, clock, ..self.source.row(kind, text(name)) }
    }

    /// A row of a chip: where it stands, if a descriptor says it, and its board.
    fn of_chip(&self, chip: ChipId, row: Row) -> Row {
        let known = self.state.chips.iter().find(|it| it.chip.id == chip);
        let seat = self.state.seat(chip);
        let board = known.and_then(|it| it.chip.unique_id).map(|id| text(&format!("{id:#x}")));
        Row {
            host: seat.map_or_else(|| row.host.clone(), |seat| host_name(&seat.host)),
            tray: seat.and_then(|seat| i32::try_from(seat.tray).ok()),
            chip: Some(chip.0.into()),
            board,
            ..row
        }
    }

    /// The name of a link: by its ports, if a descriptor tells both.
    fn cable(&self, ends: [EthId; 2]) -> String {
        let port = |end: EthId| {
            let seat = self.state.seat(end.chip)?;
            seat.ports
                .contains_key(&end.channel)
                .then(|| format!("{} {}", seat.host, seat.port(end.channel)))
        };
        match ends.map(port) {
            [Some(one), Some(other)] => by_ports([one, other]),
            _ => cable(&self.source.host, ends),
        }
    }

    fn facts(&self, machine: &mut Machine, to: &mut Sink<'_>) -> Result<(), LogError> {
        let head = machine.session().file().and_then(|file| file.head.clone());
        if let Some(head) = head {
            for (name, words) in [("meshscope", &head.made_by), ("target", &head.target)] {
                to(Row { text: Some(text(words)), ..self.row(Kind::Fact, name) })?;
            }
        }
        for chip in &self.state.chips {
            let id = chip.chip.id;
            let firmware = chip.tiles.iter().filter_map(|tile| tile.eth.as_ref());
            let version = firmware.filter_map(|eth| eth.firmware_version.known()).max();
            let version = version.map(|(major, minor, patch)| format!("{major}.{minor}.{patch}"));
            let facts = [("board", chip.chip.board.clone()), ("eth firmware", version)];
            for (name, words) in facts {
                let Some(words) = words else { continue };
                let row = Row { text: Some(text(&words)), ..self.row(Kind::Fact, name) };
                to(self.of_chip(id, row))?;
            }
        }
        Ok(())
    }

    fn link(&self, link: &LinkState, to: &mut Sink<'_>) -> Result<(), LogError> {
        let ends = [link.link.a, link.link.b];
        let cable = Some(text(&self.cable(ends)));
        let state = words::link(link.condition);
        let row = Row { cable, ..self.row(Kind::Link, "state") };
        let trouble = matches!(link.condition, LinkCondition::Down | LinkCondition::Disagree);
        to(self.of_chip(ends[0].chip, Row { trouble, text: Some(text(state)), ..row.clone() }))?;
        for end in ends {
            let Some(eth) = self.state.eth(end).and_then(|tile| tile.eth.as_ref()) else {
                continue;
            };
            let at = Row { channel: Some(end.channel.into()), ..row.clone() };
            let at = self.of_chip(end.chip, at);
            for (name, value) in counters(eth) {
                let value = i64::try_from(value).ok();
                to(Row { name: text(name), value, ..at.clone() })?;
            }
        }
        Ok(())
    }

    fn finding(&self, found: &Finding) -> Row {
        let severity = found.severity.word();
        let row = Row {
            trouble: matches!(found.severity, Severity::Fault | Severity::Hang),
            place: Some(text(&found.place.to_string())),
            text: Some(text(&format!("{severity}: {}", found.sentence))),
            signature: Some(text(&found.signature)),
            ..self.row(Kind::Finding, found.condition.name())
        };
        let row = match found.place {
            Place::Link(a, b) => Row { cable: Some(text(&self.cable([a, b]))), ..row },
            Place::Router(at) | Place::End(at) => {
                let mut links = self.state.links.iter().map(|it| [it.link.a, it.link.b]);
                let cable = links.find(|ends| ends.contains(&at)).map(|ends| self.cable(ends));
                let cable = cable.as_deref().map(text);
                Row { channel: Some(at.channel.into()), cable, ..row }
            }
            _ => row,
        };
        match found.place.chips().next() {
            Some(chip) => self.of_chip(chip, row),
            None => row,
        }
    }
}

/// A row of a time by the host's clock.
fn at(source: &Source, time_micros: i64, kind: Kind, name: &str) -> Row {
    Row { time_micros, clock: Clock::Host, ..source.row(kind, text(name)) }
}

/// The counters of an end of a link that were read.
fn counters(eth: &EthState) -> impl Iterator<Item = (&'static str, u64)> {
    let codewords = [
        ("corrected_codewords", eth.corrected_codewords.clone()),
        ("uncorrected_codewords", eth.uncorrected_codewords.clone()),
    ];
    let all = eth.json_readings().into_iter().chain(codewords);
    all.filter_map(|(name, reading)| Some((name, *reading.known()?)))
}

/// Marks, commands, writes and status entries, each by its own time.
fn said_and_done(
    source: &Source,
    history: &dyn History,
    to: &mut Sink<'_>,
) -> Result<(), LogError> {
    let micros = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    for Mark { host_micros, text: words, condition, .. } in history.marks() {
        let name = condition.as_deref().unwrap_or("mark");
        let row = at(source, micros(*host_micros), Kind::Mark, name);
        to(Row { trouble: condition.is_some(), text: Some(text(words)), ..row })?;
    }
    for (_, note) in history.notes() {
        let time = micros(note.host_micros());
        let words = Some(text(&note.to_string()));
        to(match &note {
            Note::Status(message) => Row {
                trouble: logs::is_wrong(&message.event),
                chip: Some(message.chip.into()),
                channel: Some(message.channel.into()),
                value: Some(message.number.into()),
                text: words,
                ..at(source, time, Kind::Status, &message.event)
            },
            note => Row { text: words, ..at(source, time, Kind::Command, note.kind()) },
        })?;
    }
    Ok(())
}
