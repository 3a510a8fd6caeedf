//! The `:` line and the runs on the mesh screen: keys and made-up progress in, frames and commands
//! out.
//!
//! `BLESS=1 cargo test -p tui --test line` rewrites the golden files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;
use crate::keys;

use collectives::{Op, Request, Stage, compile};
use common::{TAKEN, snapshot};
use console::feed::MeshSnapshot;
use console::halted::{CoreCommand, HeldCore, Pause};
use console::run::{Board, Going, MachineOrder, Measured, Scheduled, Sheet, SheetState};
use images::SourceLine;
use images::code::Instruction;
use keys::{SIZES, golden, model, picture, press};
use launch::debugging::{Watched, Watchpoint};
use layouts::{ChipId, CoreId};
use machine::target::Mesh;
use std::sync::Arc;
use tui::message::{Command, Message};
use tui::model::{Model, Screen};
use tui::update;

fn with(board: Board, n: u64) -> Message {
    Message::Snapshot(Arc::new(MeshSnapshot {
        board: Arc::new(board),
        read_only: false,
        ..(*snapshot(n)).clone()
    }))
}

fn running(size: (u16, u16)) -> Model {
    let mut model = model(size);
    update(&mut model, with(Board::default(), 0));
    update(&mut model, Message::Tick(TAKEN + 200_000));
    model
}

fn row(size_bytes: u64, time_cycles: u64, wrong: Option<u64>) -> Measured {
    Measured {
        op: "all-gather",
        size_bytes,
        count: size_bytes / 8,
        data_type: "int32",
        redop: "none",
        root: None,
        time_cycles,
        bus_factor: 0.5,
        link_gbps: 12.5,
        wrong,
        start_skew_cycles: 35_210,
        last: ChipId(1),
        chips: Vec::new(),
        places: Vec::new(),
    }
}

fn sheet(rows: Vec<Measured>, state: SheetState) -> Sheet {
    Sheet { title: "all-gather ring 0,1 4K to 1M int32".into(), rows, state }
}

fn going() -> SheetState {
    SheetState::Going(Some(Going {
        size_bytes: 1 << 20,
        number: 3,
        sizes: 3,
        stage: Stage::Transfer,
        done: 393_216,
        of: 1 << 20,
        launches: (1, 1),
        moved: Some((393_216, 40_000)),
    }))
}

fn board(sheets: Vec<Sheet>) -> Board {
    Board { sheets, ..Board::default() }
}

