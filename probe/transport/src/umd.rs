//! The simulation server of tt-umd: a Unix socket per simulated chip, which takes tile, address and
//! size. [`bar`] reads one that another program runs; [`server`] offers a target of ours as one.
//!
//! Servers have folders of their own in the folder of temporary files, each with the sockets of its
//! chips. The names and messages are those of tt-umd 0.9 (`simulation_server_protocol.fbs`). Protocol
//! and server check nothing, and one bad address ends the program at the other end.

pub mod bar;
#[allow(unsafe_code, reason = "FlatBuffers that were verified are read")]
mod message;
pub mod server;

use machine::snapshot::AccessError;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// What the name of a server's folder begins with; its number follows.
const FOLDER: &str = "tt-umd-sim-server-";
/// What the name of a chip's socket begins with; its number and `.sock` follow.
const SOCKET: &str = "tt-umd-sim-";
/// Most folders that a new server tries.
const MOST_SERVERS: u32 = 1000;

/// Returns the path of a chip's socket in a server's folder.
fn socket(folder: &Path, chip: u32) -> PathBuf {
    folder.join(format!("{SOCKET}{chip}.sock"))
}

/// Returns the sockets in a folder by chip, without those of servers that have ended.
fn live_sockets(folder: &Path) -> io::Result<BTreeMap<u32, UnixStream>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix(SOCKET)?.strip_suffix(".sock"));
        let Some(chip) = number.and_then(|number| number.parse().ok()) else { continue };
        if entry.file_type()?.is_socket()
            && let Ok(stream) = UnixStream::connect(entry.path())
        {
            found.insert(chip, stream);
        }
    }
    Ok(found)
}

/// Returns the folder of the only server that runs on this host.
///
/// # Errors
/// There is none, or several.
pub fn only_server() -> Result<PathBuf, AccessError> {
    let temporary = std::env::temp_dir();
    let unreachable = AccessError::Unreachable;
    let entries = std::fs::read_dir(&temporary);
    let entries =
        entries.map_err(|error| unreachable(format!("{}: {error}", temporary.display())))?;
    let is_server = |entry: &std::fs::DirEntry| {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDER));
        // A link may lead anywhere.
        named && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let folders = entries.flatten().filter(is_server).map(|entry| entry.path());
    let lives = |folder: &PathBuf| live_sockets(folder).is_ok_and(|sockets| !sockets.is_empty());
    let mut live: Vec<_> = folders.filter(lives).collect();
    live.sort();
    match live.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(unreachable(format!(
            "no simulation server of tt-umd runs in {}",
            temporary.display()
        ))),
        several => {
            let names: Vec<_> = several.iter().map(|it| it.display().to_string()).collect();
            Err(unreachable(format!("several run; name one: umd-sim:{}", names.join(", umd-sim:"))))
        }
    }
}
