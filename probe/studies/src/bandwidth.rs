//! Bandwidth of one link in both directions, by packet size and number of channels, beside the
//! bound that packet overheads leave and the vendor's published figures.
//!
//! The bound is computed from figures of the Basic Ethernet guide (tt-metal,
//! `tech_reports/EthernetMultichip`): 12.5 GB/s per direction, at most 1500 bytes of payload per
//! packet, and about 50 bytes of overhead with each.

mod table;

use super::bench::{Bench, Exchange};
use super::published::{Published, deviation_percent};
use launch::ControlError;
use launch::dice::Random;
use launch::topology::{FreeLinks, Socket};
pub use table::STUDY;
use workloads::scene::SceneError;

/// The basis of the bound.
pub const BOUND_BASIS: &str = "computed: 25 GB/s both ways, less about 50 bytes with each packet of at most 1500 (Basic Ethernet guide)";
/// Rate of both directions of a link, in bytes per nanosecond.
const LINK_BYTES_PER_CYCLE: f64 = 25.0;
const PACKET_PAYLOAD_BYTES: u32 = 1500;
const PACKET_OVERHEAD_BYTES: u32 = 50;
/// Sizes of the synthetic benchmark.
const BYTES: [u32; 10] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];
/// Channels per direction that are tried with each size.
const CHANNELS: [u32; 6] = [1, 2, 4, 8, 16, 30];
/// L1 for messages of both directions, in bytes.
const ROOM_BYTES: u32 = 144 << 10;
/// Messages in flight per direction in `test_erisc_bw_bi_dir`.
const TEST_CHANNELS: u32 = 16;
/// GB/s per direction by bytes in `test_erisc_bw_bi_dir`.
const TEST: [(u32, f64); 6] =
    [(128, 1.59), (256, 3.19), (512, 6.39), (1024, 10.9), (2048, 11.4), (4096, 11.82)];
/// Sizes with EDMs.
const EDM_BYTES: [u32; 3] = [4096, 8192, 16384];
/// Channels per direction with EDMs.
const EDM_CHANNELS: [u32; 2] = [1, 2];
/// Most buffers of an EDM's channel; more do not raise its bandwidth.
const EDM_MOST_BUFFERS: u32 = 8;
/// Bytes that a row sends in each direction, within [`MESSAGES`].
const ROW_BYTES: u32 = 1 << 20;
/// Fewest and most messages of a channel.
const MESSAGES: (u32, u32) = (16, 256);

/// What moves the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// The synthetic benchmark: only sends and completions.
    Stream,
    /// EDMs, whose channels have several buffers.
    Edm,
}

/// A measurement of one size with one number of channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// The two ends of the link.
    pub link: Socket,
    /// What moved the messages.
    pub mover: Mover,
    /// Bytes of a message.
    pub packet_bytes: u32,
    /// Channels of each direction.
    pub channels: u32,
    /// Buffers of each channel.
    pub buffers: u32,
    /// Messages of all channels, both directions together.
    pub messages: u64,
    /// Cycles from the handshake until every credit is back.
    pub cycles: u64,
}

impl Bandwidth {
    /// Returns the payload rate of both directions, in GB/s.
    pub fn measured(&self) -> f64 {
        self.messages as f64 * f64::from(self.packet_bytes) / self.cycles.max(1) as f64
    }

    /// Returns what packet overheads leave of the link's 25 GB/s, in GB/s. It is computed, see
    /// [`BOUND_BASIS`].
    pub fn bound(&self) -> f64 {
        LINK_BYTES_PER_CYCLE * bound_share(self.packet_bytes)
    }

    /// Returns by how many percent the measurement is above (or, negative, below) the bound.
    pub fn over_bound_percent(&self) -> f64 {
        deviation_percent(self.measured(), self.bound())
    }

    /// Returns the vendor's figure for the same number of messages in flight, both directions
    /// together.
    pub fn published(&self) -> Option<Published> {
        let alike = self.mover == Mover::Stream && self.channels == TEST_CHANNELS;
        let test = TEST.into_iter().find(|&(bytes, _)| alike && bytes == self.packet_bytes);
        test.map(|(_, each)| Published::test(2.0 * each, "test_erisc_bw_bi_dir, 16 slots"))
    }

