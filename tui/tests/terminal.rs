//! The program in a pseudo terminal: keys work, every size is accepted, and the terminal is always
//! restored.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::pseudo;
use crate::recording;

use portable_pty::CommandBuilder;
use pseudo::Terminal;

/// Starts meshscope on a recording.
fn meshscope(name: &str, columns: u16, rows: u16) -> Terminal {
    let folder = std::env::temp_dir().join(format!("meshscope-pty-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("n300.mcap");
    recording::write(&file);
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", file.to_str().unwrap()]);
    Terminal::start(&command, folder, columns, rows)
}

#[test]
fn keys_lead_through_the_screens_and_q_leaves() {
    let mut terminal = meshscope("keys", 80, 24);
    terminal.shows("links: 2");
    assert!(terminal.screen.lock().unwrap().screen().alternate_screen());
    terminal.press("\r");
    terminal.shows("chip 0 tile 9-6: eth e8");
    terminal.press("\r");
    terminal.shows("0xabcd1234");
    terminal.press("?");
    terminal.shows("help: j k scroll");
    terminal.press("\x1b");
    terminal.shows("words:");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

#[test]
fn a_recording_that_stands_is_drawn_on_input_only() {
    let mut terminal = meshscope("stands", 80, 24);
    terminal.shows("links: 2");
    terminal.is_quiet();
    terminal.press("5");
    terminal.shows("no router, mux or client found so far");
    terminal.is_quiet();
    terminal.press("1");
    terminal.shows("links: 2");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn a_tiny_terminal_says_so_and_a_larger_one_recovers() {
    let mut terminal = meshscope("tiny", 20, 5);
    terminal.shows("too small: 20x5");
    terminal.resize(80, 24);
    terminal.shows("links: 2");
    // The emulated terminal of this test has no room for a wide character in one column.
    terminal.resize(2, 1);
    terminal.resize(30, 9);
    terminal.shows("too small");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

#[test]
fn a_storm_of_sizes_ends_in_a_frame_of_the_last_one() {
    let mut terminal = meshscope("storm", 80, 24);
    terminal.shows("links: 2");
    for step in 0..60 {
        terminal.resize(30 + 7 * (step % 20), 8 + 3 * (step % 17));
    }
    terminal.resize(100, 30);
    terminal.press("?");
    terminal.shows("help: j k scroll");
    terminal.press("?");
    terminal.shows("links: 2");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

#[test]
fn the_mouse_opens_what_it_clicks_and_can_be_let_go() {
    let mut terminal = meshscope("mouse", 80, 24);
    terminal.shows("links: 2");
    let taken = |terminal: &Terminal| {
        let guard = terminal.screen.lock().unwrap();
        guard.screen().mouse_protocol_mode() != vt100::MouseProtocolMode::None
    };
    assert!(taken(&terminal));
    // The tab of the chip, in the second row.
    terminal.press("\x1b[<0;12;2M\x1b[<0;12;2m");
    terminal.shows("chip 0 tile 9-6: eth e8");
    terminal.press("M");
    terminal.shows("M takes it back");
    assert!(!taken(&terminal));
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

#[test]
fn what_is_pasted_is_text_of_one_line_and_no_keys() {
    let mut terminal = meshscope("paste", 80, 24);
    terminal.shows("links: 2");
    terminal.press(":\x1b[200~gaps\nq\x1b[201~");
    terminal.shows(":gaps q");
    terminal.press("\x1b");
    terminal.shows("q quit");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

#[test]
fn without_input_the_mesh_is_printed_once() {
    for (name, script) in [("null", "exec {} < /dev/null"), ("closed", "exec {} <&-")] {
        let mut terminal = shell(name, script);
        terminal.ends();
        assert!(terminal.text().contains("REACHED BY"), "{name}: {}", terminal.text());
        terminal.is_given_back();
    }
}

#[test]
fn ctrl_c_leaves_with_130() {
    let mut terminal = meshscope("ctrl-c", 80, 24);
    terminal.shows("links: 2");
    terminal.press("/half a line");
    terminal.press("\x03");
    assert_eq!(terminal.ends().exit_code(), 130);
    terminal.is_given_back();
}

#[test]
fn signals_give_the_terminal_back() {
    let mortal = ["QUIT", "USR1", "USR2", "ALRM", "ABRT", "XCPU", "VTALRM", "PROF"];
    for name in ["TERM", "HUP", "INT"].into_iter().chain(mortal) {
        let mut terminal = meshscope(name, 80, 24);
        terminal.shows("links: 2");
        terminal.signal(name);
        assert_eq!(terminal.ends().exit_code(), 130, "SIG{name}");
        terminal.is_given_back();
    }
}

#[test]
fn a_suspended_program_gives_the_terminal_back_and_takes_it_again() {
    let mut terminal = meshscope("suspended", 80, 24);
    terminal.shows("links: 2");
    terminal.signal("TSTP");
    terminal.is_given_back();
    terminal.signal("CONT");
    terminal.shows("links: 2");
    terminal.press("\r");
    terminal.shows("chip 0 tile 9-6: eth e8");
    assert!(terminal.screen.lock().unwrap().screen().alternate_screen());
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

/// SIGSTOP gives no warning, and the shell has its own modes when the program goes on.
#[test]
fn a_stopped_program_takes_the_terminal_again() {
    let mut terminal = meshscope("stopped", 80, 24);
    terminal.shows("links: 2");
    terminal.signal("STOP");
    terminal.cook();
    terminal.signal("CONT");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

/// Starts a shell that runs the program on a recording, `{}` in the script.
fn shell(name: &str, script: &str) -> Terminal {
    let folder = std::env::temp_dir().join(format!("meshscope-pty-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("n300.mcap");
    recording::write(&file);
    let run = format!("'{}' --target '{}'", env!("CARGO_BIN_EXE_meshscope"), file.display());
    let mut command = CommandBuilder::new("bash");
    command.args(["-c", &script.replace("{}", &run)]);
    Terminal::start(&command, folder, 80, 24)
}

#[test]
fn ctrl_z_comes_back_to_the_shell() {
    let mut terminal = shell("ctrl-z", "set -m; {}; echo it stopped; read -r; fg; echo it ended");
    terminal.shows("links: 2");
    terminal.press("\x1a");
    terminal.shows("it stopped");
    assert!(!terminal.screen.lock().unwrap().screen().alternate_screen());
    terminal.press("\r");
    terminal.shows("links: 2");
    terminal.press("q");
    terminal.shows("it ended");
    terminal.is_given_back();
}

#[test]
fn a_terminal_gets_only_what_it_has() {
    for (name, setting) in [("vt100", "TERM=vt100"), ("c", "LC_ALL=C")] {
        let mut terminal = shell(name, &format!("{setting} exec {{}}"));
        terminal.shows("links: 2");
        assert!(terminal.text().is_ascii(), "{name}: {}", terminal.text());
        let colored = {
            let guard = terminal.screen.lock().unwrap();
            let cells = (0..24).flat_map(|row| (0..80).map(move |column| (row, column)));
            let mut cells = cells.filter_map(|(row, column)| guard.screen().cell(row, column));
            cells.any(|cell| cell.fgcolor() != vt100::Color::Default)
        };
        assert_eq!(colored, name == "c", "{name}");
        terminal.press("q");
        assert_eq!(terminal.ends().exit_code(), 0);
    }
    let mut terminal = shell("dumb", "TERM=dumb exec {}");
    terminal.ends();
    let text = terminal.text();
    assert!(text.contains("REACHED BY") && text.contains("snapshot"), "mesh and verdict: {text}");
}

#[test]
fn an_error_is_shown_on_the_restored_terminal() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "socket:/nonexistent/meshscope"]);
    let folder = std::env::temp_dir().join(format!("meshscope-pty-{}-error", std::process::id()));
    let mut terminal = Terminal::start(&command, folder, 80, 24);
    assert_eq!(terminal.ends().exit_code(), 3);
    terminal.is_given_back();
    terminal.shows("/nonexistent/meshscope");
}

/// Not a test of its own: the next one starts this binary again to panic inside a session.
#[test]
fn panics_if_requested() {
    if std::env::var_os("MESHSCOPE_TEST_PANIC").is_some() {
        let session = tui::terminal::RawTerminal::enter().unwrap();
        assert!(session.terminal.size().unwrap().width == 0, "as requested");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_reported() {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "terminal::panics_if_requested", "--nocapture"]);
    command.env("MESHSCOPE_TEST_PANIC", "1");
    command.env("RUST_BACKTRACE", "0");
    let folder = std::env::temp_dir().join(format!("meshscope-pty-{}-panic", std::process::id()));
    let mut terminal = Terminal::start(&command, folder, 80, 24);
    assert_ne!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
    // On the original screen, so that it can be read.
    terminal.shows("as requested");
}
