//! State shared by the clients of a served machine: the machine, the right to write, the lock of the
//! queues, and the places of the clients.

use super::judge::Judge;
use super::lease::Queues;
use crate::shared_bar::SharedBar;
use crate::wire::Welcome;
use machine::bar::Bar;
use machine::clients::{Change, Client, PastClient, ServedHistory};
use machine::snapshot::AccessError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A script that opens more clients at a time than this is faulty.
const MOST_CLIENTS: usize = 256;

/// Longest wait for the right to write, if its holder has disconnected while its last batch is
/// still running.
const WRITER_PATIENCE: Duration = Duration::from_secs(20);

/// Longest wait for the lock of the queues, and how often it is looked at.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Interval of the messages to a client that waits.
pub(super) const WAIT_INTERVAL: Duration = Duration::from_secs(1);

/// Most connections that are being greeted; the oldest is closed for one more.
const MOST_GREETINGS: usize = 64;

/// Why a client does not get what it asks for.
#[derive(Debug)]
pub(super) enum Denied {
    /// The machine of this name is not ready.
    NotReady(String),
    /// This client has the right to write.
    Held(Client),
    /// The client's own connection cannot be watched.
    Unwatched(io::Error),
    /// Other clients keep the lock of the queues, at present this one.
    Locked(Option<Client>),
    /// There are this many clients already.
    Full(usize),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady(machine) => write!(f, "{machine} is being brought up"),
            Self::Held(client) => write!(f, "{client} holds this machine"),
            Self::Unwatched(error) => write!(f, "{error}"),
            Self::Locked(Some(client)) => write!(f, "{client} keeps the routing queues"),
            Self::Locked(None) => f.write_str("other clients keep the routing queues"),
            Self::Full(most) => write!(f, "{most} clients use this machine already"),
        }
    }
}

/// The machine and its welcome message.
struct Served {
    bar: SharedBar,
    judge: Judge,
    welcome: Welcome,
}

/// The client with the right to write.
struct Writer {
    client: Client,
    stream: UnixStream,
}

#[derive(Default)]
struct State {
    served: Option<Served>,
    before: ServedHistory,
    writer: Option<Writer>,
    queues: Queues,
    /// Connections that are being greeted, from the oldest.
    greeted: VecDeque<(u64, UnixStream)>,
    /// Number of connections so far.
    numbered: u64,
}

impl State {
    fn writer_client(&self) -> Option<Client> {
        self.writer.as_ref().map(|writer| writer.client.clone())
    }
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

    /// Admits one more client.
    ///
    /// # Errors
    /// When there are too many already.
    pub(super) fn permit(&self) -> Result<ClientPermit, Denied> {
        let permit = ClientPermit(Arc::clone(&self.clients));
        let full = self.clients.fetch_add(1, Ordering::SeqCst) >= MOST_CLIENTS;
        if full { Err(Denied::Full(MOST_CLIENTS)) } else { Ok(permit) }
    }

    /// Numbers a connection that is to be greeted. Connections that say nothing give way to it.
    ///
    /// # Errors
    /// When the connection cannot be watched.
    pub(super) fn greets(&self, stream: &UnixStream) -> io::Result<u64> {
        let stream = stream.try_clone()?;
        let mut state = self.lock();
        state.numbered += 1;
        let number = state.numbered;
        state.greeted.push_back((number, stream));
        if state.greeted.len() > MOST_GREETINGS
            && let Some((_, oldest)) = state.greeted.pop_front()
        {
            // It may be closed already.
            oldest.shutdown(Shutdown::Both).ok();
        }
        Ok(number)
    }

    /// Ends the greeting of a connection.
    pub(super) fn has_greeted(&self, number: u64) {
        self.lock().greeted.retain(|(other, _)| *other != number);
    }

    pub(super) fn open(&self, bar: Box<dyn Bar>, welcome: Welcome) {
        let bar = SharedBar::new(bar);
        let judge = Judge::new(bar.another(), &welcome.abilities);
        let welcome = Welcome { shared: true, ..welcome };
        self.lock().served = Some(Served { bar, judge, welcome });
        self.changed.notify_all();
    }

    /// Returns a bar of the machine, a judge of what it is asked, and the welcome message; or why
    /// the machine is not ready after a while.
    pub(super) fn machine(&self) -> Result<(SharedBar, Judge, Welcome), Denied> {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, WAIT_INTERVAL, |s| s.served.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let not_ready = || Denied::NotReady(self.machine.clone());
        let served = state.served.as_ref().ok_or_else(not_ready)?;
        let before = ServedHistory { writer: state.writer_client(), ..state.before.clone() };
        let welcome = Welcome { before, ..served.welcome.clone() };
        Ok((served.bar.another(), served.judge.another(), welcome))
    }

    /// Returns the client that has the right to write.
    pub(super) fn writer(&self) -> Option<Client> {
        self.lock().writer_client()
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

    /// Waits until this client has the lock of a device's queues; `wait` tells it now and then who
    /// has it.
    ///
    /// # Errors
    /// When other clients keep it too long; and the error of `wait`.
    pub(super) fn lock_queues(
        &self,
        (number, client, device): (u64, &Client, u8),
        mut wait: impl FnMut(Client) -> io::Result<()>,
    ) -> io::Result<Result<(), Denied>> {
        let (start, mut told) = (Instant::now(), Instant::now());
        let mut state = self.lock();
        while !state.queues.take(number, client, device, Instant::now()) {
            let holder = state.queues.holder().cloned();
            if start.elapsed() > LOCK_PATIENCE {
                state.queues.give_up(number);
                return Ok(Err(Denied::Locked(holder)));
            }
            if let Some(holder) = holder.filter(|_| told.elapsed() > WAIT_INTERVAL) {
                drop(state);
                wait(holder)?;
                told = Instant::now();
                state = self.lock();
            } else {
                let waited = self.changed.wait_timeout(state, LOCK_PAUSE);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        Ok(Ok(()))
    }

    /// Releases the lock of a device's queues once.
    pub(super) fn unlock_queues(&self, number: u64, device: u8) {
        self.lock().queues.release(number, device);
        self.changed.notify_all();
    }

    /// Carries out a request of a client. Its lock is not given to another client meanwhile.
    pub(super) fn carry_out<T>(&self, number: u64, act: impl FnOnce() -> T) -> T {
        self.lock().queues.speaks(number, None);
        let done = act();
        self.lock().queues.speaks(number, Some(Instant::now()));
        done
    }

    /// Whether the client has the lock of a device's queues, and took it once.
    pub(super) fn is_last_lock(&self, number: u64, device: u8) -> bool {
        self.lock().queues.times(number, device) == 1
    }

    /// Whether the client has the lock of a device's queues.
    pub(super) fn holds_queues(&self, number: u64, device: u8) -> bool {
        self.lock().queues.holds(number, device)
    }

    /// Checks that the client did not lose the lock of a device's queues in the middle of a request.
    ///
    /// # Errors
    /// Who has it now.
    pub(super) fn check_queues(&self, number: u64, device: u8) -> Result<(), AccessError> {
        let state = self.lock();
        let lost = state.queues.lost(number, device);
        lost.map_or(Ok(()), |why| Err(AccessError::Overtaken(why.to_owned())))
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
        state.queues.leave(number);
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
