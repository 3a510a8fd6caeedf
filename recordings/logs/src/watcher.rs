//! The log of tt-metal's Watcher (`watcher_device_reader.cpp` of tt-metal writes it): what changed from one
//! dump to the next, and what is wrong.

use crate::error::LogError;
use crate::row::{Kind, Row, Text, text};
use crate::source::{Parser, Sink, Source};
use std::collections::HashMap;

/// What the Watcher says of a core if something is wrong there.
const WRONG: [(&str, &str); 6] = [
    (" tried to ", "noc-sanitize"),
    ("tripped an", "assert"),
    ("overflow", "stack-overflow"),
    ("orrupt", "corruption"),
    ("unexpected", "unexpected"),
    ("detected NOC error", "noc-error"),
];

/// Whether a line is of the Watcher's own log.
pub(crate) fn is_watcher(line: &str) -> bool {
    seconds(line, "Dump #").is_some() || (line.ends_with("starting") && begins(line).is_some())
}

/// The name of what is wrong by a message, if something is.
pub(crate) fn wrong(message: &str) -> Option<&'static str> {
    WRONG.into_iter().find(|(words, _)| message.contains(words)).map(|(_, name)| name)
}

/// A line that begins with a core of a device: both, and what it says of the core.
pub(crate) struct OfCore<'a> {
    pub(crate) device: i32,
    /// The channel of an Ethernet core.
    pub(crate) channel: Option<i32>,
    pub(crate) place: String,
    pub(crate) message: &'a str,
}

/// Takes such a line apart: `Device 0 worker core(x= 0,y= 0) virtual(x=18,y=18): ...`.
pub(crate) fn of_core(line: &str) -> Option<OfCore<'_>> {
    let rest = line.strip_prefix("Device ")?;
    let (device, rest) = rest.split_once(' ')?;
    let (place, message) = rest.split_once("): ")?;
    let place = place.replace("= ", "=") + ")";
    let of_eth = place.contains("eth core");
    let y = place.split_once(",y=").and_then(|(_, rest)| rest.split_once(')'));
    Some(OfCore {
        device: device.parse().ok()?,
        channel: y.filter(|_| of_eth).and_then(|(y, _)| y.parse().ok()),
        place,
        message: message.trim(),
    })
}

/// The number and the seconds of `Dump #9 at 12.300s`.
fn seconds(line: &str, start: &str) -> Option<(i64, f64)> {
    let (number, at) = line.strip_prefix(start)?.split_once(" at ")?;
    Some((number.parse().ok()?, at.trim().strip_suffix('s')?.parse().ok()?))
}

/// The seconds and the rest of `At 0.399s attach device 0`.
fn begins(line: &str) -> Option<(f64, &str)> {
    let (at, rest) = line.strip_prefix("At ")?.split_once("s ")?;
    Some((at.parse().ok()?, rest))
}

/// Reads such a log.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    micros: i64,
    /// The core of the line before.
    core: Option<Row>,
    /// What was said of each core last.
    said: HashMap<(Option<i32>, Option<Text>, Text), Text>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self { source, micros: 0, core: None, said: HashMap::new() }
    }

    fn row(&self, name: &str, words: &str) -> Row {
        Row {
            time_micros: self.micros,
            text: Some(text(words)),
            ..self.source.row(Kind::Watcher, text(name))
        }
    }

    /// Gives a row if it says something else than the row before of the same core and name.
    fn if_new(&mut self, row: Row, to: &mut Sink<'_>) -> Result<(), LogError> {
        let key = (row.chip, row.place.clone(), row.name.clone());
        let words = row.text.clone().unwrap_or_default();
        if self.said.insert(key, words.clone()).is_some_and(|before| before == words) {
            return Ok(());
        }
        to(row)
    }

    fn core(&mut self, core: &OfCore<'_>, to: &mut Sink<'_>) -> Result<(), LogError> {
        let fault = wrong(core.message);
        let name = fault.unwrap_or("waypoint");
        let row = Row {
            chip: Some(core.device),
            channel: core.channel,
            place: Some(text(&core.place)),
            trouble: fault.is_some(),
            ..self.row(name, core.message)
        };
        self.core = Some(row.clone());
        if fault.is_some() { to(row) } else { self.if_new(row, to) }
    }

    /// The ids of the kernels of the core of the line before, or what an id stands for.
    fn kernels(&mut self, line: &str, to: &mut Sink<'_>) -> Result<bool, LogError> {
        if let (Some(ids), Some(core)) = (line.strip_prefix("k_ids:"), self.core.clone()) {
            let ids: String = ids.split_whitespace().collect();
            let row = Row { trouble: false, name: text("kernels"), text: Some(text(&ids)), ..core };
            return self.if_new(row, to).map(|()| true);
        }
        let named = line.strip_prefix("k_id[").and_then(|rest| rest.split_once("]: "));
        let Some((id, kernel)) = named else { return Ok(false) };
        let row = Row {
            chip: self.core.as_ref().and_then(|core| core.chip),
            ..self.row(&format!("kernel {}", id.trim()), kernel)
        };
        self.if_new(row, to).map(|()| true)
    }
}

