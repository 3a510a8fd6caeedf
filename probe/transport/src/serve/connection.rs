//! One client of a served machine, from hello to disconnect.

use super::client_bar::ClientBar;
use super::judge::no_right;
use super::patient::Patient;
use super::state::ServerState;
use crate::wire::{
    self, MAX_BYTES, Outbox, Received, VERSION, Welcome, WireReply, WireRequest, bounds,
};
use machine::bar::{Bar, BarOp, DeviceBatch, now};
use machine::clients::{Change, Client, PastClient};
use machine::clock::host_micros;
use machine::fault::{ChipAddress, Fault, FaultError};
use machine::past::RecordedRun;
use machine::snapshot::AccessError;
use std::borrow::Cow;
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A client whose hello is not there within this time is dropped.
const HELLO_PATIENCE: Duration = Duration::from_secs(2);

/// Most bytes of a run in a message: the rest of it takes less than one MiB.
const MOST_RUN_BYTES: usize = MAX_BYTES as usize - (1 << 20);

/// A client that has sent its hello.
pub(super) struct Connection {
    client: Client,
    writes: bool,
    stream: BufReader<Patient>,
    outbox: Outbox,
}

/// Greets a client, and serves it the machine until it disconnects.
///
/// # Errors
/// The stream's error.
pub(super) fn serve(state: &ServerState, stream: UnixStream) -> io::Result<()> {
    let number = state.greets(&stream)?;
    let greeted = Connection::greet(stream);
    state.has_greeted(number);
    let mut connection = greeted?;
    let _place = match state.permit() {
        Ok(place) => place,
        Err(why) => return connection.send(&WireReply::Refused(why.to_string())),
    };
    if connection.writes
        && let Err(why) =
            state.acquire_writer(&connection.client, connection.stream.get_mut().stream())
    {
        return connection.send(&WireReply::Refused(why.to_string()));
    }
    let mut change = None;
    let served = connection.serve(state, number, &mut change);
    if let Err(error) = &served
        && error.kind() == io::ErrorKind::InvalidData
    {
        // The client may have gone.
        connection.send(&WireReply::Failed(AccessError::Refused(error.to_string()))).ok();
    }
    let Connection { client, writes, stream, .. } = connection;
    // A client that disconnects or sends an invalid message ends; the machine continues.
    let broke_off = !matches!(served, Ok(Leave::Bye));
    let change = change.map(|(what, at_micros, at_cycles)| Change {
        client: client.clone(),
        at_micros,
        at_cycles,
        what,
    });
    // The socket closes before the next client can take the right to write.
    drop(stream);
    state.leave(
        number,
        PastClient { client, until_micros: host_micros(), broke_off },
        change,
        writes,
    );
    Ok(())
}

impl Connection {
    /// Receives the hello.
    ///
    /// # Errors
    /// When no hello arrives in time, or it is invalid.
    pub(super) fn greet(stream: UnixStream) -> io::Result<Self> {
        let mut stream = BufReader::new(Patient::new(stream, HELLO_PATIENCE));
        let most = bounds::MOST_HELLO_BYTES;
        let hello = wire::receive_at_most(&mut stream, &mut Vec::new(), most)?;
        stream.get_mut().wait_for_ever()?;
        let refusal = match hello {
            Received::Message(WireRequest::Hello { version: VERSION, client, writes }) => {
                return Ok(Self { client, writes, stream, outbox: Outbox::default() });
            }
            Received::Message(WireRequest::Hello { version, .. }) => format!(
                "this server speaks protocol version {VERSION}, the client version {version}"
            ),
            _ => "the first message must be a hello".to_owned(),
        };
        let refused = WireReply::Refused(refusal.clone());
        Outbox::default().send(stream.get_mut().stream(), &refused)?;
        Err(io::Error::other(refusal))
    }

    fn send(&mut self, reply: &WireReply) -> io::Result<()> {
        self.outbox.send(self.stream.get_mut().stream(), reply)
    }

    /// Serves a machine that has no other client.
    ///
    /// # Errors
    /// The stream's error.
    pub(super) fn serve_alone(mut self, bar: &mut dyn Bar, welcome: &Welcome) -> io::Result<()> {
        let welcome = Welcome { version: VERSION, ..welcome.clone() };
        self.send(&WireReply::Welcome(Box::new(welcome), bar.chip()))?;
        let mut change = None;
        loop {
            match wire::receive(&mut self.stream, &mut Vec::new())? {
                Received::Message(WireRequest::Bye) | Received::End => return Ok(()),
                request => self.answer(bar, request, &mut change)?,
            }
        }
    }

