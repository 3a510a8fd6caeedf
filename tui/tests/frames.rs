//! Snapshots and keys in, frames out: golden frames of every screen at two sizes, and the effects
//! of keys.
//!
//! `BLESS=1 cargo test -p tui` rewrites the golden files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;
use crate::keys;

use common::{TAKEN, snapshot};
use console::feed::{MeshSnapshot, Timeline};
use console::glyph::Glyphs;
use console::run::{Board, Logged};
use decode::state::{Activity, LinkState};
use images::Reading;
use keys::{SIZES, golden, model, picture, press};
use layouts::{ChipId, NocXy};
use machine::past::KeptPast;
use machine::snapshot::{AccessError, Piece};
use machine::target::Quarantined;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;
use tui::message::{Command, Message};
use tui::model::{List, Model, Screen};
use tui::theme::Theme;
use tui::{update, view};

/// A model with two snapshots, the newer a tenth of a second old.
fn running(size: (u16, u16)) -> Model {
    let mut model = model(size);
    for n in 0..2 {
        update(&mut model, Message::Snapshot(snapshot(n)));
    }
    update(&mut model, Message::Tick(TAKEN + 200_000));
    model
}

#[test]
fn the_screens_are_as_they_were() {
    let screens = [
        ("mesh", ""),
        ("chip", "<enter>"),
        ("core", "<enter><enter>"),
        ("memory", "<enter><enter><tab><tab>"),
        ("fabric", "5"),
        ("fabric_waits", "5<tab>"),
        ("routes_path", "R"),
        ("routes_path_to", "5:path 1 M0D0<enter>"),
        ("routes_tables", "R<tab>"),
        ("fabric_mux", "5/mux<enter><down><up><end>"),
        ("operations", "7"),
        ("resources", "8"),
        ("queues", "9"),
        ("semaphores", "0"),
        ("log", "L"),
    ];
    for size in SIZES {
        for (name, keys) in screens {
            let mut model = running(size);
            press(&mut model, keys);
            golden(&format!("{name}_{}x{}", size.0, size.1), &model);
        }
    }
}

#[test]
fn what_is_missing_has_glyphs_of_its_own() {
    let mut model = running((80, 24));
    press(&mut model, "<right><enter>");
    golden("remote_chip_80x24", &model);
    press(&mut model, "4");
    golden("gaps_80x24", &model);
}

#[test]
fn larger_meshes_shrink_and_then_scroll() {
    for (name, columns, rows, size) in
        [("t3000", 4, 2, (80, 24)), ("galaxy", 8, 4, (80, 24)), ("galaxy", 8, 4, (160, 48))]
    {
        let mut model = model(size);
        update(&mut model, Message::Snapshot(common::torus(columns, rows)));
        golden(&format!("{name}_{}x{}", size.0, size.1), &model);
        press(&mut model, "G");
        let picture = picture(&model);
        let last = format!(" {} ", u16::from(columns) * u16::from(rows) - 1);
        assert!(picture.contains(&last), "the selected chip is in sight:\n{picture}");
        assert!(!picture.contains("a part of the map"), "{picture}");
    }
    let mut model = model((120, 40));
    update(&mut model, Message::Snapshot(common::torus(4, 8)));
    let all = picture(&model);
    let rows = [0, 4, 8, 12, 16, 20, 24, 28];
    assert!(rows.iter().all(|chip| all.contains(&format!("\nchip {chip} "))), "{all}");
    model.size = (80, 24);
    update(&mut model, Message::Snapshot(common::torus(16, 8)));
    let part = picture(&model);
    assert!(part.contains("a part of the map: hjkl moves"), "{part}");
}

#[test]
fn the_fabric_is_requested_while_its_screen_is_shown() {
    let mut model = running((120, 36));
    let fabric_requests = |commands: Vec<Command>| {
        let snapshots = commands.into_iter().filter_map(|command| match command {
            Command::Read(read_set) => Some(read_set.fabric),
            _ => None,
        });
        snapshots.collect::<Vec<_>>()
    };
    assert_eq!(fabric_requests(press(&mut model, "5")), [true]);
    // Opens the core of the selected part, and Esc leads back.
    press(&mut model, "/clients<enter><enter>");
    assert_eq!((model.screen, model.tile), (Screen::Core, NocXy { x: 2, y: 1 }));
    assert_eq!(fabric_requests(press(&mut model, "<esc>")), [true]);
    assert_eq!(model.screen, Screen::Fabric);
    press(&mut model, "<esc>");
    assert!(model.lists[List::Parts].filter.is_empty(), "the filter goes first");
    assert_eq!(fabric_requests(press(&mut model, "<esc>")), [false]);
}

