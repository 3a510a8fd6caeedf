//! Launches workers directly, with their command lists, tensors and channels, and computes the
//! expected data.
#![allow(unreachable_pub, dead_code, reason = "a module of a test")]

use crate::edm::bench::{Bench, Values};
use launch::KernelLaunch;
use layouts::{ChipId, NocXy};
use machine::place::Place;
use machine::target::Target;

pub const FROM_TENSOR: u32 = 1;
pub const FROM_CHANNEL: u32 = 2;
pub const TO_TENSOR: u32 = 4;
pub const TO_CHANNEL: u32 = 8;
pub const WAIT: u32 = 16;
pub const SIGNAL: u32 = 32;
pub const FILL: u32 = 64;
pub const DIGEST: u32 = 128;
pub const CREDIT: u32 = 256;

pub const ROUND_ROBIN: u32 = 1;
pub const SHARED: u32 = 2;

const CONFIG_BASE: u64 = 0x14000;
const SEMAPHORES: u32 = 0x200;
const COMMANDS: u64 = 0x2_0000;
const BANKS: u64 = 0x2_8000;
pub const DIGESTS: u64 = 0x2_C000;
const STAGING: u32 = 0x4_0000;
/// One port of each of three DRAM channels.
const DRAM: [NocXy; 3] = [NocXy { x: 0, y: 1 }, NocXy { x: 0, y: 6 }, NocXy { x: 5, y: 1 }];
const DRAM_BASE: u32 = 0x10_0000;
/// L1 address of the semaphores of an EDM's channels, four for each.
const EDM_SEMAPHORES: u32 = 0x3_F300;
/// Seed of the data.
pub const SEED: u32 = 7;

/// The tensor that a test moves.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub data_type: u32,
    pub page_bytes: u32,
    pub pages: u32,
    pub last_page_bytes: u32,
    pub packet_pages: u32,
    pub slice_pages: u32,
}

impl Shape {
    pub fn packets(&self) -> u32 {
        let full = self.pages / self.slice_pages * self.slice_pages.div_ceil(self.packet_pages);
        full + (self.pages % self.slice_pages).div_ceil(self.packet_pages)
    }

    pub fn buffer_bytes(&self) -> u32 {
        self.page_bytes * self.packet_pages
    }

    pub fn bytes(&self) -> u32 {
        (self.pages - 1) * self.page_bytes + self.last_page_bytes
    }

    /// Returns the elements of a rank: three less than fit, so that errors in padding show.
    pub fn elements(&self) -> u32 {
        self.bytes() / if self.data_type == 2 { 2 } else { 4 } - 3
    }

    /// Returns the words of a rank's data, as `CCL_FILL` makes them.
    pub fn words(&self, rank: u32) -> Vec<u32> {
        let per_word = if self.data_type == 2 { 2 } else { 1 };
        let word = |index: u32| {
            let real = self.elements().saturating_sub(index * per_word).min(per_word);
            let word = pattern(self.data_type, SEED, rank, index);
            match (real, per_word) {
                (0, _) => 0,
                (1, 2) => word & 0xFFFF,
                _ => word,
            }
        };
        (0..self.bytes() / 4).map(word).collect()
    }
}

pub fn pattern(data_type: u32, seed: u32, rank: u32, index: u32) -> u32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9)
        ^ (rank + 1).wrapping_mul(0x85EB_CA6B)
        ^ index.wrapping_mul(0xC2B2_AE35);
    x ^= x >> 15;
    x = x.wrapping_mul(0x2C1B_3C6D);
    x ^= x >> 13;
    match data_type {
        1 => x & 0x807F_FFFF | (120 + (x >> 8 & 15)) << 23,
        2 => x & 0x807F_807F | (120 + (x >> 8 & 7)) << 7 | (120 + (x >> 11 & 7)) << 23,
        _ => x,
    }
}

pub fn sum(data_type: u32, a: u32, b: u32) -> u32 {
    let single = |a: u32, b: u32| (f32::from_bits(a) + f32::from_bits(b)).to_bits();
    let half = |a: u32, b: u32| {
        let sum = single(a << 16, b << 16);
        sum.wrapping_add(0x7FFF + (sum >> 16 & 1)) >> 16
    };
    match data_type {
        1 => single(a, b),
        2 => half(a & 0xFFFF, b & 0xFFFF) | half(a >> 16, b >> 16) << 16,
        _ => a.wrapping_add(b),
    }
}

