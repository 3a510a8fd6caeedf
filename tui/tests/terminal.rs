//! The program in a real (pseudo) terminal: keys work, every size is survived, and the terminal always comes back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;
#[path = "common/recording.rs"]
mod recording;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// A program in a terminal.
struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
    modes: String,
    folder: PathBuf,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

impl Terminal {
    /// Starts meshscope on a recording.
    fn meshscope(name: &str, columns: u16, rows: u16) -> Self {
        let folder =
            std::env::temp_dir().join(format!("meshscope-pty-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("n300.mcap");
        recording::write(&file);
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", file.to_str().unwrap()]);
        Self::start(&command, folder, columns, rows)
    }

    fn start(command: &CommandBuilder, folder: PathBuf, columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = command.clone();
        command.env("TERM", "xterm-256color");
        let modes = format!("{:?}", pair.master.get_termios().unwrap());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let mut output = pair.master.try_clone_reader().unwrap();
        let drawn = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                drawn.lock().unwrap().process(&bytes[..n]);
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { master: pair.master, keys, child, screen, modes, folder }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen shows this.
    fn shows(&self, wanted: &str) {
        let start = Instant::now();
        while !self.text().contains(wanted) {
            assert!(start.elapsed() < PATIENCE, "never showed {wanted:?}:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).unwrap();
        self.screen.lock().unwrap().screen_mut().set_size(rows, columns);
    }

    fn ends(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The terminal is as it was: modes, screen, cursor, pasting.
    fn is_given_back(&self) {
        let start = Instant::now();
        loop {
            let guard = self.screen.lock().unwrap();
            let screen = guard.screen();
            let modes = format!("{:?}", self.master.get_termios().unwrap());
            let back =
                !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste();
            if back && modes == self.modes {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{modes}\n{}", screen.contents());
            drop(guard);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Signals the program, through the shell's own `kill`.
    fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn keys_lead_through_the_screens_and_q_leaves() {
    let mut terminal = Terminal::meshscope("keys", 80, 24);
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
fn a_tiny_terminal_says_so_and_a_larger_one_recovers() {
    let mut terminal = Terminal::meshscope("tiny", 20, 5);
    terminal.shows("too small: 20x5");
    terminal.resize(80, 24);
    terminal.shows("links: 2");
    terminal.resize(1, 1);
    terminal.resize(30, 9);
    terminal.shows("too small");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

#[test]
fn ctrl_c_leaves_with_130() {
    let mut terminal = Terminal::meshscope("ctrl-c", 80, 24);
    terminal.shows("links: 2");
    terminal.press("/half a line");
    terminal.press("\x03");
    assert_eq!(terminal.ends().exit_code(), 130);
    terminal.is_given_back();
}

#[test]
fn signals_give_the_terminal_back() {
    for name in ["TERM", "HUP", "INT"] {
        let mut terminal = Terminal::meshscope(name, 80, 24);
        terminal.shows("links: 2");
        terminal.signal(name);
        assert_eq!(terminal.ends().exit_code(), 130, "SIG{name}");
        terminal.is_given_back();
    }
}

#[test]
fn an_error_is_told_on_the_terminal_that_was_before() {
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
fn panics_if_it_is_told_to() {
    if std::env::var_os("MESHSCOPE_TEST_PANIC").is_some() {
        let session = tui::terminal::Session::enter().unwrap();
        assert!(session.terminal.size().unwrap().width == 0, "as it was told");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_reported() {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "panics_if_it_is_told_to", "--nocapture"]);
    command.env("MESHSCOPE_TEST_PANIC", "1");
    command.env("RUST_BACKTRACE", "0");
    let folder = std::env::temp_dir().join(format!("meshscope-pty-{}-panic", std::process::id()));
    let mut terminal = Terminal::start(&command, folder, 80, 24);
    assert_ne!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
    // On the screen that was before, so that it can be read.
    terminal.shows("as it was told");
}
