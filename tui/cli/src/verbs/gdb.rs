//! `gdb`: serves cores to one GDB after the other, until Ctrl-C; when one leaves, the cores go on.

use super::serve::{Bound, own_socket};
use crate::interrupt::Stop;
use crate::output::say;
use crate::target::{Style, core_of, open};
use crate::verb::{Pages, Verb};
use ::gdb::Wire;
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use launch::debugging::CoreControl;
use launch::outcome::RunError;
use layouts::CoreId;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;
use transport::serve::bind;

/// Serve cores to GDB.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GdbArguments {
    /// The cores, each a thread: 0:1-2:brisc,0:1-2:trisc0.
    #[arg(required = true, value_delimiter = ',', value_name = "CORE")]
    pub(crate) cores: Vec<String>,
    /// The Unix socket at which clients are awaited, one after the other; only its owner can use it.
    /// By default one of this process in the user's runtime folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// A TCP port of this host instead, which any user of this host can use; 0 for a free one.
    #[arg(long, conflicts_with = "socket", value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Speak on standard input and output instead, for GDB's `target remote |`.
    #[arg(long, conflicts_with_all = ["port", "socket"])]
    pub(crate) stdio: bool,
}

impl Verb for GdbArguments {
    const NAME: &str = "gdb";
    const PAGES: Pages = &[("gdb", include_str!("../manual/verbs/gdb.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("gdb")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, target: &Opening, _: Style) -> Result<Outcome, Failure> {
        run(target, self)
    }
}

/// The first port that a user may listen at.
const FIRST_PORT: u16 = 1024;

/// Time between two looks for a client.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn run(opening: &Opening, options: &GdbArguments) -> Result<Outcome, Failure> {
    // Invalid arguments are reported before a target is opened.
    let places: Result<Vec<_>, _> = options.cores.iter().map(|core| locate::core(core)).collect();
    let places = places.map_err(Failure::Usage)?;
    let stop = Stop::listen()?;
    let mut machine = open(opening)?.into_machine();
    let mesh = machine.mesh();
    let cores: Result<Vec<CoreId>, _> =
        places.into_iter().map(|place| core_of(place, &mesh)).collect();
    let cores = cores?;
    if let Some(twice) = cores.iter().enumerate().find(|(at, core)| cores[..*at].contains(core)) {
        return Err(Failure::Usage(format!("{} is given twice", twice.1)));
    }
    let layout = mesh.layout();
    let failed = |error: RunError| Failure::of_run(&opening.words, layout, &error);
    // A core that is refused is refused before a client comes.
    machine.target().commanded_by("gdb");
    for core in &cores {
        CoreControl::attach(machine.target(), *core).map_err(failed)?;
    }
    let path = options.socket.clone().unwrap_or_else(|| own_socket("gdb"));
    let mut bound = Bound::default();
    let door = match options.port {
        _ if options.stdio => Door::Stdio,
        Some(port) => Door::port(port)?,
        None => {
            let door = Door::socket(&path)?;
            bound.add(&path);
            door
        }
    };
    stop.takes_time();
    let names: Vec<String> = cores.iter().map(ToString::to_string).collect();
    while let Some(wire) = door.client(&stop)? {
        let mut tell = |error: &RunError| say(&error.sentence(layout));
        let mut wanted = || !stop.is_requested();
        ::gdb::serve(machine.target(), &cores, wire, &mut wanted, &mut tell).map_err(failed)?;
        say(&format!("the session has ended; no longer controlled: {}", names.join(", ")));
        if matches!(door, Door::Stdio) && !stop.is_requested() {
            return Ok(Outcome::Healthy);
        }
    }
    Err(Failure::Interrupted)
}

/// Where clients come from.
enum Door {
    Stdio,
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl Door {
    fn socket(path: &Path) -> Result<Self, Failure> {
        let listener = bind(path).map_err(|error| Failure::Usage(error.to_string()))?;
        listener.set_nonblocking(true).map_err(|error| broken(&error))?;
        Ok(Self::Unix(listener, path.to_owned()))
    }

    fn port(port: u16) -> Result<Self, Failure> {
        if (1..FIRST_PORT).contains(&port) {
            let why = format!("port {port}: those below {FIRST_PORT} are the system's");
            return Err(Failure::Usage(why));
        }
        let failed = |error: io::Error| Failure::Usage(format!("port {port}: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        say("any user of this host can connect to the port, and change memory and registers");
        Ok(Self::Tcp(listener))
    }

    /// Waits for the next client; none if the user does not want to any longer.
    fn client(&self, stop: &Stop) -> Result<Option<Wire>, Failure> {
        let at = match self {
            Self::Stdio if stop.is_requested() => return Ok(None),
            Self::Stdio => return Ok(Some(Wire::new(io::stdin(), io::stdout()))),
            Self::Unix(_, path) => path.display().to_string(),
            Self::Tcp(listener) => listener.local_addr().map_err(|e| broken(&e))?.to_string(),
        };
        say(&format!("waits for a client: gdb-multiarch -ex 'target remote {at}' FILE.elf"));
        while !stop.is_requested() {
            match self.accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(PAUSE);
                }
                client => return client.map_err(|error| broken(&error)),
            }
        }
        Ok(None)
    }

    fn accept(&self) -> io::Result<Option<Wire>> {
        match self {
            Self::Stdio => Ok(None),
            Self::Unix(listener, _) => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(false)?;
                Wire::of_unix(socket).map(Some)
            }
            Self::Tcp(listener) => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(false)?;
                Wire::of_tcp(socket).map(Some)
            }
        }
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure::Usage(format!("the client's connection: {error}"))
}
