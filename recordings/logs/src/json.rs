//! Lines of JSON that this program prints or keeps: `links`, `why` and `check`, kept status entries, an
//! audit log.

use crate::error::LogError;
use crate::row::{Clock, Kind, Row, Text, text};
use crate::source::{Parser, Sink, Source};
use layouts::{ChipId, EthId};
use machine::notes::AuditLine;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A line.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Links(Links),
    Verdict(Verdict),
    Status(Status),
    Audit(AuditLine),
}

/// A line of `links --json`.
#[derive(Deserialize)]
struct Links {
    cycles: u64,
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Link {
    a: End,
    b: End,
    state: String,
    #[serde(default)]
    ends: Vec<EndWords>,
}

#[derive(Clone, Copy, Deserialize)]
struct End {
    chip: u16,
    channel: u8,
}

#[derive(Deserialize)]
struct EndWords {
    #[serde(flatten)]
    at: End,
    #[serde(flatten)]
    words: Map<String, Value>,
}

/// A line of `why --json` or `check --json`.
#[derive(Deserialize)]
struct Verdict {
    cycles: u64,
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    condition: String,
    severity: String,
    place: String,
    sentence: String,
    signature: String,
}

/// A line of the file of `fabric status --keep`.
#[derive(Deserialize)]
struct Status {
    run_id: u32,
    #[serde(flatten)]
    at: End,
    number: u32,
    cycles: Option<u64>,
    wall_clock_cycles: u64,
    event: String,
    #[serde(rename = "text")]
    words: String,
}

/// Parts of the names of events that say that something is wrong.
const WRONG: [&str; 6] = ["DOWN", "DROP", "ERROR", "FAIL", "NO_ROUTE", "TIMEOUT"];

/// Cycles of a target are nanoseconds.
const CYCLES_PER_MICRO: u64 = 1000;

/// Whether a line, or its start, is of this program.
pub(crate) fn is_line(line: &str) -> bool {
    line.starts_with("{\"schema\":") || line.starts_with("{\"time_micros\":")
}

/// Returns the name of a link: its host, and its ends, the lower one first.
pub fn cable(host: &str, [a, b]: [EthId; 2]) -> String {
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    format!("{host} {low}-{high}")
}

/// Whether an event of a status queue says that something is wrong.
pub fn is_wrong(event: &str) -> bool {
    WRONG.iter().any(|wrong| event.contains(wrong))
}

impl From<End> for EthId {
    fn from(end: End) -> Self {
        Self { chip: ChipId(end.chip), channel: end.channel }
    }
}

/// Reads such a file.
pub(crate) struct Reader<'a>(&'a Source);

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self(source)
    }

    fn row(&self, kind: Kind, name: &str, cycles: u64) -> Row {
        let time_micros = i64::try_from(cycles / CYCLES_PER_MICRO).unwrap_or(i64::MAX);
        Row { time_micros, ..self.0.row(kind, text(name)) }
    }

    fn links(&self, line: Links, to: &mut Sink<'_>) -> Result<(), LogError> {
        for link in line.links {
            let cable = text(&cable(&self.0.host, [link.a.into(), link.b.into()]));
            let base = Row { cable: Some(cable), ..self.row(Kind::Link, "state", line.cycles) };
            let trouble = ["down", "disagree"].contains(&link.state.as_str());
            to(Row { trouble, text: Some(text(&link.state)), ..base.clone() })?;
            for end in link.ends {
                let at = Row {
                    chip: Some(end.at.chip.into()),
                    channel: Some(end.at.channel.into()),
                    ..base.clone()
                };
                for (name, value) in &end.words {
                    let Some(value) = value.as_i64() else { continue };
                    to(Row { name: text(name), value: Some(value), ..at.clone() })?;
                }
            }
        }
        Ok(())
    }

    fn verdict(&self, line: Verdict, to: &mut Sink<'_>) -> Result<(), LogError> {
        for found in line.findings {
            let (cable, chip) = of_place(&self.0.host, &found.place);
            to(Row {
                trouble: ["fault", "hang"].contains(&found.severity.as_str()),
                cable,
                chip,
                place: Some(text(&found.place)),
                text: Some(text(&format!("{}: {}", found.severity, found.sentence))),
                signature: Some(text(&found.signature)),
                ..self.row(Kind::Finding, &found.condition, line.cycles)
            })?;
        }
        Ok(())
    }

    fn status(&self, line: &Status, to: &mut Sink<'_>) -> Result<(), LogError> {
        // Clocks of chips are not equal, but nearly so.
        let cycles = line.cycles.unwrap_or(line.wall_clock_cycles);
        to(Row {
            trouble: is_wrong(&line.event),
            chip: Some(line.at.chip.into()),
            channel: Some(line.at.channel.into()),
            value: Some(line.number.into()),
            text: Some(text(&format!("bring-up {}: {}", line.run_id, line.words))),
            ..self.row(Kind::Status, &line.event, cycles)
        })
    }

    fn audit(&self, line: &AuditLine, to: &mut Sink<'_>) -> Result<(), LogError> {
        let (name, chip) = match line {
            AuditLine::Begins { .. } => ("command", None),
            AuditLine::Write { place, .. } => ("write", Some(place.chip)),
            AuditLine::Failed { place, .. } => ("failed write", Some(place.chip)),
        };
        to(Row {
            time_micros: i64::try_from(line.time_micros()).unwrap_or(i64::MAX),
            clock: Clock::Host,
            chip: chip.map(i32::from),
            text: Some(text(&line.to_string())),
            ..self.row(Kind::Command, name, 0)
        })
    }
}

