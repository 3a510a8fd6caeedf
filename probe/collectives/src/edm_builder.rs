//! Builds the EDM of one Ethernet tile as in the CCL guide: the caller adds channels and receives
//! their addresses; only this builder knows the layout of the kernel's arguments.

use super::edm_settings::Limits;
pub use super::edm_settings::{EDM, EdmSettings};
use images::ImageMap;
use launch::{
    ControlError, Firmware, KernelLaunch, arguments, constant_of, image, semaphore_address,
};
use layouts::{ChipLayout, NocXy};
use machine::place::Place;

/// The addresses of a channel for its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelAddresses {
    /// Address of the first buffer, in the Ethernet tile.
    pub buffers: u32,
    /// Address of the word that the first worker increments, in the Ethernet tile; those of further
    /// workers follow at 16-byte intervals.
    pub semaphore: u32,
}

/// The parameters of a channel.
#[derive(Clone, Debug)]
struct AddedChannel {
    sends: bool,
    messages: u32,
    worker_semaphore: u32,
    workers: Vec<NocXy>,
}

impl AddedChannel {
    /// Returns the number of semaphores: one for each worker.
    fn semaphores(&self) -> u32 {
        self.workers.len().max(1) as u32
    }
}

/// An EDM under construction.
#[derive(Clone, Debug)]
pub struct EdmBuilder {
    layout: &'static ChipLayout,
    place: Place,
    handshake_sender: bool,
    settings: EdmSettings,
    limits: Limits,
    channels: Vec<AddedChannel>,
}

impl EdmBuilder {
    /// Creates an EDM without channels. Exactly one end of a link is the sender of the handshake.
    ///
    /// # Errors
    /// `NoImage` and `NoMember`, or `Settings` for buffers that the kernel would refuse.
    pub fn new(
        images: &ImageMap,
        place: Place,
        handshake_sender: bool,
        settings: EdmSettings,
    ) -> Result<Self, ControlError> {
        let limits = Limits::of(images)?;
        let EdmSettings { buffer_bytes, buffers_per_channel, .. } = settings;
        let refuse = |why: String| Err(ControlError::Settings(format!("EDM of {place}: {why}")));
        if buffer_bytes == 0 || !buffer_bytes.is_multiple_of(32) {
            return refuse(format!("a buffer of {buffer_bytes} bytes is not a multiple of 32"));
        }
        if buffers_per_channel == 0 || buffers_per_channel > limits.buffers {
            let most = limits.buffers;
            return refuse(format!(
                "{buffers_per_channel} buffers per channel: must be 1 to {most}"
            ));
        }
        let (layout, channels) = (images.layout(), Vec::new());
        Ok(Self { layout, place, handshake_sender, settings, limits, channels })
    }

    /// Adds a channel that sends the contents of its buffers, which workers fill, over the link.
    /// Without workers the EDM generates the messages. `worker_semaphore` is an address in the
    /// workers' L1.
    ///
    /// # Errors
    /// `Settings` if there is no room for it.
    pub fn add_sender_channel(
        &mut self,
        worker_semaphore: u32,
        messages: u32,
        workers: &[NocXy],
    ) -> Result<ChannelAddresses, ControlError> {
        self.add(AddedChannel {
            sends: true,
            messages,
            worker_semaphore,
            workers: workers.to_vec(),
        })
    }

    /// Adds a channel whose buffers workers empty. Without workers the EDM checks incoming messages
    /// and drops them.
    ///
    /// # Errors
    /// As [`EdmBuilder::add_sender_channel`].
    pub fn add_receiver_channel(
        &mut self,
        worker_semaphore: u32,
        messages: u32,
        workers: &[NocXy],
    ) -> Result<ChannelAddresses, ControlError> {
        self.add(AddedChannel {
            sends: false,
            messages,
            worker_semaphore,
            workers: workers.to_vec(),
        })
    }

