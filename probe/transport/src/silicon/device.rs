//! One open device: its windows, the few readable pages of BAR0, and detection of its loss.
//!
//! * Gone: the driver returns ENODEV or takes the mappings away after a reset or removal.
//! * Off the bus: every read returns all ones, even of the ARC's NIU node id (wormhole.md 1.6).
//! * Hung: a read returns all ones after more than [`HANG`]. Nothing else is accessed then, because
//!   repeated reads of a hung tile have taken hosts down.
//!
//! All ones may be a value. The checks run only after all ones were read and cost nothing
//! otherwise.

use super::error::DeviceError;
use super::identity::Identity;
use super::kmd::{self, Driver, DriverFile, LockAction};
use super::mapping::{Lost, Mapping, WORD};
use layouts::{ChipKind, Space};
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// Number of windows requested of each class, in the order of the classes: enough that reads of one
/// tile seldom reuse a window, and few of the 185 that all clients share.
const POOL: [usize; 3] = [16, 2, 4];
/// Size of the mappings outside of the windows.
const PAGE: u64 = 4096;
/// The PCIe controller answers a read of a hung tile after 200 ms at the earliest
/// (wormhole.md 1.6).
const HANG: Duration = Duration::from_millis(100);
/// The clock is read once per this number of words, so that a hang differs from a long block.
const WORDS_PER_MARK: u64 = 64;

/// One open device. The mappings come first, because they must be dropped before the file.
pub(super) struct Device {
    /// The kind of its chip.
    chip: ChipKind,
    /// Windows by BAR0 offset of their first byte.
    windows: BTreeMap<u64, Mapping>,
    /// Read-only pages of BAR0 outside of the windows, by offset.
    pages: BTreeMap<u64, Mapping>,
    /// Its open file, unless it is given back.
    node: Option<Box<dyn DriverFile>>,
    /// What the card was when it was given back.
    given_back: Option<Identity>,
    pub(super) number: u16,
    path: String,
    indices: Vec<u16>,
    bar0_map_offset: u64,
    /// Why the device is gone, permanently.
    gone: Option<AccessError>,
}

impl Device {
    /// Opens a device and allocates its windows.
    pub(super) fn open(driver: &dyn Driver, number: u16) -> Result<Self, DeviceError> {
        let node = driver.open(number)?;
        let path = format!("{}/{number}", super::kmd::FOLDER);
        let failed = |what| move |error: io::Error| refused(number, what, error);
        let (api, version) = kmd::driver_version(&*node).map_err(failed("querying its driver"))?;
        if api < 2 || version < [2, 0, 0] {
            return Err(DeviceError::OldDriver { path, api, version });
        }
        let (vendor, device) = kmd::device_ids(&*node).map_err(failed("querying its ids"))?;
        let id = u32::from(device) << 16 | u32::from(vendor);
        let Some(chip) = ChipKind::of_config_id(id) else {
            return Err(DeviceError::UnknownDevice { path, id });
        };
        let bar0 = kmd::bar0(&*node).map_err(failed("querying its mappings"))?;
        let no_bar0 = || failed("querying its mappings")(io::ErrorKind::NotFound.into());
        let (bar0_map_offset, _) = bar0.ok_or_else(no_bar0)?;
        let mut opened = Self {
            windows: BTreeMap::new(),
            pages: BTreeMap::new(),
            chip,
            node: Some(node),
            given_back: None,
            number,
            path,
            indices: Vec::new(),
            bar0_map_offset,
            gone: None,
        };
        opened.take_windows().map_err(failed("mapping a window"))?;
        // Mapped now, because this page is read when the chip may be failing.
        let probe = opened.map_page(chip.layout().arc_node_id(), WORD as u64);
        probe.map_err(|error| failed("mapping BAR0")(io::Error::other(error)))?;
        if opened.indices.is_empty() {
            let holders = super::holders::Processes::default().holding(number);
            return Err(DeviceError::NoWindows { path: opened.path, holders });
        }
        Ok(opened)
    }

    /// Allocates windows of each class, up to the number wanted.
    fn take_windows(&mut self) -> io::Result<()> {
        let node = self.node.as_deref().ok_or(io::ErrorKind::NotFound)?;
        for (class, wanted) in self.chip.bar().windows.iter().zip(POOL) {
            for _ in 0..wanted {
                let (index, offset) = match kmd::allocate_window(node, class.bytes) {
                    Ok(window) => window,
                    Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => break,
                    Err(error) => return Err(error),
                };
                let unknown =
                    || io::Error::other(format!("the driver returned the unknown window {index}"));
                let spec = self.chip.bar().window(index).filter(|spec| spec.bytes == class.bytes);
                let mapping = node.map(offset, class.bytes as usize)?;
                self.windows.insert(spec.ok_or_else(unknown)?.base, mapping);
                self.indices.push(index);
            }
        }
        Ok(())
    }

