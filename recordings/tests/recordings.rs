//! Recordings: round trips, truncated and damaged files, foreign and newer files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipCoord, ChipId, EthId, NocAddr, NocXy, TileKind};
use machine::history::{History, Mark};
use machine::notes::{AuditLine, Command, Note, StatusMessage, WrittenPlace};
use machine::past::RecordedRun;
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use machine::target::{Abilities, Allow, Chip, Link, Mesh, Refusal, Target};
use recordings::{FlightRecorder, Kept, RecordingError, Redacted, Replay, Writer, without_folders};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// A target with only a description.
struct Described {
    mesh: Mesh,
    abilities: Abilities,
}

impl Target for Described {
    fn name(&self) -> &'static str {
        "emulator:n300"
    }
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }
    fn mesh(&self) -> &Mesh {
        &self.mesh
    }
    fn read(&mut self, _plan: &Plan) -> Snapshot {
        Snapshot::default()
    }
    fn write(&mut self, _addr: NocAddr, _bytes: &[u8]) -> Result<(), AccessError> {
        Err(AccessError::InReset)
    }
    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(0)
    }
    fn pass(&mut self, _cycles: u64) -> Result<(), AccessError> {
        Ok(())
    }
}

fn end(chip: u16, channel: u8) -> EthId {
    EthId { chip: ChipId(chip), channel }
}

fn chip(id: u16) -> Chip {
    Chip {
        id: ChipId(id),
        coord: Some(ChipCoord { x: id as u8, y: 0, rack: 0, shelf: 3 }),
        pcie: id == 0,
        unique_id: Some(u64::MAX - u64::from(id)),
        board: (id == 0).then(|| "n300 L".into()),
        gateway: (id > 0).then(|| vec![end(0, 8), end(0, 9)]),
        harvested_rows: Some(vec![1, 8]),
        seat: None,
    }
}

fn target() -> Described {
    let refusal = Refusal {
        kind: TileKind::Eth,
        start: 0xFFBA_0000,
        end: 0xFFBB_0000,
        reason: "unsafe".into(),
    };
    Described {
        mesh: Mesh {
            kind: layouts::ChipKind::Wormhole,
            chips: vec![chip(0), chip(1)],
            links: vec![Link { a: end(0, 8), b: end(1, 0) }],
            problems: vec!["one link was down".into()],
            ..Mesh::default()
        },
        abilities: Abilities {
            allow: Allow::ALL,
            stepped_time: true,
            refusals: vec![refusal],
            ..Abilities::default()
        },
    }
}

fn at(chip: u16, offset: u64) -> NocAddr {
    NocAddr { chip: ChipId(chip), tile: NocXy { x: 9, y: 6 }, offset }
}

fn span(addr: NocAddr, len: u32) -> Span {
    Span { addr, len }
}

fn piece(addr: NocAddr, target_cycles: u64, bytes: &[u8]) -> Piece {
    Piece {
        addr,
        target_cycles,
        host_micros: 1_700_000_000_000_000 + target_cycles,
        bytes: bytes.into(),
    }
}

/// Three moments at 100, 200 and 300 cycles; word 0 of chip 0 holds the number of the moment.
fn moments() -> Vec<Snapshot> {
    let moment = |n: u64| Snapshot {
        pieces: vec![
            piece(at(0, 0), n * 100 - 1, &(n as u32).to_le_bytes()),
            piece(at(0, 4), n * 100, &[7; 12]),
            piece(at(1, 0x1000), n * 100 - 5, &[0xAB; 64]),
        ],
        gaps: vec![
            Gap {
                span: span(at(0, 0x20), 8),
                reason: AccessError::TimedOut { deadline_cycles: 5000 },
            },
            Gap {
                span: span(at(1, 0x40), 4),
                reason: AccessError::QueueError { flags: 0x8000_0008 },
            },
        ],
        transactions: n,
        ..Snapshot::default()
    };
    (1..=3).map(moment).collect()
}

/// Returns a separate file for each test, which does not exist.
fn path(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recordings");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{test}.mcap"));
    let _ = std::fs::remove_file(&path);
    path
}

fn record(test: &str) -> PathBuf {
    let path = path(test);
    let mut writer = Writer::create(&path, &target(), "3 moments").unwrap();
    writer.attach_elf("erisc.elf", b"\x7fELF and so on").unwrap();
    for moment in moments() {
        writer.append(&moment).unwrap();
    }
    assert_eq!(writer.moments(), 3);
    writer.finish().unwrap();
    path
}