#[test]
fn tables_are_read_while_they_are_shown_and_paths_turn_to_other_nodes() {
    let mut model = running((120, 36));
    let check = |model: &mut Model, keys: &str, wanted: &str| {
        press(model, keys);
        let picture = picture(model);
        assert!(picture.contains(wanted), "{wanted:?} after {keys:?}:\n{picture}");
    };
    press(&mut model, "5");
    assert!(!model.read_set().fabric_tables);
    // The destination of the oldest packet; then node after node; then the packet again.
    check(&mut model, "R", "path from chip 0 to M0D1 (chip 1)");
    assert!(model.read_set().fabric_tables);
    check(&mut model, "n", "path from chip 0 to M0D0 (chip 0)");
    check(&mut model, "n", "path from chip 0 to M0D1");
    check(&mut model, "n", "oldest packet: #41 of M0D0");
    check(&mut model, "Nl", "path from chip 1 to M0D1");
    check(&mut model, "/0<enter>", "path from chip 1 to M0D0 (chip 0)");
    check(&mut model, "/M0<enter>", "'M0' is not");
    check(&mut model, "<tab>", "chip 1  M0D1  row 0 column 1");
    assert!(model.read_set().fabric_tables);
    check(&mut model, "<tab>", "schedule: none yet");
    assert!(!model.read_set().fabric_tables);
    check(&mut model, ":path 0 M1D0<enter>", "path from chip 0 to M1D0");
    check(&mut model, ":path 0 M0D7<enter>", "have no entry for it");
    check(&mut model, ":path 7 0<enter>", "path from chip 7: no router of a fabric runs there");
    check(&mut model, ":path 0 7<enter>", "no router of a fabric runs on chip 7");
    check(&mut model, ":path 0 M0<enter>", "'M0' is not");
    check(&mut model, ":path<enter>", "path takes <FROM> <TO>");
}

#[test]
fn help_is_the_table_of_keys() {
    let mut model = running((80, 24));
    press(&mut model, "?");
    golden("help_80x24", &model);
    press(&mut model, "<esc>");
    assert!(model.help.is_none());
    assert_eq!(model.screen, Screen::Mesh);
}

#[test]
fn help_and_other_texts_are_searched() {
    let mut model = running((80, 24));
    // The letters of a search are no keys.
    assert!(!press(&mut model, "?/quar<enter>").contains(&Command::Quit));
    let found = picture(&model);
    let first = found.lines().nth(3).unwrap();
    assert!(first.contains("quarantine") && found.contains("1 line matches 'quar'"), "{found}");
    press(&mut model, "/a recording<enter>");
    let line = model.help;
    assert!(picture(&model).contains("lines match 'a recording'"), "{}", picture(&model));
    press(&mut model, "/a recording<enter>");
    assert_ne!(model.help, line, "the next one");
    assert!(!press(&mut model, "<esc>4/quit<enter>").contains(&Command::Quit));
    assert!(picture(&model).contains("0 rows match 'quit'"), "{}", picture(&model));
    press(&mut model, "/timed out<enter>");
    assert!(picture(&model).contains("1 row matches 'timed out'"), "{}", picture(&model));
    press(&mut model, "/kind=gap bytes>100 why=refused<enter>");
    assert_eq!(model.lists[List::Gaps].at, 0, "{}", picture(&model));
    assert!(picture(&model).contains("1 row matches"), "{}", picture(&model));
}

#[test]
fn the_terminals_own_keys_hold_everywhere() {
    for keys in ["", "/half", ":run", "?"] {
        let mut model = running((80, 24));
        press(&mut model, keys);
        assert_eq!(press(&mut model, "<c-z>"), [Command::Suspend], "{keys}");
        assert_eq!(press(&mut model, "<c-l>"), [Command::Clear], "{keys}");
        assert_eq!(press(&mut model, "<c-c>"), [Command::Interrupt], "{keys}");
    }
}

#[test]
fn no_word_of_the_header_is_cut() {
    for columns in 40..160 {
        let mut model = running((columns, 24));
        model.dropped = 254;
        let picture = picture(&model);
        let header = picture.lines().next().unwrap();
        let cut = ["254 d", "t 2", "tx"].map(|word| header.contains(word));
        let whole = ["254 dropped", "t 2050.00 us", "tx/s"].map(|word| header.contains(word));
        assert_eq!(cut, whole, "{columns}: {header}");
    }
}

/// Letters of boards, files and firmware, wherever the screens show them.
#[test]
fn no_cell_has_what_a_terminal_acts_on() {
    let evil = "\u{1b}[1m\u{202e}\u{9b}go";
    for keys in ["", "2", "3", "4", "5", "6", "7", "8", "9", "0", "L"] {
        let mut model = running((160, 48));
        let mut snapshot = (*common::snapshot(1)).clone();
        snapshot.target = evil.into();
        for chip in &mut snapshot.state.chips {
            chip.chip.board = Some(evil.into());
            for core in chip.tiles.iter_mut().flat_map(|tile| &mut tile.cores) {
                core.waypoint = Reading::Known(evil.into());
                core.images.iter_mut().for_each(|image| image.name = evil.into());
            }
        }
        snapshot.state.problems.push(evil.into());
        update(&mut model, Message::Snapshot(Arc::new(snapshot)));
        press(&mut model, keys);
        let mut terminal = Terminal::new(TestBackend::new(160, 48)).unwrap();
        terminal.draw(|frame| view(&model, frame)).unwrap();
        let cells = &terminal.backend().buffer().content;
        let acts = |cell: &&ratatui::buffer::Cell| cell.symbol().contains(console::words::acts);
        assert_eq!(cells.iter().find(acts), None, "after {keys:?}");
    }
}

