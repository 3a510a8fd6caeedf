//! The ERISC data mover and the worker of the collectives, launched by hand on an emulated n300 and, where
//! `MESHSCOPE_TTSIM_DIR` names its libraries, on the vendor's simulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "edm/bench.rs"]
mod bench;

use bench::{Bench, FAR, NEAR, channel, edm};

const FINISHED: u64 = 4;

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