#[test]
fn what_goes_in_comes_out() {
    let path = record("round_trip");
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.mesh(), &target().mesh);
    let unchangeable = Some("a recording cannot be changed".to_owned());
    let allow = Allow::default();
    assert_eq!(replay.abilities(), &Abilities { allow, unchangeable, ..target().abilities });
    assert_eq!(replay.name(), path.display().to_string());
    assert_eq!(
        (replay.recorded_target(), replay.made_by()),
        ("emulator:n300", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(replay.moments(), [100, 200, 300]);
    assert_eq!((replay.asked(), replay.position()), ("3 moments", 2), "it opens at its end");
    assert_eq!(replay.changed_bytes(1), [(0, 1), (1, 0)]);
    assert_eq!(replay.attachments()[0].name, "erisc.elf");
    assert_eq!(replay.attachments()[0].bytes[..], *b"\x7fELF and so on");
    assert!(replay.problems().is_empty());
    for (index, moment) in moments().iter().enumerate() {
        replay.seek(index);
        assert_eq!(replay.moment(), Some(moment));
    }
}

#[test]
fn time_passes_when_asked_to() {
    let mut replay = Replay::open(&record("time")).unwrap();
    replay.seek(0);
    let mut after = |cycles| {
        replay.pass(cycles).unwrap();
        (replay.now().unwrap(), replay.position())
    };
    assert_eq!(after(0), (100, 0));
    assert_eq!(after(60), (160, 0));
    assert_eq!(after(60), (220, 1));
    assert_eq!(after(u64::MAX), (300, 2));
    replay.seek(1);
    assert_eq!((replay.now().unwrap(), replay.position()), (200, 1));
    replay.seek(99);
    assert_eq!((replay.now().unwrap(), replay.position()), (300, 2));
    for (cycles, position) in [(299, 1), (200, 1), (7, 0), (u64::MAX, 2)] {
        replay.seek_cycles(cycles);
        assert_eq!(replay.position(), position, "{cycles}");
    }
}

#[test]
fn reads_answer_from_the_moment_with_its_gaps() {
    let mut replay = Replay::open(&record("reads")).unwrap();
    replay.seek(1);
    // Overlapping ranges, across two pieces, and past the end of the recorded bytes.
    let spans = vec![
        span(at(0, 8), 0x20),
        span(at(0, 0), 12),
        span(at(1, 0x1010), 4),
        span(at(1, 0x44), 4),
    ];
    let snapshot = replay.read(&Plan { spans });
    let pieces: Vec<String> =
        snapshot.pieces.iter().map(|p| format!("{}+{}", p.addr, p.bytes.len())).collect();
    assert_eq!(pieces, ["0:9-6:0x0+16", "1:9-6:0x1010+4"]);
    assert_eq!(snapshot.word(at(0, 0)), Ok(2));
    assert_eq!(snapshot.bytes(at(0, 2), 6).unwrap(), [0, 0, 7, 7, 7, 7]);
    // The joined piece has the time of its oldest part.
    assert_eq!(snapshot.pieces[0].target_cycles, 199);
    let gaps: Vec<String> = snapshot
        .gaps
        .iter()
        .map(|g| format!("{}+{}: {}", g.span.addr, g.span.len, g.reason))
        .collect();
    assert_eq!(
        gaps,
        [
            "0:9-6:0x10+16: not recorded",
            "0:9-6:0x20+8: timed out after 5000 cycles",
            "1:9-6:0x44+4: not recorded"
        ]
    );
    assert_eq!(snapshot.word(at(0, 0x24)), Err(AccessError::TimedOut { deadline_cycles: 5000 }));
    let nothing = Snapshot { sorted_gaps: true, ..Snapshot::default() };
    assert_eq!(replay.read(&Plan::default()), nothing);
}

#[test]
fn absurd_ranges_are_gaps() {
    let mut replay = Replay::open(&record("absurd")).unwrap();
    let spans = vec![
        span(at(0, u64::MAX), 4),
        span(at(0, u64::MAX - 2), u32::MAX),
        span(at(9, 0), u32::MAX),
        span(at(0, 4), 0),
    ];
    let snapshot = replay.read(&Plan { spans });
    assert!(snapshot.pieces.is_empty());
    assert!(snapshot.gaps.iter().all(|gap| gap.reason == AccessError::NotRecorded));
}

#[test]
fn every_reason_survives() {
    let reasons = [
        AccessError::Refused("TDMA".into()),
        AccessError::TimedOut { deadline_cycles: u64::MAX },
        AccessError::Unreachable("no gateway".into()),
        AccessError::InReset,
        AccessError::DeviceGone("last words".into()),
        AccessError::QueueError { flags: u32::MAX },
        AccessError::NotRecorded,
        AccessError::NotRequested,
    ];
    let gap = |(n, reason)| Gap { span: span(at(0, n), 1), reason };
    let snapshot = Snapshot { gaps: (0..).zip(reasons).map(gap).collect(), ..Snapshot::default() };
    let path = path("reasons");
    let mut writer = Writer::create(&path, &target(), "3 moments").unwrap();
    writer.append(&snapshot).unwrap();
    writer.finish().unwrap();
    assert_eq!(Replay::open(&path).unwrap().moment(), Some(&snapshot));
}

#[test]
fn the_past_cannot_be_written_to() {
    let mut replay = Replay::open(&record("write")).unwrap();
    let refused = replay.write(at(0, 0), &[1]).unwrap_err();
    assert_eq!(refused.to_string(), "refused: a recording cannot be written to");
}

#[test]
fn a_file_cut_anywhere_shows_what_is_whole() {
    let whole = std::fs::read(in_three_chunks("whole")).unwrap();
    let path = path("cut");
    let (mut file, mut seen) = (File::create(&path).unwrap(), 0);
    for len in 0..whole.len() {
        // A file that is written anew each time waits for the disk.
        file.write_all(&whole[len.saturating_sub(1)..len]).unwrap();
        match Replay::open(&path) {
            Ok(mut replay) => {
                let count = replay.moments().len();
                assert!(count >= seen, "{len} bytes show {count} moments, fewer than before");
                seen = count;
                shows_what_was_recorded(&mut replay, len);
                let unfinished = "the recording was not finished; ";
                let says = replay.problems().iter().any(|p| p.starts_with(unfinished));
                // What stands after the last chunk is only copied from the others.
                assert!(says || count == 3, "{len} bytes: {:?}", replay.problems());
            }
            Err(RecordingError::NotARecording { .. } | RecordingError::Damaged { .. }) => {
                assert_eq!(seen, 0, "{len} bytes show nothing");
            }
            Err(other) => panic!("{len} bytes: {other}"),
        }
    }
    assert_eq!(seen, 3);
}

/// Every byte of the file, flipped: at most the moments of one chunk, and what is relative to it,
/// are missing, and that is said. The first moment stands there twice.
#[test]
fn a_spoilt_byte_costs_at_most_its_chunk() {
    spoil_each_byte(&in_three_chunks("spoilt_source"));
}

/// The same of a recording of less than a second.
#[test]
fn a_spoilt_byte_of_a_short_recording_costs_at_most_a_moment() {
    spoil_each_byte(&record("spoilt_short"));
}

fn spoil_each_byte(source: &Path) {
    let whole = std::fs::read(source).unwrap();
    let path = source.with_extension("spoilt");
    std::fs::write(&path, &whole).unwrap();
    let (file, mut lost) = (File::options().write(true).open(&path).unwrap(), 0);
    for (i, flip) in (0..whole.len()).zip([0xFF, 0x01, 0x80].into_iter().cycle()) {
        file.write_all_at(&[whole[i] ^ flip], i as u64).unwrap();
        let mut replay = Replay::open(&path).unwrap_or_else(|e| panic!("byte {i}: {e}"));
        let missing = 3 - replay.moments().len();
        assert_eq!(replay.moments().first(), Some(&100), "byte {i}");
        assert!(missing <= 1, "byte {i}: {missing} of 3 moments are missing");
        lost += missing;
        assert_eq!(missing > 0, says_lost(&replay), "byte {i}: {:?}", replay.problems());
        shows_what_was_recorded(&mut replay, i);
        file.write_all_at(&whole[i..=i], i as u64).unwrap();
    }
    assert!(lost > 0);
}

/// A last moment that is lost is not known to have been there; then the damage is said.
fn says_lost(replay: &Replay) -> bool {
    let says = |p: &String| {
        p.ends_with(" lost")
            || p.contains("the chunk from")
            || p.contains("damaged and were skipped")
    };
    replay.moments().len() < 3 && replay.problems().iter().any(says)
}

/// Whatever is shown is what was recorded; what is not shown is a gap.
fn shows_what_was_recorded(replay: &mut Replay, at: usize) {
    for index in 0..replay.moments().len() {
        replay.seek(index);
        let recorded = &moments()[(replay.moments()[index] / 100 - 1) as usize];
        let Some(shown) = replay.moment() else {
            let snapshot = replay.read(&Plan {
                spans: vec![span(
                    NocAddr { chip: ChipId(0), tile: NocXy { x: 9, y: 6 }, offset: 0 },
                    4,
                )],
            });
            panic!("{at}: moment {index}: {:?}, {:?}", snapshot.gaps, replay.problems());
        };
        let mut bytes = 0;
        for piece in &shown.pieces {
            let same = recorded.bytes(piece.addr, piece.bytes.len() as u32);
            assert_eq!(same.unwrap(), &*piece.bytes, "{at}: moment {index} at {}", piece.addr);
            bytes += piece.bytes.len();
        }
        let gaps = shown.gaps.iter().filter(|gap| gap.reason == AccessError::NotRecorded);
        let gaps: u32 = gaps.map(|gap| gap.span.len).sum();
        assert_eq!(bytes + gaps as usize, 80, "{at}: moment {index}");
    }
}

/// The three moments, five seconds apart: each in a chunk of its own.
fn in_three_chunks(test: &str) -> PathBuf {
    let path = path(test);
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    writer.attach_elf("erisc.elf", b"\x7fELF and so on").unwrap();
    for (second, mut moment) in (0..).zip(moments()) {
        for piece in &mut moment.pieces {
            piece.host_micros += second * 5_000_000;
        }
        writer.append(&moment).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// A chunk ends after a second if it has ten moments, after five, and when it has more than an eighth
/// of the moments before it.
#[test]
fn chunks_cover_a_second_or_ten_moments_and_a_part() {
    let chunks = |millis: u64, count: u64| {
        let path = path(&format!("chunks_{millis}"));
        let mut writer = Writer::create(&path, &target(), "").unwrap();
        for moment in 0..count {
            let mut snapshot = moments()[0].clone();
            for piece in &mut snapshot.pieces {
                piece.host_micros += moment * millis * 1000;
            }
            writer.append(&snapshot).unwrap();
        }
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        // Each is named in the index too; one has the channels.
        bytes.windows(8).filter(|bytes| bytes == b"\x04\0\0\0zstd").count() / 2 - 1
    };
    let cases = [(10, 200), (50, 40), (200, 20), (450, 20), (1000, 10), (6000, 3)];
    assert_eq!(cases.map(|(millis, count)| chunks(millis, count)), [37, 24, 18, 18, 10, 3]);
}

#[test]
fn a_recording_that_was_never_finished_shows_its_whole_chunks() {
    let path = path("unfinished");
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    let mut later = moments()[1].clone();
    for piece in &mut later.pieces {
        piece.host_micros += 5_000_000;
    }
    writer.append(&moments()[0]).unwrap();
    writer.append(&later).unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.moments(), [100]);
    let says = "the recording was not finished; 1 moment of it can be read";
    assert_eq!(replay.problems().last().map(String::as_str), Some(says));
    writer.finish().unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!((replay.moments(), replay.problems()), (&[100, 200][..], &[][..]));
}

#[test]
fn a_spoilt_attachment_costs_only_itself() {
    let path = record("attachment");
    let mut bytes = std::fs::read(&path).unwrap();
    let elf = bytes.windows(9).position(|w| w == b"erisc.elf").unwrap();
    bytes[elf] = 0;
    std::fs::write(&path, &bytes).unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!((replay.moments().len(), replay.attachments().len()), (3, 0));
    assert_eq!(replay.problems(), ["a damaged attachment was skipped"]);
}

/// A large file is read at its end only; it shows the same.
#[test]
fn a_large_file_shows_the_same_and_its_damage_where_it_is() {
    let path = path("large");
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    let noise = noise(40 << 20);
    writer.attach_elf("noise.elf", &noise).unwrap();
    for (second, mut moment) in (0..).zip(moments()) {
        for piece in &mut moment.pieces {
            piece.host_micros += second * 5_000_000;
        }
        writer.append(&moment).unwrap();
        writer.mark(Mark::new(second * 100, 7, format!("mark {second}"))).unwrap();
    }
    writer.finish().unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.moments(), [100, 200, 300]);
    assert_eq!(replay.problems(), [""; 0]);
    assert_eq!(
        replay.marks().iter().map(|m| &*m.text).collect::<Vec<_>>(),
        ["mark 0", "mark 1", "mark 2"]
    );
    assert_eq!(replay.attachments()[0].bytes.len(), noise.len());
    shows_what_was_recorded(&mut replay, 0);
    // The last chunk but one, whose damage is seen only when its moment is read.
    let mut bytes = std::fs::read(&path).unwrap();
    let index = bytes.windows(15).position(|w| w == b"meshscope.index").unwrap();
    let chunk = bytes[..index].windows(8).rposition(|w| w == b"\x04\0\0\0zstd").unwrap();
    bytes[chunk + 40] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!((replay.moments().len(), replay.moment()), (3, None));
    let snapshot = replay.read(&Plan { spans: vec![span(at(0, 0), 4)] });
    let why = snapshot.gaps[0].reason.to_string();
    assert!(why.starts_with("refused: this moment is damaged: "), "{why}");
    replay.seek(1);
    assert!(replay.moment().is_some());
}

/// Bytes that do not become smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[test]
fn idle_moments_cost_little_and_read_sets_may_change() {
    let path = path("idle");
    let bytes = noise(100_000);
    let mut recorded = Vec::new();
    let mut one = 0;
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    for n in 1..41_u64 {
        let host = 1_700_000_000_000_000 + n * 100_000;
        let piece = |addr, bytes: &[u8]| Piece {
            addr,
            target_cycles: n * 1000 + 1,
            host_micros: host,
            bytes: bytes.into(),
        };
        let mut pieces = vec![piece(at(0, 0), &(n as u32).to_le_bytes())];
        // Every third moment reads a part only, another begins in the middle, one reads nothing.
        match n % 6 {
            0 | 3 => pieces.push(piece(at(0, 64), &bytes[..777])),
            4 => pieces.push(piece(at(1, 0x8000), &bytes[..5000])),
            5 if n == 17 => pieces.clear(),
            _ => pieces.push(piece(at(0, 0x1001), &bytes)),
        }
        let snapshot = Snapshot { pieces, ..Snapshot::default() };
        writer.append(&snapshot).unwrap();
        recorded.push(snapshot);
        if n == 1 {
            one = bytes.len();
        }
    }
    writer.finish().unwrap();
    let mut replay = Replay::open(&path).unwrap();
    for (index, snapshot) in recorded.iter().enumerate().rev() {
        replay.seek(index);
        assert_eq!(replay.moment(), Some(snapshot), "moment {index}");
    }
    // The first one stands there twice.
    let len = std::fs::metadata(&path).unwrap().len() as usize - one;
    assert!(len < one * 2, "{len} bytes for 40 moments of {one}");
}

#[test]
fn a_flight_recorder_keeps_the_newest_moments_in_its_limit() {
    let path = path("flight");
    let mut flight = FlightRecorder::new(64 << 10);
    let mut newest = Snapshot::default();
    for n in 0..500_u64 {
        let host = 1_700_000_000_000_000 + n * 200_000;
        let piece = |addr, bytes: &[u8]| Piece {
            addr,
            target_cycles: n,
            host_micros: host,
            bytes: bytes.into(),
        };
        let bytes = noise(4096 + n as usize);
        newest =
            Snapshot { pieces: vec![piece(at(0, 0), &bytes[n as usize..])], ..Snapshot::default() };
        flight.append(&newest);
        assert!(flight.bytes() <= 64 << 10, "{} bytes after {n}", flight.bytes());
    }
    let kept = flight.moments();
    assert!(kept >= 5 && flight.dropped() == 500 - kept as u64, "{kept}");
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    flight.write(&mut writer).unwrap();
    let mut last = newest.clone();
    last.pieces[0].target_cycles += 1;
    writer.append(&last).unwrap();
    writer.finish().unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!((replay.moments().len(), replay.problems()), (kept + 1, &[][..]));
    assert_eq!(replay.moment(), Some(&last));
    replay.seek(kept - 1);
    assert_eq!(replay.moment(), Some(&newest));
    replay.seek(0);
    assert!(replay.moment().is_some());
}

/// One note of each kind.
fn notes() -> Vec<Note> {
    let place = WrittenPlace { chip: 1, tile: [9, 6], addr: 0x1c };
    let (old_missing, bytes, old_crc32, new_crc32) = (None, None, None, None);
    vec![
        Note::Command(Command { target_cycles: 900, host_micros: 1 << 52, text: "run".into() }),
        Note::Audit(AuditLine::Begins {
            time_micros: 1 << 52,
            pid: 7,
            user: None,
            target: Some("emulator:n300".into()),
            command: "launch".into(),
        }),
        Note::Audit(AuditLine::Write {
            time_micros: 1 << 52,
            pid: 7,
            place,
            old: Some("00000000".into()),
            old_missing,
            new: "01000000".into(),
            bytes,
            old_crc32,
            new_crc32,
        }),
        Note::Audit(AuditLine::Failed { time_micros: 1 << 52, pid: 7, place, failed: "x".into() }),
        Note::Status(StatusMessage {
            host_micros: 1 << 52,
            chip: 0,
            channel: 8,
            run_id: 3,
            number: 0,
            wall_clock_cycles: 12,
            event: "EVENT_LINK_DOWN".into(),
            detail: [1, 0, 0, 0],
            text: "link status 1".into(),
        }),
    ]
}

#[test]
fn marks_and_notes_are_kept() {
    let path = path("marks");
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    for moment in &moments()[..2] {
        writer.append(moment).unwrap();
    }
    let mark = Mark { condition: Some("deadlock".into()), ..Mark::new(100, 5, "here") };
    let notes = notes();
    writer.mark(mark.clone()).unwrap();
    notes.iter().try_for_each(|note| writer.note(note)).unwrap();
    writer.finish().unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.marks(), [mark]);
    let last = replay.moments().len() - 1;
    let placed: Vec<_> = notes.into_iter().map(|note| (last, note)).collect();
    assert_eq!(replay.notes(), placed);
    // Of a file that was cut off, they are those of the chunks.
    let bytes = std::fs::read(&path).unwrap();
    let cut = bytes.windows(14).position(|it| it == b"meshscope.note").unwrap();
    std::fs::write(&path, &bytes[..cut]).unwrap();
    assert_eq!(Replay::open(&path).unwrap().notes(), placed);
}

