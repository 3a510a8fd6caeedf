//! The code of journal entries: numbers in groups of seven bits, relative to the entry before.
//!
//! A read of a snapshot takes about seven bytes: cycles since the last entry, kind with device and
//! BAR, distance to the last offset of the device, length. In memory they follow each other. A file
//! has them in columns, those of each device apart: what a host does with one device again and
//! again is the same bytes there, whatever it does with others in between.

use super::{HostAction, JournalEntry};
use crate::disruption::{Disruption, HartId, StreamId};
use crate::varint::{JournalError, MOST_BYTES, put, take};
use std::collections::BTreeMap;

/// First bytes of a journal in a file.
const MAGIC: &[u8] = b"journal\x02";
/// Those of the version before: the entries follow each other, and an offset is relative to the last
/// one of any device.
const VERSION_1: &[u8] = b"journal\x01";

/// Kinds of entries, in the low four bits of their second number.
mod kind {
    pub(super) const CONFIG_READ: u64 = 0;
    pub(super) const CONFIG_WRITE: u64 = 1;
    pub(super) const READ: u64 = 2;
    pub(super) const WRITE: u64 = 3;
    pub(super) const NO_SUCH_ADDRESS: u64 = 4;
    pub(super) const LINK: u64 = 5;
    pub(super) const DISRUPT: u64 = 6;
    pub(super) const RESET: u64 = 7;
}

/// Columns of a file, in the low four bits of their numbers. Above these are the devices, each of
/// which has its own of the last three.
mod column {
    pub(super) const CYCLE: u64 = 0;
    pub(super) const HEAD: u64 = 1;
    pub(super) const OTHER: u64 = 2;
    pub(super) const OFFSET: u64 = 3;
    pub(super) const LENGTH: u64 = 4;
    pub(super) const BYTES: u64 = 5;

    /// Returns the number of a device's column.
    pub(super) fn of(column: u64, device: u64) -> u64 {
        column | device << 4
    }
}

/// Receives encoded entries.
pub(super) trait Sink {
    /// Returns the end of a column.
    fn column(&mut self, number: u64) -> &mut Vec<u8>;

    /// Appends numbers to a column.
    fn put(&mut self, number: u64, numbers: &[u64]) {
        let out = self.column(number);
        for number in numbers {
            put(out, *number);
        }
    }
}

/// As in memory, all columns are one.
impl Sink for Vec<u8> {
    fn column(&mut self, _: u64) -> &mut Vec<u8> {
        self
    }
}

impl Sink for BTreeMap<u64, Vec<u8>> {
    fn column(&mut self, number: u64) -> &mut Vec<u8> {
        self.entry(number).or_default()
    }
}

/// What an entry is relative to.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    cycle: u64,
    /// Per device, offset of the last read, and of the last write.
    offsets: BTreeMap<u64, [u64; 2]>,
    /// Whether an offset is relative to the last one of any device.
    version_1: bool,
}

impl Context {
    /// Appends an entry.
    pub(super) fn write(&mut self, entry: &JournalEntry, out: &mut impl Sink) {
        out.put(column::CYCLE, &[entry.cycle.wrapping_sub(self.cycle)]);
        self.cycle = entry.cycle;
        let mut write = |head: u64, others: &[u64]| {
            out.put(column::HEAD, &[head]);
            out.put(column::OTHER, others);
        };
        match &entry.action {
            HostAction::ConfigRead { device, offset } => {
                write(kind::CONFIG_READ | (*device as u64) << 4, &[u64::from(*offset)]);
            }
            HostAction::ConfigWrite { device, offset, value } => {
                let head = kind::CONFIG_WRITE | (*device as u64) << 4;
                write(head, &[u64::from(*offset), u64::from(*value)]);
            }
            HostAction::Read { device, bar, offset, len } => {
                let device = *device as u64;
                self.place(out, kind::READ, (device, *bar), *offset);
                out.put(column::of(column::LENGTH, device), &[*len as u64]);
            }
            HostAction::Write { device, bar, offset, bytes } => {
                let device = *device as u64;
                self.place(out, kind::WRITE, (device, *bar), *offset);
                out.put(column::of(column::LENGTH, device), &[bytes.len() as u64]);
                out.column(column::of(column::BYTES, device)).extend_from_slice(bytes);
            }
            HostAction::NoSuchAddress { address } => write(kind::NO_SUCH_ADDRESS, &[*address]),
            HostAction::Link { link, up } => {
                write(kind::LINK | u64::from(*up) << 4, &[*link as u64]);
            }
            HostAction::Disrupt { what, from_cycle, until_cycle } => {
                let head = kind::DISRUPT | u64::from(until_cycle.is_some()) << 4;
                write(head, &[*from_cycle, until_cycle.unwrap_or(0)]);
                out.put(column::OTHER, &disruption(what));
            }
            HostAction::Reset { chip } => write(kind::RESET, &[*chip as u64]),
        }
    }

