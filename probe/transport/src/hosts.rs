//! Machines of several hosts: the devices of one host, and several machines joined into one.

use layouts::{ChipKind, ClusterDescriptor};
use machine::bar::{Bar, BarOp, DeviceBatch, Elsewhere, Sharing};
use machine::clients::{Client, Holder};
use machine::fault::{ChipAddress, Fault};
use machine::snapshot::{AccessError, StoppedCore};

/// The devices of one host, counted from 0.
pub struct HostBar {
    bar: Box<dyn Bar>,
    first: u8,
    count: u8,
    elsewhere: Vec<Elsewhere>,
}

impl HostBar {
    /// Shows `count` devices of a machine from `first` on; `elsewhere` lists the chips of other
    /// hosts.
    pub fn new(bar: Box<dyn Bar>, first: u8, count: u8, elsewhere: Vec<Elsewhere>) -> Self {
        Self { bar, first, count, elsewhere }
    }

    /// Shows the devices of one host of a described mesh, in the order of the mesh's chips.
    pub fn of(descriptor: &ClusterDescriptor, host: u16, bar: Box<dyn Bar>) -> Self {
        let devices = (0..).zip(descriptor.chips.iter().filter(|chip| chip.pcie.is_some()));
        let own: Vec<u8> = devices.filter(|(_, c)| c.host == host).map(|(d, _)| d).collect();
        let others = descriptor.chips_of_others(&[host].into()).into_iter();
        let elsewhere = others.map(|(unique_id, host)| Elsewhere { unique_id, host }).collect();
        // Of no devices none is the first.
        let first = own.first().map_or(0, |first| *first);
        Self::new(bar, first, own.len() as u8, elsewhere)
    }

    fn device(&self, device: u8) -> Option<u8> {
        (device < self.count).then(|| self.first.checked_add(device)).flatten()
    }

    /// Returns a chip's address in the whole machine; none for a device that this host does not have.
    fn chip_at(&self, at: ChipAddress) -> Option<ChipAddress> {
        Some(match at {
            ChipAddress::Device(device) => ChipAddress::Device(self.device(device)?),
            ChipAddress::Position(_) => at,
        })
    }

    /// Returns the operation with the whole machine's device number; none for a device that this
    /// host does not have.
    fn translated(&self, op: &BarOp) -> Option<BarOp> {
        let mut op = op.clone();
        if let Some(device) = device_of(&mut op) {
            *device = self.device(*device)?;
        }
        Some(op)
    }
}

/// Returns the device of an operation.
fn device_of(op: &mut BarOp) -> Option<&mut u8> {
    match op {
        BarOp::ConfigRead { device, .. }
        | BarOp::Read { device, .. }
        | BarOp::Write { device, .. }
        | BarOp::Point { device, .. } => Some(device),
        BarOp::Pass { .. } | BarOp::Now => None,
    }
}

fn absent() -> AccessError {
    AccessError::Unreachable("this host has no such device".into())
}

