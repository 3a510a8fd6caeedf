//! A routing loop in the tables: packets expire by their time to live as in the TT-Fabric
//! specification's example, and status queues and the sender are notified.

use crate::ttl::{RouteEnd, study};
use machine::fabric::Direction;

#[test]
fn packets_in_a_loop_of_the_tables_expire_where_the_specification_says() {
    let found = study("galaxy", 10).unwrap();
    assert_eq!(found.chips.len(), 16, "the specification's D1 to D16");
    assert_eq!(found.sent, 10);
    let end_of = |ttl: u8| found.rows.iter().find(|row| row.ttl == ttl).unwrap().seen.unwrap().1;
    // From D1 to D5, then D6, D7, D11, D10, D9, D5 and so on: D11 receives the packet from D7 in
    // the north, D7 the packet with one hop less from D6 in the west.
    assert_eq!(end_of(10), RouteEnd { device: 10, direction: Direction::North });
    assert_eq!(end_of(9), RouteEnd { device: 6, direction: Direction::West });
    assert!(found.is_right(), "{found:?}");
}
