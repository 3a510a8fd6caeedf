//! A program in a pseudo terminal, with a screen that can be read.

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Long, because machines that build and test at once are slow.
const PATIENCE: Duration = Duration::from_mins(5);
/// Time in which what a program printed last is read after its end.
const DRAINED: Duration = Duration::from_secs(30);

/// A program in a terminal.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    pub(crate) screen: Arc<Mutex<vt100::Parser>>,
    /// Brings what the program prints to the screen.
    reader: JoinHandle<()>,
    /// Bytes that it printed.
    printed: Arc<AtomicUsize>,
    modes: String,
    folder: PathBuf,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

impl Terminal {
    pub(crate) fn start(
        command: &CommandBuilder,
        folder: PathBuf,
        columns: u16,
        rows: u16,
    ) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = command.clone();
        command.env("TERM", "xterm-256color");
        if command.get_env("XDG_STATE_HOME").is_none() {
            // What a test finds is not written to the folder of the person who runs it.
            command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
        }
        let modes = format!("{:?}", pair.master.get_termios().unwrap());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let mut output = pair.master.try_clone_reader().unwrap();
        let printed = Arc::<AtomicUsize>::default();
        let (drawn, count) = (Arc::clone(&screen), Arc::clone(&printed));
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                drawn.lock().unwrap().process(&bytes[..n]);
                count.fetch_add(n, Ordering::Relaxed);
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { master: pair.master, keys, child, screen, reader, printed, modes, folder }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen shows this.
    pub(crate) fn shows(&self, wanted: &str) {
        let start = Instant::now();
        while !self.text().contains(wanted) {
            assert!(start.elapsed() < PATIENCE, "never showed {wanted:?}:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it has printed nothing for two seconds.
    pub(crate) fn is_quiet(&self) {
        let start = Instant::now();
        let mut printed = 0;
        while std::mem::replace(&mut printed, self.printed.load(Ordering::Relaxed)) != printed {
            assert!(start.elapsed() < PATIENCE, "it is drawn again and again:\n{}", self.text());
            std::thread::sleep(Duration::from_secs(2));
        }
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).unwrap();
        self.screen.lock().unwrap().screen_mut().set_size(rows, columns);
    }

    pub(crate) fn ends(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            // What it printed last is on the screen when the reader has ended.
            if let Some(status) = self.child.try_wait().unwrap()
                && (self.reader.is_finished() || start.elapsed() > DRAINED)
            {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sets the modes in which a shell reads its own lines.
    pub(crate) fn cook(&self) {
        let modes = ["icrnl", "ixon", "opost", "isig", "icanon", "iexten", "echo"];
        let mut stty = std::process::Command::new("stty");
        stty.arg("-F").arg(self.master.tty_name().unwrap()).args(modes);
        assert!(stty.status().unwrap().success());
    }

    /// Checks that the terminal is restored: modes, screen, cursor, pasting.
    pub(crate) fn is_given_back(&self) {
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
    pub(crate) fn signal(&self, name: &str) {
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
