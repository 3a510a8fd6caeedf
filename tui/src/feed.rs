//! The probe thread and what it hands to the screens: one sample at a time, the newest wins.

use crate::exit::Failure;
use crate::run::{Board, Order};
pub use crate::traffic::Traffic;
use crate::traffic::least_time;
use decode::inspect::ReadSet;
use decode::state::MeshState;
use machine::snapshot::{AccessError, Snapshot};
use machine::target::Quarantined;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// The pause between two looks; the target is not to be kept busy by being watched.
const PACE: Duration = Duration::from_millis(100);

/// How long leaving may wait for an access under way.
const END_PATIENCE: Duration = Duration::from_millis(500);

/// And how long where a run has to be torn down.
const BUSY_PATIENCE: Duration = Duration::from_secs(12);

/// One published look at the target.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSnapshot {
    /// The words that opened the target, such as `emulator:n300`.
    pub target: String,
    /// Nothing can be written to the target.
    pub read_only: bool,
    /// What looking costs.
    pub traffic: Traffic,
    /// What hung, and is not touched until a person wants it tried again.
    pub quarantined: Vec<Quarantined>,
    /// What the bytes mean.
    pub state: MeshState,
    /// The bytes that the look read; where some are missing, its gaps say why.
    pub memory: Snapshot,
    /// Host time when the look ended, in microseconds since the Unix epoch.
    pub taken_micros: u64,
    /// Which look this is, counted from 1: what is missing between two was never shown.
    pub number: u64,
    /// The runs of this session.
    pub board: Arc<Board>,
}

/// Something that can be looked at again and again: an open target with its decoder.
pub trait Inspect: Send {
    /// Takes one look at what somebody is interested in; lets time pass first where it has to be let.
    ///
    /// # Errors
    /// Only when the target is gone for good; anything less is a gap.
    fn inspect(&mut self, read_set: &ReadSet) -> Result<MeshSnapshot, AccessError>;

    /// Lets what is latched be tried again.
    fn clear_quarantine(&mut self);

    /// Begins what a person ordered; the samples tell what becomes of it.
    fn order(&mut self, order: Order);

    /// Nobody looks any more: tears down what is under way.
    fn wind_up(&mut self);
}

/// What the probe thread says.
#[derive(Clone, Debug)]
pub(crate) enum Published {
    Snapshot(Arc<MeshSnapshot>),
    /// The target could not be opened.
    Closed(Failure),
    /// The target is gone.
    Lost(String),
    /// The probe thread died of a fault of its own.
    Panicked,
}

/// What the screens want of the probe thread.
enum FeedCommand {
    /// Looks read this from now on.
    Read(ReadSet),
    /// What is latched may be tried again.
    ClearQuarantine,
    /// Something is to be done to the machine.
    Order(Order),
}

/// The screens' end of the probe thread.
pub(crate) struct Feed {
    newest: watch::Receiver<Option<Published>>,
    commands: mpsc::Sender<FeedCommand>,
    thread: JoinHandle<()>,
}

impl Feed {
    /// Starts the probe thread; it opens the target itself, so that the first picture need not wait.
    pub(crate) fn start<O, L>(open: O) -> std::io::Result<Self>
    where
        O: FnOnce() -> Result<L, Failure> + Send + 'static,
        L: Inspect,
    {
        let (publish, newest) = watch::channel(None);
        let (requests, asked) = mpsc::channel();
        let thread = std::thread::Builder::new().name("probe".into()).spawn(move || {
            let last = std::panic::catch_unwind(AssertUnwindSafe(|| match open() {
                Ok(mut looker) => watch_on(&mut looker, &publish, &asked),
                Err(why) => Some(Published::Closed(why)),
            }));
            // The panic itself was reported by the hook.
            if let Some(last) = last.unwrap_or(Some(Published::Panicked)) {
                publish.send_replace(Some(last));
            }
        })?;
        Ok(Self { newest, commands: requests, thread })
    }

    /// Lets the thread finish the access that it is in, so that no queue is left half read, and what it
    /// has to tear down; not for long.
    pub(crate) fn end(self, busy: bool) {
        let Self { newest, commands: requests, thread } = self;
        drop((newest, requests));
        let patience = Instant::now() + if busy { BUSY_PATIENCE } else { END_PATIENCE };
        while !thread.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for something newer than what was seen last.
    pub(crate) async fn next(&mut self) -> Published {
        loop {
            if self.newest.changed().await.is_err() {
                return Published::Lost("the probe thread ended".into());
            }
            if let Some(published) = self.newest.borrow_and_update().clone() {
                return published;
            }
        }
    }

    /// Lets the looks to come read what is on screen.
    pub(crate) fn read(&self, read_set: ReadSet) {
        // If the thread is gone, what it said last is about to be shown.
        let _ = self.commands.send(FeedCommand::Read(read_set));
    }

    /// Lets something be done to the machine.
    pub(crate) fn order(&self, order: Order) {
        let _ = self.commands.send(FeedCommand::Order(order));
    }

    /// Lets what is latched be tried again.
    pub(crate) fn clear_quarantine(&self) {
        let _ = self.commands.send(FeedCommand::ClearQuarantine);
    }
}

/// Looks again and again, until nobody listens or the target is gone.
fn watch_on(
    looker: &mut impl Inspect,
    publish: &watch::Sender<Option<Published>>,
    asked: &mpsc::Receiver<FeedCommand>,
) -> Option<Published> {
    let mut read_set = ReadSet { links: true, ..ReadSet::default() };
    let mut before = None;
    loop {
        let began = Instant::now();
        let snapshot = match looker.inspect(&read_set) {
            Ok(snapshot) => snapshot,
            Err(error) => return Some(Published::Lost(error.to_string())),
        };
        let Traffic { total, budget, .. } = snapshot.traffic;
        // Opening cost something too, but that was no look.
        let cost = before.map_or(snapshot.state.transactions, |before| total - before);
        before = Some(total);
        publish.send_replace(Some(Published::Snapshot(Arc::new(snapshot))));
        if publish.is_closed() {
            looker.wind_up();
            return None;
        }
        // A wish ends the pause early, because whoever asks should not wait for the next turn; what
        // the target may be asked in a second holds all the same.
        let earliest = began + least_time(cost, budget);
        let mut next = earliest.max(began + PACE);
        loop {
            match asked.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(FeedCommand::Read(asked)) => read_set = asked,
                Ok(FeedCommand::ClearQuarantine) => looker.clear_quarantine(),
                Ok(FeedCommand::Order(order)) => looker.order(order),
                Err(mpsc::RecvTimeoutError::Timeout) => break,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    looker.wind_up();
                    return None;
                }
            }
            next = earliest;
        }
    }
}

/// Host time, in microseconds since the Unix epoch.
pub(crate) fn now_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