    /// Closes the device until it is resumed, if the card can be known again.
    pub(super) fn give_back(&mut self, driver: &dyn Driver) {
        if self.gone.is_some() || self.node.is_none() {
            return;
        }
        self.given_back = driver.identity(self.number);
        if self.given_back.is_some() {
            self.windows.clear();
            self.pages.clear();
            self.indices.clear();
            self.node = None;
        }
    }

    /// Opens the device again if it was given back. A card that was exchanged or reset meanwhile is
    /// gone, because nothing that was known of it holds.
    pub(super) fn resume(&mut self, driver: &dyn Driver) -> Result<(), AccessError> {
        let Some(before) = &self.given_back else { return Ok(()) };
        let fresh = Self::open(driver, self.number)
            .map_err(|error| AccessError::Unreachable(error.to_string()))?;
        // A later reset would take the open file away.
        if driver.identity(self.number).is_some_and(|now| now.follows(before)) {
            *self = fresh;
            return Ok(());
        }
        let text = format!("{} was reset or exchanged while it was given back", self.path);
        self.given_back = None;
        self.gone = Some(AccessError::DeviceGone(text.clone()));
        Err(AccessError::DeviceGone(text))
    }

    /// Its open file.
    fn node(&self) -> Result<&dyn DriverFile, AccessError> {
        self.node.as_deref().ok_or_else(|| self.taken_away())
    }

    pub(super) fn chip(&self) -> ChipKind {
        self.chip
    }

    /// Returns the hardware indices of the device's windows.
    pub(super) fn indices(&self) -> &[u16] {
        &self.indices
    }

    /// Returns why the device is gone, if it is.
    pub(super) fn gone(&self) -> Option<&AccessError> {
        self.gone.as_ref()
    }