/// Whatever is in the file of marks beside it, a recording opens, and one sentence says what is wrong.
#[test]
fn a_hostile_file_of_marks_is_a_sentence() {
    let recording = record("hostile-marks");
    let file = PathBuf::from(format!("{}.marks", recording.display()));
    let opened = |problem: &str| {
        let replay = Replay::open(&recording).unwrap();
        let [said] = replay.problems() else { panic!("{problem}: {:?}", replay.problems()) };
        assert!(said.contains("hostile-marks") && said.contains(problem), "{said}");
        replay.marks().to_vec()
    };
    let first = Replay::open(&recording).unwrap().moments()[0];
    let line = |cycles: u64| {
        let mark = Mark { condition: Some("deadlock".into()), ..Mark::new(cycles, 5, "\u{1b}[2J") };
        serde_json::to_string(&mark).unwrap() + "\n"
    };
    std::fs::write(&file, line(first).repeat(20_000)).unwrap();
    assert_eq!(opened("2 MiB, and a file of marks has at most 1 MiB"), []);
    std::fs::write(&file, b"\xff\xfe").unwrap();
    assert_eq!(opened("not UTF-8 text"), []);
    std::fs::write(&file, line(u64::MAX) + &line(first) + "{}\n").unwrap();
    let [mark] = &*opened(":1: no mark: 18446744073709551615 cycles are outside the recording")
    else {
        panic!("the mark inside the recording is there");
    };
    assert_eq!(mark.condition, None, "only a verdict finds something");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    assert_eq!(opened("a symbolic link, not a regular file"), []);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(opened("a directory, not a regular file"), []);
    std::fs::remove_dir(&file).unwrap();
}

