//! What the clients of a served machine may access: a tile that does not exist or a register that
//! hangs would take the machine from all of them.
//!
//! Reads keep to the layouts' list, less the machine's refusals. A client without the right to write
//! may post read requests to base firmware while it has the lock of the routing queues: entries are
//! checked when they are written, and again when the write index moves, because older entries may
//! stand in the queue. Where program counters may be sampled, such a client may also set the debug bus
//! of a tile.

use crate::shared_bar::{Aims, SharedBar};
use layouts::{ChipLayout, NocXy, Space, TileKind};
use machine::bar::{Bar, BarOp, MOST_DEVICES};
use machine::snapshot::AccessError;
use machine::target::{Abilities, Refusal};
use machine::window::WindowOrdering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// What a client may do.
pub(super) struct Rights<'r> {
    /// Whether it may write.
    pub(super) writes: bool,
    /// Whether it has the lock of a device's routing queues.
    pub(super) holds: &'r dyn Fn(u8) -> bool,
}

/// A queue's write index and entries, as the operations of a batch leave them.
struct Posted {
    write_index: u32,
    entries: Vec<Vec<u8>>,
}

/// The queues to which a batch posts, by device and tile.
type Queues = HashMap<(u8, NocXy), Posted>;

/// The rows of compute tiles that are fused off, for each device of which a compute tile was read;
/// none where that is unknown.
type Harvested = Arc<Mutex<BTreeMap<u8, Option<Vec<u8>>>>>;

/// Judges the operations of one client.
pub(super) struct Judge {
    /// The machine, with windows of its own.
    bar: SharedBar,
    refusals: Vec<Refusal>,
    /// Whether every client may sample program counters.
    samples: bool,
    devices: u8,
    harvested: Harvested,
    /// Where its own window leads on each device.
    aimed: HashMap<u8, (NocXy, u64)>,
    /// Where the queues of a tile are.
    bases: HashMap<(u8, NocXy), u64>,
}

impl Judge {
    /// Creates a judge of the first client's operations.
    pub(super) fn new(mut bar: SharedBar, abilities: &Abilities) -> Self {
        let mut devices = bar.most_devices();
        if devices == MOST_DEVICES {
            // It does not know.
            devices =
                (0..MOST_DEVICES).find(|device| !exists(&mut bar, *device)).unwrap_or(devices);
        }
        let (aimed, bases, harvested) = (HashMap::new(), HashMap::new(), Harvested::default());
        let (refusals, samples) = (abilities.refusals.clone(), abilities.emulated);
        Self { bar, refusals, samples, devices, harvested, aimed, bases }
    }

    /// Returns a judge of another client's operations.
    pub(super) fn another(&self) -> Self {
        Self {
            bar: self.bar.another(),
            refusals: self.refusals.clone(),
            samples: self.samples,
            devices: self.devices,
            harvested: Arc::clone(&self.harvested),
            aimed: HashMap::new(),
            bases: HashMap::new(),
        }
    }

    /// Forgets where queues are: firmware may have been started since.
    pub(super) fn forget_queues(&mut self) {
        self.bases.clear();
    }

