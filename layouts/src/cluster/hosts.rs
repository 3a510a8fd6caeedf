//! A mesh of several hosts: each host's view, and the routes of its base firmware.

use super::{ClusterDescriptor, OutwardLink, Routes};
use crate::address::{ChipId, EthId};
use std::collections::BTreeSet;

impl ClusterDescriptor {
    /// Returns the number of hosts of the mesh; 1 if the file lists none.
    pub fn host_count(&self) -> u16 {
        self.hosts.len().max(1) as u16
    }

    /// Returns the name of a host, such as `host1`.
    pub fn host_name(&self, host: u16) -> String {
        self.hosts.get(usize::from(host)).cloned().unwrap_or_else(|| format!("host{host}"))
    }

    fn host_of(&self, chip: ChipId) -> Option<u16> {
        self.chip(chip).map(|chip| chip.host)
    }

    /// Returns the view of one host: its own chips, its PCIe devices counted from 0, and links to
    /// other hosts' chips.
    #[must_use]
    pub fn of_host(&self, host: u16) -> Self {
        let own = |end: EthId| self.host_of(end.chip) == Some(host);
        let mut chips: Vec<_> = self.chips.iter().filter(|c| c.host == host).cloned().collect();
        let first = chips.iter().filter_map(|chip| chip.pcie).min().unwrap_or_default();
        for chip in &mut chips {
            chip.pcie = chip.pcie.map(|index| index - first);
        }
        let outward = self.links.iter().filter_map(|&(a, b)| {
            let (near, far) = match (own(a), own(b)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => return None,
            };
            let far_unique_id = self.chip(far.chip)?.unique_id?;
            Some(OutwardLink { near, far_unique_id, far_channel: far.channel })
        });
        let mut part = Self {
            kind: self.kind,
            name: self.name.clone(),
            chips,
            links: self.links.iter().copied().filter(|&(a, b)| own(a) && own(b)).collect(),
            outward: self
                .outward
                .iter()
                .copied()
                .filter(|link| own(link.near))
                .chain(outward)
                .collect(),
            io_device_type: self.io_device_type.clone(),
            hosts: vec![self.host_name(host)],
            counted: self.counted,
        };
        for (id, chip) in (0..).zip(&mut part.chips) {
            chip.file_id = id;
            chip.host = 0;
        }
        part.renumber();
        part.outward.sort_unstable();
        part
    }

    /// Returns the routes of base firmware: the chips of each host route only to one another.
    pub fn firmware_routes(&self) -> Routes {
        let within = |(a, b): &&(EthId, EthId)| self.host_of(a.chip) == self.host_of(b.chip);
        let links: Vec<_> = self.links.iter().filter(within).copied().collect();
        Routes::new(self.chips.len() as u16, &links)
    }

    /// Returns the unique ids of the chips of all other hosts, each with its host's name.
    pub fn chips_of_others(&self, hosts: &BTreeSet<u16>) -> Vec<(u64, String)> {
        let others = self.chips.iter().filter(|chip| !hosts.contains(&chip.host));
        others.filter_map(|chip| Some((chip.unique_id?, self.host_name(chip.host)))).collect()
    }
}
