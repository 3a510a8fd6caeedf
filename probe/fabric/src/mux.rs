//! A fabric mux: addresses of its words and slots, its clients' connections, and its launch.

use super::client::Connection;
use images::{Image, ImageMap};
use launch::records::{field, size};
use launch::{
    CONFIG_BASE, ControlError, Firmware, KernelLaunch, Operation, TEXT_OFFSET, arguments,
    constant_of, go_kernel, image, place_kernel,
};
use layouts::NocXy;
use machine::fabric::MuxCore;
use machine::place::Place;

/// Types of the kernel.
const ARGUMENTS: &str = "fabric_mux_args_t";
const WORDS: &str = "fabric_mux_words_t";
/// Address of the words: behind the built-in Tensix kernels, and in unreserved L1 of an Ethernet
/// tile.
const TENSIX_WORDS: u32 = 0x2_0000;
const ETH_WORDS: u32 = 0x1_8000;
/// End of the slots on an Ethernet tile: its routing words follow.
const ETH_END: u64 = 0x3_DC00;

/// How a mux waits for a slot of its router; each policy has its own images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Policy {
    /// Without a bound.
    Unbounded,
    /// Not at all.
    NoWait,
    /// Without a bound; polls the channel's client meanwhile.
    UnboundedTeardown,
    /// At most 32768 polls; polls the client meanwhile.
    #[strum(serialize = "bounded_32768")]
    Bounded32768,
    /// At most 256 polls; polls the client meanwhile; the drain is bounded too.
    #[strum(serialize = "bounded_256")]
    Bounded256,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 5] = [
        Self::Unbounded,
        Self::NoWait,
        Self::UnboundedTeardown,
        Self::Bounded32768,
        Self::Bounded256,
    ];

    /// Returns the policy's name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn image(self, core: MuxCore) -> &'static str {
        match (self, core) {
            (Self::Unbounded, MuxCore::Tensix) => "fabric_mux_unbounded_brisc",
            (Self::Unbounded, MuxCore::Ethernet) => "fabric_mux_unbounded_erisc",
            (Self::NoWait, MuxCore::Tensix) => "fabric_mux_no_wait_brisc",
            (Self::NoWait, MuxCore::Ethernet) => "fabric_mux_no_wait_erisc",
            (Self::UnboundedTeardown, MuxCore::Tensix) => "fabric_mux_unbounded_teardown_brisc",
            (Self::UnboundedTeardown, MuxCore::Ethernet) => "fabric_mux_unbounded_teardown_erisc",
            (Self::Bounded32768, MuxCore::Tensix) => "fabric_mux_bounded_32768_brisc",
            (Self::Bounded32768, MuxCore::Ethernet) => "fabric_mux_bounded_32768_erisc",
            (Self::Bounded256, MuxCore::Tensix) => "fabric_mux_bounded_256_brisc",
            (Self::Bounded256, MuxCore::Ethernet) => "fabric_mux_bounded_256_erisc",
        }
    }
}

/// The bound of a bounded policy's wait, instead of the number of polls in its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitBound {
    /// Bound of the wait.
    pub wait_cycles: u32,
    /// Whether the waiting channel takes every slot that the router frees meanwhile, as in the
    /// public report of the reduce-scatter hang. Otherwise its turn ends with the first slot.
    pub keeps_router: bool,
}

/// Options of a mux launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MuxOptions {
    /// The bound of a bounded policy's wait.
    pub turn: Option<WaitBound>,
    /// The dispatcher's tile that the kernel notifies when done; none if firmware notifies it.
    pub notifies: Option<NocXy>,
    /// Whether the kernel's text is already in L1.
    pub in_place: bool,
}

/// A mux in front of a router's channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mux {
    /// The mux's tile, on the router's chip.
    pub place: Place,
    /// The kind of core.
    pub core: MuxCore,
    /// The policy of waits.
    pub policy: Policy,
    /// Number of channels, one for each client.
    pub channels: u32,
    /// Slots of each channel.
    pub buffer_count: u32,
    /// Bytes of a packet's header.
    pub header_bytes: u32,
    /// The connection to the router.
    pub router: Connection,
}

