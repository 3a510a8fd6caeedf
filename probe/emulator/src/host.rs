//! The host's way in: config space, BARs, and the journal of what was done.

use crate::bar;
use crate::condition::{Actor, Condition};
use crate::journal::{HostAction, Journal, JournalEntry};
use crate::mesh::Mesh;
use crate::pci;

impl Mesh {
    /// Reads 4 bytes of PCI config space; all ones where there is no device.
    pub fn config_read(&mut self, device: usize, offset: u32) -> u32 {
        let (value, cycles) = self.begin_config_read(device, offset);
        self.clock(cycles);
        value
    }

    /// The same at the present cycle, for a host that does more than one thing at a time: no time passes. The value, and
    /// the cycles that the access takes.
    pub fn begin_config_read(&mut self, device: usize, offset: u32) -> (u32, u64) {
        self.note(|| HostAction::ConfigRead { device, offset });
        let space = self.spaces.get(device).filter(|_| offset.is_multiple_of(4));
        let value = space.map_or(u32::MAX, |space| space.read(offset));
        (value, self.timing.host_config_read)
    }

    /// Writes 4 bytes of PCI config space, of which few bits take: a host may ask how large a BAR is,
    /// and none moves. Nothing happens where there is no device.
    pub fn config_write(&mut self, device: usize, offset: u32, value: u32) {
        self.note(|| HostAction::ConfigWrite { device, offset, value });
        if let Some(space) = self.spaces.get_mut(device).filter(|_| offset.is_multiple_of(4)) {
            space.write(offset, value);
        }
        self.clock(self.timing.host_write);
    }

    /// Reads bytes at a bus address, as [`Mesh::bar_read`] does by device and BAR. An address that is
    /// in no BAR reads as all ones and is noted as a condition.
    pub fn bus_read(&mut self, address: u64, out: &mut [u8]) {
        if let Some((device, bar, offset)) = pci::place(address) {
            return self.bar_read(device, bar, offset, out);
        }
        out.fill(0xFF);
        self.nowhere(address);
    }

    /// Writes bytes at a bus address; see [`Mesh::bus_read`].
    pub fn bus_write(&mut self, address: u64, data: &[u8]) {
        match pci::place(address) {
            Some((device, bar, offset)) => self.bar_write(device, bar, offset, data),
            None => self.nowhere(address),
        }
    }

    fn nowhere(&mut self, address: u64) {
        let device = pci::device_at(address);
        let chip = self.devices.get(device).copied().unwrap_or(0);
        self.host_condition(chip, device, "no-such-bus-address", address);
    }

    /// Reads bytes of a BAR. What is refused reads as all ones after a long time, and is noted as a condition.
    pub fn bar_read(&mut self, device: usize, bar: u8, offset: u64, out: &mut [u8]) {
        let cycles = self.begin_read(device, bar, offset, out);
        self.clock(cycles);
    }

    /// The same at the present cycle, for a host that does more than one thing at a time: no time passes. The cycles that the
    /// access takes.
    pub fn begin_read(&mut self, device: usize, bar: u8, offset: u64, out: &mut [u8]) -> u64 {
        let len = out.len();
        self.note(|| HostAction::Read { device, bar, offset, len });
        if let (2, Some(&chip)) = (bar, self.devices.get(device)) {
            return self.bar2_read(device, chip, offset, out);
        }
        let mut cost = self.timing.host_read.saturating_mul(len.div_ceil(64) as u64);
        let mut done = 0;
        if let Some((chip, mut at)) = self.locate(device, bar, offset, len) {
            while done < len {
                let (part, _) = bar::split(at, len - done);
                let slot = &mut out[done..done + part];
                let now = self.now;
                let dead = self.chips[chip].dead;
                let read = if dead {
                    Err(None)
                } else {
                    self.chips[chip].host_read(at, slot, now).map_err(Some)
                };
                if let Err(refused) = read {
                    slot.fill(0xFF);
                    if refused.is_some() || bar::in_window(at) {
                        cost = cost.max(self.timing.host_dead_read);
                    }
                    if let Some(refused) = refused {
                        self.chips[chip].host_refused(chip, device, refused, now);
                    }
                }
                (done, at) = (done + part, at + part as u64);
            }
        } else {
            out.fill(0xFF);
            cost = cost.max(self.timing.host_dead_read);
        }
        cost
    }