impl Bar for HostBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        // An empty slot of the bus answers all ones.
        if let [BarOp::ConfigRead { device, .. }] = batch
            && self.device(*device).is_none()
        {
            answer.extend([0xFF; 4]);
            return Ok(());
        }
        let batch: Option<Vec<BarOp>> = batch.iter().map(|op| self.translated(op)).collect();
        self.bar.submit(&batch.ok_or_else(absent)?, answer)
    }

    fn chip(&self) -> ChipKind {
        self.bar.chip()
    }

    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        let (mut numbers, mut forwarded) = (Vec::new(), Vec::new());
        for (number, batch) in batches.iter_mut().enumerate() {
            let ops = batch.batch.iter().map(|op| self.translated(op));
            match self.device(batch.device).zip(ops.collect()) {
                Some((device, ops)) => {
                    numbers.push(number);
                    forwarded.push(DeviceBatch::new(device, ops));
                }
                None => batch.result = Err(absent()),
            }
        }
        self.bar.submit_parallel(&mut forwarded);
        for (number, DeviceBatch { answer, result, .. }) in numbers.into_iter().zip(forwarded) {
            let Some(batch) = batches.get_mut(number) else { continue };
            (batch.answer, batch.result) = (answer, result);
        }
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        let device = self.device(device).ok_or_else(absent)?;
        self.bar.windows(device)
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        let device = self.device(device).ok_or_else(absent)?;
        self.bar.lock_queues(device)
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        let device = self.device(device).ok_or_else(absent)?;
        self.bar.unlock_queues(device)
    }

    fn holders(&mut self, device: u8) -> Vec<Holder> {
        self.device(device).map_or_else(Vec::new, |device| self.bar.holders(device))
    }

    fn card(&mut self, device: u8) -> Option<u16> {
        let device = self.device(device)?;
        self.bar.card(device)
    }

    fn give_back(&mut self) {
        self.bar.give_back();
    }

    fn announce(&mut self, change: &str) {
        self.bar.announce(change);
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.bar.disrupt(self.chip_at(at).ok_or_else(absent)?, fault)
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        let own = chips.iter().enumerate().filter_map(|(i, at)| Some((i, self.chip_at(*at)?)));
        let (places, own): (Vec<_>, Vec<_>) = own.unzip();
        let stopped = self.bar.stopped_cores(&own).into_iter();
        stopped.filter_map(|(i, core)| Some((*places.get(i)?, core))).collect()
    }

    fn remarks(&mut self) -> Vec<String> {
        self.bar.remarks()
    }

    fn most_devices(&self) -> u8 {
        self.count
    }

    fn elsewhere(&self) -> Vec<Elsewhere> {
        self.elsewhere.clone()
    }
}

/// Machines of several hosts joined into one: the devices of the first machine, then those of the
/// second, and so on.
pub struct JoinedBar {
    /// The machines with their device counts.
    bars: Vec<(Box<dyn Bar>, u8)>,
    chip: ChipKind,
}

impl JoinedBar {
    /// Joins machines.
    ///
    /// # Errors
    /// When a machine does not answer.
    pub fn new(bars: Vec<Box<dyn Bar>>) -> Result<Self, AccessError> {
        let chip = bars.first().map(|bar| bar.chip()).ok_or_else(absent)?;
        if bars.iter().any(|bar| bar.chip() != chip) {
            return Err(AccessError::Refused("their chips are of different kinds".into()));
        }
        let counted = |mut bar: Box<dyn Bar>| {
            let most = bar.most_devices();
            for device in 0..most {
                let mut id = Vec::new();
                bar.submit(&[BarOp::ConfigRead { device, offset: 0 }], &mut id)?;
                let id = id.first_chunk().map(|id| u32::from_le_bytes(*id));
                if id != Some(chip.bar().config_id()) {
                    return Ok((bar, device));
                }
            }
            Ok((bar, most))
        };
        let bars = bars.into_iter().map(counted).collect::<Result<_, AccessError>>()?;
        Ok(Self { bars, chip })
    }

    /// Returns the index of the bar that has a device, and the device's number there.
    fn place(&self, device: u8) -> Option<(usize, u8)> {
        let mut left = device;
        for (index, (_, count)) in self.bars.iter().enumerate() {
            if left < *count {
                return Some((index, left));
            }
            left -= count;
        }
        None
    }

    fn at(&mut self, device: u8) -> Option<(&mut Box<dyn Bar>, u8)> {
        let (index, device) = self.place(device)?;
        self.bars.get_mut(index).map(|(bar, _)| (bar, device))
    }
}

