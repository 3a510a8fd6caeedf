//! Where a chip stands, as the people of a hall name it.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Where a chip stands, by a descriptor of tt-metal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Seat {
    /// The name of its host.
    pub host: String,
    /// Where the host stands; null if the descriptor does not say.
    pub stand: Option<Stand>,
    /// The tray of its board in the host, from 1.
    pub tray: u32,
    /// Its location on the board.
    pub asic_location: u32,
    /// The number of its PCIe device in its host, if it has one and the order of PCI buses on the
    /// motherboard is known.
    #[serde(skip)]
    pub device: Option<u32>,
    /// The port at which each Ethernet channel leaves the board, such as `QSFP_DD 2`.
    pub ports: BTreeMap<u8, String>,
}

/// Where a host stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Stand {
    /// The hall.
    pub hall: String,
    /// The aisle in the hall.
    pub aisle: String,
    /// The rack in the aisle.
    pub rack: u32,
    /// The shelf in the rack, in rack units.
    pub shelf_u: u32,
}

impl Seat {
    /// Returns tray and port of a channel, such as `tray 3 QSFP_DD 2`.
    pub fn port(&self, channel: u8) -> String {
        let port = self.ports.get(&channel).map_or_else(String::new, |port| format!(" {port}"));
        format!("tray {}{port}", self.tray)
    }

    /// Returns host and stand, such as `wh-glx-2 (hall 120, aisle A, rack 3, shelf 8)`.
    pub fn host_in_words(&self) -> String {
        match &self.stand {
            Some(Stand { hall, aisle, rack, shelf_u }) => {
                format!("{} (hall {hall}, aisle {aisle}, rack {rack}, shelf {shelf_u})", self.host)
            }
            None => self.host.clone(),
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tray {} location {}", self.host_in_words(), self.tray, self.asic_location)
    }
}
