//! Throughput of the harts in instructions per second: `cargo bench -p emulator --bench hart`.
//!
//! The busy program (compiled C) walks a table in L1 mixing it into its stack in private RAM,
//! sorts, checksums bytes, writes back to L1 and calls functions; it never sleeps. Figures are
//! millions of instructions per second on one thread.
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a benchmark prints")]

use emulator::hart::{
    DeviceAccess, DeviceFault, DeviceSet, Devices, HartGroup, HartOrder, Load, Stored,
};
use emulator::memory::TileMemory;
use std::time::{Duration, Instant};

/// A device with only a wall clock.
struct Clock;

impl Devices for Clock {
    fn device(_: u32) -> DeviceSet {
        DeviceSet::ALL
    }

    fn load(&mut self, at: DeviceAccess, _: &mut TileMemory) -> Result<Load, DeviceFault> {
        match at.addr {
            0xFFB1_21F0 => Ok(Load::clock(at.cycle as u32)),
            _ => Err(DeviceFault("unmapped load")),
        }
    }

    fn store(
        &mut self,
        _: DeviceAccess,
        _: u32,
        _: &mut TileMemory,
        _: &mut Vec<HartOrder>,
    ) -> Result<Stored, DeviceFault> {
        Err(DeviceFault("unmapped store"))
    }
}

fn main() {
    let one = throughput(&[tensix(1, &BUSY, BUSY_START)], 1 << 16);
    println!("one busy hart                          {one:8.1} M/s");
    let five = throughput(&[tensix(5, &BUSY, BUSY_START)], 1 << 12);
    println!("5 busy harts of a tile                 {five:8.1} M/s");
    for slice in [32, 64, 1024] {
        let mut groups = vec![tensix(5, &BUSY, BUSY_START); 3];
        groups.push(eth(&BUSY, BUSY_START));
        let sixteen = throughput(&groups, slice);
        println!("16 busy harts, slices of {slice:4} cycles     {sixteen:8.1} M/s");
    }
    asleep();
}

type Tile = (HartGroup, TileMemory);

fn tensix(harts: u8, words: &[u32], start: u32) -> Tile {
    tile(HartGroup::tensix(true), TileMemory::tensix(), harts, words, start)
}

fn eth(words: &[u32], start: u32) -> Tile {
    tile(HartGroup::eth(true), TileMemory::eth(), 1, words, start)
}

fn tile(
    mut group: HartGroup,
    mut memory: TileMemory,
    harts: u8,
    words: &[u32],
    start: u32,
) -> Tile {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(0x1000, &bytes).expect("fits");
    for hart in 0..harts {
        group.set_reset_pc(hart, start);
        group.release_reset(hart);
        group.set_register(hart, 10, hart.into());
    }
    (group, memory)
}

