//! `serve`: holds an emulated mesh on a socket, so that it outlives its clients; a mesh of several hosts on one each.

use crate::exit::{Failure, Outcome};
use crate::interrupt::Signals;
use crate::output::say;
use layouts::ClusterDescriptor;
use probe::bar::Bar;
use probe::emulator_bar::PROFILE;
use probe::hosts::{HostBar, SharedBar};
use probe::images::ImageMap;
use probe::serve::{bind, serve};
use probe::session::OpenError;
use probe::spec::TargetSpec;
use probe::wire::Welcome;
use std::io;
use std::path::PathBuf;

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
        let what = format!("{mesh} has {hosts} host(s): --socket must be given once{once}");
        return Err(Failure::Usage(what));
    }
    // Bound first: whoever connects while the mesh is built waits for it, and a taken path is told at once.
    let mut bound = Bound::default();
    let mut listeners = Vec::new();
    for socket in sockets {
        let taken = |e| Failure::Usage(format!("{}: {e}", socket.display()));
        listeners.push(bind(socket).map_err(taken)?);
        bound.0.push(socket);
    }
    let (mut images, _) = ImageMap::firmware();
    let bar = scene.build(&mut images).map_err(|e| opening(e.into()))?.into_bar();
    let (ended, end) = tokio::sync::mpsc::channel(sockets.len());
    let bars = bars(bar, &described, sockets.len());
    for ((mut bar, host), (listener, socket)) in
        bars.into_iter().zip(listeners.into_iter().zip(sockets))
    {
        let machine = mesh.to_owned() + &host.map_or_else(String::new, |n| format!(",host={n}"));
        say(&format!("{machine} is served: --target socket:{}", socket.display()));
        let welcome = Welcome {
            machine,
            profile: PROFILE.into(),
            devices: Some(bar.most_devices()),
            elsewhere: bar.elsewhere(),
            ..Welcome::default()
        };
        let ended = ended.clone();
        // Nobody listens to the end of a server any more when this fails.
        std::thread::spawn(move || {
            drop(ended.blocking_send(serve(bar.as_mut(), listener, &welcome)));
        });
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
    let shared = SharedBar::split(bar, sockets).into_iter();
    let of_host = |(host, bar)| {
        let bar: Box<dyn Bar> = Box::new(HostBar::of(mesh, host, Box::new(bar)));
        (bar, Some(host))
    };
    (0..).zip(shared).map(of_host).collect()
}

/// Sockets that are removed in the end: one that nobody listens on is in the way of the next server.
#[derive(Default)]
struct Bound<'a>(Vec<&'a PathBuf>);

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        for socket in &self.0 {
            let _ = std::fs::remove_file(socket);
        }
    }
}

/// Waits for a signal, or for the server's own end, which is an error.
fn wait(mut end: tokio::sync::mpsc::Receiver<io::Result<()>>) -> Result<Outcome, Failure> {
    let internal = |e: io::Error| Failure::Internal(format!("serving: {e}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(internal)?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(internal)?;
        tokio::select! {
            () = signals.any() => Err(Failure::Interrupted),
            served = end.recv() => match served {
                Some(Err(error)) => Err(internal(error)),
                Some(Ok(())) | None => Err(Failure::Internal("the server ended".into())),
            },
        }
    })
}
