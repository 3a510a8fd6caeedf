//! Borrows the terminal and always gives it back: at the end, on an error, on a panic, on a signal.

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use rustix::process::{Signal, getpid, kill_process};
use std::io::{self, Stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// The terminal is ours at the moment; whoever gives it back first clears this.
static BORROWED: AtomicBool = AtomicBool::new(false);

/// The terminal, in raw mode and on its other screen, until this is dropped.
pub struct Session {
    /// What is drawn on.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Session {
    /// Takes the terminal. A panic in any thread gives it back before its report is printed.
    ///
    /// # Errors
    /// What the terminal says; it is as before then.
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

impl Session {
    /// Gives the terminal back, stands still until somebody continues this process, and takes the terminal again.
    ///
    /// # Errors
    /// What the terminal says.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        // This call returns when the process is continued.
        kill_process(getpid(), Signal::STOP)?;
        borrow()?;
        // All is drawn anew: what was there before is forgotten.
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(())
    }
}

fn borrow() -> io::Result<()> {
    enable_raw_mode()?;
    BORROWED.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

impl Drop for Session {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, once. There is nobody left to tell if that fails.
fn restore() {
    if BORROWED.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