#[test]
fn a_clock_that_runs_backwards_is_said() {
    let path = path("backwards");
    let mut writer = Writer::create(&path, &target(), "").unwrap();
    for moment in moments().iter().rev() {
        writer.append(moment).unwrap();
    }
    writer.finish().unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.moments(), [300, 200, 100]);
    let says = "the target's clock runs backwards after moment 0: the chips may have been reset; moments are in recorded order";
    assert_eq!(replay.problems(), [says]);
}

#[test]
fn what_is_no_recording_is_named() {
    let path = path("foreign");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let text = Replay::open(&path).unwrap_err().to_string();
        text.replace(&path.display().to_string(), "my.mcap")
    };
    assert_eq!(open(b""), "my.mcap: not a meshscope recording: empty file");
    assert_eq!(open(b"\x7fELF"), "my.mcap: not a meshscope recording: not an MCAP file");
    let mut foreign = std::io::Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new().compression(None).profile("ros2");
    options.create(&mut foreign).unwrap().finish().unwrap();
    assert_eq!(
        open(foreign.get_ref()),
        "my.mcap: not a meshscope recording: an MCAP file with profile \"ros2\""
    );
    let missing = Replay::open(Path::new("/no/such/file.mcap")).unwrap_err().to_string();
    assert!(missing.starts_with("/no/such/file.mcap: No such file"), "{missing}");
}

