//! `devices`: the cards of this host and their health, from what the kernel tells. It opens no card.

use crate::output::{Columns, Page, json};
use crate::shape::schema;
use crate::target::Style;
use crate::verb::{Pages, Schemas, Verb, Watches};
use console::exit::{Failure, Outcome};
use console::glyph::Missing;
use console::machine::Opening;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use transport::silicon::cards::{Card, Sensor, cards, heartbeats};

/// Print the cards of this host: board, firmware, clocks, sensors, who holds them. No card is opened.
#[derive(clap::Args, Debug)]
pub(crate) struct DevicesArguments {}

/// The time between two reads of a heartbeat, which beats 10 to 50 times in a second (tt-metal's
/// `tools/triage/check_arc.py`).
const BEATS_APART: Duration = Duration::from_millis(200);

/// The cards of this host.
#[derive(Serialize, JsonSchema)]
struct Devices {
    /// By the numbers of their device files.
    cards: Vec<Device>,
}

/// A card.
#[derive(Serialize, JsonSchema)]
struct Device {
    #[serde(flatten)]
    card: Card,
    /// Whether the heartbeat moved within 200 ms.
    heartbeat_moved: Option<bool>,
}

impl Verb for DevicesArguments {
    const NAME: &str = "devices";
    const PAGES: Pages = &[("devices", include_str!("../manual/verbs/devices.md"))];
    const SCHEMAS: Schemas = &[("devices", schema::<Devices>)];
    const WATCH: Watches = Watches::RepeatsOnHost;
    fn run(&self, _target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let root = Path::new("/");
        let before = heartbeats(root);
        if !before.is_empty() {
            std::thread::sleep(BEATS_APART);
        }
        let device = |card: Card| {
            let beats = before.get(&card.number).zip(card.heartbeat);
            Device { heartbeat_moved: beats.map(|(before, after)| *before != after), card }
        };
        let devices = Devices { cards: cards(root).into_iter().map(device).collect() };
        if devices.cards.is_empty() {
            let says = "the driver has no card; `meshscope doctor` says what is not set up";
            return Err(Failure::Unreachable(says.to_owned()));
        }
        let still = devices.cards.iter().any(Device::stands_still);
        if style.json {
            json(devices)?;
        } else {
            style.print(page(style, &devices.cards))?;
        }
        Ok(if still { Outcome::Findings } else { Outcome::Healthy })
    }
}

impl Device {
    fn stands_still(&self) -> bool {
        self.heartbeat_moved == Some(false)
    }
}

fn page(style: Style, devices: &[Device]) -> Page {
    let text = |value: &Option<String>| {
        let missing = || style.looks.glyphs.missing(Missing::Unread).to_owned();
        value.clone().unwrap_or_else(missing)
    };
    let number = |value: Option<i64>| text(&value.map(|value| value.to_string()));
    let sensor = |Sensor { now, limit }: Sensor, unit: i64| {
        let [now, limit] = [now, limit].map(|it| it.map(|value| decimal(value, unit)));
        limit.map_or_else(|| text(&now), |limit| format!("{} of {limit}", text(&now)))
    };
    let mut identity = Columns::new(&["CARD", "PCI", "BOARD", "SERIAL", "FIRMWARE", "HELD BY"]);
    let mut health = Columns::new(&[
        "CARD",
        "AI MHZ",
        "AXI MHZ",
        "ARC MHZ",
        "HEARTBEAT",
        "CELSIUS",
        "WATTS",
        "AMPERES",
        "VOLTS",
    ]);
    let mut firmware =
        Columns::new(&["CARD", "ARC", "ETHERNET", "M3", "M3 BOOTLOADER", "TT-FLASH"]);
    for device in devices {
        let Card { number: card, firmware: versions, .. } = &device.card;
        identity.row(vec![
            card.to_string(),
            text(&device.card.pci),
            text(&device.card.board),
            text(&device.card.serial),
            text(&versions.bundle),
            holders(&device.card),
        ]);
        let beats = device.heartbeat_moved.map(|moved| if moved { "beats" } else { "still" });
        health.row(vec![
            card.to_string(),
            number(device.card.aiclk_mhz),
            number(device.card.axiclk_mhz),
            number(device.card.arcclk_mhz),
            text(&beats.map(str::to_owned)),
            sensor(device.card.temperature_millicelsius, 1000),
            sensor(device.card.power_microwatts, 1_000_000),
            sensor(device.card.current_milliamperes, 1000),
            sensor(device.card.voltage_millivolts, 1000),
        ]);
        let versions = [
            &versions.arc,
            &versions.ethernet,
            &versions.m3_application,
            &versions.m3_bootloader,
            &versions.tt_flash,
        ];
        firmware.row([card.to_string()].into_iter().chain(versions.map(text)).collect());
    }
    let page = Page::from(identity).with("\n").with(health).with("\n").with(firmware);
    page.with(remarks(devices))
}

/// A value in thousandths or millionths, with as many decimals as it has.
fn decimal(value: i64, unit: i64) -> String {
    format!("{}", value as f64 / unit as f64)
}

fn holders(card: &Card) -> String {
    let opener = |it: &transport::silicon::cards::Opener| match &it.command {
        Some(command) => format!("{} {command}", it.pid),
        None if it.pid == 0 => "a process outside of this container".to_owned(),
        None => it.pid.to_string(),
    };
    let holders: Vec<String> = card.holders.iter().map(opener).collect();
    if holders.is_empty() { "nobody".to_owned() } else { holders.join(", ") }
}

/// The heartbeats that stand still, and what is missing, each with its cards.
fn remarks(devices: &[Device]) -> String {
    let mut remarks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for device in devices {
        let still = device.stands_still().then(|| {
            let apart = BEATS_APART.as_millis();
            format!("heartbeat: it did not move within {apart} ms: ARC firmware hangs")
        });
        let gaps = device.card.gaps.iter().map(|gap| format!("{}: {}", gap.what, gap.why));
        for remark in still.into_iter().chain(gaps) {
            remarks.entry(remark).or_default().push(device.card.number.to_string());
        }
    }
    let lines = remarks.iter().map(|(remark, cards)| {
        let cards = cards.join(", ");
        format!("card {cards}: {remark}\n")
    });
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
