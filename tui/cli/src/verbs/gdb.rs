//! `gdb`: serves cores to GDB, until it leaves or Ctrl-C; then the cores go on.

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
use std::time::Duration;

/// Serve cores to GDB.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GdbArguments {
    /// The cores, each a thread: 0:1-2:brisc,0:1-2:trisc0.
    #[arg(required = true, value_delimiter = ',', value_name = "CORE")]
    pub(crate) cores: Vec<String>,
    /// The port of this host, for a client of this host.
    #[arg(long, default_value_t = 3333, value_name = "N")]
    pub(crate) port: u16,
    /// Speak on standard input and output instead, for GDB's `target remote |`.
    #[arg(long, conflicts_with = "port")]
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

/// Time between two looks for a client.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn run(opening: &Opening, options: &GdbArguments) -> Result<Outcome, Failure> {
    // Invalid arguments are reported before a target is opened.
    let places: Result<Vec<_>, _> = options.cores.iter().map(|core| locate::core(core)).collect();
    let places = places.map_err(Failure::Usage)?;
    let stop = Stop::listen()?;
    let mut machine = open(opening)?;
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
    let listener = (!options.stdio).then(|| listen(options.port)).transpose()?;
    stop.takes_time();
    let Some(wire) = wire(listener.as_ref(), &stop)? else { return Err(Failure::Interrupted) };
    let mut tell = |error: &RunError| say(&error.sentence(layout));
    let served =
        ::gdb::serve(machine.target(), &cores, wire, &mut || !stop.is_requested(), &mut tell);
    served.map_err(failed)?;
    let names: Vec<String> = cores.iter().map(ToString::to_string).collect();
    say(&format!("the session has ended; no longer controlled: {}", names.join(", ")));
    if stop.is_requested() { Err(Failure::Interrupted) } else { Ok(Outcome::Healthy) }
}

/// Listens for clients of this host.
fn listen(port: u16) -> Result<TcpListener, Failure> {
    let failed = |error: io::Error| Failure::Usage(format!("port {port}: {error}"));
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Waits for the client; none if the user does not want to any longer.
fn wire(listener: Option<&TcpListener>, stop: &Stop) -> Result<Option<Wire>, Failure> {
    let Some(listener) = listener else {
        return Ok(Some(Wire::new(io::stdin(), io::stdout())));
    };
    let failed = |error: io::Error| Failure::Usage(format!("the client's connection: {error}"));
    let at = listener.local_addr().map_err(failed)?;
    say(&format!("waits for a client: gdb-multiarch -ex 'target remote {at}' FILE.elf"));
    while !stop.is_requested() {
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(false).map_err(failed)?;
                return Wire::of_socket(socket).map(Some).map_err(failed);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(None)
}