#[test]
fn the_map_draws_every_link_or_says_how_many_it_does_not() {
    let mut snapshot = (*common::torus(8, 4)).clone();
    let links = std::mem::take(&mut snapshot.state.links);
    let with_channel = |link: &LinkState, channel: u8| {
        let mut link = link.clone();
        (link.link.a.channel, link.link.b.channel) = (channel, channel);
        link
    };
    snapshot.state.links =
        links.iter().flat_map(|link| (12..16).map(|n| with_channel(link, n))).collect();
    for size in [(80, 24), (120, 40), (160, 48)] {
        let mut model = model(size);
        update(&mut model, Message::Snapshot(Arc::new(snapshot.clone())));
        let picture = picture(&model);
        let map = picture.lines().skip(2).take_while(|line| !line.contains("since last"));
        let map: Vec<_> = map.collect();
        // Four links to the next chip and below, of the mesh that wraps in both directions.
        let wires = map.iter().flat_map(|line| line.split(' ')).filter(|it| it.contains('═'));
        let signs = map.iter().flat_map(|line| line.split('+').skip(1));
        assert_eq!((wires.count() >= 4 * 4, signs.count()), (true, 0), "{size:?}:\n{picture}");
        let arrows = ["◀7", "▶0", "▲24", "▼0"].iter().all(|it| map.concat().contains(it));
        assert!(arrows || picture.contains("links not drawn: see the list"), "{picture}");
        assert!(arrows || size.0 < 120, "{picture}");
    }
}

