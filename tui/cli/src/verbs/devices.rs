//! `devices`: the cards of this host and their health, from what the kernel tells, without opening
//! one; also what ARC firmware tells, if that is asked for.

use crate::output::{Columns, Page, json};
use crate::shape::schema;
use crate::target::{Style, open};
use crate::verb::{Pages, Schemas, Verb, Watches};
use console::exit::{Failure, Outcome};
use console::glyph::Missing;
use console::machine::Opening;
use layouts::ChipId;
use probe::telemetry::telemetry;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use transport::silicon::cards::{Card, Sensor, Telemetry, cards, heartbeats};

/// Print the cards of this host: board, firmware, clocks, sensors, who holds them. No card is
/// opened, unless ARC is asked too.
#[derive(clap::Args, Debug)]
pub(crate) struct DevicesArguments {
    /// Also read what ARC firmware of each chip tells, far chips included. This opens the target.
    #[arg(long)]
    arc: bool,
}

/// The time between two reads of a heartbeat, which beats 10 to 50 times in a second (tt-metal's
/// `tools/triage/check_arc.py`).
const BEATS_APART: Duration = Duration::from_millis(200);

/// The cards of this host.
#[derive(Serialize, JsonSchema)]
struct Devices {
    /// By the numbers of their device files.
    cards: Vec<Device>,
    /// What ARC firmware of each chip of the target tells; null without `--arc`.
    chips: Option<Vec<ArcChip>>,
}

/// A card.
#[derive(Serialize, JsonSchema)]
struct Device {
    #[serde(flatten)]
    card: Card,
    /// Whether the heartbeat moved within 200 ms.
    heartbeat_moved: Option<bool>,
}

/// What ARC firmware of a chip tells.
#[derive(Serialize, JsonSchema)]
struct ArcChip {
    /// The chip.
    chip: u16,
    #[serde(flatten)]
    telemetry: Telemetry,
    /// Whether the heartbeat moved within 200 ms of the target's time.
    heartbeat_moved: Option<bool>,
    /// Why nothing is told.
    gap: Option<String>,
}

impl Verb for DevicesArguments {
    const NAME: &str = "devices";
    const PAGES: Pages = &[("devices", include_str!("../manual/verbs/devices.md"))];
    const SCHEMAS: Schemas = &[("devices", schema::<Devices>)];
    const WATCH: Watches = Watches::RepeatsOnHost;
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let chips = self.arc.then(|| arc_chips(target)).transpose()?;
        let devices = Devices { cards: devices(Path::new("/")), chips };
        if devices.cards.is_empty() && !self.arc {
            let says = "the driver has no card; `meshscope doctor` says what is not set up";
            return Err(Failure::Unreachable(says.to_owned()));
        }
        let still = remarks(&devices).keys().any(|remark| remark == STILL);
        let unread = devices.chips.iter().flatten().any(|chip| chip.gap.is_some());
        if style.json {
            json(devices)?;
        } else {
            style.print(page(style, &devices))?;
        }
        Ok(match (still, unread) {
            (true, _) => Outcome::Findings,
            (false, true) => Outcome::Partial,
            (false, false) => Outcome::Healthy,
        })
    }
}

fn devices(root: &Path) -> Vec<Device> {
    let before = heartbeats(root);
    if !before.is_empty() {
        std::thread::sleep(BEATS_APART);
    }
    let device = |card: Card| {
        let beats = before.get(&card.number).zip(card.telemetry.heartbeat);
        Device { heartbeat_moved: beats.map(|(before, after)| *before != after), card }
    };
    cards(root).into_iter().map(device).collect()
}

fn arc_chips(target: &Opening) -> Result<Vec<ArcChip>, Failure> {
    let mut machine = open(target)?;
    let before = telemetry(machine.target());
    let passed = machine.target().pass(BEATS_APART.as_nanos() as u64);
    passed.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let chips = before.into_iter().zip(telemetry(machine.target()));
    let chip = |((_, before), (chip, after)): ((_, Result<Telemetry, _>), (ChipId, _))| {
        let beats = before.ok().and_then(|before| before.heartbeat);
        let (telemetry, gap) = match after {
            Ok(telemetry) => (telemetry, None),
            Err(why) => (Telemetry::default(), Some(why)),
        };
        let beats = beats.zip(telemetry.heartbeat);
        let heartbeat_moved = beats.map(|(before, after)| before != after);
        ArcChip { chip: chip.0, telemetry, heartbeat_moved, gap }
    };
    Ok(chips.map(chip).collect())
}

