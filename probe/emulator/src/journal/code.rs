//! The code of journal entries: numbers in groups of seven bits, relative to the entry before.
//!
//! A read of a snapshot takes about seven bytes: cycles since the last entry, kind with device and
//! BAR, distance to the last offset, length.

use super::{HostAction, JournalEntry};
use crate::disruption::{Disruption, HartId};

/// First bytes of a journal in a file; the last of them is the version.
const MAGIC: &[u8] = b"journal\x01";
/// Longest read that is believed, so that wrong bytes do not exhaust the memory: a BAR.
const MOST_BYTES: u64 = 512 << 20;

/// Why bytes are not a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalError {
    /// They do not begin like a journal of this version.
    NotAJournal,
    /// They end in the middle of an entry.
    CutOff,
    /// An entry has an impossible value.
    WrongEntry,
    /// Entries are of earlier cycles than those before them.
    OutOfOrder,
}

impl std::fmt::Display for JournalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotAJournal => "not a journal of host accesses, or of an unknown version",
            Self::CutOff => "the journal of host accesses ends in the middle of an entry",
            Self::WrongEntry => "the journal of host accesses has an impossible entry",
            Self::OutOfOrder => "the journal of host accesses goes back in time",
        })
    }
}

impl std::error::Error for JournalError {}

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

/// What an entry is relative to.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    cycle: u64,
    /// Offset of the last read, and of the last write.
    offsets: [u64; 2],
}

