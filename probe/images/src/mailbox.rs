//! The members of `mailboxes_t` that every snapshot reads, resolved by name.

use super::channels::Channels;
use super::signals::Signals;
use layouts::{ChipLayout, CoreId, CoreKind, NocAddr};
use symbols::Symbols;

/// Addresses and offsets in the mailbox of one tile, from its image's DWARF.
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
    /// `kernel_config.watcher_kernel_ids` in an entry.
    pub kernel_ids: u64,
    /// Size of a kernel id.
    pub kernel_id_bytes: u64,
    /// `go_messages`, the first one.
    pub go_message: u64,
    /// Size of a go message.
    pub go_message_bytes: u64,
    /// `kernel_config.kernel_config_base` in an entry, a word per kind of core.
    pub config_bases: Option<u64>,
    /// `kernel_config.sem_offset` in an entry, 16 bits per kind of core.
    pub semaphore_offsets: Option<u64>,
    /// `kernel_config.rta_offset` in an entry, per processor 16 bits for its unique and 16 bits for its
    /// common arguments.
    pub argument_offsets: Option<u64>,
    /// `kernel_config.local_cb_offset` in an entry, 16 bits, and `local_cb_mask`, a bit per circular
    /// buffer.
    pub circular_buffers: Option<(u64, u64)>,
    /// `kernel_config.brisc_noc_id` and `kernel_config.brisc_noc_mode` in an entry, a byte each.
    pub noc: Option<(u64, u64)>,
    /// `kernel_config.kernel_text_offset` in an entry, a word per processor.
    pub text_offsets: Option<u64>,
    /// `go_messages[0].signal`, a byte.
    pub go_signal: u64,
    /// The values of the signals.
    pub signals: Signals,
    /// `go_message_index`, a word.
    pub go_index: u64,
    /// `watcher.debug_waypoint`, the first one.
    pub waypoints: u64,
    /// Size of a waypoint.
    pub waypoint_bytes: u64,
    /// Number of waypoints.
    pub waypoint_count: u64,
    /// `watcher.pause_status.flags`, a byte per core, if the mailbox has it.
    pub pause_flags: Option<u64>,
    /// `erisc_info->channels`, on Ethernet cores.
    pub channels: Option<Channels>,
    /// The first byte of the mailbox.
    pub base: u64,
    /// Size of the mailbox without the profiler's records at its end, which meshscope neither
    /// clears nor reads.
    pub bytes: u64,
    /// The index of each kind of core in the mailbox's arrays.
    processors: [u64; CORES.len()],
}

/// Each kind of core with the enumerator of its index.
const CORES: [(CoreKind, &str); 6] = [
    (CoreKind::Brisc, "TensixProcessorTypes::DM0"),
    (CoreKind::Ncrisc, "TensixProcessorTypes::DM1"),
    (CoreKind::Trisc0, "TensixProcessorTypes::MATH0"),
    (CoreKind::Trisc1, "TensixProcessorTypes::MATH1"),
    (CoreKind::Trisc2, "TensixProcessorTypes::MATH2"),
    (CoreKind::Erisc, "EthProcessorTypes::DM0"),
];

impl Mailbox {
    /// Returns offset and bytes of a launch entry; of the first one if there is none of this index.
    pub fn entry(&self, index: u64) -> (u64, u64) {
        let index = if index < self.launch_count { index } else { 0 };
        (self.launch.saturating_add(index.saturating_mul(self.launch_bytes)), self.launch_bytes)
    }

    /// Returns the places of the launch entry at the read pointer, and of the one before.
    pub(crate) fn last_two(&self, pointer: u32) -> [(u64, u64); 2] {
        let count = self.launch_count.max(1);
        let now = u64::from(pointer) % count;
        [now, (now + count - 1) % count].map(|index| self.entry(index))
    }

