//! Four chips in a line, only the first with PCIe, whose Ethernet tiles run our base firmware; and a host that speaks the
//! queue protocol word by word, so that what the firmware does is seen and not what a client makes of it.

use emulator::{ChipConfig, LinkConfig, LoadImage, Mesh, MeshConfig, PowerOn};
use object::{Object, ObjectSymbol};

/// x, y, rack, shelf of each chip: far from contiguous, as a grown installation is.
pub(super) const COORDS: [[u8; 4]; 4] = [[3, 1, 0, 0], [4, 1, 0, 0], [5, 1, 0, 2], [0, 0, 7, 3]];
/// Links by chip and channel; two of them in parallel between the second and the third chip.
pub(super) const LINKS: [((usize, u8), (usize, u8)); 4] =
    [((0, 6), (1, 14)), ((1, 0), (2, 8)), ((1, 1), (2, 9)), ((2, 3), (3, 12))];
/// Channels of each chip whose peers are one hop closer to each chip.
const ROUTES: [[u16; 4]; 4] = [
    [0, 1 << 6, 1 << 6, 1 << 6],
    [1 << 14, 0, 0b11, 0b11],
    [0b11 << 8, 0b11 << 8, 0, 1 << 3],
    [1 << 12, 1 << 12, 1 << 12, 0],
];

pub(super) const READ: u32 = 4;
pub(super) const WRITE: u32 = 1;
pub(super) const BLOCK: u32 = 0x40;
pub(super) const UNREACHABLE: u32 = 1 << 31;

const REQUEST_WRITES: u32 = 0x11080;
const REQUEST_WRITE: u32 = 0x110A0;
const REQUEST_READ: u32 = 0x110B0;
const REQUESTS: u32 = 0x110C0;
const RESPONSE_WRITE: u32 = 0x11220;
const RESPONSE_READ: u32 = 0x11230;
const RESPONSES: u32 = 0x11240;
const BUFFERS: u32 = 0x12000;
/// Nothing here takes longer; the firmware itself gives up after a million cycles.
const PATIENCE_CYCLES: u64 = 3_000_000;

/// The mesh, driven through one window.
pub(super) struct Line {
    pub(super) mesh: Mesh,
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn routing_table_address(elf: &[u8]) -> u64 {
    let file = object::File::parse(elf).unwrap();
    file.symbols().find(|symbol| symbol.name() == Ok("routing_table")).unwrap().address()
}

fn chip(index: usize) -> ChipConfig {
    let elf = firmware::image("erisc_base").unwrap().elf;
    let mut table = words(&[4, 0]);
    for (coord, channels) in COORDS.iter().zip(ROUTES[index]) {
        let [x, y, rack, shelf] = *coord;
        table.extend([rack, shelf, x, y]);
        table.extend(words(&[channels.into()]));
    }
    let [x, y, rack, shelf] = COORDS[index];
    let mut config = ChipConfig::wormhole(index == 0);
    for channel in 0..16 {
        let own = u32::from_le_bytes([rack, shelf, x, y]);
        let (x, y) = config.eth_tile(channel).unwrap();
        let load =
            |addr, bytes| PowerOn { x, y, image: LoadImage::Load { addr, bytes }, start: false };
        let identity = words(&[0x1234, index as u32, own, channel.into(), 0xFFFF]);
        config.power_on.push(PowerOn { x, y, image: LoadImage::Elf(elf.to_vec()), start: true });
        config.power_on.push(load(0x10EC, identity));
        config.power_on.push(load(routing_table_address(elf), table.clone()));
    }
    config
}

/// The address field of a command: tile, chip and tile-local address.
pub(super) fn address(chip: [u8; 4], tile: (u8, u8), offset: u32) -> (u64, [u8; 2]) {
    let [x, y, rack, shelf] = chip.map(u64::from);
    let tile = (u64::from(tile.0), u64::from(tile.1));
    let word = u64::from(offset) | tile.0 << 36 | tile.1 << 42 | x << 48 | y << 54;
    (word, [rack as u8, shelf as u8])
}

impl Line {
    /// The mesh some time after power on.
    pub(super) fn new() -> Self {
        Self::sleeping(true)
    }

    /// The same, where harts may sleep or not.
    pub(super) fn sleeping(sleep: bool) -> Self {
        let links = LINKS.map(|(a, b)| LinkConfig::new(a, b)).to_vec();
        let chips = (0..COORDS.len()).map(chip).collect();
        let config = MeshConfig { chips, links, sleep, ..MeshConfig::default() };
        let mut line = Self { mesh: Mesh::new(config).unwrap() };
        line.mesh.clock(60_000);
        line
    }

