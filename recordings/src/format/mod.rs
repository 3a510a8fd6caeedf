//! The format on disk: its own types, so that a change elsewhere cannot change old files.
//!
//! Additions are new keys with a default and keep [`FORMAT`]; anything that an older reader would misread raises it.

mod moment;
mod session;

pub(crate) use moment::Moment;
pub(crate) use session::Session;

/// Number of this format, checked when a recording is opened.
pub const FORMAT: u32 = 1;

/// Profile of the MCAP header: what says that a file is ours.
pub(crate) const PROFILE: &str = "meshscope";

/// Name of the metadata record that describes the session.
pub(crate) const SESSION: &str = "meshscope.session";

/// Topic of the channel of moments.
pub(crate) const MOMENTS: &str = "/moments";

/// Message encoding of that channel, as MCAP's registry names it.
pub(crate) const ENCODING: &str = "msgpack";

/// Media type of attached ELF images.
pub(crate) const ELF_MEDIA_TYPE: &str = "application/x-elf";
