//! A fabric mux: where its words and slots are, what its clients have to know, and its launch.

use super::client::Connection;
use decode::images::{Image, ImageMap};
use launch::records::size;
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
/// Where the words stand: behind our Tensix kernels, and where L1 of an Ethernet tile is unreserved.
const TENSIX_WORDS: u32 = 0x2_0000;
const ETH_WORDS: u32 = 0x1_8000;
/// Where slots end on an Ethernet tile: its routing words follow.
const ETH_END: u64 = 0x3_DC00;

/// How a mux waits for a slot of its router; the names of its images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// As long as it takes.
    Unbounded,
    /// Not at all.
    NoWait,
    /// As long as it takes, looking after the channel's client meanwhile.
    UnboundedTeardown,
    /// At most 32768 polls, looking after the client.
    Bounded32768,
    /// At most 256 polls, looking after the client, and a bounded drain.
    Bounded256,
}

impl Policy {
    /// All five.
    pub const ALL: [Self; 5] = [
        Self::Unbounded,
        Self::NoWait,
        Self::UnboundedTeardown,
        Self::Bounded32768,
        Self::Bounded256,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unbounded => "unbounded",
            Self::NoWait => "no_wait",
            Self::UnboundedTeardown => "unbounded_teardown",
            Self::Bounded32768 => "bounded_32768",
            Self::Bounded256 => "bounded_256",
        }
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

/// How long the wait of a bounded policy lasts, if not so many polls as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// So long.
    pub wait_cycles: u32,
    /// Does the channel that waits take every slot that the router frees meanwhile, as the public write-up of the reduce-scatter hang
    /// reads such a wait? Else its turn ends with the first one.
    pub keeps_router: bool,
}

/// What a launch of a mux may ask for beside what its channels and images say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MuxTerms {
    /// How long a bounded wait lasts.
    pub turn: Option<Turn>,
    /// A dispatcher's tile that the kernel tells that it is done; where firmware does that there is none.
    pub notifies: Option<NocXy>,
    /// Is the kernel's text there already?
    pub in_place: bool,
}

/// A mux in front of a router's channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mux {
    /// Its tile, on the router's chip.
    pub place: Place,
    /// What it runs on.
    pub core: MuxCore,
    /// How it waits.
    pub policy: Policy,
    /// Channels, one for each client.
    pub channels: u32,
    /// Slots of each.
    pub buffer_count: u32,
    /// Bytes of a packet's header.
    pub header_bytes: u32,
    /// Where packets go.
    pub router: Connection,
}

impl Mux {
    /// The kernel's image.
    pub fn kernel(&self) -> &'static str {
        self.policy.image(self.core)
    }

    fn words(&self) -> u32 {
        if self.core == MuxCore::Tensix { TENSIX_WORDS } else { ETH_WORDS }
    }

    /// Address of one of its words.
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

    /// What the client of a channel has to know.
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

    /// The firmware under it.
    pub fn firmware(&self) -> &'static str {
        if self.core == MuxCore::Tensix {
            Firmware::OURS.tensix[0]
        } else {
            Firmware::OURS.application
        }
    }

    /// [`Mux::place_kernel`], then the go message.
    ///
    /// # Errors
    /// The same.
    pub fn launch(&self, images: &mut ImageMap, run_id: u32) -> Result<Operation, ControlError> {
        let mut operation = self.place_kernel(images, run_id, false)?;
        operation.then(go_kernel(images, self.firmware(), self.place)?);
        Ok(operation)
    }

    /// Clears its words, and launches it up to, but without, the go message. On an Ethernet tile the application runs already. Its
    /// clients may be launched after this. `in_place`: its text is there already.
    ///
    /// # Errors
    /// When there is no room, or an image is missing or lacks a member.
    pub fn place_kernel(
        &self,
        images: &mut ImageMap,
        run_id: u32,
        in_place: bool,
    ) -> Result<Operation, ControlError> {
        self.place_on(images, run_id, MuxTerms { in_place, ..MuxTerms::default() })
    }

    /// [`Mux::place_kernel`] on other terms.
    ///
    /// # Errors
    /// The same.
    pub fn place_on(
        &self,
        images: &mut ImageMap,
        run_id: u32,
        terms: MuxTerms,
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
                "{channels} channels of {slots} slots, of which it takes 1 to {most} with a slot at least"
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

impl MuxTerms {
    fn values(self) -> Vec<(String, u32)> {
        let xy = |NocXy { x, y }| u32::from(x) | u32::from(y) << 16;
        let turn = self.turn.unwrap_or(Turn { wait_cycles: 0, keeps_router: false });
        let values = [
            ("wait_cycles", turn.wait_cycles),
            ("keeps_router", turn.keeps_router.into()),
            ("dispatch_xy", self.notifies.map_or(0, xy)),
        ];
        values.map(|(member, value)| (member.to_owned(), value)).to_vec()
    }
}

/// Offset of a member, by a path that begins with its type.
pub(super) fn offset(image: &Image, path: &str) -> Result<u32, ControlError> {
    let field = image.symbols.field(path);
    let field = field.map_err(|_| ControlError::NoMember(image.name.clone(), path.to_owned()))?;
    Ok(field.offset as u32)
}
