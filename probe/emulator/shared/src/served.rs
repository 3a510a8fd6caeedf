//! The mesh of a program, served to meshscope while the program drives it.

use crate::machine::{Machine, say};
use crate::process::{with_bar, with_machine};
use crate::umd_mutex::{self, Held};
use layouts::{ChipKind, ChipLayout, WindowClass};
use machine::bar::{Bar, BarOp, Sharing, TargetView};
use machine::fault::{ChipAddress, Fault};
use machine::past::{Keeps, KeptPast, RecordedRun};
use machine::snapshot::{AccessError, StoppedCore};
use machine::target::Past;
use machine::window::all_but_the_drivers;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use transport::serve::{Server, bind};
use transport::wire::Welcome;

/// The environment variable with the path of the socket on which the mesh is served.
pub const SOCKET: &str = "MESHSCOPE_SOCKET";
/// The environment variable that, if set, keeps the mesh after the program has ended: its process
/// stays, and serves.
pub const KEEP: &str = "MESHSCOPE_KEEP";

/// Windows of each class at its end that the clients of the socket use: programs take the first ones.
const WINDOWS: u16 = 16;

/// Whether the mesh is served; not set before the first mesh.
static SERVED: OnceLock<bool> = OnceLock::new();

/// Serves the mesh where the environment asks for it. Once for each process: a
/// later mesh is served on the same socket.
pub(crate) fn serve() {
    SERVED.get_or_init(|| {
        let Some(socket) = std::env::var_os(SOCKET) else { return false };
        let started = start(Path::new(&socket));
        if let Err(why) = &started {
            say(&format!("the mesh is not served: {why}"));
        }
        started.is_ok()
    });
}

fn start(socket: &Path) -> Result<(), String> {
    let of_program = with_machine(|program| {
        let (chip, devices) = (program.bar().chip(), program.bar().most_devices());
        (program.target().to_owned(), program.abilities(), chip, devices)
    });
    let (machine, abilities, chip, devices) = of_program.ok_or("there is none")?;
    let abilities = abilities?;
    let listener = bind(socket).map_err(|error| error.to_string())?;
    let server = Server::start(listener, &machine).map_err(|error| error.to_string())?;
    let welcome = Welcome {
        machine,
        abilities,
        devices: Some(devices),
        windows: windows(chip.layout()),
        ..Welcome::default()
    };
    server.open(Box::new(ProgramBar { chip, devices, held: BTreeMap::new() }), welcome);
    say(&format!("the mesh is served: --target socket:{}", socket.display()));
    // It ends with the process.
    drop(server);
    Ok(())
}

/// Returns what the mesh keeps of its past: its run, for clients that record it.
pub(crate) fn kept() -> Keeps {
    if std::env::var_os(SOCKET).is_some() { Keeps::Run } else { Keeps::Nothing }
}

/// Whether the mesh outlives the program: only one that is served.
pub(crate) fn keeps() -> bool {
    SERVED.get() == Some(&true) && std::env::var_os(KEEP).is_some()
}

/// The error of an access to a machine that its program has ended.
fn absent() -> AccessError {
    AccessError::DeviceGone("its program has closed the mesh".into())
}

/// Returns the windows at the end of each class.
fn windows(layout: &ChipLayout) -> Vec<u16> {
    let last = |window: &u16| {
        let has = |class: &&WindowClass| (class.first..class.first + class.count).contains(window);
        let class = layout.bar.windows.iter().find(has);
        class.is_some_and(|it| it.first + it.count - *window <= WINDOWS.min(it.count / 2))
    };
    all_but_the_drivers(layout).into_iter().filter(last).collect()
}

/// The bar of the program's machine, of which each access waits for its turn.
struct ProgramBar {
    chip: ChipKind,
    devices: u8,
    /// The mutexes of tt-umd that a client has, by device.
    held: BTreeMap<u8, Held>,
}

impl ProgramBar {
    /// Tells that the client with the mutexes lives.
    fn live(&mut self) -> Result<(), AccessError> {
        let before = self.held.len();
        self.held.retain(|_, held| held.lives());
        if self.held.len() == before {
            return Ok(());
        }
        Err(AccessError::Overtaken("the program has taken over the routing queues".into()))
    }
}

impl Bar for ProgramBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        self.live()?;
        let done = with_bar(|bar| bar.submit(batch, answer)).unwrap_or_else(|| Err(absent()));
        self.live()?;
        done
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    /// The program's tt-umd uses the same queues, and would take a client's answers for its own.
    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.held.remove(&device);
        let taken = umd_mutex::take(device).map_err(|error| {
            AccessError::Unreachable(format!("the program keeps the routing queues: {error}"))
        })?;
        self.held.extend(taken.map(|held| (device, held)));
        Ok(Sharing::Shared)
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.held.remove(&device);
        Ok(())
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        with_bar(|bar| bar.disrupt(at, fault)).unwrap_or_else(|| Err(absent()))
    }

    fn past(&mut self, view: TargetView) -> Option<Box<dyn Past>> {
        with_bar(|bar| bar.past(view)).flatten()
    }

    fn kept_past(&self) -> Option<KeptPast> {
        with_bar(|bar| bar.kept_past()).flatten()
    }

    fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        with_machine(Machine::recorded_run).flatten()
    }

    fn most_devices(&self) -> u8 {
        self.devices
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        with_bar(|bar| bar.stopped_cores(chips)).unwrap_or_else(Vec::new)
    }

    fn remarks(&mut self) -> Vec<String> {
        with_bar(|bar| bar.remarks()).unwrap_or_else(Vec::new)
    }
}
