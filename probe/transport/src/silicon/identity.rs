//! By what a card is known again after its device file was closed.

/// A card, and how long its firmware has been running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(super) pci: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) asic_id: Option<String>,
    /// Firmware of ARC counts them from its start.
    pub(super) heartbeat: i64,
}

impl Identity {
    /// Whether it is the same card as earlier, and was not reset since.
    pub(super) fn follows(&self, earlier: &Self) -> bool {
        let same = Self { heartbeat: earlier.heartbeat, ..self.clone() } == *earlier;
        same && self.heartbeat >= earlier.heartbeat
    }
}
