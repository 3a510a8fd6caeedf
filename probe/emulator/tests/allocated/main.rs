//! The memory of the past, counted by the allocator: it never exceeds its limit.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "the common tools are those of all tests")]

#[path = "../common/mod.rs"]
mod common;

use common::{Host, T0, T1, T2, addi, jal, li, lw, sw};
use emulator::{HistoryLimits, LoadImage, Mesh, MeshConfig, PowerOn};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Counts the bytes that are allocated now, with what an allocator keeps beside each.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

fn chunk(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

#[allow(unsafe_code, reason = "only an allocator can count what is allocated")]
// SAFETY: every call is forwarded unchanged to the system's allocator; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(chunk(layout), Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(chunk(layout), Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns an n300 on which some cores count, and store the time.
fn counting_mesh() -> Mesh {
    let mut program = vec![lw(T0, 0, 0x700), addi(T0, T0, 1), sw(T0, 0, 0x700)];
    program.extend(li(T1, 0xFFB1_2000));
    program.extend([lw(T2, T1, 0x1F0), sw(T2, 0, 0x704)]);
    program.push(jal(0, -4 * program.len() as i32));
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut config = MeshConfig { threads: 1, ..MeshConfig::n300() };
    for chip in &mut config.chips {
        for (x, y) in [(9, 0), (1, 0), (1, 1), (2, 1)] {
            let image = LoadImage::Load { addr: 0, bytes: bytes.clone() };
            chip.power_on.push(PowerOn { x, y, image, start: true });
        }
    }
    Mesh::new(config).unwrap()
}

#[test]
fn the_past_never_takes_more_than_its_limit() {
    const MOST: usize = 24 << 20;
    let limits = HistoryLimits {
        bytes: MOST,
        checkpoints: usize::MAX,
        interval: Duration::ZERO,
        interval_cycles: 2000,
    };
    let mut host = Host { mesh: counting_mesh() };
    host.mesh.keep_history(Some(limits));
    let first = host.mesh.history_size().unwrap().bytes;
    let mut random = fastrand::Rng::with_seed(7);
    let (mut largest, mut forgets) = (0, false);
    for step in 0..4500 {
        let tile = [(1, 1), (2, 2), (9, 6), (1, 0)][random.usize(0..4)];
        let bytes: Vec<u8> = (0..random.usize(1..6000)).map(|_| random.u8(..)).collect();
        host.write_tile(tile, u64::from(random.u32(0..50) * 0x1000) + 0x8000, &bytes);
        host.mesh.clock(random.u64(0..1500));
        let size = host.mesh.history_size().unwrap();
        assert!(size.bytes <= MOST, "{size:?} in step {step}");
        (largest, forgets) = (largest.max(size.bytes), forgets || size.first > 0);
    }
    assert!(largest > MOST * 3 / 4 && forgets, "{largest}");

    // The checkpoints of visits are in the same limit.
    let mut history = host.mesh.history().unwrap();
    for _ in 0..20 {
        let cycle = random.u64(history.first()..history.end());
        assert_eq!(history.visit(cycle, &mut |_| true).unwrap().now(), cycle);
        assert!(history.bytes() <= MOST, "{}", history.bytes());
    }
    let (counted, live) = (history.bytes(), LIVE.load(Ordering::Relaxed));
    drop(history);
    host.mesh.keep_history(None);
    let freed = live - LIVE.load(Ordering::Relaxed);
    // What the mesh itself has in common with a checkpoint is not free.
    let counts = freed..freed + first + MOST / 16;
    assert!(counts.contains(&counted) && counted <= MOST, "{counted} counted, {freed} freed");
}
