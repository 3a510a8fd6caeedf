//! The ERISC data mover and the worker of the collectives, launched directly on an emulated n300
//! and, if `MESHSCOPE_TTSIM_DIR` names its libraries, on the vendor's simulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

pub(crate) mod bench;

pub(crate) mod worker;

use images::ImageMap;
use launch::{Firmware, boot_tensix};
use machine::target::Target;

use bench::{Bench, FAR, NEAR, channel, edm};
use worker::{Command, Shape, Side, Work, digest, sum, with_workers};

const FINISHED: u64 = 4;
const STOPPED: u64 = 5;

/// Sends messages in both directions of the link; the EDMs make and check them. Returns the cycles.
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

/// A worker on chip 0 sends its tensor; a worker on chip 1 adds it to its own.
fn add_over_the_link(bench: &mut Bench, shape: &Shape, buffers: u32) {
    let (from, to) = (bench.worker_tile(0, 0), bench.worker_tile(1, 0));
    for (place, rank) in [(from, 0), (to, 1)] {
        bench.work(place, shape, Command { flags: worker::FILL, rank, ..Command::default() });
    }
    bench.run_id += 1;
    let side = |edm| Side::new(edm, 0, buffers, shape.buffer_bytes());
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
    for place in [from, to] {
        bench.finish_worker(place, FINISHED);
        bench.assert_settled(place);
    }

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

/// How workers use a channel.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    sharing: u32,
    workers: usize,
    initiates: bool,
    separate_sync: bool,
    buffers: u32,
}

/// Each worker on chip 0 sends its tensor to the worker of the same number on chip 1.
fn copy_over_the_link(bench: &mut Bench, shape: &Shape, usage: Usage) {
    let tiles = |bench: &Bench, chip| {
        (0..usage.workers).map(|n| bench.worker_tile(chip, n)).collect::<Vec<_>>()
    };
    let (from, to) = (tiles(bench, 0), tiles(bench, 1));
    for (number, place) in (0..).zip(&from) {
        let fill = Command {
            flags: worker::FILL,
            destination: number,
            rank: number,
            ..Command::default()
        };
        bench.work(*place, shape, fill);
    }
    bench.run_id += 1;
    let parts = if usage.sharing == worker::SHARED { usage.workers as u32 } else { 1 };
    let buffer_bytes = parts * shape.buffer_bytes();
    for number in 0..usage.workers {
        let tensor = number as u32;
        let side = |edm| Side {
            worker: tensor,
            workers: usage.workers as u32,
            sharing: usage.sharing,
            initiates: usage.initiates,
            ..Side::new(edm, 0, usage.buffers, buffer_bytes)
        };
        let send = Command {
            flags: worker::FROM_TENSOR | worker::TO_CHANNEL,
            source: tensor,
            ..Command::default()
        };
        let take = Command {
            flags: worker::FROM_CHANNEL | worker::TO_TENSOR,
            destination: tensor,
            ..Command::default()
        };
        let sends = Work { commands: vec![send], outbound: Some(side(NEAR)), ..Work::default() };
        let takes = Work { commands: vec![take], inbound: Some(side(FAR)), ..Work::default() };
        bench.launch_worker(from[number], shape, &sends);
        bench.launch_worker(to[number], shape, &takes);
    }
    let messages = shape.packets() * usage.workers as u32 / parts;
    for (place, first, semaphore, tiles) in [(NEAR, true, 1, &from), (FAR, false, 0, &to)] {
        let mut values = edm(bench.run_id, first, 1, usage.buffers, buffer_bytes);
        let modes = [
            ("termination_mode", u32::from(usage.initiates)),
            ("buffer_sharing_mode", usage.sharing),
            ("separate_sync", u32::from(usage.separate_sync)),
        ];
        values.extend(modes.map(|(name, value)| (name.to_owned(), value)));
        values.extend(channel(0, first, if usage.initiates { 0 } else { messages }));
        values.extend(with_workers(0, semaphore, tiles));
        bench.launch_edm(place, &values);
    }
    assert_eq!(bench.finish_edms(5_000_000), [FINISHED; 2], "{usage:?}");
    for (number, place) in from.iter().chain(&to).enumerate() {
        bench.finish_worker(*place, FINISHED);
        bench.assert_settled(*place);
        let semaphore = worker::edm_semaphore(0, (number % usage.workers) as u32).into();
        let edm = if number < usage.workers { NEAR } else { FAR };
        assert_eq!(bench.word(edm, semaphore), 0, "{usage:?}");
    }
    for tensor in 0..usage.workers as u32 {
        assert_eq!(bench.tensor(1, tensor, shape), shape.words(tensor), "{usage:?} {tensor}");
    }
    for place in [NEAR, FAR] {
        let sent = bench.state(place, "edm", "channels[0].messages_sent");
        let completed = bench.state(place, "edm", "channels[0].completed");
        assert_eq!((sent, completed), (messages.into(), messages.into()), "{usage:?}");
    }
}

