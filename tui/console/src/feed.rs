//! The probe thread publishes snapshots, one at a time, to the screens; the newest replaces the
//! others.

use crate::exit::Failure;
use crate::host_time::now_micros;
use crate::opening::Stages;
pub use crate::player::Timeline;
use crate::run::{Board, KernelStages, MachineOrder};
use crate::seen::TilesSeen;
pub use crate::traffic::Traffic;
use crate::traffic::least_time;
use decode::inspect::ReadSet;
use decode::state::MeshState;
use diagnosis::{Diagnosis, Look, WaitGraph};
use layouts::ChipId;
use machine::past::KeptPast;
use machine::progress::{Listener, Progress};
use machine::snapshot::{AccessError, Snapshot};
use machine::target::Quarantined;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time from one snapshot to the next, which leaves the bus to the target's own traffic.
pub const PACE: Duration = Duration::from_millis(100);

/// The time limit at exit for an access in flight.
const END_PATIENCE: Duration = Duration::from_millis(500);

/// The same if a run has to be torn down.
const BUSY_PATIENCE: Duration = Duration::from_secs(12);

/// One published snapshot of the target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshSnapshot {
    /// The words that opened the target, such as `emulator:n300`.
    pub target: String,
    /// Whether the target accepts no writes.
    pub read_only: bool,
    /// Bus transactions, and their budget.
    pub traffic: Traffic,
    /// What hung, and is left alone until a retry is requested.
    pub quarantined: Vec<Quarantined>,
    /// The decoded state.
    pub state: MeshState,
    /// The bytes that were read; its gaps hold the reason for missing ones.
    pub memory: Snapshot,
    /// Host time at the end of the snapshot, in microseconds since the Unix epoch.
    pub taken_micros: u64,
    /// Number of the snapshot, from 1; a missing number was never shown. While it is being read,
    /// it is published several times.
    pub number: u64,
    /// The runs of this session.
    pub board: Arc<Board>,
    /// The stages of the parties of protocols, and since when each is in its own.
    pub stages: Arc<KernelStages>,
    /// The newest verdict on the mesh, if there is one yet.
    pub verdict: Option<Arc<Diagnosis>>,
    /// What the verdict's newest snapshot, or a later one of the screens, shows of the tiles.
    pub seen: Arc<TilesSeen>,
    /// When the tiles of each chip were looked at last: host time in microseconds.
    pub seen_micros: Arc<BTreeMap<ChipId, u64>>,
    /// How much of its past the target keeps, if it does.
    pub past: Option<KeptPast>,
    /// The moments of a recording.
    pub timeline: Option<Timeline>,
    /// How far the snapshot has come, while it is still being read.
    pub reading: Option<Progress>,
    /// The wait graph of the fabric's parties, once somebody has asked for it.
    pub waits: OnceLock<WaitGraph>,
}

impl MeshSnapshot {
    /// The wait graph of the fabric's parties.
    pub fn fabric_waits(&self) -> &WaitGraph {
        let look = Look::new(&self.memory, &self.state);
        self.waits.get_or_init(|| WaitGraph::of(&self.state.mesh(), look).of_fabric())
    }

    /// Whether it shows what another one shows, which was taken at another time.
    fn shows_the_same(&self, other: &Self) -> bool {
        let shown = |it: &Self| (it.verdict.clone(), Arc::clone(&it.board), it.timeline.clone());
        shown(self) == shown(other) && self.state == other.state && self.memory == other.memory
    }
}

/// An open target with its decoder, which can be read repeatedly.
pub trait Inspect: Send {
    /// Takes one snapshot of the read set; first advances the target's time, if this process drives
    /// it. If that takes long, publishes what was read so far; what was not read yet is as it was
    /// before.
    ///
    /// # Errors
    /// Only when the target is lost for good; every other error is a gap.
    fn inspect(
        &mut self,
        read_set: &ReadSet,
        before: Option<&MeshSnapshot>,
        publish: &mut dyn FnMut(MeshSnapshot),
    ) -> Result<MeshSnapshot, AccessError>;

    /// Ends the quarantine of what hung, so that it is tried again.
    fn clear_quarantine(&mut self);

    /// Starts a host action; later snapshots report its result.
    fn order(&mut self, order: MachineOrder);

    /// Whether nothing changes until something is ordered: a moment of the past is on screen, and
    /// all that is asked of it was answered.
    fn rests(&mut self) -> bool {
        false
    }

    /// The time from the beginning of the last snapshot to the next one, unless something is
    /// ordered.
    fn pace(&mut self) -> Duration {
        PACE
    }

    /// Lets the target's time pass while no snapshot is due.
    ///
    /// # Errors
    /// As [`Inspect::inspect`].
    fn wait(&mut self) -> Result<(), AccessError> {
        Ok(())
    }

    /// Tears down what is running, at the end of the program.
    fn tear_down(&mut self);
}

/// A message of the probe thread.
#[derive(Clone, Debug)]
pub enum Published {
    /// How far opening has come.
    Opening(Arc<Stages>),
    /// A snapshot, whole or still being read.
    Snapshot(Arc<MeshSnapshot>),
    /// The target could not be opened.
    Closed(Failure),
    /// The target is lost.
    Lost(String),
    /// The probe thread panicked.
    Panicked,
}

/// A request of the screens to the probe thread.
enum FeedCommand {
    /// From now on, snapshots read this.
    Read(ReadSet),
    /// End the quarantine.
    ClearQuarantine,
    /// Change the machine.
    Order(MachineOrder),
}