    /// Checks a batch of a client.
    ///
    /// # Errors
    /// Why the first operation that it may not make is refused.
    pub(super) fn check(
        &mut self,
        client: &SharedBar,
        ops: &[BarOp],
        rights: &Rights<'_>,
    ) -> Result<(), AccessError> {
        let (mut pointed, mut queues) = (Aims::new(), Queues::new());
        for op in ops {
            if let Some(device) = op.device().filter(|device| !self.has(*device, op)) {
                return Err(AccessError::Refused(format!("there is no device {device}")));
            }
            match *op {
                BarOp::ConfigRead { offset: 0, .. } | BarOp::Pass { .. } | BarOp::Now => {}
                BarOp::ConfigRead { .. } => {
                    let why = "only the ids of config space can be read";
                    return Err(AccessError::Refused(why.into()));
                }
                BarOp::Point { device, window, x, y, page, .. } => {
                    let tile = NocXy { x, y };
                    self.check_point(window, tile, page)?;
                    pointed.insert((device, window), (tile, page));
                }
                BarOp::Read { device, bar, offset, len, .. } => {
                    let aim = client.aim(&pointed, device, offset, len.into());
                    self.check_read(aim, (device, bar), offset, len)?;
                }
                BarOp::Write { .. } if rights.writes => {}
                BarOp::Write { device, bar, offset, ref bytes } => {
                    let aim = client.aim(&pointed, device, offset, bytes.len() as u64);
                    let aim = aim.filter(|_| bar == 0).ok_or_else(no_right)?;
                    if self.samples(aim, bytes.len() as u64) {
                        self.check_read(Some(aim), (device, bar), offset, bytes.len() as u32)?;
                        continue;
                    }
                    self.check_post(&mut queues, device, aim, bytes)?;
                    if !(rights.holds)(device) {
                        let why = "this client does not have the lock of the routing queues";
                        return Err(AccessError::Refused(why.into()));
                    }
                }
            }
        }
        Ok(())
    }