impl Parser for Reader<'_> {
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        let is_legend = line.starts_with('\t') || line == "Legend:";
        let is_end = line.starts_with("-----") || line.contains(" completed at ");
        if is_legend || is_end || line.trim().is_empty() {
            return Ok(None);
        }
        if let Some((number, at)) = seconds(line, "Dump #") {
            self.micros = (at * 1e6) as i64;
            to(Row { value: Some(number), ..self.row("dump", line) })?;
        } else if let Some((at, rest)) = begins(line) {
            self.micros = (at * 1e6) as i64;
            to(self.row("watcher", rest))?;
        } else if let Some(core) = of_core(line) {
            self.core(&core, to)?;
        } else if !self.kernels(line, to)? {
            let fault = wrong(line);
            to(Row { trouble: fault.is_some(), ..self.row(fault.unwrap_or("line"), line) })?;
        }
        Ok(None)
    }

    fn again(&mut self) {
        *self = Self::new(self.source);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const LOG: &str = "At 0.250s starting\nLegend:\n\tW=wait\n\nAt 0.300s attach device 0\n-----\n\
        Dump #1 at 0.300s\n\
        Device 0 worker core(x= 0,y= 0) virtual(x=18,y=18):   GW,   W,   W,   W,   W  rmsg:D0D|bnt h_id:  0 smsg:DDDD \n\
        k_ids:  0|  0|  0|  0|  0\n\
        Device 0 acteth core(x= 0,y=15) virtual(x=21,y=17):  RED,   X,   X,   X,   X  rmsg:D0I|e h_id:  0 \n\
        k_ids:  0\nk_id[  0]: blank\nDump #1 completed at 0.457s\n-----\n\
        Dump #2 at 10.300s\n\
        Device 0 worker core(x= 0,y= 0) virtual(x=18,y=18):   GW,   W,   W,   W,   W  rmsg:D0D|bnt h_id:  0 smsg:DDDD \n\
        k_ids:  0|  0|  0|  0|  0\n\
        Device 0 worker core(x= 1,y= 0) virtual(x=19,y=18): NCRISC using noc1 tried to unicast read 32 bytes\n";

    #[test]
    fn only_what_is_new_or_wrong_is_a_row() {
        let source = Source::of("watcher.log", "h1", 0);
        let (mut reader, mut rows) = (Reader::new(&source), Vec::new());
        for line in LOG.lines() {
            let mut keep = |row| {
                rows.push(row);
                Ok(())
            };
            assert_eq!(reader.line(line, &mut keep).unwrap(), None);
        }
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        let first = ["dump", "waypoint", "kernels", "waypoint", "kernels", "kernel 0"];
        let all = [&["watcher", "watcher"][..], &first[..], &["dump", "noc-sanitize"][..]].concat();
        assert_eq!(names, all);
        let fault = rows.last().unwrap();
        assert!(fault.trouble && fault.text.as_deref().unwrap().starts_with("NCRISC using noc1"));
        assert_eq!(fault.place.as_deref(), Some("worker core(x=1,y=0) virtual(x=19,y=18)"));
        assert_eq!(fault.time_micros, 10_300_000);
        assert_eq!(rows[5].channel, Some(15));
        assert_eq!(rows.iter().filter(|row| row.trouble).count(), 1);
    }
}
