//! A report of tt-triage in text: a section for each script, with `pass`, or `fail` and its findings, or a
//! table, which is drawn for a terminal or CSV (`serializers.py` of tt-triage writes both).

use crate::error::LogError;
use crate::row::{Kind, Row, Text, text};
use crate::source::{Parser, Sink, Source};
use std::collections::HashMap;

/// Scripts whose tables tell what is so until something changes, of a device or of the host.
const FACTS: [&str; 3] = ["device_info", "firmware_versions", "system_info"];
/// Their columns that name the device, or change while it runs.
const NO_FACTS: [&str; 4] = ["Dev", "Tray/Board", "Chip", "Postcode"];
/// What is wrapped further is left out of a cell, in bytes.
const MOST_CELL: usize = 4096;
/// The script whose table has a line for each core that an assert stopped.
const ASSERTS: &str = "dump_lightweight_asserts";

/// Whether a line begins a section.
pub(crate) fn is_section(line: &str) -> bool {
    section(line).is_some()
}

/// The script of `check_noc_status.py:`, which may say how long it took: `check_noc_status.py [0.12s]:`.
fn section(line: &str) -> Option<&str> {
    let (script, took) = line.split_once(".py")?;
    let is_end = took == ":" || (took.starts_with(" [") && took.ends_with("s]:"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (is_end && !script.is_empty() && script.chars().all(is_name)).then_some(script)
}

/// Reads such a report.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    script: Text,
    /// Whether the section said `pass` or `fail`.
    passed: Option<bool>,
    /// The names of the columns of the table that is read.
    head: Option<Vec<String>>,
    /// The cells of a line that is drawn over several.
    drawn: Vec<String>,
    /// The boards of the devices, which come after some findings: known when read again.
    boards: HashMap<i32, Text>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self {
            source,
            script: text(""),
            passed: None,
            head: None,
            drawn: Vec::new(),
            boards: HashMap::new(),
        }
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

    /// `Device 4: functional_workers [1-1 (0,0)]: Mismatched state ...` below `fail`, or above a table; a
    /// warning below `pass`.
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
            trouble: !self.passed.unwrap_or(device.is_none()),
            channel: place.as_deref().and_then(channel),
            place: place.as_deref().map(text),
            ..self.row(Kind::Triage, self.script.clone(), device, said)
        }
    }

    /// Takes a line of a table that is drawn. Below a cell that is wrapped the first one is empty.
    fn drawn(&mut self, cells: &[&str], to: &mut Sink<'_>) -> Result<(), LogError> {
        let begins = cells.first().is_some_and(|cell| !cell.is_empty());
        if self.head.is_some() && begins {
            self.record(to)?;
        }
        self.drawn.resize(cells.len().max(self.drawn.len()), String::new());
        for (whole, part) in self.drawn.iter_mut().zip(cells) {
            if part.is_empty() || whole.len() > MOST_CELL {
                continue;
            }
            if !whole.is_empty() {
                whole.push(' ');
            }
            whole.push_str(part);
        }
        Ok(())
    }

    /// Takes the line that was drawn last, now that it has ended: the head, or one below it.
    fn record(&mut self, to: &mut Sink<'_>) -> Result<(), LogError> {
        let cells = std::mem::take(&mut self.drawn);
        if cells.is_empty() { Ok(()) } else { self.cells(cells, to) }
    }

    /// Takes a line of a table: its head, or one whose cells are facts or a row.
    fn cells(&mut self, cells: Vec<String>, to: &mut Sink<'_>) -> Result<(), LogError> {
        let Some(head) = self.head.take() else {
            self.head = Some(cells);
            return Ok(());
        };
        let rows = self.rows(&head, &cells);
        self.head = Some(head);
        rows.into_iter().try_for_each(to)
    }

    fn rows(&mut self, head: &[String], cells: &[String]) -> Vec<Row> {
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
        if FACTS.contains(&&*self.script) {
            let stands = named("Tray/Board").unwrap_or_default();
            if let (Some(chip), Some(board)) = (chip, stands.strip_prefix("Board ")) {
                self.boards.insert(chip, text(board));
            }
            let tray = stands.strip_prefix("Tray ").and_then(|tray| tray.parse().ok());
            let facts = head
                .iter()
                .zip(cells)
                .filter(|(name, cell)| !cell.is_empty() && !NO_FACTS.contains(&name.as_str()));
            let fact = |(name, cell): (&String, &String)| Row {
                tray,
                ..self.row(Kind::Fact, text(name), chip, cell)
            };
            return facts.map(fact).collect();
        }
        let place = named("Loc");
        vec![Row {
            trouble: &*self.script == ASSERTS,
            channel: place.and_then(channel),
            place: place.map(text),
            ..self.row(Kind::Triage, self.script.clone(), chip, &cells.join(", "))
        }]
    }
}

