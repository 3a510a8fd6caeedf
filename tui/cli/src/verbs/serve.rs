//! `serve`: holds a simulated mesh on a socket, so that it outlives its clients; one socket for
//! each host.

use crate::args::positional_target;
use crate::interrupt::Signals;
use crate::output::say;
use crate::target::Style;
use crate::verb::{Pages, Verb};
use crate::waiting::Waiting;
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use images::ImageMap;
use layouts::ClusterDescriptor;
use machine::bar::Bar;
use machine::past::Keeps;
use machine::progress::Listener;
use machine::target::Abilities;
use probe::session::{OpenError, Session, served_simulator};
use probe::spec::{Simulator, TargetSpec};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use transport::emulator_bar;
use transport::hosts::HostBar;
use transport::serve::{Server, bind};
use transport::shared_bar::SharedBar;
use transport::ttsim::HostCommand;
use transport::umd;
use transport::wire::Welcome;
use workloads::mux::MuxScene;
use workloads::scene::Scene;

/// Hold a simulated mesh on a Unix socket, so that it outlives its clients (--target
/// socket:PATH).
///
/// Any number of clients read it; one at a time, with --allow, may change it. Only its owner
/// can open the socket. An existing socket is replaced only if no server answers on it.
#[derive(clap::Args, Debug)]
pub(crate) struct ServeArguments {
    /// The mesh, such as n300, emulator:n300,seed=3 or ttsim:<library>.
    pub(crate) mesh: Option<String>,
    /// The socket's path. Given once for each host of a mesh of several; each socket has the
    /// devices of one host.
    #[arg(long, value_name = "PATH", required_unless_present = "umd")]
    pub(crate) socket: Vec<PathBuf>,
    /// Serve it to tools of tt-umd, such as tt-exalens, as a simulation server: a socket for each of
    /// its chips, in a new folder.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) umd: bool,
}