/// Cells of missing and of known values.
struct Cells(&'static str);

impl Cells {
    fn text(&self, value: Option<&String>) -> String {
        value.map_or_else(|| self.0.to_owned(), String::clone)
    }

    fn number(&self, value: Option<i64>, unit: i64) -> String {
        self.text(value.map(|value| decimal(value, unit)).as_ref())
    }

    fn sensor(&self, Sensor { now, limit }: Sensor, unit: i64) -> String {
        let now = self.number(now, unit);
        limit.map_or_else(|| now.clone(), |limit| format!("{now} of {}", decimal(limit, unit)))
    }

    /// The health and the firmware of what stands in the first column.
    fn tables<'a>(
        &self,
        what: &str,
        all: impl Iterator<Item = (u16, &'a Telemetry, Option<bool>)>,
    ) -> Page {
        let mut health = Columns::new(&[
            what,
            "AI MHZ",
            "AXI MHZ",
            "ARC MHZ",
            "HEARTBEAT",
            "CELSIUS",
            "WATTS",
            "AMPERES",
            "VOLTS",
        ]);
        let head = [what, "BUNDLE", "ARC", "ETHERNET", "M3", "M3 BOOTLOADER", "TT-FLASH"];
        let mut firmware = Columns::new(&head);
        for (number, told, moved) in all {
            let beats = moved.map(|moved| if moved { "beats" } else { "still" }.to_owned());
            health.row(vec![
                number.to_string(),
                self.number(told.aiclk_mhz, 1),
                self.number(told.axiclk_mhz, 1),
                self.number(told.arcclk_mhz, 1),
                self.text(beats.as_ref()),
                self.sensor(told.temperature_millicelsius, 1000),
                self.sensor(told.power_microwatts, 1_000_000),
                self.sensor(told.current_milliamperes, 1000),
                self.sensor(told.voltage_millivolts, 1000),
            ]);
            let it = &told.firmware;
            let versions = [
                &it.bundle,
                &it.arc,
                &it.ethernet,
                &it.m3_application,
                &it.m3_bootloader,
                &it.tt_flash,
            ];
            let versions = versions.map(|version| self.text(version.as_ref()));
            firmware.row([number.to_string()].into_iter().chain(versions).collect());
        }
        Page::from(health).with("\n").with(firmware)
    }
}

fn page(style: Style, devices: &Devices) -> Page {
    let cells = Cells(style.looks.glyphs.missing(Missing::Unread));
    let mut page = Page::default();
    if !devices.cards.is_empty() {
        let mut identity = Columns::new(&["CARD", "PCI", "BOARD", "SERIAL", "HELD BY"]);
        for Device { card, .. } in &devices.cards {
            let Telemetry { board, serial, .. } = &card.telemetry;
            let texts = [&card.pci, board, serial].map(|text| cells.text(text.as_ref()));
            let row = [card.number.to_string()].into_iter().chain(texts).chain([holders(card)]);
            identity.row(row.collect());
        }
        let told =
            devices.cards.iter().map(|it| (it.card.number, &it.card.telemetry, it.heartbeat_moved));
        page = page.with(identity).with("\n").and(cells.tables("CARD", told));
    }
    if let Some(chips) = &devices.chips {
        if !devices.cards.is_empty() {
            page = page.with("\n");
        }
        let told = chips.iter().filter(|chip| chip.gap.is_none());
        let told = told.map(|chip| (chip.chip, &chip.telemetry, chip.heartbeat_moved));
        page = page.and(cells.tables("CHIP", told));
    }
    let remarks = remarks(devices);
    let line =
        |(remark, places): (&String, &Vec<String>)| format!("{}: {remark}\n", places.join(", "));
    let lines: String = remarks.iter().map(line).collect();
    if lines.is_empty() { page } else { page.with(format!("\n{lines}")) }
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

/// What is said of a heartbeat that does not move.
const STILL: &str = "the heartbeat did not move within 200 ms: ARC firmware does not run";

/// The heartbeats that stand still, and what is missing, each with its cards and chips.
fn remarks(devices: &Devices) -> BTreeMap<String, Vec<String>> {
    let mut remarks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut note = |place: String, moved: Option<bool>, gaps: &mut dyn Iterator<Item = String>| {
        let still = (moved == Some(false)).then(|| STILL.to_owned());
        for remark in still.into_iter().chain(gaps) {
            remarks.entry(remark).or_default().push(place.clone());
        }
    };
    for Device { card, heartbeat_moved } in &devices.cards {
        let mut gaps = card.gaps.iter().map(|gap| format!("{}: {}", gap.what, gap.why));
        note(format!("card {}", card.number), *heartbeat_moved, &mut gaps);
    }
    for chip in devices.chips.iter().flatten() {
        note(
            format!("chip {}", chip.chip),
            chip.heartbeat_moved,
            &mut chip.gap.clone().into_iter(),
        );
    }
    remarks
}