/// The letters of the colours of a frame: one for the upper and one for the lower half of a cell.
fn colours(model: &Model) -> String {
    use ratatui::style::Color;
    let mut terminal = Terminal::new(TestBackend::new(model.size.0, model.size.1)).unwrap();
    terminal.draw(|frame| view(model, frame)).unwrap();
    let letter = |color: Color| match color {
        Color::Red => 'R',
        Color::LightRed => 'r',
        Color::Green => 'g',
        Color::Indexed(238) => '.',
        Color::Reset => ' ',
        Color::White => 'w',
        Color::Yellow => 'Y',
        _ => 'c',
    };
    let halves = |cell: &ratatui::buffer::Cell| match cell.symbol() {
        "█" => [letter(cell.fg), letter(cell.fg)],
        "▀" => [letter(cell.fg), letter(cell.bg)],
        "▄" => [letter(cell.bg), letter(cell.fg)],
        _ => [' ', ' '],
    };
    let buffer = terminal.backend().buffer().clone();
    let rows = buffer.content.chunks(usize::from(model.size.0));
    let both = rows.flat_map(|row| {
        let half = |at: usize| row.iter().map(|cell| halves(cell)[at]).collect::<String>();
        [half(0), half(1)]
    });
    both.map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Tiles of chip 0 that were launched, all of which stand but one; two belong to a finding.
fn standing(size: (u16, u16)) -> Model {
    use diagnosis::{Progress, Since};
    use layouts::{CoreId, CoreKind};
    let mut snapshot = (*snapshot(1)).clone();
    let core = |x, y| CoreId { chip: ChipId(0), tile: NocXy { x, y }, core: CoreKind::Brisc };
    let mut verdict = crate::why::verdict(4);
    let host = || Progress::Waiting(decode::state::Party::Host, decode::state::WaitReason::Done);
    let ages = [(1, 1, 100), (2, 1, 5_000), (3, 1, 500), (4, 1, 50), (6, 1, 20_000)];
    verdict.cycles = 30_000_000_000;
    verdict.findings.truncate(1);
    verdict.findings[0].place = diagnosis::Place::Core(core(1, 1));
    verdict.findings[0].party = Some(decode::state::Party::Core(core(2, 1)));
    for (x, y, ms) in ages {
        let since = Since { cycles: verdict.cycles - ms * 1_000_000, seen: true };
        verdict.moved.insert(core(x, y), since);
        verdict.progress.insert(core(x, y), host());
    }
    verdict.progress.insert(core(7, 1), Progress::Progressing);
    snapshot.verdict = Some(Arc::new(verdict));
    let mut model = model(size);
    update(&mut model, Message::Snapshot(Arc::new(snapshot)));
    model
}

#[test]
fn the_map_shows_where_it_stands_and_where_it_began() {
    let model = standing((120, 40));
    let colours = colours(&model);
    // Chip 0 in half blocks: the second row of tiles, from the second column on.
    let row = colours.lines().find(|line| line.contains('R')).unwrap();
    assert!(
        row.trim_start().starts_with("rrRR"),
        "the first member that stopped is darkest: {row}"
    );
    assert!(picture(&model).contains("█ 1 held first"), "{}", picture(&model));
}

#[test]
fn without_colour_tiles_are_letters_and_c_changes_what_they_mean() {
    let mut model = standing((120, 40));
    model.theme = Theme::new(false);
    for (key, words) in [
        ("", "F 1 held first  "),
        ("", "d 1 longer  b 1 <1s  a 1 <100ms"),
        ("c", "state (c)  h "),
        ("c", "waypoint waits for (c)"),
        ("c", "kernel (c)"),
        ("c", "operation (c)  . "),
        ("c", "packets/s of links (c)"),
        ("c", "bytes/s over the NoC (c)"),
        ("c", "age since last progress (c)"),
    ] {
        press(&mut model, key);
        assert!(picture(&model).contains(words), "{words}:\n{}", picture(&model));
    }
}

#[test]
fn the_counts_of_the_noc_are_read_while_the_map_shows_them() {
    let mut model = running((120, 40));
    model.theme = Theme::new(false);
    let requested = |keys: &str, model: &mut Model| {
        let commands = press(model, keys).into_iter();
        let read =
            |command| if let Command::Read(read_set) = command { Some(read_set) } else { None };
        commands.rev().find_map(read).map_or_else(Vec::new, |read_set| read_set.spans)
    };
    let spans = requested("cccccc", &mut model);
    assert!(picture(&model).contains("? "), "nothing was read yet: {}", picture(&model));
    // Of the tiles of one chip, a tenth of a second apart: one has moved 320 bytes, all others none.
    for (n, first) in [(2, 0_u32), (3, 10)] {
        let mut snapshot = (*snapshot(n)).clone();
        snapshot.memory.pieces = (0..spans.len())
            .map(|at| Piece {
                addr: spans[at].addr,
                target_cycles: n * 100_000_000,
                host_micros: 0,
                bytes: if at == 0 { first } else { 7 }.to_le_bytes().into_iter().collect(),
            })
            .collect();
        snapshot.memory.pieces.sort_by_key(|piece| piece.addr);
        update(&mut model, Message::Snapshot(Arc::new(snapshot)));
    }
    let shown = picture(&model);
    assert!(shown.contains("bytes/s over the NoC (c)  c 1 10% and more"), "{shown}");
    assert_eq!(requested("c", &mut model), [], "no other lens needs them");
}

#[test]
fn z_goes_closer_and_back() {
    let mut model = model((120, 40));
    update(&mut model, Message::Snapshot(common::torus(8, 4)));
    press(&mut model, "<down>z");
    let near = picture(&model);
    assert!(near.contains("chip 8") && !near.contains("chip 11"), "{near}");
    press(&mut model, "z");
    assert_eq!((model.screen, model.chip), (Screen::Chip, ChipId(8)));
    press(&mut model, "Z");
    assert_eq!(picture(&model), near);
    press(&mut model, "Z");
    assert!(picture(&model).contains("31 ▶24"), "{}", picture(&model));
}

#[test]
fn a_router_says_what_its_receivers_hold() {
    let mut model = running((160, 48));
    press(&mut model, "5");
    let picture = picture(&model);
    let row = picture.lines().find(|line| line.contains("router M0D1 WEST")).unwrap();
    assert!(row.contains("0+0+5") && !row.contains("empty"), "{row}");
    assert!(row.contains("receiver 0: 5 of 8, downstream SOUTH; direct"), "{row}");
}

#[test]
fn ascii_is_ascii() {
    for keys in [
        "",
        "<enter>",
        "<enter><enter>",
        "<enter><enter><tab>",
        "<enter><enter><tab><tab>",
        "?",
        "4",
        "5",
    ] {
        let mut model = running((100, 30));
        model.glyphs = Glyphs { ascii: true };
        press(&mut model, keys);
        let picture = picture(&model);
        assert!(picture.is_ascii(), "after {keys:?}:\n{picture}");
    }
}

#[test]
fn without_colour_no_cell_has_one() {
    use ratatui::style::Color;
    for keys in ["", "<tab>", "<enter>", "<enter><enter>", " ", "?", "4", "5"] {
        let mut model = model((80, 24));
        model.theme = Theme::new(false);
        for n in 0..2 {
            update(&mut model, Message::Snapshot(snapshot(n)));
        }
        press(&mut model, keys);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| view(&model, frame)).unwrap();
        let cells = &terminal.backend().buffer().content;
        assert!(
            cells.iter().all(|c| c.fg == Color::Reset && c.bg == Color::Reset),
            "after {keys:?}"
        );
    }
}

