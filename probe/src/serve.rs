//! The server side of the BAR protocol: a machine that outlives its clients.
//!
//! One client at a time holds the machine, because windows and queues have no owner on the bus;
//! the others are told who holds it. Between clients the machine stands as the last one left it.

use crate::bar::Bar;
use crate::wire::{self, Reply, Request, VERSION, Welcome};
use std::io;
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

type Holder = Mutex<Option<String>>;

/// Accepts connections; one goes on to the machine, the others hear who holds it.
fn admit(
    listener: &UnixListener,
    holder: &Holder,
    clients: &Sender<(String, UnixStream)>,
) -> io::Result<()> {
    for stream in listener.incoming() {
        let mut stream = stream?;
        let Ok(client) = greet(&mut stream) else { continue };
        let mut held = holder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = held.as_ref() {
            let refusal = Reply::Refused(format!("{other} holds this machine"));
            // A client that is gone already needs no refusal.
            let _ = wire::send(&mut stream, &refusal);
            continue;
        }
        *held = Some(client.clone());
        drop(held);
        if clients.send((client, stream)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes the hello and returns the client's name.
fn greet(stream: &mut UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(HELLO_PATIENCE))?;
    let hello = wire::receive(stream)?;
    stream.set_read_timeout(None)?;
    let refusal = match hello {
        Some(Request::Hello { version: VERSION, client }) => return Ok(client),
        Some(Request::Hello { version, .. }) => {
            format!("this server speaks protocol version {VERSION}, the client version {version}")
        }
        _ => "the first message must be a hello".to_owned(),
    };
    wire::send(stream, &Reply::Refused(refusal.clone()))?;
    Err(io::Error::other(refusal))
}

fn attend(
    bar: &mut dyn Bar,
    clients: &Receiver<(String, UnixStream)>,
    holder: &Holder,
    welcome: &Welcome,
) {
    let mut welcome = Welcome { version: VERSION, ..welcome.clone() };
    while let Ok((client, mut stream)) = clients.recv() {
        let greeted = wire::send(&mut stream, &Reply::Welcome(welcome.clone()));
        // A client that breaks off or talks nonsense has left; the machine stays.
        let _ = greeted.and_then(|()| serve_batches(bar, &mut stream));
        welcome.last_client = Some(client);
        *holder.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Serves the machine to the one client at the other end of `stream`, until it closes it.
///
/// # Errors
/// What the stream says.
pub fn serve_one(bar: &mut dyn Bar, stream: &mut UnixStream, welcome: &Welcome) -> io::Result<()> {
    greet(stream)?;
    wire::send(stream, &Reply::Welcome(Welcome { version: VERSION, ..welcome.clone() }))?;
    serve_batches(bar, stream)
}

fn serve_batches(bar: &mut dyn Bar, stream: &mut UnixStream) -> io::Result<()> {
    while let Some(request) = wire::receive(stream)? {
        let Request::Batch(ops) = request else {
            return Err(io::Error::other("a second hello"));
        };
        let mut answer = Vec::new();
        let error = bar.submit(&ops, &mut answer).err();
        wire::send(stream, &Reply::Done { error, answer })?;
    }
    Ok(())
}