    /// Returns the reason of a large deviation from the published figure, in one sentence.
    pub fn reason(&self) -> Option<String> {
        let published = self.published().filter(|figure| figure.is_far_from(self.measured()))?;
        // Both ends send and receive messages at the same time.
        let per_message = |gbps: f64| 2.0 * f64::from(self.packet_bytes) / gbps;
        let [here, there, wire] =
            [self.measured(), published.figure, self.bound()].map(per_message);
        let pace = if here > 1.1 * wire { "the kernels" } else { "the link" };
        let pace_there = if there > 1.1 * wire { "the kernels" } else { "the link" };
        Some(format!(
            "an end sends a message and takes one every {here:.0} ns here and every {there:.0} ns as published, while the link is \
             free again after {wire:.0} ns: the pace is set by {pace} here and by {pace_there} there"
        ))
    }

    /// Returns the payload's share of the link's rate, in percent.
    pub fn utilisation_percent(&self) -> f64 {
        100.0 * self.measured() / LINK_BYTES_PER_CYCLE
    }
}

/// Returns the payload's share of the bytes that cross the link.
fn bound_share(packet_bytes: u32) -> f64 {
    let packets = packet_bytes.div_ceil(PACKET_PAYLOAD_BYTES);
    let all = packet_bytes + packets * PACKET_OVERHEAD_BYTES;
    f64::from(packet_bytes) / f64::from(all.max(1))
}

/// A measurement to make: the mover, bytes of a message, and channels of each direction.
pub type Measurement = (Mover, u32, u32);

/// Measures one link of a mesh, which the seed chooses, with all sizes. `report` is called with
/// each row.
///
/// # Errors
/// As [`workloads::scene::Scene::build`], and if the mesh has no free link or messages arrive wrong.
pub fn study(
    mesh: &str,
    seed: u64,
    report: &mut dyn FnMut(&Bandwidth),
) -> Result<Vec<Bandwidth>, SceneError> {
    let all = |mover, bytes: &[u32], channels: &'static [u32]| {
        let each = |bytes: u32| channels.iter().map(move |&channels| (mover, bytes, channels));
        bytes.iter().copied().flat_map(each).collect::<Vec<Measurement>>()
    };
    let mut requests = all(Mover::Stream, &BYTES, &CHANNELS);
    requests.extend(all(Mover::Edm, &EDM_BYTES, &EDM_CHANNELS));
    rows(mesh, seed, &requests, report)
}

/// Makes the requested measurements, except those that do not fit into L1.
///
/// # Errors
/// As [`study`].
pub fn rows(
    mesh: &str,
    seed: u64,
    requests: &[Measurement],
    report: &mut dyn FnMut(&Bandwidth),
) -> Result<Vec<Bandwidth>, SceneError> {
    let mut bench = Bench::new(mesh, seed)?;
    let found = bench.mesh();
    let free = FreeLinks::of(&found);
    let pairs = found.links.iter().flat_map(|link| free.between(link.a.chip, link.b.chip));
    let pairs: Vec<Socket> = pairs.collect();
    let none = || ControlError::Settings(format!("{mesh} has no free link"));
    let chosen = Random(seed).below(pairs.len() as u64) as usize;
    let link = pairs.get(chosen).copied().ok_or_else(none)?;
    let mut rows = Vec::new();
    for &(mover, packet_bytes, channels) in requests {
        let room = ROOM_BYTES / (2 * channels * (packet_bytes + 16)).max(1);
        if room == 0 {
            continue;
        }
        let (least, most) = MESSAGES;
        let each = (ROW_BYTES / packet_bytes / channels).clamp(least, most);
        let (buffers, cycles) = match mover {
            Mover::Stream => (1, stream(&mut bench, link, packet_bytes, channels, each)?),
            Mover::Edm => {
                let buffers = room.min(EDM_MOST_BUFFERS);
                let bytes = packet_bytes;
                let what =
                    Exchange { bytes, channels, bidirectional: true, buffers, messages: each };
                (buffers, bench.exchange(link, &what)?)
            }
        };
        let messages = u64::from(2 * channels * each);
        let row = Bandwidth { link, mover, packet_bytes, channels, buffers, messages, cycles };
        report(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// Returns the cycles in which both ends of a link send and receive their messages, of the slower
/// end.
fn stream(
    bench: &mut Bench,
    (a, b): Socket,
    bytes: u32,
    channels: u32,
    rounds: u32,
) -> Result<u64, SceneError> {
    let ends = [bench.place(a)?, bench.place(b)?];
    let all = [("rounds", rounds), ("payload_bytes", bytes), ("channels", channels)];
    let tiles = [(ends[0], vec![("first", 1)]), (ends[1], vec![("first", 0)])];
    bench.measure("LINK_BENCH_STREAM", &all, &tiles)?;
    let mut longest = 0;
    for end in ends {
        let ready = bench.bench_state(end, "ready_cycles")?;
        longest = longest.max(bench.bench_state(end, "finished_cycles")?.saturating_sub(ready));
    }
    Ok(longest)
}
