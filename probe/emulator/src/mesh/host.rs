//! Host access: config space, BARs, and the journal of host actions.

use super::Mesh;
use super::bar::{self, Source};
use crate::condition::{Actor, Condition};
use crate::devices::pci;
use crate::devices::tape::HostTape;
use crate::past::journal::{HostAction, Journal, JournalEntry};
use crate::past::keeper::Keeper;
use crate::past::{History, HistoryLimits, HistorySize};
use std::sync::Arc;

impl Mesh {
    /// Reads 4 bytes of PCI config space; all ones if there is no such device.
    pub fn config_read(&mut self, device: usize, offset: u32) -> u32 {
        let (value, cycles) = self.begin_config_read(device, offset);
        self.clock(cycles);
        value
    }

    /// Reads config space without advancing time, for a host with several accesses in flight.
    /// Returns the value and the cycles that the access takes.
    pub fn begin_config_read(&mut self, device: usize, offset: u32) -> (u32, u64) {
        self.note(|| HostAction::ConfigRead { device, offset });
        let space = self.spaces.get(device).filter(|_| offset.is_multiple_of(4));
        let value = space.map_or(u32::MAX, |space| space.read(offset));
        (value, self.timing.host_config_read)
    }

    /// Writes 4 bytes of PCI config space, most of whose bits are read-only: a host can query the
    /// size of a BAR but not move it. Does nothing if there is no such device.
    pub fn config_write(&mut self, device: usize, offset: u32, value: u32) {
        let cycles = self.begin_config_write(device, offset, value);
        self.clock(cycles);
    }

    fn begin_config_write(&mut self, device: usize, offset: u32, value: u32) -> u64 {
        self.note(|| HostAction::ConfigWrite { device, offset, value });
        if let Some(space) = self.spaces.get_mut(device).filter(|_| offset.is_multiple_of(4)) {
            space.write(offset, value);
        }
        self.timing.host_write
    }

    /// Reads bytes at a bus address, as [`Mesh::bar_read`] does by device and BAR. An address in no
    /// BAR reads as all ones and is recorded as a condition.
    pub fn bus_read(&mut self, address: u64, out: &mut [u8]) {
        if let Some((device, bar, offset)) = pci::place(address) {
            return self.bar_read(device, bar, offset, out);
        }
        out.fill(0xFF);
        self.no_such_address(address);
    }

    /// Writes bytes at a bus address; see [`Mesh::bus_read`].
    pub fn bus_write(&mut self, address: u64, data: &[u8]) {
        match pci::place(address) {
            Some((device, bar, offset)) => self.bar_write(device, bar, offset, data),
            None => self.no_such_address(address),
        }
    }

    fn no_such_address(&mut self, address: u64) {
        self.note(|| HostAction::NoSuchAddress { address });
        let device = pci::device_at(address);
        let chip = self.devices.get(device).copied().unwrap_or(0);
        self.host_condition(chip, device, "no-such-bus-address", address);
    }

    /// Reads bytes of a BAR. A refused read returns all ones after a long time and is recorded as a
    /// condition.
    pub fn bar_read(&mut self, device: usize, bar: u8, offset: u64, out: &mut [u8]) {
        let cycles = self.begin_read(device, bar, offset, out);
        self.clock(cycles);
    }

