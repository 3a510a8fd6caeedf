//! What the clients of a served machine share: the machine, the right to write, and the lock of the queues.

use crate::shared_bar::SharedBar;
use crate::wire::Welcome;
use machine::bar::Bar;
use machine::clients::{Before, Change, Client, PastClient};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A client that wants the right to write waits so long for one that has gone but whose last batch is
/// still under way.
const FAREWELL: Duration = Duration::from_secs(20);

/// A client waits so long for the lock of the queues.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);

/// The machine with what a new client is told of it.
struct Served {
    bar: SharedBar,
    welcome: Welcome,
}

/// The client with the right to write.
struct Writer {
    client: Client,
    stream: UnixStream,
}

/// The lock of the routing queues of all devices: one for all, so that clients which use several devices
/// cannot wait for each other in a circle.
#[derive(Default)]
struct Queues {
    /// Who has it, by number, and how often.
    owner: Option<(u64, usize)>,
    /// Who waits for it, in order.
    line: VecDeque<u64>,
}

#[derive(Default)]
struct State {
    served: Option<Served>,
    before: Before,
    writer: Option<Writer>,
    queues: Queues,
    /// Clients so far.
    numbered: u64,
}

/// What all clients share.
pub(super) struct ServerState {
    machine: String,
    state: Mutex<State>,
    /// Rings when anything of the state changed that somebody may wait for.
    changed: Condvar,
    clients: Arc<AtomicUsize>,
}

/// Counts as one of the clients until it is dropped.
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

    /// Lets one more client in, if there are not so many already.
    pub(super) fn permit(&self, most: usize) -> Option<ClientPermit> {
        let permit = ClientPermit(Arc::clone(&self.clients));
        (self.clients.fetch_add(1, Ordering::SeqCst) < most).then_some(permit)
    }

    pub(super) fn open(&self, bar: Box<dyn Bar>, welcome: Welcome) {
        let bar = SharedBar::new(bar);
        self.lock().served = Some(Served { bar, welcome: Welcome { shared: true, ..welcome } });
        self.changed.notify_all();
    }

    /// A bar of the machine and the welcome, or, after `patience`, what is waited for.
    pub(super) fn machine(&self, patience: Duration) -> Result<(SharedBar, Welcome), String> {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, patience, |s| s.served.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let not_ready = || format!("{} is being brought up", self.machine);
        let served = state.served.as_ref().ok_or_else(not_ready)?;
        let writer = state.writer.as_ref().map(|writer| writer.client.clone());
        let before = Before { writer, ..state.before.clone() };
        Ok((served.bar.another(), Welcome { before, ..served.welcome.clone() }))
    }

    /// A number for a client.
    pub(super) fn number(&self) -> u64 {
        let mut state = self.lock();
        state.numbered += 1;
        state.numbered
    }

    /// Gives a client the right to write.
    ///
    /// # Errors
    /// Who has it.
    pub(super) fn acquire_writer(
        &self,
        client: &Client,
        stream: &UnixStream,
    ) -> Result<(), String> {
        let start = Instant::now();
        let mut state = self.lock();
        while let Some(writer) = &state.writer {
            let left = FAREWELL.saturating_sub(start.elapsed());
            if !has_gone(&writer.stream) || left.is_zero() {
                return Err(format!("{} holds this machine", writer.client));
            }
            // It has gone, and its thread notices after the batch that is under way.
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let stream = stream.try_clone().map_err(|error| error.to_string())?;
        state.writer = Some(Writer { client: client.clone(), stream });
        Ok(())
    }

    /// Waits until the lock of the queues is this client's; it may take it several times.
    ///
    /// # Errors
    /// When another client keeps it.
    pub(super) fn lock_queues(&self, number: u64) -> Result<(), String> {
        let start = Instant::now();
        let mut state = self.lock();
        if let Some((owner, times)) = &mut state.queues.owner
            && *owner == number
        {
            *times += 1;
            return Ok(());
        }
        state.queues.line.push_back(number);
        loop {
            let queues = &mut state.queues;
            if queues.owner.is_none() && queues.line.front() == Some(&number) {
                queues.line.pop_front();
                queues.owner = Some((number, 1));
                return Ok(());
            }
            let left = LOCK_PATIENCE.saturating_sub(start.elapsed());
            if left.is_zero() {
                queues.line.retain(|waiting| *waiting != number);
                return Err("another client keeps the routing queues locked".into());
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Gives the lock of the queues back, once.
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

    /// A client has gone, with all that it had.
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

/// Has the other end of the stream been closed? What was sent before it was may still stand unread.
fn has_gone(stream: &UnixStream) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::RDHUP)];
    let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(gone)
}
