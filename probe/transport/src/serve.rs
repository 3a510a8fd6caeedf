//! The server side of the BAR protocol: a machine that outlives its clients.
//!
//! Any number of clients read the machine; one at a time has the right to write. Each client has
//! its own thread and its own bar, which refuses what would harm the others. Between clients the
//! machine keeps its state.

mod bind;
mod client_bar;
mod connection;
mod judge;
mod lease;
mod patient;
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

/// Delay before accepting is retried after a failure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that accepts clients, even before its machine is ready; they are told to wait.
pub struct Server {
    state: Arc<ServerState>,
    acceptor: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Accepts clients from now on; `machine` names the machine for waiting clients.
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

    /// Opens the machine to the clients.
    pub fn open(&self, bar: Box<dyn Bar>, welcome: Welcome) {
        self.state.open(bar, welcome);
    }

    /// Waits for the end of the listener.
    ///
    /// # Errors
    /// The listener's error; an error of a client ends only that client.
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

/// Accepts connections. Each is greeted on its own thread, so that a silent client delays no other.
fn accept(listener: &UnixListener, state: &Arc<ServerState>) -> io::Result<()> {
    for stream in listener.incoming() {
        let stream = match stream {
            Ok(stream) => stream,
            // A client that left at once or too many open files must not end the server.
            Err(error) if is_passing(&error) => {
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
            Err(error) => return Err(error),
        };
        let state = Arc::clone(state);
        // An error of a client ends only that client.
        let serve = move || drop(connection::serve(&state, stream));
        // Without a thread the connection closes, and the client may try again.
        let _ = std::thread::Builder::new().name("bar-client".into()).spawn(serve);
    }
    Ok(())
}

/// Whether an error of accepting is no fault of the listener (accept(2)).
fn is_passing(error: &io::Error) -> bool {
    let files =
        [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(rustix::io::Errno::raw_os_error);
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
        || error.raw_os_error().is_some_and(|code| files.contains(&code))
}

/// Serves the machine to a single client at the other end of `stream`, until the client closes it.
///
/// # Errors
/// The stream's error.
pub fn serve_one(bar: &mut dyn Bar, stream: UnixStream, welcome: &Welcome) -> io::Result<()> {
    Connection::greet(stream)?.serve_alone(bar, welcome)
}
