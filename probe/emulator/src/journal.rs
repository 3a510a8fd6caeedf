//! The journal of host actions, each with its cycle. With the configuration it determines a run.

use crate::disruption::Disruption;

/// An action from outside the mesh.
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
        /// Number of bytes.
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
        /// Index of the link in the configuration.
        link: usize,
        /// Whether it carries packets from this cycle on.
        up: bool,
    },
    /// A disruption was planned.
    Disrupt {
        /// The disruption.
        what: Disruption,
        /// Cycle at which it begins.
        from_cycle: u64,
        /// Cycle at which it ends without a further action.
        until_cycle: Option<u64>,
    },
    /// A chip was reset.
    Reset {
        /// Chip index.
        chip: usize,
    },
}

/// A host action and its cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Cycle before the access.
    pub cycle: u64,
    /// The action.
    pub action: HostAction,
}

/// Host actions in the order of their cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// The entries.
    pub entries: Vec<JournalEntry>,
}