#[test]
fn a_small_terminal_says_so_and_recovers() {
    let mut model = running((80, 24));
    let large = picture(&model);
    update(&mut model, Message::Resize(20, 5));
    let small = picture(&model);
    assert!(small.starts_with("too small: 20x5"), "{small}");
    assert!(small.contains("40x10"), "nothing is cut off: {small}");
    update(&mut model, Message::Resize(80, 24));
    assert_eq!(picture(&model), large);
}

#[test]
fn no_size_and_no_screen_panics() {
    for keys in [
        "",
        "<tab>",
        "<enter>",
        "<enter><enter>",
        "<enter><enter><tab>",
        "<enter><enter><tab><tab>",
        "?",
        "4",
        "/x",
    ] {
        for size in [(1, 1), (20, 5), (40, 10), (41, 11), (60, 15), (119, 35), (120, 36), (300, 90)]
        {
            let mut model = running((80, 24));
            press(&mut model, keys);
            update(&mut model, Message::Resize(size.0, size.1));
            press(&mut model, "jjll<pgdn>G");
            picture(&model);
        }
    }
}

#[test]
fn before_the_first_snapshot_it_reports_what_it_waits_for() {
    let mut model = model((80, 24));
    press(&mut model, "<enter>jk234?<esc><esc>1");
    assert!(picture(&model).contains("opening emulator:n300: 0.0s"));
}

#[test]
fn space_freezes_the_display_and_snapshots_continue() {
    let mut model = running((80, 24));
    press(&mut model, " ");
    let frozen = picture(&model);
    assert!(frozen.contains("FROZEN 0.1s"), "{frozen}");
    assert!(update(&mut model, Message::Snapshot(snapshot(2))).is_empty());
    update(&mut model, Message::Tick(TAKEN + 2_100_000));
    let later = picture(&model);
    assert!(later.contains("FROZEN 2.0s") && later.contains("t 2050.00 us"), "{later}");
    press(&mut model, " ");
    let live = picture(&model);
    assert!(!live.contains("FROZEN") && live.contains("t 2100.00 us"), "{live}");
}

#[test]
fn a_tick_draws_an_age_that_grows() {
    let mut model = running((80, 24));
    let taken = TAKEN + 100_000;
    let tick = |model: &mut Model, micros| update(model, Message::Tick(taken + micros));
    assert_eq!(tick(&mut model, 600_000), [], "younger than a second");
    assert_eq!(tick(&mut model, 1_400_000), [Command::Draw]);
    assert_eq!(tick(&mut model, 1_410_000), [], "the same age");
    // A moment of a recording does not grow older.
    let timeline = Some(Timeline::default());
    let moment = MeshSnapshot { timeline, number: 3, ..(*snapshot(1)).clone() };
    update(&mut model, Message::Snapshot(Arc::new(moment)));
    assert_eq!(tick(&mut model, 9_000_000), []);
    assert!(picture(&model).contains("age 0.0s"));
}

#[test]
fn the_memory_of_the_past_is_shown_where_there_is_room() {
    let past = KeptPast {
        first_cycles: 0,
        last_cycles: 12_300_000_000,
        bytes: 96 << 20,
        most_bytes: 128 << 20,
    };
    let shown = "past 12.300 s, 96 of 128 MiB";
    for (columns, timeline) in [(160, None), (80, Some(Timeline::default()))] {
        let mut model = model((columns, 24));
        let snapshot = MeshSnapshot { past: Some(past), timeline, ..(*snapshot(0)).clone() };
        update(&mut model, Message::Snapshot(Arc::new(snapshot)));
        assert!(picture(&model).contains(shown), "{}", picture(&model));
    }
}

#[test]
fn an_old_sample_is_stale_and_a_lost_target_is_lost() {
    let mut model = running((80, 24));
    update(&mut model, Message::Tick(TAKEN + 5_000_000));
    assert!(picture(&model).contains("STALE 4.9s"));
    update(&mut model, Message::Lost("its process ended".into()));
    let picture = picture(&model);
    assert!(
        picture.contains("LOST") && picture.contains("the target is gone: its process ended"),
        "{picture}"
    );
}

#[test]
fn a_chip_that_others_hold_says_who() {
    let mut held = (*snapshot(1)).clone();
    let holder = |pid, name: &str| machine::clients::Holder { pid, name: name.into() };
    held.state.chips[0].holders = vec![holder(4711, "python3"), holder(4712, "tt-smi")];
    let mut model = running((80, 24));
    update(&mut model, Message::Snapshot(std::sync::Arc::new(held)));
    let picture = picture(&model);
    assert!(picture.contains("chip 0 open in 4711 python3 +1"), "{picture}");
}

#[test]
fn a_chip_that_is_gone_is_unread_and_not_just_not_looked_at() {
    let mut gone = (*snapshot(1)).clone();
    let why = || AccessError::DeviceGone("reset".into());
    for core in gone.state.chips[0].tiles.iter_mut().flat_map(|tile| &mut tile.cores) {
        core.activity = Reading::Unread(why());
    }
    let mut model = running((80, 24));
    update(&mut model, Message::Snapshot(std::sync::Arc::new(gone)));
    let picture = picture(&model);
    assert!(picture.contains("E † "), "{picture}");
}

