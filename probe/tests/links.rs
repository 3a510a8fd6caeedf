//! The studies of links beside the vendor's figures: a ring of eight, there and back, and both ways at once.
#![allow(clippy::unwrap_used, reason = "tests")]

use probe::study::bandwidth::{self, Mover};
use probe::study::latency::{self, Way};

#[test]
fn latencies_are_near_the_guides() {
    let mut told = 0;
    let rows = latency::rows(1, &[(8, 16)], &mut |_| told += 1).unwrap();
    assert_eq!(told, rows.len());
    for row in rows.iter().filter(|row| row.published_ns.is_some()) {
        let deviation = row.deviation_percent().unwrap();
        let ns = row.measured_ns();
        assert!(deviation.abs() <= 10.0, "{:?}: {ns} ns, {deviation:+.1} %", row.way);
    }
    let small: Vec<Way> = rows.iter().filter(|r| r.packet_bytes == 16).map(|r| r.way).collect();
    let ring = |merged| Way::Ring { hops: 8, merged };
    assert_eq!(small, [ring(true), ring(false), Way::RoundTrip]);
}

#[test]
fn an_edm_moves_more_than_20_gb_a_second_and_no_size_more_than_its_overheads_leave() {
    let wishes = [(Mover::Edm, 16384, 2), (Mover::Stream, 16384, 4), (Mover::Stream, 1024, 16)];
    let rows = bandwidth::rows("n300", 1, &wishes, &mut |_| ()).unwrap();
    assert!(rows[0].measured() > 20.0 && rows[1].measured() > 20.0, "{rows:?}");
    assert!(rows.iter().all(|row| row.measured() <= row.published()), "{rows:?}");
}