/// Tries every mode of sharing, ending and sending.
fn copy_in_every_mode(bench: &mut Bench, shape: &Shape) {
    for (sharing, workers) in [(0, 1), (worker::ROUND_ROBIN, 3), (worker::SHARED, 2)] {
        for (initiates, separate_sync) in [(false, true), (true, false)] {
            let usage = Usage { sharing, workers, initiates, separate_sync, buffers: 4 };
            copy_over_the_link(bench, shape, usage);
        }
    }
}

const SMALL: Shape = Shape {
    data_type: 0,
    page_bytes: 512,
    pages: 12,
    last_page_bytes: 512,
    packet_pages: 2,
    slice_pages: 12,
};

#[test]
fn channels_are_shared_and_ended_in_every_mode() {
    copy_in_every_mode(&mut Bench::emulated(), &SMALL);
}

/// Uses a socket: packets go in one direction, and the receiver's acknowledgements in the other.
fn send_through_a_socket(bench: &mut Bench, shape: &Shape) {
    let (from, to) = (bench.worker_tile(0, 0), bench.worker_tile(1, 0));
    bench.work(from, shape, Command { flags: worker::FILL, ..Command::default() });
    bench.run_id += 1;
    let side = |edm, number| Some(Side::new(edm, number, 2, shape.buffer_bytes()));
    let send = worker::FROM_TENSOR | worker::TO_CHANNEL | worker::CREDIT;
    let take = worker::FROM_CHANNEL | worker::TO_TENSOR | worker::CREDIT;
    for (place, flags, inbound, outbound) in
        [(from, send, side(NEAR, 1), side(NEAR, 0)), (to, take, side(FAR, 0), side(FAR, 1))]
    {
        let commands = vec![Command { flags, ..Command::default() }];
        let more = vec![("fifo_bytes".to_owned(), 2 * shape.buffer_bytes())];
        let work = Work { commands, inbound, outbound, more, ..Work::default() };
        bench.launch_worker(place, shape, &work);
    }
    for (place, first, tile) in [(NEAR, true, from), (FAR, false, to)] {
        let mut values = edm(bench.run_id, first, 2, 2, shape.buffer_bytes());
        for (index, sends) in [(0, first), (1, !first)] {
            values.extend(channel(index, sends, shape.packets()));
            values.extend(with_workers(index, u32::from(sends), &[tile]));
        }
        bench.launch_edm(place, &values);
    }
    assert_eq!(bench.finish_edms(5_000_000), [FINISHED; 2]);
    for place in [from, to] {
        bench.finish_worker(place, FINISHED);
        bench.assert_settled(place);
        for counter in ["socket.bytes_sent", "socket.bytes_acked"] {
            assert_eq!(bench.state(place, "ccl_worker", counter), u64::from(shape.bytes()));
        }
    }
    assert_eq!(bench.tensor(1, 0, shape), shape.words(0));
}

#[test]
fn a_socket_never_has_more_in_flight_than_its_fifo_holds() {
    send_through_a_socket(&mut Bench::emulated(), &SMALL);
}

/// Launches EDMs that make messages without end.
fn launch_endless(bench: &mut Bench) {
    bench.run_id += 1;
    for (place, first) in [(NEAR, true), (FAR, false)] {
        let mut values = edm(bench.run_id, first, 2, 2, 4096);
        values.extend(channel(0, first, 0));
        values.extend(channel(1, !first, 0));
        bench.launch_edm(place, &values);
    }
    bench.target.pass(50_000).unwrap();
}

fn assert_no_credit_is_out(bench: &mut Bench, channels: u32) {
    for index in 0..channels {
        let [near, far] = [NEAR, FAR].map(|place| {
            ["messages_sent", "acknowledged", "completed"]
                .map(|counter| bench.state(place, "edm", &format!("channels[{index}].{counter}")))
        });
        assert_eq!(near, far);
        assert!(near.iter().all(|count| *count == near[0] && *count != 0), "{near:?}");
    }
}

#[test]
fn edms_end_gracefully_without_a_credit_out_and_at_once_within_microseconds() {
    let mut bench = Bench::emulated();
    launch_endless(&mut bench);
    for place in [NEAR, FAR] {
        bench.terminate(place, "edm", 1);
    }
    assert_eq!(bench.finish_edms(100_000), [FINISHED; 2]);
    assert_no_credit_is_out(&mut bench, 2);

    launch_endless(&mut bench);
    bench.terminate(NEAR, "edm", 2);
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.state(NEAR, "edm", "phase"), STOPPED);
    // The other end, whose peer has ended, ends as fast.
    bench.terminate(FAR, "edm", 2);
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.state(FAR, "edm", "phase"), STOPPED);

    // A handshake without an answer can be terminated too and does not disturb later runs.
    bench.run_id += 1;
    let mut values = edm(bench.run_id, true, 1, 1, 64);
    values.extend(channel(0, true, 1));
    bench.launch_edm(NEAR, &values);
    bench.target.pass(5_000).unwrap();
    bench.terminate(NEAR, "edm", 2);
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.state(NEAR, "edm", "phase"), STOPPED);
    exchange(&mut bench, 2, 2, 1024, 5);
}

