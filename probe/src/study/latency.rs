//! How long a packet needs: round rings of links on a T3000, and there and back over one link.
//!
//! The figures of the vendor are those of the Basic Ethernet guide (tt-metal, tech_reports/EthernetMultichip): a ring of 8 in
//! about 5.2 us with payload and signal merged (650 ns a hop), about 690 ns a hop without, about 1 us a hop at 1 KB, and
//! roughly 1100 ns there and back over one link.

use super::bench::{Bench, place};
use crate::ccl::topology::ring_of_hops;
use crate::control::{ControlError, Place, Ring};
use crate::scene::SceneError;
use layouts::EthId;

const RING_MESH: &str = "t3000";
const HOPS: [usize; 4] = [2, 4, 8, 12];
const GUIDE_HOPS: usize = 8;
/// Sizes of the payload on the ring of eight.
const BYTES: [u32; 5] = [16, 256, 1024, 4096, 16384];
/// A flit of the guide's packets.
const LEAST_BYTES: u32 = 16;
/// Laps or pings; the longest, which is the first with its start skew, does not count.
const ROUNDS: u32 = 24;
/// Passes of a wait between two turns of base firmware: longer than any lap, which a turn would lengthen.
const YIELD_INTERVAL: u32 = 8192;

/// What goes how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Once round a ring of so many links.
    Ring {
        /// Links.
        hops: usize,
        /// Payload and signal travel in one send.
        merged: bool,
    },
    /// Over one link and, as a completion, back.
    RoundTrip,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The way.
    pub way: Way,
    /// Bytes of the payload.
    pub packet_bytes: u32,
    /// Laps or pings that count.
    pub count: u32,
    /// The mean of these, in cycles of 1 ns.
    pub cycles: f64,
    /// The vendor's figure for it, in ns.
    pub published_ns: Option<f64>,
}

impl Row {
    /// Time of one lap or of there and back, in ns.
    pub fn measured_ns(&self) -> f64 {
        self.cycles
    }

    /// The same for each link that was crossed.
    pub fn per_hop_ns(&self) -> f64 {
        match self.way {
            Way::Ring { hops, .. } => self.cycles / hops as f64,
            Way::RoundTrip => self.cycles / 2.0,
        }
    }

    /// By how many percent the measurement lies above (or, negative, below) the published figure.
    pub fn deviation_percent(&self) -> Option<f64> {
        self.published_ns.map(|published| super::deviation_percent(self.measured_ns(), published))
    }
}

fn published(way: Way, bytes: u32) -> Option<f64> {
    match (way, bytes) {
        (Way::Ring { hops: GUIDE_HOPS, merged: true }, LEAST_BYTES) => Some(5200.0),
        (Way::Ring { hops: hops @ (GUIDE_HOPS | 12), merged: false }, LEAST_BYTES) => {
            Some(690.0 * hops as f64)
        }
        (Way::Ring { hops: GUIDE_HOPS, .. }, 1024) => Some(1000.0 * GUIDE_HOPS as f64),
        (Way::RoundTrip, LEAST_BYTES) => Some(1100.0),
        _ => None,
    }
}

/// All rows; `told` hears of each.
///
/// # Errors
/// As [`crate::scene::Scene::build`], and when a ring is not found or does not end.
pub fn study(seed: u64, told: &mut dyn FnMut(&Row)) -> Result<Vec<Row>, SceneError> {
    let small = HOPS.into_iter().map(|hops| (hops, LEAST_BYTES));
    let large = BYTES.into_iter().skip(1).map(|bytes| (GUIDE_HOPS, bytes));
    let rings: Vec<_> = small.chain(large).collect();
    rows(seed, &rings, told)
}

/// The round trip, and rings of so many hops with so many bytes.
///
/// # Errors
/// As [`study`].
pub fn rows(
    seed: u64,
    rings: &[(usize, u32)],
    told: &mut dyn FnMut(&Row),
) -> Result<Vec<Row>, SceneError> {
    let mut bench = Bench::new(RING_MESH, seed)?;
    let mut rows = Vec::new();
    for &(hops, bytes) in rings {
        for merged in [true, false] {
            let way = Way::Ring { hops, merged };
            let cycles = ring(&mut bench, hops, bytes, merged)?;
            rows.push(row(way, bytes, cycles));
            rows.last().into_iter().for_each(&mut *told);
        }
    }
    if let Some(&(a, b)) = hops(&bench, 2)?.first() {
        let ends = [place(a)?, place(b)?];
        for bytes in [LEAST_BYTES, 1024, 16384] {
            let all = [("rounds", ROUNDS), ("payload_bytes", bytes), ("channels", 1)];
            let tiles = [(ends[0], vec![("first", 1)]), (ends[1], vec![("first", 0)])];
            bench.measure("LINK_BENCH_PING", &all, &tiles)?;
            let cycles = mean(&mut bench, ends[0])?;
            rows.push(row(Way::RoundTrip, bytes, cycles));
            rows.last().into_iter().for_each(&mut *told);
        }
    }
    Ok(rows)
}

fn row(way: Way, packet_bytes: u32, cycles: f64) -> Row {
    Row { way, packet_bytes, count: ROUNDS - 1, cycles, published_ns: published(way, packet_bytes) }
}

fn hops(bench: &Bench, hops: usize) -> Result<Vec<(EthId, EthId)>, ControlError> {
    let found = ring_of_hops(&bench.mesh(), hops);
    found.map_err(|error| ControlError::Settings(error.to_string()))
}

/// The mean time of a lap, in cycles.
fn ring(bench: &mut Bench, count: usize, bytes: u32, merged: bool) -> Result<f64, SceneError> {
    let stops = Ring { hops: hops(bench, count)? }.stops();
    let all = [
        ("rounds", ROUNDS),
        ("payload_bytes", bytes),
        ("channels", 1),
        ("separate_sync", u32::from(!merged)),
        ("yield_interval", YIELD_INTERVAL),
    ];
    let tiles = stops.iter().map(|stop| {
        let own = vec![
            ("first", u32::from(stop.sends)),
            ("master", u32::from(stop.position == 0)),
            ("sibling_x", stop.sibling.tile.x.into()),
            ("sibling_y", stop.sibling.tile.y.into()),
        ];
        (stop.place, own)
    });
    let tiles: Vec<_> = tiles.collect();
    bench.measure("LINK_BENCH_RING", &all, &tiles)?;
    let master = stops.first().map(|stop| stop.place);
    master.map_or(Ok(0.0), |master| mean(bench, master))
}

fn mean(bench: &mut Bench, master: Place) -> Result<f64, SceneError> {
    let all = bench.bench_state(master, "sum_round_cycles")?;
    let longest = bench.bench_state(master, "max_round_cycles")?;
    Ok(all.saturating_sub(longest) as f64 / f64::from(ROUNDS - 1))
}
