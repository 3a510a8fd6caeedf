//! Metrics as text (Prometheus, OpenMetrics): `NAME{LABEL="VALUE",...} VALUE [TIME]`, by the names of
//! `meshscope metrics` and of tt-metal's `tt_telemetry` (its `prom_formatter.cpp` writes them).

use crate::error::LogError;
use crate::json::{cable, of_place};
use crate::row::{Clock, Kind, Row, host_name, text};
use crate::source::{Parser, Sink, Source};
use layouts::{ChipId, EthId};

/// The counters of an end of a link, and their names in rows. Newer telemetry has the first name of corrected
/// codewords.
const COUNTERS: [(&str, &str); 7] = [
    ("retrainCount", "retrain_count"),
    ("crcErrorCount", "crc_errors"),
    ("correctedCodewordCount", "corrected_codewords"),
    ("codewordCount", "corrected_codewords"),
    ("uncorrectedCodewordCount", "uncorrected_codewords"),
    ("meshscope_packets_sent", "packets_sent"),
    ("meshscope_packets_received", "packets_received"),
];
/// The gauges of a chip, their names in rows, and how many of those units one of theirs has.
const GAUGES: [(&str, &str, f64); 8] = [
    ("AIClock", "aiclk_mhz", 1.0),
    ("AXIClock", "axiclk_mhz", 1.0),
    ("ARCClock", "arcclk_mhz", 1.0),
    ("TDP", "power_milliwatts", 1000.0),
    ("TDC", "current_milliamperes", 1000.0),
    ("VCore", "voltage_millivolts", 1.0),
    ("ASICTemperature", "temperature_millicelsius", 1000.0),
    ("meshscope_heartbeat", "heartbeat", 1.0),
];
/// Times from here on are milliseconds, as Prometheus has them; those before are OpenMetrics' seconds.
const FIRST_MILLIS: f64 = 1e11;

/// Whether a line tells about a metric.
pub(crate) fn is_help(line: &str) -> bool {
    line.starts_with("# TYPE ") || line.starts_with("# HELP ")
}

/// The parts of a line.
struct Sample<'a> {
    name: &'a str,
    labels: Vec<(&'a str, String)>,
    value: &'a str,
    time: Option<f64>,
}

/// Takes a line apart.
fn sample(line: &str) -> Option<Sample<'_>> {
    let at = line.find(['{', ' '])?;
    let (name, rest) = line.split_at_checked(at)?;
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let mut words = rest.split_whitespace();
    let value = words.next()?;
    let time = words.next().and_then(|time| time.parse().ok());
    Some(Sample { name, labels, value, time })
}

/// Takes labels apart, up to their brace, and returns the rest of the line too.
fn labels(mut rest: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut all = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((all, rest));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = quoted.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => value.push(chars.next().map(|c| if c == 'n' { '\n' } else { c })?),
                c => value.push(c),
            }
        }
        all.push((name, value));
        rest = chars.as_str();
    }
}

/// A whole number.
fn whole(value: &str) -> Option<i64> {
    let of_float = || {
        let value: f64 = value.parse().ok()?;
        (value.fract() == 0.0 && value.abs() < i64::MAX as f64).then_some(value as i64)
    };
    value.parse().ok().or_else(of_float)
}

/// Reads such metrics.
pub(crate) struct Reader<'a>(&'a Source);

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self(source)
    }

    /// The row of a sample of a link, a chip or a finding; none of the others.
    fn row(&self, sample: &Sample<'_>) -> Option<Row> {
        let label = |name| {
            let mut labels = sample.labels.iter();
            labels.find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
        };
        let number = |name| label(name).and_then(|number| number.parse().ok());
        let micros = |time: f64| (if time < FIRST_MILLIS { time * 1e6 } else { time * 1e3 }) as i64;
        let base = Row {
            time_micros: sample.time.map_or(0, micros),
            clock: if sample.time.is_some() { Clock::Host } else { Clock::File },
            host: label("hostname").map_or_else(|| self.0.host.clone(), host_name),
            tray: number("tray"),
            chip: number("chip"),
            channel: number("channel"),
            ..self.0.row(Kind::Link, text("state"))
        };
        if let Some((_, name, units)) = GAUGES.iter().find(|(name, ..)| *name == sample.name) {
            let value = sample.value.parse::<f64>().ok()? * units;
            let value = (value.abs() < i64::MAX as f64).then_some(value.round() as i64)?;
            return Some(Row { kind: Kind::Card, name: text(name), value: Some(value), ..base });
        }
        let end = |chip, channel| {
            let chip = ChipId(label(chip)?.parse().ok()?);
            Some(EthId { chip, channel: label(channel)?.parse().ok()? })
        };
        let ends = end("chip", "channel").zip(end("peer_chip", "peer_channel"));
        let base = Row { cable: ends.map(|(a, b)| text(&cable(&base.host, [a, b]))), ..base };
        let value = whole(sample.value)?;
        if let Some((_, name)) = COUNTERS.iter().find(|(name, _)| *name == sample.name) {
            return Some(Row { name: text(name), value: Some(value), ..base });
        }
        match sample.name {
            "linkIsUp" => {
                let state = if value == 0 { "down" } else { "up" };
                Some(Row { trouble: value == 0, text: Some(text(state)), ..base })
            }
            "meshscope_findings" => {
                let (severity, place) = (label("severity")?, label("place")?);
                let (cable, chip) = of_place(&base.host, place);
                Some(Row {
                    kind: Kind::Finding,
                    name: text(label("condition")?),
                    trouble: ["fault", "hang"].contains(&severity),
                    cable,
                    chip,
                    place: Some(text(place)),
                    text: Some(text(severity)),
                    ..base
                })
            }
            _ => None,
        }
    }
}