#[test]
fn enter_goes_in_and_esc_comes_back() {
    let mut model = running((80, 24));
    press(&mut model, "<enter>");
    assert_eq!(model.screen, Screen::Chip);
    let commands = press(&mut model, "<enter>");
    assert_eq!(model.screen, Screen::Core);
    let asks =
        |c: &Command| matches!(c, Command::Read(i) if i.tile.is_some() && i.spans.len() == 1);
    assert!(commands.iter().any(asks), "{commands:?}");
    let commands = press(&mut model, "<esc>");
    let chip =
        |c: &Command| matches!(c, Command::Read(i) if i.spans.is_empty() && i.compute.len() == 1);
    assert!(commands.iter().any(chip), "{commands:?}");
    press(&mut model, "<esc><esc><esc>");
    assert_eq!(model.screen, Screen::Mesh, "Esc never leaves the program");
    assert!(press(&mut model, "q").contains(&Command::Quit));
    assert!(press(&mut model, "<c-c>").contains(&Command::Interrupt));
    assert!(
        press(&mut model, "/typing<c-c>").contains(&Command::Interrupt),
        "also while a line is typed"
    );
}

#[test]
fn a_link_opens_the_core_at_its_first_end() {
    let mut model = running((80, 24));
    press(&mut model, "<tab>j<enter>");
    let picture = picture(&model);
    assert_eq!(model.screen, Screen::Core);
    assert!(
        picture.contains("3 Core 0:1-6:erisc") && picture.contains("up 0:e9 to 1:e1"),
        "{picture}"
    );
}

#[test]
fn the_filter_of_links_counts_and_clears() {
    let mut model = running((80, 24));
    press(&mut model, "/e9<enter>");
    let filtered = picture(&model);
    assert!(filtered.contains("links: 1 of 2 match 'e9'"), "{filtered}");
    press(&mut model, "<esc>");
    assert!(picture(&model).contains("links: 2"));
}

#[test]
fn the_filter_of_links_searches_the_whole_row() {
    let mut model = running((160, 48));
    for (typed, count) in [("sidl", 2), ("1K", 1), ("121/", 2), ("up", 2), ("nothing", 0)] {
        press(&mut model, &format!("/{typed}<enter>"));
        let filtered = picture(&model);
        let wanted = format!("links: {count} of 2 match '{typed}'");
        assert!(filtered.contains(&wanted), "{filtered}");
        press(&mut model, "<esc>");
    }
}

#[test]
fn the_chip_screen_finds_waypoints() {
    let mut model = running((80, 24));
    press(&mut model, "<enter>/sidl<enter>");
    let found = picture(&model);
    assert!(
        found.contains("1 tile matches 'sidl'") && found.contains("tile 9-6: eth e8"),
        "{found}"
    );
    press(&mut model, "/nothing<enter>");
    assert!(picture(&model).contains("0 tiles match"));
}

#[test]
fn paths_are_distinguished_by_their_ends() {
    let mut model = running((80, 24));
    let mut long = (*snapshot(2)).clone();
    let tiles = long.state.chips.iter_mut().flat_map(|chip| &mut chip.tiles);
    for word in tiles.flat_map(|tile| &mut tile.cores).flat_map(|core| &mut core.words) {
        word.name = format!("mailboxes.launch[1].kernel_config.{}", word.name).into();
    }
    update(&mut model, Message::Snapshot(Arc::new(long)));
    press(&mut model, ":0:e8<enter>/erisc_info<enter>");
    let shown = picture(&model);
    let paths = shown.lines().filter_map(|line| Some(line.split_once('…')?.1.split_once(' ')?.0));
    let rows: Vec<_> = paths.collect();
    let mut once = rows.clone();
    once.sort_unstable();
    once.dedup();
    assert!(rows.len() > 3 && once.len() == rows.len(), "{shown}");
}

#[test]
fn unknown_activity_is_marked() {
    let mut model = running((80, 24));
    let mut lost = (*snapshot(2)).clone();
    let tiles = lost.state.chips.iter_mut().flat_map(|chip| &mut chip.tiles);
    tiles.flat_map(|tile| &mut tile.cores).for_each(|core| core.location.clear());
    update(&mut model, Message::Snapshot(Arc::new(lost)));
    press(&mut model, ":0:e8<enter>");
    let shown = picture(&model);
    assert!(shown.contains("within     ¿") && shown.contains("source     ¿"), "{shown}");
}

