//! The server side of the BAR protocol: a machine that outlives its clients.
//!
//! One client at a time holds the machine, because windows and queues have no owner on the bus;
//! the others are told who holds it. Between clients the machine stands as the last one left it.

use crate::bar::{Abreast, Bar, BarOp};
use crate::fault::{Fault, FaultError, Station};
use crate::machine::host_micros;
use crate::snapshot::AccessError;
use crate::wire::{
    self, Change, Client, Outbox, Received, Reply, Request, VERSION, Visit, Welcome,
};
use std::borrow::Cow;
use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A client that connects and then says nothing is dropped after this long.
const HELLO_PATIENCE: Duration = Duration::from_secs(2);

/// Binds a socket at `path`; a socket file that nobody listens on any more is replaced.
///
/// # Errors
/// `AddrInUse` when somebody listens there, and what the file system says.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if UnixStream::connect(path).is_ok() {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        other => other,
    }
}

/// Serves the machine to one client after the other, until the listener fails.
///
/// # Errors
/// What the listener says; what a client does wrong only ends that client.
pub fn serve(bar: &mut dyn Bar, listener: UnixListener, welcome: &Welcome) -> io::Result<()> {
    let holder = Arc::new(Mutex::new(None));
    let (sender, clients) = channel();
    let doorman = {
        let holder = Arc::clone(&holder);
        std::thread::Builder::new()
            .name("bar-doorman".into())
            .spawn(move || admit(&listener, &holder, &sender))?
    };
    attend(bar, &clients, &holder, welcome);
    doorman.join().unwrap_or_else(|_| Err(io::Error::other("the doorman died")))
}

type Holder = Mutex<Option<Client>>;

/// A client that has said its first words.
struct Guest {
    client: Client,
    stream: BufReader<UnixStream>,
}

