//! Shared by the tests of this crate: a host with one window, and an assembler for a few
//! instructions.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use emulator::{ChipConfig, Mesh, MeshConfig};

/// Whether all rounds are wanted, as `.ci/deep` does, and not a few.
pub fn deep() -> bool {
    std::env::var_os("MESHSCOPE_DEEP").is_some()
}

/// A mesh, accessed through device 0's window 0.
pub struct Host {
    pub mesh: Mesh,
}

/// Returns an entry for a window of 2^`shift` bytes: tile, address, and the bits above the
/// coordinates.
fn entry(shift: u32, end: (u8, u8), addr: u64, start: (u8, u8), flags: u64) -> u64 {
    let n = 36 - shift;
    let at = |value: u8, bit: u32| u64::from(value) << (n + bit);
    addr >> shift
        | at(end.0, 0)
        | at(end.1, 6)
        | at(start.0, 12)
        | at(start.1, 18)
        | flags << (n + 24)
}

fn shift(window: u64) -> u32 {
    match window {
        0..156 => 20,
        156..166 => 21,
        _ => 24,
    }
}

/// Flags from bit 24 on: NOC 1, multicast.
const NOC1: u64 = 1;
const MULTICAST: u64 = 2;

impl Host {
    pub fn new(config: MeshConfig) -> Self {
        Self { mesh: Mesh::new(config).unwrap() }
    }

    pub fn n150() -> Self {
        let chips = vec![ChipConfig::wormhole(true)];
        Self::new(MeshConfig { chips, ..MeshConfig::default() })
    }

    pub fn n300() -> Self {
        Self::new(MeshConfig::n300())
    }

    pub fn read(&mut self, offset: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        self.mesh.bar_read(0, 0, offset, &mut out);
        out
    }

    pub fn read32(&mut self, offset: u64) -> u32 {
        u32::from_le_bytes(self.read(offset, 4).try_into().unwrap())
    }

    pub fn read_bar(&mut self, bar: u8, offset: u64) -> u32 {
        let mut out = [0; 4];
        self.mesh.bar_read(0, bar, offset, &mut out);
        u32::from_le_bytes(out)
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.mesh.bar_write(0, 0, offset, bytes);
    }

    pub fn entry(&mut self, window: u64, raw: u64) {
        self.write(0x1FC0_0000 + 8 * window, &raw.to_le_bytes());
    }

    pub fn point(&mut self, window: u64, tile: (u8, u8), addr: u64) {
        self.entry(window, entry(shift(window), tile, addr, (0, 0), 0));
    }

    pub fn point_noc1(&mut self, window: u64, tile: (u8, u8), addr: u64) {
        self.entry(window, entry(shift(window), tile, addr, (0, 0), NOC1));
    }

    pub fn point_multicast(&mut self, window: u64, start: (u8, u8), end: (u8, u8), addr: u64) {
        let (start, end) =
            ((start.0.min(end.0), start.1.min(end.1)), (end.0.max(start.0), end.1.max(start.1)));
        self.entry(window, entry(shift(window), end, addr, start, MULTICAST));
    }

    /// Points window 0, of one megabyte, at the tile; returns the offset in it.
    fn aim(&mut self, tile: (u8, u8), addr: u64) -> u64 {
        self.point(0, tile, addr);
        addr & 0xF_FFFF
    }

    pub fn read_tile(&mut self, tile: (u8, u8), addr: u64, len: usize) -> Vec<u8> {
        let offset = self.aim(tile, addr);
        self.read(offset, len)
    }

    pub fn write_tile(&mut self, tile: (u8, u8), addr: u64, bytes: &[u8]) {
        let offset = self.aim(tile, addr);
        self.write(offset, bytes);
    }

    pub fn register(&mut self, tile: (u8, u8), addr: u32) -> u32 {
        u32::from_le_bytes(self.read_tile(tile, u64::from(addr), 4).try_into().unwrap())
    }

    pub fn set_register(&mut self, tile: (u8, u8), addr: u32, value: u32) {
        self.write_tile(tile, u64::from(addr), &value.to_le_bytes());
    }

    /// Loads a program at L1 0 and releases the tile's first hart.
    pub fn run(&mut self, tile: (u8, u8), program: &[u32]) {
        let tensix = tile.1 != 0 && tile.1 != 6;
        let held = if tensix { 0x47800 } else { 0x800 };
        self.set_register(tile, 0xFFB1_21B0, held);
        let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write_tile(tile, 0, &bytes);
        self.set_register(tile, 0xFFB1_21B0, held & !0x800);
    }

    /// Sends an ARC message; returns status and first result.
    pub fn arc_message(&mut self, code: u32, argument: u32) -> (u32, u32) {
        self.write(0x1FF3_006C, &argument.to_le_bytes());
        self.write(0x1FF3_0074, &(0xAA00 | code).to_le_bytes());
        self.write(0x1FF3_0100, &0x1_0000u32.to_le_bytes());
        self.mesh.clock(5000);
        (self.read32(0x1FF3_0074), self.read32(0x1FF3_006C))
    }
}

/// Registers by their ABI numbers.
pub const T0: u32 = 5;
pub const T1: u32 = 6;
pub const T2: u32 = 7;

pub fn lui(rd: u32, value: u32) -> u32 {
    value & 0xFFFF_F000 | rd << 7 | 0x37
}

pub fn addi(rd: u32, rs: u32, imm: i32) -> u32 {
    (imm as u32 & 0xFFF) << 20 | rs << 15 | rd << 7 | 0x13
}

pub fn lw(rd: u32, base: u32, offset: i32) -> u32 {
    (offset as u32 & 0xFFF) << 20 | base << 15 | 2 << 12 | rd << 7 | 0x03
}

pub fn sw(rs: u32, base: u32, offset: i32) -> u32 {
    let o = offset as u32;
    (o >> 5 & 0x7F) << 25 | rs << 20 | base << 15 | 2 << 12 | (o & 31) << 7 | 0x23
}

pub fn bne(a: u32, b: u32, offset: i32) -> u32 {
    let o = offset as u32;
    let imm = (o >> 12 & 1) << 31 | (o >> 5 & 0x3F) << 25 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7;
    imm | b << 20 | a << 15 | 1 << 12 | 0x63
}

pub fn jal(rd: u32, offset: i32) -> u32 {
    let o = offset as u32;
    let imm =
        (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12;
    imm | rd << 7 | 0x6F
}

/// Loads a constant with two instructions.
pub fn li(rd: u32, value: u32) -> [u32; 2] {
    let low = (value << 20) as i32 >> 20;
    [lui(rd, value.wrapping_sub(low as u32)), addi(rd, rd, low)]
}

/// Stores a constant to an address.
pub fn store(addr: u32, value: u32) -> Vec<u32> {
    [&li(T0, addr)[..], &li(T1, value)[..], &[sw(T1, T0, 0)]].concat()
}
