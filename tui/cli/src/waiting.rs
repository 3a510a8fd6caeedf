//! What a one-shot verb waits for, on standard error: one line that is replaced on a terminal, a
//! line now and then elsewhere.

use crate::output;
use console::machine::Machine;
use console::opening::{detail, name};
use machine::progress::{Listener, Progress};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The line comes after this time on a terminal.
const FIRST_WORD: Duration = Duration::from_secs(2);
/// It is replaced at this interval on a terminal.
const REPLACED: Duration = Duration::from_millis(200);
/// Elsewhere a line comes at this interval.
const REPEATED: Duration = Duration::from_secs(10);

/// Says what is waited for until it is dropped.
pub(crate) struct Waiting {
    progress: Arc<Mutex<Option<Progress>>>,
    /// Dropping it closes the channel.
    over: Option<Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Waiting {
    /// Starts waiting for this target.
    pub(crate) fn on(target: &str) -> Self {
        let progress = Arc::default();
        let (first, pause, show): (_, _, fn(&str)) = if output::can_wait() {
            (FIRST_WORD, REPLACED, output::wait_for)
        } else {
            (REPEATED, REPEATED, output::say)
        };
        let (over, end) = mpsc::channel::<()>();
        let (heard, target) = (Arc::clone(&progress), target.to_owned());
        let thread = std::thread::spawn(move || {
            let (mut next, begun) = (first, Instant::now());
            while end.recv_timeout(next) == Err(RecvTimeoutError::Timeout) {
                show(&sentence(&target, *lock(&heard), begun.elapsed()));
                next = pause;
            }
            output::waited();
        });
        Self { progress, over: Some(over), thread: Some(thread) }
    }

    /// Returns a listener that keeps the line up to date.
    pub(crate) fn listener(&self) -> Listener {
        let progress = Arc::clone(&self.progress);
        Listener::new(move |now| *lock(&progress) = Some(now))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.over = None;
        // The line is gone before anything else is printed.
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

fn lock(progress: &Mutex<Option<Progress>>) -> std::sync::MutexGuard<'_, Option<Progress>> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sentence(target: &str, progress: Option<Progress>, waited: Duration) -> String {
    let waited = waited.as_secs();
    match progress {
        // The target comes last: its words may be longer than the line.
        Some(progress) => {
            format!("{}: {}, after {waited} s ({target})", name(progress), detail(progress))
        }
        None => format!("opening, after {waited} s ({target})"),
    }
}

/// An open target, with a line about what is waited for while it is read.
pub(crate) struct Opened {
    machine: VerbMachine,
    _waiting: Waiting,
}

/// An open target of a verb. At its end it says how many writes could not be logged.
pub(crate) struct VerbMachine(Option<Machine>);

thread_local! {
    /// Whether the target stays open for the next verb, and the one that does.
    static KEPT: RefCell<(bool, Option<Machine>)> = const { RefCell::new((false, None)) };
}

/// Keeps the target open from now on, for a verb that is carried out again and again.
pub(crate) fn keep_open() {
    KEPT.with_borrow_mut(|kept| kept.0 = true);
}

/// Takes the target that stayed open.
pub(crate) fn kept() -> Option<Machine> {
    KEPT.with_borrow_mut(|kept| kept.1.take())
}

impl Opened {
    pub(crate) fn new(machine: Machine, waiting: Waiting) -> Self {
        Self { machine: VerbMachine(Some(machine)), _waiting: waiting }
    }

    /// Ends the line, for verbs that report their own progress.
    pub(crate) fn into_machine(self) -> VerbMachine {
        self.machine
    }
}

impl Drop for VerbMachine {
    fn drop(&mut self) {
        let kept = KEPT.with_borrow_mut(|kept| {
            kept.1 = self.0.take_if(|_| kept.0);
            kept.1.is_some()
        });
        if kept {
            return;
        }
        if let Some(remark) = self.target().audit().and_then(|audit| audit.remark()) {
            output::say(&remark);
        }
    }
}

#[expect(clippy::expect_used, reason = "it is taken out at its end only")]
impl Deref for VerbMachine {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        self.0.as_ref().expect("open until its end")
    }
}

#[expect(clippy::expect_used, reason = "it is taken out at its end only")]
impl DerefMut for VerbMachine {
    fn deref_mut(&mut self) -> &mut Machine {
        self.0.as_mut().expect("open until its end")
    }
}

impl Deref for Opened {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for Opened {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}