    /// Finds the members by name; none if the image lacks one of them.
    pub(super) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        let find = |path: &str| symbols.locate(path).ok();
        let at = |path: &str| find(path).map(|place| place.address());
        let launch = find("mailboxes->launch")?;
        let entry = launch.address();
        let inside = |member: &str| {
            at(&format!("mailboxes->launch[0].kernel_config.{member}"))?.checked_sub(entry)
        };
        let profiler = at("mailboxes->profiler").and_then(|at| at.checked_sub(launch.base));
        let whole = || symbols.type_named("mailboxes_t").and_then(|ty| ty.size());
        let go = find("mailboxes->go_messages")?;
        let waypoints = find("mailboxes->watcher.debug_waypoint")?;
        let kernel_ids = find("mailboxes->launch[0].kernel_config.watcher_kernel_ids")?;
        Some(Self {
            rd_ptr: at("mailboxes->launch_msg_rd_ptr")?,
            launch: entry,
            launch_bytes: launch.field.stride,
            launch_count: launch.field.count,
            enables: inside("enables")?,
            mode: inside("mode")?,
            host_assigned_id: inside("host_assigned_id")?,
            kernel_ids: kernel_ids.address().checked_sub(entry)?,
            kernel_id_bytes: kernel_ids.field.stride,
            go_message: go.address(),
            go_message_bytes: go.field.stride,
            config_bases: inside("kernel_config_base"),
            semaphore_offsets: inside("sem_offset"),
            argument_offsets: inside("rta_offset"),
            circular_buffers: inside("local_cb_offset").zip(inside("local_cb_mask")),
            noc: inside("brisc_noc_id").zip(inside("brisc_noc_mode")),
            text_offsets: inside("kernel_text_offset"),
            go_signal: at("mailboxes->go_messages[0].signal")?,
            signals: Signals::find(symbols)?,
            go_index: at("mailboxes->go_message_index")?,
            waypoints: waypoints.address(),
            waypoint_bytes: waypoints.field.stride,
            waypoint_count: waypoints.field.count,
            pause_flags: at("mailboxes->watcher.pause_status.flags"),
            channels: Channels::find(layout, symbols),
            base: launch.base,
            bytes: profiler.or_else(whole)?,
            processors: CORES.map(|(core, name)| processor(layout, symbols, core, name)),
        })
    }

    /// Returns the address of a core's waypoint.
    pub fn waypoint(&self, core: CoreKind) -> u64 {
        self.waypoints.saturating_add(self.waypoint_bytes.saturating_mul(self.processor(core)))
    }

    /// Returns the words of a core that every snapshot reads, and the launch entries that are current most
    /// often: the first two, and the last, which precedes the first and lies next to the go message.
    pub(crate) fn words_on(&self, core: CoreId) -> [(NocAddr, u32); 5] {
        let place = |offset, len| Self::place_on(core, offset, len);
        let last = self.launch_count.saturating_sub(1).saturating_mul(self.launch_bytes);
        [
            place(self.rd_ptr, 4),
            place(self.launch, self.launch_bytes.saturating_mul(self.launch_count.min(2))),
            place(self.launch.saturating_add(last), self.launch_bytes),
            place(self.go_signal, 1),
            place(self.waypoint(core.core), self.waypoint_bytes),
        ]
    }

    /// Returns a range of the mailbox on a core's tile.
    pub(crate) fn place_on(core: CoreId, offset: u64, len: u64) -> (NocAddr, u32) {
        (NocAddr { chip: core.chip, tile: core.tile, offset }, len as u32)
    }

    /// Returns the offset of a core's entry of `watcher_kernel_ids` in a launch entry.
    pub fn kernel_id(&self, core: CoreKind) -> u64 {
        self.kernel_ids.saturating_add(self.kernel_id_bytes.saturating_mul(self.processor(core)))
    }

    /// Returns a core's index in the mailbox's arrays.
    pub fn processor(&self, core: CoreKind) -> u64 {
        let known = CORES.iter().zip(self.processors);
        known.filter(|((kind, _), _)| *kind == core).map(|(_, index)| index).sum()
    }

    /// Returns the aligned word with the first go message's signal, and the signal's shift in bits.
    pub fn go_word(&self) -> (u64, u32) {
        (self.go_signal & !3, 8 * (self.go_signal & 3) as u32)
    }
}

/// Returns the index from the image's enumeration, else from the layout.
fn processor(layout: &ChipLayout, symbols: &Symbols, core: CoreKind, name: &str) -> u64 {
    let fallback = || match layout.tensix.cores.of(core) {
        Some(core) => core.processor,
        None => layout.eth.values.processor,
    };
    symbols.constant(name).and_then(|named| named.as_u64()).unwrap_or_else(fallback)
}
