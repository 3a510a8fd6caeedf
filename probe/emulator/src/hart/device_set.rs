//! Which devices of a tile changed, or are waited for.

use std::ops::BitOrAssign;

/// Some devices of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceSet(u8);

impl DeviceSet {
    /// No device.
    pub const NONE: Self = Self(0);
    /// All devices.
    pub const ALL: Self = Self(u8::MAX);

    /// Returns the set of the device with this number, which is less than 8.
    pub const fn of(number: u8) -> Self {
        Self(1 << number)
    }

    /// Whether it has no device.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether another set has a device of this one.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOrAssign for DeviceSet {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