    fn place(&mut self, out: &mut impl Sink, kind: u64, (device, bar): (u64, u8), offset: u64) {
        let last = self.last(kind, device);
        let away = offset.wrapping_sub(*last) as i64;
        *last = offset;
        // Small distances in either direction are small numbers. BAR 0 of device 0 takes one byte.
        let zigzag = (away << 1 ^ away >> 63) as u64;
        out.put(column::HEAD, &[kind | u64::from(bar & 7) << 4 | device << 7]);
        out.put(column::of(column::OFFSET, device), &[zigzag]);
    }

    /// Returns the offset that the next one of a device is relative to.
    fn last(&mut self, kind: u64, device: u64) -> &mut u64 {
        let device = if self.version_1 { 0 } else { device };
        &mut self.offsets.entry(device).or_default()[(kind & 1) as usize]
    }
}

/// Returns a disruption as four numbers.
fn disruption(what: &Disruption) -> [u64; 4] {
    let core = |kind, core: &HartId| {
        let place = u64::from(core.x) | u64::from(core.y) << 8 | u64::from(core.hart) << 16;
        [kind, core.chip as u64, place, 0]
    };
    let stream = |kind, at: &StreamId| {
        let place = u64::from(at.x) | u64::from(at.y) << 8 | u64::from(at.stream) << 16;
        [kind, at.chip as u64, place, 0]
    };
    match *what {
        Disruption::LinkDown { link } => [0, link as u64, 0, 0],
        Disruption::LinkFlap { link, period_cycles } => [1, link as u64, period_cycles, 0],
        Disruption::LinkSlow { link, factor } => [2, link as u64, u64::from(factor), 0],
        Disruption::BitErrors { link, per_terabit } => [3, link as u64, per_terabit, 0],
        Disruption::SlowAck { link, end, delay_cycles } => {
            [4, link as u64, delay_cycles, end as u64]
        }
        Disruption::LinkMended { link } => [5, link as u64, 0, 0],
        Disruption::StuckCore(ref hart) => core(6, hart),
        Disruption::CoreReleased(ref hart) => core(7, hart),
        Disruption::StreamHeld(ref at) => stream(8, at),
        Disruption::StreamFreed(ref at) => stream(9, at),
        Disruption::ChipDead { chip } => [10, chip as u64, 0, 0],
    }
}

/// Has encoded entries.
pub(super) trait Source<'a> {
    /// Returns what is not decoded of a column.
    fn column(&mut self, number: u64) -> &mut &'a [u8];
    /// Whether all bytes are decoded.
    fn at_end(&self) -> bool;
}

/// As in memory, all columns are one.
impl<'a> Source<'a> for &'a [u8] {
    fn column(&mut self, _: u64) -> &mut &'a [u8] {
        self
    }

    fn at_end(&self) -> bool {
        self.is_empty()
    }
}

impl<'a> Source<'a> for BTreeMap<u64, &'a [u8]> {
    fn column(&mut self, number: u64) -> &mut &'a [u8] {
        self.entry(number).or_default()
    }

    fn at_end(&self) -> bool {
        self.values().all(|left| left.is_empty())
    }
}

/// Decodes entries.
pub(super) struct Reader<S> {
    left: S,
    context: Context,
}

impl<'a> Reader<&'a [u8]> {
    pub(super) fn new(left: &'a [u8]) -> Self {
        Self { left, context: Context::default() }
    }
}

impl<'a, S: Source<'a>> Reader<S> {
    /// Whether all bytes are decoded.
    pub(super) fn at_end(&self) -> bool {
        self.left.at_end()
    }

    fn number(&mut self, column: u64) -> Result<u64, JournalError> {
        take(self.left.column(column))
    }

    /// Returns a number that belongs to no device's access.
    fn other<T: TryFrom<u64>>(&mut self) -> Result<T, JournalError> {
        small(self.number(column::OTHER)?)
    }

    fn bytes(&mut self, device: usize, len: usize) -> Result<Vec<u8>, JournalError> {
        let left = self.left.column(column::of(column::BYTES, device as u64));
        let (bytes, rest) = left.split_at_checked(len).ok_or(JournalError::CutOff)?;
        *left = rest;
        Ok(bytes.to_vec())
    }

    /// Returns the length of an access.
    fn len(&mut self, device: usize) -> Result<usize, JournalError> {
        let len = self.number(column::of(column::LENGTH, device as u64))?;
        if len <= MOST_BYTES { Ok(len as usize) } else { Err(JournalError::WrongEntry) }
    }

    /// Decodes the next entry.
    pub(super) fn entry(&mut self) -> Result<JournalEntry, JournalError> {
        let since = self.number(column::CYCLE)?;
        let cycle = self.context.cycle.checked_add(since).ok_or(JournalError::WrongEntry)?;
        self.context.cycle = cycle;
        Ok(JournalEntry { cycle, action: self.action()? })
    }

