//! A log of tt-metal: `TIME | LEVEL | MODULE | TEXT`. Rows are made of warnings and worse, and of what the
//! Watcher says there.

use crate::error::LogError;
use crate::row::{Clock, Kind, Row, text};
use crate::source::{Parser, Sink, Source};
use crate::watcher::{of_core, wrong};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The parts of a line.
struct Parts<'a> {
    micros: i64,
    level: &'a str,
    module: &'a str,
    text: &'a str,
}

/// Takes a line apart. Its time has no zone and is taken for UTC.
fn parts(line: &str) -> Option<Parts<'_>> {
    let mut parts = line.splitn(4, " | ").map(str::trim);
    let time: DateTime = parts.next()?.parse().ok()?;
    let time = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let (level, module, text) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Parts { micros: time.as_microsecond(), level, module, text })
}

/// Whether a line is one of such a log.
pub(crate) fn is_line(line: &str) -> bool {
    parts(line).is_some()
}

/// Reads such a log.
pub(crate) struct Reader<'a>(&'a Source);

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self(source)
    }
}

impl Parser for Reader<'_> {
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        let Some(parts) = parts(line) else { return Ok(None) };
        let worst = ["error", "critical", "fatal"].contains(&parts.level);
        if !worst && parts.level != "warning" {
            return Ok(None);
        }
        // An exception repeats what the Watcher says: `TT_THROW: Device 0 worker core...`.
        let of_device = parts.text.find("Device ").and_then(|at| parts.text.get(at..));
        let core = of_device.and_then(of_core);
        let fault = wrong(core.as_ref().map_or(parts.text, |core| core.message));
        let kind = if fault.is_some() { Kind::Watcher } else { Kind::Log };
        to(Row {
            time_micros: parts.micros,
            clock: Clock::Host,
            trouble: worst || fault.is_some(),
            chip: core.as_ref().map(|core| core.device),
            channel: core.as_ref().and_then(|core| core.channel),
            place: core.as_ref().map(|core| text(&core.place)),
            text: Some(text(parts.text)),
            ..self.0.row(kind, text(fault.unwrap_or(parts.module)))
        })?;
        Ok(None)
    }

    fn again(&mut self) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn warnings_and_faults_are_rows() {
        let source = Source::of("run.log", "h1", 0);
        let mut rows = Vec::new();
        for line in [
            "[ RUN ] a test",
            "2026-09-04 17:48:52.116 | info     |          Device | Opening (a.cpp:1)",
            "2026-09-04 17:48:52.491 | warning  |           Metal | The buffer is unavailable (b.cpp:2)",
            "2026-09-04 17:48:55.433 | warning  |           Metal | Device 3 worker core(x= 0,y= 0) \
             virtual(x=18,y=18): BRISC using noc0 tried to unicast write 64 bytes (c.cpp:3)",
            "2026-09-04 17:48:55.433 | critical |          Always | TT_THROW: Device 4 worker \
             core(x= 0,y= 0) virtual(x=18,y=18): BRISC using noc0 tried to unicast write (a.hpp:1)",
            "2026-09-04 17:48:55.434 | critical |          Always | TT_THROW: no (d.cpp:4)",
        ] {
            let mut keep = |row| {
                rows.push(row);
                Ok(())
            };
            assert_eq!(Reader::new(&source).line(line, &mut keep).unwrap(), None);
        }
        let seen: Vec<_> =
            rows.iter().map(|row| (row.kind, &*row.name, row.trouble, row.chip)).collect();
        assert_eq!(
            seen,
            [
                (Kind::Log, "Metal", false, None),
                (Kind::Watcher, "noc-sanitize", true, Some(3)),
                (Kind::Watcher, "noc-sanitize", true, Some(4)),
                (Kind::Log, "Always", true, None),
            ]
        );
        assert_eq!(rows[0].day().unwrap().to_string(), "2026-09-04");
        assert_eq!(rows[0].time_micros % 1_000_000, 491_000);
    }
}