    /// Serves a machine that other clients use, too.
    fn serve(
        &mut self,
        state: &ServerState,
        number: u64,
        change: &mut Option<(String, u64, u64)>,
    ) -> io::Result<Leave> {
        let (bar, judge, welcome) = loop {
            match state.machine() {
                Ok(ready) => break ready,
                Err(why) => self.send(&WireReply::Wait(why.to_string()))?,
            }
        };
        let mut bar = ClientBar { bar, judge, state, number, writes: self.writes };
        let welcome = Welcome { version: VERSION, ..welcome };
        self.send(&WireReply::Welcome(Box::new(welcome), bar.chip()))?;
        let most = if self.writes { MAX_BYTES } else { bounds::MOST_READER_BYTES };
        loop {
            match wire::receive_at_most(&mut self.stream, &mut Vec::new(), most)? {
                Received::Message(WireRequest::Bye) => return Ok(Leave::Bye),
                Received::End => return Ok(Leave::BrokeOff),
                Received::Message(WireRequest::LockQueues(device)) => {
                    let client = self.client.clone();
                    let held = |holder| self.send(&WireReply::Held(holder));
                    let locked = bar.wait_for_queues(&client, device, held)?;
                    self.send(&locked.map_or_else(WireReply::Failed, |()| WireReply::Locked))?;
                }
                Received::Message(WireRequest::UnlockQueues(device)) => {
                    bar.release_queues(device);
                }
                Received::Message(WireRequest::Writer) => {
                    let writer = state.writer().filter(|_| !self.writes);
                    self.send(&WireReply::Writer(writer))?;
                }
                request => self.answer(&mut bar, request, change)?,
            }
        }
    }

    fn answer(
        &mut self,
        bar: &mut dyn Bar,
        request: Received<WireRequest>,
        changed: &mut Option<(String, u64, u64)>,
    ) -> io::Result<()> {
        let stream = self.stream.get_mut().stream();
        match request {
            Received::Message(WireRequest::Batch { change: Some(_), .. }) if !self.writes => {
                self.outbox.send(stream, &WireReply::Failed(no_right()))
            }
            Received::Message(WireRequest::Batch { ops, change }) => {
                self.outbox.answer(stream, |answer| {
                    let error = bar.submit(&ops, answer).err();
                    if let Some(what) = change {
                        *changed = Some((what.into_owned(), host_micros(), cycles(bar)));
                    }
                    error.map(WireReply::Failed)
                })
            }
            Received::Message(WireRequest::Parallel(batches)) => {
                self.outbox.answer(stream, |answer| {
                    Some(WireReply::Parallel(submit_parallel(bar, batches, answer)))
                })
            }
            Received::Message(WireRequest::StoppedCores(chips)) => {
                let stopped = WireReply::StoppedCores(bar.stopped_cores(&chips));
                self.outbox.send(stream, &stopped)
            }
            Received::Message(WireRequest::RecordedRun) => {
                let run = WireReply::RecordedRun(bar.recorded_run().map(sendable));
                self.outbox.send(stream, &run)
            }
            Received::Message(WireRequest::Disrupt { at, fault }) => {
                self.outbox.answer(stream, |_| {
                    let error = disrupt(bar, at, &fault).err();
                    if error.is_none() {
                        *changed = Some((fault.into_owned(), host_micros(), cycles(bar)));
                    }
                    error.map(WireReply::Failed)
                })
            }
            _ => Err(io::Error::other("a request out of turn")),
        }
    }
}

/// How a client disconnected.
enum Leave {
    Bye,
    BrokeOff,
}

/// Returns the machine's time; 0 if it cannot be read.
fn cycles(bar: &mut dyn Bar) -> u64 {
    now(bar).unwrap_or(0)
}

/// Carries out a client's batches for several devices. Returns the length of each answer, and the
/// error that ended it.
fn submit_parallel(
    bar: &mut dyn Bar,
    requested: Vec<(u8, Cow<'_, [BarOp]>)>,
    answer: &mut Vec<u8>,
) -> Vec<(u32, Result<(), AccessError>)> {
    let mut batches: Vec<DeviceBatch> = requested
        .into_iter()
        .map(|(device, ops)| DeviceBatch::new(device, ops.into_owned()))
        .collect();
    bar.submit_parallel(&mut batches);
    let results = batches.into_iter().map(|DeviceBatch { answer: own, result, .. }| {
        answer.extend(&own);
        (own.len() as u32, result)
    });
    results.collect()
}

/// Returns a run as a message has room for it.
fn sendable(run: Result<RecordedRun, String>) -> Result<Box<RecordedRun>, String> {
    match run? {
        run if run.bytes() <= MOST_RUN_BYTES => Ok(Box::new(run)),
        _ => Err(format!("it takes more than {} MiB", MOST_RUN_BYTES >> 20)),
    }
}

/// Injects a fault from its text.
fn disrupt(bar: &mut dyn Bar, at: ChipAddress, fault: &str) -> Result<(), AccessError> {
    let fault: Fault =
        fault.parse().map_err(|error: FaultError| AccessError::Refused(error.to_string()))?;
    bar.disrupt(at, &fault)
}
