//! Signals that end the program: futures that await them, and a watcher that ends a one-shot verb
//! at once.

use crate::output::say;
use console::exit::{self, Failure};
use console::recording::RecordingFile;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The bit of SIGHUP in the masks of `/proc/self/status` (signal(7), proc(5)).
const HANGUP_BIT: u64 = 1;

/// The signals with which the user or the system ends the program.
pub struct Signals(Vec<Signal>);

impl Signals {
    /// Listens to them; needs a tokio runtime.
    pub fn new() -> io::Result<Self> {
        // `nohup` ignores SIGHUP so that the program outlives the terminal.
        let hangup = (!hangup_is_ignored()).then(SignalKind::hangup);
        let kinds = hangup.into_iter().chain([SignalKind::interrupt(), SignalKind::terminate()]);
        kinds.map(signal).collect::<io::Result<_>>().map(Self)
    }

    /// The same, and all others that would end the process at once: the terminal must be restored
    /// first, and paused cores must go on.
    pub fn of_screens() -> io::Result<Self> {
        let more = [SignalKind::quit(), SignalKind::user_defined1(), SignalKind::user_defined2()];
        let mut signals = Self::new()?;
        for kind in more.into_iter().chain([SignalKind::alarm()]) {
            signals.0.push(signal(kind)?);
        }
        Ok(signals)
    }

    /// Waits for any of them.
    pub async fn any(&mut self) {
        std::future::poll_fn(|context| {
            let came = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

/// The request to suspend; a terminal in raw mode does not send it for Ctrl-Z.
pub fn suspensions() -> io::Result<Signal> {
    signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))
}

/// Whether the process was started with SIGHUP ignored; false if that is unknown.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & HANGUP_BIT != 0)
}

/// Lets a signal end the process at once, also inside a long computation. `last` cleans up and may
/// append to the one line that is printed. Only for verbs that do not use the terminal's raw mode.
///
/// # Errors
/// If signals cannot be listened to.
pub fn watch(last: impl FnOnce() -> Option<String> + Send + 'static) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Internal(format!("signals: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut signals = runtime.block_on(async { Signals::new() }).map_err(failed)?;
    let wait = move || {
        runtime.block_on(signals.any());
        let words = Failure::Interrupted.to_string();
        say(&last().map_or_else(|| words.clone(), |more| format!("{words}: {more}")));
        std::process::exit(exit::code(&Err(Failure::Interrupted)).into());
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop).map_err(failed)
}

/// Lets a signal finish a recording and end the process.
///
/// # Errors
/// As [`watch`].
pub(crate) fn end_file(file: &RecordingFile) -> Result<(), Failure> {
    let file = file.clone();
    watch(move || file.interrupted())
}

/// The first signal requests an orderly end, the second ends the process at once. Before
/// [`Stop::takes_time`] the first one ends it too: there is nothing to clean up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    requested: Arc<AtomicBool>,
    orderly: Arc<AtomicBool>,
}

impl Stop {
    /// Listens to the signals.
    ///
    /// # Errors
    /// If signals cannot be listened to.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::Internal(format!("signals: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let mut signals = runtime.block_on(async { Signals::of_screens() }).map_err(failed)?;
        let stop = Self::default();
        let own = stop.clone();
        let wait = move || {
            loop {
                runtime.block_on(signals.any());
                let again = own.requested.swap(true, Ordering::SeqCst);
                if again || !own.orderly.load(Ordering::SeqCst) {
                    say(&Failure::Interrupted.to_string());
                    std::process::exit(exit::code(&Err(Failure::Interrupted)).into());
                }
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(wait).map_err(failed)?;
        Ok(stop)
    }

    /// Declares that an orderly end takes time.
    pub(crate) fn takes_time(&self) {
        self.orderly.store(true, Ordering::SeqCst);
    }

    /// Whether an orderly end was requested.
    pub(crate) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }
}
