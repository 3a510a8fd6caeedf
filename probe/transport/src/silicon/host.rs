//! What this host says of its cards without opening one: the driver, permissions, hugepages, and the
//! driver's attributes.

use super::holders::Processes;
use super::kmd::FOLDER;
use rustix::fs::{Access, access};
use std::fs;
use std::path::{Path, PathBuf};

/// How good a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// As it should be.
    Good,
    /// Not known, or only of interest.
    Note,
    /// It hinders some uses.
    Warning,
    /// It hinders meshscope.
    Bad,
}

/// A fact about the host or a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFact {
    /// What it is about, such as `driver` or `card 0`.
    pub what: String,
    /// How good it is.
    pub grade: Grade,
    /// The fact, and what to do if it is not good.
    pub says: String,
}

/// Attributes of a card, and what they are called.
const ATTRIBUTES: [(&str, &str); 6] = [
    ("tt_card_type", "type"),
    ("tt_serial", "serial"),
    ("tt_fw_bundle_ver", "firmware"),
    ("tt_eth_fw_ver", "Ethernet firmware"),
    ("tt_arc_fw_ver", "ARC firmware"),
    ("tt_aiclk", "AI clock MHz"),
];
/// Pages of 1 GiB, which the vendor's driver in user space needs where there is no IOMMU.
const HUGEPAGES: &str = "sys/kernel/mm/hugepages/hugepages-1048576kB";

/// Surveys the host whose file systems are below `root`. No device is opened.
pub fn survey(root: &Path) -> Vec<HostFact> {
    let mut facts = vec![driver(root)];
    let cards = cards(root);
    if cards.is_empty() {
        let says = format!("none: {FOLDER} has no card; the targets emulator:MESH need none");
        facts.push(fact("cards", Grade::Bad, says));
    } else {
        facts.push(hugepages(root));
    }
    for number in cards {
        facts.extend(card(root, number));
    }
    facts
}

fn fact(what: impl Into<String>, grade: Grade, says: impl Into<String>) -> HostFact {
    HostFact { what: what.into(), grade, says: says.into() }
}

/// The text of a small file without its last line end.
fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn driver(root: &Path) -> HostFact {
    match line(&root.join("sys/module/tenstorrent/version")) {
        Some(version) => fact("driver", Grade::Good, format!("tt-kmd {version}")),
        None if root.join("sys/module/tenstorrent").is_dir() => {
            fact("driver", Grade::Note, "tt-kmd of an unknown version")
        }
        None => fact("driver", Grade::Bad, "tt-kmd is not loaded: modprobe tenstorrent"),
    }
}

fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

fn cards(root: &Path) -> Vec<u16> {
    let entries = fs::read_dir(below(root, FOLDER)).into_iter().flatten().flatten();
    let mut cards: Vec<u16> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    cards.sort_unstable();
    cards
}

fn hugepages(root: &Path) -> HostFact {
    let count = |name: &str| line(&root.join(HUGEPAGES).join(name))?.parse::<u64>().ok();
    let iommu = fs::read_dir(root.join("sys/class/iommu")).is_ok_and(|all| all.count() > 0);
    let note = "tt-metal needs them without an IOMMU; meshscope needs none";
    match (count("nr_hugepages"), count("free_hugepages")) {
        (Some(all), Some(free)) if all > 0 => {
            fact("hugepages", Grade::Good, format!("{all} of 1 GiB, {free} free"))
        }
        _ if iommu => fact("hugepages", Grade::Good, "none of 1 GiB; an IOMMU is on"),
        _ => fact("hugepages", Grade::Warning, format!("none of 1 GiB: {note}")),
    }
}

