//! Keys, mouse and commands in, effects out: what copies, opens, closes and is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{TAKEN, snapshot};
use crate::keys::{model, picture, press};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use layouts::{ChipId, NocXy};
use tui::message::{Command, Message};
use tui::model::{CorePane, List, MeshPane, Model, Screen};
use tui::update;

/// A model with two snapshots.
fn running(size: (u16, u16)) -> Model {
    let mut model = model(size);
    (0..2).for_each(|n| drop(update(&mut model, Message::Snapshot(snapshot(n)))));
    update(&mut model, Message::Tick(TAKEN));
    model
}

fn foot(model: &Model) -> String {
    picture(model).lines().last().unwrap().to_owned()
}

fn mouse(model: &mut Model, kind: MouseEventKind, (column, row): (u16, u16)) -> Vec<Command> {
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    update(model, Message::Mouse(event))
}

fn click(model: &mut Model, at: (u16, u16)) {
    mouse(model, MouseEventKind::Down(MouseButton::Left), at);
}

/// Clicks the first letter of a text on screen.
fn click_on(model: &mut Model, text: &str) {
    let picture = picture(model);
    let find = |(row, line): (usize, &str)| {
        let at = line.find(text)?;
        Some((line[..at].chars().count() as u16, row as u16))
    };
    let at = picture.lines().enumerate().find_map(find);
    click(model, at.unwrap_or_else(|| panic!("{text:?} is not on screen:\n{picture}")));
}

fn copied(commands: &[Command]) -> &str {
    let text = commands.iter().find_map(|command| match command {
        Command::Copy(text) => Some(text),
        _ => None,
    });
    text.expect("something is copied")
}

#[test]
fn a_key_that_does_nothing_says_so() {
    let mut model = running((80, 24));
    press(&mut model, "x");
    assert_eq!(foot(&model), "x is no key of this program; ? F1 lists its keys");
    press(&mut model, "n");
    assert!(
        foot(&model).starts_with("n is a key of the screens chip, routes: next tile"),
        "{}",
        foot(&model)
    );
    update(&mut model, Message::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT)));
    assert!(foot(&model).starts_with("Alt-q is no key"), "{}", foot(&model));
    press(&mut model, "j");
    assert!(foot(&model).starts_with("q quit"), "the next key takes it away: {}", foot(&model));
}

#[test]
fn the_footer_keeps_what_leads_to_everything_else() {
    for columns in [40, 60, 80, 120, 200] {
        for keys in ["", "2", "3", "4", "5", "6"] {
            let mut model = running((columns, 24));
            press(&mut model, keys);
            let foot = foot(&model);
            for key in [": command", "/ find", "? help", "w why"] {
                assert!(foot.contains(key) || columns < 60, "{columns}, {keys:?}: {foot}");
            }
            assert!(foot.contains("? help") && foot.chars().count() <= columns.into(), "{foot}");
        }
    }
}

#[test]
fn q_closes_help_before_it_quits() {
    let mut model = running((80, 24));
    assert!(!press(&mut model, "?q").contains(&Command::Quit));
    assert_eq!(model.help, None);
    assert!(press(&mut model, "q").contains(&Command::Quit));
}

#[test]
fn the_name_of_a_screen_opens_it() {
    let mut model = running((80, 24));
    for screen in Screen::ALL {
        press(&mut model, &format!("?<esc>:{}<enter>", screen.name()));
        assert_eq!((model.screen, model.help), (screen, None));
    }
    press(&mut model, ":links<enter>");
    assert_eq!((model.screen, model.mesh_pane), (Screen::Mesh, MeshPane::Links));
    let file = std::path::PathBuf::from("frame.svg");
    assert!(press(&mut model, ":svg frame.svg<enter>").contains(&Command::Svg(file)));
    update(&mut model, Message::Notice("frame.svg written".to_owned()));
    assert_eq!(foot(&model), "frame.svg written");
}

