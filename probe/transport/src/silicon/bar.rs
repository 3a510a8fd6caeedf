//! All devices of the driver, or one of them, as one bus.
//!
//! * Devices count from 0 in the order of their device files, without those that failed to open.
//! * The driver points the windows (CONFIGURE_TLB). It has no static virtual channel for a
//!   Wormhole, so that writes through a window in default order may overtake each other. No code
//!   relies on that order: written memory is read back through the same window before it counts,
//!   and writes whose order matters (queues, registers) use strict windows (wormhole.md 1.4).
//! * Config space is reduced to the ids, which the driver reports.
//! * Time is the host's, in nanoseconds since the devices were opened: the clocks of the chips
//!   differ and change with power, and reading one would cost an access each time.

use super::device::Device;
use super::error::{DeviceError, named};
use super::holders::Processes;
use super::kmd::{Driver, FOLDER, LockAction};
use super::os::KernelDriver;

use layouts::ChipKind;
use machine::bar::{Bar, BarOp, DeviceBatch, Sharing};
use machine::clients::Holder;
use machine::snapshot::AccessError;
use std::collections::BTreeMap;
use std::path::Path;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The lock that UMD holds during each request through the routing queues (wormhole.md 2.3). Older
/// versions of UMD, and luwen, do not use it.
const QUEUE_LOCK: u8 = 18;
/// How long to wait for that lock, and how often to try: UMD holds it for one request.
const LOCK_PATIENCE: Duration = Duration::from_millis(250);
const LOCK_PAUSE: Duration = Duration::from_micros(200);
/// Shorter times are spent in a loop: sleeping takes longer.
const SHORTEST_SLEEP: Duration = Duration::from_micros(100);
/// How long a list of holders stays valid.
const HOLDERS_AGE: Duration = Duration::from_secs(1);

/// The devices of tt-kmd behind one trait.
pub struct SiliconBar {
    driver: Arc<dyn Driver>,
    devices: Vec<Device>,
    chip: ChipKind,
    remarks: Vec<String>,
    opened: Instant,
    holders: BTreeMap<u8, (Instant, Vec<Holder>)>,
}

impl SiliconBar {
    /// Opens the devices that `words` names: `silicon` for all devices, or the path of a device
    /// file.
    ///
    /// # Errors
    /// When no device can be opened: the first failure. Otherwise `remarks` reports the devices
    /// that failed.
    pub fn open(words: &str) -> Result<Self, DeviceError> {
        let driver = Arc::new(KernelDriver { folder: FOLDER.into() });
        match words {
            "silicon" => Self::all(driver),
            path => Self::over(driver, &[number(Path::new(path))?]),
        }
    }

    /// Opens all devices of a driver.
    pub(super) fn all(driver: Arc<dyn Driver>) -> Result<Self, DeviceError> {
        let numbers = driver.devices()?;
        if numbers.is_empty() {
            return Err(DeviceError::NoDevice { path: FOLDER.to_owned() });
        }
        Self::over(driver, &numbers)
    }

    /// Opens some devices of a driver.
    pub(super) fn over(driver: Arc<dyn Driver>, numbers: &[u16]) -> Result<Self, DeviceError> {
        let (mut devices, mut failures) = (Vec::<Device>::new(), Vec::new());
        for &number in numbers {
            match Device::open(&*driver, number) {
                Ok(device) => devices.push(device),
                Err(error) => failures.push(error),
            }
        }
        let Some(chip) = devices.first().map(Device::chip) else {
            let none = DeviceError::NoDevice { path: FOLDER.to_owned() };
            return Err(failures.into_iter().next().unwrap_or(none));
        };
        let remarks = failures.iter().map(ToString::to_string).collect();
        Ok(Self {
            driver,
            devices,
            chip,
            remarks,
            opened: Instant::now(),
            holders: BTreeMap::new(),
        })
    }

    fn all_devices(&mut self) -> DeviceGroup<'_> {
        DeviceGroup {
            driver: &*self.driver,
            devices: &mut self.devices,
            first: 0,
            opened: self.opened,
        }
    }

    fn device(&mut self, device: u8) -> Result<&mut Device, AccessError> {
        let none = || AccessError::Unreachable(format!("no device {device}"));
        let found = self.devices.get_mut(usize::from(device)).ok_or_else(none)?;
        found.resume(&*self.driver)?;
        Ok(found)
    }
}

/// Some of the devices, used by one thread.
struct DeviceGroup<'a> {
    driver: &'a dyn Driver,
    devices: &'a mut [Device],
    /// Number of the first device.
    first: u8,
    opened: Instant,
}

