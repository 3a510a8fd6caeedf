//! Latency of packets round rings of links on a T3000, and over one link and back, beside the
//! vendor's published figures.

mod published;
mod table;

pub use published::Parts;

use super::bench::Bench;
use super::published::Published;
use launch::dice::Random;
use launch::topology::{FreeLinks, Socket, ring_of_hops};
use launch::{ControlError, Ring};
use layouts::ChipId;
use machine::place::Place;
pub use table::STUDY;
use workloads::scene::SceneError;

const RING_MESH: &str = "t3000";
const HOPS: [usize; 4] = [2, 4, 8, 12];
const GUIDE_HOPS: usize = 8;
/// Sizes of the payload on the ring of eight.
const BYTES: [u32; 5] = [16, 256, 1024, 4096, 16384];
/// Sizes of round trips over one link.
const ROUND_TRIP_BYTES: [u32; 9] = [16, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/// The smallest packet of the guide: one flit.
const LEAST_BYTES: u32 = 16;
/// Laps or pings. The longest does not count: it is the first, which includes the start skew.
const ROUNDS: u32 = 24;
/// Polls of a wait between two yields to base firmware. They take longer than any lap, so that no
/// yield falls into a lap.
const YIELD_INTERVAL: u32 = 8192;

/// The route of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Once round a ring of links.
    Ring {
        /// Number of links.
        hops: usize,
        /// Whether payload and signal are one send.
        merged: bool,
    },
    /// Over one link and back, as a completion.
    RoundTrip,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// The route.
    pub distance: Distance,
    /// The chips on the route, in order.
    pub chips: Vec<ChipId>,
    /// Bytes of the payload.
    pub packet_bytes: u32,
    /// Laps or pings that count.
    pub count: u32,
    /// Their mean time, in cycles of 1 ns.
    pub cycles: f64,
    /// The vendor's published figures, in ns.
    pub published: Vec<Published>,
    /// For each published figure the reason of a large deviation, in one sentence; none if the
    /// deviation is small.
    pub reasons: Vec<Option<String>>,
}

impl Latency {
    /// Returns the time of one lap or round trip, in ns.
    pub fn measured_ns(&self) -> f64 {
        self.cycles
    }

    /// Returns the number of crossed links.
    pub fn hops(&self) -> usize {
        match self.distance {
            Distance::Ring { hops, .. } => hops,
            Distance::RoundTrip => 2,
        }
    }

    /// Returns the time for each crossed link, in ns.
    pub fn per_hop_ns(&self) -> f64 {
        self.cycles / self.hops() as f64
    }

    /// Returns the parts of a hop's time.
    pub fn parts(&self) -> Parts {
        Parts::of(self)
    }
}

/// Measures all rows. `report` is called with each row.
///
/// # Errors
/// As [`workloads::scene::Scene::build`], and when a ring is not found or does not end.
pub fn study(seed: u64, report: &mut dyn FnMut(&Latency)) -> Result<Vec<Latency>, SceneError> {
    let small = HOPS.into_iter().map(|hops| (hops, LEAST_BYTES));
    let large = BYTES.into_iter().skip(1).map(|bytes| (GUIDE_HOPS, bytes));
    let rings: Vec<_> = small.chain(large).collect();
    rows(seed, &rings, &ROUND_TRIP_BYTES, report)
}

/// Measures rings, by hops and bytes, and round trips, by bytes. The seed chooses the rings and
/// links of the mesh and the measuring chip of each ring.
///
/// # Errors
/// As [`study`].
pub fn rows(
    seed: u64,
    rings: &[(usize, u32)],
    round_trips: &[u32],
    report: &mut dyn FnMut(&Latency),
) -> Result<Vec<Latency>, SceneError> {
    let mut bench = Bench::new(RING_MESH, seed)?;
    let mut dice = Random(seed);
    let mut rows: Vec<Latency> = Vec::new();
    let mut add = |row: Latency| {
        let row = explained(row, &rows);
        report(&row);
        rows.push(row);
    };
    for &(hops, bytes) in rings {
        let hops = ring_of(&bench, hops, &mut dice)?;
        for merged in [true, false] {
            let cycles = ring(&mut bench, &hops, bytes, merged)?;
            let chips = hops.iter().map(|(near, _)| near.chip).collect();
            add(row(Distance::Ring { hops: hops.len(), merged }, chips, bytes, cycles));
        }
    }
    let (a, b) = link_of(&bench, &mut dice)?;
    let ends = [bench.place(a)?, bench.place(b)?];
    for &bytes in round_trips {
        let all = [("rounds", ROUNDS), ("payload_bytes", bytes), ("channels", 1)];
        let tiles = [(ends[0], vec![("first", 1)]), (ends[1], vec![("first", 0)])];
        bench.measure("LINK_BENCH_PING", &all, &tiles)?;
        let cycles = mean(&mut bench, ends[0])?;
        add(row(Distance::RoundTrip, vec![a.chip, b.chip], bytes, cycles));
    }
    Ok(rows)
}

fn row(distance: Distance, chips: Vec<ChipId>, packet_bytes: u32, cycles: f64) -> Latency {
    let published = published::published(distance, packet_bytes);
    let count = ROUNDS - 1;
    Latency { distance, chips, packet_bytes, count, cycles, published, reasons: Vec::new() }
}

/// Adds the reasons of large deviations. A larger size is compared with an earlier row of the same
/// route and the smallest size.
fn explained(mut row: Latency, before: &[Latency]) -> Latency {
    let least = before
        .iter()
        .find(|other| other.distance == row.distance && other.packet_bytes == LEAST_BYTES);
    let far = |published: &Published| {
        let is_far = published.is_far_from(row.measured_ns());
        is_far.then(|| published::reason(&row, published, least))
    };
    row.reasons = row.published.iter().map(far).collect();
    row
}

fn ring_of(bench: &Bench, hops: usize, dice: &mut Random) -> Result<Vec<Socket>, ControlError> {
    let mesh = bench.mesh();
    let mut chips: Vec<ChipId> = mesh.chips.iter().map(|chip| chip.id).collect();
    chips.sort_unstable();
    dice.shuffle(&mut chips);
    let found = ring_of_hops(&mesh, hops, &chips);
    found.map_err(|error| ControlError::Settings(error.to_string()))
}

fn link_of(bench: &Bench, dice: &mut Random) -> Result<Socket, ControlError> {
    let mesh = bench.mesh();
    let free = FreeLinks::of(&mesh);
    let all: Vec<Socket> =
        mesh.links.iter().flat_map(|link| free.between(link.a.chip, link.b.chip)).collect();
    let chosen = all.get(dice.below(all.len() as u64) as usize).copied();
    chosen.ok_or_else(|| ControlError::Settings("the mesh has no free link".to_owned()))
}

/// Measures the mean time of a lap, in cycles.
fn ring(bench: &mut Bench, hops: &[Socket], bytes: u32, merged: bool) -> Result<f64, SceneError> {
    let stops = Ring { hops: hops.to_vec() }.stops(&bench.mesh()).map_err(ControlError::from)?;
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