#[test]
fn y_copies_what_is_selected_and_capital_y_the_command() {
    let mut model = running((120, 40));
    assert_eq!(copied(&press(&mut model, "y")), "0");
    assert!(foot(&model).starts_with("copied: 0"), "{}", foot(&model));
    let command = |model: &mut Model, keys: &str| copied(&press(model, keys)).to_owned();
    assert_eq!(command(&mut model, "Y"), "meshscope --target emulator:n300 mesh");
    let row = command(&mut model, "<tab>y");
    assert!(row.starts_with("U up") && row.contains("1:e0"), "{row}");
    assert_eq!(command(&mut model, "Y"), "meshscope --target emulator:n300 links");
    assert_eq!(command(&mut model, "2y"), "0:9-6");
    assert_eq!(command(&mut model, "Y"), "meshscope --target emulator:n300 cores 0:9-6");
    let word = command(&mut model, "3y");
    assert!(word.contains(" = "), "{word}");
    assert_eq!(command(&mut model, "5<tab>Y"), "meshscope --target emulator:n300 fabric waits");
    assert!(!press(&mut model, "6y").iter().any(|it| matches!(it, Command::Copy(_))));
    assert!(foot(&model).starts_with("nothing is selected"), "{}", foot(&model));
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut model = running((120, 40));
    click_on(&mut model, "chip 1");
    assert_eq!((model.mesh_pane, model.chip), (MeshPane::Map, ChipId(1)));
    click_on(&mut model, "2 Chip");
    assert_eq!(model.screen, Screen::Chip);
    click_on(&mut model, "1 Mesh");
    click_on(&mut model, "0:e9");
    assert_eq!(
        (model.screen, model.mesh_pane, model.lists[List::Links].at),
        (Screen::Mesh, MeshPane::Links, 1)
    );
    click_on(&mut model, "0:e9");
    assert_eq!(model.screen, Screen::Core, "what is selected opens");
    click_on(&mut model, "2 Chip");
    click(&mut model, (0, 39));
    assert_eq!(model.screen, Screen::Chip, "nothing is at the foot");
    // Column 3 of the grid begins behind 3 columns of margin and 3 cells of 11.
    click(&mut model, (3 + 3 * 11, 4));
    assert_eq!(model.tile.x, 3);
    let tile = model.tile;
    mouse(&mut model, MouseEventKind::ScrollDown, (5, 5));
    assert_eq!(model.tile, NocXy { y: tile.y + 3, ..tile });
    press(&mut model, "3");
    model.core_pane = CorePane::Memory;
    let words = model.word;
    mouse(&mut model, MouseEventKind::Moved, (5, 12));
    assert_eq!((model.core_pane, model.word), (CorePane::Memory, words));
}

#[test]
fn no_click_anywhere_is_fatal() {
    for size in [(2, 1), (40, 10), (80, 24), (200, 60)] {
        for keys in ["", "2", "3", "4", "5", "6", "?", ":"] {
            let mut model = running(size);
            press(&mut model, keys);
            for column in (0..size.0).step_by(3) {
                (0..=size.1).for_each(|row| click(&mut model, (column, row)));
            }
            picture(&model);
        }
    }
    let mut empty = model((80, 24));
    click(&mut empty, (10, 10));
}

#[test]
fn the_mouse_is_let_go_and_taken_back() {
    let mut model = running((80, 24));
    assert!(press(&mut model, "M").contains(&Command::Mouse(false)));
    assert!(foot(&model).contains("M takes it back"), "{}", foot(&model));
    assert!(press(&mut model, "M").contains(&Command::Mouse(true)));
}