/// After a run the application has ended, and its `erisc_info` may still be unfolded.
#[test]
fn the_reason_for_no_channels_is_shown() {
    let mut model = running((120, 40));
    for (activity, says) in [
        (Activity::BaseFirmware, "no channels: base firmware runs, no application"),
        (Activity::InReset, "no channels: the core is in reset"),
        (Activity::Waiting, "no channels: their words were not read"),
    ] {
        let mut ended = (*snapshot(2)).clone();
        let tiles = ended.state.chips.iter_mut().flat_map(|chip| &mut chip.tiles);
        for core in tiles.flat_map(|tile| &mut tile.cores) {
            core.channels.clear();
            core.activity = Reading::Known(activity);
        }
        update(&mut model, Message::Snapshot(Arc::new(ended)));
        press(&mut model, ":0:e8<enter>");
        let shown = picture(&model);
        assert!(shown.contains(says) && shown.contains("erisc_info"), "{shown}");
    }
}

#[test]
fn colon_finds_words_of_the_core() {
    let mut model = running((80, 24));
    press(&mut model, ":0:e8<enter>:channels[0].receiver_ack<enter>");
    let shown = picture(&model);
    assert!(shown.contains("erisc_info.channels[0].receiver_ack"), "{shown}");
}

#[test]
fn colon_goes_anywhere_and_says_why_not() {
    let mut model = running((80, 24));
    press(&mut model, ":0:9-6:0x3dc30<enter>");
    let memory = picture(&model);
    assert!(
        memory.contains("03dc30") && memory.contains("bytes_sent=0 receiver_ack=0 src_id=3"),
        "{memory}"
    );
    assert!(memory.contains("0x3dc30: erisc_info.channels[0].bytes_sent"), "{memory}");
    for (words, answer) in [
        (":7<enter>", "there is no chip 7"),
        (":0:12-3<enter>", "outside the chip"),
        (":0:9-6:0x50000<enter>", "outside the eth tile's memory"),
        (":what<enter>", "'what' is neither a place nor a word of this core"),
        (":0:0-0<enter>", "tile 0-0 (dram) has no core"),
    ] {
        press(&mut model, words);
        let picture = picture(&model);
        assert!(picture.contains(answer), "{words}: {picture}");
    }
    for (words, answer) in
        [(":core 1:e1<enter>", "3 Core 1:1-0:erisc"), (":chip 0<enter>", "chip 0")]
    {
        press(&mut model, words);
        let picture = picture(&model);
        assert!(picture.contains(answer), "{words}: {picture}");
    }
}

#[test]
fn bytes_that_were_not_read_are_not_zeros() {
    let mut model = running((80, 24));
    press(&mut model, ":0:9-6:0x3dc80<enter>");
    let picture = picture(&model);
    let row = picture.lines().find(|l| l.starts_with("03dc80")).unwrap();
    assert!(row.contains("✗✗") && row.contains("timed out") && !row.contains("00 00"), "{row}");
}

#[test]
fn the_line_of_the_waypoint_is_shown_where_its_file_is_found() {
    let mut model = running((80, 24));
    let commands = press(&mut model, ":0:e8<enter>");
    let file = "firmware/src/erisc/flow.h";
    assert!(commands.contains(&Command::ReadSource(file.into())), "{commands:?}");
    assert!(picture(&model).contains("firmware/src/erisc/flow.h:58 in eth_wait"));
    let text = "\n".repeat(57) + "    WAYPOINT(\"SACK\");\n";
    update(&mut model, Message::Source(file.into(), Some(text.into())));
    let shown = picture(&model);
    assert!(
        shown.contains("flow.h:58 in eth_wait_receiver_acknowledge   WAYPOINT(\"SACK\");"),
        "{shown}"
    );
    let again = press(&mut model, "j");
    assert!(!again.iter().any(|c| matches!(c, Command::ReadSource(_))), "requested once");
}

/// Anybody may have made a recording: its ELFs do not choose a file of this host.
#[test]
fn an_elf_of_a_recording_names_no_source_file() {
    let mut model = running((80, 24));
    let mut recorded = (*snapshot(2)).clone();
    let tiles = recorded.state.chips.iter_mut().flat_map(|chip| &mut chip.tiles);
    let cores = tiles.flat_map(|tile| &mut tile.cores);
    cores.flat_map(|core| &mut core.images).for_each(|image| image.attached = true);
    update(&mut model, Message::Snapshot(Arc::new(recorded)));
    let commands = press(&mut model, ":0:e8<enter>");
    assert!(!commands.iter().any(|it| matches!(it, Command::ReadSource(_))), "{commands:?}");
    assert!(picture(&model).contains("firmware/src/erisc/flow.h:58 in eth_wait"));
}

#[test]
fn gg_and_shift_g_reach_the_ends() {
    let mut model = running((80, 24));
    press(&mut model, ":0:e8<enter>G");
    let last = model.word;
    assert!(last > 20);
    press(&mut model, "g");
    assert_eq!(model.word, last, "one g goes nowhere");
    press(&mut model, "g");
    assert_eq!(model.word, 0);
}