impl DeviceGroup<'_> {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for op in batch {
            self.carry_out(op, answer)?;
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }

    fn device(&mut self, device: u8) -> Result<&mut Device, AccessError> {
        let none = || AccessError::Unreachable(format!("no device {device}"));
        let at = device.checked_sub(self.first).map(usize::from);
        let found = at.and_then(|at| self.devices.get_mut(at)).ok_or_else(none)?;
        found.resume(self.driver)?;
        Ok(found)
    }

    fn carry_out(&mut self, op: &BarOp, answer: &mut Vec<u8>) -> Result<(), AccessError> {
        match op {
            BarOp::ConfigRead { device, offset } => {
                answer.extend(self.config(*device, *offset)?.to_le_bytes());
            }
            BarOp::Read { device, bar: 0, offset, len, .. } => {
                self.device(*device)?.read(*offset, *len, answer)?;
            }
            BarOp::Write { device, bar: 0, offset, bytes } => {
                self.device(*device)?.write(*offset, bytes)?;
            }
            BarOp::Read { bar, .. } | BarOp::Write { bar, .. } => {
                return Err(AccessError::Refused(format!("BAR {bar} must not be accessed")));
            }
            BarOp::Point { device, window, x, y, page, order } => {
                self.device(*device)?.point(*window, (*x, *y), *page, *order)?;
            }
            BarOp::Pass { cycles } => pass(Duration::from_nanos(*cycles)),
            BarOp::Now => answer.extend(self.now()?.to_le_bytes()),
        }
        Ok(())
    }

    /// Reads config space; all ones without a device, as on a bus.
    fn config(&self, device: u8, offset: u16) -> Result<u32, AccessError> {
        let at = device.checked_sub(self.first).map(usize::from);
        match at.and_then(|at| self.devices.get(at)) {
            None => Ok(u32::MAX),
            Some(opened) if offset == 0 => {
                opened.gone().cloned().map_or(Ok(opened.chip().bar().config_id()), Err)
            }
            Some(_) => Err(AccessError::Refused("only the ids of config space can be read".into())),
        }
    }

    /// Returns the time; fails when all devices are gone.
    fn now(&self) -> Result<u64, AccessError> {
        let left = self.devices.iter().any(|device| device.gone().is_none());
        match self.devices.iter().find_map(Device::gone) {
            Some(gone) if !left => Err(gone.clone()),
            _ => Ok(self.opened.elapsed().as_nanos() as u64),
        }
    }
}

/// Returns the number of a device file, or of the device file that a link leads to.
fn number(path: &Path) -> Result<u16, DeviceError> {
    let plain = |path: &Path| path.strip_prefix(FOLDER).ok()?.to_str()?.parse().ok();
    if let Some(number) = plain(path) {
        return Ok(number);
    }
    let text = || path.display().to_string();
    let real = std::fs::canonicalize(path).map_err(|_| DeviceError::NoDevice { path: text() })?;
    let not_a_device =
        || DeviceError::NotADevice { path: text(), what: format!("a link to {}", real.display()) };
    plain(&real).ok_or_else(not_a_device)
}

fn pass(time: Duration) {
    let start = Instant::now();
    if time >= SHORTEST_SLEEP {
        std::thread::sleep(time);
    }
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

impl Bar for SiliconBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        self.all_devices().submit(batch, answer)
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    /// A thread for each device: a core waits for what it reads over PCIe.
    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        let (opened, driver) = (self.opened, &*self.driver);
        let mut devices: BTreeMap<u8, &mut Device> = (0..).zip(&mut self.devices).collect();
        std::thread::scope(|scope| {
            for DeviceBatch { device, batch, answer, result } in batches {
                let devices = devices.remove(device).map_or(&mut [][..], slice::from_mut);
                let mut group = DeviceGroup { driver, devices, first: *device, opened };
                scope.spawn(move || *result = group.submit(batch, answer));
            }
        });
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        Ok(self.device(device)?.indices().to_vec())
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        let start = Instant::now();
        let opened = self.device(device)?;
        while !opened.lock(QUEUE_LOCK, LockAction::Acquire)? {
            if start.elapsed() > LOCK_PATIENCE {
                let holders = Processes::default().holding(opened.number);
                return Err(AccessError::Unreachable(format!(
                    "the routing queues of {FOLDER}/{} are locked by another client; processes with the device open: {}",
                    opened.number,
                    named(&holders)
                )));
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        // The driver does not report whether another client held the lock in between.
        Ok(Sharing::Shared)
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        // Releasing a lock that this client does not hold has no effect.
        self.device(device)?.lock(QUEUE_LOCK, LockAction::Release).map(drop)
    }

    fn holders(&mut self, device: u8) -> Vec<Holder> {
        let Some(opened) = self.devices.get(usize::from(device)) else { return Vec::new() };
        let known = self.holders.get(&device);
        if let Some((_, holders)) = known.filter(|(when, _)| when.elapsed() < HOLDERS_AGE) {
            return holders.clone();
        }
        let holders = Processes::default().holding(opened.number);
        self.holders.insert(device, (Instant::now(), holders.clone()));
        holders
    }

    fn card(&mut self, device: u8) -> Option<u16> {
        self.devices.get(usize::from(device)).map(|device| device.number)
    }

    fn give_back(&mut self) {
        for device in &mut self.devices {
            device.give_back(&*self.driver);
        }
    }

    fn remarks(&mut self) -> Vec<String> {
        self.remarks.clone()
    }
}
