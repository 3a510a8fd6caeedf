//! Survives the loss of a mapping: the driver takes all mappings of a device away when somebody resets
//! or removes it, and the next access raises SIGBUS.
//!
//! The handler puts ordinary memory in place of the lost mapping and marks it, so that the access ends
//! and the one who made it finds the mark. The driver forbids to cut a window's mapping, so all of it is
//! replaced, and what the access then reads is never used: [`super::mapping`] looks at the mark
//! after each access. Faults elsewhere go to whoever handled them before.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Most mappings at a time: 32 devices with some twenty windows and pages each.
const SLOTS: usize = 1024;

/// A mapping that the handler knows. A free slot has a length of 0.
struct Slot {
    taken: AtomicBool,
    start: AtomicUsize,
    len: AtomicUsize,
    lost: AtomicBool,
}

static KNOWN: [Slot; SLOTS] = [const {
    Slot {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; SLOTS];

/// Who handled SIGBUS before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
static INSTALL: Once = Once::new();

/// A watched mapping; the watch ends when this is dropped, before the mapping itself goes.
#[derive(Debug)]
pub(super) struct Watch(usize);

impl Watch {
    /// Watches this range from now on; nothing if too many are watched already.
    pub(super) fn over(start: usize, len: usize) -> Option<Self> {
        INSTALL.call_once(install);
        let free = KNOWN.iter().position(|slot| !slot.taken.swap(true, Ordering::AcqRel))?;
        let slot = &KNOWN[free];
        slot.lost.store(false, Ordering::Relaxed);
        slot.start.store(start, Ordering::Relaxed);
        slot.len.store(len, Ordering::Release);
        Some(Self(free))
    }

    /// Was the mapping taken away?
    pub(super) fn lost(&self) -> bool {
        KNOWN[self.0].lost.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        KNOWN[self.0].len.store(0, Ordering::Release);
        KNOWN[self.0].taken.store(false, Ordering::Release);
    }
}

fn install() {
    // SAFETY: an all-zero sigaction is a valid value of that C structure.
    let mut before: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    let mut ours = before;
    ours.sa_sigaction = on_sigbus as *const () as usize;
    // On the alternate stack, as the runtime's own handler that this one calls.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both point to live structures; the handler has the signature that SA_SIGINFO asks for and
    // makes async-signal-safe calls only. It may run before BEFORE is set, and bears that.
    unsafe {
        libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before);
        let _ = BEFORE.set(before);
        libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut());
    }
}

extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid siginfo to a handler with SA_SIGINFO, and SIGBUS has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    // SAFETY: the location of errno is valid in every thread; an interrupted call must find it unchanged.
    let errno = unsafe { *libc::__errno_location() };
    let replaced = KNOWN.iter().any(|slot| replace(slot, address));
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    if !replaced {
        pass_on(signal, info, context);
    }
}

/// Puts ordinary memory over the mapping of this slot, if the address lies in it.
fn replace(slot: &Slot, address: usize) -> bool {
    let len = slot.len.load(Ordering::Acquire);
    let start = slot.start.load(Ordering::Relaxed);
    if address.wrapping_sub(start) >= len {
        return false;
    }
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the range is a whole mapping of ours whose pages are gone; its owner only makes volatile
    // accesses to it and unmaps it after the watch has ended.
    let there = unsafe { libc::mmap(start as *mut c_void, len, protection, flags, -1, 0) };
    slot.lost.store(true, Ordering::Release);
    there != libc::MAP_FAILED
}

/// The fault is not ours: the earlier handler gets it, or the process ends as it would have.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = BEFORE.get().filter(|before| before.sa_sigaction > libc::SIG_IGN);
    match before {
        Some(before) if before.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: with SA_SIGINFO the field holds a function of this signature.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(before.sa_sigaction) };
            handler(signal, info, context);
        }
        Some(before) => {
            // SAFETY: without SA_SIGINFO the field holds a function that takes the signal alone.
            let handler =
                unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(before.sa_sigaction) };
            handler(signal);
        }
        // SAFETY: restores the default action; the access is made again and ends the process.
        None => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
    }
}
