//! The facts of a client's entry for a router in the connection table of its tile
//! (`tensix_fabric_connections_l1_info_t`; tt-metal.md 6).

use super::builtin::pair;
use super::enumeration::Enumeration;
use super::fact_table::facts;
use super::location::{Formula, Location, Locations as _, Word};
use layouts::{ChipLayout, NocXy};
use machine::fabric::Direction;

/// Entries of a table, one for each Ethernet channel.
const ENTRIES: u64 = 16;
/// Bytes of a `fabric_connection_info_t`, and of a word of `read_write`.
const ENTRY_BYTES: u64 = 24;
const READ_WRITE_BYTES: u64 = 16;
/// Offsets of `valid_connections_mask` and of `read_write`.
const MASK: u64 = ENTRIES * ENTRY_BYTES;
const READ_WRITE: u64 = MASK + 16;

/// Resolves the members of an entry.
pub struct EntryPlace {
    /// Address of the table.
    table: u64,
    channel: u64,
}

facts! {
    /// A client's entry for a router in the connection table of its tile, which the host writes.
    struct EntryFacts, located by EntryLocations, in built-in images by at: EntryPlace {
        /// The tile of the router.
        tile: NocXy = pair(Formula::Tile, at.member(19, 1), at.member(20, 1)),
        /// The direction of the router's link.
        direction: Direction = Some(Location {
            formula: at.member(18, 1),
            names: Some(Enumeration::directions()),
        }),
        /// Number of slots of the channel.
        slots: u64 = Some(at.member(21, 1).into()),
        /// Bytes of a slot.
        slot_bytes: u64 = Some(at.member(16, 2).into()),
        /// Address of the first slot, at the router.
        slots_address: u64 = Some(at.member(0, 4).into()),
        /// Address of the connection word, at the router.
        connection_address: u64 = Some(at.member(4, 4).into()),
        /// Address of the `EDMChannelWorkerLocationInfo`, at the router.
        location_address: u64 = Some(at.member(8, 4).into()),
        /// The stream of the channel's free slots.
        free_slots_stream: u64 = Some(at.member(22, 2).into()),
        /// The word by which the router returns slots, if the connection uses that of the table.
        flow_control: u64 = Some(at.flow_control().into()),
    }
}

impl EntryPlace {
    /// Returns the entry of a router's channel; none if no table has it.
    pub fn new(chip: &ChipLayout, channel: u8) -> Option<Self> {
        let channel = u64::from(channel);
        let table = chip.tensix.l1.fabric_connections.at;
        (channel < ENTRIES).then_some(Self { table, channel })
    }

    /// Returns the locations of the entry's facts.
    pub fn locations(&self) -> EntryLocations {
        EntryLocations::builtin(self)
    }

    /// Returns the mask of valid entries, and the bit of this one.
    pub fn mask(&self) -> (Word, u64) {
        (Word { addr: self.table + MASK, size: 4 }, 1 << self.channel)
    }

    /// Returns every word of the entry.
    pub fn words(&self) -> Vec<Word> {
        let own = self.locations();
        let own: Vec<_> = own.known().flat_map(Location::words).collect();
        own.into_iter().chain([self.mask().0]).collect()
    }

    fn member(&self, offset: u64, size: u32) -> Formula {
        Formula::Word(Word { addr: self.table + self.channel * ENTRY_BYTES + offset, size })
    }

    fn flow_control(&self) -> Formula {
        let offset = READ_WRITE + self.channel * READ_WRITE_BYTES;
        Formula::Word(Word { addr: self.table + offset, size: 4 })
    }
}