    fn add(&mut self, channel: AddedChannel) -> Result<ChannelAddresses, ControlError> {
        let refuse =
            |why: String| Err(ControlError::Settings(format!("EDM of {}: {why}", self.place)));
        if channel.workers.len() > self.limits.workers as usize {
            let most = self.limits.workers;
            return refuse(format!(
                "{} workers of a channel: at most {most}",
                channel.workers.len()
            ));
        }
        let number = self.channels.len() as u32;
        if number >= self.limits.channels {
            return refuse(format!("more than {} channels", self.limits.channels));
        }
        let addresses = self.addresses(number);
        let end = u64::from(addresses.buffers) + self.channel_bytes();
        if end > u64::from(self.limits.end) {
            let room = self.limits.end - self.limits.start;
            return refuse(format!(
                "{} channels of {} buffers of {} bytes do not fit into the {room} bytes of L1 for them",
                number + 1,
                self.settings.buffers_per_channel,
                self.settings.buffer_bytes
            ));
        }
        self.channels.push(channel);
        Ok(addresses)
    }

    /// Returns the addresses of the channel of this number. Its buffers have the same address at
    /// both ends of the link.
    fn addresses(&self, number: u32) -> ChannelAddresses {
        let buffers = u64::from(self.limits.start) + u64::from(number) * self.channel_bytes();
        let before = self.channels.iter().take(number as usize).map(AddedChannel::semaphores).sum();
        let base = self.layout.eth.l1.kernel_config.at;
        let semaphore = semaphore_address(base, self.limits.arguments, before);
        ChannelAddresses { buffers: buffers as u32, semaphore: semaphore as u32 }
    }

    fn channel_bytes(&self) -> u64 {
        let EdmSettings { buffer_bytes, buffers_per_channel, .. } = self.settings;
        u64::from(buffers_per_channel) * (u64::from(buffer_bytes) + u64::from(self.limits.sync))
    }

    /// Returns the launch of the EDM.
    ///
    /// # Errors
    /// `NoMember` if the kernel's debug information lacks an argument.
    pub fn build(&self, images: &ImageMap) -> Result<KernelLaunch<'static>, ControlError> {
        let constant = |name| constant_of(images, EDM, name);
        let ends = if self.settings.worker_initiated {
            "WORKER_INITIATED"
        } else {
            "MESSAGE_COUNT_REACHED"
        };
        let settings = &self.settings;
        let mut values: Vec<(String, u32)> = [
            ("run_id", settings.run_id),
            ("handshake_sender", self.handshake_sender.into()),
            ("channels", self.channels.len() as u32),
            ("buffers_per_channel", settings.buffers_per_channel),
            ("buffer_bytes", settings.buffer_bytes),
            ("buffers_address", self.limits.start),
            ("termination_mode", constant(ends)?),
            ("buffer_sharing_mode", constant(settings.sharing)?),
            ("separate_sync", settings.separate_sync.into()),
            ("idle_count", settings.idle_count),
            ("busy_count", settings.busy_count),
            ("pause_at_stage", settings.pause_at_stage),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
        for (number, channel) in (0..).zip(&self.channels) {
            let mut put =
                |name: &str, value| values.push((format!("channel[{number}].{name}"), value));
            put("is_sender", channel.sends.into());
            put("message_count", channel.messages);
            put("semaphore_address", self.addresses(number).semaphore);
            put("worker_semaphore_address", channel.worker_semaphore);
            put("workers", channel.workers.len() as u32);
            for (index, worker) in channel.workers.iter().enumerate() {
                put(&format!("worker_xy[{index}]"), xy(*worker));
            }
        }
        let edm = image(images, EDM)?;
        Ok(self.launch(arguments(&edm, "edm_args_t", &values)?))
    }

    fn launch(&self, arguments: Vec<u8>) -> KernelLaunch<'static> {
        let semaphores: u32 = self.channels.iter().map(AddedChannel::semaphores).sum();
        KernelLaunch {
            place: self.place,
            kernel: EDM,
            firmware: Firmware::BUILT_IN.application,
            core_type: "ACTIVE_ETH",
            config_base: self.layout.eth.l1.kernel_config.at,
            text_offset: 0,
            arguments,
            semaphores: vec![0; semaphores as usize],
            in_place: false,
            host_assigned_id: self.settings.run_id,
        }
    }
}

/// Encodes a tile's coordinates for the kernels.
pub(super) fn xy(tile: NocXy) -> u32 {
    u32::from(tile.x) | u32::from(tile.y) << 16
}
