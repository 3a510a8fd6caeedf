//! The server side of the BAR protocol: a machine that outlives its clients.
//!
//! Any number of clients look at the machine; one at a time has the right to write. Each has a thread
//! here and a bar of its own. Between clients the machine stands as the last one left it.

mod bind;
mod client;
mod hall;
mod reader;

pub use bind::{BindError, bind};

use crate::bar::Bar;
use crate::wire::Welcome;
use client::Visitor;
use hall::Hall;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread::JoinHandle;

/// More clients at a time than this are a mistake of a script.
const MOST_CLIENTS: usize = 256;

/// A server that accepts clients, also before its machine is ready: then they hear that it is not.
pub struct Server {
    hall: Arc<Hall>,
    doorman: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Accepts clients from now on; `machine` is what they are told they wait for.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(listener: UnixListener, machine: &str) -> io::Result<Self> {
        let hall = Arc::new(Hall::new(machine));
        let doorman = {
            let hall = Arc::clone(&hall);
            std::thread::Builder::new()
                .name("bar-doorman".into())
                .spawn(move || admit(&listener, &hall))?
        };
        Ok(Self { hall, doorman })
    }

    /// Lets the clients have the machine.
    pub fn open(&self, bar: Box<dyn Bar>, welcome: Welcome) {
        self.hall.open(bar, welcome);
    }

    /// Waits for the end of the listener.
    ///
    /// # Errors
    /// What the listener says; what a client does wrong only ends that client.
    pub fn wait(self) -> io::Result<()> {
        self.doorman.join().unwrap_or_else(|_| Err(io::Error::other("the doorman died")))
    }
}

/// Serves the machine until the listener fails.
///
/// # Errors
/// As [`Server::wait`].
pub fn serve(bar: Box<dyn Bar>, listener: UnixListener, welcome: Welcome) -> io::Result<()> {
    let server = Server::start(listener, &welcome.machine)?;
    server.open(bar, welcome);
    server.wait()
}

/// Accepts connections; each is greeted by a thread of its own, so that one that says nothing keeps
/// nobody waiting.
fn admit(listener: &UnixListener, hall: &Arc<Hall>) -> io::Result<()> {
    for stream in listener.incoming() {
        let stream = stream?;
        let Some(seat) = hall.seat(MOST_CLIENTS) else {
            client::refuse(stream, &format!("{MOST_CLIENTS} clients use this machine already"));
            continue;
        };
        let hall = Arc::clone(hall);
        let attend = move || {
            let _seat = seat;
            // What a client does wrong ends that client.
            let _ = client::attend(&hall, stream);
        };
        std::thread::Builder::new().name("bar-client".into()).spawn(attend)?;
    }
    Ok(())
}

/// Serves the machine to the one client at the other end of `stream`, until it closes it.
///
/// # Errors
/// What the stream says.
pub fn serve_one(bar: &mut dyn Bar, stream: UnixStream, welcome: &Welcome) -> io::Result<()> {
    Visitor::greet(stream)?.alone(bar, welcome)
}
