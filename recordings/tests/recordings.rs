//! Recordings: round trips, truncated and damaged files, foreign and newer files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipCoord, ChipId, EthId, NocAddr, NocXy, TileKind};
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use machine::target::{Abilities, Allow, Chip, Link, Mesh, Refusal, Target};
use recordings::{RecordingError, Replay, Writer};
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
    };
    (1..=3).map(moment).collect()
}

/// Returns a separate file for each test.
fn path(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recordings");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{test}.mcap"))
}

fn record(test: &str) -> PathBuf {
    let path = path(test);
    let mut writer = Writer::create(&path, &target()).unwrap();
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
    assert_eq!(replay.read(&Plan::default()), Snapshot::default());
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
    let mut writer = Writer::create(&path, &target()).unwrap();
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
    let whole = std::fs::read(record("whole")).unwrap();
    let path = path("cut");
    let mut seen = 0;
    for len in 0..whole.len() {
        std::fs::write(&path, &whole[..len]).unwrap();
        match Replay::open(&path) {
            Ok(replay) => {
                let count = replay.moments().len();
                assert!(count >= seen, "{len} bytes show {count} moments, fewer than before");
                seen = count;
                assert_eq!(replay.moment(), moments().first());
                let start = format!("only the first {count} moments are readable (");
                let problems = replay.problems();
                assert!(
                    problems.iter().any(|p| p.starts_with(&start)),
                    "{len} bytes: {problems:?}"
                );
            }
            Err(RecordingError::NotARecording { .. } | RecordingError::Damaged { .. }) => {
                assert_eq!(seen, 0, "{len} bytes show nothing");
            }
            Err(other) => panic!("{len} bytes: {other}"),
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_recording_that_was_never_finished_shows_its_moments() {
    let path = path("unfinished");
    let mut writer = Writer::create(&path, &target()).unwrap();
    writer.append(&moments()[0]).unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.moments(), [100]);
    assert!(replay.problems()[0].starts_with("only the first 1 moments are readable ("));
    writer.finish().unwrap();
    assert!(Replay::open(&path).unwrap().problems().is_empty());
}

#[test]
fn a_spoilt_attachment_costs_only_itself() {
    let path = record("attachment");
    let mut bytes = std::fs::read(&path).unwrap();
    let elf = bytes.windows(4).position(|w| w == b"\x7fELF").unwrap();
    bytes[elf] = 0;
    std::fs::write(&path, &bytes).unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!((replay.moments().len(), replay.attachments().len()), (3, 0));
    assert_eq!(replay.problems(), ["a damaged attachment was skipped"]);
}

#[test]
fn a_spoilt_byte_anywhere_is_no_panic() {
    let whole = std::fs::read(record("damaged_source")).unwrap();
    let path = path("damaged");
    for (i, flip) in (0..whole.len()).zip([0xFF, 0x01, 0x80].into_iter().cycle()) {
        let mut bytes = whole.clone();
        bytes[i] ^= flip;
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(mut replay) = Replay::open(&path) {
            replay.read(&Plan { spans: vec![span(at(0, 0), u32::MAX)] });
        }
    }
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
    let metadata = [("format", "2"), ("meshscope", "3.1.0")];
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
        "my.mcap: recorded by meshscope 3.1.0 in format 2; this version reads up to format 1: \
         open it with meshscope 3.1.0 or newer"
    );
}
