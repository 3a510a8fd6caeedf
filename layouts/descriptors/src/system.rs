//! A system of hosts, trays and cables as a cluster descriptor.

use crate::boards::{Board, Holds, by_pci_bus};
use crate::text::wrong;
use layouts::{
    ChipId, ClusterDescriptor, DescribedBoard, DescribedChip, EthId, MOST_CHIPS, Seat, Stand,
    TextError,
};
use std::collections::{BTreeMap, BTreeSet};

/// A chip: its host, its tray and its location on the board.
pub(crate) type At = (u32, u32, u32);

/// An end of a link, and the line that names it.
pub(crate) type End = (At, u32);

/// A host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) stand: Option<Stand>,
    pub(crate) motherboard: String,
}

/// A system while it is read.
#[derive(Default)]
pub(crate) struct System {
    pub(crate) hosts: BTreeMap<u32, Host>,
    boards: BTreeMap<(u32, u32), &'static Board>,
    links: BTreeSet<(End, End)>,
    used: BTreeMap<End, u64>,
    /// 64-bit ids of chips.
    pub(crate) ids: BTreeMap<At, u64>,
    chips: usize,
}

impl System {
    /// Adds a board.
    pub(crate) fn add_board(
        &mut self,
        host: u32,
        tray: u32,
        board: &'static Board,
        line: u64,
    ) -> Result<(), TextError> {
        self.chips += board.asics.len();
        if self.chips > MOST_CHIPS {
            return Err(wrong(line, format!("it describes more than {MOST_CHIPS} chips")));
        }
        match self.boards.insert((host, tray), board) {
            Some(_) => Err(wrong(line, format!("tray {tray} of host {host} is described twice"))),
            None => Ok(()),
        }
    }

    /// Adds what a host holds.
    pub(crate) fn add_host(
        &mut self,
        host: u32,
        holds: &Holds,
        line: u64,
    ) -> Result<(), TextError> {
        for &(tray, board) in &holds.boards {
            self.add_board(host, tray, board, line)?;
            for [(a, near), (b, far)] in board.traces() {
                self.link(((host, tray, a), near), ((host, tray, b), far), line)?;
            }
        }
        for (kind, [a_tray, a_port, b_tray, b_port]) in &holds.cables {
            self.cable(kind, (host, *a_tray, *a_port), (host, *b_tray, *b_port), line)?;
        }
        Ok(())
    }

    /// Joins two ports, each a host, a tray and a port's number.
    pub(crate) fn cable(&mut self, kind: &str, a: At, b: At, line: u64) -> Result<(), TextError> {
        let port = |(host, tray, number): At| {
            let board = self
                .boards
                .get(&(host, tray))
                .ok_or_else(|| wrong(line, format!("host {host} has no tray {tray}")))?;
            let port =
                board.port(kind, number).map(|(asic, channels)| ((host, tray, asic), channels));
            port.ok_or_else(|| {
                wrong(
                    line,
                    format!("the board in tray {tray} of host {host} has no port {kind} {number}"),
                )
            })
        };
        let ((near, channels), (far, others)) = (port(a)?, port(b)?);
        if channels.len() != others.len() {
            return Err(wrong(
                line,
                format!("a cable joins {} channels to {}", channels.len(), others.len()),
            ));
        }
        for (channel, other) in channels.iter().zip(others) {
            self.link((near, *channel), (far, *other), line)?;
        }
        Ok(())
    }

    /// Whether there is a chip; of a system that lists chips by their ids, only those.
    fn has(&self, at: At) -> bool {
        let board = self.boards.get(&(at.0, at.1));
        board.is_some_and(|board| board.asics.contains(&at.2))
            && (self.ids.is_empty() || self.ids.contains_key(&at))
    }

    /// Adds a link. A link that is listed from both ends is one.
    pub(crate) fn link(&mut self, a: End, b: End, line: u64) -> Result<(), TextError> {
        let link = (a.min(b), a.max(b));
        if self.links.contains(&link) {
            return Ok(());
        }
        for ((at, channel), end) in [(a, a), (b, b)] {
            let (host, tray, location) = at;
            let words =
                || format!("channel {channel} of host {host} tray {tray} location {location}");
            if !self.has(at) {
                return Err(wrong(
                    line,
                    format!("no chip is at host {host} tray {tray} location {location}"),
                ));
            }
            if channel >= 16 {
                return Err(wrong(
                    line,
                    format!("{} is out of range: a chip has 16, from 0", words()),
                ));
            }
            if let Some(before) = self.used.insert(end, line) {
                return Err(wrong(line, format!("{} is already linked in line {before}", words())));
            }
        }
        self.links.insert(link);
        Ok(())
    }

    /// Returns the number of a chip's PCIe device in its host, if the order of trays is known.
    fn device(&self, host: u32, of: &Host, tray: u32, asic: u32) -> Option<u32> {
        let order = by_pci_bus(&of.motherboard);
        let before = order.iter().take_while(|other| **other != tray);
        let devices = |tray: &u32| self.boards.get(&(host, *tray)).map_or(0, |it| it.pcie.len());
        let own = self.boards.get(&(host, tray))?.pcie.iter().position(|own| *own == asic)?;
        order.contains(&tray).then(|| (before.map(devices).sum::<usize>() + own) as u32)
    }

    /// Returns the cluster descriptor. Chips are numbered by host, tray and location.
    pub(crate) fn describe(self, name: &str) -> Result<ClusterDescriptor, TextError> {
        if self.boards.is_empty() {
            return Err(wrong(0, "it describes no board"));
        }
        let hosts: BTreeMap<u32, u16> = self.hosts.keys().copied().zip(0..).collect();
        let chips = self
            .boards
            .iter()
            .flat_map(|(at, board)| board.asics.iter().map(move |asic| (*at, *board, *asic)));
        let chips = chips.filter(|((host, tray), _, asic)| self.has((*host, *tray, *asic)));
        let mut descriptor =
            ClusterDescriptor { name: name.to_owned(), ..ClusterDescriptor::default() };
        let mut numbers = BTreeMap::new();
        let mut devices = 0..;
        for (number, ((host, tray), board, asic)) in (0_u16..).zip(chips) {
            let of = self.hosts.get(&host).cloned().unwrap_or_default();
            let pcie = board.pcie.contains(&asic);
            numbers.insert((host, tray, asic), ChipId(number));
            descriptor.chips.push(DescribedChip {
                id: ChipId(number),
                unique_id: self.ids.get(&(host, tray, asic)).copied(),
                pcie: if pcie { devices.next() } else { None },
                asic_location: Some(asic.into()),
                board: Some(DescribedBoard { id: None, kind: Some(board.kind.clone()) }),
                host: hosts.get(&host).copied().unwrap_or_default(),
                seat: Some(Seat {
                    device: if pcie { self.device(host, &of, tray, asic) } else { None },
                    host: of.name,
                    stand: of.stand,
                    tray,
                    asic_location: asic,
                    ports: board.ports_of(asic),
                }),
                ..DescribedChip::blank(number.into())
            });
        }
        let end = |(at, channel): End| {
            numbers.get(&at).map(|chip| EthId { chip: *chip, channel: channel as u8 })
        };
        descriptor.links =
            self.links.iter().filter_map(|(a, b)| Some((end(*a)?, end(*b)?))).collect();
        descriptor.hosts = self.hosts.into_values().map(|host| host.name).collect();
        descriptor.renumber();
        Ok(descriptor)
    }
}
