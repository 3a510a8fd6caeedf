//! A report of tt-triage in text: a section for each script, with `pass`, or `fail` and its findings, or a
//! table as CSV.

use crate::error::LogError;
use crate::row::{Kind, Row, Text, text};
use crate::source::{Parser, Sink, Source};
use std::collections::HashMap;

/// Whether a line begins a section.
pub(crate) fn is_section(line: &str) -> bool {
    section(line).is_some()
}

/// The script of `check_noc_status.py:`.
fn section(line: &str) -> Option<&str> {
    let script = line.strip_suffix(".py:")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!script.is_empty() && script.chars().all(is_name)).then_some(script)
}

/// Reads such a report.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    script: Text,
    /// The names of the columns of the table that is read.
    head: Option<Vec<String>>,
    /// The boards of the devices, which come after some findings: known when read again.
    boards: HashMap<i32, Text>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self { source, script: text(""), head: None, boards: HashMap::new() }
    }

    fn row(&self, kind: Kind, name: Text, chip: Option<i32>, words: &str) -> Row {
        Row {
            time_micros: 0,
            chip,
            board: chip.and_then(|chip| self.boards.get(&chip).cloned()),
            text: Some(text(words)),
            ..self.source.row(kind, name)
        }
    }

    /// `Device 4: functional_workers [1-1 (0,0)]: Mismatched state ...` below `fail`.
    fn finding(&self, line: &str) -> Row {
        let words = line.trim();
        let of_device = words.strip_prefix("Device ").and_then(|rest| rest.split_once(": "));
        let device = of_device.and_then(|(device, _)| device.parse().ok());
        let rest = of_device.filter(|_| device.is_some()).map_or(words, |(_, rest)| rest);
        let (place, said) = match rest.split_once("]: ") {
            Some((place, said)) => (Some(place.replace('[', "")), said),
            None => (None, rest),
        };
        Row {
            trouble: true,
            channel: place.as_deref().and_then(channel),
            place: place.as_deref().map(text),
            ..self.row(Kind::Triage, self.script.clone(), device, said)
        }
    }

    fn table(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        let Some(cells) = cells(line) else {
            return Ok(Some("its cells cannot be told apart".to_owned()));
        };
        let Some(head) = self.head.take() else {
            self.head = Some(cells);
            return Ok(None);
        };
        let rows = self.cells(&head, &cells, line);
        self.head = Some(head);
        rows.into_iter().try_for_each(to).map(|()| None)
    }

    /// A line of a table: what is so of a device or of the configuration is a fact by column, the rest a row.
    fn cells(&mut self, head: &[String], cells: &[String], line: &str) -> Vec<Row> {
        let named = |name: &str| {
            let at = head.iter().position(|it| it == name)?;
            cells.get(at).map(String::as_str)
        };
        let chip = named("Dev").and_then(|device| device.parse().ok());
        if let (Some(scope), Some(name), Some(value)) =
            (named("Scope"), named("Name"), named("Value"))
        {
            return vec![self.row(Kind::Fact, text(&format!("{scope} {name}")), None, value)];
        }
        if let (Some(chip), Some(stands)) = (chip, named("Tray/Board")) {
            if let Some(board) = stands.strip_prefix("Board ") {
                self.boards.insert(chip, text(board));
            }
            let tray = stands.strip_prefix("Tray ").and_then(|tray| tray.parse().ok());
            let facts = head.iter().zip(cells).filter(|(name, cell)| {
                !cell.is_empty() && !["Dev", "Tray/Board", "Chip"].contains(&name.as_str())
            });
            let fact = |(name, cell): (&String, &String)| Row {
                tray,
                ..self.row(Kind::Fact, text(name), Some(chip), cell)
            };
            return facts.map(fact).collect();
        }
        let place = named("Loc");
        vec![Row {
            channel: place.and_then(channel),
            place: place.map(text),
            ..self.row(Kind::Triage, self.script.clone(), chip, line)
        }]
    }
}

