//! The format on disk. It has its own types, so that changes elsewhere do not change old files.
//!
//! Additions are new keys with a default and keep [`FORMAT`]. A change that an older reader would
//! misread increments it.

mod moment;
mod session;

pub(crate) use moment::Moment;
pub(crate) use session::SessionRecord;

/// The number of this format, checked when a recording is opened.
pub const FORMAT: u32 = 1;

/// The profile of the MCAP header, which identifies meshscope recordings.
pub(crate) const PROFILE: &str = "meshscope";

/// The name of the metadata record of the session.
pub(crate) const SESSION: &str = "meshscope.session";

/// The topic of the channel of moments.
pub(crate) const MOMENTS: &str = "/moments";

/// The message encoding of the channel, as named in MCAP's registry.
pub(crate) const ENCODING: &str = "msgpack";

/// The media type of attached ELF images.
pub(crate) const ELF_MEDIA_TYPE: &str = "application/x-elf";
