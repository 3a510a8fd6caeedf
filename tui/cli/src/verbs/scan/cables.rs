//! The cables of a descriptor by their ends, for rows that tell tray, location and channel of one end.

use console::exit::Failure;
use layouts::{ClusterDescriptor, EthId};
use logs::{Row, Text, host_name, text};
use std::collections::BTreeMap;

/// The name of a cable by both of its ports, whichever is told first.
pub(super) fn by_ports(mut ports: [String; 2]) -> String {
    ports.sort();
    ports.join(" - ")
}

/// Names of cables by host, tray, location of the chip, and channel.
pub(super) struct Cables(BTreeMap<(Text, [i32; 3]), Text>);

impl Cables {
    /// Reads the descriptor of --places; without one no cable is known.
    ///
    /// # Errors
    /// `Usage` if it is unusable.
    pub(super) fn load(places: Option<&str>) -> Result<Self, Failure> {
        let described = places.map(crate::verbs::expect::load).transpose()?;
        Ok(Self(described.as_ref().map(named).unwrap_or_default()))
    }

    /// Names the cable of a row that does not name it.
    pub(super) fn name(&self, row: &mut Row) {
        if let (None, Some(tray), Some(chip), Some(channel)) =
            (&row.cable, row.tray, row.chip, row.channel)
        {
            row.cable = self.0.get(&(row.host.clone(), [tray, chip, channel])).cloned();
        }
    }
}

fn named(described: &ClusterDescriptor) -> BTreeMap<(Text, [i32; 3]), Text> {
    let mut all = BTreeMap::new();
    let seat = |at: EthId| described.chip(at.chip)?.seat.as_ref();
    for ends in described.links.iter().map(|(a, b)| [*a, *b]) {
        let [Some(one), Some(other)] = ends.map(seat) else { continue };
        let seats = [(one, ends[0].channel), (other, ends[1].channel)];
        let port =
            |(seat, channel): (&layouts::Seat, u8)| format!("{} {}", seat.host, seat.port(channel));
        let cable = text(&by_ports(seats.map(port)));
        for (seat, channel) in seats {
            let at = [seat.tray as i32, seat.asic_location as i32, channel.into()];
            all.insert((host_name(&seat.host), at), cable.clone());
        }
    }
    all
}
