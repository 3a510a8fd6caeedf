//! A double of a card and its driver: a sparse file in memory holds what can be mapped, and
//! requests are answered with the numbers, sizes and offsets that tt-kmd documents
//! (wormhole.md 2.1).
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::silicon::error::DeviceError;
use crate::silicon::identity::Identity;
use crate::silicon::kmd::{Driver, DriverFile, Ioctl};
use crate::silicon::mapping::Mapping;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

/// File offsets of BAR0 and of the windows, both uncached.
const BAR0: u64 = 0;
const WINDOWS: u64 = 6 << 36;
/// The ARC's NIU node id in BAR0.
pub(super) const NODE_ID: u64 = 0x1FF5_002C;

/// A card whose state a test sets and inspects.
pub(super) struct Card {
    memory: File,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub(super) api: u32,
    pub(super) version: [u8; 3],
    pub(super) ids: (u16, u16),
    /// Windows of other clients.
    pub(super) taken: Vec<u16>,
    /// Locks of other clients.
    pub(super) locked: Vec<u8>,
    pub(super) ours_locked: Vec<u8>,
    /// Every request with its argument as received.
    pub(super) calls: Vec<(u32, Vec<u8>)>,
    /// Set when the driver no longer knows the device.
    pub(super) gone: bool,
    /// Number of windows that are still pointed before the card is reset.
    pub(super) points_left: usize,
    /// Words of all tiles, by x, y and address.
    pub(super) words: BTreeMap<(u16, u16, u64), u32>,
    /// By what the card is known again.
    pub(super) identity: Option<Identity>,
    /// Number of open files.
    pub(super) open: usize,
}

impl Card {
    pub(super) fn new() -> Arc<Self> {
        // SAFETY: the name is a C string; the descriptor is new and has no other owner.
        #[allow(unsafe_code, reason = "std has no file in memory")]
        let file = unsafe {
            let fd = libc::memfd_create(c"card".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0);
            OwnedFd::from_raw_fd(fd)
        };
        let memory = File::from(file);
        memory.set_len(8 << 36).unwrap();
        let mut words = BTreeMap::new();
        for x in 0..10_u16 {
            for y in 0..12_u16 {
                let id = 0x1060_A000 | u32::from(y) << 6 | u32::from(x);
                words.insert((x, y, 0xFFB2_002C), id);
                words.insert((x, y, 0xFFB2_0110), 0x41);
            }
        }
        let state = State {
            api: 2,
            version: [2, 10, 1],
            ids: (0x1E52, 0x401E),
            taken: vec![185],
            locked: Vec::new(),
            ours_locked: Vec::new(),
            calls: Vec::new(),
            gone: false,
            points_left: usize::MAX,
            words,
            identity: None,
            open: 0,
        };
        let card = Arc::new(Self { memory, state: Mutex::new(state) });
        card.set_bar0(NODE_ID, 0x1060_A280);
        card
    }

    pub(super) fn set_bar0(&self, offset: u64, word: u32) {
        self.memory.write_all_at(&word.to_le_bytes(), BAR0 + offset).unwrap();
    }

    /// Returns the word in a window, by its offset in BAR0.
    pub(super) fn in_window(&self, offset: u64) -> u32 {
        let mut word = [0; 4];
        self.memory.read_exact_at(&mut word, WINDOWS + offset).unwrap();
        u32::from_le_bytes(word)
    }

    /// Resets the card: mapped memory can no longer be accessed.
    pub(super) fn take_away(&self) {
        self.memory.set_len(0).unwrap();
        self.state.lock().unwrap().words.clear();
    }

    /// Maps a page of the card that is not watched.
    pub(super) fn unwatched(&self) -> memmap2::Mmap {
        // SAFETY: the fault is to end the process that reads it.
        #[allow(unsafe_code, reason = "files are mapped")]
        unsafe {
            memmap2::MmapOptions::new().len(4096).map(&self.memory).unwrap()
        }
    }

    pub(super) fn requests(&self) -> Vec<u32> {
        self.state.lock().unwrap().calls.iter().map(|(number, _)| *number).collect()
    }
}

/// A driver with these cards, by the number of their device files.
pub(super) struct Double(pub(super) Vec<(u16, Arc<Card>)>);

impl Driver for Double {
    fn devices(&self) -> Result<Vec<u16>, DeviceError> {
        Ok(self.0.iter().map(|(number, _)| *number).collect())
    }

    fn open(&self, number: u16) -> Result<Box<dyn DriverFile>, DeviceError> {
        let card = self.0.iter().find(|(known, _)| *known == number);
        let none = || DeviceError::NoDevice { path: number.to_string() };
        let card = Arc::clone(&card.ok_or_else(none)?.1);
        card.state.lock().unwrap().open += 1;
        Ok(Box::new(Open(card, Mutex::default())))
    }

    fn identity(&self, number: u16) -> Option<Identity> {
        let card = self.0.iter().find(|(known, _)| *known == number);
        card.and_then(|(_, card)| card.state.lock().unwrap().identity.clone())
    }
}