#[test]
fn pasted_lines_are_words_of_one_line_and_cost_no_time() {
    let mut model = running((80, 24));
    press(&mut model, ":x<left>");
    let start = std::time::Instant::now();
    update(&mut model, Message::Paste("run all-gather\r\n-b 4K\n".into()));
    assert!(picture(&model).contains(":run all-gather -b 4Kx"), "{}", picture(&model));
    press(&mut model, "<esc>:");
    update(&mut model, Message::Paste("word ".repeat(1 << 20)));
    press(&mut model, &"y".repeat(10_000));
    picture(&model);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn a_run_is_shown_live_and_its_results_stay_until_hidden() {
    let rows = || vec![row(4096, 2_345, Some(0)), row(65_536, 7_001, Some(0))];
    for size in SIZES {
        let mut model = running(size);
        update(&mut model, with(board(vec![sheet(rows(), going())]), 1));
        golden(&format!("running_{}x{}", size.0, size.1), &model);
        assert!(picture(&model).contains(" RUN"), "the header says so on every screen");
        press(&mut model, "<esc>");
        assert!(picture(&model).contains("384K of 1024K"), "what runs is not put away");
        let mut all = rows();
        all.push(row(1 << 20, 94_208, Some(3)));
        update(&mut model, with(board(vec![sheet(all, SheetState::Done)]), 2));
        golden(&format!("results_{}x{}", size.0, size.1), &model);
        press(&mut model, "<esc>");
        assert!(!picture(&model).contains("run: all-gather"));
        press(&mut model, ":results<enter>");
        assert!(picture(&model).contains("3 elements are WRONG"));
        press(&mut model, ":results<enter>");
        assert!(!picture(&model).contains("WRONG"));
    }
}

#[test]
fn each_run_of_a_session_has_its_own_heading() {
    let mut model = running((160, 48));
    let titled = |title: &str, rows, state| Sheet { title: title.into(), rows, state };
    let sheets = vec![
        titled("first ring 0,1", vec![row(4096, 2_345, Some(0))], SheetState::Done),
        titled("second ring 0,1", Vec::new(), SheetState::Failed("no way".into())),
        titled("third line 1,0", vec![row(8192, 3_000, Some(0))], SheetState::Done),
    ];
    update(&mut model, with(board(sheets), 1));
    let picture = picture(&model);
    let line = |word: &str| {
        let lines = picture.lines().enumerate().filter(|(_, line)| line.contains(word));
        lines.last().unwrap_or_else(|| panic!("{word}:\n{picture}")).0
    };
    let want = ["first ring", " 4096 ", "second ring", "failed: no way", "third line", " 8192 "];
    assert!(want.map(line).is_sorted(), "{picture}");
}

#[test]
fn the_line_orders_with_the_grammar_of_the_verb() {
    let mut model = running((80, 24));
    press(&mut model, "4");
    let line = ":run all-gather --chips 0-1 --topology ring -b 4K -e 1M -f 2 --check<enter>";
    let orders = press(&mut model, line);
    let run = |command: &Command| matches!(command, Command::Order(MachineOrder::Run(_)));
    assert_eq!(orders.iter().filter(|command| run(command)).count(), 1);
    assert_eq!(model.screen, Screen::Mesh, "where it is shown");
    assert!(picture(&model).contains("surveys the tiles"), "before the probe thread answers");
    update(&mut model, with(board(vec![sheet(Vec::new(), SheetState::Going(None))]), 1));
    assert!(!picture(&model).contains("surveys the tiles"));
    assert!(press(&mut model, ":stop<enter>").contains(&Command::Order(MachineOrder::Stop)));
    let line = ":launch k.elf --on 0:1-2 --args 1,0x20 --for 2ms<enter>";
    let launch = |command: &Command| matches!(command, Command::Order(MachineOrder::Launch(_)));
    assert_eq!(press(&mut model, line).iter().filter(|command| launch(command)).count(), 1);
    let trace = |command: &Command| matches!(command, Command::Order(MachineOrder::Replay(_)));
    assert!(press(&mut model, ":run --from a.ndjson --planes 1<enter>").iter().any(trace));
    let fault = MachineOrder::Fault("link:0.8:down".parse().unwrap());
    assert!(press(&mut model, ":fault link:0.8:down<enter>").contains(&Command::Order(fault)));
    let pace = MachineOrder::Pace(workloads::scene::Pace::CyclesPerSecond(100_000));
    assert!(press(&mut model, ":pace 100k<enter>").contains(&Command::Order(pace)));
    press(&mut model, ":help<enter>");
    assert!(picture(&model).contains("help: j k scroll"));
    assert!(press(&mut model, ":q<enter>").contains(&Command::Quit));
}

#[test]
fn errors_are_shown_in_place_and_order_nothing() {
    for (line, word) in [
        (":run<enter>", "<OP>"),
        (":run all-gathr<enter>", "all-gather"),
        (":run all-gather -b 4x<enter>", "'4x'"),
        (":run all-gather -b 8 -e 4<enter>", "less than"),
        (":run all-gather --chips 3-0<enter>", "backwards"),
        (":run all-gather -f 1<enter>", "'1'"),
        (":run all-gather --from a.ndjson<enter>", "--from"),
        (":run --from a.ndjson --planes 99<enter>", "--planes"),
        (":run all-gather --fault link:0.8:melt<enter>", "melt"),
        (":pace slowly<enter>", "slowly"),
        (":fault nothing<enter>", "nothing"),
        (":launch k.elf<enter>", "launch takes --on <PLACE,...>"),
        (":launch k.elf --stop --on 0:1-2<enter>", "--stop"),
        (":dance<enter>", "a command: run, launch"),
        (":77<enter>", "no chip 77"),
    ] {
        let mut model = running((80, 24));
        let commands = press(&mut model, line);
        let ordered = commands.iter().any(|command| matches!(command, Command::Order(_)));
        assert!(!ordered, "{line}");
        let picture = picture(&model);
        assert!(picture.contains(word), "{line}:\n{picture}");
        press(&mut model, ":<up>");
        let typed = line.trim_end_matches("<enter>");
        assert!(picture_foot(&model).starts_with(typed), "the line can be mended");
    }
}

fn picture_foot(model: &Model) -> String {
    picture(model).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn history_goes_back_and_forth_and_keeps_the_draft() {
    let mut model = running((80, 24));
    press(&mut model, ":0:e8<enter>:stop<enter>:0:e8<enter>:dr");
    press(&mut model, "<up>");
    assert_eq!(picture_foot(&model), ":0:e8");
    press(&mut model, "<up><up><up>");
    assert_eq!(picture_foot(&model), ":stop", "a line is in it once");
    press(&mut model, "<down><down><down>");
    assert_eq!(picture_foot(&model), ":dr");
    press(&mut model, "<esc>");
    assert!(model.prompt.is_none());
}

#[test]
fn tab_completes_and_offers() {
    let mut model = running((80, 24));
    press(&mut model, ":ru<tab>");
    assert_eq!(picture_foot(&model), ":run");
    press(&mut model, "all<tab>");
    assert_eq!(picture_foot(&model), ":run all-");
    assert!(picture(&model).contains("all-gather  all-reduce  all-to-all"));
    press(&mut model, "<tab><tab>");
    assert_eq!(picture_foot(&model), ":run all-reduce");
    press(&mut model, "<s-tab> --to<tab>l<tab>");
    assert_eq!(picture_foot(&model), ":run all-gather --topology line");
    press(&mut model, "<esc>");
    assert!(model.prompt.is_none(), "Esc leaves the line");
    press(&mut model, ":<tab>");
    let all = |model: &Model| model.prompt.clone().unwrap().choices.unwrap().all;
    assert!(
        ["bundle", "quit", "0:", "1:"].iter().all(|it| all(&model).contains(&(*it).to_owned()))
    );
    press(&mut model, "<esc><esc>:0:e1<tab>");
    assert!(picture(&model).contains("0:e1   0:e10  0:e11"), "{}", picture(&model));
    press(&mut model, "<esc><esc>:step 1:e15<tab>");
    assert_eq!(picture_foot(&model), ":step 1:e15");
    let commands = press(&mut model, "<esc>:svg go<tab>");
    assert!(commands.contains(&Command::ListFiles("go".to_owned())), "{commands:?}");
    let files = ["gold/".to_owned(), "gone.svg".to_owned()].to_vec();
    update(&mut model, Message::Files("go".to_owned(), files));
    assert!(picture(&model).contains("gold/     gone.svg"), "{}", picture(&model));
    press(&mut model, "<esc><esc>/<tab>");
    assert!(picture(&model).contains("state=") && picture(&model).contains("chip="));
    press(&mut model, "state=<tab>");
    assert!(all(&model).contains(&"state=up".to_owned()), "{:?}", all(&model));
}

#[test]
fn a_sentence_of_the_probe_thread_is_a_notice_once() {
    let mut model = running((80, 24));
    let board =
        || Board { notice: Some((1, "tearing the ring ping down".into())), ..Board::default() };
    update(&mut model, with(board(), 1));
    assert!(picture_foot(&model).contains("tearing the ring ping down"));
    press(&mut model, "j");
    update(&mut model, with(board(), 2));
    assert!(!picture_foot(&model).contains("tearing"));
}

#[test]
fn no_size_is_too_small_for_a_run() {
    for size in [(40, 10), (80, 11), (41, 30), (300, 12)] {
        for state in [going(), SheetState::Done, SheetState::Failed("x".repeat(500))] {
            let mut model = running(size);
            let rows = vec![row(4096, 1, None); 50];
            update(
                &mut model,
                with(board(vec![sheet(rows.clone(), SheetState::Stopped), sheet(rows, state)]), 1),
            );
            press(&mut model, ":run all-gather -");
            press(&mut model, "<tab><tab><tab>");
            picture(&model);
        }
    }
}

fn halted(model: &Model) -> HeldCore {
    let core = CoreId { chip: model.chip, tile: model.tile, core: model.core };
    let line = |number, function: &str| SourceLine {
        function: Some(function.into()),
        file: Some("firmware/device/kernels/ring_ping.cpp".into()),
        line: Some(number),
    };
    let words = [(0xFE07_9AE3, "bnez a5,0xad24", 73), (0x0002_8893, "mv a7,t0", 74)];
    let code = (0xAD30..).step_by(4).zip(words).map(|(addr, (word, text, number))| Instruction {
        addr,
        word,
        text: text.into(),
        lines: vec![line(number, "wait"), line(210, "kernel_main")],
    });
    let pause = Pause {
        why: "breakpoint",
        addr: Some(0xAD34),
        pc: 0xAD34,
        registers: std::array::from_fn(|index| index as u32 * 0x1111),
        image: Some("ring_ping".into()),
        lines: vec![line(74, "wait"), line(210, "kernel_main")],
        code: code.collect(),
        pushes: Some("NOP".into()),
    };
    let stops = [(0xAD34, Watched::Execution), (0x1100, Watched::Stores)];
    let watchpoints = stops.map(|(addr, watched)| Watchpoint { addr, watched }).to_vec();
    HeldCore { core, pause: Some(pause), watchpoints }
}

#[test]
fn a_halted_core_is_shown_with_code_and_registers() {
    for size in SIZES {
        let mut model = running(size);
        assert!(
            press(&mut model, ":halt<enter>").iter().all(|it| !matches!(it, Command::Order(_)))
        );
        assert!(picture(&model).contains("no core is on screen"));
        press(&mut model, "<enter><enter>");
        assert_eq!(model.screen, Screen::Core);
        let commands = press(&mut model, ":break ring_ping.cpp:74<enter>");
        let held = halted(&model);
        let place = "ring_ping.cpp:74".into();
        let order = MachineOrder::Core(held.core, CoreCommand::Break { place });
        assert!(commands.contains(&Command::Order(order)), "{commands:?}");
        let board = |held| Board { held, ..Board::default() };
        update(&mut model, with(board(vec![held.clone()]), 1));
        golden(&format!("halted_{}x{}", size.0, size.1), &model);
        press(&mut model, "<tab>");
        assert!(picture(&model).contains(" HALTED "), "the header says so on every screen");
        assert!(!picture(&model).contains(" registers "), "the other panes are there too");
        press(&mut model, "<s-tab>");
        let running = HeldCore { pause: None, ..held };
        update(&mut model, with(board(vec![running]), 2));
        let picture_now = picture(&model);
        assert!(picture_now.contains("runs to its next breakpoint"), "{picture_now}");
        update(&mut model, with(Board::default(), 3));
        assert!(!picture(&model).contains("halts at"), "{}", picture(&model));
    }
}

#[test]
fn tab_lists_all_commands_and_the_palette_finds_actions() {
    let mut model = running((80, 24));
    press(&mut model, ":<tab>");
    let listed = picture(&model);
    assert!(cli::line::names().iter().all(|name| listed.contains(name)), "{listed}");
    press(&mut model, "<esc><esc><c-p>wrongonly");
    let found = picture(&model);
    assert!(found.contains("▸ !") && found.ends_with(">wrongonly\n"), "{found}");
    press(&mut model, "<enter>");
    assert!(picture(&model).contains("with faults"), "{}", picture(&model));
    // A command that takes words waits for them.
    press(&mut model, "<c-p>:svg<enter>");
    assert!(picture(&model).ends_with(":svg\n"), "{}", picture(&model));
    press(&mut model, "<esc><c-p>zqzq<enter>");
    assert!(picture(&model).contains("q quit"), "nothing is carried out");
}

#[test]
fn rows_are_filtered_as_the_filter_is_typed() {
    let mut model = running((80, 24));
    press(&mut model, "/b=1:e1");
    assert!(picture(&model).contains("links: 1 of 2 match 'b=1:e1'"), "{}", picture(&model));
    press(&mut model, "<esc>");
    assert!(picture(&model).contains("links: 2 "), "{}", picture(&model));
    press(&mut model, "/speed>3<enter>");
    let refused = picture(&model);
    assert!(refused.contains("no field is called speed: state, a, wayp, ab"), "{refused}");
}

#[test]
fn the_schedules_of_the_last_collectives_are_beside_each_other() {
    let mut model = running((80, 24));
    let asked = press(&mut model, ":run all-gather --schedule<enter>");
    let schedule = |it: &Command| matches!(it, Command::Order(MachineOrder::Schedule(_)));
    assert_eq!((asked.iter().filter(|it| schedule(it)).count(), model.screen), (1, Screen::Routes));
    assert!(picture(&model).contains("schedule: none yet"));
    let mesh = Mesh::from_descriptor(&workloads::scene::described("n300", "n300").unwrap());
    let scheduled = |op: Op| {
        let program = compile(&mesh, &Request::new(op, 4096)).unwrap();
        Scheduled::new(op.name().to_owned(), &program, &mesh)
    };
    let schedules = vec![scheduled(Op::AllGather), scheduled(Op::ReduceScatter)];
    update(&mut model, with(Board { schedules, ..Board::default() }, 1));
    let picture = picture(&model);
    let line =
        |words: [&str; 2]| picture.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(line(["all-gather", "reduce-scatter"]) && line(["0 (chip 0)  0", "1:1"]), "{picture}");
}