pub fn digest(words: &[u32]) -> u32 {
    words.iter().fold(0x811C_9DC5, |digest, word| (digest ^ word).wrapping_mul(0x0100_0193))
}

/// One side of channel `number` of the EDM at a tile.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub edm: Place,
    pub number: u32,
    pub buffers: u32,
    pub buffer_bytes: u32,
    /// Number of this worker among the `workers` that share the channel.
    pub worker: u32,
    pub workers: u32,
    pub sharing: u32,
    pub initiates: bool,
}

impl Side {
    /// Returns the side of a channel with one worker and a message count.
    pub fn new(edm: Place, number: u32, buffers: u32, buffer_bytes: u32) -> Self {
        let (worker, workers, sharing, initiates) = (0, 1, 0, false);
        Self { edm, number, buffers, buffer_bytes, worker, workers, sharing, initiates }
    }
}

/// A command over all pages: flags, tensors, rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Command {
    pub flags: u32,
    pub source: u32,
    pub destination: u32,
    pub rank: u32,
}

/// The work of one worker.
#[derive(Clone, Debug, Default)]
pub struct Work {
    pub commands: Vec<Command>,
    pub inbound: Option<Side>,
    pub outbound: Option<Side>,
    pub partner: Option<Place>,
    pub more: Values,
}

fn xy(tile: NocXy) -> u32 {
    u32::from(tile.x) | u32::from(tile.y) << 16
}

/// Returns the address of the semaphore that a worker of an EDM's channel increments.
pub fn edm_semaphore(number: u32, worker: u32) -> u32 {
    EDM_SEMAPHORES + 64 * number + 16 * worker
}

/// Returns the arguments of an EDM's channel with these workers, which use their semaphore of this
/// number.
pub fn with_workers(index: u32, semaphore: u32, workers: &[Place]) -> Values {
    let own = CONFIG_BASE as u32 + SEMAPHORES + 16 * semaphore;
    let values = [
        ("semaphore_address", edm_semaphore(index, 0)),
        ("worker_semaphore_address", own),
        ("workers", workers.len() as u32),
    ];
    let values = values.map(|(name, value)| (format!("channel[{index}].{name}"), value));
    let tiles = workers.iter().enumerate();
    let tiles = tiles.map(|(i, at)| (format!("channel[{index}].worker_xy[{i}]"), xy(at.tile)));
    values.into_iter().chain(tiles).collect()
}

/// Returns the place of a tensor's page. Pages alternate between the banks.
fn page(tensor: u32, shape: &Shape, page: u32) -> (NocXy, u64) {
    let banks = DRAM.len() as u32;
    let row = page / banks * shape.page_bytes;
    (DRAM[(page % banks) as usize], u64::from(DRAM_BASE + tensor * 0x10_0000 + row))
}

fn side(values: &mut Values, name: &str, side: &Side, semaphore: u32) {
    let stride = side.buffer_bytes + 16;
    let members = [
        ("used", 1),
        ("edm_xy", xy(side.edm.tile)),
        ("buffers_address", 0x1_9000 + side.number * side.buffers * stride),
        ("buffers", side.buffers),
        ("buffer_bytes", side.buffer_bytes),
        ("edm_semaphore_address", edm_semaphore(side.number, side.worker)),
        ("semaphore", semaphore),
        ("worker_initiated", u32::from(side.initiates)),
        ("sharing_mode", side.sharing),
        ("workers", side.workers),
        ("worker", side.worker),
    ];
    values.extend(members.map(|(member, value)| (format!("{name}.{member}"), value)));
}

impl Bench {
    /// Returns the n-th compute tile of a chip that is not harvested.
    pub fn worker_tile(&self, chip: u16, n: usize) -> Place {
        let on = &self.target.mesh().chips[usize::from(chip)];
        let rows = (1..12u8).filter(|y| *y != 6 && on.is_fused_off(*y) == Some(false));
        let tile = rows.map(|y| NocXy { x: 1, y }).nth(n).unwrap();
        Place { chip: ChipId(chip), tile }
    }