/// An open file, with the windows that it was lent.
struct Open(Arc<Card>, Mutex<Vec<u16>>);

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap();
        let lent = self.1.lock().unwrap();
        state.open -= 1;
        state.taken.retain(|window| !lent.contains(window));
    }
}

fn errno(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Returns the index of the first window, the count, and the BAR0 offset of the first, by size.
fn class(bytes: u64) -> Option<(u16, u16, u64)> {
    match bytes {
        0x10_0000 => Some((0, 156, 0)),
        0x20_0000 => Some((156, 10, 0x09C0_0000)),
        0x100_0000 => Some((166, 20, 0x0B00_0000)),
        _ => None,
    }
}

fn window(index: u16) -> (u64, u64) {
    let sizes = [0x10_0000, 0x20_0000, 0x100_0000];
    let found = sizes.iter().find_map(|&bytes| {
        let (first, count, base) = class(bytes)?;
        let nth = index.checked_sub(first).filter(|nth| *nth < count)?;
        Some((base + u64::from(nth) * bytes, bytes))
    });
    found.unwrap()
}

impl DriverFile for Open {
    fn call(&self, call: &mut Ioctl) -> io::Result<()> {
        let number = call.number();
        let argument = call.argument();
        let mut state = self.0.state.lock().unwrap();
        state.calls.push((number, argument.to_vec()));
        if state.gone {
            return Err(errno(libc::ENODEV));
        }
        match (number, argument.len()) {
            (0xFA00, 24) => {
                assert_eq!(u32_at(argument, 0), 20);
                put(argument, 8, &state.ids.0.to_le_bytes());
                put(argument, 10, &state.ids.1.to_le_bytes());
            }
            (0xFA02, 152) => {
                assert_eq!(u32_at(argument, 0), 6);
                for id in 1..7_u32 {
                    let at = 8 + 24 * (id as usize - 1);
                    let size: u64 = [512 << 20, 1 << 20, 32 << 20][(id as usize - 1) / 2];
                    put(argument, at, &id.to_le_bytes());
                    put(argument, at + 8, &(u64::from(id - 1) << 36).to_le_bytes());
                    put(argument, at + 16, &size.to_le_bytes());
                }
            }
            (0xFA05, 16) => {
                assert_eq!(u32_at(argument, 0), 12);
                put(argument, 8, &state.api.to_le_bytes());
                put(argument, 12, &state.version);
            }
            (0xFA08, 16) => {
                let (flags, index) = (u32_at(argument, 4), argument[8]);
                assert_eq!(u32_at(argument, 0), 4);
                let done = match flags {
                    0 if state.locked.contains(&index) || state.ours_locked.contains(&index) => {
                        false
                    }
                    0 => {
                        state.ours_locked.push(index);
                        true
                    }
                    1 => {
                        let before = state.ours_locked.len();
                        state.ours_locked.retain(|held| *held != index);
                        state.ours_locked.len() < before
                    }
                    _ => return Err(errno(libc::EINVAL)),
                };
                argument[12] = done.into();
            }
            (0xFA0B, 48) => {
                let (first, count, _) = class(u64_at(argument, 0)).ok_or(errno(libc::EINVAL))?;
                let free = (first..first + count).find(|index| !state.taken.contains(index));
                let index = free.ok_or(errno(libc::ENOMEM))?;
                state.taken.push(index);
                self.1.lock().unwrap().push(index);
                put(argument, 16, &u32::from(index).to_le_bytes());
                put(argument, 24, &(WINDOWS + window(index).0).to_le_bytes());
                put(argument, 32, &((7 << 36) + window(index).0).to_le_bytes());
            }
            (0xFA0D, 48) if state.points_left == 0 => self.0.memory.set_len(0)?,
            (0xFA0D, 48) => {
                state.points_left -= 1;
                self.0.point(&state, argument);
            }
            (number, len) => panic!("request {number:#x} with {len} bytes"),
        }
        Ok(())
    }

    fn map(&self, offset: u64, len: usize) -> io::Result<Mapping> {
        Mapping::of(self.0.memory.as_fd(), offset, len)
    }
}

impl Card {
    /// Stores the tile's words where the window shows them.
    fn point(&self, state: &State, argument: &[u8]) {
        let (base, bytes) = window(u32_at(argument, 0) as u16);
        let page = u64_at(argument, 8);
        assert!(page.is_multiple_of(bytes) && page >> 36 == 0, "{page:#x}");
        // Neither multicast nor linked, on NoC 0.
        assert_eq!([24, 25, 27].map(|at| argument[at]), [0; 3]);
        let (x, y) = (u32_at(argument, 16) as u16, (u32_at(argument, 16) >> 16) as u16);
        for ((tx, ty, at), word) in &state.words {
            if (page..page + bytes).contains(at) {
                let shown = if (*tx, *ty) == (x, y) { *word } else { 0 };
                let place = WINDOWS + base + (at - page);
                // Another tile's word at the same address must not overwrite this one's.
                if shown != 0 || !state.words.contains_key(&(x, y, *at)) {
                    self.memory.write_all_at(&shown.to_le_bytes(), place).unwrap();
                }
            }
        }
    }
}
