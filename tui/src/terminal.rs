//! Takes the terminal and always restores it: at the end, on an error, on a panic, on a signal.

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
use std::io::{self, Stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is taken; restoring clears this.
static BORROWED: AtomicBool = AtomicBool::new(false);
/// Whether the terminal keeps the mouse.
static MOUSE_LET_GO: AtomicBool = AtomicBool::new(false);

/// The terminal, in raw mode and on its alternate screen, until this is dropped.
pub struct RawTerminal {
    /// The terminal to draw on.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl RawTerminal {
    /// Takes the terminal. A panic in any thread restores it before its report is printed.
    ///
    /// # Errors
    /// The terminal's error; the terminal is then as before.
    pub fn enter() -> io::Result<Self> {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
        let entered = borrow().and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match entered {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }
}

impl RawTerminal {
    /// Restores the terminal and stops the job that the shell started: this process and those
    /// around it. The shell may continue it.
    ///
    /// # Errors
    /// The error of the signal.
    pub fn suspend() -> io::Result<()> {
        restore();
        Ok(kill_current_process_group(Signal::STOP)?)
    }

    /// Takes the terminal again after the process was continued: others have used it, and its
    /// modes, meanwhile.
    ///
    /// # Errors
    /// The terminal's error.
    pub fn resume(&mut self) -> io::Result<()> {
        restore();
        borrow()?;
        self.clear()
    }

    /// Clears the screen, whose contents are unknown: the next frame is drawn as a whole.
    ///
    /// # Errors
    /// The terminal's error.
    pub fn clear(&mut self) -> io::Result<()> {
        execute!(io::stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(())
    }
}

/// Takes the mouse from the terminal, or gives it back.
///
/// # Errors
/// The terminal's error.
pub(crate) fn mouse(taken: bool) -> io::Result<()> {
    MOUSE_LET_GO.store(!taken, Ordering::SeqCst);
    if taken {
        execute!(io::stdout(), EnableMouseCapture)
    } else {
        execute!(io::stdout(), DisableMouseCapture)
    }
}

/// Gives a text to the terminal, which puts it on the clipboard if it can (OSC 52).
///
/// # Errors
/// The terminal's error.
pub(crate) fn copy(text: &str) -> io::Result<()> {
    execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))
}

/// Whether somebody can continue this process: a shell, which keeps its jobs out of its own group.
pub(crate) fn can_be_continued() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}

fn borrow() -> io::Result<()> {
    enable_raw_mode()?;
    BORROWED.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if MOUSE_LET_GO.load(Ordering::SeqCst) {
        return Ok(());
    }
    execute!(io::stdout(), EnableMouseCapture)
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once. An error has no place to be reported.
fn restore() {
    if BORROWED.swap(false, Ordering::SeqCst) {
        let _ = execute!(
            io::stdout(),
            DisableMouseCapture,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
    }
}
