//! The frames before the first snapshot and while it is read: stages and keys in, frames out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;
use crate::keys;

use common::{TAKEN, snapshot};
use console::glyph::Glyphs;
use console::opening::Stages;
use decode::state::LinkCondition;
use images::Reading;
use keys::{SIZES, golden, model, picture, press};
use machine::progress::{ChipCount, Progress};
use machine::snapshot::AccessError;
use std::sync::Arc;
use tui::message::{Command, Message};
use tui::model::Model;
use tui::update;

/// A model of a target that is still opened, 3.2 s after the start.
fn opening(size: (u16, u16)) -> Model {
    let mut model = model(size);
    update(&mut model, Message::Tick(TAKEN));
    let mut stages = Stages::default();
    let found = Progress::Discovery { chips: 32, named: 32, link_ends: 208 };
    let boot = Progress::Boot { cycles: 7_260_000, until_cycles: Some(10_000_000) };
    let start = Progress::Start("an emulated mesh");
    for (progress, after) in [(start, 0), (found, 400_000), (boot, 900_000)] {
        stages.note(progress, TAKEN + after);
    }
    update(&mut model, Message::Opening(Arc::new(stages)));
    update(&mut model, Message::Tick(TAKEN + 3_200_000));
    model
}

#[test]
fn the_frame_is_there_before_the_target() {
    for size in SIZES {
        golden(&format!("opening_{}x{}", size.0, size.1), &opening(size));
    }
    let mut model = opening((80, 24));
    let frame = picture(&model);
    press(&mut model, "?");
    assert!(picture(&model).contains("help"));
    press(&mut model, "<esc><enter>:0:e8<enter>5<esc>");
    press(&mut model, "1");
    assert_eq!(picture(&model), frame, "keys of screens wait with it");
    assert!(press(&mut model, "q").contains(&Command::Quit));
    assert!(press(&mut model, "<c-c>").contains(&Command::Interrupt));
    model.glyphs = Glyphs { ascii: true };
    assert!(picture(&model).is_ascii());
}

/// The first snapshot while it is read: chip 1 has not answered yet.
fn partly(number: u64, before: bool) -> Message {
    let mut partly = (*snapshot(number)).clone();
    partly.reading = Some(Progress::Snapshot(ChipCount { done: 1, of: 2 }));
    if !before {
        for tile in &mut partly.state.chips[1].tiles {
            for core in &mut tile.cores {
                core.activity = Reading::Unread(AccessError::NotRequested);
                core.words.clear();
            }
        }
        for link in &mut partly.state.links {
            link.condition = LinkCondition::Unread;
            (link.a_to_b, link.b_to_a, link.apart_cycles) = (None, None, None);
        }
        partly.state.gaps.clear();
    }
    Message::Snapshot(Arc::new(partly))
}

#[test]
fn each_chip_is_drawn_as_it_answers() {
    for size in SIZES {
        let mut model = opening(size);
        update(&mut model, partly(0, false));
        golden(&format!("partly_{}x{}", size.0, size.1), &model);
        update(&mut model, Message::Snapshot(snapshot(0)));
        assert!(!picture(&model).contains("READING 1/2"));
        assert!(model.before.is_none(), "it is the same snapshot");
        update(&mut model, partly(1, true));
        assert!(picture(&model).contains("READING 1/2"));
        update(&mut model, Message::Snapshot(snapshot(1)));
        assert_eq!(model.before.as_ref().map(|before| before.number), Some(1));
        assert_eq!(model.dropped, 0);
    }
}