/// The channel of an Ethernet tile: 10 in `8-6 (e0,10)`.
fn channel(place: &str) -> Option<i32> {
    let (_, rest) = place.split_once("(e")?;
    rest.split_once(',')?.1.strip_suffix(')')?.parse().ok()
}

/// Whether a line is between lines of a table that is drawn.
fn is_border(line: &str) -> bool {
    line.chars().all(|c| "+-|".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c))
}

/// The cells of a line of a table that is drawn.
fn drawn_cells(line: &str) -> Option<Vec<&str>> {
    let edge = line.chars().next().filter(|edge| "|\u{2502}\u{2503}".contains(*edge))?;
    let inner = line.strip_prefix(edge)?.strip_suffix(edge)?;
    Some(inner.split(edge).map(str::trim).collect())
}

fn csv_cells(line: &str) -> Option<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next()?.ok()?;
    Some(record.iter().map(str::to_owned).collect())
}

impl Parser for Reader<'_> {
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        if let Some(script) = section(line) {
            self.record(to)?;
            (self.script, self.passed, self.head) = (text(script), None, None);
            return Ok(None);
        }
        if line.trim().is_empty() || self.script.is_empty() {
            return Ok(None);
        }
        if is_border(line) {
            self.record(to)?;
        } else if let Some(cells) = drawn_cells(line) {
            self.drawn(&cells, to)?;
        } else if line == "  fail" {
            self.passed = Some(false);
        } else if line.starts_with("    ") || line.starts_with("  Device ") {
            to(self.finding(line))?;
        } else if line.starts_with(' ') || self.passed.is_some() {
            if line == "  pass" {
                self.passed = Some(true);
            }
            to(self.row(Kind::Triage, self.script.clone(), None, line.trim()))?;
        } else {
            let Some(cells) = csv_cells(line) else {
                return Ok(Some("its cells cannot be told apart".to_owned()));
            };
            self.cells(cells, to)?;
        }
        Ok(None)
    }

    fn end(&mut self, to: &mut Sink<'_>) -> Result<(), LogError> {
        self.record(to)
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

    const CSV: &str = r##"
dump_configuration.py:
Scope,Name,Value
rtOptions,watcher_enabled,false

check_l1_status.py:
  pass

check_eth_status.py [0.12s]:
  pass
    Device 0: eth [9-0 (e0,0)]: Eth port is not trained

check_noc_status.py:
  fail
    Device 4: functional_workers [1-1 (0,0)]: Mismatched state: \nbrisc NOC0: acked 560 760
    Device 0: eth [8-6 (e0,10)]: Mismatched state: \nerisc NOC1: issued 1 4

device_info.py:
Dev,Tray/Board,Chip,ASIC,Arch,Board,ARC FW,Postcode
4,Board 0x77,4,1,wormhole_b0,n300,19.7.1,0xc0de0042
0,Tray 3,0,0,wormhole_b0,n300,19.7.1,0xc0de004d

dump_callstacks.py:
Dev,Loc,RiscV,Kernel Name,PC,Kernel Callstack
0,"3-6 (e0,13)",erisc,mux,0x82c8,"#0 a, b () at x.hpp 1:2"

dump_lightweight_asserts.py:
Dev,Loc,RiscV,Kernel Name,Assert line with callstack
4,"1-1 (0,0)",trisc0,mismatch,"LLK_ASSERT( expected == actual, ""unp_A_ mismatch"")"

firmware_versions.py:
Dev,ETH FW
0,7.80.0

system_info.py:
OS,KMD
Linux,2.10.0

check_arc.py:
  Device 4: arc [0-10 (a0,0)]: ARC heartbeat is too low
Dev,Loc,Postcode
4,"0-10 (a0,0)",0xc0de0042

dump_op_window.py:
  No results found.
"##;

    /// The same as a terminal shows it: cells are wrapped, the last table is drawn in ASCII.
    const DRAWN: &str = r#"
dump_configuration.py:
┏━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━┓
┃ Scope     ┃ Name     ┃ Value ┃
┡━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━┩
│ rtOptions │ watcher_ │ false │
│           │ enabled  │       │
└───────────┴──────────┴───────┘

check_l1_status.py:
  pass

check_eth_status.py [0.12s]:
  pass
    Device 0: eth [9-0 (e0,0)]: Eth port is not trained

check_noc_status.py:
  fail
    Device 4: functional_workers [1-1 (0,0)]: Mismatched state: \nbrisc NOC0: acked 560 760
    Device 0: eth [8-6 (e0,10)]: Mismatched state: \nerisc NOC1: issued 1 4

device_info.py:
┏━━━━━┳━━━━━━━━━━━━┳━━━━━━┳━━━━━━┳━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━━┳━━━━━━━━━━━━┓
┃ Dev ┃ Tray/Board ┃ Chip ┃ ASIC ┃ Arch        ┃ Board ┃ ARC    ┃ Postcode   ┃
┃     ┃            ┃      ┃      ┃             ┃       ┃ FW     ┃            ┃
┡━━━━━╇━━━━━━━━━━━━╇━━━━━━╇━━━━━━╇━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━━╇━━━━━━━━━━━━┩
│ 4   │ Board 0x77 │ 4    │ 1    │ wormhole_b0 │ n300  │ 19.7.1 │ 0xc0de0042 │
│ 0   │ Tray 3     │ 0    │ 0    │ wormhole_b0 │ n300  │ 19.7.1 │ 0xc0de004d │
└─────┴────────────┴──────┴──────┴─────────────┴───────┴────────┴────────────┘

dump_callstacks.py:
┏━━━━━┳━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━━━━━━━━┓
┃ Dev ┃ Loc         ┃ RiscV ┃ Kernel ┃ PC     ┃ Kernel          ┃
┃     ┃             ┃       ┃ Name   ┃        ┃ Callstack       ┃
┡━━━━━╇━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━━━━━━━━┩
│ 0   │ 3-6 (e0,13) │ erisc │ mux    │ 0x82c8 │                 │
│     │             │       │        │        │ #0 a, b () at   │
│     │             │       │        │        │ x.hpp 1:2       │
└─────┴─────────────┴───────┴────────┴────────┴─────────────────┘

dump_lightweight_asserts.py:
┏━━━━━┳━━━━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━┓
┃ Dev ┃ Loc       ┃ RiscV  ┃ Kernel   ┃ Assert line with      ┃
┃     ┃           ┃        ┃ Name     ┃ callstack             ┃
┡━━━━━╇━━━━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━┩
│ 4   │ 1-1 (0,0) │ trisc0 │ mismatch │ LLK_ASSERT(           │
│     │           │        │          │  expected == actual,  │
│     │           │        │          │ "unp_A_ mismatch")    │
└─────┴───────────┴────────┴──────────┴───────────────────────┘

firmware_versions.py:
┏━━━━━┳━━━━━━━━┓
┃ Dev ┃ ETH FW ┃
┡━━━━━╇━━━━━━━━┩
│ 0   │ 7.80.0 │
└─────┴────────┘

system_info.py:
┏━━━━━━━┳━━━━━━━━┓
┃ OS    ┃ KMD    ┃
┡━━━━━━━╇━━━━━━━━┩
│ Linux │ 2.10.0 │
└───────┴────────┘

check_arc.py:
  Device 4: arc [0-10 (a0,0)]: ARC heartbeat is too low
+--------------------------------+
| Dev | Loc         | Postcode   |
|-----+-------------+------------|
| 4   | 0-10 (a0,0) | 0xc0de0042 |
+--------------------------------+

dump_op_window.py:
  No results found.
"#;

    fn rows(report: &str) -> Vec<Row> {
        let source = Source::of("triage.txt", "h1", 0);
        let (mut reader, mut rows) = (Reader::new(&source), Vec::new());
        for _ in 0..2 {
            rows.clear();
            reader.again();
            let mut keep = |row| {
                rows.push(row);
                Ok(())
            };
            for line in report.lines() {
                assert_eq!(reader.line(line, &mut keep).unwrap(), None, "{line}");
            }
            reader.end(&mut keep).unwrap();
        }
        rows
    }

    #[test]
    fn a_drawn_report_says_what_the_csv_says() {
        let unwrapped = |row: Row| {
            let whole = |words: Text| text(&words.replace("watcher_ enabled", "watcher_enabled"));
            Row { name: whole(row.name.clone()), ..row }
        };
        let drawn: Vec<Row> = rows(DRAWN).into_iter().map(unwrapped).collect();
        assert_eq!(drawn, rows(CSV));
    }

    #[test]
    fn a_table_is_whole_at_the_end_and_never_long() {
        let cut = DRAWN.split_inclusive("560").next().unwrap();
        assert_eq!(rows(cut).last().unwrap().name.as_ref(), "check_noc_status");
        let table = "dump_x.py:\n| Dev | Words |\n|-----+------|\n| 1 | a |\n";
        let long = table.to_owned() + &"| | long |\n".repeat(10_000);
        let rows = rows(&long);
        assert_eq!((rows.len(), rows[0].chip), (1, Some(1)));
        assert!(rows[0].text.as_deref().unwrap().len() <= MOST_CELL);
    }

    #[test]
    fn failed_checks_name_device_board_and_place() {
        let rows = rows(CSV);
        let wrong: Vec<&Row> = rows.iter().filter(|row| row.trouble).collect();
        let names: Vec<&str> = wrong.iter().map(|row| &*row.name).collect();
        let noc = "check_noc_status";
        assert_eq!(names, [noc, noc, "dump_lightweight_asserts", "check_arc"]);
        assert_eq!((&*wrong[0].name, wrong[0].chip), ("check_noc_status", Some(4)));
        assert_eq!(wrong[0].board.as_deref(), Some("0x77"));
        assert_eq!(wrong[0].place.as_deref(), Some("functional_workers 1-1 (0,0)"));
        assert!(wrong[0].text.as_deref().unwrap().ends_with("acked 560 760"));
        assert_eq!((wrong[1].channel, wrong[1].board.as_deref()), (Some(10), None));
        assert!(wrong[2].text.as_deref().unwrap().contains("trisc0, mismatch, LLK_ASSERT("));
        let warned = rows.iter().find(|row| row.place.as_deref() == Some("eth 9-0 (e0,0)"));
        assert_eq!(warned.unwrap().text.as_deref(), Some("Eth port is not trained"));
    }

    #[test]
    fn tables_are_facts_or_rows() {
        let rows = rows(CSV);
        let facts: Vec<_> = rows.iter().filter(|row| row.kind == Kind::Fact).collect();
        assert_eq!(
            (&*facts[0].name, facts[0].text.as_deref()),
            ("rtOptions watcher_enabled", Some("false"))
        );
        let firmware = facts.iter().filter(|row| &*row.name == "ARC FW");
        let seen: Vec<_> = firmware.map(|row| (row.chip, row.tray)).collect();
        assert_eq!(seen, [(Some(4), None), (Some(0), Some(3))]);
        let named = |name: &str| facts.iter().find(|row| &*row.name == name);
        assert_eq!(named("ETH FW").unwrap().text.as_deref(), Some("7.80.0"));
        assert_eq!(named("KMD").unwrap().chip, None);
        assert!(named("Postcode").is_none());
        let stack = rows.iter().find(|row| &*row.name == "dump_callstacks").unwrap();
        assert_eq!((stack.channel, stack.place.as_deref()), (Some(13), Some("3-6 (e0,13)")));
        let passed = rows.iter().find(|row| &*row.name == "check_l1_status").unwrap();
        assert_eq!((passed.text.as_deref(), passed.trouble), (Some("pass"), false));
    }
}