#[test]
fn a_newer_format_says_what_to_do() {
    let mut file = std::io::Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new().compression(None).profile("meshscope");
    let mut writer = options.create(&mut file).unwrap();
    let metadata = [("format", "5"), ("meshscope", "3.1.0")];
    let metadata = metadata.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    writer
        .write_metadata(&mcap::records::Metadata { name: "meshscope.session".into(), metadata })
        .unwrap();
    writer.finish().unwrap();
    drop(writer);
    let path = path("newer");
    std::fs::write(&path, file.get_ref()).unwrap();
    let text = Replay::open(&path).unwrap_err().to_string();
    assert_eq!(
        text.replace(&path.display().to_string(), "my.mcap"),
        "my.mcap: recorded by meshscope 3.1.0 in format 5; this version reads up to format 4: \
         open it with meshscope 3.1.0 or newer"
    );
}

#[test]
fn folders_of_absolute_paths_are_left_out() {
    let svg = "http://www.w3.org/2000/svg </text></svg>";
    let kept = "silicon /dev/tenstorrent/0 a/b ../c /x";
    for (text, without, paths) in [
        ("emulator:/home/me/x.yaml,kernels=/opt/k,at=2ms", "emulator:x.yaml,kernels=k,at=2ms", 2),
        ("\"/home/me/a.cpp:12\" in main", "\"a.cpp:12\" in main", 1),
        ("/home/me/", "", 1),
        (svg, svg, 0),
        (kept, kept, 0),
    ] {
        assert_eq!(without_folders(text), (without.to_owned(), paths));
    }
}