    pub fn launch_worker(&mut self, place: Place, shape: &Shape, work: &Work) {
        let word = |value: u32| value.to_le_bytes();
        let list = work.commands.iter().flat_map(|command| {
            let Command { flags, source, destination, rank } = *command;
            let words = [flags | source << 16 | destination << 24, 0, 0, rank, 0, 0, 0, 0];
            words.into_iter().flat_map(word)
        });
        let list: Vec<u8> = list.collect();
        let banks = DRAM.iter().flat_map(|tile| [xy(*tile), DRAM_BASE]).flat_map(word);
        let banks: Vec<u8> = banks.collect();
        self.target.write(place.at(COMMANDS), &list).unwrap();
        self.target.write(place.at(BANKS), &banks).unwrap();
        let values = [
            ("run_id", self.run_id),
            ("data_type", shape.data_type),
            ("commands_address", COMMANDS as u32),
            ("commands", work.commands.len() as u32),
            ("banks_address", BANKS as u32),
            ("digests_address", DIGESTS as u32),
            ("staging_address", STAGING),
            ("pages", shape.pages),
            ("last_page_bytes", shape.last_page_bytes),
            ("slice_pages", shape.slice_pages),
            ("packet_pages", shape.packet_pages),
            ("elements", shape.elements()),
            ("seed", SEED),
            ("partner_xy", work.partner.map_or(0, |partner| xy(partner.tile))),
        ];
        let mut values: Values = values.map(|(name, value)| (name.to_owned(), value)).to_vec();
        for tensor in 0..3 {
            let members = [
                ("first_bank", 0),
                ("banks", DRAM.len() as u32),
                ("pages_per_shard", 1),
                ("page_bytes", shape.page_bytes),
                ("offset", tensor * 0x10_0000),
            ];
            values.extend(
                members.map(|(member, value)| (format!("tensors[{tensor}].{member}"), value)),
            );
        }
        if let Some(inbound) = &work.inbound {
            side(&mut values, "inbound", inbound, 0);
        }
        if let Some(outbound) = &work.outbound {
            side(&mut values, "outbound", outbound, 1);
        }
        values.extend(work.more.clone());
        let launch = KernelLaunch {
            place,
            kernel: "ccl_worker",
            firmware: "tensix_brisc",
            core_type: "TENSIX",
            config_base: CONFIG_BASE,
            text_offset: 0x400,
            arguments: self.arguments("ccl_worker", "ccl_worker_args_t", &values),
            semaphores: Vec::new(),
            in_place: false,
            host_assigned_id: self.run_id,
        };
        self.launch_with_semaphores(&launch, CONFIG_BASE, SEMAPHORES, 3);
    }

    /// Carries out a command list without channels.
    pub fn work(&mut self, place: Place, shape: &Shape, command: Command) {
        self.launch_worker(place, shape, &Work { commands: vec![command], ..Work::default() });
        self.finish_worker(place, 4);
    }

    /// Asserts that all semaphores of a worker are zero.
    pub fn assert_settled(&mut self, place: Place) {
        let semaphores = self.bytes(place, CONFIG_BASE + u64::from(SEMAPHORES), 48);
        assert_eq!(semaphores, [0; 48], "{place:?}");
    }

    /// Waits for a worker, which must end in this phase.
    pub fn finish_worker(&mut self, place: Place, phase: u64) {
        for _ in 0..2_000 {
            let now = self.state(place, "ccl_worker", "phase");
            if now >= 4 {
                assert_eq!(now, phase, "{place:?}");
                return;
            }
            self.target.pass(2_000).unwrap();
        }
        panic!("{place:?} does not finish");
    }

    /// Reads the words of a tensor page by page.
    pub fn tensor(&mut self, chip: u16, tensor: u32, shape: &Shape) -> Vec<u32> {
        let mut words = Vec::new();
        for index in 0..shape.pages {
            let (tile, at) = page(tensor, shape, index);
            let last = index + 1 == shape.pages;
            let len = if last { shape.last_page_bytes } else { shape.page_bytes };
            let bytes = self.bytes(Place { chip: ChipId(chip), tile }, at, len);
            let chunks = bytes.as_chunks::<4>().0;
            words.extend(chunks.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        }
        words
    }
}
