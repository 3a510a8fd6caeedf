//! The study `ttl`: a row for each packet, where it expires by the tables and where it did.

use super::{Expiry, MOST_TTL, RouteEnd, TtlRow, study};
use crate::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use layouts::{ChipId, EthId};
use machine::fabric::Direction;
use serde_json::{Value, json};

/// Packets in a loop of the routing tables, and where they expire.
pub const STUDY: Study = Study {
    name: "ttl",
    about: "Send packets into a loop of the routing tables, and print where the time to live of each ends",
    options: &[
        Choice::new(
            "mesh",
            "MESH",
            "galaxy",
            "The mesh; from four rows and columns on, the loop is that of the TT-Fabric specification's example",
        ),
        Choice::new("most", "N", "12", "One packet is sent for each time to live from 1 to this"),
    ],
    tables: &[PACKETS],
    run,
};

const PACKETS: Table = Table {
    name: "rows",
    columns: &[
        column("TTL", "ttl", Unit::Count),
        column("ROUTE BY THE TABLES", "route", Unit::Text(48)),
        column("EXPIRES AT", "expires_at", Unit::Text(15)),
        column("SEEN AT", "seen_at", Unit::Text(15)),
        column("ROUTER", "router", Unit::Text(6)),
    ],
};

/// A device as the specification counts them: D1 is device 0.
fn name(device: u16) -> String {
    format!("D{}", device + 1)
}

fn place(end: RouteEnd) -> String {
    format!("{} from {}", name(end.device), end.direction)
}

fn row(row: &TtlRow) -> Value {
    let route: Vec<String> = row.route.iter().map(|device| name(*device)).collect();
    json!({
        "ttl": row.ttl,
        "route": route.join(" "),
        "expires_at": place(row.expected),
        "seen_at": row.seen.map_or_else(|| "nowhere".to_owned(), |(_, end, _)| place(end)),
        "router": row.seen.map(|(eth, _, _)| eth.to_string()),
        "seen_cycles": row.seen.and_then(|(_, _, cycles)| cycles),
    })
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
         sender receives a negative acknowledge, without which it would wait for ever.\n{} of {} packets were sent; negative acknowledges received by the sender: {}{}.",
        entries.join(", "),
        found.sent,
        found.rows.len(),
        found.reported,
        lost(found)
    )
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let mesh = options.text("mesh");
    let most = options.number("most", [1, MOST_TTL.into()])? as u8;
    let found = study(mesh, most).map_err(StudyError::on(mesh))?;
    report.fact("mesh", mesh);
    shown(&found, report);
    Ok(found.is_right())
}

fn shown(found: &Expiry, report: &mut Report<'_>) {
    let Expiry { round, chips, sent, reported, control_dropped, rows } = found;
    let chips = chips.iter().map(|&ChipId(chip)| chip);
    report.fact("chips", chips.collect::<Vec<_>>());
    report.fact("from_device", round.from);
    report.fact("to_device", round.to);
    let step = |(device, route): &(u16, Direction)| json!({"device": device, "direction": format!("{route}")});
    report.fact("loop", round.entries.iter().map(step).collect::<Vec<_>>());
    report.fact("sent", *sent);
    report.fact("nacks", *reported);
    let dropped = |(eth, count): &(EthId, u32)| json!({"router": eth.to_string(), "count": count});
    report.fact("control_dropped", control_dropped.iter().map(dropped).collect::<Vec<_>>());
    for it in rows {
        report.row(&PACKETS, row(it));
    }
    report.note(explanation(found));
}

#[cfg(test)]
mod tests {
    use super::super::Loop;
    use super::*;

    #[test]
    fn a_packet_is_shown_where_it_should_end_and_where_it_did() {
        let end = RouteEnd { device: 1, direction: Direction::West };
        let eth = EthId { chip: ChipId(7), channel: 3 };
        let row = |ttl, seen| TtlRow { ttl, route: vec![1], expected: end, seen };
        let found = Expiry {
            round: Loop { from: 0, to: 2, entries: vec![(0, Direction::East)] },
            chips: vec![ChipId(5), ChipId(7), ChipId(6)],
            rows: vec![row(1, Some((eth, end, Some(9)))), row(2, None)],
            sent: 2,
            reported: 1,
            control_dropped: vec![(eth, 1)],
        };
        let mut tell = |_: crate::shape::Told<'_>| ();
        let mut report = Report::new(&STUDY, &mut tell);
        shown(&found, &mut report);
        let answer = report.into_answer();
        let cells = |row: usize| -> Vec<String> {
            PACKETS.columns.iter().map(|it| it.cell(&answer["rows"][row])).collect()
        };
        assert_eq!(cells(0), ["1", "D2", "D2 from WEST", "D2 from WEST", "7:e3"]);
        assert_eq!(cells(1)[2..], ["D2 from WEST", "nowhere", "-"]);
        assert_eq!(
            (&answer["rows"][0]["seen_cycles"], &answer["rows"][1]["seen_cycles"]),
            (&9.into(), &Value::Null)
        );
        assert_eq!(answer["loop"], json!([{"device": 0, "direction": "EAST"}]));
        let text = answer["notes"][0].as_str().unwrap_or("");
        assert!(text.contains("D1 sends EAST. Nothing that D1 sends to D3 arrives"), "{text}");
        assert!(
            text.ends_with("sender: 1; the control channel of 7:e3 has dropped 1 of its messages."),
            "{text}"
        );
    }
}