/// The screens' end of the probe thread.
pub struct Feed {
    newest: watch::Receiver<Option<Published>>,
    commands: mpsc::Sender<FeedCommand>,
    thread: JoinHandle<()>,
}

impl Feed {
    /// Starts the probe thread, which opens the target, so that the first frame need not wait.
    pub fn start<O, L>(open: O) -> std::io::Result<Self>
    where
        O: FnOnce(&Listener) -> Result<L, Failure> + Send + 'static,
        L: Inspect,
    {
        let (publish, newest) = watch::channel(None);
        let (commands, received) = mpsc::channel();
        let thread = std::thread::Builder::new().name("probe".into()).spawn(move || {
            let last =
                std::panic::catch_unwind(AssertUnwindSafe(|| match open(&told_to(&publish)) {
                    Ok(mut machine) => publish_snapshots(&mut machine, &publish, &received),
                    Err(why) => Some(Published::Closed(why)),
                }));
            // The panic hook reported the panic already.
            if let Some(last) = last.unwrap_or(Some(Published::Panicked)) {
                publish.send_replace(Some(last));
            }
        })?;
        Ok(Self { newest, commands, thread })
    }

    /// Lets the thread finish the access in flight, so that no queue is left half read, and tear
    /// down what is running, within a time limit.
    pub fn end(self, busy: bool) {
        let Self { newest, commands, thread } = self;
        drop((newest, commands));
        let deadline = Instant::now() + if busy { BUSY_PATIENCE } else { END_PATIENCE };
        while !thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for a newer message than the last.
    pub async fn next(&mut self) -> Published {
        loop {
            if self.newest.changed().await.is_err() {
                return Published::Lost("the probe thread ended".into());
            }
            if let Some(published) = self.newest.borrow_and_update().clone() {
                return published;
            }
        }
    }

    /// Requests that snapshots read what is on screen.
    pub fn read(&self, read_set: ReadSet) {
        // If the thread has ended, its last message is about to be shown.
        let _ = self.commands.send(FeedCommand::Read(read_set));
    }

    /// Requests a host action.
    pub fn order(&self, order: MachineOrder) {
        let _ = self.commands.send(FeedCommand::Order(order));
    }

    /// Ends the quarantine.
    pub fn clear_quarantine(&self) {
        let _ = self.commands.send(FeedCommand::ClearQuarantine);
    }
}

/// Returns a listener that publishes the stages of opening.
fn told_to(publish: &watch::Sender<Option<Published>>) -> Listener {
    let (publish, stages) = (publish.clone(), Mutex::new(Stages::default()));
    Listener::new(move |progress| {
        let mut stages = stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages.note(progress, now_micros());
        publish.send_replace(Some(Published::Opening(Arc::new(stages.clone()))));
    })
}

/// Takes snapshots until the receiver is dropped or the target is lost.
fn publish_snapshots(
    machine: &mut impl Inspect,
    publish: &watch::Sender<Option<Published>>,
    commands: &mpsc::Receiver<FeedCommand>,
) -> Option<Published> {
    let mut read_set = ReadSet { links: true, ..ReadSet::default() };
    let (mut before, mut last) = (None, None::<Arc<MeshSnapshot>>);
    // Whether the last snapshot was taken without a request since the one before.
    let mut again = false;
    let mut partly = |snapshot| {
        publish.send_replace(Some(Published::Snapshot(Arc::new(snapshot))));
    };
    loop {
        let began = Instant::now();
        let snapshot = match machine.inspect(&read_set, last.as_deref(), &mut partly) {
            Ok(snapshot) => Arc::new(snapshot),
            Err(error) => return Some(Published::Lost(error.to_string())),
        };
        let Traffic { total, budget, .. } = snapshot.traffic;
        // The transactions of opening are not part of a snapshot's cost.
        let cost = before.map_or(snapshot.state.transactions, |before| total - before);
        before = Some(total);
        publish.send_replace(Some(Published::Snapshot(Arc::clone(&snapshot))));
        // What a first snapshot of a moment has taught is in the second.
        let same =
            last.replace(Arc::clone(&snapshot)).filter(|_| std::mem::replace(&mut again, true));
        let rests = same.is_some_and(|last| last.shows_the_same(&snapshot)) && machine.rests();
        if publish.is_closed() {
            machine.tear_down();
            return None;
        }
        // A request ends the pause early, so that a key has its effect soon; the budget per second
        // still holds.
        let earliest = began + least_time(cost, budget);
        let mut next = (!rests).then_some(earliest.max(began + machine.pace()));
        loop {
            let left = next.map(|next| next.saturating_duration_since(Instant::now()));
            match commands.recv_timeout(left.map_or(Duration::MAX, |left| left.min(PACE))) {
                Ok(FeedCommand::Read(requested)) => read_set = requested,
                Ok(FeedCommand::ClearQuarantine) => machine.clear_quarantine(),
                Ok(FeedCommand::Order(order)) => machine.order(order),
                Err(mpsc::RecvTimeoutError::Timeout) if left.is_some_and(|left| left <= PACE) => {
                    break;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => match machine.wait() {
                    Ok(()) => continue,
                    Err(error) => return Some(Published::Lost(error.to_string())),
                },
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    machine.tear_down();
                    return None;
                }
            }
            (next, again) = (Some(earliest), false);
        }
    }
}
