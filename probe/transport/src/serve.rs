//! The server side of the BAR protocol: a machine that outlives its clients.
//!
//! Any number of clients look at the machine; one at a time has the right to write. Each has a thread
//! here and a bar of its own. Between clients the machine stands as the last one left it.

mod bind;
mod connection;
mod reader;
mod state;

pub use bind::{BindError, bind};

use crate::wire::Welcome;
use connection::Connection;
use machine::bar::Bar;
use state::ServerState;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// More clients at a time than this are a mistake of a script.
const MOST_CLIENTS: usize = 256;

/// How long to wait before a connection that could not be accepted is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that accepts clients, also before its machine is ready: then they hear that it is not.
pub struct Server {
    state: Arc<ServerState>,
    acceptor: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Accepts clients from now on; `machine` is what they are told they wait for.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(listener: UnixListener, machine: &str) -> io::Result<Self> {
        let state = Arc::new(ServerState::new(machine));
        let acceptor = {
            let state = Arc::clone(&state);
            std::thread::Builder::new()
                .name("bar-accept".into())
                .spawn(move || accept(&listener, &state))?
        };
        Ok(Self { state, acceptor })
    }

    /// Lets the clients have the machine.
    pub fn open(&self, bar: Box<dyn Bar>, welcome: Welcome) {
        self.state.open(bar, welcome);
    }

    /// Waits for the end of the listener.
    ///
    /// # Errors
    /// What the listener says; what a client does wrong only ends that client.
    pub fn wait(self) -> io::Result<()> {
        self.acceptor
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the accepting thread panicked")))
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
fn accept(listener: &UnixListener, state: &Arc<ServerState>) -> io::Result<()> {
    for stream in listener.incoming() {
        let stream = match stream {
            Ok(stream) => stream,
            // A client that left at once, or more open files than allowed, ends no machine.
            Err(error) if is_passing(&error) => {
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some(permit) = state.permit(MOST_CLIENTS) else {
            connection::refuse(stream, &format!("{MOST_CLIENTS} clients use this machine already"));
            continue;
        };
        let state = Arc::clone(state);
        let serve = move || {
            let _permit = permit;
            // What a client does wrong ends that client.
            let _ = connection::serve(&state, stream);
        };
        // Without a thread the connection closes, and the client may try again.
        let _ = std::thread::Builder::new().name("bar-client".into()).spawn(serve);
    }
    Ok(())
}

/// Errors of accepting that say nothing of the listener (accept(2)).
fn is_passing(error: &io::Error) -> bool {
    let files =
        [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(rustix::io::Errno::raw_os_error);
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
        || error.raw_os_error().is_some_and(|code| files.contains(&code))
}

/// Serves the machine to the one client at the other end of `stream`, until it closes it.
///
/// # Errors
/// What the stream says.
pub fn serve_one(bar: &mut dyn Bar, stream: UnixStream, welcome: &Welcome) -> io::Result<()> {
    Connection::greet(stream)?.serve_alone(bar, welcome)
}
