//! The ERISC data mover and the worker of the collectives, launched by hand on an emulated n300 and, where
//! `MESHSCOPE_TTSIM_DIR` names its libraries, on the vendor's simulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

#[path = "edm/bench.rs"]
mod bench;

#[path = "edm/worker.rs"]
mod worker;

use probe::control::{Firmware, boot_tensix};
use probe::images::ImageMap;

use bench::{Bench, FAR, NEAR, channel, edm};
use worker::{Command, Shape, Side, Work, digest, sum, with_workers};

const FINISHED: u64 = 4;

/// Not a test of its own: the other tests start this binary again as the library's host.
#[test]
fn host_helper() {
    common::help_host();
}

/// Both directions of the link, the EDMs making and checking the messages themselves.
fn exchange(bench: &mut Bench, channels: u32, buffers: u32, bytes: u32, messages: u32) -> u64 {
    bench.run_id += 1;
    for (place, first) in [(NEAR, true), (FAR, false)] {
        let mut values = edm(bench.run_id, first, channels, buffers, bytes);
        for index in 0..channels {
            values.extend(channel(index, (index % 2 == 0) == first, messages));
        }
        bench.launch_edm(place, &values);
    }
    assert_eq!(bench.finish_edms(5_000_000), [FINISHED; 2]);
    for place in [NEAR, FAR] {
        for index in 0..channels {
            for counter in ["messages_sent", "acknowledged", "completed"] {
                let member = format!("channels[{index}].{counter}");
                assert_eq!(bench.state(place, "edm", &member), u64::from(messages), "{member}");
            }
            assert_eq!(
                bench.state(place, "edm", &format!("channels[{index}].mismatched_words")),
                0
            );
        }
    }
    bench.state(NEAR, "edm", "finished_cycles") - bench.state(NEAR, "edm", "ready_cycles")
}

#[test]
fn messages_cross_a_link_both_ways_and_every_credit_returns() {
    let mut bench = Bench::emulated();
    for (channels, buffers, bytes, messages) in
        [(1, 1, 32, 3), (2, 1, 1024, 5), (8, 2, 4096, 9), (2, 8, 64, 100)]
    {
        let cycles = exchange(&mut bench, channels, buffers, bytes, messages);
        eprintln!(
            "{channels} channels, {buffers} buffers of {bytes}: {messages} messages in {cycles} cycles"
        );
    }
}

#[test]
fn one_link_carries_more_than_20_gb_a_second_both_ways() {
    let mut bench = Bench::emulated();
    let cycles = exchange(&mut bench, 2, 4, 16384, 100);
    let gb_per_second = 2.0 * 100.0 * 16384.0 / cycles as f64;
    eprintln!("{gb_per_second:.2} GB/s");
    assert!(gb_per_second > 20.0, "{gb_per_second:.2} GB/s");
}

/// A worker on chip 0 sends its tensor; one on chip 1 adds it to its own.
fn add_over_the_link(bench: &mut Bench, shape: &Shape, buffers: u32) {
    let (from, to) = (bench.compute(0, 0), bench.compute(1, 0));
    for (place, rank) in [(from, 0), (to, 1)] {
        bench.work(place, shape, Command { flags: worker::FILL, rank, ..Command::default() });
    }
    bench.run_id += 1;
    let side = |edm| Side {
        edm,
        number: 0,
        buffers,
        buffer_bytes: shape.buffer_bytes(),
        worker: 0,
        initiates: false,
    };
    let send = Command { flags: worker::FROM_TENSOR | worker::TO_CHANNEL, ..Command::default() };
    let add = worker::FROM_TENSOR | worker::FROM_CHANNEL | worker::TO_TENSOR;
    let add = Command { flags: add, destination: 1, ..Command::default() };
    let sends = Work { commands: vec![send], outbound: Some(side(NEAR)), ..Work::default() };
    let adds = Work { commands: vec![add], inbound: Some(side(FAR)), ..Work::default() };
    bench.launch_worker(from, shape, &sends);
    bench.launch_worker(to, shape, &adds);
    for (place, first, semaphore, tile) in [(NEAR, true, 1, from), (FAR, false, 0, to)] {
        let mut values = edm(bench.run_id, first, 1, buffers, shape.buffer_bytes());
        values.extend(channel(0, first, shape.packets()));
        values.extend(with_workers(0, semaphore, &[tile]));
        bench.launch_edm(place, &values);
    }
    assert_eq!(bench.finish_edms(5_000_000), [FINISHED; 2]);
    bench.finish_worker(from, FINISHED);
    bench.finish_worker(to, FINISHED);

    let cycles = bench.state(to, "ccl_worker", "finished_cycles")
        - bench.state(to, "ccl_worker", "ready_cycles");
    let (ours, theirs) = (shape.words(1), shape.words(0));
    let expected = ours.iter().zip(&theirs).map(|(a, b)| sum(shape.data_type, *a, *b));
    let expected: Vec<u32> = expected.collect();
    assert_eq!(bench.tensor(1, 0, shape), ours);
    assert_eq!(bench.tensor(1, 1, shape), expected);
    bench.work(to, shape, Command { flags: worker::DIGEST, source: 1, ..Command::default() });
    assert_eq!(bench.word(to, worker::DIGESTS), digest(&expected));
    for place in [NEAR, FAR] {
        let semaphore = worker::edm_semaphore(0, 0).into();
        assert_eq!(bench.word(place, semaphore), 0, "{place:?}");
    }
    eprintln!("{shape:?}: {cycles} cycles");
}

#[test]
fn workers_add_tensors_of_every_type_over_a_link() {
    let mut bench = Bench::emulated();
    for data_type in 0..3 {
        let shape = Shape {
            data_type,
            page_bytes: 2048,
            pages: 13,
            last_page_bytes: 1056,
            packet_pages: 2,
            slice_pages: 5,
        };
        add_over_the_link(&mut bench, &shape, 2);
    }
}

#[test]
fn the_same_images_run_on_the_vendors_simulator() {
    let Some(target) = common::open("wh_x2") else { return };
    let mut bench = Bench::on(target, ImageMap::firmware().0);
    for (channels, buffers, bytes, messages) in [(1, 1, 32, 3), (2, 2, 4096, 6)] {
        exchange(&mut bench, channels, buffers, bytes, messages);
    }
    for chip in 0..2 {
        let place = bench.compute(chip, 0);
        let boot = boot_tensix(&mut bench.images, Firmware::OURS, place).unwrap();
        boot.finish(&mut bench.target).unwrap();
    }
    for data_type in 0..3 {
        let shape = Shape {
            data_type,
            page_bytes: 1024,
            pages: 5,
            last_page_bytes: 96,
            packet_pages: 2,
            slice_pages: 3,
        };
        add_over_the_link(&mut bench, &shape, 2);
    }
}
