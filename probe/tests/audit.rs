//! Every write is logged before it is made: client, address, old value, new value.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use access::AuditLog;
use access::bar_target::BarTarget;
use layouts::{ChipId, NocAddr, NocXy};
use machine::patience::Deadlines;
use machine::snapshot::{Plan, Span};
use machine::target::{Abilities, Allow, Target};
use std::path::{Path, PathBuf};
use transport::emulator_bar::EmulatorBar;

fn open(log: &Path) -> BarTarget {
    let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    let bar = Box::new(EmulatorBar::new(mesh));
    let mut target = BarTarget::open("bare", bar, abilities, Deadlines::default()).unwrap();
    target.keep_audit(AuditLog::at(log, "emulator:bare"));
    target
}

fn at(offset: u64) -> NocAddr {
    NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset }
}

fn word(target: &mut BarTarget, offset: u64) -> u32 {
    target.read(&Plan { spans: vec![Span { addr: at(offset), len: 4 }] }).word(at(offset)).unwrap()
}

/// Returns the path of a file in a folder that does not exist yet.
fn scratch(name: &str) -> PathBuf {
    let folder = format!("meshscope-audit-{name}-{}", std::process::id());
    std::env::temp_dir().join(folder).join("state/audit.jsonl")
}

#[test]
fn each_write_is_a_line() {
    let log = scratch("lines");
    let mut target = open(&log);
    target.commanded_by("write");
    target.write(at(0x2_0000), &0x1122_3344_u32.to_le_bytes()).unwrap();
    target.commanded_by("patch");
    target.write(at(0x2_0001), &[0xAA, 0xBB]).unwrap();
    // The old value of a write-only register is unknown.
    target.write(at(0xFFB4_0088), &0_u32.to_le_bytes()).unwrap();
    assert_eq!(word(&mut target, 0x2_0000), 0x11BB_AA44);
    let text = std::fs::read_to_string(&log).unwrap();
    let pid = std::process::id();
    let parts = |line: &str| {
        let (head, tail) = line.split_once("\"pid\":").unwrap();
        assert!(head.starts_with("{\"time_micros\":1"), "{head}");
        assert!(head.contains("\"user\":\""), "{head}");
        tail.to_owned()
    };
    let lines: Vec<String> = text.lines().map(parts).collect();
    let common = |command: &str, addr: u64| {
        format!(
            "{pid},\"target\":\"emulator:bare\",\"command\":\"{command}\",\"chip\":0,\"tile\":[3,3],\"addr\":{addr},"
        )
    };
    let expected = [
        common("write", 0x2_0000) + "\"old\":\"00000000\",\"new\":\"44332211\"}",
        common("patch", 0x2_0001) + "\"old\":\"3322\",\"new\":\"aabb\"}",
        common("patch", 0xFFB4_0088)
            + "\"old\":null,\"old_missing\":\"refused: stream.update: it must not be read\",\"new\":\"00000000\"}",
    ];
    assert_eq!(lines, expected);
    std::fs::remove_dir_all(log.parent().unwrap().parent().unwrap()).unwrap();
}

#[test]
fn what_cannot_be_logged_is_not_done() {
    let mut target = open(Path::new("/proc/meshscope/audit.jsonl"));
    let error = target.write(at(0x2_0000), &[1; 4]).unwrap_err().to_string();
    let says = "refused: a write that cannot be logged is not made: /proc/meshscope/audit.jsonl: ";
    assert!(error.starts_with(says), "{error}");
    assert_eq!(word(&mut target, 0x2_0000), 0);
}

#[test]
fn a_refused_write_is_no_line() {
    let log = scratch("refused");
    let mut target = open(&log);
    let error = target.write(at(0x16_E000), &[1; 4]).unwrap_err().to_string();
    assert_eq!(error, "refused: nothing is known at 0x16e000: l1 ends at 0x16e000");
    let error = target.write(at(0xFFB1_21B2), &[1; 2]).unwrap_err().to_string();
    assert_eq!(error, "refused: debug holds registers, which are aligned 4-byte words");
    assert!(!log.exists());
}