    /// Points the window at an Ethernet tile of the first chip; offset in the BAR.
    fn point(&mut self, channel: u8, addr: u32) -> u64 {
        let (x, y) = self.mesh.config().chips[0].eth_tile(channel).unwrap();
        let entry = u64::from(addr >> 20) | u64::from(x) << 16 | u64::from(y) << 22 | 0x2400 << 32;
        self.mesh.bar_write(0, 0, 0x1FC0_0000, &entry.to_le_bytes());
        u64::from(addr & 0xF_FFFF)
    }

    pub(super) fn bytes(&mut self, channel: u8, addr: u32, len: usize) -> Vec<u8> {
        let offset = self.point(channel, addr);
        let mut out = vec![0; len];
        self.mesh.bar_read(0, 0, offset, &mut out);
        out
    }

    pub(super) fn word(&mut self, channel: u8, addr: u32) -> u32 {
        u32::from_le_bytes(self.bytes(channel, addr, 4).try_into().unwrap())
    }

    pub(super) fn put(&mut self, channel: u8, addr: u32, bytes: &[u8]) {
        let offset = self.point(channel, addr);
        self.mesh.bar_write(0, 0, offset, bytes);
    }

    /// Posts a command at a tile whose request queue has room; the block of a write goes with it.
    pub(super) fn post(&mut self, at: u8, to: (u64, [u8; 2]), data: u32, flags: u32, block: &[u8]) {
        let index = self.word(at, REQUEST_WRITE);
        let mut entry = words(&[to.0 as u32, (to.0 >> 32) as u32, data, flags]);
        entry.extend([to.1[0], to.1[1], 0, 0]);
        entry.resize(32, 0);
        if !block.is_empty() {
            self.put(at, BUFFERS + 1024 * (index & 3), block);
        }
        self.put(at, REQUESTS + 32 * (index & 3), &entry);
        self.put(at, REQUEST_WRITE, &words(&[(index + 1) & 7]));
    }

    pub(super) fn has_room(&mut self, at: u8) -> bool {
        let used = self.word(at, REQUEST_WRITE).wrapping_sub(self.word(at, REQUEST_READ)) & 7;
        used < 4
    }

    /// The oldest answer if it is complete: slot, value, flags. It stays in the queue.
    pub(super) fn peek(&mut self, at: u8) -> Option<(u32, u32, u32)> {
        let index = self.word(at, RESPONSE_READ);
        let slot = index & 3;
        if self.word(at, RESPONSE_WRITE) == index {
            return None;
        }
        let flags = self.word(at, RESPONSES + 32 * slot + 12);
        (flags != 0).then(|| (slot, self.word(at, RESPONSES + 32 * slot + 8), flags))
    }

    /// Takes the oldest answer out of the queue.
    pub(super) fn pop(&mut self, at: u8) {
        let index = self.word(at, RESPONSE_READ);
        self.put(at, RESPONSE_READ, &words(&[(index + 1) & 7]));
    }

    /// Waits for the oldest answer: slot, value, flags.
    pub(super) fn answer(&mut self, at: u8) -> (u32, u32, u32) {
        let start = self.mesh.now();
        loop {
            if let Some(answer) = self.peek(at) {
                self.pop(at);
                return answer;
            }
            assert!(self.mesh.now() - start < PATIENCE_CYCLES, "e{at} does not answer");
        }
    }

    pub(super) fn read(&mut self, at: u8, to: (u64, [u8; 2])) -> (u32, u32) {
        self.post(at, to, 4, READ, &[]);
        let (_, value, flags) = self.answer(at);
        (value, flags)
    }

    pub(super) fn read_block(&mut self, at: u8, to: (u64, [u8; 2]), len: u32) -> (Vec<u8>, u32) {
        self.post(at, to, len, READ | BLOCK, &[]);
        let (slot, _, flags) = self.answer(at);
        (self.bytes(at, BUFFERS + 1024 * slot, len as usize), flags)
    }

    /// Waits until everything that was written has arrived.
    pub(super) fn flush(&mut self, at: u8) {
        let start = self.mesh.now();
        while self.word(at, REQUEST_WRITE) != self.word(at, REQUEST_READ)
            || self.word(at, REQUEST_WRITES) != self.word(at, REQUEST_WRITES + 4)
        {
            assert!(self.mesh.now() - start < PATIENCE_CYCLES, "e{at} does not finish its writes");
        }
    }
}
