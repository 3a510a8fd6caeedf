//! `serve`: holds an emulated mesh on a socket, so that it outlives its clients; one socket for
//! each host.

use super::waiting::Waiting;
use crate::exit::{Failure, Outcome};
use crate::interrupt::Signals;
use crate::output::say;
use decode::images::ImageMap;
use layouts::ClusterDescriptor;
use machine::bar::Bar;
use probe::session::OpenError;
use probe::spec::TargetSpec;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use transport::emulator_bar::abilities;
use transport::hosts::HostBar;
use transport::serve::{Server, bind};
use transport::shared_bar::SharedBar;
use transport::wire::Welcome;

pub(super) fn run(mesh: &str, sockets: &[PathBuf]) -> Result<Outcome, Failure> {
    let opening = |error: OpenError| Failure::of_open(mesh, &error);
    let spec = TargetSpec::parse(mesh).map_err(|e| opening(e.into()))?;
    let TargetSpec::Emulator(scene) = spec else {
        return Err(Failure::Usage(format!("{mesh}: only emulated meshes are served")));
    };
    let described = scene.descriptor().map_err(|e| opening(e.into()))?;
    let hosts = if scene.host.is_some() { 1 } else { described.host_count() };
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
    let (mut images, _) = ImageMap::firmware();
    let bar = {
        let _waiting = Waiting::on(format!("{mesh}: bringing the mesh up ..."));
        scene.build(&mut images).map_err(|e| opening(e.into()))?.into_bar()
    };
    let (ended, end) = tokio::sync::mpsc::channel(sockets.len());
    let bars = bars(bar, &described, sockets.len());
    for ((bar, host), (server, socket)) in bars.into_iter().zip(servers.into_iter().zip(sockets)) {
        let machine = mesh.to_owned() + &host.map_or_else(String::new, |n| format!(",host={n}"));
        say(&format!("{machine} is served: --target socket:{}", socket.display()));
        let welcome = Welcome {
            machine,
            abilities: abilities(),
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

/// One machine, or one for each host.
fn bars(
    bar: Box<dyn Bar>,
    mesh: &ClusterDescriptor,
    sockets: usize,
) -> Vec<(Box<dyn Bar>, Option<u16>)> {
    if sockets == 1 {
        return vec![(bar, None)];
    }
    let shared = SharedBar::new(bar);
    let of_host = |host| {
        let bar: Box<dyn Bar> = Box::new(HostBar::of(mesh, host, Box::new(shared.another())));
        (bar, Some(host))
    };
    (0..sockets as u16).map(of_host).collect()
}

/// Sockets, which are removed at the end unless the path now holds another file.
#[derive(Default)]
struct Bound<'a>(Vec<(&'a PathBuf, (u64, u64))>);

impl<'a> Bound<'a> {
    fn add(&mut self, socket: &'a PathBuf) {
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
