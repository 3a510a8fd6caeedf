//! A pseudo terminal in which the live view runs: it types a line and waits for words.

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The size of the terminal, in characters.
const SIZE: Winsize = Winsize { ws_row: 30, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };
/// The most text that is kept to find words in it: several screens.
const MOST_BYTES: usize = 1 << 16;

/// A script for a program in a terminal.
#[derive(Clone)]
pub(super) struct Script {
    /// The word that says that the program takes the line.
    pub(super) ready: &'static str,
    /// The line.
    pub(super) line: String,
    /// The word that says that the line is done.
    pub(super) done: &'static str,
}

/// Starts the program in a terminal of its own. The flag is set when it has said that it is done.
pub(super) fn start(mut command: Command, script: Script) -> io::Result<(Child, Arc<AtomicBool>)> {
    // NOCTTY: the terminal does not become that of this process.
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = ptsname(&master, Vec::new())?;
    let mut options = File::options();
    options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
    let slave = options.open(OsStr::from_bytes(path.as_bytes()))?;
    tcsetwinsize(&slave, SIZE)?;
    command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
    let child = command.env("TERM", "xterm-256color").spawn()?;
    // It holds the slave open, and the end of the program would never be read.
    drop(command);
    let done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&done);
    std::thread::spawn(move || carry_out(&mut File::from(master), &script, &told));
    Ok((child, done))
}

/// Reads what the program draws until it ends: an unread terminal would stop it.
fn carry_out(terminal: &mut File, script: &Script, done: &AtomicBool) {
    let (mut drawn, mut typed, mut bytes) = (Vec::new(), false, [0; 4096]);
    while let Ok(n @ 1..) = terminal.read(&mut bytes) {
        drawn.extend_from_slice(&bytes[..n]);
        let word = if typed { script.done } else { script.ready };
        if drawn.windows(word.len()).any(|window| window == word.as_bytes()) {
            drawn.clear();
            if typed {
                done.store(true, Ordering::Relaxed);
            } else if terminal.write_all(script.line.as_bytes()).is_err() {
                return;
            }
            typed = true;
        }
        let excess = drawn.len().saturating_sub(MOST_BYTES);
        drawn.drain(..excess);
    }
}