/// Returns the processor time of this thread if the system reports it (Linux), else the elapsed
/// time: hosts are shared.
fn seconds(since: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok());
    nanos.map_or_else(|| since.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

/// Executes tile by tile in slices; returns millions of instructions per second, the best of
/// several attempts.
fn throughput(tiles: &[Tile], slice: u64) -> f64 {
    let epoch = Instant::now();
    let mut best = 0f64;
    for _ in 0..20 {
        let mut tiles = tiles.to_vec();
        let (start, begun) = (Instant::now(), seconds(epoch));
        while start.elapsed() < Duration::from_millis(60) {
            let end = tiles[0].0.now() + (1 << 15);
            while tiles[0].0.now() < end {
                for (group, memory) in &mut tiles {
                    group.run(memory, &mut Clock, group.now() + slice);
                }
            }
        }
        let took = seconds(epoch) - begun;
        let executed: u64 = tiles
            .iter()
            .flat_map(|(group, _)| (0..group.len()).map(|hart| group.executed(hart)))
            .sum();
        best = best.max(executed as f64 / took / 1e6);
    }
    best
}

/// Measures the cost of a tile whose harts only poll.
fn asleep() {
    let (mut group, mut memory) = tensix(5, &POLL, 0x1000);
    group.run(&mut memory, &mut Clock, 100_000);
    let executed = |group: &HartGroup| (0..5).map(|hart| group.executed(hart)).sum::<u64>();
    println!("executed before 5 polling harts sleep  {:8} instructions", executed(&group));
    let slices = 10_000_000u32;
    let start = Instant::now();
    for _ in 0..slices {
        group.run(&mut memory, &mut Clock, group.now() + 32);
    }
    let nanos = start.elapsed().as_secs_f64() * 1e9 / f64::from(slices);
    println!(
        "a slice of a tile whose harts sleep    {nanos:8.1} ns ({:?})",
        group.next_wake(&memory)
    );
    let events = 20_000u32;
    let start = Instant::now();
    for event in 0..events {
        memory.write_u32(0x4000, event << 1).expect("in L1");
        group.run(&mut memory, &mut Clock, group.now() + 10_000);
    }
    let micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(events) / 5.0;
    println!("waking a hart until it sleeps again    {micros:8.2} us");
}

/// Polls L1 0x4000 until it is 1, through a call, with a counter and reads of the clock.
const POLL: [u32; 10] = [
    0xFFB0_0137, // lui   sp, 0xffb00
    0x7001_0113, // addi  sp, sp, 0x700
    0x0000_4437, // lui   s0, 4
    0xFFB1_24B7, // lui   s1, 0xffb12
    0x1F04_A583, // lw    a1, 0x1f0(s1)
    0x0004_2503, // lw    a0, 0(s0)
    0x0013_8393, // addi  t2, t2, 1
    0x0071_2023, // sw    t2, 0(sp)
    0x0015_7513, // andi  a0, a0, 1
    0xFE05_06E3, // beqz  a0, -20
];

const BUSY_START: u32 = 0x1008;
#[rustfmt::skip]
const BUSY: [u32; 114] = [
    0xFF010113, 0x00112623, 0xFFB00137, 0x70010113, 0x0A0000EF, 0x00559793, 0x00A7C7B3, 0x0035D593,
    0x9E378537, 0x00F585B3, 0x9B150513, 0x02A58533, 0x00008067, 0x00050793, 0x04050693, 0x00000513,
    0x0007C703, 0x00178793, 0x00A70533, 0x00151713, 0x01F55513, 0x00E56533, 0xFED794E3, 0x00008067,
    0x00450593, 0x04050813, 0x0005A603, 0x00058793, 0x0100006F, 0x00E7A023, 0xFFC68793, 0x02F50063,
    0xFFC7A703, 0x00078693, 0xFEE666E3, 0x00C6A023, 0x00458593, 0xFCB81AE3, 0x00008067, 0x00050693,
    0x00C6A023, 0x00458593, 0xFCB810E3, 0xFEDFF06F, 0xED010113, 0x11312E23, 0x11412C23, 0x02050993,
    0x00010A13, 0x9E378637, 0x8DDE76B7, 0x11712623, 0x12112623, 0x12812423, 0x12912223, 0x13212023,
    0x11512A23, 0x11612823, 0x11812423, 0x00050B93, 0x00A99993, 0x000A0713, 0x00000793, 0x9B960613,
    0xE4068693, 0x00F72023, 0x00C787B3, 0x00470713, 0xFED79AE3, 0x002B9793, 0x00007AB7, 0x00FA8AB3,
    0x100A0913, 0x414984B3, 0x00300B13, 0x000A0413, 0x00000C13, 0x03FC7793, 0x00279793, 0x10078793,
    0x00848733, 0x002787B3, 0xF007A783, 0x00072583, 0x00440413, 0x000B8513, 0x00F5C5B3, 0xFEB42E23,
    0xEB5FF0EF, 0x00050B93, 0x007C0C13, 0xFC8914E3, 0x000A0513, 0xEEDFF0EF, 0x00098513, 0xEB9FF0EF,
    0x00AB8BB3, 0x020B8593, 0x000B8713, 0x000A0613, 0x00062683, 0x07F77793, 0x00279793, 0x00F987B3,
    0x00DB86B3, 0x00D7A023, 0x00170713, 0x00460613, 0xFEE590E3, 0x017AA023, 0x007BF793, 0xF60798E3,
    0x036BDBB3, 0xF69FF06F,
];