impl Context {
    /// Appends an entry.
    pub(super) fn write(&mut self, entry: &JournalEntry, out: &mut Vec<u8>) {
        put(out, entry.cycle.wrapping_sub(self.cycle));
        self.cycle = entry.cycle;
        match &entry.action {
            HostAction::ConfigRead { device, offset } => {
                all(out, &[kind::CONFIG_READ | (*device as u64) << 4, u64::from(*offset)]);
            }
            HostAction::ConfigWrite { device, offset, value } => {
                let head = kind::CONFIG_WRITE | (*device as u64) << 4;
                all(out, &[head, u64::from(*offset), u64::from(*value)]);
            }
            HostAction::Read { device, bar, offset, len } => {
                self.place(out, kind::READ, (*device, *bar), *offset);
                put(out, *len as u64);
            }
            HostAction::Write { device, bar, offset, bytes } => {
                self.place(out, kind::WRITE, (*device, *bar), *offset);
                put(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
            HostAction::NoSuchAddress { address } => all(out, &[kind::NO_SUCH_ADDRESS, *address]),
            HostAction::Link { link, up } => {
                all(out, &[kind::LINK | u64::from(*up) << 4, *link as u64]);
            }
            HostAction::Disrupt { what, from_cycle, until_cycle } => {
                let head = kind::DISRUPT | u64::from(until_cycle.is_some()) << 4;
                all(out, &[head, *from_cycle, until_cycle.unwrap_or(0)]);
                all(out, &disruption(what));
            }
            HostAction::Reset { chip } => all(out, &[kind::RESET, *chip as u64]),
        }
    }

    fn place(&mut self, out: &mut Vec<u8>, kind: u64, (device, bar): (usize, u8), offset: u64) {
        let last = &mut self.offsets[(kind & 1) as usize];
        let away = offset.wrapping_sub(*last) as i64;
        *last = offset;
        // Small distances in either direction are small numbers. BAR 0 of device 0 takes one byte.
        let zigzag = (away << 1 ^ away >> 63) as u64;
        all(out, &[kind | u64::from(bar & 7) << 4 | (device as u64) << 7, zigzag]);
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn all(out: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        put(out, *number);
    }
}

/// Returns a disruption as four numbers.
fn disruption(what: &Disruption) -> [u64; 4] {
    let core = |kind, core: &HartId| {
        let place = u64::from(core.x) | u64::from(core.y) << 8 | u64::from(core.hart) << 16;
        [kind, core.chip as u64, place, 0]
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
    }
}

/// Decodes entries.
pub(super) struct Reader<'a> {
    left: &'a [u8],
    context: Context,
}

impl<'a> Reader<'a> {
    pub(super) fn new(left: &'a [u8]) -> Self {
        Self { left, context: Context::default() }
    }

    /// Whether all bytes are decoded.
    pub(super) fn at_end(&self) -> bool {
        self.left.is_empty()
    }

    fn number(&mut self) -> Result<u64, JournalError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, left) = self.left.split_first().ok_or(JournalError::CutOff)?;
            self.left = left;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(JournalError::WrongEntry)
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Result<T, JournalError> {
        small(self.number()?)
    }

    fn bytes(&mut self, len: usize) -> Result<Vec<u8>, JournalError> {
        let (bytes, left) = self.left.split_at_checked(len).ok_or(JournalError::CutOff)?;
        self.left = left;
        Ok(bytes.to_vec())
    }

    /// Returns the length of an access.
    fn len(&mut self) -> Result<usize, JournalError> {
        let len = self.number()?;
        if len <= MOST_BYTES { Ok(len as usize) } else { Err(JournalError::WrongEntry) }
    }

    /// Decodes the next entry.
    pub(super) fn entry(&mut self) -> Result<JournalEntry, JournalError> {
        let since = self.number()?;
        let cycle = self.context.cycle.checked_add(since).ok_or(JournalError::WrongEntry)?;
        self.context.cycle = cycle;
        Ok(JournalEntry { cycle, action: self.action()? })
    }

    fn action(&mut self) -> Result<HostAction, JournalError> {
        let head = self.number()?;
        let rest = head >> 4;
        Ok(match head & 15 {
            kind::CONFIG_READ => {
                HostAction::ConfigRead { device: small(rest)?, offset: self.small()? }
            }
            kind::CONFIG_WRITE => HostAction::ConfigWrite {
                device: small(rest)?,
                offset: self.small()?,
                value: self.small()?,
            },
            kind::READ => {
                let (device, bar, offset) = self.place(rest, 0)?;
                HostAction::Read { device, bar, offset, len: self.len()? }
            }
            kind::WRITE => {
                let (device, bar, offset) = self.place(rest, 1)?;
                let len = self.len()?;
                HostAction::Write { device, bar, offset, bytes: self.bytes(len)? }
            }
            kind::NO_SUCH_ADDRESS => HostAction::NoSuchAddress { address: self.number()? },
            kind::LINK => HostAction::Link { up: rest & 1 == 1, link: self.small()? },
            kind::DISRUPT => {
                let (from_cycle, until) = (self.number()?, self.number()?);
                let until_cycle = (rest & 1 == 1).then_some(until);
                HostAction::Disrupt { what: self.disruption()?, from_cycle, until_cycle }
            }
            kind::RESET => HostAction::Reset { chip: self.small()? },
            _ => return Err(JournalError::WrongEntry),
        })
    }

    fn place(&mut self, rest: u64, which: usize) -> Result<(usize, u8, u64), JournalError> {
        let zigzag = self.number()?;
        let away = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let last = &mut self.context.offsets[which];
        *last = last.wrapping_add(away as u64);
        Ok((small(rest >> 3)?, (rest & 7) as u8, *last))
    }

    fn disruption(&mut self) -> Result<Disruption, JournalError> {
        let [kind, first, second, third] =
            [self.number()?, self.number()?, self.number()?, self.number()?];
        let link = small(first)?;
        let core = || HartId {
            chip: link,
            x: second as u8,
            y: (second >> 8) as u8,
            hart: (second >> 16) as u8,
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
            _ => return Err(JournalError::WrongEntry),
        })
    }
}

fn small<T: TryFrom<u64>>(number: u64) -> Result<T, JournalError> {
    T::try_from(number).map_err(|_| JournalError::WrongEntry)
}

/// Returns a file's bytes of encoded entries.
pub(super) fn to_bytes(entries: u64, code: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    put(&mut bytes, entries);
    bytes.extend_from_slice(code);
    bytes
}

/// Decodes what [`to_bytes`] returned.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<JournalEntry>, JournalError> {
    let code = bytes.strip_prefix(MAGIC).ok_or(JournalError::NotAJournal)?;
    let mut reader = Reader::new(code);
    let count = reader.number()?;
    // An entry has at least two bytes.
    if count > code.len() as u64 {
        return Err(JournalError::CutOff);
    }
    let entries: Result<Vec<_>, _> = (0..count).map(|_| reader.entry()).collect();
    if reader.at_end() { entries } else { entries.and(Err(JournalError::WrongEntry)) }
}