impl Parser for Reader<'_> {
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let Some(sample) = sample(line) else {
            return Ok(Some("it is no sample of a metric".to_owned()));
        };
        self.row(&sample).map_or(Ok(()), to).map(|()| None)
    }

    fn again(&mut self) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const TEXT: &str = r#"# TYPE linkIsUp gauge
linkIsUp{hostname="h2",chip="0",channel="8"} 0
linkIsUp{hostname="h2",chip="0",channel="9"} 1
# TYPE retrainCount gauge
retrainCount{channel="5",chip="1",tray="3",hostname="h3",unit="x"} 7 1793491200123

meshscope_packets_sent{hostname="h2",chip="1",channel="0",peer_chip="0",peer_channel="8"} 5
AIClock{hostname="h2",chip="0"} 1000.0
ASICTemperature{hostname="h2",tray="1",chip="0"} 45.3125
TDP{hostname="h2",chip="0"} NaN
crcErrorCount{hostname="h2",chip="0",channel="8"} 2.0 1793491200.5
meshscope_findings{hostname="h2",condition="link-down",severity="fault",place="link 0:e8-1:e0"} 1
meshscope_gaps{hostname="a\"b\\} 1"} 0
TelemetryRunning 1
# EOF
"#;

    #[test]
    fn counters_links_and_findings_are_rows_of_their_host() {
        let source = Source::of("metrics.txt", "h1", 0);
        let mut rows = Vec::new();
        for line in TEXT.lines() {
            let mut keep = |row| {
                rows.push(row);
                Ok(())
            };
            assert_eq!(Reader::new(&source).line(line, &mut keep).unwrap(), None, "{line}");
        }
        let [down, up, retrains, sent, clock, heat, errors, finding] = rows.try_into().unwrap();
        assert_eq!(
            (down.trouble, down.text.as_deref(), down.channel),
            (true, Some("down"), Some(8))
        );
        assert_eq!((up.trouble, up.clock, &*up.host), (false, Clock::File, "h2"));
        assert_eq!(
            (&*retrains.name, retrains.value, &*retrains.host),
            ("retrain_count", Some(7), "h3")
        );
        assert_eq!((retrains.tray, retrains.time_micros), (Some(3), 1_793_491_200_123_000));
        assert_eq!((sent.cable.as_deref(), &down.cable), (Some("h2 0:e8-1:e0"), &None));
        assert_eq!((&*clock.name, clock.value, clock.kind), ("aiclk_mhz", Some(1000), Kind::Card));
        assert_eq!(
            (&*heat.name, heat.value, heat.tray),
            ("temperature_millicelsius", Some(45_313), Some(1))
        );
        assert_eq!(
            (&*errors.name, errors.value, errors.clock),
            ("crc_errors", Some(2), Clock::Host)
        );
        assert_eq!(errors.time_micros, 1_793_491_200_500_000);
        assert_eq!(
            (&*finding.name, finding.kind, finding.trouble),
            ("link-down", Kind::Finding, true)
        );
        assert_eq!((finding.cable.as_deref(), finding.chip), (Some("h2 0:e8-1:e0"), Some(0)));
    }

    #[test]
    fn what_is_no_sample_is_said() {
        let source = Source::of("metrics.txt", "h1", 0);
        for line in ["retrainCount", "a{b=\"c} 1", "a{b=\"c\\", "a{b} 1", "a{b=\"c\"}"] {
            let said = Reader::new(&source).line(line, &mut |_| Ok(())).unwrap();
            assert_eq!(said.as_deref(), Some("it is no sample of a metric"), "{line}");
        }
        for value in ["NaN", "+Inf", "1e300", "0.5"] {
            assert_eq!(whole(value), None, "{value}");
        }
    }
}