#[test]
fn a_copy_is_cancelled_gracefully_and_nothing_is_left_behind() {
    let mut bench = Bench::emulated();
    let shape = Shape { pages: 4000, slice_pages: 4000, ..SMALL };
    let (from, to) = (bench.worker_tile(0, 0), bench.worker_tile(1, 0));
    for initiates in [false, true] {
        bench.run_id += 1;
        let side = |edm| Some(Side { initiates, ..Side::new(edm, 0, 4, shape.buffer_bytes()) });
        let flags = worker::FROM_TENSOR | worker::TO_CHANNEL;
        let commands = vec![Command { flags, ..Command::default() }];
        let work = Work { commands, outbound: side(NEAR), ..Work::default() };
        bench.launch_worker(from, &shape, &work);
        let flags = worker::FROM_CHANNEL | worker::TO_TENSOR;
        let commands = vec![Command { flags, destination: 1, ..Command::default() }];
        let work = Work { commands, inbound: side(FAR), ..Work::default() };
        bench.launch_worker(to, &shape, &work);
        for (place, first, semaphore, tile) in [(NEAR, true, 1, from), (FAR, false, 0, to)] {
            let mut values = edm(bench.run_id, first, 1, 4, shape.buffer_bytes());
            values.push(("termination_mode".to_owned(), u32::from(initiates)));
            values.extend(channel(0, first, if initiates { 0 } else { shape.packets() }));
            values.extend(with_workers(0, semaphore, &[tile]));
            bench.launch_edm(place, &values);
        }
        bench.target.pass(100_000).unwrap();
        assert!(bench.state(to, "ccl_worker", "packets_in") > 0);
        for place in [to, from] {
            bench.terminate(place, "ccl_worker", 1);
            bench.finish_worker(place, STOPPED);
        }
        for place in [NEAR, FAR] {
            bench.terminate(place, "edm", 1);
        }
        assert_eq!(bench.finish_edms(100_000), [FINISHED; 2]);
        assert_no_credit_is_out(&mut bench, 1);
        for place in [from, to] {
            bench.assert_settled(place);
        }
        for place in [NEAR, FAR] {
            assert_eq!(bench.word(place, worker::edm_semaphore(0, 0).into()), 0);
        }
    }
    add_over_the_link(&mut bench, &SMALL, 2);
}

#[test]
fn edms_and_workers_park_step_and_run_on() {
    let mut bench = Bench::emulated();
    let (from, to) = (bench.worker_tile(0, 0), bench.worker_tile(1, 0));
    bench.run_id += 1;
    let side = |edm| Some(Side::new(edm, 0, 2, SMALL.buffer_bytes()));
    let park = |stage: u32| vec![("pause_at_stage".to_owned(), stage)];
    let flags = worker::FROM_TENSOR | worker::TO_CHANNEL;
    let commands = vec![Command { flags, ..Command::default() }];
    let work = Work { commands, outbound: side(NEAR), more: park(3), ..Work::default() };
    bench.launch_worker(from, &SMALL, &work);
    let flags = worker::FROM_CHANNEL | worker::TO_TENSOR;
    let commands = vec![Command { flags, destination: 1, ..Command::default() }];
    let work = Work { commands, inbound: side(FAR), ..Work::default() };
    bench.launch_worker(to, &SMALL, &work);
    for (place, first, semaphore, tile) in [(NEAR, true, 1, from), (FAR, false, 0, to)] {
        let mut values = edm(bench.run_id, first, 1, 2, SMALL.buffer_bytes());
        values.extend(park(3));
        values.extend(channel(0, first, SMALL.packets()));
        values.extend(with_workers(0, semaphore, &[tile]));
        bench.launch_edm(place, &values);
    }
    bench.target.pass(100_000).unwrap();
    for place in [NEAR, FAR] {
        assert_eq!(bench.state(place, "edm", "control.stage"), 2);
        bench.set(place, "edm", "control.pause_at_stage", u32::MAX);
    }
    bench.target.pass(50_000).unwrap();
    assert_eq!(bench.state(from, "ccl_worker", "packets_out"), 2);
    bench.set(from, "ccl_worker", "control.pause_at_stage", 3);
    bench.target.pass(50_000).unwrap();
    assert_eq!(bench.state(from, "ccl_worker", "packets_out"), 3);
    assert_eq!(bench.state(to, "ccl_worker", "packets_in"), 3);
    bench.set(from, "ccl_worker", "control.pause_at_stage", u32::MAX);
    assert_eq!(bench.finish_edms(1_000_000), [FINISHED; 2]);
    for place in [from, to] {
        bench.finish_worker(place, FINISHED);
        bench.assert_settled(place);
    }

    // A worker can also end its EDM at once.
    bench.run_id += 1;
    for (place, first, semaphore, tile) in [(NEAR, true, 1, from), (FAR, false, 0, to)] {
        let mut values = edm(bench.run_id, first, 1, 2, 64);
        values.push(("termination_mode".to_owned(), 1));
        values.extend(channel(0, first, 0));
        values.extend(with_workers(0, semaphore, &[tile]));
        bench.launch_edm(place, &values);
    }
    bench.target.pass(100_000).unwrap();
    for (place, signal) in [(NEAR, 1u32 << 28), (FAR, 1)] {
        let semaphore = place.at(worker::edm_semaphore(0, 0).into());
        bench.target.write(semaphore, &signal.to_le_bytes()).unwrap();
    }
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.state(NEAR, "edm", "phase"), STOPPED);
    bench.terminate(FAR, "edm", 2);
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.state(FAR, "edm", "phase"), STOPPED);
}

