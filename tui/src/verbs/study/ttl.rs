//! `study ttl`: packets in a loop of the routing tables, and where they expire.

use super::measured::failed;
use super::traffic::count;
use crate::args::TtlArguments;
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, Page, json};
use crate::verbs::target::Style;
use layouts::{ChipId, EthId};
use machine::fabric::Direction;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::ttl::{Expiry, MOST_TTL, RouteEnd, TtlRow, study};

/// Packets in a loop of the routing tables. Devices count from 0.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Loops<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The device that sends.
    from_device: u16,
    /// The destination device.
    to_device: u16,
    /// The loop.
    r#loop: Vec<Step>,
    /// Packets that the sender handed to its router.
    sent: u32,
    /// Negative acknowledges that it received.
    nacks: u32,
    /// Routers whose control channel dropped messages because it was full; acknowledges may be
    /// among them.
    control_dropped: Vec<Dropped>,
    /// A row for each packet.
    rows: Vec<Packet>,
}

/// A router whose control channel dropped messages.
#[derive(Serialize, JsonSchema)]
struct Dropped {
    /// The chip's id.
    chip: u16,
    /// The Ethernet channel.
    channel: u8,
    /// Number of dropped messages.
    count: u32,
}

/// A step of the loop.
#[derive(Serialize, JsonSchema)]
struct Step {
    /// The device.
    device: u16,
    /// Its chip's id.
    chip: Option<u16>,
    /// The direction in which it sends: EAST, WEST, NORTH, SOUTH or Z.
    direction: &'static str,
}

/// A packet.
#[derive(Serialize, JsonSchema)]
struct Packet {
    /// Its time to live: the hops that it may take.
    ttl: u8,
    /// The devices on its path by the tables, in order; it expires at the last one.
    route: Vec<u16>,
    /// Where it expires by the tables.
    expected: Place,
    /// Where a status queue reports that it expired; null if none does.
    seen: Option<Seen>,
}

/// The place at which a packet expires by the tables.
#[derive(Serialize, JsonSchema)]
struct Place {
    /// The device.
    device: u16,
    /// Its chip's id.
    chip: Option<u16>,
    /// The direction of the link of the router that drops it, from which it came.
    direction: &'static str,
}

/// The place at which a packet expired.
#[derive(Serialize, JsonSchema)]
struct Seen {
    /// The chip's id.
    chip: u16,
    /// The Ethernet channel of the router that dropped it.
    channel: u8,
    /// The device.
    device: u16,
    /// The direction of this router's link.
    direction: &'static str,
    /// Time by the chip's own wall clock, in cycles of a nanosecond.
    cycles: u64,
}

fn chip(found: &Expiry, device: u16) -> Option<u16> {
    found.chips.get(usize::from(device)).map(|&ChipId(chip)| chip)
}

fn packet(found: &Expiry, row: &TtlRow) -> Packet {
    let RouteEnd { device, direction } = row.expected;
    Packet {
        ttl: row.ttl,
        route: row.route.clone(),
        expected: Place { device, chip: chip(found, device), direction: direction.name() },
        seen: row.seen.map(|(eth, end, cycles)| Seen {
            chip: eth.chip.0,
            channel: eth.channel,
            device: end.device,
            direction: end.direction.name(),
            cycles,
        }),
    }
}

fn shape<'a>(mesh: &'a str, found: &Expiry) -> Loops<'a> {
    let step = |&(device, route): &(u16, Direction)| Step {
        device,
        chip: chip(found, device),
        direction: route.name(),
    };
    Loops {
        mesh,
        from_device: found.round.from,
        to_device: found.round.to,
        r#loop: found.round.entries.iter().map(step).collect(),
        sent: found.sent,
        nacks: found.reported,
        control_dropped: found
            .control_dropped
            .iter()
            .map(|&(eth, count)| Dropped { chip: eth.chip.0, channel: eth.channel, count })
            .collect(),
        rows: found.rows.iter().map(|row| packet(found, row)).collect(),
    }
}

/// A device as the specification counts them: D1 is device 0.
fn name(device: u16) -> String {
    format!("D{}", device + 1)
}