    /// Writes bytes of a BAR. What is refused has no effect, and is noted as a condition.
    pub fn bar_write(&mut self, device: usize, bar: u8, offset: u64, data: &[u8]) {
        let cycles = self.begin_write(device, bar, offset, data);
        self.clock(cycles);
    }

    /// The same at the present cycle, as [`Mesh::begin_read`] reads.
    pub fn begin_write(&mut self, device: usize, bar: u8, offset: u64, data: &[u8]) -> u64 {
        self.note(|| HostAction::Write { device, bar, offset, bytes: data.to_vec() });
        if let (2, Some(&chip)) = (bar, self.devices.get(device)) {
            return self.bar2_write(device, chip, offset, data);
        }
        let mut done = 0;
        if let Some((chip, mut at)) = self.locate(device, bar, offset, data.len()) {
            while done < data.len() && !self.chips[chip].dead {
                let (part, _) = bar::split(at, data.len() - done);
                let now = self.now;
                let written = self.chips[chip].host_write(at, &data[done..done + part], now);
                if let Err(refused) = written {
                    self.chips[chip].host_refused(chip, device, refused, now);
                }
                (done, at) = (done + part, at + part as u64);
            }
        }
        self.reset_asked();
        self.timing.host_write.saturating_mul(data.len().div_ceil(64) as u64)
    }

    /// Chip and BAR0 offset of a range of a BAR, or a condition.
    fn locate(&mut self, device: usize, bar: u8, offset: u64, len: usize) -> Option<(usize, u64)> {
        let chip = self.devices.get(device).copied();
        let at = bar::bar0_offset(bar, offset, len);
        let name = match (chip, at) {
            (Some(chip), Some(at)) => return Some((chip, at)),
            (None, _) => "no-such-device",
            _ => "outside-the-bar",
        };
        self.host_condition(chip.unwrap_or(0), device, name, offset);
        None
    }

    fn host_condition(&mut self, chip: usize, device: usize, name: &'static str, addr: u64) {
        self.conditions.push(Condition {
            cycle: self.now,
            chip,
            tile: None,
            actor: Actor::Host { device },
            name,
            addr,
            detail: String::new(),
        });
    }

    /// Starts or ends the recording of what is done from outside. Starting empties the journal.
    pub fn record(&mut self, on: bool) {
        self.journal = on.then(Journal::default);
    }

    /// What was recorded since [`Mesh::record`]; `None` if nothing is.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    pub(crate) fn note(&mut self, action: impl FnOnce() -> HostAction) {
        if let Some(journal) = &mut self.journal {
            journal.entries.push(JournalEntry { cycle: self.now, action: action() });
        }
    }

    /// Does again what a journal tells, each at its cycle, and returns what the reads gave, one after the other. Deeds of
    /// cycles that are over are done at once. Returns when the last access is over.
    pub fn replay(&mut self, journal: &Journal) -> Vec<u8> {
        let (mut answers, mut end) = (Vec::new(), self.now);
        for entry in &journal.entries {
            self.clock(entry.cycle.saturating_sub(self.now));
            let mut cycles = 0;
            match &entry.action {
                HostAction::ConfigRead { device, offset } => {
                    let read = self.begin_config_read(*device, *offset);
                    answers.extend(read.0.to_le_bytes());
                    cycles = read.1;
                }
                HostAction::ConfigWrite { device, offset, value } => {
                    self.config_write(*device, *offset, *value);
                }
                HostAction::Read { device, bar, offset, len } => {
                    let start = answers.len();
                    answers.resize(start + len, 0);
                    cycles = self.begin_read(*device, *bar, *offset, &mut answers[start..]);
                }
                HostAction::Write { device, bar, offset, bytes } => {
                    cycles = self.begin_write(*device, *bar, *offset, bytes);
                }
                HostAction::Link { link, up } => self.set_link(*link, *up),
                HostAction::Disrupt { what, from_cycle, until_cycle } => {
                    self.disrupt(*what, *from_cycle, *until_cycle);
                }
                HostAction::Reset { chip } => self.reset_chip(*chip),
            }
            end = end.max(self.now.saturating_add(cycles));
        }
        self.clock(end - self.now);
        answers
    }
}
