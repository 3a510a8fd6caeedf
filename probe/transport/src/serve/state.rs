//! State shared by the clients of a served machine: the machine, the right to write, and the lock
//! of the queues.

use crate::shared_bar::SharedBar;
use crate::wire::Welcome;
use machine::bar::Bar;
use machine::clients::{Change, Client, PastClient, ServedHistory};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait for the right to write, if its holder has disconnected while its last batch is
/// still running.
const WRITER_PATIENCE: Duration = Duration::from_secs(20);

/// Longest wait for the lock of the queues.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);

/// Why a client does not get what it asks for.
#[derive(Debug)]
pub(super) enum Denied {
    /// The machine of this name is not ready.
    NotReady(String),
    /// This client has the right to write.
    Held(Client),
    /// The client's own connection cannot be watched.
    Unwatched(io::Error),
    /// Another client has the lock of the queues.
    Locked,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady(machine) => write!(f, "{machine} is being brought up"),
            Self::Held(client) => write!(f, "{client} holds this machine"),
            Self::Unwatched(error) => write!(f, "{error}"),
            Self::Locked => f.write_str("another client keeps the routing queues locked"),
        }
    }
}

/// The machine and its welcome message.
struct Served {
    bar: SharedBar,
    welcome: Welcome,
}

/// The client with the right to write.
struct Writer {
    client: Client,
    stream: UnixStream,
}

/// The lock of the routing queues of all devices. One lock for all devices avoids deadlock between
/// clients that use several.
#[derive(Default)]
struct Queues {
    /// The owner's number, and how often it took the lock.
    owner: Option<(u64, usize)>,
    /// The waiting clients, in order.
    waiting: VecDeque<u64>,
}

#[derive(Default)]
struct State {
    served: Option<Served>,
    before: ServedHistory,
    writer: Option<Writer>,
    queues: Queues,
    /// Number of clients so far.
    numbered: u64,
}

/// The state that all clients share.
pub(super) struct ServerState {
    machine: String,
    state: Mutex<State>,
    /// Signals every change of the state for which a client may wait.
    changed: Condvar,
    clients: Arc<AtomicUsize>,
}

/// Counts as a client until it is dropped.
pub(super) struct ClientPermit(Arc<AtomicUsize>);

impl Drop for ClientPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ServerState {
    pub(super) fn new(machine: &str) -> Self {
        Self {
            machine: machine.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
            clients: Arc::default(),
        }
    }

    /// Admits one more client, unless there are `most` already.
    pub(super) fn permit(&self, most: usize) -> Option<ClientPermit> {
        let permit = ClientPermit(Arc::clone(&self.clients));
        (self.clients.fetch_add(1, Ordering::SeqCst) < most).then_some(permit)
    }

    pub(super) fn open(&self, bar: Box<dyn Bar>, welcome: Welcome) {
        let bar = SharedBar::new(bar);
        self.lock().served = Some(Served { bar, welcome: Welcome { shared: true, ..welcome } });
        self.changed.notify_all();
    }

    /// Returns a bar of the machine and the welcome message, or why the machine is not ready after
    /// `patience`.
    pub(super) fn machine(&self, patience: Duration) -> Result<(SharedBar, Welcome), Denied> {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, patience, |s| s.served.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let not_ready = || Denied::NotReady(self.machine.clone());
        let served = state.served.as_ref().ok_or_else(not_ready)?;
        let writer = state.writer.as_ref().map(|writer| writer.client.clone());
        let before = ServedHistory { writer, ..state.before.clone() };
        Ok((served.bar.another(), Welcome { before, ..served.welcome.clone() }))
    }

    /// Returns the number of a new client.
    pub(super) fn number(&self) -> u64 {
        let mut state = self.lock();
        state.numbered += 1;
        state.numbered
    }

    /// Takes the right to write for a client.
    ///
    /// # Errors
    /// The name of the client that has it.
    pub(super) fn acquire_writer(
        &self,
        client: &Client,
        stream: &UnixStream,
    ) -> Result<(), Denied> {
        let start = Instant::now();
        let mut state = self.lock();
        while let Some(writer) = &state.writer {
            let left = WRITER_PATIENCE.saturating_sub(start.elapsed());
            if !has_closed(&writer.stream) || left.is_zero() {
                return Err(Denied::Held(writer.client.clone()));
            }
            // It has disconnected; its thread notices after the running batch.
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let stream = stream.try_clone().map_err(Denied::Unwatched)?;
        state.writer = Some(Writer { client: client.clone(), stream });
        Ok(())
    }

    /// Waits until this client has the lock of the queues, which it may take several times.
    ///
    /// # Errors
    /// When another client keeps it.
    pub(super) fn lock_queues(&self, number: u64) -> Result<(), Denied> {
        let start = Instant::now();
        let mut state = self.lock();
        if let Some((owner, times)) = &mut state.queues.owner
            && *owner == number
        {
            *times += 1;
            return Ok(());
        }
        state.queues.waiting.push_back(number);
        loop {
            let queues = &mut state.queues;
            if queues.owner.is_none() && queues.waiting.front() == Some(&number) {
                queues.waiting.pop_front();
                queues.owner = Some((number, 1));
                return Ok(());
            }
            let left = LOCK_PATIENCE.saturating_sub(start.elapsed());
            if left.is_zero() {
                queues.waiting.retain(|client| *client != number);
                return Err(Denied::Locked);
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Releases the lock of the queues once.
    pub(super) fn unlock_queues(&self, number: u64) {
        let mut state = self.lock();
        if let Some((owner, times)) = &mut state.queues.owner
            && *owner == number
        {
            *times -= 1;
            if *times == 0 {
                state.queues.owner = None;
                self.changed.notify_all();
            }
        }
    }

    /// Ends a client, with its locks and rights.
    pub(super) fn leave(
        &self,
        number: u64,
        visit: PastClient,
        change: Option<Change>,
        writes: bool,
    ) {
        let mut state = self.lock();
        if state.queues.owner.is_some_and(|(owner, _)| owner == number) {
            state.queues.owner = None;
        }
        if writes {
            state.writer = None;
        }
        state.before.change = change.or(state.before.change.take());
        state.before.client = Some(visit);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the other end of the stream has been closed; data sent before may still be unread.
fn has_closed(stream: &UnixStream) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::RDHUP)];
    let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(closed)
}
