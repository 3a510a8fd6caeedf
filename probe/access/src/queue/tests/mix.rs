//! Random reads and writes of words and blocks at any alignment, with as many in flight as allowed:
//! every byte read must be the byte written last.

use super::bench::{E8, E9, PATIENCE, coord, emulator};
use super::model::{Conventions, Handle, Model};
use crate::access::{Access, Route};
use crate::bus::Bus;
use crate::planner::MergedRange;
use layouts::NocXy;
use machine::bar::Sharing;
use std::sync::{Arc, Mutex};

const TILE: NocXy = NocXy { x: 2, y: 2 };
const START: u64 = 0x2_0000;
const BYTES: usize = 0x2000;

/// Returns the rounds of each mix: `MESHSCOPE_MIX_ROUNDS`, or a default.
fn rounds() -> usize {
    let requested = std::env::var("MESHSCOPE_MIX_ROUNDS").ok().and_then(|text| text.parse().ok());
    requested.unwrap_or(3)
}

fn route(direct: usize) -> Route {
    Route::Queue { device: 0, tiles: vec![E8, E9], direct, coord: coord(1) }
}

fn mix(access: &mut Access, route: &Route, seed: u64, rounds: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut expected: Vec<u8> = (0..BYTES).map(|_| random.u8(..)).collect();
    access.write(route, TILE, START, &expected).unwrap();
    for round in 0..rounds {
        for _ in 0..random.usize(..6) {
            let at = random.usize(..BYTES - 1500);
            let longest = if random.bool() { 9 } else { 1500 };
            let bytes: Vec<u8> = (0..random.usize(1..longest)).map(|_| random.u8(..)).collect();
            access.write(route, TILE, START + at as u64, &bytes).unwrap();
            expected[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        if random.bool() {
            access.begin().unwrap();
        }
        let runs: Vec<MergedRange> = (0..random.usize(1..20))
            .map(|_| {
                let at = random.usize(..BYTES - 2500);
                let longest = if random.bool() { 5 } else { 2500 };
                let len = random.usize(1..longest);
                let (offset, memory) = (START + at as u64, random.u8(..5) > 0);
                let words = MergedRange { tile: TILE, offset: offset & !3, len: 8, memory };
                if memory { MergedRange { offset, len: len as u32, ..words } } else { words }
            })
            .collect();
        for (run, read) in runs.iter().zip(access.read_runs(route, &runs).reads) {
            let at = (run.offset - START) as usize;
            let written = &expected[at..at + run.len as usize];
            let read = read.map(|read| read.bytes);
            assert_eq!(read, Ok(written.to_vec()), "seed {seed}, round {round}, {run:?}");
        }
        if random.bool() {
            access.finish().unwrap();
        }
    }
    access.flush().unwrap();
    access.finish().unwrap();
}

/// Returns every combination of the conventions.
fn all_conventions(seed: u64) -> impl Iterator<Item = Conventions> {
    (0..128_u32).map(move |bits| {
        let bit = |at: u32| bits >> at & 1 == 1;
        let longest = [20, 400, 9000][(seed as usize + bits as usize) % 3];
        Conventions {
            answers_writes: bit(0),
            two_stage: bit(1),
            takes_early: bit(2),
            at_once: if bit(3) { 4 } else { 1 },
            echoes: bit(4),
            counts_reads: bit(5),
            waits_for_room: bit(6),
            delay: 1..longest,
            unavailable_in: 9,
        }
    })
}

#[test]
fn any_mix_is_safe_under_every_convention() {
    for (seed, conventions) in (1..).zip(all_conventions(0)) {
        for (direct, sharing) in [(2, Sharing::Alone), (1, Sharing::Shared), (0, Sharing::Alone)] {
            let mut model = Model::new(conventions.clone(), seed, &[E8, E9]);
            model.sharing = sharing;
            let handle = Handle(Arc::new(Mutex::new(model)));
            let mut access = Access::new(Bus::new(Box::new(handle.clone())), PATIENCE);
            // Printed on failure.
            eprintln!("{direct} direct, {sharing:?}, {conventions:?}");
            mix(&mut access, &route(direct), seed, rounds() / 2);
            let model = handle.0.lock().unwrap();
            assert!(!model.held);
            for (tile, firmware) in &model.gateways {
                let word = |at| firmware.word(at);
                let done = (word(0x110A0), word(0x11220));
                assert_eq!(done, (word(0x110B0), word(0x11230)), "{tile:?} {conventions:?}");
            }
        }
    }
}

#[test]
fn any_mix_is_safe_through_the_built_in_firmware() {
    for (seed, direct) in [(1, 2), (2, 1), (3, 0)] {
        let (bus, machine) = emulator();
        let mut access = Access::new(bus, PATIENCE);
        mix(&mut access, &route(direct), seed, rounds());
        let machine = machine.lock().unwrap();
        assert!(machine.mesh().conditions().is_empty(), "{:?}", machine.mesh().conditions());
    }
}