impl Bar for JoinedBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let mut rest = batch;
        while let Some(first) = rest.first() {
            if let BarOp::Pass { .. } = first {
                for (bar, _) in &mut self.bars {
                    bar.submit(&rest[..1], answer)?;
                }
                rest = &rest[1..];
                continue;
            }
            // Consecutive operations for one machine go there in one batch. The first machine keeps
            // the time.
            let mut part = Vec::new();
            let mut bar_index = None;
            for op in rest {
                let mut op = op.clone();
                let asks_time = matches!(op, BarOp::Now);
                let index = match device_of(&mut op) {
                    Some(device) => match self.place(*device) {
                        Some((index, own_device)) => {
                            *device = own_device;
                            index
                        }
                        None => usize::MAX,
                    },
                    None if asks_time => bar_index.unwrap_or(0),
                    None => break,
                };
                if *bar_index.get_or_insert(index) != index {
                    break;
                }
                part.push(op);
            }
            let expected = answer.len() + part.iter().map(BarOp::answer_len).sum::<usize>();
            match self.bars.get_mut(bar_index.unwrap_or(0)) {
                Some((bar, _)) => bar.submit(&part, answer)?,
                // No such device: an empty slot of the bus answers ones.
                None if part.iter().all(|op| matches!(op, BarOp::ConfigRead { .. })) => {
                    answer.resize(expected, 0xFF);
                }
                None => return Err(absent()),
            }
            if answer.len() < expected {
                break;
            }
            rest = &rest[part.len()..];
        }
        Ok(())
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        let (bar, device) = self.at(device).ok_or_else(absent)?;
        bar.windows(device)
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        let (bar, device) = self.at(device).ok_or_else(absent)?;
        bar.lock_queues(device)
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        let (bar, device) = self.at(device).ok_or_else(absent)?;
        bar.unlock_queues(device)
    }

    fn writer(&mut self) -> Option<Client> {
        self.bars.iter_mut().find_map(|(bar, _)| bar.writer())
    }

    fn holders(&mut self, device: u8) -> Vec<Holder> {
        self.at(device).map_or_else(Vec::new, |(bar, device)| bar.holders(device))
    }

    fn card(&mut self, device: u8) -> Option<u16> {
        let (bar, device) = self.at(device)?;
        bar.card(device)
    }

    fn give_back(&mut self) {
        for (bar, _) in &mut self.bars {
            bar.give_back();
        }
    }

    fn announce(&mut self, change: &str) {
        for (bar, _) in &mut self.bars {
            bar.announce(change);
        }
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        match at {
            ChipAddress::Device(device) => {
                let (bar, device) = self.at(device).ok_or_else(absent)?;
                bar.disrupt(ChipAddress::Device(device), fault)
            }
            ChipAddress::Position(_) => {
                let mut tried = self.bars.iter_mut().map(|(bar, _)| bar.disrupt(at, fault));
                tried.find(Result::is_ok).unwrap_or_else(|| Err(Fault::unsupported()))
            }
        }
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        let mut found = Vec::new();
        for (i, at) in chips.iter().enumerate() {
            let (bar, at) = match at {
                ChipAddress::Device(device) => match self.at(*device) {
                    Some((bar, device)) => (bar, ChipAddress::Device(device)),
                    None => continue,
                },
                // The machines are parts of one mesh, which the first one has whole.
                ChipAddress::Position(_) => match self.bars.first_mut() {
                    Some((bar, _)) => (bar, *at),
                    None => continue,
                },
            };
            found.extend(bar.stopped_cores(&[at]).into_iter().map(|(_, core)| (i, core)));
        }
        found
    }

    fn remarks(&mut self) -> Vec<String> {
        self.bars.iter_mut().flat_map(|(bar, _)| bar.remarks()).collect()
    }

    fn most_devices(&self) -> u8 {
        self.bars.iter().fold(0, |sum: u8, (_, count)| sum.saturating_add(*count))
    }

    /// Returns the chips that no machine of the list has.
    fn elsewhere(&self) -> Vec<Elsewhere> {
        let mut all = self.bars.iter().map(|(bar, _)| bar.elsewhere());
        let Some(mut unreached) = all.next() else { return Vec::new() };
        for others in all {
            unreached.retain(|chip| others.contains(chip));
        }
        unreached
    }
}