/// The cable and the chip of a place of a finding on a host.
pub(crate) fn of_place(host: &str, place: &str) -> (Option<Text>, Option<i32>) {
    let cable = place.strip_prefix("link ").map(|ends| text(&format!("{host} {ends}")));
    (cable, first_chip(place))
}

/// The chip of a place in words, such as `core 0:1-2 brisc`, `link 0:e8-1:e0` or `chip 3`.
fn first_chip(place: &str) -> Option<i32> {
    let (_, rest) = place.split_once(' ').unwrap_or(("", place));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..digits)?.parse().ok()
}

impl Parser for Reader<'_> {
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        if line.trim().is_empty() {
            return Ok(None);
        }
        let parsed = match serde_json::from_str(line) {
            Ok(parsed) => parsed,
            Err(error) if error.is_data() => {
                return Ok(Some("it is JSON of no verb that is read".to_owned()));
            }
            Err(error) => return Ok(Some(format!("it is no JSON: {error}"))),
        };
        match parsed {
            Line::Links(line) => self.links(line, to)?,
            Line::Verdict(line) => self.verdict(line, to)?,
            Line::Status(line) => self.status(&line, to)?,
            Line::Audit(line) => self.audit(&line, to)?,
        }
        Ok(None)
    }

    fn again(&mut self) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn rows(line: &str) -> Vec<Row> {
        let source = Source::of("a.json", "h1", 0);
        let mut rows = Vec::new();
        let said = Reader::new(&source).line(line, &mut |row| {
            rows.push(row);
            Ok(())
        });
        assert_eq!(said.unwrap(), None, "{line}");
        rows
    }

    #[test]
    fn links_have_a_row_for_each_counter_of_each_end() {
        let line = r#"{"schema":1,"target":"x","cycles":5000000,"links":[{"a":{"chip":1,"channel":0},
            "b":{"chip":0,"channel":8},"state":"down","a_to_b":0,"b_to_a":null,"apart_cycles":0,"ends":[
            {"chip":0,"channel":8,"tile":[9,6],"retrain_count":3,"crc_errors":null,"missing":{}}]}],
            "no_peer_known":[],"gaps":[]}"#;
        let rows = rows(&line.replace('\n', " "));
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].cable.as_deref(), Some("h1 0:e8-1:e0"));
        assert_eq!((&*rows[0].name, rows[0].trouble), ("state", true));
        assert_eq!(
            (&*rows[1].name, rows[1].value, rows[1].channel),
            ("retrain_count", Some(3), Some(8))
        );
        assert_eq!(rows[1].time_micros, 5000);
    }

    #[test]
    fn findings_keep_their_signature() {
        let line = r#"{"schema":1,"target":"x","cycles":1000,"findings":[{"condition":"link-down","severity":"fault",
            "place":"link 0:e8-1:e0","sentence":"it is down","next":"","evidence":[],"chain":[],"waiting":0,
            "confidence":"certain","since_cycles":null,"signature":"link-down"}]}"#;
        let rows = rows(&line.replace('\n', " "));
        assert_eq!(rows[0].cable.as_deref(), Some("h1 0:e8-1:e0"));
        assert_eq!((rows[0].chip, rows[0].trouble), (Some(0), true));
        assert_eq!(rows[0].text.as_deref(), Some("fault: it is down"));
        assert_eq!(first_chip("core 12:1-2 brisc"), Some(12));
        assert_eq!(first_chip("mesh"), None);
    }

    #[test]
    fn audit_lines_and_status_entries_are_known() {
        let audit = r#"{"time_micros":7,"pid":1,"command":"write 0:1-2:0x0 1"}"#;
        let row = &rows(audit)[0];
        assert_eq!((row.time_micros, row.clock, row.kind), (7, Clock::Host, Kind::Command));
        let status = r#"{"schema":1,"run_id":2,"chip":0,"channel":8,"number":5,"event":"EVENT_LINK_DOWN",
            "cycles":null,"wall_clock_cycles":9000,"mesh":0,"device":0,"direction":1,"detail":[0,0,0,0],"text":"down"}"#;
        let row = &rows(&status.replace('\n', " "))[0];
        assert_eq!((&*row.name, row.trouble, row.time_micros), ("EVENT_LINK_DOWN", true, 9));
    }

    #[test]
    fn what_is_no_such_line_is_said() {
        let source = Source::of("a.json", "h1", 0);
        let said = |line| Reader::new(&source).line(line, &mut |_| Ok(())).unwrap().unwrap();
        assert_eq!(said(r#"{"a":1}"#), "it is JSON of no verb that is read");
        assert!(said(r#"{"cycles":1,"links":[{"#).starts_with("it is no JSON: EOF"));
    }
}