    fn layout(&self) -> &'static ChipLayout {
        self.bar.chip().layout()
    }

    /// Whether the device of an operation exists; an empty slot of the bus answers in config space.
    fn has(&self, device: u8, op: &BarOp) -> bool {
        let is_slot = matches!(op, BarOp::ConfigRead { .. });
        device < if is_slot { self.devices.max(MOST_DEVICES) } else { self.devices }
    }

    fn check_point(&self, window: u16, tile: NocXy, page: u64) -> Result<(), AccessError> {
        let layout = self.layout();
        let usable = window != layout.bar.config.kernel_window;
        let spec = layout.bar.window(window).filter(|_| usable);
        let spec = spec.ok_or_else(|| refused(format!("window {window} cannot be pointed")))?;
        if layout.tile_at(tile).is_none() {
            return Err(refused(format!("{tile} is outside the grid")));
        }
        let fits = page.is_multiple_of(spec.bytes) && page < 1 << ADDRESS_BITS;
        fits.then_some(())
            .ok_or_else(|| refused(format!("{page:#x} is no page of window {window}")))
    }

    fn check_read(
        &mut self,
        aim: Option<(NocXy, u64)>,
        (device, bar): (u8, u8),
        offset: u64,
        len: u32,
    ) -> Result<(), AccessError> {
        let Some((tile, at)) = aim.filter(|_| bar == 0) else {
            let layout = self.layout();
            let windows = layout.bar.windows.iter();
            let ends = windows.map(|class| class.bar_offset + u64::from(class.count) * class.bytes);
            if bar != 0 || ends.max().is_some_and(|end| offset < end) {
                return Err(refused(format!(
                    "{offset:#x} of BAR {bar} is in no window of this client"
                )));
            }
            let readable = layout.readable(Space::Bar0, offset, len.into());
            return readable.map(drop).map_err(|reason| refused(reason.to_string()));
        };
        let is_tensix = self.layout().kind_at(tile) == TileKind::Tensix;
        let is_fused_off =
            is_tensix && self.harvested_rows(device).is_none_or(|rows| rows.contains(&tile.y));
        self.check_tile(tile, at, len, is_fused_off)
    }

    /// Checks a read of a tile. Of a compute tile in a row that is or may be fused off only some
    /// registers answer.
    fn check_tile(
        &self,
        tile: NocXy,
        at: u64,
        len: u32,
        is_fused_off: bool,
    ) -> Result<(), AccessError> {
        let layout = self.layout();
        let outside = || refused(format!("{tile} is outside the grid"));
        let kind = layout.tile_at(tile).ok_or_else(outside)?.kind;
        let end = at.saturating_add(len.into());
        let hit =
            |refusal: &&Refusal| refusal.kind == kind && refusal.start < end && at < refusal.end;
        if let Some(refusal) = self.refusals.iter().find(hit) {
            return Err(refused(refusal.reason.clone()));
        }
        let space = if is_fused_off { Space::Harvested } else { Space::Tile(kind) };
        let readable = layout.readable(space, at, len.into());
        readable.map(drop).map_err(|reason| refused(reason.to_string()))
    }

    /// Checks that a write posts a read request to base firmware, or takes its answer
    /// (wormhole.md 6.2, wormhole.md 6.3).
    fn check_post(
        &mut self,
        queues: &mut Queues,
        device: u8,
        (tile, at): (NocXy, u64),
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        let eth = &self.layout().eth;
        if self.layout().kind_at(tile) != TileKind::Eth {
            return Err(no_right());
        }
        let base = self.base(device, tile)?;
        let request = base + eth.queues.request.at;
        let index = || Some(u32::from_le_bytes(bytes.try_into().ok()?));
        let index = index().filter(|index| *index < eth.routing.index_modulus);
        let slot = (0..eth.routing.slots)
            .find(|slot| request + eth.queue.entry.nth((*slot).into()) == at)
            .filter(|_| bytes.len() as u64 == eth.entry.bytes);
        if at == base + eth.queues.response.at + eth.queue.read_index.at {
            return index.map(drop).ok_or_else(no_right);
        }
        let doorbell = index.filter(|_| at == request + eth.queue.write_index.at);
        if slot.is_none() && doorbell.is_none() {
            return Err(no_right());
        }
        if let Some(entry) = slot.map(|_| bytes) {
            self.check_entry(entry)?;
        }
        let posted = match queues.entry((device, tile)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(self.posted(device, tile, request)?),
        };
        if let Some(entry) = slot.and_then(|slot| posted.entries.get_mut(slot as usize)) {
            bytes.clone_into(entry);
        }
        let Some(index) = doorbell else { return Ok(()) };
        let modulus = eth.routing.index_modulus;
        let first = std::mem::replace(&mut posted.write_index, index);
        let count = index.wrapping_sub(first) & (modulus - 1);
        if count > eth.routing.slots {
            return Err(no_right());
        }
        let slots = (0..count).map(|number| first.wrapping_add(number) & (eth.routing.slots - 1));
        let mut entries = slots.filter_map(|slot| posted.entries.get(slot as usize));
        entries.try_for_each(|entry| self.check_entry(entry))
    }

    /// Whether a write sets the debug bus of a tile, and that is permitted.
    fn samples(&self, (tile, at): (NocXy, u64), len: u64) -> bool {
        let bus = self.layout().debug_bus_at(self.layout().kind_at(tile));
        self.samples && len == 4 && bus.is_some_and(|(control, _)| control == at)
    }

    /// Checks that an entry is the request to read what may be read, or to set the debug bus of a tile
    /// where that is permitted.
    fn check_entry(&self, entry: &[u8]) -> Result<(), AccessError> {
        let (layout, routing) = (&self.layout().eth.entry, &self.layout().eth.routing);
        let word = |at: u64| {
            let word = entry.get(at as usize..).and_then(<[u8]>::first_chunk);
            word.map_or(0, |word| u32::from_le_bytes(*word))
        };
        let (flags, data) = (word(layout.flags.at), word(layout.data.at));
        let own = entry
            .get(layout.response_buffer.at as usize..)
            .is_some_and(|own| own.iter().all(|byte| *byte == 0));
        let address =
            u64::from(word(layout.address.at + 4)) << 32 | u64::from(word(layout.address.at));
        let tile =
            NocXy { x: (address >> ADDRESS_BITS & 0x3F) as u8, y: (address >> 42 & 0x3F) as u8 };
        let at = address & ((1 << ADDRESS_BITS) - 1);
        let len = match flags {
            _ if !own => None,
            flags if flags == routing.write_request => self.samples((tile, at), 4).then_some(4),
            flags if flags == routing.read_request => Some(4),
            flags if flags == routing.read_request | routing.block => Some(data),
            _ => None,
        };
        let len = len.filter(|len| *len <= routing.block_bytes).ok_or_else(no_right)?;
        // Which rows of a remote chip are fused off its clients know.
        self.check_tile(tile, at, len, false)
    }

    /// Returns the write index and the entries that stand in a request queue.
    fn posted(&mut self, device: u8, tile: NocXy, request: u64) -> Result<Posted, AccessError> {
        let eth = &self.layout().eth;
        let bytes = self.fetch(device, tile, request, eth.queue.bytes as u32)?;
        let at = |at: u64| bytes.get(at as usize..).map_or(&[][..], |rest| rest);
        let index = at(eth.queue.write_index.at).first_chunk();
        let entry = |slot: u32| {
            at(eth.queue.entry.nth(slot.into()))
                .iter()
                .copied()
                .take(eth.entry.bytes as usize)
                .collect()
        };
        Ok(Posted {
            write_index: index.map_or(0, |word| u32::from_le_bytes(*word)),
            entries: (0..eth.routing.slots).map(entry).collect(),
        })
    }

    /// Returns where a tile's queues are.
    fn base(&mut self, device: u8, tile: NocXy) -> Result<u64, AccessError> {
        if let Some(base) = self.bases.get(&(device, tile)) {
            return Ok(*base);
        }
        let eth = &self.layout().eth;
        let pointer = self.word(device, tile, eth.l1.queue_pointer.at)?;
        let base = eth.routing.base_of(pointer);
        self.bases.insert((device, tile), base);
        Ok(base)
    }

    /// Returns the rows of a device's compute tiles that are fused off; none if that is unknown.
    fn harvested_rows(&mut self, device: u8) -> Option<Vec<u8>> {
        let harvested = Arc::clone(&self.harvested);
        let mut harvested = harvested.lock().unwrap_or_else(PoisonError::into_inner);
        harvested.entry(device).or_insert_with(|| self.closed_rows(device)).clone()
    }

    fn closed_rows(&mut self, device: u8) -> Option<Vec<u8>> {
        let layout = self.layout();
        let at = layout.blocks.eth_niu0 + layout.niu.router_cfg_3.at;
        let mask = self.word(device, layout.eth_channel(0)?, at).ok()?;
        layout.harvested_rows(mask)
    }

    fn word(&mut self, device: u8, tile: NocXy, at: u64) -> Result<u32, AccessError> {
        let bytes = self.fetch(device, tile, at, 4)?;
        let short = || AccessError::DeviceGone("an answer was too short".into());
        Ok(u32::from_le_bytes(*bytes.first_chunk().ok_or_else(short)?))
    }

    /// Reads bytes through the last of the smallest windows, which clients use last.
    fn fetch(
        &mut self,
        device: u8,
        tile: NocXy,
        at: u64,
        len: u32,
    ) -> Result<Vec<u8>, AccessError> {
        let none = || AccessError::Unreachable(format!("device {device} has no window"));
        let class = self.layout().bar.windows.first().ok_or_else(none)?;
        let number = class.count.saturating_sub(1);
        let (window, page) = (class.first + number, at - at % class.bytes);
        let offset = class.bar_offset + u64::from(number) * class.bytes + at % class.bytes;
        let (NocXy { x, y }, order) = (tile, WindowOrdering::Strict);
        let mut ops = vec![BarOp::Read { device, bar: 0, offset, len, ones: 0 }];
        if self.aimed.insert(device, (tile, page)) != Some((tile, page)) {
            ops.insert(0, BarOp::Point { device, window, x, y, page, order });
        }
        let mut bytes = Vec::new();
        self.bar.submit(&ops, &mut bytes)?;
        Ok(bytes)
    }
}

/// Bits of an address in a tile.
const ADDRESS_BITS: u32 = 36;

/// Whether a chip answers in this slot of the bus.
fn exists(bar: &mut SharedBar, device: u8) -> bool {
    let mut id = Vec::new();
    let asked = bar.submit(&[BarOp::ConfigRead { device, offset: 0 }], &mut id);
    asked.is_ok() && id == bar.chip().bar().config_id().to_le_bytes()
}

fn refused(why: String) -> AccessError {
    AccessError::Refused(why)
}

/// The refusal of a client that only reads.
pub(super) fn no_right() -> AccessError {
    refused("this client does not have the right to write".into())
}
