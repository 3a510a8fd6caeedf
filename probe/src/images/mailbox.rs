//! The places in `mailboxes_t` and of the channels that are asked at every look, resolved by name.

use super::{ChannelPlaces, ChannelRole};
use layouts::CoreKind;
use symbols::{Located, Symbols};

/// Addresses in the mailbox of one tile, as its image's DWARF has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox {
    /// `launch_msg_rd_ptr`, a word.
    pub rd_ptr: u64,
    /// `launch`, the first entry.
    pub launch: u64,
    /// Size of a launch entry.
    pub launch_bytes: u64,
    /// Number of launch entries.
    pub launch_count: u64,
    /// `kernel_config.enables` in an entry.
    pub enables: u64,
    /// `kernel_config.mode` in an entry, a byte.
    pub mode: u64,
    /// `kernel_config.host_assigned_id` in an entry.
    pub host_assigned_id: u64,
    /// `kernel_config.watcher_kernel_ids` in an entry, two bytes each.
    pub kernel_ids: u64,
    /// `go_messages[0].signal`, a byte.
    pub go_signal: u64,
    /// `go_message_index`, a word.
    pub go_index: u64,
    /// `watcher.debug_waypoint`, a word per core.
    pub waypoints: u64,
    /// `watcher.pause_status.flags`, a byte per core, if there is one.
    pub pause_flags: Option<u64>,
    /// `erisc_info->channels`, 16 bytes each, on Ethernet cores.
    pub channels: Option<u64>,
    /// The first byte of the mailbox.
    pub base: u64,
    /// Its size, without the profiler's records at its end, which nobody clears or reads.
    pub bytes: u64,
}

impl Mailbox {
    /// Finds the members by name; none if the image lacks one of them.
    pub(super) fn find(symbols: &Symbols) -> Option<Self> {
        let find = |path: &str| symbols.locate(path).ok();
        let at = |path: &str| find(path).map(|place| place.address());
        let launch = find("mailboxes->launch")?;
        let entry = launch.address();
        let inside = |member: &str| {
            at(&format!("mailboxes->launch[0].kernel_config.{member}"))?.checked_sub(entry)
        };
        let profiler = at("mailboxes->profiler").and_then(|at| at.checked_sub(launch.base));
        let whole = || symbols.type_named("mailboxes_t").and_then(|ty| ty.size());
        Some(Self {
            rd_ptr: at("mailboxes->launch_msg_rd_ptr")?,
            launch: entry,
            launch_bytes: launch.field.stride,
            launch_count: launch.field.count,
            enables: inside("enables")?,
            mode: inside("mode")?,
            host_assigned_id: inside("host_assigned_id")?,
            kernel_ids: inside("watcher_kernel_ids")?,
            go_signal: at("mailboxes->go_messages[0].signal")?,
            go_index: at("mailboxes->go_message_index")?,
            waypoints: at("mailboxes->watcher.debug_waypoint")?,
            pause_flags: at("mailboxes->watcher.pause_status.flags"),
            channels: at("erisc_info->channels"),
            base: launch.base,
            bytes: profiler.or_else(whole)?,
        })
    }

    /// The waypoint word of a core.
    pub fn waypoint(&self, core: CoreKind) -> u64 {
        self.waypoints + 4 * processor(core)
    }
}

/// A core's index in the mailbox's arrays (tt-metal.md 1.3): Ethernet 0; BRISC, NCRISC, TRISC0-2.
pub fn processor(core: CoreKind) -> u64 {
    match core {
        CoreKind::Brisc | CoreKind::Erisc => 0,
        CoreKind::Ncrisc => 1,
        CoreKind::Trisc0 => 2,
        CoreKind::Trisc1 => 3,
        CoreKind::Trisc2 => 4,
    }
}

/// The global `eth_channel_places` of a kernel.
#[derive(Debug)]
pub(crate) struct ChannelTable {
    pub(crate) address: u64,
    channels: Located,
    sync: u64,
    role: u64,
}

/// Finds the table; none for a kernel without one.
pub(super) fn channel_table(symbols: &Symbols) -> Option<ChannelTable> {
    let channels = symbols.locate("eth_channel_places.channels").ok()?;
    let address = channels.address();
    let inside = |member: &str| {
        let place = symbols.locate(&format!("eth_channel_places.channels[0].{member}")).ok()?;
        place.address().checked_sub(address)
    };
    Some(ChannelTable { address, sync: inside("sync")?, role: inside("role")?, channels })
}

impl ChannelTable {
    /// Bytes of the table.
    pub(crate) fn len(&self) -> u32 {
        self.channels.field.size as u32
    }

    /// Reads the table from its bytes.
    pub(crate) fn read(&self, bytes: &[u8]) -> ChannelPlaces {
        let mut places = ChannelPlaces::default();
        for (index, place) in (0..self.channels.field.count).zip(&mut places) {
            let word = |at: u64| {
                let start = (index * self.channels.field.stride + at) as usize;
                let word = bytes.get(start..).and_then(|rest| rest.first_chunk()).copied();
                u32::from_le_bytes(word.unwrap_or_default())
            };
            let sync = word(self.sync);
            let role = match word(self.role) {
                1 => ChannelRole::Sender,
                2 => ChannelRole::Receiver,
                3 => ChannelRole::Handshake,
                _ => ChannelRole::Unused,
            };
            *place = (role, (sync != 0).then_some(sync.into()));
        }
        places
    }
}
