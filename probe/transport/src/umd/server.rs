//! A target of ours as a simulation server: tools of tt-umd read and write all its chips.
//!
//! An access goes the way of any other: what the target refuses or does not reach is answered with
//! the status of an error, and the server goes on.

use super::message::{
    BESIDE_BYTES, Command, DeviceInfo, MOST_BYTES, Request, Response, WORMHOLE, cluster_descriptor,
    receive, send,
};
use super::{FOLDER, MOST_SERVERS, socket};
use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Delay before accepting is retried after a failure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A served target; its sockets are removed with it.
pub struct Server {
    folder: PathBuf,
}

/// What the connections share.
struct Served {
    target: Mutex<Box<dyn Target>>,
    cluster_descriptor: String,
}

impl Server {
    /// Serves a target in a new folder, with a socket for each of its chips. `cluster_descriptor` is
    /// UMD's description of the mesh, or empty.
    ///
    /// # Errors
    /// When the folder or a socket cannot be created, or no thread be started.
    pub fn start(target: Box<dyn Target>, cluster_descriptor: String) -> io::Result<Self> {
        let server = Self { folder: new_folder()? };
        let chips: Vec<ChipId> = target.mesh().chips.iter().map(|chip| chip.id).collect();
        let served = Arc::new(Served { target: Mutex::new(target), cluster_descriptor });
        for chip in chips {
            let listener = UnixListener::bind(socket(&server.folder, chip.0.into()))?;
            let served = Arc::clone(&served);
            spawn(move || {
                for stream in listener.incoming() {
                    let Ok(stream) = stream else {
                        std::thread::sleep(ACCEPT_PAUSE);
                        continue;
                    };
                    let served = Arc::clone(&served);
                    // A client that ends, or sends nonsense, ends alone.
                    let _ = spawn(move || drop(served.serve(chip, stream)));
                }
            })?;
        }
        Ok(server)
    }

    /// Returns the folder of its sockets.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn spawn(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name("umd-server".into()).spawn(run).map(drop)
}

/// Creates the folder with the lowest number that is free. Only this user can open its sockets.
fn new_folder() -> io::Result<PathBuf> {
    for number in 0..MOST_SERVERS {
        let folder = std::env::temp_dir().join(format!("{FOLDER}{number}"));
        match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|()| folder),
        }
    }
    Err(io::Error::other("too many simulation servers"))
}

impl Served {
    /// Answers the requests for a chip until the client closes the connection.
    fn serve(&self, chip: ChipId, mut stream: UnixStream) -> io::Result<()> {
        loop {
            let request = Request::decode(&receive(&mut stream)?)?;
            let answer = match request.command {
                Command::Read => self.read(chip, &request).encode(),
                Command::Write => self.write(chip, &request).encode(),
                Command::DeviceInfo => self.info(chip).encode(),
                Command::ClusterDescriptor => cluster_descriptor(&self.cluster_descriptor),
                // The server of an interactive program is not ended by its clients.
                Command::Shutdown => Response::default().encode(),
            };
            send(&mut stream, &answer)?;
        }
    }

    fn on_target<T>(&self, access: impl FnOnce(&mut dyn Target) -> T) -> T {
        access(self.target.lock().unwrap_or_else(PoisonError::into_inner).as_mut())
    }

    fn read(&self, chip: ChipId, request: &Request) -> Response {
        let Some(addr) = place(chip, request).filter(|_| request.size <= MOST_BYTES - BESIDE_BYTES)
        else {
            return Response::FAILED;
        };
        let plan = Plan { spans: vec![Span { addr, len: request.size }] };
        let snapshot = self.on_target(|target| target.read(&plan));
        let data = snapshot.bytes(addr, request.size);
        data.map_or(Response::FAILED, |data| Response { status: 0, data: data.to_vec() })
    }

    fn write(&self, chip: ChipId, request: &Request) -> Response {
        let data = request.data.get(..request.size as usize);
        let written = place(chip, request)
            .zip(data)
            .and_then(|(addr, data)| self.on_target(|target| target.write(addr, data)).ok());
        written.map_or(Response::FAILED, |()| Response::default())
    }

    fn info(&self, chip: ChipId) -> DeviceInfo {
        let soc_descriptor = self.on_target(|target| {
            let chip = target.mesh().chips.iter().find(|it| it.id == chip)?;
            let rows = chip.harvested_rows.as_deref().unwrap_or(&[]);
            Some(target.mesh().kind.layout().soc_descriptor(rows))
        });
        match soc_descriptor {
            Some(soc_descriptor) => DeviceInfo { status: 0, arch: WORMHOLE, soc_descriptor },
            None => DeviceInfo { status: -1, ..DeviceInfo::default() },
        }
    }
}

/// Returns where an access is; none outside the coordinates of a chip.
fn place(chip: ChipId, request: &Request) -> Option<NocAddr> {
    let tile = NocXy { x: request.x.try_into().ok()?, y: request.y.try_into().ok()? };
    Some(NocAddr { chip, tile, offset: request.address })
}

#[cfg(test)]
mod tests;
