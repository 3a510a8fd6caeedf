//! Whether this host is set up for its cards: the driver, permissions, hugepages. No card is opened.

use super::attribute::line;
use super::cards::numbers;
use super::kmd::FOLDER;
use rustix::fs::{Access, access};
use std::fs;
use std::path::Path;

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

/// Pages of 1 GiB, which the vendor's driver in user space needs where there is no IOMMU.
const HUGEPAGES: &str = "sys/kernel/mm/hugepages/hugepages-1048576kB";

/// Surveys the host whose file systems are below `root`. No device is opened.
pub fn survey(root: &Path) -> Vec<HostFact> {
    let mut facts = vec![driver(root)];
    let cards = numbers(root);
    if cards.is_empty() {
        let says = "the driver has none; the targets emulator:MESH need none";
        facts.push(fact("cards", Grade::Bad, says));
    } else {
        facts.push(hugepages(root));
    }
    facts.extend(cards.into_iter().map(|number| permitted(root, number)));
    facts
}

fn fact(what: impl Into<String>, grade: Grade, says: impl Into<String>) -> HostFact {
    HostFact { what: what.into(), grade, says: says.into() }
}

fn driver(root: &Path) -> HostFact {
    match line(&root.join("sys/module/tenstorrent/version")) {
        Ok(version) => fact("driver", Grade::Good, format!("tt-kmd {version}")),
        Err(_) if root.join("sys/module/tenstorrent").is_dir() => {
            fact("driver", Grade::Note, "tt-kmd of an unknown version")
        }
        Err(_) => fact("driver", Grade::Bad, "tt-kmd is not loaded: modprobe tenstorrent"),
    }
}

fn hugepages(root: &Path) -> HostFact {
    let count = |name: &str| line(&root.join(HUGEPAGES).join(name)).ok()?.parse::<u64>().ok();
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

fn permitted(root: &Path, number: u16) -> HostFact {
    let device = root.join(FOLDER.trim_start_matches('/')).join(number.to_string());
    let what = format!("card {number}");
    match access(&device, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) => fact(what, Grade::Good, format!("{FOLDER}/{number} may be opened")),
        Err(why) => {
            let says =
                format!("{FOLDER}/{number} may not be opened: {why}; see its owner and mode");
            fact(what, Grade::Bad, says)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::root::Root;
    use super::*;

    fn says(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = Root::new(name, files);
        let text = |it: HostFact| format!("{:?} {}: {}", it.grade, it.what, it.says);
        survey(&root.0).into_iter().map(text).collect()
    }

    #[test]
    fn a_host_without_cards_says_what_is_missing() {
        let says = says("empty", &[("proc/version", "")]);
        assert_eq!(says.len(), 2, "{says:?}");
        assert!(says[0].starts_with("Bad driver: tt-kmd is not loaded"), "{says:?}");
        assert!(says[1].starts_with("Bad cards: the driver has none"), "{says:?}");
    }

    #[test]
    fn a_card_may_be_opened_or_not() {
        let files = [
            ("sys/module/tenstorrent/version", "2.4.1\n"),
            ("dev/tenstorrent/0", ""),
            ("sys/class/tenstorrent/tenstorrent!0/tt_card_type", "n300\n"),
            ("sys/class/tenstorrent/tenstorrent!1/tt_card_type", "n300\n"),
        ];
        let expected = [
            "Good driver: tt-kmd 2.4.1",
            "Warning hugepages: none of 1 GiB: tt-metal needs them without an IOMMU; meshscope needs none",
            "Good card 0: /dev/tenstorrent/0 may be opened",
            "Bad card 1: /dev/tenstorrent/1 may not be opened: No such file or directory (os error 2); \
             see its owner and mode",
        ];
        assert_eq!(says("card", &files), expected);
    }
}
