//! The settings common to all channels of an EDM, and the limits of its kernel.

use images::ImageMap;
use launch::records::size;
use launch::{ControlError, constant_of, image};

/// The kernel's image.
pub const EDM: &str = "edm";
/// The number of its last stage, the teardown.
pub(super) const EDM_TEARDOWN: u32 = 4;

/// The settings common to all channels of an EDM. Both ends of a link must have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdmSettings {
    /// The id of the launch: the same at both ends, different for each launch, not zero.
    pub run_id: u32,
    /// Bytes of the largest message, a multiple of 32.
    pub buffer_bytes: u32,
    /// Buffers of each channel.
    pub buffers_per_channel: u32,
    /// Whether channels end when their workers signal it, rather than after a number of messages.
    pub worker_initiated: bool,
    /// The buffer sharing mode of a channel, by the name of the kernel's constant.
    pub sharing: &'static str,
    /// Whether payload and sync word are two sends.
    pub separate_sync: bool,
    /// Passes without progress before control returns to base firmware.
    pub idle_count: u32,
    /// Passes before control returns to base firmware despite progress.
    pub busy_count: u32,
    /// The stage before which the kernel pauses: 0 none, 1 offer of the handshake, 2 its answer, 3
    /// transfer, 4 teardown.
    pub pause_at_stage: u32,
}

impl Default for EdmSettings {
    fn default() -> Self {
        Self {
            run_id: 1,
            buffer_bytes: 16 << 10,
            buffers_per_channel: 2,
            worker_initiated: false,
            sharing: "NOT_SHARED",
            separate_sync: false,
            idle_count: 64,
            busy_count: 256,
            pause_at_stage: 0,
        }
    }
}

/// The limits of the kernel, from its image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) channels: u32,
    pub(super) buffers: u32,
    pub(super) workers: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Bytes after each buffer.
    pub(super) sync: u32,
    pub(super) arguments: u64,
}

impl Limits {
    pub(super) fn of(images: &ImageMap) -> Result<Self, ControlError> {
        let constant = |name| constant_of(images, EDM, name);
        let edm = image(images, EDM)?;
        Ok(Self {
            channels: constant("EDM_MAX_CHANNELS")?,
            buffers: constant("EDM_MAX_BUFFERS")?,
            workers: constant("EDM_MAX_WORKERS")?,
            start: constant("EDM_BUFFERS")?,
            end: constant("EDM_BUFFERS_END")?,
            sync: size(&edm, "eth_channel_sync_t")? as u32,
            arguments: size(&edm, "edm_args_t")?,
        })
    }
}
