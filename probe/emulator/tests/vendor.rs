//! Transcripts of accesses to the vendor's simulator (libttsim 1.10.0, builds wh and wh_x2),
//! replayed against the emulator.
//!
//! A line is an access, and after `=` its result. The accesses are the project's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::Host;
use emulator::{ChipConfig, MeshConfig};
use std::fmt::Write;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Carries out one access. `remote` reads went through a firmware queue on the vendor's simulator;
/// here they go through the second chip's own device.
fn access(host: &mut Host, words: &[&str]) -> Option<String> {
    let decimal = |i: usize| words[i].parse::<u64>().unwrap();
    let address = |i: usize| u64::from_str_radix(words[i], 16).unwrap();
    let tile = || (decimal(1) as u8, decimal(2) as u8);
    match words[0] {
        "write" => host.write_tile(tile(), address(3), &bytes(words[4])),
        "read" => return Some(hex(&host.read_tile(tile(), address(3), decimal(4) as usize))),
        "remote" => {
            let (x, y) = tile();
            let entry = u64::from(y) << 22 | u64::from(x) << 16 | address(3) >> 20;
            host.mesh.bar_write(1, 0, 0x1FC0_0000, &entry.to_le_bytes());
            let mut out = [0; 4];
            host.mesh.bar_read(1, 0, address(3) & 0xF_FFFF, &mut out);
            return Some(hex(&out));
        }
        "bar" => host.write(address(1), &bytes(words[2])),
        "peek" => return Some(hex(&host.read(address(1), decimal(2) as usize))),
        "config" => return Some(format!("{:08x}", host.mesh.config_read(0, address(1) as u32))),
        "clock" => host.mesh.clock(decimal(1)),
        _ => panic!("{words:?}"),
    }
    None
}

fn play(mut host: Host, transcript: &str) {
    let mut answers = 0;
    for (number, line) in transcript.lines().enumerate().filter(|(_, l)| !l.starts_with('#')) {
        let (access_text, expected) =
            line.split_once(" = ").map_or((line, None), |(a, e)| (a, Some(e)));
        let words: Vec<&str> = access_text.split_whitespace().collect();
        let answer = access(&mut host, &words);
        assert_eq!(answer.as_deref(), expected, "line {}: {access_text}", number + 1);
        answers += usize::from(answer.is_some());
    }
    assert!(answers > 10);
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
}

/// NoC translation is on in the vendor's simulator, and no row is harvested.
fn wh() -> ChipConfig {
    let mut chip = ChipConfig::wormhole(true);
    chip.translation = true;
    chip
}

fn one_chip() -> Host {
    Host::new(MeshConfig { chips: vec![wh()], ..MeshConfig::default() })
}

#[test]
fn windows() {
    play(one_chip(), include_str!("vendor/windows.txt"));
}

#[test]
fn niu() {
    play(one_chip(), include_str!("vendor/niu.txt"));
}

#[test]
fn streams() {
    play(one_chip(), include_str!("vendor/streams.txt"));
}

#[test]
fn cores() {
    play(one_chip(), include_str!("vendor/cores.txt"));
}

#[test]
fn arc() {
    play(one_chip(), include_str!("vendor/arc.txt"));
}

#[test]
fn link() {
    let mut config = MeshConfig::n300();
    config.chips = vec![wh(), wh()];
    play(Host::new(config), include_str!("vendor/link.txt"));
}
