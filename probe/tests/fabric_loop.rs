//! A routing loop, put into the tables on purpose: packets expire by their time to live where the TT-Fabric specification's example
//! says, and status queues and their sender are told.
#![allow(clippy::unwrap_used, reason = "tests")]

use machine::fabric::Direction;
use workloads::study::ttl::{RouteEnd, study};

#[test]
fn packets_in_a_loop_of_the_tables_expire_where_the_specification_says() {
    let found = study("galaxy", 10).unwrap();
    assert_eq!(found.chips.len(), 16, "the specification's D1 to D16");
    assert_eq!(found.sent, 10);
    let seen = |ttl: u8| found.rows.iter().find(|row| row.ttl == ttl).unwrap().seen.unwrap().1;
    // From D1 to D5, then D6, D7, D11, D10, D9, D5 and so on: D11 has received the packet from D7 in the north, D7 that with one
    // hop less from D6 in the west.
    assert_eq!(seen(10), RouteEnd { device: 10, direction: Direction::North });
    assert_eq!(seen(9), RouteEnd { device: 6, direction: Direction::West });
    assert!(found.is_right(), "{found:?}");
}
