//! What was done to a mesh from outside, each with its cycle: with the configuration, all that is needed to get it again.

use crate::disruption::Disruption;

/// Something done from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAction {
    /// A read of PCI config space.
    ConfigRead {
        /// PCIe device.
        device: usize,
        /// Byte offset.
        offset: u32,
    },
    /// A write of PCI config space.
    ConfigWrite {
        /// PCIe device.
        device: usize,
        /// Byte offset.
        offset: u32,
        /// The word.
        value: u32,
    },
    /// A read of a BAR.
    Read {
        /// PCIe device.
        device: usize,
        /// BAR number.
        bar: u8,
        /// Byte offset.
        offset: u64,
        /// Bytes asked for.
        len: usize,
    },
    /// A write of a BAR.
    Write {
        /// PCIe device.
        device: usize,
        /// BAR number.
        bar: u8,
        /// Byte offset.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A link was taken down or brought up.
    Link {
        /// Number of the link in the configuration.
        link: usize,
        /// Carries packets from now on.
        up: bool,
    },
    /// Something was made to go wrong, now or later.
    Disrupt {
        /// What.
        what: Disruption,
        /// Cycle at which it begins.
        from_cycle: u64,
        /// Cycle at which it ends by itself.
        until_cycle: Option<u64>,
    },
    /// A chip was reset.
    Reset {
        /// Chip index.
        chip: usize,
    },
}

/// A deed and when it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Cycle before the access.
    pub cycle: u64,
    /// What was done.
    pub action: HostAction,
}

/// Deeds in the order of their cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// The deeds.
    pub entries: Vec<JournalEntry>,
}
