//! The layout of a router's status queue, and of the words that tell where it is.

use super::builtin::{Members, Names};
use super::enumeration::{Enumeration, Enumerator};
use super::location::Word;
use layouts::{ChipId, ChipLayout, NocXy};
use machine::fabric::FabricNode;
use machine::place::Place;
use machine::words::counted;
use std::sync::Arc;
use symbols::Field;

/// First word of a queue.
pub const STATUS_MAGIC: u32 = u32::from_le_bytes(*b"FSQ ");

const HEAD: &str = "fabric_status_queue_t";
const ENTRY: &str = "fabric_status_entry_t";

/// Where a router's status queue is, and the members of its head and its entries.
#[derive(Clone, Debug)]
pub struct StatusLayout {
    /// The router's word with the tile of the queue: x | y << 16; 0: it has none.
    pub tile: Word,
    /// The router's word with the address of the queue in that tile.
    pub address: Word,
    /// Bytes of the head.
    pub head_bytes: u64,
    /// Bytes of an entry; the first one follows the head.
    pub entry_bytes: u64,
    magic: Field,
    capacity: Field,
    write_count: Field,
    read_count: Field,
    event: Field,
    number: Field,
    cycles: Field,
    mesh_id: Field,
    device_id: Field,
    eth_channel: Field,
    direction: Field,
    detail: [Field; 4],
    /// `fabric_event_t`.
    events: Arc<Enumeration>,
    /// Whether packets name their destination: on a line or ring they have the rest of their route.
    names_destination: bool,
}

/// The head of a status queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusHead {
    /// Capacity, in entries.
    pub capacity: u32,
    /// Number of entries that the router has written.
    pub write_count: u32,
    /// Number of entries that were freed.
    pub read_count: u32,
}

/// An entry of a status queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusWords {
    /// `fabric_event_t`.
    pub event: Enumerator,
    /// Its number, counted from 0 in each bring-up.
    pub number: u32,
    /// The wall clock of the router's chip, in cycles.
    pub wall_clock_cycles: u64,
    /// The router's node.
    pub node: FabricNode,
    /// The router's Ethernet channel.
    pub eth_channel: u32,
    /// The router's direction, as `eth_chan_directions` counts.
    pub direction: u32,
    /// Four words that depend on the event.
    pub detail: [u32; 4],
    /// Whether the second of them is a packet's destination: on a line or ring it is the rest of its
    /// route.
    pub names_destination: bool,
}

impl StatusLayout {
    /// Finds the members; none for an image without status queues.
    pub(super) fn find(names: Names<'_>, state: &Members<'_>) -> Option<Self> {
        let bytes = |ty| names.1.type_named(ty)?.size();
        let head = |member| names.field(&format!("{HEAD}.{member}"));
        let entry = |member: &str| names.field(&format!("{ENTRY}.{member}"));
        let layout = Self {
            tile: state.word("args.status_queue_xy")?,
            address: state.word("args.status_queue_address")?,
            head_bytes: bytes(HEAD)?,
            entry_bytes: bytes(ENTRY)?,
            magic: head("magic")?,
            capacity: head("entries")?,
            write_count: head("write_count")?,
            read_count: head("read_count")?,
            event: entry("event")?,
            number: entry("number")?,
            cycles: entry("cycles")?,
            mesh_id: entry("mesh_id")?,
            device_id: entry("device_id")?,
            eth_channel: entry("eth_channel")?,
            direction: entry("direction")?,
            detail: [
                entry("detail[0]")?,
                entry("detail[1]")?,
                entry("detail[2]")?,
                entry("detail[3]")?,
            ],
            events: Enumeration::named(names.1, "fabric_event_t")?,
            names_destination: names.is_topology(&["Mesh", "Torus"]),
        };
        (layout.entry_bytes > 0).then_some(layout)
    }

    /// Returns the tile that a router's word gives; none if it has no queue.
    pub fn tile_of(word: u32) -> Option<NocXy> {
        (word != 0).then_some(NocXy { x: word as u8, y: (word >> 16) as u8 })
    }

    /// Decodes the head of a queue; none if the bytes are none.
    pub fn head(&self, bytes: &[u8]) -> Option<StatusHead> {
        let word = |field: Field| field.read(bytes).map(|value| value as u32);
        (word(self.magic)? == STATUS_MAGIC).then_some(())?;
        Some(StatusHead {
            capacity: word(self.capacity)?,
            write_count: word(self.write_count)?,
            read_count: word(self.read_count)?,
        })
    }

