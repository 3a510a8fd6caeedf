//! A state and its verdict as OpenMetrics. What tt-metal's `tt_telemetry` tells too has its name, such as
//! `crcErrorCount` (`tt_telemetry/telemetry/ethernet/ethernet_metrics.cpp`); others begin with `meshscope_`.

use console::exit::Failure;
use decode::state::{EthState, LinkCondition, LinkState, MeshState};
use diagnosis::{Diagnosis, Health};
use images::Reading;
use layouts::{ChipId, EthId};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use transport::silicon::cards::{Card, Telemetry};

type Value = Gauge<u64, AtomicU64>;

/// An end of a link, and the other one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct End {
    hostname: String,
    chip: u16,
    channel: u8,
    peer_chip: u16,
    peer_channel: u8,
}

/// A chip.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Chip {
    hostname: String,
    chip: u16,
}

/// A verdict.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    hostname: String,
    state: &'static str,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Found {
    hostname: String,
    condition: &'static str,
    severity: &'static str,
    place: String,
}

/// What belongs to no place of the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Host {
    hostname: String,
}

/// A count of the base firmware: its name, what it means, and where it is.
type Count = (&'static str, &'static str, fn(&EthState) -> Reading<u64>);

/// The counts of each end of a link.
const COUNTS: [Count; 6] = [
    ("retrainCount", "Retrainings of the link", |eth| eth.retrain_count.clone().map(u64::from)),
    ("crcErrorCount", "Frames with a wrong checksum", |eth| eth.crc_errors.clone().map(u64::from)),
    ("codewordCount", "Corrected codewords", |eth| eth.corrected_codewords.clone()),
    ("uncorrectedCodewordCount", "Uncorrected codewords", |eth| eth.uncorrected_codewords.clone()),
    ("meshscope_packets_sent", "Packets that base firmware sent", |eth| eth.packets_sent.clone()),
    ("meshscope_packets_received", "Packets that base firmware received", |eth| {
        eth.packets_received.clone()
    }),
];

/// A gauge of a card: its name, what it means, and its value.
type CardGauge = (&'static str, &'static str, fn(&Telemetry) -> Option<f64>);

/// What the kernel tells of each chip with PCIe (`tt_telemetry/telemetry/arc/arc_metrics.cpp`).
const CARD_GAUGES: [CardGauge; 8] = [
    ("AIClock", "AI clock in MHz", |card| parts(card.aiclk_mhz, 1)),
    ("AXIClock", "Clock of AXI in MHz", |card| parts(card.axiclk_mhz, 1)),
    ("ARCClock", "Clock of ARC in MHz", |card| parts(card.arcclk_mhz, 1)),
    ("TDP", "Power of the chip in W", |card| parts(card.power_microwatts.now, 1_000_000)),
    ("TDC", "Current of the core supply in A", |card| parts(card.current_milliamperes.now, 1000)),
    ("VCore", "Voltage of the core supply in mV", |card| parts(card.voltage_millivolts.now, 1)),
    ("ASICTemperature", "Temperature of the chip in degrees Celsius", |card| {
        parts(card.temperature_millicelsius.now, 1000)
    }),
    ("meshscope_heartbeat", "Heartbeats of ARC firmware", |card| parts(card.heartbeat, 1)),
];

/// A value in parts of the unit.
fn parts(value: Option<i64>, unit: i64) -> Option<f64> {
    value.map(|value| value as f64 / unit as f64)
}

const VERDICTS: [Health; 7] = [
    Health::Healthy,
    Health::Slow,
    Health::NotFinished,
    Health::Fault,
    Health::Paused,
    Health::Hang,
    Health::Unknown,
];