impl Verb for ServeArguments {
    const NAME: &str = "serve";
    const PAGES: Pages = &[("serve", include_str!("../manual/verbs/serve.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("serve")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, target: &Opening, _: Style) -> Result<Outcome, Failure> {
        let named = self.mesh.as_deref();
        let named = named.map(|mesh| positional_target(mesh).unwrap_or_else(|| mesh.to_owned()));
        let mesh = named.unwrap_or_else(|| target.words.clone());
        if self.umd {
            run_umd(&Opening { words: mesh, ..target.clone() })
        } else {
            run(&mesh, &self.socket)
        }
    }
}

pub(super) fn run(mesh: &str, sockets: &[PathBuf]) -> Result<Outcome, Failure> {
    let opening = |error: OpenError| Failure::of_open(mesh, &error);
    let (served, described) = match TargetSpec::parse(mesh).map_err(|e| opening(e.into()))? {
        TargetSpec::Emulator(scene) => {
            // A client may record its run.
            let scene = Scene { keeps: Keeps::Run, ..scene };
            let described = scene.descriptor().map_err(|e| opening(e.into()))?;
            let described = Some(described).filter(|_| scene.host.is_none());
            (Simulated::Emulator(scene), described)
        }
        TargetSpec::Study(scene) => (Simulated::Study(scene), None),
        TargetSpec::Ttsim(simulator) => (Simulated::Ttsim(simulator), None),
        _ => return Err(Failure::Usage(format!("{mesh}: only simulated meshes are served"))),
    };
    let hosts = described.as_ref().map_or(1, ClusterDescriptor::host_count);
    if sockets.len() != 1 && sockets.len() != usize::from(hosts) {
        let once = if hosts == 1 { "" } else { ", or once for each" };
        let why = format!("{mesh} has {hosts} host(s): --socket must be given once{once}");
        return Err(Failure::Usage(why));
    }
    // Sockets are bound first: early clients wait for the mesh, and a path in use is reported at
    // once.
    let mut bound = Bound::default();
    let mut servers = Vec::new();
    for socket in sockets {
        let listener = bind(socket).map_err(|error| Failure::Usage(error.to_string()))?;
        bound.add(socket);
        servers.push(Server::start(listener, mesh).map_err(|error| internal(&error))?);
    }
    let (bar, abilities) = {
        let waiting = Waiting::on(mesh);
        build(mesh, &served, &waiting.listener()).map_err(opening)?
    };
    let (ended, end) = tokio::sync::mpsc::channel(sockets.len());
    let bars = bars(bar, described.as_ref(), sockets.len());
    for ((bar, host), (server, socket)) in bars.into_iter().zip(servers.into_iter().zip(sockets)) {
        let machine = mesh.to_owned() + &host.map_or_else(String::new, |n| format!(",host={n}"));
        say(&format!("{machine} is served: --target socket:{}", socket.display()));
        let welcome = Welcome {
            machine,
            abilities: abilities.clone(),
            devices: Some(bar.most_devices()),
            elsewhere: bar.elsewhere(),
            ..Welcome::default()
        };
        server.open(bar, welcome);
        let ended = ended.clone();
        // The server ends; there is no place to report this error.
        std::thread::spawn(move || drop(ended.blocking_send(server.wait())));
    }
    wait(end)
}

/// Serves a target to tools of tt-umd until a signal.
fn run_umd(target: &Opening) -> Result<Outcome, Failure> {
    let opening = |error: OpenError| Failure::of_open(&target.words, &error);
    let described = match TargetSpec::parse(&target.words).map_err(|e| opening(e.into()))? {
        TargetSpec::Emulator(scene) => scene.descriptor().map_err(|e| opening(e.into()))?.to_yaml(),
        _ => String::new(),
    };
    let session = {
        let waiting = Waiting::on(&target.words);
        let host = HostCommand::default();
        Session::open_with(&target.words, &host, &target.options, &waiting.listener())
    };
    let served = session.map_err(opening)?.into_target();
    let server = umd::server::Server::start(served, described).map_err(|error| internal(&error))?;
    say(&format!("{} is served: --target umd-sim:{}", target.words, server.folder().display()));
    let (_open, end) = tokio::sync::mpsc::channel(1);
    wait(end)
}

/// A mesh that can be served.
enum Simulated {
    Emulator(Scene),
    Study(MuxScene),
    Ttsim(Simulator),
}

/// Brings the mesh up.
fn build(
    words: &str,
    mesh: &Simulated,
    listener: &Listener,
) -> Result<(Box<dyn Bar>, Abilities), OpenError> {
    match mesh {
        Simulated::Emulator(scene) => {
            let (mut images, _) = ImageMap::firmware();
            let target = scene.build_telling(&mut images, listener)?;
            Ok((target.into_bar(), emulator_bar::abilities()))
        }
        Simulated::Study(scene) => {
            let target = scene.build(&mut ImageMap::firmware().0)?;
            Ok((target.into_bar(), emulator_bar::abilities()))
        }
        Simulated::Ttsim(simulator) => {
            served_simulator(words, simulator, &HostCommand::default(), listener)
        }
    }
}

/// One machine, or one for each host.
fn bars(
    bar: Box<dyn Bar>,
    mesh: Option<&ClusterDescriptor>,
    sockets: usize,
) -> Vec<(Box<dyn Bar>, Option<u16>)> {
    let (Some(mesh), true) = (mesh, sockets > 1) else { return vec![(bar, None)] };
    let shared = SharedBar::new(bar);
    let of_host = |host| {
        let bar: Box<dyn Bar> = Box::new(HostBar::of(mesh, host, Box::new(shared.another())));
        (bar, Some(host))
    };
    (0..sockets as u16).map(of_host).collect()
}

/// Returns the path of a socket of this process, for a verb.
pub(super) fn own_socket(verb: &str) -> PathBuf {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let name = format!("meshscope-{verb}-{}.sock", std::process::id());
    folder.unwrap_or_else(std::env::temp_dir).join(name)
}

/// Sockets, which are removed at the end unless the path now holds another file.
#[derive(Default)]
pub(super) struct Bound<'a>(Vec<(&'a Path, (u64, u64))>);

impl<'a> Bound<'a> {
    /// Adds a socket.
    pub(super) fn add(&mut self, socket: &'a Path) {
        self.0.extend(identity(socket).map(|id| (socket, id)));
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        for (socket, id) in &self.0 {
            if identity(socket) == Some(*id) {
                let _ = std::fs::remove_file(socket);
            }
        }
    }
}

/// Device and inode of a path.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let about = std::fs::symlink_metadata(path).ok()?;
    Some((about.dev(), about.ino()))
}

fn internal(error: &io::Error) -> Failure {
    Failure::Internal(format!("serving: {error}"))
}

/// Waits for a signal, or for the server's own end, which is an error.
fn wait(mut end: tokio::sync::mpsc::Receiver<io::Result<()>>) -> Result<Outcome, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| internal(&error))?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(|error| internal(&error))?;
        tokio::select! {
            () = signals.any() => Err(Failure::Interrupted),
            served = end.recv() => match served {
                Some(Err(error)) => Err(internal(&error)),
                Some(Ok(())) | None => Err(Failure::Internal("the server ended".into())),
            },
        }
    })
}
