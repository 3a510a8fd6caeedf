//! A mesh of several hosts: what each of them sees, and where its base firmware routes.

use super::{ClusterDescriptor, OutwardLink, Routes};
use crate::address::{ChipId, EthId};
use std::collections::BTreeSet;

impl ClusterDescriptor {
    /// How many hosts the mesh has: 1 where the file does not say.
    pub fn host_count(&self) -> u16 {
        self.hosts.len().max(1) as u16
    }

    /// The name of a host, such as `host1`.
    pub fn host_name(&self, host: u16) -> String {
        self.hosts.get(usize::from(host)).cloned().unwrap_or_else(|| format!("host{host}"))
    }

    fn host_of(&self, chip: ChipId) -> Option<u16> {
        self.chip(chip).map(|chip| chip.host)
    }

    /// What a host describes: its own chips, its PCIe devices counted from 0, and links that leave to other hosts' chips.
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
        };
        for (id, chip) in (0..).zip(&mut part.chips) {
            chip.file_id = id;
            chip.host = 0;
        }
        part.renumber();
        part.outward.sort_unstable();
        part
    }

    /// Ways of base firmware: each host's chips route to one another alone.
    pub fn firmware_routes(&self) -> Routes {
        let within = |(a, b): &&(EthId, EthId)| self.host_of(a.chip) == self.host_of(b.chip);
        let links: Vec<_> = self.links.iter().filter(within).copied().collect();
        Routes::new(self.chips.len() as u16, &links)
    }

    /// Unique ids of the chips of all hosts but these, each with its host's name.
    pub fn chips_of_others(&self, hosts: &BTreeSet<u16>) -> Vec<(u64, String)> {
        let others = self.chips.iter().filter(|chip| !hosts.contains(&chip.host));
        others.filter_map(|chip| Some((chip.unique_id?, self.host_name(chip.host)))).collect()
    }
}