#[test]
fn panes_and_cores_turn_in_both_directions() {
    let mut model = running((80, 24));
    press(&mut model, ":0:e8<enter><tab>");
    assert!(picture(&model).contains("channels and images"));
    press(&mut model, "<s-tab>");
    assert!(picture(&model).contains("words:"));
    press(&mut model, ":0:1-1<enter>.");
    assert!(picture(&model).contains("Core 0:1-1:ncrisc"));
    press(&mut model, ",,");
    assert!(picture(&model).contains("Core 0:1-1:trisc2"));
}

#[test]
fn what_hung_is_in_quarantine_until_a_key_retries_it() {
    let mut model = running((80, 24));
    assert_eq!(press(&mut model, "r"), [Command::Draw]);
    assert!(picture(&model).contains("nothing is in quarantine"));
    let mut sick = (*snapshot(2)).clone();
    let reason = AccessError::Unreachable("tile 1-2 hangs".into());
    sick.quarantined = vec![Quarantined {
        chip: ChipId(0),
        tile: Some(NocXy { x: 1, y: 2 }),
        towards: None,
        reason,
    }];
    sick.traffic.per_second = 23_456;
    update(&mut model, Message::Snapshot(Arc::new(sick)));
    press(&mut model, "4");
    golden("quarantined_80x24", &model);
    assert_eq!(press(&mut model, "r"), [Command::ClearQuarantine, Command::Draw]);
    assert!(picture(&model).contains("retrying 1 in quarantine"));
}

#[test]
fn a_list_that_has_the_screen_filters_and_opens_what_its_row_is_about() {
    let mut model = running((120, 40));
    press(&mut model, "8/use=router chip=1<enter>");
    let found = picture(&model);
    assert!(found.contains("1 row matches") && found.contains("workers 8 x"), "{found}");
    press(&mut model, "<enter>");
    assert_eq!((model.screen, model.chip), (Screen::Core, ChipId(1)));
    press(&mut model, "<esc>7/id=7<enter>");
    assert!(picture(&model).contains("cores of 7: "), "{}", picture(&model));
    assert!(!model.read_set().spans.iter().any(|span| span.len == 4));
    press(&mut model, ":queues<enter>");
    assert!(
        model.read_set().spans.iter().any(|span| span.len == 4),
        "registers of transmit queues"
    );
}

#[test]
fn the_log_shows_what_was_done_the_newest_first() {
    let mut model = running((80, 24));
    let line =
        |kind, text: &str| Logged { host_micros: TAKEN - 2_000_000, kind, text: text.into() };
    let log = vec![line("command", "pause"), line("finding", "link-down: it is down")];
    let board = Arc::new(Board { log, ..Board::default() });
    update(
        &mut model,
        Message::Snapshot(Arc::new(MeshSnapshot { board, ..(*snapshot(3)).clone() })),
    );
    press(&mut model, "L");
    let shown = picture(&model);
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}:\n{shown}"));
    assert!(at("link-down: it is down") < at("pause") && shown.contains("s ago"), "{shown}");
    press(&mut model, "!");
    assert!(!picture(&model).contains(" pause"), "{}", picture(&model));
}

#[test]
fn tiles_that_were_seen_long_ago_fade_and_are_read_next() {
    let mut model = model((120, 40));
    let mut seen = (*snapshot(1)).clone();
    let times = [(ChipId(0), seen.taken_micros), (ChipId(1), seen.taken_micros - 40_000_000)];
    seen.seen_micros = Arc::new(times.into());
    update(&mut model, Message::Snapshot(Arc::new(seen)));
    let shown = picture(&model);
    assert!(shown.contains("chip 1 ") && shown.contains("40.0s ago"), "{shown}");
    assert_eq!(model.read_set().compute, [ChipId(1)]);
    // Without a new snapshot, too.
    update(&mut model, Message::Tick(TAKEN + 11_000_000));
    let later = picture(&model);
    assert!(later.contains("chip 0 ") && later.contains("50.9s ago"), "{later}");
    assert!(later.contains("10.9s ago"), "{later}");
    press(&mut model, "6");
    assert!(model.read_set().compute.is_empty(), "the map is not shown");
}

#[test]
fn without_a_row_for_the_time_line_the_footer_ends_with_it() {
    let mut model = model((80, 24));
    update(&mut model, Message::Snapshot(snapshot(0)));
    let foot = |model: &Model| picture(model).lines().last().unwrap().trim_end().to_owned();
    assert!(foot(&model).ends_with("^P all"), "no rate yet: {}", foot(&model));
    let found = Logged { host_micros: TAKEN, kind: "finding", text: "link-down".into() };
    let board = Arc::new(Board { log: vec![found], ..Board::default() });
    let snapshot = MeshSnapshot { board, ..(*snapshot(3)).clone() };
    update(&mut model, Message::Snapshot(Arc::new(snapshot)));
    let foot = foot(&model);
    assert!(foot.ends_with('!') && foot.chars().count() == 80, "{foot}");
    assert!(foot.contains("? help") && foot.contains(": command"), "{foot}");
}