/// A copy for others lacks who recorded, where files are, and what was written; and says so.
#[test]
fn a_copy_lacks_what_is_not_kept() {
    let (from, to) = (path("private"), path("redacted"));
    let mut writer = Writer::create(&from, &target(), "of /home/me/mesh.yaml").unwrap();
    writer.attach_elf("erisc.elf", b"\x7fELF and so on").unwrap();
    moments().iter().try_for_each(|moment| writer.append(moment)).unwrap();
    writer.mark(Mark::new(100, 5, "see /home/me/notes.txt")).unwrap();
    let begins = AuditLine::Begins {
        time_micros: 1 << 52,
        pid: 4711,
        user: Some("alice".into()),
        target: Some("ttsim:/home/me/x.so".into()),
        command: "write 0:1-1:0x20000 0xdeadbeef".into(),
    };
    let given = Command { target_cycles: 1, host_micros: 1 << 52, text: "write 0:1-1:0 77".into() };
    let written = notes().into_iter().filter(|note| note.kind() == "audit");
    let all = [Note::Audit(begins), Note::Command(given)].into_iter().chain(written);
    all.for_each(|note| writer.note(&note).unwrap());
    let journal = vec![1, 2, 3];
    let run = RecordedRun {
        target: "emulator:n300".into(),
        end_cycles: 9,
        checksum: 7,
        journal,
        host_answers: vec![5; 9],
    };
    writer.attach_run(&run).unwrap();
    writer.finish().unwrap();
    let mut whole = Replay::open(&from).unwrap();
    let lacks = whole.copy(&to, Kept::default()).unwrap();
    assert_eq!(lacks, Redacted { users: 4, paths: 3, writes: 3, run: true });
    let mut copy = Replay::open(&to).unwrap();
    assert_eq!((copy.asked(), copy.run()), ("of mesh.yaml", None));
    assert_eq!(copy.recorded_target(), whole.recorded_target());
    assert_eq!(copy.marks()[0].text, "see notes.txt");
    assert_eq!(copy.attachments(), whole.attachments());
    for moment in 0..3 {
        whole.seek(moment);
        copy.seek(moment);
        assert_eq!(copy.moment(), whole.moment());
    }
    let text = format!("{:?}", copy.notes());
    for private in ["alice", "4711", "pid: 7", "/home", "deadbeef", " 77", "01000000"] {
        assert!(!text.contains(private), "{private}: {text}");
    }
    let kept = Kept { users: true, paths: true, writes: true, run: true };
    std::fs::remove_file(&to).unwrap();
    assert_eq!(whole.copy(&to, kept).unwrap(), Redacted::default());
    let copy = Replay::open(&to).unwrap();
    assert_eq!((copy.notes(), copy.run()), (whole.notes(), whole.run()));
}

