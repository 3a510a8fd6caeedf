//! The studies of links beside the vendor's figures: a ring of eight, round trips, and both
//! directions at the same time.

use crate::bandwidth::{self, Mover};
use crate::latency::{self, Distance};
use crate::published::{GUIDE, TEST};

#[test]
fn latencies_are_near_the_guides_and_what_is_not_near_is_explained() {
    let mut reported = 0;
    let rows =
        latency::rows(1, &[(8, 16), (8, 1024)], &[16, 1024], &mut |_| reported += 1).unwrap();
    assert_eq!(reported, rows.len());
    for row in &rows {
        let ns = row.measured_ns();
        assert_eq!(row.reasons.len(), row.published.len());
        for (published, reason) in row.published.iter().zip(&row.reasons) {
            let deviation = published.deviation_percent(ns);
            assert_eq!(reason.is_some(), deviation.abs() > 10.0, "{:?}: {ns} ns", row.distance);
            if published.source == GUIDE && row.packet_bytes == 16 {
                assert!(deviation.abs() <= 10.0, "{:?}: {ns} ns, {deviation:+.1} %", row.distance);
            }
        }
        let parts = row.parts();
        let sum = parts.link_ns + parts.wire_ns + parts.copy_ns + parts.kernels_ns;
        assert!((sum - row.per_hop_ns()).abs() < 1e-6 && parts.kernels_ns > 0.0, "{parts:?}");
    }
    let small: Vec<Distance> =
        rows.iter().filter(|r| r.packet_bytes == 16).map(|r| r.distance).collect();
    let ring = |merged| Distance::Ring { hops: 8, merged };
    assert_eq!(small, [ring(true), ring(false), Distance::RoundTrip]);
    let large = rows.iter().find(|r| (r.distance, r.packet_bytes) == (ring(false), 1024)).unwrap();
    let reason = large.reasons[0].as_deref().unwrap();
    assert!(reason.contains("from 16 bytes to 1024 it grows by"), "{reason}");

    let other = latency::rows(2, &[(8, 16)], &[], &mut |_| ()).unwrap();
    assert_ne!(rows[0].chips, other[0].chips, "the seed chooses the ring");
    let apart = (rows[0].cycles - other[0].cycles).abs();
    assert!(apart > 0.01, "other tiles, other distances: {apart}");
}

#[test]
fn an_edm_moves_more_than_20_gb_a_second_and_no_size_more_than_its_overheads_leave() {
    let requests = [
        (Mover::Edm, 16384, 2),
        (Mover::Stream, 16384, 4),
        (Mover::Stream, 1024, 16),
        (Mover::Stream, 1024, 8),
    ];
    let rows = bandwidth::rows("n300", 1, &requests, &mut |_| ()).unwrap();
    assert!(rows[0].measured() > 20.0 && rows[1].measured() > 20.0, "{rows:?}");
    assert!(rows.iter().all(|row| row.measured() <= row.bound()), "{rows:?}");
    // The bound is computed. The published figures are for 16 messages in flight.
    let published = rows[2].published().unwrap();
    assert_eq!((published.figure, published.source), (21.8, TEST));
    assert!(published.figure < rows[2].bound() && rows[3].published().is_none());
}