#[test]
fn a_tour_goes_on_when_its_screen_is_opened() {
    const TOUR: &[cli::TourStep] = &[
        cli::TourStep { screen: Screen::Why, text: "w shows the cause" },
        cli::TourStep { screen: Screen::Core, text: "Enter opens it" },
    ];
    let mut model = running((80, 24));
    model.tour = TOUR;
    let above_the_foot = |model: &Model| picture(model).lines().nth(22).unwrap().to_owned();
    assert_eq!(above_the_foot(&model), "w shows the cause");
    assert!(foot(&model).starts_with("q quit"));
    press(&mut model, "2");
    assert_eq!(above_the_foot(&model), "w shows the cause", "another screen does not end the step");
    press(&mut model, "w");
    assert_eq!(above_the_foot(&model), "Enter opens it");
    press(&mut model, "3");
    assert_ne!(above_the_foot(&model), "Enter opens it");
}

/// The rows of the list of links, without its head.
fn rows(model: &Model) -> Vec<String> {
    let picture = picture(model);
    let rows = picture.lines().skip_while(|line| !line.contains("links: ")).skip(2);
    rows.filter(|row| row.starts_with(['▸', ' '])).map(str::to_owned).collect()
}

#[test]
fn the_worst_links_come_first_and_idle_ones_are_a_line() {
    let mut model = model((120, 66));
    update(&mut model, Message::Snapshot(crate::common::torus(4, 4)));
    press(&mut model, "<tab>");
    let listed = rows(&model);
    // Two links of the chip at 1,1 are down, two each of four chips carry bytes; 22 are idle.
    assert!(listed[0].contains("dn") || listed[0].contains("down"), "{listed:#?}");
    assert!(listed[1].contains("down") && listed[2].contains("up"), "{listed:#?}");
    let fold = listed.iter().position(|row| row.contains("links up, idle")).unwrap();
    assert_eq!((fold, &*listed[fold]), (8, "  24 links up, idle (Enter lists all)"));
    press(&mut model, "G<enter>");
    assert!(!picture(&model).contains("up, idle"));
    press(&mut model, "!");
    assert!(picture(&model).contains("links: 2 of 32 with faults"), "{}", picture(&model));
    assert!(picture(&model).contains("30 links have nothing wrong"), "{}", picture(&model));
    press(&mut model, "<esc>");
    assert!(picture(&model).contains("24 links up, idle"), "back to the usual list");
    press(&mut model, "/3:e<enter>");
    assert!(!picture(&model).contains("up, idle"), "a filter finds idle ones too");
}

#[test]
fn what_is_selected_stays_selected_while_rows_move() {
    let mut model = model((120, 60));
    update(&mut model, Message::Snapshot(crate::common::torus(4, 4)));
    press(&mut model, "<tab>jjj");
    let selected = rows(&model).into_iter().find(|row| row.starts_with('▸')).unwrap();
    let mut next = (*crate::common::torus(4, 4)).clone();
    next.number = 7;
    next.state.cycles += 1_000_000;
    for link in next.state.links.iter_mut().rev().take(2) {
        link.condition = decode::state::LinkCondition::Disagree;
    }
    update(&mut model, Message::Snapshot(std::sync::Arc::new(next)));
    let now = rows(&model).into_iter().find(|row| row.starts_with('▸')).unwrap();
    assert_eq!(now[..40], selected[..40], "{:#?}", rows(&model));
    assert_eq!(model.lists[List::Links].at, 5, "two rows came above it");
}

#[test]
fn a_rate_and_a_history_stand_beside_each_link() {
    let mut model = model((160, 48));
    for n in 0..3 {
        let mut next = (*snapshot(n)).clone();
        next.state.cycles = 1_000_000 * (n + 1);
        update(&mut model, Message::Snapshot(std::sync::Arc::new(next)));
    }
    let first = rows(&model)[0].clone();
    // Both ends send a packet per millisecond.
    assert!(first.contains("1.0k/") && first.contains("moves"), "{first}");
    assert!(first.trim_end().ends_with("██"), "two snapshots had one before them: {first}");
    // A moment of the past: rates of what comes after it say nothing.
    let mut back = (*snapshot(5)).clone();
    back.state.cycles = 10;
    update(&mut model, Message::Snapshot(std::sync::Arc::new(back)));
    assert!(!rows(&model)[0].contains("moves"), "{:?}", rows(&model));
}