    /// Reads bytes of a BAR without advancing time, for a host with several accesses in flight.
    /// Returns the cycles that the access takes.
    pub fn begin_read(&mut self, device: usize, bar: u8, offset: u64, out: &mut [u8]) -> u64 {
        let len = out.len();
        let action = || HostAction::Read { device, bar, offset, len };
        if let (2, Some(&chip)) = (bar, self.devices.get(device)) {
            self.note(action);
            return self.bar2_read(device, chip, offset, out);
        }
        let mut only_l1 = true;
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
                only_l1 &= read == Ok(Source::L1);
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
            only_l1 = false;
        }
        if only_l1 {
            self.note_answer(action);
        } else {
            self.note(action);
        }
        cost
    }

    /// Writes bytes of a BAR. A refused write has no effect and is recorded as a condition.
    pub fn bar_write(&mut self, device: usize, bar: u8, offset: u64, data: &[u8]) {
        let cycles = self.begin_write(device, bar, offset, data);
        self.clock(cycles);
    }

    /// Writes bytes of a BAR without advancing time; see [`Mesh::begin_read`].
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
        self.apply_reset_requests();
        self.timing.host_write.saturating_mul(data.len().div_ceil(64) as u64)
    }

    /// Returns chip and BAR0 offset of a range of a BAR; records a condition if there is none.
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

    /// Starts or ends the recording of host actions. Starting empties the journal.
    pub fn record(&mut self, on: bool) {
        self.journal = on.then(Journal::default);
    }

    /// Begins to keep the past from this cycle on, or ends it and drops what was kept.
    pub fn keep_history(&mut self, limits: Option<HistoryLimits>) {
        self.keep_history_with(limits.map(|limits| {
            // As much as of the host's actions: neither can be thinned out.
            (limits, Arc::new(HostTape::new(limits.bytes / 2)))
        }));
    }

    /// Begins to keep the past, or ends it; without host memory, with these answers of it.
    pub(crate) fn keep_history_with(&mut self, kept: Option<(HistoryLimits, Arc<HostTape>)>) {
        self.keeper = None;
        for (index, chip) in self.chips.iter_mut().enumerate() {
            if let Some(endpoint) = chip.host_endpoint() {
                endpoint.tape = kept.as_ref().map(|(_, tape)| (index, Arc::clone(tape)));
            }
        }
        if let Some((limits, tape)) = kept {
            let first = self.checkpoint();
            self.keeper = Some(Box::new(Keeper::new(first, tape, limits)));
        }
    }

    /// Keeps a checkpoint of the present, so that searches back from it are quick, unless one is near.
    pub fn keep_present(&mut self) {
        if self.keeper.as_ref().is_some_and(|keeper| keeper.has_room(self.now)) {
            self.keep_checkpoint();
        }
    }

    /// Returns the past up to this cycle; `None` unless [`Mesh::keep_history`] keeps it.
    pub fn history(&self) -> Option<History> {
        let keeper = self.keeper.as_ref().filter(|keeper| !keeper.is_full());
        keeper.map(|keeper| keeper.history.up_to(self.now))
    }

    /// Returns how much of the past is kept; `None` as [`Mesh::history`].
    pub fn history_size(&self) -> Option<HistorySize> {
        let keeper = self.keeper.as_ref().filter(|keeper| !keeper.is_full());
        keeper.map(|keeper| keeper.size(self.now))
    }

    /// Returns the journal since [`Mesh::record`]; `None` if recording is off.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    pub(crate) fn note(&mut self, action: impl FnOnce() -> HostAction) {
        if self.journal.is_none() && self.keeper.is_none() {
            return;
        }
        let entry = JournalEntry { cycle: self.now, action: action() };
        if let Some(keeper) = &mut self.keeper {
            keeper.note(&entry);
        }
        if let Some(journal) = &mut self.journal {
            journal.push(&entry);
        }
    }

    /// Takes note of an action without effect on the mesh: the past does without it.
    fn note_answer(&mut self, action: impl FnOnce() -> HostAction) {
        if let Some(journal) = &mut self.journal {
            journal.push(&JournalEntry { cycle: self.now, action: action() });
        }
    }

    /// Replays a journal, each action at its cycle, and returns the concatenated results of the
    /// reads. Actions of past cycles are applied at once. Returns after the end of the last access.
    pub fn replay(&mut self, journal: &Journal) -> Vec<u8> {
        let (mut answers, mut end) = (Vec::new(), self.now);
        for entry in journal.entries() {
            self.clock(entry.cycle.saturating_sub(self.now));
            let cycles = self.act(&entry.action, &mut answers);
            end = end.max(self.now.saturating_add(cycles));
        }
        self.clock(end - self.now);
        answers
    }

    /// Repeats an action, without advancing time. Appends the result of a read and returns the
    /// cycles that the action takes.
    pub(crate) fn act(&mut self, action: &HostAction, answers: &mut Vec<u8>) -> u64 {
        match action {
            HostAction::ConfigRead { device, offset } => {
                let read = self.begin_config_read(*device, *offset);
                answers.extend(read.0.to_le_bytes());
                return read.1;
            }
            HostAction::ConfigWrite { device, offset, value } => {
                return self.begin_config_write(*device, *offset, *value);
            }
            HostAction::Read { device, bar, offset, len } => {
                let start = answers.len();
                answers.resize(start + len, 0);
                return self.begin_read(*device, *bar, *offset, &mut answers[start..]);
            }
            HostAction::Write { device, bar, offset, bytes } => {
                return self.begin_write(*device, *bar, *offset, bytes);
            }
            HostAction::NoSuchAddress { address } => self.no_such_address(*address),
            HostAction::Link { link, up } => self.set_link(*link, *up),
            HostAction::Disrupt { what, from_cycle, until_cycle } => {
                self.disrupt(*what, *from_cycle, *until_cycle);
            }
            HostAction::Reset { chip } => self.reset_chip(*chip),
        }
        0
    }
}