/// The channel of an Ethernet tile: 10 in `8-6 (e0,10)`.
fn channel(place: &str) -> Option<i32> {
    let (_, rest) = place.split_once("(e")?;
    rest.split_once(',')?.1.strip_suffix(')')?.parse().ok()
}

fn cells(line: &str) -> Option<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next()?.ok()?;
    Some(record.iter().map(str::to_owned).collect())
}

impl Parser for Reader<'_> {
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        if let Some(script) = section(line) {
            (self.script, self.head) = (text(script), None);
            return Ok(None);
        }
        if line.trim().is_empty() || self.script.is_empty() || line == "  fail" {
            return Ok(None);
        }
        if line.starts_with("    ") {
            to(self.finding(line))?;
        } else if line.starts_with(' ') {
            to(self.row(Kind::Triage, self.script.clone(), None, line.trim()))?;
        } else {
            return self.table(line, to);
        }
        Ok(None)
    }

    fn again(&mut self) {
        let boards = std::mem::take(&mut self.boards);
        *self = Self { boards, ..Self::new(self.source) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const REPORT: &str = r#"
dump_configuration.py:
Scope,Name,Value
rtOptions,watcher_enabled,false

check_l1_status.py:
  pass

check_noc_status.py:
  fail
    Device 4: functional_workers [1-1 (0,0)]: Mismatched state: \nbrisc NOC0: acked 560 760
    Device 0: eth [8-6 (e0,10)]: Mismatched state: \nerisc NOC1: issued 1 4

device_info.py:
Dev,Tray/Board,Chip,ASIC,Arch,Board,ARC FW
4,Board 0x77,4,1,wormhole_b0,n300,19.7.1
0,Tray 3,0,0,wormhole_b0,n300,19.7.1

dump_callstacks.py:
Dev,Loc,RiscV,Kernel Name,PC,Kernel Callstack
0,"3-6 (e0,13)",erisc,mux,0x82c8,"\n#0 a, b () at x.hpp 1:2"
"#;

    fn rows() -> Vec<Row> {
        let source = Source::of("triage.txt", "h1", 0);
        let (mut reader, mut rows) = (Reader::new(&source), Vec::new());
        for _ in 0..2 {
            rows.clear();
            reader.again();
            for line in REPORT.lines() {
                let mut keep = |row| {
                    rows.push(row);
                    Ok(())
                };
                assert_eq!(reader.line(line, &mut keep).unwrap(), None, "{line}");
            }
        }
        rows
    }

    #[test]
    fn failed_checks_name_device_board_and_place() {
        let rows = rows();
        let wrong: Vec<&Row> = rows.iter().filter(|row| row.trouble).collect();
        assert_eq!(wrong.len(), 2);
        assert_eq!((&*wrong[0].name, wrong[0].chip), ("check_noc_status", Some(4)));
        assert_eq!(wrong[0].board.as_deref(), Some("0x77"));
        assert_eq!(wrong[0].place.as_deref(), Some("functional_workers 1-1 (0,0)"));
        assert!(wrong[0].text.as_deref().unwrap().ends_with("acked 560 760"));
        assert_eq!((wrong[1].channel, wrong[1].board.as_deref()), (Some(10), None));
    }

    #[test]
    fn tables_are_facts_or_rows() {
        let rows = rows();
        let facts: Vec<_> = rows.iter().filter(|row| row.kind == Kind::Fact).collect();
        assert_eq!(
            (&*facts[0].name, facts[0].text.as_deref()),
            ("rtOptions watcher_enabled", Some("false"))
        );
        let firmware = facts.iter().filter(|row| &*row.name == "ARC FW");
        let seen: Vec<_> = firmware.map(|row| (row.chip, row.tray)).collect();
        assert_eq!(seen, [(Some(4), None), (Some(0), Some(3))]);
        let stack = rows.iter().find(|row| &*row.name == "dump_callstacks").unwrap();
        assert_eq!((stack.channel, stack.place.as_deref()), (Some(13), Some("3-6 (e0,13)")));
        let passed = rows.iter().find(|row| &*row.name == "check_l1_status").unwrap();
        assert_eq!((passed.text.as_deref(), passed.trouble), (Some("pass"), false));
    }
}