    /// Returns the offset of an entry in a queue.
    pub fn offset(&self, head: &StatusHead, number: u32) -> u64 {
        self.head_bytes + u64::from(number % head.capacity.max(1)) * self.entry_bytes
    }

    /// Decodes an entry.
    pub fn entry(&self, bytes: &[u8]) -> Option<StatusWords> {
        let word = |field: Field| field.read(bytes).map(|value| value as u32);
        let [a, b, c, d] = self.detail;
        Some(StatusWords {
            event: self.events.of_value(self.event.read(bytes)?),
            number: word(self.number)?,
            wall_clock_cycles: self.cycles.read(bytes)?,
            node: FabricNode {
                mesh: word(self.mesh_id)? as u16,
                device: word(self.device_id)? as u16,
            },
            eth_channel: word(self.eth_channel)?,
            direction: word(self.direction)?,
            detail: [word(a)?, word(b)?, word(c)?, word(d)?],
            names_destination: self.names_destination,
        })
    }
}

impl StatusHead {
    /// Returns the numbers of the entries that were not freed, the oldest first.
    pub fn waiting(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let from = self.read_count;
        let waiting = self.write_count.wrapping_sub(from).min(self.capacity);
        (0..waiting).map(move |number| from.wrapping_add(number))
    }
}

impl StatusWords {
    /// Whether it tells of a packet that was dropped.
    pub fn is_drop(&self) -> bool {
        let drops = ["EVENT_EXPIRED", "EVENT_TIMED_OUT", "EVENT_ROUTING_ERROR", "EVENT_DROPPED"];
        self.event.name.as_deref().is_some_and(|name| drops.contains(&name))
    }

    /// Returns its details in words, for a router of this chip.
    pub fn text(&self, layout: &ChipLayout, chip: ChipId) -> String {
        let [a, b, c, d] = self.detail;
        let node = |word: u32| FabricNode { mesh: (word >> 16) as u16, device: word as u16 };
        match self.event.name.as_deref() {
            Some("EVENT_LINK_DOWN") => format!("link status {a}"),
            Some("EVENT_LINK_UP") => format!("link in use again; change of link {a}"),
            Some("EVENT_RATE") => {
                format!("{}, {b} B in {c} cycles", counted(a.into(), "packet", "packets"))
            }
            Some("EVENT_REROUTED") => {
                let tile = NocXy { x: a as u8, y: (a >> 16) as u8 };
                format!("over the router of {}", Place { chip, tile }.name(layout))
            }
            Some("EVENT_NO_ROUTE_LEFT") => "no other link goes there".to_owned(),
            _ if self.names_destination => {
                format!("packet {c} from {} to {}, ttl {d}", node(a), node(b))
            }
            _ => format!("packet {c} from {}, ttl {d}", node(a)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::ImageMap;

    fn layout() -> StatusLayout {
        let (images, _) = ImageMap::firmware();
        let image = images.named("fabric_router_line").unwrap();
        image.router.as_ref().unwrap().status.clone().unwrap()
    }

    fn put(bytes: &mut [u8], field: Field, value: u32) {
        let (at, size) = (field.offset as usize, field.size.min(4) as usize);
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    #[test]
    fn a_reroute_names_the_router_by_its_channel() {
        let layout = layout();
        let mut bytes = vec![0; layout.entry_bytes as usize];
        put(&mut bytes, layout.event, 7);
        put(&mut bytes, layout.detail[0], 4);
        let entry = layout.entry(&bytes).unwrap();
        let chip = layouts::ChipKind::Wormhole.layout();
        assert_eq!(entry.event.name.as_deref(), Some("EVENT_REROUTED"));
        assert_eq!(
            (entry.is_drop(), entry.text(chip, ChipId(0))),
            (false, "over the router of 0:e7".to_owned())
        );
        assert_eq!(layout.entry(&bytes[..10]), None);
    }

    #[test]
    fn what_waits_in_a_queue_is_never_more_than_it_holds() {
        let layout = layout();
        let mut bytes = vec![0; layout.head_bytes as usize];
        assert_eq!(layout.head(&bytes), None);
        put(&mut bytes, layout.magic, STATUS_MAGIC);
        let head = layout.head(&bytes).unwrap();
        assert_eq!((head.waiting().count(), layout.offset(&head, 9)), (0, layout.head_bytes));
        put(&mut bytes, layout.capacity, 3);
        put(&mut bytes, layout.write_count, u32::MAX);
        put(&mut bytes, layout.read_count, 1);
        let head = layout.head(&bytes).unwrap();
        assert_eq!(head.waiting().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(layout.offset(&head, 4), layout.head_bytes + layout.entry_bytes);
    }
}
