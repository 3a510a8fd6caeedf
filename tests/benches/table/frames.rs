//! Frames of the live view of a Galaxy: the map of all its tiles at 200x60.

use crate::process::{Programs, cpu};
use crate::{Held, Row};
use console::feed::{MeshSnapshot, Traffic};
use console::glyph::Glyphs;
use console::seen::tiles_seen;
use machine::target::Allow;
use probe::session::{Session, WATCHED_CYCLES};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::{Arc, OnceLock};
use transport::ttsim::HostCommand;
use tui::message::Message;
use tui::model::Model;
use tui::theme::Theme;
use tui::{update, view};

const SIZE: (u16, u16) = (200, 60);
const FRAMES: u32 = 200;
const ROUNDS: usize = 5;

pub(crate) fn rows(programs: &Programs) -> Vec<Row> {
    let model = galaxy();
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
    let round = |_| {
        let before = cpu(libc::RUSAGE_SELF);
        for _ in 0..FRAMES {
            terminal.draw(|frame| view(&model, frame)).unwrap();
        }
        (cpu(libc::RUSAGE_SELF) - before) * 1e6 / f64::from(FRAMES)
    };
    let micros = crate::median((0..ROUNDS).map(round).collect());
    // Frames in the time of a million rounds of the loop in C.
    let loops_micros = 8e6 / programs.loop_in_c();
    vec![Row {
        name: "a frame of a Galaxy".to_owned(),
        value: format!("{micros:.0} us"),
        anchor: format!("10^6 loops in C {loops_micros:.0} us"),
        held: Held::Ratio(loops_micros / micros),
    }]
}

/// Returns the live view of a Galaxy after its first snapshot.
fn galaxy() -> Model {
    let open = Session::open("emulator:galaxy", &HostCommand::default(), Allow::default());
    let mut session = open.unwrap();
    let (theme, glyphs) = (Theme::new(true), Glyphs { ascii: false });
    let mut model = Model::new("emulator:galaxy", theme, glyphs, SIZE);
    // The map shows every tile by the verdict's own snapshots.
    let watched = session.diagnose(WATCHED_CYCLES).unwrap();
    let seen = watched.newest.map(|newest| tiles_seen(&newest.state)).unwrap_or_default();
    let inspected = session.inspect(&model.read_set());
    let snapshot = MeshSnapshot {
        target: "emulator:galaxy".to_owned(),
        read_only: false,
        traffic: Traffic::default(),
        quarantined: session.target().quarantined(),
        state: inspected.state,
        memory: inspected.snapshot,
        taken_micros: 1,
        number: 1,
        board: Arc::default(),
        stages: Arc::default(),
        verdict: Some(Arc::new(watched.diagnosis)),
        seen: Arc::new(seen),
        seen_micros: Arc::default(),
        past: None,
        timeline: None,
        reading: None,
        waits: OnceLock::new(),
    };
    update(&mut model, Message::Snapshot(Arc::new(snapshot)));
    update(&mut model, Message::Tick(1));
    model
}
