//! Signals that end the program: futures that await them, and a watcher that ends a one-shot verb
//! at once.

use crate::output::say;
use console::exit::{self, Failure};
use console::recording::RecordingFile;
use rustix::process::Signal as Kind;
use signal_hook::flag;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The bit of SIGHUP in the masks of `/proc/self/status` (signal(7), proc(5)).
const HANGUP_BIT: u64 = 1;

/// The other signals that end a process, but for faults of the processor (signal(7)).
const MORTAL: [Kind; 10] = [
    Kind::QUIT,
    Kind::USR1,
    Kind::USR2,
    Kind::ALARM,
    Kind::STKFLT,
    Kind::XCPU,
    Kind::VTALARM,
    Kind::PROF,
    Kind::IO,
    Kind::POWER,
];

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

    /// The same, and others that would end the process at once: paused cores must go on first.
    fn of_verbs() -> io::Result<Self> {
        let mut signals = Self::new()?;
        for kind in MORTAL {
            signals.0.push(signal(SignalKind::from_raw(kind.as_raw()))?);
        }
        Ok(signals)
    }

    /// The same, and that the process aborts: the terminal must be restored first.
    pub fn of_screens() -> io::Result<Self> {
        let mut signals = Self::of_verbs()?;
        ENDS_ABORTED.store(false, Ordering::SeqCst);
        signals.0.push(signal(SignalKind::from_raw(Kind::ABORT.as_raw()))?);
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

/// A runtime for one thread.
///
/// # Errors
/// `Usage` if the process may not open the files that it needs: tokio itself would panic.
pub fn runtime() -> Result<Runtime, Failure> {
    let files = (0..FILES).map(|_| File::open("/dev/null")).collect::<io::Result<Vec<_>>>();
    drop(files.map_err(|error| failed(&error))?);
    Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))
}

/// More than a runtime and its signals open.
const FILES: usize = 8;

fn listener(signals: fn() -> io::Result<Signals>) -> Result<(Runtime, Signals), Failure> {
    let runtime = runtime()?;
    let signals = runtime.block_on(async { signals() });
    signals.map(|signals| (runtime, signals)).map_err(|error| failed(&error))
}

/// The failure of a process that cannot have what it needs of the system.
fn failed(error: &io::Error) -> Failure {
    Failure::Usage(format!("event loop: {error} (ulimit -a lists the limits)"))
}

/// Ends the process with the code of an internal error when it aborts, as for want of memory: the
/// sentence is printed already. The screens restore the terminal instead.
static ENDS_ABORTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));

/// Lets the limits of the process cost it what they must, and no more: a file that reaches the limit
/// of its size fails the write, and the end of the memory ends the program as any other error.
pub(crate) fn bear_limits() {
    // Without a handler it is as before.
    let _ = flag::register(Kind::XFSZ.as_raw(), Arc::default());
    let code = exit::code(&Err(Failure::Internal(String::new())));
    let condition = Arc::clone(&ENDS_ABORTED);
    let _ = flag::register_conditional_shutdown(Kind::ABORT.as_raw(), code.into(), condition);
}

/// The request to suspend, which a terminal in raw mode does not send for Ctrl-Z, and the word that
/// the process was continued.
pub fn job_control() -> io::Result<(Signal, Signal)> {
    let listen = |kind: Kind| signal(SignalKind::from_raw(kind.as_raw()));
    Ok((listen(Kind::TSTP)?, listen(Kind::CONT)?))
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
    let (runtime, mut signals) = listener(Signals::new)?;
    let wait = move || {
        runtime.block_on(signals.any());
        let words = Failure::Interrupted.to_string();
        say(&last().map_or_else(|| words.clone(), |more| format!("{words}: {more}")));
        std::process::exit(exit::code(&Err(Failure::Interrupted)).into());
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop).map_err(|e| failed(&e))
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
        let (runtime, mut signals) = listener(Signals::of_verbs)?;
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
        std::thread::Builder::new().name("signals".into()).spawn(wait).map_err(|e| failed(&e))?;
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
