//! Every write is logged before it is made: client, address, old value, new value.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use access::AuditLog;
use access::bar_target::BarTarget;
use layouts::{ChipId, NocAddr, NocXy};
use machine::patience::Deadlines;
use machine::target::{Abilities, Allow, Target, TargetBus};
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
    target.read_word(at(offset)).unwrap()
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
    target.audit().unwrap().command("write");
    target.write(at(0x2_0000), &0x1122_3344_u32.to_le_bytes()).unwrap();
    target.audit().unwrap().command("patch");
    target.write(at(0x2_0001), &[0xAA, 0xBB]).unwrap();
    // The old value of a write-only register is unknown.
    target.write(at(0xFFB4_0088), &0_u32.to_le_bytes()).unwrap();
    assert_eq!(word(&mut target, 0x2_0000), 0x11BB_AA44);
    let text = std::fs::read_to_string(&log).unwrap();
    let pid = std::process::id();
    let parts = |line: &str| {
        let (head, tail) = line.split_once(&format!("\"pid\":{pid},")).unwrap();
        assert!(head.starts_with("{\"time_micros\":1"), "{head}");
        tail.to_owned()
    };
    let mut lines: Vec<String> = text.lines().map(parts).collect();
    let first = lines.remove(0);
    assert!(first.starts_with("\"user\":\""), "{first}");
    assert!(first.ends_with(",\"target\":\"emulator:bare\",\"command\":\"write\"}"), "{first}");
    let at = |addr: u64| format!("\"chip\":0,\"tile\":[3,3],\"addr\":{addr},");
    let expected = [
        at(0x2_0000) + "\"old\":\"00000000\",\"new\":\"44332211\"}",
        "\"command\":\"patch\"}".to_owned(),
        at(0x2_0001) + "\"old\":\"3322\",\"new\":\"aabb\"}",
        at(0xFFB4_0088)
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

/// Neither a FIFO without a reader, nor one whose reader is slow, stops a program in the middle.
#[test]
fn a_log_that_is_a_fifo_is_refused() {
    let log = scratch("fifo");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&log).status().unwrap().success());
    let mut target = open(&log);
    let says = format!("{}: a FIFO, not a regular file", log.display());
    let refused = |target: &mut BarTarget| {
        let error = target.write(at(0x2_0000), &[1; 4]).unwrap_err().to_string();
        assert!(error.ends_with(&says), "{error}");
    };
    refused(&mut target);
    let _reader = std::fs::OpenOptions::new().read(true).write(true).open(&log).unwrap();
    refused(&mut target);
    std::fs::remove_dir_all(log.parent().unwrap().parent().unwrap()).unwrap();
}

/// A program that keeps the lock of a full log does not keep others from writing.
#[test]
fn a_full_log_that_another_program_keeps_locked_is_continued() {
    let log = scratch("locked");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, "full\n").unwrap();
    let holder = std::fs::File::open(&log).unwrap();
    holder.lock().unwrap();
    let mut target = open(&log);
    target.keep_audit(AuditLog::at(&log, "emulator:bare").limited_to(5));
    target.write(at(0x2_0000), &[1; 4]).unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 3);
    drop(holder);
    target.write(at(0x2_0000), &[2; 4]).unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 2);
    std::fs::remove_dir_all(log.parent().unwrap().parent().unwrap()).unwrap();
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

#[test]
fn long_bytes_are_cut() {
    let log = scratch("long");
    let mut target = open(&log);
    target.write(at(0x2_0000), b"123456789".repeat(100).get(..896).unwrap()).unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    let line = text.lines().last().unwrap();
    assert!(line.contains("\"new\":\"313233343536373839"), "{line}");
    let crcs = "\"bytes\":896,\"old_crc32\":1379761855,\"new_crc32\":1862821162}";
    assert!(line.contains(crcs) && line.len() < 500, "{line}");
    std::fs::remove_dir_all(log.parent().unwrap().parent().unwrap()).unwrap();
}

/// The audit log of /dev/full cannot grow: its writes fail as those of a full disk do.
#[test]
fn a_launch_needs_room_in_the_log_and_a_teardown_does_not() {
    let mut target = open(Path::new("/dev/full"));
    let error = target.audit().unwrap().reserve().unwrap_err().to_string();
    let full = "/dev/full: No space left on device (os error 28)";
    assert_eq!(error, format!("refused: the audit log has no room for a launch: {full}"));
    target.write(at(0x2_0000), &[1; 4]).unwrap_err();
    assert_eq!((word(&mut target, 0x2_0000), target.audit().unwrap().remark()), (0, None));
    // A recording has the writes that are made, logged or not.
    assert_eq!(target.audit().unwrap().take(), (Vec::new(), 0));
    target.audit().unwrap().must_not_stop();
    target.write(at(0x2_0000), &[1; 4]).unwrap();
    target.write(at(0x2_0004), &[1; 4]).unwrap();
    assert_eq!(word(&mut target, 0x2_0000), 0x0101_0101);
    assert_eq!(target.audit().unwrap().take().0.len(), 2);
    let says = format!("the audit log lacks 2 entries of this session: {full}");
    assert_eq!(target.audit().unwrap().remark(), Some(says.clone()));
    assert!(target.remarks().contains(&says));
}

/// Once room was reserved, no write is refused: what was launched must be ended.
#[test]
fn what_was_launched_can_be_ended_when_the_log_cannot_grow_any_more() {
    let log = scratch("grows");
    let mut target = open(&log);
    target.audit().unwrap().command("launch");
    target.audit().unwrap().reserve().unwrap();
    target.write(at(0x2_0000), &[1; 4]).unwrap();
    let length = std::fs::metadata(&log).unwrap().len();
    assert!(length < 1000, "room that is reserved is no length: {length}");
    // The file becomes a device that is always full.
    std::fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink("/dev/full", &log).unwrap();
    target.write(at(0x2_0000), &[2; 4]).unwrap();
    assert_eq!(word(&mut target, 0x2_0000), 0x0202_0202);
    assert!(target.audit().unwrap().remark().unwrap().contains("lacks 1 entry"));
    std::fs::remove_dir_all(log.parent().unwrap().parent().unwrap()).unwrap();
}

#[test]
fn the_log_is_renamed_at_its_limit() {
    let log = scratch("limit");
    let mut target = open(&log);
    target.keep_audit(AuditLog::at(&log, "emulator:bare").limited_to(2_000));
    target.audit().unwrap().command("write");
    for value in 0..60_u32 {
        target.write(at(0x2_0000), &value.to_le_bytes()).unwrap();
    }
    let before = log.with_file_name("audit.jsonl.1");
    for (path, longest) in [(&log, 2_200), (&before, 2_200)] {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.len() < longest, "{}", text.len());
        let first = text.lines().next().unwrap();
        assert!(first.contains("\"target\":\"emulator:bare\""), "each file says whose: {first}");
    }
    assert!(std::fs::read_to_string(&log).unwrap().contains("\"new\":\"3b000000\""));
    let folder = log.parent().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2, "one before it is kept");
    std::fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}