impl Mux {
    /// Returns the name of the kernel's image.
    pub fn kernel(&self) -> &'static str {
        self.policy.image(self.core)
    }

    fn words(&self) -> u32 {
        if self.core == MuxCore::Tensix { TENSIX_WORDS } else { ETH_WORDS }
    }

    /// Returns the address of one of the mux's words.
    ///
    /// # Errors
    /// When the image is missing or does not describe it.
    pub fn word(&self, images: &ImageMap, member: &str) -> Result<u32, ControlError> {
        let image = image(images, self.kernel())?;
        Ok(self.words() + offset(&image, &format!("{WORDS}.{member}"))?)
    }

    fn slots(&self, images: &ImageMap) -> Result<u32, ControlError> {
        let bytes = size(&*image(images, self.kernel())?, WORDS)?;
        Ok(self.words() + bytes.next_multiple_of(64) as u32)
    }

    /// Returns the connection of a channel's client.
    ///
    /// # Errors
    /// As [`Mux::word`].
    pub fn connection(&self, images: &ImageMap, channel: u32) -> Result<Connection, ControlError> {
        let bytes = self.buffer_count * self.router.buffer_bytes;
        Ok(Connection {
            place: self.place,
            direction: self.router.direction,
            buffers: self.slots(images)? + channel * bytes,
            buffer_bytes: self.router.buffer_bytes,
            buffer_count: self.buffer_count,
            handshake: self.word(images, &format!("conn_semaphore[{channel}].value"))?,
            location_info: self.word(images, &format!("conn_info[{channel}]"))?,
            buffer_index: self.word(images, &format!("buffer_index[{channel}]"))?,
            stream: channel,
            status: self.word(images, "status")?,
        })
    }

    /// Returns the name of the firmware that starts the kernel.
    pub fn firmware(&self) -> &'static str {
        if self.core == MuxCore::Tensix {
            Firmware::BUILT_IN.tensix[0]
        } else {
            Firmware::BUILT_IN.application
        }
    }

    /// Launches the mux: [`Mux::place_kernel`], then the go message.
    ///
    /// # Errors
    /// The same.
    pub fn launch(&self, images: &mut ImageMap, run_id: u32) -> Result<Operation, ControlError> {
        let mut operation = self.place_kernel(images, run_id, false)?;
        operation.then(go_kernel(images, self.firmware(), self.place)?);
        Ok(operation)
    }

    /// Clears the words, and prepares the launch up to, but without, the go message. On an Ethernet
    /// tile the application must already run. Clients may be launched after this. `in_place`: the
    /// text is already in L1.
    ///
    /// # Errors
    /// When there is no room, or an image is missing or lacks a member.
    pub fn place_kernel(
        &self,
        images: &mut ImageMap,
        run_id: u32,
        in_place: bool,
    ) -> Result<Operation, ControlError> {
        self.place_on(images, run_id, MuxOptions { in_place, ..MuxOptions::default() })
    }

    /// Prepares the launch as [`Mux::place_kernel`] does, with options.
    ///
    /// # Errors
    /// The same.
    pub fn place_on(
        &self,
        images: &mut ImageMap,
        run_id: u32,
        terms: MuxOptions,
    ) -> Result<Operation, ControlError> {
        let image = image(images, self.kernel())?;
        let most = constant_of(images, self.kernel(), "FABRIC_MUX_MAX_CHANNELS")?;
        let slots = self.slots(images)?;
        let used =
            u64::from(self.channels * self.buffer_count) * u64::from(self.router.buffer_bytes);
        let end =
            if self.core == MuxCore::Tensix { images.layout().tensix.l1_bytes } else { ETH_END };
        let refuse =
            |why: String| Err(ControlError::Settings(format!("mux on {}: {why}", self.place)));
        if self.channels == 0 || self.channels > most || self.buffer_count == 0 {
            let (channels, slots) = (self.channels, self.buffer_count);
            return refuse(format!(
                "{channels} channels of {slots} slots: a mux has 1 to {most} channels, each with at least one slot"
            ));
        }
        if u64::from(slots) + used > end {
            return refuse(format!("its channels need {used} bytes of L1, which ends at {end:#x}"));
        }
        let mut operation = Operation::new(format!("mux on {}", self.place));
        let bytes = size(&image, WORDS)? as usize;
        operation.write(self.place.at(self.words().into()), vec![0; bytes]);
        let mut values: Vec<(String, u32)> = [
            ("run_id", run_id),
            ("num_full_size_channels", self.channels),
            ("num_buffers_full_size_channel", self.buffer_count),
            ("channel_buffer_size", self.router.buffer_bytes),
            ("packet_header_bytes", self.header_bytes),
            ("words_address", self.words()),
            ("channels_address", slots),
        ]
        .map(|(member, value)| (member.to_owned(), value))
        .to_vec();
        values.extend(self.router.values("router"));
        values.extend(terms.values());
        let tensix = self.core == MuxCore::Tensix;
        let launch = KernelLaunch {
            place: self.place,
            kernel: self.kernel(),
            firmware: self.firmware(),
            core_type: if tensix { "TENSIX" } else { "ACTIVE_ETH" },
            config_base: if tensix { CONFIG_BASE } else { images.layout().eth.l1.kernel_config.at },
            text_offset: if tensix { TEXT_OFFSET } else { 0 },
            arguments: arguments(&image, ARGUMENTS, &values)?,
            semaphores: Vec::new(),
            in_place: terms.in_place,
            host_assigned_id: run_id,
        };
        operation.then(place_kernel(images, &launch)?);
        Ok(operation)
    }
}

impl MuxOptions {
    fn values(self) -> Vec<(String, u32)> {
        let xy = |NocXy { x, y }| u32::from(x) | u32::from(y) << 16;
        let turn = self.turn.unwrap_or(WaitBound { wait_cycles: 0, keeps_router: false });
        let values = [
            ("wait_cycles", turn.wait_cycles),
            ("keeps_router", turn.keeps_router.into()),
            ("dispatch_xy", self.notifies.map_or(0, xy)),
        ];
        values.map(|(member, value)| (member.to_owned(), value)).to_vec()
    }
}

/// Returns the offset of a member, by a path that begins with its type.
pub(super) fn offset(image: &Image, path: &str) -> Result<u32, ControlError> {
    Ok(field(image, path)?.offset as u32)
}
