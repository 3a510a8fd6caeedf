//! Golden frames: every screen on every recording of the library in three sizes.
//!
//! A frame that shows what another of its recording shows has no file, and some screens have those of
//! one recording. The recordings contain raw bytes that were read over the bus, so these frames cover the whole
//! route of the data: replay, inspection by DWARF name, model, view. `BLESS=1 cargo test -p tests`
//! writes new golden files, and `recordings/record-library` new recordings.

use console::feed::{MeshSnapshot, Timeline, Traffic};
use console::glyph::Glyphs;
use console::run::KernelStages;
use console::seen::{TilesSeen, tiles_seen};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use diagnosis::{Diagnosis, Health};
use images::ImageMap;
use machine::history::History;
use probe::session::Session;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use recordings::Replay;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tui::message::Message;
use tui::model::Model;
use tui::theme::Theme;
use tui::{update, view};

/// The screens and the keys that open them, as [`code`] reads them.
const SCREENS: &[(&str, &str)] = &[
    ("mesh", ""),
    ("mesh_links", "\t"),
    ("help", "?"),
    ("chip", "\r"),
    ("remote_chip", "l2"),
    ("core", "\r\r"),
    ("worker", ":1:1-2\r\r"),
    ("memory", "\r\r:0x3dc30\r"),
    ("gaps", "4"),
    ("fabric", "5"),
    ("fabric_waits", "5\t"),
    ("fabric_tables", "5\t\t"),
    ("fabric_path", "5<"),
    ("why", "w"),
    ("operations", "7"),
    ("resources", "8"),
    ("queues", "9"),
    ("semaphores", "0"),
    ("log", "L"),
];

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// The screens whose frames are kept of one recording only: help is the same everywhere, and recordings
/// seldom have the words of the lists.
const OF_ONE: &[&str] = &["help", "operations", "resources", "queues", "semaphores", "log"];
const ONE: &str = "n300_ring_ping";

/// The number of snapshots after the last key: each may reveal words that the next one reads.
const SNAPSHOTS: u64 = 4;

