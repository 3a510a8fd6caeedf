//! Ranges that were not read, with the reason.

use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Gap, Span};
use serde::{Deserialize, Serialize};

/// Tile-local addresses have 36 bits.
pub(crate) const TILE_END: u64 = 1 << 36;

/// A range that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredGap {
    pub(crate) at: SpanPlace,
    pub(crate) len: u32,
    reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    words: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    number: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An address in the file's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpanPlace {
    chip: u16,
    x: u8,
    y: u8,
    offset: u64,
}

impl SpanPlace {
    /// Whether `len` bytes, at least one, end within a tile's addresses.
    pub(crate) fn holds(self, len: usize) -> bool {
        len > 0 && self.offset.saturating_add(len as u64) <= TILE_END
    }
}

impl From<NocAddr> for SpanPlace {
    fn from(addr: NocAddr) -> Self {
        let NocAddr { chip, tile, offset } = addr;
        Self { chip: chip.0, x: tile.x, y: tile.y, offset }
    }
}

impl From<SpanPlace> for NocAddr {
    fn from(place: SpanPlace) -> Self {
        let tile = NocXy { x: place.x, y: place.y };
        Self { chip: ChipId(place.chip), tile, offset: place.offset }
    }
}

impl From<&Gap> for StoredGap {
    fn from(gap: &Gap) -> Self {
        let (reason, words, number) = encode(&gap.reason);
        let at = gap.span.addr.into();
        Self { at, len: gap.span.len, reason: reason.into(), words, number }
    }
}

impl StoredGap {
    /// Returns the gap; none for an impossible range. An unknown reason, from a newer meshscope, is
    /// kept as text.
    pub(crate) fn gap(&self) -> Option<Gap> {
        let span = Span { addr: self.at.into(), len: self.len };
        self.at.holds(self.len as usize).then(|| Gap { span, reason: self.decode() })
    }

    fn decode(&self) -> AccessError {
        match self.reason.as_str() {
            "refused" => AccessError::Refused(self.words.clone()),
            "timed_out" => AccessError::TimedOut { deadline_cycles: self.number },
            "unreachable" => AccessError::Unreachable(self.words.clone()),
            "hung" => AccessError::Hung(self.words.clone()),
            "in_reset" => AccessError::InReset,
            "device_gone" => AccessError::DeviceGone(self.words.clone()),
            "queue_error" => AccessError::QueueError { flags: self.number as u32 },
            "not_recorded" => AccessError::NotRecorded,
            "not_asked" => AccessError::NotRequested,
            newer => AccessError::Refused(format!("{newer} {}", self.words).trim_end().to_owned()),
        }
    }
}

/// Returns the reason's keyword in the file, its words and its number.
fn encode(reason: &AccessError) -> (&'static str, String, u64) {
    match reason {
        AccessError::Refused(why) => ("refused", why.clone(), 0),
        AccessError::TimedOut { deadline_cycles } => ("timed_out", String::new(), *deadline_cycles),
        AccessError::Unreachable(why) | AccessError::Overtaken(why) => {
            ("unreachable", why.clone(), 0)
        }
        AccessError::Hung(why) => ("hung", why.clone(), 0),
        AccessError::InReset => ("in_reset", String::new(), 0),
        AccessError::DeviceGone(words) => ("device_gone", words.clone(), 0),
        AccessError::QueueError { flags } => ("queue_error", String::new(), u64::from(*flags)),
        AccessError::NotRecorded => ("not_recorded", String::new(), 0),
        AccessError::NotRequested => ("not_asked", String::new(), 0),
    }
}