fn table(found: &Expiry) -> Columns {
    let mut table =
        Columns::new(&["TTL", "ROUTE BY THE TABLES", "EXPIRES AT", "SEEN AT", "ROUTER"]);
    for row in &found.rows {
        let route: Vec<String> = row.route.iter().map(|device| name(*device)).collect();
        let place = |end: RouteEnd| format!("{} from {}", name(end.device), end.direction);
        table.row(vec![
            row.ttl.to_string(),
            route.join(" "),
            place(row.expected),
            row.seen.map_or_else(|| "nowhere".to_owned(), |(_, end, _)| place(end)),
            row.seen.map(|(eth, _, _)| eth.to_string()).unwrap_or_default(),
        ]);
    }
    table
}

fn lost(found: &Expiry) -> String {
    let dropped = |(eth, count): &(EthId, u32)| {
        format!("; the control channel of {eth} has dropped {count} of its messages")
    };
    found.control_dropped.iter().map(dropped).collect::<Vec<_>>().concat()
}

fn explanation(found: &Expiry) -> String {
    let (from, to) = (name(found.round.from), name(found.round.to));
    let entries = found.round.entries.iter();
    let entries: Vec<String> =
        entries.map(|(device, route)| format!("{} sends {route}", name(*device))).collect();
    format!(
        "\nThe tables route packets for {to} in a loop: {}. Nothing that {from} sends to {to} arrives. A router decrements the time to \
         live of each packet that it receives and drops the packet at 0: its status queue has an entry EVENT_EXPIRED, and the \
         sender receives a negative acknowledge, without which it would wait for ever.\n{} of {} packets were sent; negative acknowledges received by the sender: {}{}.\n",
        entries.join(", "),
        found.sent,
        found.rows.len(),
        found.reported,
        lost(found)
    )
}

/// A line for each packet.
pub(in crate::verbs) fn ttl(style: Style, options: &TtlArguments) -> Result<Outcome, Failure> {
    let TtlArguments { mesh, most } = options;
    let most = count("most", most, MOST_TTL.into())? as u8;
    let found = study(mesh, most).map_err(failed(mesh))?;
    if style.json {
        json(shape(mesh, &found))?;
    } else {
        style.print(Page::from(table(&found)).with(explanation(&found)))?;
    }
    Ok(if found.is_right() { Outcome::Healthy } else { Outcome::Findings })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde_json::json;
    use workloads::study::ttl::Loop;

    #[test]
    fn a_packet_is_shown_where_it_should_end_and_where_it_did() {
        let end = RouteEnd { device: 1, direction: Direction::West };
        let eth = EthId { chip: ChipId(7), channel: 3 };
        let row = |ttl, seen| TtlRow { ttl, route: vec![1], expected: end, seen };
        let found = Expiry {
            round: Loop { from: 0, to: 2, entries: vec![(0, Direction::East)] },
            chips: vec![ChipId(5), ChipId(7), ChipId(6)],
            rows: vec![row(1, Some((eth, end, 9))), row(2, None)],
            sent: 2,
            reported: 1,
            control_dropped: vec![(eth, 1)],
        };
        let shown = table(&found).text();
        assert!(
            shown.contains("1    D2                   D2 from WEST  D2 from WEST  7:e3\n"),
            "{shown}"
        );
        assert!(shown.contains("D2 from WEST  nowhere"), "{shown}");
        let text = explanation(&found);
        assert!(text.contains("D1 sends EAST. Nothing that D1 sends to D3 arrives"), "{text}");
        assert!(
            text.ends_with(
                "sender: 1; the control channel of 7:e3 has dropped 1 of its messages.\n"
            ),
            "{text}"
        );
        let answer = serde_json::to_value(shape("n300", &found)).unwrap();
        let seen = json!({"chip": 7, "channel": 3, "device": 1, "direction": "WEST", "cycles": 9});
        assert_eq!(answer["rows"][0]["seen"], seen);
        assert_eq!(answer["rows"][1]["seen"], json!(null));
        assert_eq!(answer["loop"], json!([{"device": 0, "chip": 5, "direction": "EAST"}]));
    }
}
