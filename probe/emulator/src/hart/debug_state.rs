//! What a debugger set of a hart; see [`super::debugger`].

use crate::decode::Op;

/// Bit of DR 0 of the first watchpoint.
const FIRST_HIT: u32 = 8;
/// Modes of a watchpoint; others are off.
pub(super) const EXECUTE: u32 = 8;
pub(super) const READ: u32 = 9;
pub(super) const WRITE: u32 = 10;
pub(super) const ACCESS: u32 = 11;

/// What a hart does when it runs again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Next {
    #[default]
    GoesOn,
    /// Pauses before its next instruction: it is stuck, so that nothing could pause it.
    Pauses,
    /// Pauses after its next instruction.
    Steps,
}

/// What a debugger set of a hart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Debugger {
    /// DR 4.
    pub(super) result: u32,
    pub(super) slow: bool,
    /// Whether slow mode has been on since before the pause.
    pub(super) safe: bool,
    pub(super) modes: u32,
    pub(super) addresses: [u32; 8],
    pub(super) next: Next,
    /// Whether the next load was paused before and is not to pause again.
    pub(super) passing: bool,
    /// The access that a paused hart makes for the debugger.
    pub(super) serves: Option<Op>,
    pub(super) refused: Option<&'static str>,
}

impl Debugger {
    /// Returns the bits of DR 0 of the watchpoints at an access of these bytes.
    pub(super) fn hits(&self, modes: &[u32], addr: u32, bytes: u32) -> u32 {
        let all = (0..).zip(self.addresses);
        let hit = all.filter(|&(watch, address)| {
            modes.contains(&(self.modes >> (4 * watch) & 15)) && address.wrapping_sub(addr) < bytes
        });
        hit.fold(0, |hits, (watch, _)| hits | 1 << (FIRST_HIT + watch))
    }

    pub(super) fn armed(&self) -> bool {
        (0..8).any(|watch| (EXECUTE..=ACCESS).contains(&(self.modes >> (4 * watch) & 15)))
    }
}