/// Accepts connections; one goes on to the machine, the others hear who holds it.
fn admit(listener: &UnixListener, holder: &Holder, clients: &Sender<Guest>) -> io::Result<()> {
    for stream in listener.incoming() {
        let Ok(mut guest) = greet(stream?) else { continue };
        let mut held = holder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = held.as_ref() {
            let refusal = Reply::Refused(format!("{other} holds this machine"));
            // A client that is gone already needs no refusal.
            let _ = Outbox::default().send(guest.stream.get_mut(), &refusal);
            continue;
        }
        *held = Some(guest.client.clone());
        drop(held);
        if clients.send(guest).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes the hello.
fn greet(stream: UnixStream) -> io::Result<Guest> {
    let mut stream = BufReader::new(stream);
    stream.get_ref().set_read_timeout(Some(HELLO_PATIENCE))?;
    let hello = wire::receive(&mut stream, &mut Vec::new())?;
    stream.get_ref().set_read_timeout(None)?;
    let refusal = match hello {
        Received::Message(Request::Hello { version: VERSION, client }) => {
            return Ok(Guest { client, stream });
        }
        Received::Message(Request::Hello { version, .. }) => {
            format!("this server speaks protocol version {VERSION}, the client version {version}")
        }
        _ => "the first message must be a hello".to_owned(),
    };
    Outbox::default().send(stream.get_mut(), &Reply::Refused(refusal.clone()))?;
    Err(io::Error::other(refusal))
}

fn attend(bar: &mut dyn Bar, clients: &Receiver<Guest>, holder: &Holder, welcome: &Welcome) {
    let mut welcome = Welcome { version: VERSION, ..welcome.clone() };
    while let Ok(mut guest) = clients.recv() {
        let greeted =
            Outbox::default().send(guest.stream.get_mut(), &Reply::Welcome(welcome.clone()));
        let mut visit = Attendance { bar, change: None };
        // A client that breaks off or talks nonsense has left; the machine stays.
        let left = greeted.and_then(|()| visit.serve(&mut guest.stream));
        let change = visit.change.map(|(what, at_micros, at_cycles)| Change {
            client: guest.client.clone(),
            at_micros,
            at_cycles,
            what,
        });
        let before = &mut welcome.before;
        before.change = change.or(before.change.take());
        before.client = Some(Visit {
            client: guest.client,
            until_micros: host_micros(),
            broke_off: !matches!(left, Ok(Leave::Bye)),
        });
        // The socket closes before the next client is let in.
        drop(guest.stream);
        *holder.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Serves the machine to the one client at the other end of `stream`, until it closes it.
///
/// # Errors
/// What the stream says.
pub fn serve_one(bar: &mut dyn Bar, stream: UnixStream, welcome: &Welcome) -> io::Result<()> {
    let mut guest = greet(stream)?;
    let welcome = Reply::Welcome(Welcome { version: VERSION, ..welcome.clone() });
    Outbox::default().send(guest.stream.get_mut(), &welcome)?;
    Attendance { bar, change: None }.serve(&mut guest.stream).map(drop)
}

/// How a client left.
enum Leave {
    Bye,
    BrokeOff,
}

/// One client's time with the machine.
struct Attendance<'b> {
    bar: &'b mut dyn Bar,
    /// The last change: what, host time in microseconds, and the machine's time in cycles.
    change: Option<(String, u64, u64)>,
}

impl Attendance<'_> {
    fn serve(&mut self, stream: &mut BufReader<UnixStream>) -> io::Result<Leave> {
        let mut outbox = Outbox::default();
        loop {
            match wire::receive(stream, &mut Vec::new())? {
                Received::Message(Request::Batch { ops, change }) => {
                    outbox.answer(stream.get_mut(), |answer| {
                        let error = self.bar.submit(&ops, answer).err();
                        if let Some(what) = change {
                            self.change = Some((what.into_owned(), host_micros(), self.cycles()));
                        }
                        error.map(Reply::Failed)
                    })?;
                }
                Received::Message(Request::Abreast(asked)) => {
                    outbox.answer(stream.get_mut(), |answer| {
                        Some(Reply::Abreast(abreast(self.bar, asked, answer)))
                    })?;
                }
                Received::Message(Request::Disrupt { at, fault }) => {
                    outbox.answer(stream.get_mut(), |_| {
                        let error = disrupt(self.bar, at, &fault).err();
                        if error.is_none() {
                            self.change = Some((fault.into_owned(), host_micros(), self.cycles()));
                        }
                        error.map(Reply::Failed)
                    })?;
                }
                Received::Message(Request::Bye) => return Ok(Leave::Bye),
                Received::End => return Ok(Leave::BrokeOff),
                Received::Message(Request::Hello { .. }) | Received::Plain => {
                    return Err(io::Error::other("a second hello"));
                }
            }
        }
    }

    /// The machine's own time; 0 if it does not tell any more.
    fn cycles(&mut self) -> u64 {
        let mut answer = Vec::new();
        let told = self.bar.submit(&[BarOp::Now], &mut answer);
        let cycles = told.ok().and_then(|()| answer.first_chunk().copied());
        u64::from_le_bytes(cycles.unwrap_or_default())
    }
}

/// Carries out what a client asks of several devices; for each the length of its answer and what broke it off.
fn abreast(
    bar: &mut dyn Bar,
    asked: Vec<(u8, Cow<'_, [BarOp]>)>,
    answer: &mut Vec<u8>,
) -> Vec<(u32, Result<(), AccessError>)> {
    let mut batches: Vec<Abreast> =
        asked.into_iter().map(|(device, ops)| Abreast::new(device, ops.into_owned())).collect();
    bar.submit_abreast(&mut batches);
    let told = batches.into_iter().map(|Abreast { answer: own, result, .. }| {
        answer.extend(&own);
        (own.len() as u32, result)
    });
    told.collect()
}

/// Makes something go wrong, as a client put it into words.
fn disrupt(bar: &mut dyn Bar, at: Station, fault: &str) -> Result<(), AccessError> {
    let fault: Fault =
        fault.parse().map_err(|error: FaultError| AccessError::Refused(error.to_string()))?;
    bar.disrupt(at, &fault)
}