    fn action(&mut self) -> Result<HostAction, JournalError> {
        let head = self.number(column::HEAD)?;
        let rest = head >> 4;
        Ok(match head & 15 {
            kind::CONFIG_READ => {
                HostAction::ConfigRead { device: small(rest)?, offset: self.other()? }
            }
            kind::CONFIG_WRITE => HostAction::ConfigWrite {
                device: small(rest)?,
                offset: self.other()?,
                value: self.other()?,
            },
            kind::READ => {
                let (device, bar, offset) = self.place(kind::READ, rest)?;
                HostAction::Read { device, bar, offset, len: self.len(device)? }
            }
            kind::WRITE => {
                let (device, bar, offset) = self.place(kind::WRITE, rest)?;
                let len = self.len(device)?;
                HostAction::Write { device, bar, offset, bytes: self.bytes(device, len)? }
            }
            kind::NO_SUCH_ADDRESS => HostAction::NoSuchAddress { address: self.other()? },
            kind::LINK => HostAction::Link { up: rest & 1 == 1, link: self.other()? },
            kind::DISRUPT => {
                let (from_cycle, until) = (self.other()?, self.other()?);
                let until_cycle = (rest & 1 == 1).then_some(until);
                HostAction::Disrupt { what: self.disruption()?, from_cycle, until_cycle }
            }
            kind::RESET => HostAction::Reset { chip: self.other()? },
            _ => return Err(JournalError::WrongEntry),
        })
    }

    fn place(&mut self, kind: u64, rest: u64) -> Result<(usize, u8, u64), JournalError> {
        let device = rest >> 3;
        let zigzag = self.number(column::of(column::OFFSET, device))?;
        let away = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let last = self.context.last(kind, device);
        *last = last.wrapping_add(away as u64);
        Ok((small(device)?, (rest & 7) as u8, *last))
    }

    fn disruption(&mut self) -> Result<Disruption, JournalError> {
        let [kind, first, second, third] =
            [self.other()?, self.other()?, self.other()?, self.other()?];
        let link = small(first)?;
        let core = || HartId {
            chip: link,
            x: second as u8,
            y: (second >> 8) as u8,
            hart: (second >> 16) as u8,
        };
        let stream = || StreamId {
            chip: link,
            x: second as u8,
            y: (second >> 8) as u8,
            stream: (second >> 16) as u8,
        };
        Ok(match kind {
            0 => Disruption::LinkDown { link },
            1 => Disruption::LinkFlap { link, period_cycles: second },
            2 => Disruption::LinkSlow { link, factor: small(second)? },
            3 => Disruption::BitErrors { link, per_terabit: second },
            4 => Disruption::SlowAck { link, delay_cycles: second, end: small(third)? },
            5 => Disruption::LinkMended { link },
            6 => Disruption::StuckCore(core()),
            7 => Disruption::CoreReleased(core()),
            8 => Disruption::StreamHeld(stream()),
            9 => Disruption::StreamFreed(stream()),
            10 => Disruption::ChipDead { chip: link },
            _ => return Err(JournalError::WrongEntry),
        })
    }
}

fn small<T: TryFrom<u64>>(number: u64) -> Result<T, JournalError> {
    T::try_from(number).map_err(|_| JournalError::WrongEntry)
}

/// Returns entries in a form for files.
pub(super) fn to_bytes(entries: impl Iterator<Item = JournalEntry>) -> Vec<u8> {
    let (mut context, mut columns, mut count) = (Context::default(), BTreeMap::new(), 0);
    for entry in entries {
        context.write(&entry, &mut columns);
        count += 1;
    }
    let mut bytes = MAGIC.to_vec();
    put(&mut bytes, count);
    put(&mut bytes, columns.len() as u64);
    for (number, column) in &columns {
        put(&mut bytes, *number);
        put(&mut bytes, column.len() as u64);
        bytes.extend_from_slice(column);
    }
    bytes
}

/// Decodes what [`to_bytes`] returned.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<JournalEntry>, JournalError> {
    if let Some(mut code) = bytes.strip_prefix(VERSION_1) {
        let count = take(&mut code)?;
        let context = Context { version_1: true, ..Context::default() };
        return entries(count, Reader { left: code, context });
    }
    let mut code = bytes.strip_prefix(MAGIC).ok_or(JournalError::NotAJournal)?;
    let count = take(&mut code)?;
    let mut left = BTreeMap::new();
    for _ in 0..take(&mut code)? {
        let (number, len) = (take(&mut code)?, take(&mut code)?);
        let len = usize::try_from(len).map_err(|_| JournalError::CutOff)?;
        let (column, rest) = code.split_at_checked(len).ok_or(JournalError::CutOff)?;
        left.insert(number, column);
        code = rest;
    }
    if !code.is_empty() {
        return Err(JournalError::WrongEntry);
    }
    entries(count, Reader { left, context: Context::default() })
}

/// Decodes this many entries, which are all.
fn entries<'a, S: Source<'a>>(
    count: u64,
    mut reader: Reader<S>,
) -> Result<Vec<JournalEntry>, JournalError> {
    // Each takes bytes, so a wrong count ends at once.
    let entries: Result<Vec<_>, _> = (0..count).map(|_| reader.entry()).collect();
    if reader.at_end() { entries } else { entries.and(Err(JournalError::WrongEntry)) }
}