/// A record as it stands in a file.
fn mcap_record(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &(body.len() as u64).to_le_bytes(), body].concat()
}

fn attachment(name: &str, data: &[u8]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let len = (data.len() as u64).to_le_bytes();
    let mut body = [&[0; 16][..], &text(name), &text(""), &len, data].concat();
    body.extend(crc32fast::hash(&body).to_le_bytes());
    mcap_record(mcap::records::op::ATTACHMENT, &body)
}

/// A chunk of records, which are compressed already if `bytes` says how many they are.
fn chunk(records: &[u8], bytes: Option<u64>) -> Vec<u8> {
    let (compression, crc) =
        if bytes.is_some() { ("zstd", 0) } else { ("", crc32fast::hash(records)) };
    let size = bytes.unwrap_or(records.len() as u64);
    let mut body = [[0; 16].as_slice(), &size.to_le_bytes(), &crc.to_le_bytes()].concat();
    body.extend((compression.len() as u32).to_le_bytes());
    body.extend(compression.as_bytes());
    body.extend((records.len() as u64).to_le_bytes());
    body.extend(records);
    mcap_record(mcap::records::op::CHUNK, &body)
}

/// Zeros, compressed.
fn zeros(bytes: u64) -> Vec<u8> {
    use std::io::Read as _;
    zstd::stream::encode_all(std::io::repeat(0).take(bytes), 1).unwrap()
}

/// The time for which this thread has had a processor, in ticks of 10 ms.
fn worked() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

/// Opens three moments with this behind them, in seconds.
#[track_caller]
fn opens_soon(test: &str, more: &[u8], holes: u64) -> Replay {
    let whole = std::fs::read(record(&format!("{test}_whole"))).unwrap();
    let end = whole.windows(14).position(|it| it == b"meshscope.inde").unwrap() - 29;
    assert_eq!(whole[end], mcap::records::op::ATTACHMENT);
    let path = path(test);
    std::fs::write(&path, [&whole[..end], more].concat()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() + holes).unwrap();
    let begun = worked();
    let mut replay = Replay::open(&path).unwrap();
    let took = worked() - begun;
    std::fs::remove_file(&path).unwrap();
    println!("{test}: {took} ticks, {:?}", replay.problems());
    assert!(took < 500, "{took} ticks");
    assert_eq!(replay.moments(), [100, 200, 300]);
    shows_what_was_recorded(&mut replay, 0);
    replay
}

