//! The cards of this host as the attributes of tt-kmd, the monitors of the kernel and the list of
//! processes show them (wormhole.md 2.5). No device is opened, and nothing in `/dev` is read.

use super::attribute::line;
use super::holders::Processes;
use super::identity::Identity;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder for each card, `tenstorrent!0`, with its attributes (wormhole.md 2.5).
const CLASS: &str = "sys/class/tenstorrent";
/// What an attribute says whose words are all ones, as they are of a chip that does not answer: a
/// count, a version, that of Ethernet firmware, an id; then a temperature, its limit, a voltage, its
/// limit, a current and a power in the units of hwmon.
const ALL_ONES: [&str; 9] = [
    "4294967295",
    "255.255.255.255",
    "255.15.4095",
    "FFFFFFFFFFFFFFFF",
    "65535999",
    "4294967295000",
    "65535",
    "4294967295000000",
    "ffffffffffffffff",
];

/// A card, as far as the kernel knows it. What is missing is among the gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Card {
    /// The number of its device file.
    pub number: u16,
    /// Its PCI address, such as `0000:01:00.0`.
    pub pci: Option<String>,
    /// What ARC firmware tells.
    #[serde(flatten)]
    pub telemetry: Telemetry,
    /// The other processes that have the device open.
    pub holders: Vec<Opener>,
    /// What is missing, and why.
    pub gaps: Vec<CardGap>,
}

/// What ARC firmware tells of a chip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Telemetry {
    /// Its board, such as `n300`.
    pub board: Option<String>,
    /// The id of the board, in hexadecimal digits.
    pub serial: Option<String>,
    /// The id of the chip, in hexadecimal digits.
    pub asic_id: Option<String>,
    /// The versions of its firmware.
    pub firmware: Versions,
    /// The AI clock, in MHz.
    pub aiclk_mhz: Option<i64>,
    /// The clock of AXI, in MHz.
    pub axiclk_mhz: Option<i64>,
    /// The clock of ARC, in MHz.
    pub arcclk_mhz: Option<i64>,
    /// The heartbeats of ARC firmware.
    pub heartbeat: Option<i64>,
    /// The temperature of the chip, in thousandths of a degree Celsius.
    pub temperature_millicelsius: Sensor,
    /// The power of the chip, in microwatts.
    pub power_microwatts: Sensor,
    /// The current of the core supply, in milliamperes.
    pub current_milliamperes: Sensor,
    /// The voltage of the core supply, in millivolts.
    pub voltage_millivolts: Sensor,
}

/// The versions of a card's firmware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Versions {
    /// The bundle with which the card was flashed.
    pub bundle: Option<String>,
    /// The firmware of ARC.
    pub arc: Option<String>,
    /// The base firmware of Ethernet tiles.
    pub ethernet: Option<String>,
    /// The application of the board's microcontroller.
    pub m3_application: Option<String>,
    /// The boot loader of the board's microcontroller.
    pub m3_bootloader: Option<String>,
    /// The program that flashed the card.
    pub tt_flash: Option<String>,
}

/// A sensor of the kernel's hardware monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sensor {
    /// Its value.
    pub now: Option<i64>,
    /// The limit that firmware keeps.
    pub limit: Option<i64>,
}

/// A process that has a device open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Opener {
    /// Its process id; 0 outside of this pid namespace.
    pub pid: u32,
    /// Its command line, else the name of its program.
    pub command: Option<String>,
}

/// Something that is not known of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CardGap {
    /// The attribute, or what else is missing.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Returns what is known of each card, by the numbers of their device files, from the file systems
/// below `root`. The driver answers from the memory of ARC, which costs the chip nothing else.
pub fn cards(root: &Path) -> Vec<Card> {
    numbers(root).into_iter().map(|number| card(root, number)).collect()
}

/// Tells by what a card is known again; nothing if it has no heartbeat, as before tt-kmd 2.7.
pub(super) fn identity(root: &Path, number: u16) -> Option<Identity> {
    let mut from = Attributes::of(root, number);
    Some(Identity {
        heartbeat: from.number("tt_heartbeat")?,
        pci: from.pci(),
        serial: from.text("tt_serial"),
        asic_id: from.text("tt_asic_id"),
    })
}