#[test]
fn the_same_images_run_on_the_vendors_simulator() {
    let Some(target) = common::open("wh_x2") else { return };
    let mut bench = Bench::on(target, ImageMap::firmware().0);
    for (channels, buffers, bytes, messages) in [(1, 1, 32, 3), (2, 2, 4096, 6)] {
        exchange(&mut bench, channels, buffers, bytes, messages);
    }
    for (chip, n) in (0..2).flat_map(|chip| (0..3).map(move |n| (chip, n))) {
        let place = bench.worker_tile(chip, n);
        let boot = boot_tensix(&mut bench.images, Firmware::BUILT_IN, place).unwrap();
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
    copy_in_every_mode(&mut bench, &SMALL);
    send_through_a_socket(&mut bench, &SMALL);
}

/// Streams in both directions of the link, with workers that read from DRAM and write to DRAM.
/// Returns GB/s.
fn stream_with_workers(bench: &mut Bench, shape: &Shape, buffers: u32) -> f64 {
    let ends = [(NEAR, true, 0), (FAR, false, 1)];
    bench.run_id += 1;
    for (edm, first, chip) in ends {
        let (out, back) = if first { (0, 1) } else { (1, 0) };
        let (sender, receiver) = (bench.worker_tile(chip, 0), bench.worker_tile(chip, 1));
        let side = |number| Some(Side::new(edm, number, buffers, shape.buffer_bytes()));
        let flags = worker::FROM_TENSOR | worker::TO_CHANNEL;
        let commands = vec![Command { flags, ..Command::default() }];
        let work = Work { commands, outbound: side(out), ..Work::default() };
        bench.launch_worker(sender, shape, &work);
        let flags = worker::FROM_CHANNEL | worker::TO_TENSOR;
        let commands = vec![Command { flags, destination: 1, ..Command::default() }];
        let work = Work { commands, inbound: side(back), ..Work::default() };
        bench.launch_worker(receiver, shape, &work);
    }
    for (place, first, chip) in ends {
        let (sender, receiver) = (bench.worker_tile(chip, 0), bench.worker_tile(chip, 1));
        let mut values = edm(bench.run_id, first, 2, buffers, shape.buffer_bytes());
        for index in 0..2 {
            let sends = (index == 0) == first;
            values.extend(channel(index, sends, shape.packets()));
            let tile = if sends { sender } else { receiver };
            values.extend(with_workers(index, u32::from(sends), &[tile]));
        }
        bench.launch_edm(place, &values);
    }
    assert_eq!(bench.finish_edms(5_000_000), [FINISHED; 2]);
    let cycles =
        bench.state(NEAR, "edm", "finished_cycles") - bench.state(NEAR, "edm", "ready_cycles");
    2.0 * f64::from(shape.bytes()) / cycles as f64
}

#[test]
fn workers_keep_a_link_as_busy_both_ways() {
    let mut bench = Bench::emulated();
    for (page_bytes, packet_pages, least) in [(16384, 1, 19.0), (2048, 8, 12.0)] {
        let pages = 50 * packet_pages;
        let shape = Shape {
            data_type: 0,
            page_bytes,
            pages,
            last_page_bytes: page_bytes,
            packet_pages,
            slice_pages: pages,
        };
        let bandwidth = stream_with_workers(&mut bench, &shape, 4);
        eprintln!("{packet_pages} pages of {page_bytes}: {bandwidth:.2} GB/s");
        assert!(bandwidth > least, "{bandwidth:.2} GB/s");
    }
}