/// Writes the metrics of a state, with the bus transactions that it cost, and those of the cards.
pub(super) fn of(
    state: &MeshState,
    diagnosis: &Diagnosis,
    transactions: u64,
    cards: &[(ChipId, Card)],
) -> Result<String, Failure> {
    let hostname = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut registry = Registry::default();
    let end = |[at, peer]: [EthId; 2]| End {
        hostname: hostname.clone(),
        chip: at.chip.0,
        channel: at.channel,
        peer_chip: peer.chip.0,
        peer_channel: peer.channel,
    };
    let ends = |link: &LinkState| [[link.link.a, link.link.b], [link.link.b, link.link.a]];
    let up = Family::<End, Value>::default();
    registry.register("linkIsUp", "Whether the link is up", up.clone());
    // What was not read is not there, which is no zero.
    for link in state.links.iter().filter(|link| link.condition != LinkCondition::Unread) {
        for at in ends(link) {
            up.get_or_create(&end(at)).set((link.condition == LinkCondition::Up).into());
        }
    }
    for (name, help, of) in COUNTS {
        let counts = Family::<End, Value>::default();
        registry.register(name, help, counts.clone());
        for at in state.links.iter().flat_map(ends) {
            let count = state.eth(at[0]).and_then(|it| it.eth.as_ref()).map(of);
            if let Some(Reading::Known(count)) = count {
                counts.get_or_create(&end(at)).set(count);
            }
        }
    }
    // Without a card, as on an emulated mesh, there are no such gauges.
    for (name, help, of) in CARD_GAUGES.iter().filter(|_| !cards.is_empty()) {
        let values = Family::<Chip, Gauge<f64, AtomicU64>>::default();
        registry.register(*name, *help, values.clone());
        for (chip, card) in cards {
            if let Some(value) = of(&card.telemetry) {
                let label = Chip { hostname: hostname.clone(), chip: chip.0 };
                values.get_or_create(&label).set(value);
            }
        }
    }
    let health = Family::<State, Value>::default();
    registry.register("meshscope_health", "1 for the verdict, 0 for the others", health.clone());
    for verdict in VERDICTS {
        let label = State { hostname: hostname.clone(), state: verdict.word() };
        health.get_or_create(&label).set((Health::of(diagnosis) == verdict).into());
    }
    let findings = Family::<Found, Value>::default();
    registry.register("meshscope_findings", "Findings of the verdict", findings.clone());
    for it in &diagnosis.findings {
        let (condition, severity) = (it.condition.name(), it.severity.word());
        let (hostname, place) = (hostname.clone(), it.place.to_string());
        findings.get_or_create(&Found { hostname, condition, severity, place }).inc();
    }
    let host = Host { hostname };
    for (name, help, value) in [
        ("meshscope_gaps", "Ranges that could not be read", state.gaps.len() as u64),
        ("meshscope_bus_transactions", "Bus transactions of this look", transactions),
    ] {
        let family = Family::<Host, Value>::default();
        registry.register(name, help, family.clone());
        family.get_or_create(&host).set(value);
    }
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| Failure::Internal(format!("metrics: {error}")))?;
    Ok(sorted(&text))
}

/// The same text with the samples of each metric in the order of their labels.
fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let samples = |a: &&str, b: &&str| !a.starts_with('#') && !b.starts_with('#');
    lines.chunk_by_mut(samples).for_each(<[&str]>::sort_unstable);
    lines.concat()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_dashboard_asks_for_metrics_that_exist_and_for_all_of_a_card() {
        let printed = include_str!("../../../../tests/golden/metrics.txt");
        let of_cards = CARD_GAUGES.map(|(name, ..)| name);
        let dashboard = include_str!("../../../../package/grafana-dashboard.json");
        let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        let panels = dashboard["panels"].as_array().unwrap().iter();
        let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
        let asked: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
        let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let asks_for = |asks: &str, name: &str| asks.split(word).any(|it| it == name);
        for asks in &asked {
            let known = |name: &str| printed.contains(&format!("# TYPE {name} gauge\n"));
            let of_card = of_cards.iter().any(|name| asks_for(asks, name));
            assert!(of_card || asks.split(word).any(known), "{asks}");
        }
        for name in of_cards {
            assert!(asked.iter().any(|asks| asks_for(asks, name)), "{name}");
        }
    }
}