/// Returns the heartbeats of the cards that have one.
pub fn heartbeats(root: &Path) -> BTreeMap<u16, i64> {
    let beat = |number| Some((number, Attributes::of(root, number).number("tt_heartbeat")?));
    numbers(root).into_iter().filter_map(beat).collect()
}

/// The numbers of the driver's cards, ascending.
pub(super) fn numbers(root: &Path) -> Vec<u16> {
    let entries = fs::read_dir(root.join(CLASS)).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_prefix("tenstorrent!")?.parse().ok();
    let mut numbers: Vec<u16> =
        entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    numbers
}

/// Returns what is known of the card with this number.
pub fn card(root: &Path, number: u16) -> Card {
    let mut from = Attributes::of(root, number);
    let mut card = Card { number, pci: from.pci(), telemetry: from.telemetry(), ..Card::default() };
    if from.none {
        let why = "the driver has none of this card: ARC firmware does not report, has not done so \
                   yet (it may take two minutes), or tt-kmd is older than 1.28";
        from.gaps = vec![CardGap { what: "attributes".to_owned(), why: why.to_owned() }];
    }
    if card.pci.is_none() {
        from.gap("PCI address", "the card has no folder of its device: it is being removed");
    }
    match monitor(&from.folder) {
        Some(folder) => {
            let mut monitor = Attributes { folder, gaps: Vec::new(), none: true };
            card.telemetry.temperature_millicelsius = monitor.sensor("temp1");
            card.telemetry.power_microwatts = monitor.sensor("power1");
            card.telemetry.current_milliamperes = monitor.sensor("curr1");
            card.telemetry.voltage_millivolts = monitor.sensor("in0");
            from.gaps.append(&mut monitor.gaps);
        }
        None => from.gap("hwmon", "the driver has no monitor of this card"),
    }
    let processes = Processes::of(root.join("proc"));
    let (pids, hidden) = processes.pids(number);
    let opener = |pid| Opener { pid, command: processes.command(pid) };
    card.holders = pids.into_iter().map(opener).collect();
    if hidden > 0 {
        from.gap("holders", &format!("{hidden} processes do not show this user what they hold"));
    }
    card.gaps = from.gaps;
    card
}

/// The folder of the card's hardware monitor.
fn monitor(folder: &Path) -> Option<PathBuf> {
    let monitors = fs::read_dir(folder.join("device/hwmon")).ok()?.flatten();
    monitors.map(|entry| entry.path()).min()
}

/// A folder of attributes, and what could not be read there.
struct Attributes {
    folder: PathBuf,
    gaps: Vec<CardGap>,
    /// Whether no file is there.
    none: bool,
}

impl Attributes {
    fn of(root: &Path, number: u16) -> Self {
        let folder = root.join(CLASS).join(format!("tenstorrent!{number}"));
        Self { folder, gaps: Vec::new(), none: true }
    }

    /// The PCI address of the card.
    fn pci(&self) -> Option<String> {
        let device = fs::canonicalize(self.folder.join("device")).ok()?;
        Some(device.file_name()?.to_string_lossy().into_owned())
    }

    fn gap(&mut self, what: &str, why: &str) {
        self.gaps.push(CardGap { what: what.to_owned(), why: why.to_owned() });
    }