/// Returns a key's code; `\r` is Enter, `\t` Tab and `<` Shift-Tab.
fn code(key: char) -> KeyCode {
    match key {
        '\r' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '<' => KeyCode::BackTab,
        other => KeyCode::Char(other),
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A verdict, and the tiles in its newest snapshot.
type Judged = (Arc<Diagnosis>, Arc<TilesSeen>);

fn library() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("recordings/library")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn open(file: &Path) -> Session {
    let (images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    Session::with_target(Box::new(Replay::open(file).unwrap()), images)
}

/// Updates the model like the probe thread.
fn inspected(session: &mut Session, verdict: Option<&Judged>, model: &mut Model, number: u64) {
    let inspected = session.inspect(&model.read_set());
    let timeline = session.target().history().map(|history| Timeline::of(history));
    let target = session.target();
    let mut stages = KernelStages::default();
    stages.note(inspected.state.party_stages(target.mesh()), inspected.state.cycles);
    let snapshot = MeshSnapshot {
        target: "recording".to_owned(),
        read_only: target.abilities().allow.is_nothing(),
        traffic: Traffic::default(),
        quarantined: target.quarantined(),
        state: inspected.state,
        memory: inspected.snapshot,
        taken_micros: number,
        number,
        board: Arc::default(),
        stages: Arc::new(stages),
        verdict: verdict.map(|(verdict, _)| Arc::clone(verdict)),
        seen: verdict.map(|(_, seen)| Arc::clone(seen)).unwrap_or_default(),
        seen_micros: Arc::default(),
        past: None,
        timeline,
        reading: None,
        waits: OnceLock::new(),
    };
    update(model, Message::Snapshot(Arc::new(snapshot)));
    update(model, Message::Tick(number));
}

/// Returns a recording at its last moment.
fn ended(file: &Path) -> Session {
    let mut session = open(file);
    session.pass(u64::MAX).unwrap();
    session
}

/// Returns the verdict on all moments of a recording.
fn verdict(file: &Path) -> Judged {
    let recording = Replay::open(file).unwrap();
    let times = recording.moments();
    let over = times.last().unwrap() - times.first().unwrap();
    let watched = open(file).diagnose(over).unwrap();
    let seen = watched.newest.map(|newest| tiles_seen(&newest.state)).unwrap_or_default();
    (Arc::new(watched.diagnosis), Arc::new(seen))
}

/// Returns the picture after the keys on this target, with a snapshot after each.
pub(crate) fn picture_of(
    session: &mut Session,
    verdict: Option<&Judged>,
    keys: &str,
    size: (u16, u16),
) -> String {
    let buffer = buffer_of(session, verdict, keys, (size, Theme::new(false)));
    let rows = buffer.content.chunks(usize::from(size.0));
    rows.map(|row| row.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned() + "\n")
        .collect()
}

/// Returns the cells of that picture.
fn buffer_of(
    session: &mut Session,
    verdict: Option<&Judged>,
    keys: &str,
    (size, theme): ((u16, u16), Theme),
) -> Buffer {
    let mut model = Model::new("recording", theme, Glyphs { ascii: false }, size);
    inspected(session, verdict, &mut model, 1);
    for (number, key) in (2..).zip(keys.chars()) {
        update(&mut model, Message::Key(KeyEvent::new(code(key), KeyModifiers::NONE)));
        inspected(session, verdict, &mut model, number);
    }
    let shown = keys.chars().count() as u64 + 2;
    for number in shown..shown + SNAPSHOTS {
        inspected(session, verdict, &mut model, number);
    }
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| view(&model, frame)).unwrap();
    terminal.backend().buffer().clone()
}

#[test]
fn a_healthy_mesh_has_nothing_yellow_or_red() {
    let mut healthy = 0;
    for file in library() {
        let judged = verdict(&file);
        if Health::of(&judged.0) != Health::Healthy {
            continue;
        }
        healthy += 1;
        let mut session = ended(&file);
        for (screen, keys) in SCREENS {
            let look = ((120, 40), Theme::new(true));
            let buffer = buffer_of(&mut session, Some(&judged), keys, look);
            let alarms = |color| {
                use ratatui::style::Color::{LightRed, LightYellow, Red, Yellow};
                [Red, LightRed, Yellow, LightYellow].contains(&color)
            };
            let alarming = buffer.content.iter().filter(|cell| alarms(cell.fg) || alarms(cell.bg));
            let text: String = alarming.map(Cell::symbol).collect();
            assert_eq!(text, "", "{screen} of {}", file.display());
        }
    }
    assert!(healthy > 0);
}

#[test]
fn every_screen_shows_every_recording_as_before() {
    let files = library();
    assert!(!files.is_empty());
    let mut differing = Vec::new();
    for file in files {
        let bytes = std::fs::metadata(&file).unwrap().len();
        assert!(bytes <= 256 << 10, "{} has {bytes} bytes, of 256 KiB", file.display());
        let recording = file.file_stem().unwrap().to_str().unwrap();
        let (verdict, mut session) = (verdict(&file), ended(&file));
        // One size of each of the many sick meshes.
        let sizes = if recording.starts_with("n300_") { &SIZES[..] } else { &SIZES[1..2] };
        for &size in sizes {
            let mut seen = BTreeSet::new();
            for (screen, keys) in SCREENS {
                if OF_ONE.contains(screen) && recording != ONE {
                    continue;
                }
                let picture = picture_of(&mut session, Some(&verdict), keys, size);
                let (_, below_header) = picture.split_once('\n').unwrap();
                if !seen.insert(below_header.to_owned()) {
                    continue;
                }
                let name = format!("{recording}_{screen}_{}x{}.txt", size.0, size.1);
                let golden = root().join("tests/golden").join(&name);
                if std::env::var_os("BLESS").is_some() {
                    std::fs::write(&golden, &picture).unwrap();
                }
                if std::fs::read_to_string(&golden).unwrap_or_default() != picture {
                    println!("{name} is now:\n{picture}");
                    differing.push(name);
                }
            }
        }
    }
    assert_eq!(differing, Vec::<String>::new(), "BLESS=1 writes the frames above");
}