    /// Runs `act` unless the device is gone, and remembers the loss of the device.
    fn unless_gone<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        act(self).inspect_err(|error| {
            if matches!(error, AccessError::DeviceGone(_)) {
                self.gone = Some(error.clone());
            }
        })
    }

    /// Reads bytes of BAR0: of one of its windows, or of harmless ranges outside of all windows.
    pub(super) fn read(
        &mut self,
        offset: u64,
        len: u32,
        answer: &mut Vec<u8>,
    ) -> Result<(), AccessError> {
        let before = answer.len();
        let read = self.unless_gone(|device| device.read_words(offset, len.into(), answer));
        read.inspect_err(|_| answer.truncate(before))
    }

    fn read_words(&mut self, offset: u64, len: u64, out: &mut Vec<u8>) -> Result<(), AccessError> {
        let end = offset + len;
        let start = offset - offset % WORD as u64;
        if self.window(offset, end).is_none() {
            self.map_page(offset, len)?;
        }
        let page = offset - offset % PAGE;
        let outside_windows = || self.pages.get(&page).map(|mapping| (page, mapping));
        let (base, mapping) =
            self.window(offset, end).or_else(outside_windows).ok_or_else(not_allowed)?;
        let mut marked = Instant::now();
        let mut alive = false;
        for (count, at) in (0_u64..).zip((start..end).step_by(WORD)) {
            if count % WORDS_PER_MARK == WORDS_PER_MARK - 1 {
                marked = Instant::now();
            }
            let value = mapping.load((at - base) as usize).map_err(|lost| self.lost(lost))?;
            if value == u32::MAX {
                alive = self.check_ones(marked, alive)?;
            }
            let (first, last) = (offset.saturating_sub(at), (end - at).min(WORD as u64));
            out.extend(&value.to_le_bytes()[first as usize..last as usize]);
        }
        Ok(())
    }

    /// Writes whole words through one of its windows.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), AccessError> {
        self.unless_gone(|device| {
            let window = device.window(offset, offset + bytes.len() as u64);
            let (base, mapping) = window.ok_or_else(not_allowed)?;
            let (words, rest) = bytes.as_chunks::<WORD>();
            if !rest.is_empty() || !offset.is_multiple_of(WORD as u64) {
                return Err(AccessError::Refused("writes must be whole words".into()));
            }
            for (at, word) in (offset - base..).step_by(WORD).zip(words) {
                let stored = mapping.store(at as usize, u32::from_le_bytes(*word));
                stored.map_err(|lost| device.lost(lost))?;
            }
            Ok(())
        })
    }

    pub(super) fn point(
        &mut self,
        window: u16,
        tile: (u8, u8),
        page: u64,
        order: WindowOrdering,
    ) -> Result<(), AccessError> {
        self.unless_gone(|device| {
            let pointed = kmd::point_window(device.node()?, window, tile, page, order);
            pointed.map_err(|error| device.failed(&format!("window {window}"), &error))
        })
    }

    /// Acquires or releases one of the driver's locks; returns whether it succeeded.
    pub(super) fn lock(&mut self, index: u8, action: LockAction) -> Result<bool, AccessError> {
        self.unless_gone(|device| {
            let done = kmd::lock(device.node()?, index, action);
            done.map_err(|error| device.failed(&format!("lock {index}"), &error))
        })
    }

    /// Returns its window that contains this range of BAR0.
    fn window(&self, offset: u64, end: u64) -> Option<(u64, &Mapping)> {
        let (base, mapping) = self.windows.range(..=offset).next_back()?;
        (end <= base + mapping.len() as u64).then_some((*base, mapping))
    }

    /// Maps the page of BAR0 that holds this range, if the range may be read.
    fn map_page(&mut self, offset: u64, len: u64) -> Result<(), AccessError> {
        let layout = self.chip.layout();
        let readable = layout.readable(Space::Bar0, offset, len);
        let windows_end = layout
            .bar
            .windows
            .last()
            .map_or(0, |class| class.bar_offset + u64::from(class.count) * class.bytes);
        let page = offset - offset % PAGE;
        if readable.is_err() || offset < windows_end || offset + len > page + PAGE {
            return Err(not_allowed());
        }
        if !self.pages.contains_key(&page) {
            let mapped = self.node()?.map(self.bar0_map_offset + page, PAGE as usize);
            let mapping = mapped.map_err(|error| self.failed("mapping BAR0", &error))?;
            self.pages.insert(page, mapping);
        }
        Ok(())
    }

    /// Checks a read of all ones: it is a value if the read was quick and the chip is on the bus.
    fn check_ones(&self, marked: Instant, known_alive: bool) -> Result<bool, AccessError> {
        let slow = marked.elapsed() > HANG;
        if known_alive && !slow {
            return Ok(true);
        }
        let text = match self.node_id() {
            Ok(u32::MAX) if slow => "does not answer: it hangs or is off the bus",
            Ok(u32::MAX) => "answers all ones: it is off the bus",
            Ok(_) if slow => {
                return Err(AccessError::TimedOut { deadline_cycles: HANG.as_nanos() as u64 });
            }
            Ok(_) => return Ok(true),
            Err(error) => return Err(error),
        };
        Err(AccessError::DeviceGone(format!("{} {text}", self.path)))
    }
}

impl Device {
    /// Reads the node id of the ARC's NIU: all ones only if the chip is off the bus.
    fn node_id(&self) -> Result<u32, AccessError> {
        let at = self.chip.layout().arc_node_id();
        let page = at - at % PAGE;
        let mapping = self.pages.get(&page).ok_or_else(not_allowed)?;
        mapping.load((at - page) as usize).map_err(|lost| self.lost(lost))
    }

    fn lost(&self, lost: Lost) -> AccessError {
        match lost {
            Lost::Mapping => self.taken_away(),
            Lost::Outside => not_allowed(),
        }
    }

    fn failed(&self, what: &str, error: &io::Error) -> AccessError {
        match error.raw_os_error() {
            Some(libc::ENODEV) => self.taken_away(),
            _ => AccessError::Unreachable(format!("{}: {what}: {error}", self.path)),
        }
    }

    fn taken_away(&self) -> AccessError {
        let text = format!("{} was reset or removed while open", self.path);
        AccessError::DeviceGone(text)
    }
}

fn not_allowed() -> AccessError {
    AccessError::Refused("outside of the allocated windows and the readable ranges of BAR0".into())
}

/// Converts an error of the driver during opening.
fn refused(number: u16, what: &'static str, error: io::Error) -> DeviceError {
    let path = format!("{}/{number}", super::kmd::FOLDER);
    match error.raw_os_error() {
        Some(libc::ENODEV) => DeviceError::Gone { path },
        Some(libc::ENOTTY) => {
            DeviceError::NotADevice { path, what: "a device of another driver".to_owned() }
        }
        _ => DeviceError::System { path, what, error },
    }
}