    /// The text of an attribute, or a gap.
    fn text(&mut self, name: &str) -> Option<String> {
        let text = line(&self.folder.join(name));
        self.none &= text.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let why = match text {
            Ok(text) if ALL_ONES.contains(&&*text) => {
                "it is all ones: the chip does not answer".into()
            }
            Ok(text) => return Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                "not there: driver or firmware is too old for it".to_owned()
            }
            Err(error) => error.to_string(),
        };
        self.gap(name, &why);
        None
    }

    /// What the driver's own attributes tell: all but the sensors.
    fn telemetry(&mut self) -> Telemetry {
        Telemetry {
            board: self.text("tt_card_type"),
            serial: self.text("tt_serial"),
            asic_id: self.text("tt_asic_id"),
            firmware: Versions {
                bundle: self.text("tt_fw_bundle_ver"),
                arc: self.text("tt_arc_fw_ver"),
                ethernet: self.text("tt_eth_fw_ver"),
                m3_application: self.text("tt_m3app_fw_ver"),
                m3_bootloader: self.text("tt_m3bl_fw_ver"),
                tt_flash: self.text("tt_ttflash_ver"),
            },
            aiclk_mhz: self.number("tt_aiclk"),
            axiclk_mhz: self.number("tt_axiclk"),
            arcclk_mhz: self.number("tt_arcclk"),
            heartbeat: self.number("tt_heartbeat"),
            ..Telemetry::default()
        }
    }

    fn number(&mut self, name: &str) -> Option<i64> {
        let text = self.text(name)?;
        let number = text.parse().ok();
        if number.is_none() {
            let start: String = text.chars().take(20).flat_map(char::escape_debug).collect();
            self.gap(name, &format!("'{start}' is not a number"));
        }
        number
    }

    fn sensor(&mut self, name: &str) -> Sensor {
        let [now, limit] = ["input", "max"].map(|end| self.number(&format!("{name}_{end}")));
        Sensor { now, limit }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::tests::root::Root;
    use super::*;
    use std::fmt::Write as _;
    use std::os::unix::fs::symlink;

    const FOLDER: &str = "sys/class/tenstorrent/tenstorrent!3";
    const TEXTS: [(&str, &str); 13] = [
        ("tt_card_type", "n300"),
        ("tt_serial", "01000146118320AE"),
        ("tt_asic_id", "00000000DEADBEEF"),
        ("tt_fw_bundle_ver", "18.4.0.0"),
        ("tt_arc_fw_ver", "2.35.0.0"),
        ("tt_eth_fw_ver", "6.14.0"),
        ("tt_m3app_fw_ver", "5.9.0.0"),
        ("tt_m3bl_fw_ver", "129.2.0.0"),
        ("tt_ttflash_ver", "3.1.0.0"),
        ("tt_aiclk", "1000"),
        ("tt_axiclk", "900"),
        ("tt_arcclk", "540"),
        ("tt_heartbeat", "2779096501"),
    ];
    const SENSORS: [(&str, &str); 8] = [
        ("temp1_input", "40500"),
        ("temp1_max", "75000"),
        ("power1_input", "12000000"),
        ("power1_max", "85000000"),
        ("curr1_input", "9000"),
        ("curr1_max", "160000"),
        ("in0_input", "750"),
        ("in0_max", "950"),
    ];

    /// A host with card 3, as tt-kmd 2.10 shows it.
    fn host(name: &str) -> Root {
        let root = Root::new(name, &[("proc/driver/tenstorrent/3/pids", "")]);
        for (file, text) in TEXTS {
            root.set(&format!("{FOLDER}/{file}"), format!("{text}\n").as_bytes());
        }
        for (file, text) in SENSORS {
            let file = format!("sys/devices/0000:41:00.0/hwmon/hwmon5/{file}");
            root.set(&file, format!("{text}\n").as_bytes());
        }
        symlink("../../../devices/0000:41:00.0", root.0.join(FOLDER).join("device")).unwrap();
        root
    }

    fn only(root: &Root) -> (Card, String) {
        let cards = cards(&root.0);
        assert_eq!(cards.len(), 1, "{cards:?}");
        let mut gaps = String::new();
        for CardGap { what, why } in &cards[0].gaps {
            writeln!(gaps, "{what}: {why}").unwrap();
        }
        (cards.into_iter().next().unwrap(), gaps)
    }

    #[test]
    fn a_card_is_what_the_kernel_tells() {
        let root = host("whole");
        root.set("proc/driver/tenstorrent/3/pids", b"0\n20\n30\n");
        root.set("proc/20/cmdline", b"python3\0-m\0train\0");
        root.set("proc/20/comm", b"python3\n");
        root.set("proc/30/cmdline", b"");
        root.set("proc/30/comm", b"kworker\n");
        let known = |text: &str| Some(text.to_owned());
        let sensor = |now, limit| Sensor { now: Some(now), limit: Some(limit) };
        let opener = |pid, command: Option<&str>| Opener { pid, command: command.and_then(known) };
        let card = Card {
            number: 3,
            pci: known("0000:41:00.0"),
            telemetry: Telemetry {
                board: known("n300"),
                serial: known("01000146118320AE"),
                asic_id: known("00000000DEADBEEF"),
                firmware: Versions {
                    bundle: known("18.4.0.0"),
                    arc: known("2.35.0.0"),
                    ethernet: known("6.14.0"),
                    m3_application: known("5.9.0.0"),
                    m3_bootloader: known("129.2.0.0"),
                    tt_flash: known("3.1.0.0"),
                },
                aiclk_mhz: Some(1000),
                axiclk_mhz: Some(900),
                arcclk_mhz: Some(540),
                heartbeat: Some(2_779_096_501),
                temperature_millicelsius: sensor(40_500, 75_000),
                power_microwatts: sensor(12_000_000, 85_000_000),
                current_milliamperes: sensor(9_000, 160_000),
                voltage_millivolts: sensor(750, 950),
            },
            holders: vec![
                opener(0, None),
                opener(20, Some("python3 -m train")),
                opener(30, Some("kworker")),
            ],
            gaps: Vec::new(),
        };
        assert_eq!(cards(&root.0), [card]);
        assert_eq!(heartbeats(&root.0), BTreeMap::from([(3, 2_779_096_501)]));
        // Not a card: what else is in the folder, and a number that is none.
        root.set("sys/class/tenstorrent/tenstorrent!x/tt_aiclk", b"1");
        root.set("sys/class/tenstorrent/tenstorrent!99999999/tt_aiclk", b"1");
        assert_eq!(cards(&root.0).len(), 1);
    }

    #[test]
    fn what_is_missing_or_foreign_is_a_gap() {
        let root = host("foreign");
        root.set(&format!("{FOLDER}/tt_aiclk"), b"\x1b[2Jfast\n");
        root.set(&format!("{FOLDER}/tt_axiclk"), &vec![b'1'; 1 << 20]);
        root.set(&format!("{FOLDER}/tt_arcclk"), b"4294967295\n");
        root.set(&format!("{FOLDER}/tt_card_type"), b"n\xff\xfe300\n");
        root.set(&format!("{FOLDER}/tt_serial"), b"\n");
        fs::remove_file(root.0.join(FOLDER).join("tt_heartbeat")).unwrap();
        fs::remove_file(root.0.join(FOLDER).join("tt_ttflash_ver")).unwrap();
        symlink("/nonexistent", root.0.join(FOLDER).join("tt_ttflash_ver")).unwrap();
        root.set("sys/devices/0000:41:00.0/hwmon/hwmon5/power1_input", b"4294967295000000\n");
        let (card, gaps) = only(&root);
        let expected = "\
tt_card_type: it is not text
tt_serial: it is empty
tt_ttflash_ver: not there: driver or firmware is too old for it
tt_aiclk: '\\u{1b}[2Jfast' is not a number
tt_axiclk: it is longer than a page
tt_arcclk: it is all ones: the chip does not answer
tt_heartbeat: not there: driver or firmware is too old for it
power1_input: it is all ones: the chip does not answer
";
        assert_eq!(gaps, expected);
        let told = card.telemetry;
        assert_eq!((told.aiclk_mhz, told.axiclk_mhz, told.arcclk_mhz), (None, None, None));
        assert_eq!(told.power_microwatts, Sensor { now: None, limit: Some(85_000_000) });
        assert_eq!(heartbeats(&root.0), BTreeMap::new());
    }

    #[test]
    fn a_card_of_which_nothing_is_told_is_named() {
        let root = Root::new("nothing", &[("proc/driver/tenstorrent/3/pids", "")]);
        fs::create_dir_all(root.0.join("sys/class/tenstorrent")).unwrap();
        symlink("../../devices/gone", root.0.join(FOLDER)).unwrap();
        let (card, gaps) = only(&root);
        assert_eq!((card.number, card.pci), (3, None));
        let subjects: Vec<_> = gaps.lines().map(|line| line.split_once(": ").unwrap().0).collect();
        assert_eq!(subjects, ["attributes", "PCI address", "hwmon"]);
    }

    #[test]
    fn who_is_hidden_is_counted() {
        let root = host("hidden");
        fs::remove_dir_all(root.0.join("proc")).unwrap();
        root.set("proc/20/cmdline", b"trainer\0");
        fs::create_dir_all(root.0.join("proc/20/fd")).unwrap();
        symlink("/dev/tenstorrent/3", root.0.join("proc/20/fd/7")).unwrap();
        let (card, gaps) = only(&root);
        assert_eq!(card.holders, [Opener { pid: 20, command: Some("trainer".to_owned()) }]);
        assert_eq!(gaps, "");
    }
}
