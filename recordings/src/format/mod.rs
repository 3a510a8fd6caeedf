//! The format on disk. It has its own types, so that changes elsewhere do not change old files.
//!
//! Additions are new keys with a default and keep [`FORMAT`]. A change that an older reader would
//! misread increments it. Format 1 had one message per moment with all bytes ([`earlier`]); in format
//! 2 every piece of a moment had a time, in format 3 every piece that was read.

mod channels;
mod chip;
mod earlier;
mod index;
mod moment;
mod notes;
mod reason;
mod session;

pub(crate) use channels::{Channel, channels};
pub(crate) use chip::{
    ChipMoment, Since, StoredSpan, by_tiles, differences, in_turn, of_tiles, of_turns,
};
pub(crate) use earlier::EarlierMoment;
pub(crate) use index::{Entry, Index};
pub(crate) use moment::{MomentRecord, Stopped};
pub(crate) use reason::{StoredGap, TILE_END};
pub(crate) use session::SessionRecord;

/// The number of this format, checked when a recording is opened.
pub const FORMAT: u32 = 4;

/// The profile of the MCAP header, which identifies meshscope recordings.
pub(crate) const PROFILE: &str = "meshscope";

/// The name of the metadata record of the session. It is written twice: at the start, and when the
/// recording ends.
pub(crate) const SESSION: &str = "meshscope.session";

/// The name of the attachment with the times of all moments and the marks.
pub(crate) const INDEX: &str = "meshscope.index";

/// The name of the attachment with the messages of the first moment, a key snapshot, once more: the
/// moments after it need it.
pub(crate) const KEY: &str = "meshscope.key";

/// The name of the attachment with all notes, so that they are read without the chunks.
pub(crate) const NOTES: &str = "meshscope.notes";

/// The name of the attachment with the run of an emulated mesh from its start.
pub(crate) const RUN: &str = "meshscope.run";

/// The encoding of schemas.
pub(crate) const SCHEMA_ENCODING: &str = "jsonschema";

/// The media type of attached ELF images, which are compressed.
pub(crate) const ELF_MEDIA_TYPE: &str = "application/zstd";

/// The ending of the name of a compressed attachment.
pub(crate) const COMPRESSED: &str = ".zst";
