//! Faults parse and print alike, and each mistake has its message.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::target::Mesh;
use crate::target::{Chip, Link};

#[test]
fn faults_parse_and_print_alike() {
    for words in [
        "link:0.8:down",
        "link:0.8:up@1ms",
        "link:0.8:down@10us",
        "link:0.8:down@10us..30us",
        "link:31.15:flap=5us",
        "link:0.8:slow=4x@0ns..1500ns",
        "link:0.8:bit-error=1e-6",
        "link:0.8:bit-error=2.5e-7@3s",
        "link:0.8:slow-ack=2us",
        "core:0.e8:stuck@5us",
        "core:0.1-1:brisc:stuck",
        "core:3.9-11:trisc2:stuck@1ns..2ns",
        "core:0.1-1:ncrisc:released@7us",
        "stream:0.e8:15:held@1us..2us",
        "stream:2.1-1:63:held",
        "stream:0.e8:15:released@7us",
        "chip:5:dead@10us",
    ] {
        assert_eq!(words.parse::<Fault>().unwrap().to_string(), words);
    }
    for (words, meant) in [
        ("link:0.e8:flap", "link:0.8:flap=5us"),
        ("link:0.8:slow", "link:0.8:slow=4x"),
        ("link:0.8:bit-error", "link:0.8:bit-error=1e-6"),
        ("link:0.8:slow-ack@1000us", "link:0.8:slow-ack=2us@1ms"),
        ("core:0.e8:stuck-core", "core:0.e8:stuck"),
        ("core:0.9-0:erisc:stuck", "core:0.e0:stuck"),
    ] {
        assert_eq!(words.parse::<Fault>().unwrap().to_string(), meant);
    }
}

#[test]
fn each_mistake_has_its_sentence() {
    for (words, expected) in [
        ("", "expected link:<chip>.<channel>:<what>"),
        ("link:0.8", "the fault of 0.8 is missing"),
        ("wire:0.8:down", "`wire` is no link, core, stream or chip"),
        ("link:8:down", "`8` is not of the form"),
        ("link:0.16:down", "`16` is not an Ethernet channel from 0 to 15"),
        ("link:0.8:broken", "`broken` is not a fault of a link"),
        ("link:0.8:down=3", "`down=3` is not a fault of a link"),
        ("link:0.8:slow=1x", "`1x` is not a factor"),
        ("link:0.8:flap=5", "`5` is not a time"),
        ("link:0.8:flap=5ns", "at least 100ns"),
        ("link:0.8:bit-error=2", "`2` is not a rate"),
        ("link:0.8:bit-error=nan", "`nan` is not a rate"),
        ("link:0.8:down@now", "`now` is not a time"),
        ("link:0.8:down@200s", "longer than 100s"),
        ("link:0.8:down@30us..10us", "ends before it begins"),
        ("link:0.8:up@1us..2us", "takes no end time"),
        ("core:0.1-1:stuck", "several cores, name one of brisc"),
        ("core:0.1-1:erisc:stuck", "has no core `erisc`: brisc, ncrisc"),
        ("core:0.0-0:stuck", "has no core"),
        ("core:0.77-0:stuck", "there is no tile `77-0`"),
        ("core:0.e8:asleep", "`asleep` is not a fault of a core"),
        ("core:\u{e9}.e8:stuck", "is not of the form"),
        ("stream:0.e8:held", "the number of a stream of 0.e8 is missing"),
        ("stream:0.e8:32:held", "`32` is not a stream of tile 9-6 from 0 to 31"),
        ("stream:0.0-0:1:held", "has no stream"),
        ("stream:0.e8:1:full", "`full` is not a fault of a stream: held, released"),
        ("chip:5:stuck", "`stuck` is not a fault of a chip: dead"),
        ("chip:x:dead", "`x` is not the number of a chip"),
        ("chip:5:dead@1us..2us", "`dead` takes no end time"),
        ("link:0.8:down@5\u{3bc}s", "is not a time"),
    ] {
        let error = words.parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains(expected), "{words}: {error}");
        assert!(error.starts_with("fault `"), "{error}");
    }
}

#[test]
fn what_is_not_there_cannot_fail() {
    let chip = Chip {
        id: ChipId(0),
        coord: None,
        pcie: true,
        unique_id: None,
        board: None,
        gateway: None,
        harvested_rows: Some(vec![11]),
        seat: None,
    };
    let end = |channel| EthId { chip: ChipId(0), channel };
    let links = vec![Link { a: end(0), b: end(8) }];
    let mesh =
        Mesh { kind: layouts::ChipKind::Wormhole, chips: vec![chip], links, ..Mesh::default() };
    let check = |words: &str| mesh.check_fault(&words.parse().unwrap());
    assert_eq!(check("link:0.8:down"), Ok(()));
    assert_eq!(check("core:0.e3:stuck"), Ok(()));
    let error_of = |words| check(words).unwrap_err().to_string();
    assert_eq!(error_of("link:0.9:down"), "link:0.9:down: no link ends at 0:e9");
    assert_eq!(error_of("core:1.e8:stuck"), "core:1.e8:stuck: there is no chip 1");
    let fused = "core:0.1-11:brisc:stuck: tile 1-11 of chip 0 is fused off";
    assert_eq!(error_of("core:0.1-11:brisc:stuck"), fused);
}

#[test]
fn time_is_counted_from_a_moment() {
    let fault: Fault = "link:0.8:down@10us..30us".parse().unwrap();
    assert_eq!(fault.counted_from(5_000).to_string(), "link:0.8:down@15us..35us");
}