#[test]
fn content_that_swells_is_bounded_in_sum() {
    let gib = zeros(1 << 30);
    let quarter = zeros(200 << 20);
    let attached = |n: usize, data: &[u8]| attachment(&format!("kernel/brisc/{n}/x.zst"), data);
    let mut more: Vec<u8> = (0..5).flat_map(|n| attached(n, &gib)).collect();
    more.extend((5..10).flat_map(|n| attached(n, &quarter)));
    more.extend((0..20).flat_map(|_| chunk(&quarter, Some(200 << 20))));
    more.extend((0..20).flat_map(|_| chunk(&gib, Some(1 << 30))));
    // It is longer than it says.
    more.extend(chunk(&gib, Some(100)));
    let len = more.len() as u64;
    let replay = opens_soon("swells", &more, 0);
    let attached: usize = replay.attachments().iter().map(|file| file.bytes.len()).sum();
    assert!(attached as u64 <= (256 << 20) + 64 * (len + 10_000), "{attached}");
    let too_much = |problem: &&String| problem.contains("more content than a file of this size");
    assert!(replay.problems().iter().any(|it| too_much(&it)), "{:?}", replay.problems());
    assert!(replay.problems().len() < 40);
}

#[test]
fn many_attachments_are_not_all_taken() {
    let more: Vec<u8> =
        (0..300_000).flat_map(|n| attachment(&format!("kernel/brisc/{n}/x"), b"x")).collect();
    let replay = opens_soon("many", &more, 0);
    // One is the first moment.
    assert_eq!(replay.attachments().len(), 4096 - 1);
    let last = replay.problems().iter().any(|it| it.ends_with(" parts are damaged, too"));
    assert!(last && replay.problems().len() < 40, "{:?}", replay.problems());
}

#[test]
fn holes_are_not_read() {
    opens_soon("holes", b"?", 7 << 30);
    // A chunk of a hole.
    let head = [&[mcap::records::op::CHUNK][..], &(6_u64 << 30).to_le_bytes()].concat();
    opens_soon("hole_chunk", &head, 7 << 30);
}

/// Each of these could be a chunk that ends with the file.
#[test]
fn a_search_is_not_done_again_and_again() {
    let (count, mut more) = (200_000_u64, b"?".to_vec());
    for n in 0..count {
        more.push(mcap::records::op::CHUNK);
        more.extend(((count - n) * 9 - 9).to_le_bytes());
    }
    opens_soon("search", &more, 0);
}

#[test]
fn a_session_names_no_more_chips_than_there_are() {
    let path = path("chips");
    let mut target = target();
    target.mesh.chips = (0..2000).map(chip).collect();
    let mut writer = Writer::create(&path, &target, "").unwrap();
    writer.append(&moments()[0]).unwrap();
    writer.finish().unwrap();
    let refused = Replay::open(&path).unwrap_err().to_string();
    assert!(refused.contains("the session names 2000 chips and 1 links"), "{refused}");
}

/// Zeros of many chips cost nothing in a file.
#[test]
fn ranges_of_a_moment_are_bounded_in_sum() {
    let message = |channel: u16, data: &[u8]| {
        let head = [&channel.to_le_bytes()[..], &9_u32.to_le_bytes(), &[0; 16]].concat();
        mcap_record(mcap::records::op::MESSAGE, &[&head, data].concat())
    };
    let of_chip = serde_json::json!({
        "since": "nothing", "pieces": [[[[9, 6]], [[0, 150 << 20]]]], "which": [0],
        "target_cycles": [400], "host_micros": [1], "changes": [],
    });
    let of_chip = rmp_serde::to_vec_named(&of_chip).unwrap();
    let moment = serde_json::json!({"target_cycles": 400, "host_micros": 1, "key_moment": 9});
    let whole = std::fs::read(record("ranges_whole")).unwrap();
    // The numbers of the channels of chip 0 and of moments.
    let channels = (16, 1);
    let records = [
        message(channels.0, &of_chip),
        message(channels.0 + 1, &of_chip),
        message(channels.1, moment.to_string().as_bytes()),
    ];
    let end = whole.windows(14).position(|it| it == b"meshscope.inde").unwrap() - 29;
    let path = path("ranges");
    std::fs::write(&path, [&whole[..end], &chunk(&records.concat(), None)].concat()).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!((replay.moments().len(), replay.moment()), (4, None));
    let snapshot = replay.read(&Plan { spans: vec![span(at(0, 0), 4)] });
    let why = snapshot.gaps[0].reason.to_string();
    assert!(why.ends_with("chip 1: its ranges do not fit"), "{why}");
}
