//! Boards and hosts by the names that tt-metal's files give them.

use crate::text::wrong;
use layouts::{Node, TextError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A kind of board.
#[derive(Debug, Deserialize)]
pub(crate) struct Board {
    names: Vec<String>,
    /// Its type as UMD spells it.
    pub(crate) kind: String,
    /// The locations of its chips.
    pub(crate) asics: Vec<u32>,
    /// Those that have PCIe.
    pub(crate) pcie: Vec<u32>,
    /// By type of port: of each port the location of its chip, then its channels.
    ports: BTreeMap<String, Vec<Vec<u32>>>,
}

/// A cable between two trays of a host: tray and port of each end.
pub(crate) type Cable = [u32; 4];

/// A kind of host.
#[derive(Debug, Deserialize)]
struct Host {
    board: String,
    cables: BTreeMap<String, Vec<Cable>>,
    types: BTreeMap<String, HostType>,
}

#[derive(Debug, Deserialize)]
struct HostType {
    motherboard: String,
    #[serde(default)]
    qsfp: Vec<Cable>,
}

#[derive(Debug, Deserialize)]
struct Known {
    boards: Vec<Board>,
    hosts: Vec<Host>,
    by_pci_bus: BTreeMap<String, Vec<u32>>,
}

/// What a host holds: its boards by tray, and its cables by type of port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holds {
    pub(crate) motherboard: String,
    pub(crate) boards: Vec<(u32, &'static Board)>,
    pub(crate) cables: Vec<(String, Cable)>,
}

/// The ports of boards that cables join; those of the board's own traces are not among them.
pub(crate) const TRACE: &str = "TRACE";

fn known() -> Result<&'static Known, TextError> {
    static KNOWN: OnceLock<Result<Known, TextError>> = OnceLock::new();
    let text = include_str!("../data/boards.toml");
    KNOWN.get_or_init(|| Node::from_toml(text)?.read()).as_ref().map_err(Clone::clone)
}

/// Returns the board of a name, which tt-metal compares without regard to case.
pub(crate) fn board(name: &str, line: u64) -> Result<&'static Board, TextError> {
    let boards = &known()?.boards;
    let of = |board: &&Board| board.names.iter().any(|own| own.eq_ignore_ascii_case(name));
    boards.iter().find(of).ok_or_else(|| {
        let names: Vec<_> = boards.iter().flat_map(|board| &board.names).cloned().collect();
        let names = names.join(", ");
        wrong(line, format!("`{name}` is no Wormhole board: `board_type` is one of {names}"))
    })
}

/// Returns what a type of host holds.
pub(crate) fn host(name: &str, line: u64) -> Result<Holds, TextError> {
    let hosts = &known()?.hosts;
    for host in hosts {
        let of = host.types.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        let Some((_, HostType { motherboard, qsfp })) = of else { continue };
        let of = board(&host.board, line)?;
        let own = host
            .cables
            .iter()
            .flat_map(|(port, cables)| cables.iter().map(move |it| (port.clone(), *it)));
        let qsfp = qsfp.iter().map(|cable| ("QSFP_DD".to_owned(), *cable));
        return Ok(Holds {
            motherboard: motherboard.clone(),
            boards: (1..=4).map(|tray| (tray, of)).collect(),
            cables: own.chain(qsfp).collect(),
        });
    }
    let names: Vec<_> = hosts.iter().flat_map(|host| host.types.keys()).cloned().collect();
    let names = names.join(", ");
    Err(wrong(
        line,
        format!(
            "`{name}` is no Wormhole host: a node is one of {names}, or described in `node_descriptors`"
        ),
    ))
}

/// Returns the trays in the order of their PCI buses on a motherboard; none if it is not known.
pub(crate) fn by_pci_bus(motherboard: &str) -> &'static [u32] {
    let order = known().ok().and_then(|known| known.by_pci_bus.get(motherboard));
    order.map_or(&[], Vec::as_slice)
}

impl Board {
    /// Returns the location and the channels of a port.
    pub(crate) fn port(&self, kind: &str, number: u32) -> Option<(u32, &[u32])> {
        // Files of before 2026 call it so.
        let kind = if kind.eq_ignore_ascii_case("QSFP") { "QSFP_DD" } else { kind };
        let (_, ports) = self.ports.iter().find(|(own, _)| own.eq_ignore_ascii_case(kind))?;
        let (asic, channels) =
            ports.get(usize::try_from(number.checked_sub(1)?).ok()?)?.split_first()?;
        Some((*asic, channels))
    }

    /// Returns the pairs of ports that the board's own traces join, as location and channel.
    pub(crate) fn traces(&self) -> Vec<[(u32, u32); 2]> {
        let pairs = self.ports.get(TRACE).map(|ports| ports.chunks_exact(2)).into_iter().flatten();
        let mut traces = Vec::new();
        for pair in pairs {
            let [Some((a, near)), Some((b, far))] =
                [pair.first(), pair.last()].map(|port| port?.split_first())
            else {
                continue;
            };
            traces.extend(near.iter().zip(far).map(|(near, far)| [(*a, *near), (*b, *far)]));
        }
        traces
    }

    /// Returns the port of each channel of a chip, such as `QSFP_DD 2`.
    pub(crate) fn ports_of(&self, asic: u32) -> BTreeMap<u8, String> {
        let mut of = BTreeMap::new();
        for (kind, ports) in &self.ports {
            for (number, port) in (1..).zip(ports) {
                let Some((_, channels)) = port.split_first().filter(|(at, _)| **at == asic) else {
                    continue;
                };
                let name =
                    if kind == TRACE { "trace".to_owned() } else { format!("{kind} {number}") };
                of.extend(channels.iter().map(|channel| (*channel as u8, name.clone())));
            }
        }
        of
    }
}
