//! `serve`: holds an emulated mesh on a socket, so that it outlives its clients.

use crate::exit::{Failure, Outcome};
use crate::interrupt::Signals;
use crate::output::say;
use probe::emulator_bar::PROFILE;
use probe::images::ImageMap;
use probe::serve::{bind, serve};
use probe::session::OpenError;
use probe::spec::TargetSpec;
use probe::wire::Welcome;
use std::io;
use std::path::Path;

pub(super) fn run(mesh: &str, socket: &Path) -> Result<Outcome, Failure> {
    let opening = |error: OpenError| Failure::of_open(mesh, &error);
    let spec = TargetSpec::parse(mesh).map_err(|e| opening(e.into()))?;
    let TargetSpec::Emulator(scene) = spec else {
        return Err(Failure::Usage(format!("{mesh}: only emulated meshes are served")));
    };
    // Bound first: whoever connects while the mesh is built waits for it, and a taken path is told at once.
    let place = socket.display();
    let listener = bind(socket).map_err(|e| Failure::Usage(format!("{place}: {e}")))?;
    let (mut images, _) = ImageMap::firmware();
    let built = scene.build(&mut images).map_err(|e| opening(e.into()));
    let mut bar = match built {
        Ok(target) => target.into_bar(),
        Err(failure) => {
            remove(socket);
            return Err(failure);
        }
    };
    let welcome = Welcome { machine: mesh.into(), profile: PROFILE.into(), ..Welcome::default() };
    say(&format!("{mesh} is served: --target socket:{place}"));
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || ended.send(serve(bar.as_mut(), listener, &welcome)));
    let result = wait(end);
    remove(socket);
    result
}

/// Waits for a signal, or for the server's own end, which is an error.
fn wait(end: tokio::sync::oneshot::Receiver<io::Result<()>>) -> Result<Outcome, Failure> {
    let internal = |e: io::Error| Failure::Internal(format!("serving: {e}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(internal)?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(internal)?;
        tokio::select! {
            () = signals.any() => Err(Failure::Interrupted),
            served = end => match served {
                Ok(Err(error)) => Err(internal(error)),
                Ok(Ok(())) | Err(_) => Err(Failure::Internal("the server ended".into())),
            },
        }
    })
}

/// A socket that nobody listens on is in the way of the next server.
fn remove(socket: &Path) {
    let _ = std::fs::remove_file(socket);
}