fn card(root: &Path, number: u16) -> Vec<HostFact> {
    let what = format!("card {number}");
    let device = below(root, FOLDER).join(number.to_string());
    let permitted = match access(&device, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) => fact(&*what, Grade::Good, format!("{FOLDER}/{number} may be opened")),
        Err(why) => {
            let says =
                format!("{FOLDER}/{number} may not be opened: {why}; see its owner and mode");
            fact(&*what, Grade::Bad, says)
        }
    };
    let folder = root.join(format!("sys/class/tenstorrent/tenstorrent!{number}"));
    let known = |(file, name): &(&str, &str)| Some(format!("{name} {}", line(&folder.join(file))?));
    let attributes: Vec<String> = ATTRIBUTES.iter().filter_map(known).collect();
    let attributes = if attributes.is_empty() {
        // They appear up to two minutes after the driver was loaded.
        fact(&*what, Grade::Note, "the driver has no attributes of it, or not yet")
    } else {
        fact(&*what, Grade::Good, attributes.join(", "))
    };
    let holders: Vec<String> = Processes::of(root.join("proc"))
        .holding(number)
        .into_iter()
        .map(|holder| format!("{} ({})", holder.pid, holder.name))
        .collect();
    let holders = if holders.is_empty() {
        fact(&*what, Grade::Good, "no visible process has it open")
    } else {
        fact(&*what, Grade::Note, format!("open in {}", holders.join(", ")))
    };
    [permitted, attributes].into_iter().chain(sensors(&what, &folder)).chain([holders]).collect()
}

/// Temperature and power, from the monitor of the card (units: Documentation/hwmon/sysfs-interface).
fn sensors(what: &str, folder: &Path) -> Option<HostFact> {
    let monitors = fs::read_dir(folder.join("device/hwmon")).ok()?.flatten();
    let monitor = monitors.map(|entry| entry.path()).min()?;
    let value = |file: &str| line(&monitor.join(file))?.parse::<u64>().ok();
    let warm = value("temp1_input").map(|milli| format!("{} °C", milli / 1000));
    let power = value("power1_input").map(|micro| format!("{} W", micro / 1_000_000));
    let says: Vec<String> = warm.into_iter().chain(power).collect();
    (!says.is_empty()).then(|| fact(what, Grade::Note, says.join(", ")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// A host with these files; its folder goes with it.
    struct Host(PathBuf);

    impl Host {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = format!("meshscope-host-{name}-{}", std::process::id());
            let host = Self(std::env::temp_dir().join(folder));
            for (file, text) in files {
                let path = host.0.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            host
        }

        fn says(&self) -> Vec<String> {
            let text = |it: HostFact| format!("{:?} {}: {}", it.grade, it.what, it.says);
            survey(&self.0).into_iter().map(text).collect()
        }
    }

    impl Drop for Host {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_host_without_cards_says_what_is_missing() {
        let says = Host::new("empty", &[("proc/version", "")]).says();
        assert_eq!(says.len(), 2, "{says:?}");
        assert!(says[0].starts_with("Bad driver: tt-kmd is not loaded"), "{says:?}");
        assert!(says[1].starts_with("Bad cards: none"), "{says:?}");
    }

    #[test]
    fn a_card_is_described_by_the_attributes_of_its_driver() {
        let folder = "sys/class/tenstorrent/tenstorrent!0";
        let files = [
            ("sys/module/tenstorrent/version", "2.4.1\n"),
            ("dev/tenstorrent/0", ""),
            (&format!("{folder}/tt_card_type"), "n300\n"),
            (&format!("{folder}/tt_aiclk"), "1000\n"),
            (&format!("{folder}/device/hwmon/hwmon3/temp1_input"), "81500\n"),
            (&format!("{folder}/device/hwmon/hwmon3/power1_input"), "42000000\n"),
            ("proc/driver/tenstorrent/0/pids", "4711\n"),
            ("proc/4711/comm", "trainer\n"),
        ];
        let expected = [
            "Good driver: tt-kmd 2.4.1",
            "Warning hugepages: none of 1 GiB: tt-metal needs them without an IOMMU; meshscope needs none",
            "Good card 0: /dev/tenstorrent/0 may be opened",
            "Good card 0: type n300, AI clock MHz 1000",
            "Note card 0: 81 °C, 42 W",
            "Note card 0: open in 4711 (trainer)",
        ];
        assert_eq!(Host::new("card", &files).says(), expected);
    }
}
