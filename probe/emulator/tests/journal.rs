//! The journal in memory and as bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use emulator::{Disruption, HartId, HostAction, Journal, JournalEntry, JournalError, StreamId};

/// Returns a random action of each kind in turn.
fn action(random: &mut fastrand::Rng, kind: u32) -> HostAction {
    let (device, link) = (random.usize(0..4), random.usize(0..64));
    let core = HartId { chip: 3, x: random.u8(0..10), y: random.u8(0..12), hart: 4 };
    let stream = StreamId { chip: 3, x: random.u8(0..10), y: random.u8(0..12), stream: 31 };
    let what = match random.u32(0..11) {
        0 => Disruption::LinkDown { link },
        1 => Disruption::LinkFlap { link, period_cycles: random.u64(..) },
        2 => Disruption::LinkSlow { link, factor: random.u32(..) },
        3 => Disruption::BitErrors { link, per_terabit: random.u64(..) },
        4 => Disruption::SlowAck { link, end: 1, delay_cycles: random.u64(..) },
        5 => Disruption::LinkMended { link },
        6 => Disruption::StuckCore(core),
        7 => Disruption::CoreReleased(core),
        8 => Disruption::StreamHeld(stream),
        9 => Disruption::StreamFreed(stream),
        _ => Disruption::ChipDead { chip: stream.chip },
    };
    let offset = random.u64(0..512 << 20);
    match kind % 8 {
        0 => HostAction::ConfigRead { device, offset: random.u32(..) },
        1 => HostAction::ConfigWrite { device, offset: 4, value: random.u32(..) },
        2 => HostAction::Read { device, bar: 4, offset, len: random.usize(0..5000) },
        3 => {
            let bytes = std::iter::repeat_with(|| random.u8(..)).take(37).collect();
            HostAction::Write { device, bar: 0, offset, bytes }
        }
        4 => HostAction::NoSuchAddress { address: random.u64(..) },
        5 => HostAction::Link { link, up: random.bool() },
        6 => HostAction::Disrupt {
            what,
            from_cycle: random.u64(..),
            until_cycle: random.bool().then(|| random.u64(..)),
        },
        _ => HostAction::Reset { chip: device },
    }
}

fn entries(count: u32) -> Vec<JournalEntry> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut cycle = random.u64(0..1 << 40);
    let mut entry = |kind| {
        cycle += random.u64(0..3000);
        JournalEntry { cycle, action: action(&mut random, kind) }
    };
    (0..count).map(&mut entry).collect()
}

#[test]
fn entries_come_back_from_any_number_on() {
    let all = entries(9000);
    let journal: Journal = all.iter().cloned().collect();
    assert_eq!(journal.len(), 9000);
    for first in [0, 1, 2345, 8999, 9000, 10_000] {
        let expected = all.get(first..).unwrap_or(&[]);
        assert!(journal.since(first as u64).eq(expected.iter().cloned()), "since {first}");
    }
}

#[test]
fn bytes_are_appended_piece_by_piece() {
    let all = entries(3000);
    let (mut live, mut stored, mut kept) = (Journal::default(), Journal::default(), 0);
    for piece in all.chunks(701) {
        for entry in piece {
            live.push(entry);
        }
        stored.append_bytes(&live.to_bytes(kept)).unwrap();
        kept = live.len();
    }
    assert_eq!(stored, live);
    let old = live.to_bytes(0);
    assert_eq!(stored.append_bytes(&old), Err(JournalError::OutOfOrder));
    assert_eq!(stored, live);
}

#[test]
fn wrong_bytes_are_refused() {
    let bytes = entries(400).into_iter().collect::<Journal>().to_bytes(0);
    for cut in 0..bytes.len() {
        assert!(Journal::from_bytes(&bytes[..cut]).is_err());
    }
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..20_000 {
        let mut wrong = bytes.clone();
        for _ in 0..random.usize(1..5) {
            let at = random.usize(0..wrong.len());
            wrong[at] = random.u8(..);
        }
        let _ = Journal::from_bytes(&wrong);
    }
    assert_eq!(Journal::from_bytes(b"journal\x03\0"), Err(JournalError::NotAJournal));
}

/// Recordings of before have it.
#[test]
fn the_version_before_is_read() {
    let bytes = b"journal\x01\x03\x05\x82\x01\xC8\x01\x04\x07\x82\x02\x02\x08\x00\x05\x09";
    let read = |cycle, device, offset, len| JournalEntry {
        cycle,
        action: HostAction::Read { device, bar: 0, offset, len },
    };
    let link = JournalEntry { cycle: 12, action: HostAction::Link { link: 9, up: false } };
    let expected = [read(5, 1, 100, 4), read(12, 2, 101, 8), link];
    let journal = Journal::from_bytes(bytes).unwrap();
    assert!(journal.entries().eq(expected), "{:?}", journal.entries().collect::<Vec<_>>());
}

/// A snapshot: windows are pointed at tiles, and ranges of them read.
#[test]
fn a_read_takes_few_bytes() {
    let (mut journal, mut cycle) = (Journal::default(), 0);
    for access in 0..30_000u64 {
        let tile = access / 4 % 80;
        let window = tile % 150;
        cycle += 1900;
        let action = if access % 4 == 0 {
            let bytes = (tile << 20).to_le_bytes().to_vec();
            HostAction::Write { device: 1, bar: 0, offset: 0x1FC0_0000 + 8 * window, bytes }
        } else {
            let offset = (window << 20) + 0x1000 * (access % 4) + 0x120;
            HostAction::Read { device: 1, bar: 0, offset, len: 320 }
        };
        journal.push(&JournalEntry { cycle, action });
    }
    let each = journal.bytes() as f64 / 30_000.0;
    assert!(each < 12.0, "{each} bytes");
}
