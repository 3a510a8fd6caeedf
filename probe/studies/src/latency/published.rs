//! Published latencies, and explanations of deviations from the parts of the emulator's timing
//! model: links, wires and copies.

use super::{Distance, GUIDE_HOPS, LEAST_BYTES, Latency};
use crate::published::Published;
use emulator::Timing;
use emulator::timing::{LINK_LATENCY_CYCLES, LINK_RATE_BYTES, LINK_RATE_CYCLES};

/// Payload of a packet (wormhole.md 5.2).
const PACKET_BYTES: u32 = 1500;
/// Bytes of a sync word or completion, each a packet of its own.
const SYNC_BYTES: u32 = 16;
/// Bytes of a message that a NoC carries per cycle.
const NOC_BYTES: u32 = 32;

/// Round trips over one link by bytes, in ns: `test_erisc_latency_uni_dir` before its answers
/// became as long as its messages.
const ROUND_TRIPS: [(u32, f64); 8] = [
    (16, 894.0),
    (128, 911.0),
    (256, 966.0),
    (512, 984.0),
    (1024, 1074.0),
    (2048, 1200.0),
    (4096, 1362.0),
    (8192, 1686.0),
];

/// Returns the published figures of a route with messages of this size, the guide's figure first.
pub(super) fn published(distance: Distance, bytes: u32) -> Vec<Published> {
    const TEST: &str = "test_erisc_latency_uni_dir";
    let test = ROUND_TRIPS.into_iter().find(|&(size, _)| size == bytes);
    match (distance, bytes) {
        (Distance::Ring { hops: GUIDE_HOPS, merged: true }, LEAST_BYTES) => {
            vec![Published::guide(5200.0, "approximately 5.2 us for 8 hops")]
        }
        (Distance::Ring { hops: GUIDE_HOPS, merged: false }, LEAST_BYTES) => {
            vec![Published::guide(690.0 * GUIDE_HOPS as f64, "approximately 690 ns a hop")]
        }
        (Distance::Ring { hops: hops @ 12, merged: false }, LEAST_BYTES) => {
            vec![Published::guide(690.0 * hops as f64, "slightly more than 690 ns a hop")]
        }
        // The guide's plot is of its first ring, whose payload and signal were not merged.
        (Distance::Ring { hops: GUIDE_HOPS, merged: false }, 1024) => {
            vec![Published::guide(1000.0 * GUIDE_HOPS as f64, "roughly 1 us a hop")]
        }
        (Distance::Ring { .. }, _) => Vec::new(),
        (Distance::RoundTrip, _) => {
            let guide =
                (bytes == LEAST_BYTES).then_some(Published::guide(1100.0, "roughly 1100 ns"));
            let test = test.map(|(_, ns)| Published::test(ns, TEST));
            guide.into_iter().chain(test).collect()
        }
    }
}

/// The parts of the time of one hop, in ns. Each direction of a round trip is one hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// In the Ethernet subsystem and on the wire, independent of the size.
    pub link_ns: f64,
    /// Until the last bit of the message is sent.
    pub wire_ns: f64,
    /// Copying it over the NoC to the next sending tile.
    pub copy_ns: f64,
    /// The rest: instructions and polls of the kernels, and the NoC's hops.
    pub kernels_ns: f64,
}

/// Returns the time that a link needs to send this many bytes, in ns.
fn wire_ns(bytes: u32) -> f64 {
    let overhead =
        Timing::default().packet_overhead as f64 * f64::from(bytes.div_ceil(PACKET_BYTES));
    (f64::from(bytes) + overhead) * LINK_RATE_CYCLES as f64 / LINK_RATE_BYTES as f64
}

impl Parts {
    pub(super) fn of(row: &Latency) -> Self {
        let (bytes, link_ns) = (row.packet_bytes, LINK_LATENCY_CYCLES as f64);
        let merged = wire_ns(bytes + SYNC_BYTES);
        let (wire_ns, copy_ns) = match row.distance {
            Distance::Ring { merged: true, .. } => (merged, f64::from(bytes.div_ceil(NOC_BYTES))),
            Distance::Ring { merged: false, .. } => {
                (wire_ns(bytes) + wire_ns(SYNC_BYTES), f64::from(bytes.div_ceil(NOC_BYTES)))
            }
            Distance::RoundTrip => (f64::midpoint(merged, wire_ns(SYNC_BYTES)), 0.0),
        };
        let kernels_ns = row.per_hop_ns() - link_ns - wire_ns - copy_ns;
        Self { link_ns, wire_ns, copy_ns, kernels_ns }
    }

    /// Returns the time that does not depend on the kernels.
    fn fixed_ns(&self) -> f64 {
        self.link_ns + self.wire_ns + self.copy_ns
    }
}

/// Explains why a row differs from a figure, from the parts of its time. `least` is the row of the
/// same route with the smallest message.
pub(super) fn reason(row: &Latency, published: &Published, least: Option<&Latency>) -> String {
    let parts = Parts::of(row);
    let Parts { link_ns, wire_ns, copy_ns, kernels_ns } = parts;
    let hops = row.hops() as f64;
    let there = published.figure / hops;
    let mut clauses = vec![format!(
        "a hop takes {:.0} ns here: {link_ns:.0} in the Ethernet subsystem and on the wire, {wire_ns:.0} to serialise the \
         message and what signals it, {copy_ns:.0} to copy it to the next tile, {kernels_ns:.0} in the kernels",
        row.per_hop_ns()
    )];
    let same = |least: &&Latency| least.packet_bytes < row.packet_bytes;
    let growth = least.filter(same).and_then(|least| {
        let before = least.published.iter().find(|other| other.source == published.source)?;
        let (now, then) = (parts, Parts::of(least));
        Some(Growth {
            bytes: (least.packet_bytes, row.packet_bytes),
            here: row.per_hop_ns() - least.per_hop_ns(),
            there: there - before.figure / hops,
            explained: now.wire_ns + now.copy_ns - then.wire_ns - then.copy_ns,
        })
    });
    clauses.extend(growth.map(|growth| growth.sentence()));
    let left = there - parts.fixed_ns();
    clauses.push(if left < 0.0 {
        format!(
            "the published {there:.0} ns a hop are less than links, wire and copy take here, where the latency of a link is the \
             guide's estimate of {link_ns:.0} ns"
        )
    } else {
        format!("the published {there:.0} ns a hop leave {left:.0} for the kernels")
    });
    clauses.join("; ")
}

/// Differences below this are not mentioned.
const FEW_NS: f64 = 10.0;

/// The additional time of a hop with a larger message, in ns.
struct Growth {
    /// Bytes of the smaller message and of the larger.
    bytes: (u32, u32),
    /// As measured.
    here: f64,
    /// As published.
    there: f64,
    /// For serialising and copying the message.
    explained: f64,
}

impl Growth {
    fn sentence(&self) -> String {
        let Self { bytes: (from, to), here, there, explained } = self;
        let more = there - explained;
        let elsewhere = if more > explained / 4.0 && more > FEW_NS {
            format!(
                ", so that {more:.0} of the published ones arise where this model has nothing that depends on the size, as if the \
                 message were stored whole once more on its way"
            )
        } else {
            String::new()
        };
        format!(
            "from {from} bytes to {to} it grows by {here:.0} ns here and by {there:.0} as published; serialising and copying \
             take {explained:.0} more{elsewhere}"
        )
    }
}
