//! The files of a process that runs tt-metal, as the proc file system tells: its logs, its caches of
//! kernels, and the firmware of its package (tt-metal.md 8.1, tt-metal.md 8.3).

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Most bytes of a process's environment or list of mappings that are read.
const MOST_BYTES: u64 = 16 << 20;
/// tt-metal's host library.
const LIBRARY: &str = "libtt_metal.so";
/// The firmware of a package, below its root.
const FIRMWARE: &str = "tt_metal/pre-compiled";
/// Where Inspector listens: a port, to which tt-metal adds the rank of the process.
const INSPECTOR_ADDRESS: &str = "TT_METAL_INSPECTOR_RPC_SERVER_ADDRESS";
const INSPECTOR_PORT: u16 = 50051;
const MOST_RANKS: u16 = 256;
/// The state of a listening socket in the kernel's table.
const LISTEN: &str = "0A";
/// The name of a cache of kernels; releases append a build key.
const CACHE: &str = "tt-metal-cache";

/// A process that runs tt-metal on a machine, with the directories of its ELFs and logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetalProcess {
    /// Its process id.
    pub pid: u32,
    /// Name of its program.
    pub name: String,
    /// The directories of its ELFs and logs.
    pub directories: Vec<PathBuf>,
    /// Where its Inspector answers, if it does.
    pub inspector: Option<SocketAddr>,
    /// Why its files are not known.
    pub unknown: Option<String>,
}

impl MetalProcess {
    /// Returns the process of this id; none if it does not run tt-metal.
    pub fn of(pid: u32) -> Option<Self> {
        Self::below(Path::new("/proc"), pid)
    }

    /// Returns a process of a proc file system at another place.
    fn below(root: &Path, pid: u32) -> Option<Self> {
        let folder = root.join(pid.to_string());
        let name = fs::read_to_string(folder.join("comm"));
        let name = name.map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned());
        let found = library(&folder).and_then(|library| match library {
            Some(library) => {
                let files = Files::of(&folder)?;
                Ok(Some((files.directories(&library), files.inspector(root, &folder))))
            }
            None => Ok(None),
        });
        let ((directories, inspector), unknown) = match found {
            Ok(Some(found)) => (found, None),
            Ok(None) => return None,
            // It has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => (Default::default(), Some(format!("its files are not known: {error}"))),
        };
        Some(Self { pid, name, directories, inspector, unknown })
    }
}

/// What a process says of its files.
struct Files {
    environment: HashMap<OsString, PathBuf>,
    working: PathBuf,
}

impl Files {
    fn of(folder: &Path) -> io::Result<Self> {
        let environment = read(&folder.join("environ"))?;
        let variables = environment.split(|byte| *byte == 0).filter_map(|variable| {
            let at = variable.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (variable.get(..at)?, variable.get(at + 1..)?);
            let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            (!value.is_empty()).then(|| (text(name), text(value).into()))
        });
        let environment = variables.collect();
        Ok(Self { environment, working: fs::read_link(folder.join("cwd"))? })
    }

    /// Returns the directories that exist, with the place of tt-metal's library.
    fn directories(&self, library: &Path) -> Vec<PathBuf> {
        let named = |name: &str| {
            Some(self.working.join(self.environment.get(name.as_ref() as &std::ffi::OsStr)?))
        };
        let logs = named("TT_METAL_LOGS_PATH").unwrap_or_else(|| self.working.clone());
        let mut directories = vec![logs.join("generated")];
        let usual = || named("HOME").map_or_else(std::env::temp_dir, |home| home.join(".cache"));
        directories.extend(caches(&named("TT_METAL_CACHE").unwrap_or_else(usual)));
        let roots = ["TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME"].into_iter().filter_map(named);
        let roots = roots.chain(library.ancestors().map(Path::to_owned));
        directories
            .extend(roots.map(|root| root.join(FIRMWARE)).find(|firmware| firmware.is_dir()));
        directories.retain(|directory| directory.is_dir());
        directories
    }

    /// Returns the address of its Inspector: that on which this process listens, and not another of
    /// the host. In another network namespace the address would be somebody else's.
    fn inspector(&self, root: &Path, folder: &Path) -> Option<SocketAddr> {
        let network = |folder: &Path| fs::read_link(folder.join("ns/net")).ok();
        if network(folder) != network(&root.join("self")) {
            return None;
        }
        let named = self.environment.get(INSPECTOR_ADDRESS.as_ref() as &std::ffi::OsStr);
        let port = named.and_then(|it| it.to_str()?.rsplit(':').next()?.parse().ok());
        let first: u16 = port.unwrap_or(INSPECTOR_PORT);
        let own = listens(folder).into_iter();
        let own = own.filter(|at| (first..first.saturating_add(MOST_RANKS)).contains(&at.port()));
        own.min_by_key(SocketAddr::port)
    }
}

/// Returns the IPv4 addresses on which a process listens.
fn listens(folder: &Path) -> Vec<SocketAddr> {
    let descriptors = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
    let sockets = descriptors.filter_map(|it| fs::read_link(it.path()).ok()).filter_map(|file| {
        let inode = file.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        Some(inode.to_owned())
    });
    let sockets: HashSet<String> = sockets.collect();
    // Without it nothing is asked.
    let Ok(table) = read(&folder.join("net/tcp")) else { return Vec::new() };
    let table = String::from_utf8_lossy(&table).into_owned();
    let listening = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let own = *cells.get(3)? == LISTEN && sockets.contains(*cells.get(9)?);
        let (address, port) = cells.get(1).filter(|_| own)?.split_once(':')?;
        // The kernel prints the bytes of the address as a number of this machine.
        let address = Ipv4Addr::from(u32::from_str_radix(address, 16).ok()?.to_ne_bytes());
        let address = if address.is_unspecified() { Ipv4Addr::LOCALHOST } else { address };
        Some(SocketAddr::from((address, u16::from_str_radix(port, 16).ok()?)))
    };
    table.lines().filter_map(listening).collect()
}

/// Returns the caches of kernels that tt-metal keeps where it is not told otherwise, as it would for a
/// process with these variables.
pub fn usual_caches(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let usual = || variable("HOME").map(|home| Path::new(&home).join(".cache"));
    let folder = variable("TT_METAL_CACHE").map(PathBuf::from).or_else(usual);
    folder.map_or_else(Vec::new, |folder| caches(&folder))
}

/// Returns the caches in a directory.
fn caches(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_cache = |name: OsString| name.as_encoded_bytes().starts_with(CACHE.as_bytes());
    let caches = entries.filter(|entry| is_cache(entry.file_name())).map(|entry| entry.path());
    let mut caches: Vec<PathBuf> = caches.collect();
    caches.sort();
    caches
}

/// Returns the file of tt-metal's library that a process has mapped.
fn library(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mappings = read(&folder.join("maps"))?;
    let file = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'/')?;
        Some(PathBuf::from(OsString::from_vec(line.get(at..)?.to_vec())))
    };
    let is_library = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(LIBRARY.as_bytes()))
    };
    Ok(mappings.split(|byte| *byte == b'\n').filter_map(file).find(is_library))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::os::unix::fs::symlink;

    /// Creates a proc file system with process 10, and the folders of a home, a package and a run.
    fn machine(name: &str, environment: &str, library: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("process-{}-{name}", std::process::id()));
        let folder = root.join("proc/10");
        for made in [
            "home/.cache/tt-metal-cache123",
            "home/.cache/other",
            "cache/tt-metal-cache",
            "package/tt_metal/pre-compiled",
            "package/build/lib",
            "run/generated/inspector",
            "logs/generated",
        ] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("comm"), "python\n").unwrap();
        let at = root.display().to_string();
        let environment = environment.replace("ROOT", &at).replace(' ', "\0");
        fs::write(folder.join("environ"), environment).unwrap();
        let maps = format!(
            "7f00-7f01 r-xp 0 00:1 2  /lib/libc.so\n7f02-7f03 r-xp 0 00:1 3  {at}/{library}\n"
        );
        fs::write(folder.join("maps"), maps).unwrap();
        symlink(root.join("run"), folder.join("cwd")).unwrap();
        root
    }

    fn found(root: &Path) -> Option<(Vec<String>, Option<String>)> {
        let process = MetalProcess::below(&root.join("proc"), 10)?;
        let below = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
        Some((process.directories.iter().map(below).collect(), process.unknown))
    }

    #[test]
    fn a_process_tells_its_logs_caches_and_package() {
        let root = machine("usual", "HOME=ROOT/home SHELL= X", "package/build/lib/libtt_metal.so");
        let usual =
            ["run/generated", "home/.cache/tt-metal-cache123", "package/tt_metal/pre-compiled"];
        assert_eq!(found(&root).unwrap(), (usual.map(str::to_owned).to_vec(), None));
        fs::remove_dir_all(root).unwrap();
        let set = "TT_METAL_CACHE=../cache TT_METAL_LOGS_PATH=ROOT/logs TT_METAL_HOME=ROOT/package HOME=ROOT/home";
        let root = machine("set", set, "elsewhere/libtt_metal.so");
        let set = ["logs/generated", "cache/tt-metal-cache", "package/tt_metal/pre-compiled"];
        let directories = found(&root).unwrap().0;
        let last = |path: &String| path.trim_start_matches("run/../").to_owned();
        assert_eq!(directories.iter().map(last).collect::<Vec<_>>(), set);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn an_inspector_is_the_socket_on_which_its_own_process_listens() {
        let address = "TT_METAL_INSPECTOR_RPC_SERVER_ADDRESS=localhost:6000";
        let at = |name: &str, environment: &str, other: &str| {
            let root = machine(name, environment, "package/libtt_metal.so");
            let folder = root.join("proc/10");
            for made in ["fd", "net", "ns", "../self/ns"] {
                fs::create_dir_all(folder.join(made)).unwrap();
            }
            symlink("net:[1]", folder.join("../self/ns/net")).unwrap();
            symlink(other, folder.join("ns/net")).unwrap();
            symlink("socket:[71]", folder.join("fd/5")).unwrap();
            symlink("socket:[72]", folder.join("fd/6")).unwrap();
            symlink("/dev/null", folder.join("fd/7")).unwrap();
            // Ports 50051 of another process and connected; 50053 and 6001 of this one.
            let rows = [("0100007F:C383", "0A", 70), ("0100007F:C384", "01", 71)];
            let own = [("0100007F:C385", "0A", 71), ("00000000:1771", "0A", 72)];
            let row = |(at, state, inode): &(&str, &str, u32)| {
                format!("   0: {at} 00000000:0000 {state} 0:0 00:0 0 0 0 {inode} 1 0\n")
            };
            let table = rows.iter().chain(&own).map(row).collect::<String>();
            fs::write(folder.join("net/tcp"), format!("  sl  local_address\nx\n{table}")).unwrap();
            let found = MetalProcess::below(&root.join("proc"), 10).unwrap().inspector;
            fs::remove_dir_all(root).unwrap();
            found.map(|at| at.to_string())
        };
        assert_eq!(at("usual", "X", "net:[1]").unwrap(), "127.0.0.1:50053");
        assert_eq!(at("named", address, "net:[1]").unwrap(), "127.0.0.1:6001");
        assert_eq!(at("container", "X", "net:[2]"), None);
    }

    #[test]
    fn a_process_without_tt_metal_is_none_and_a_closed_one_says_why() {
        let root = machine("other", "", "package/libother.so");
        assert_eq!(found(&root), None);
        assert_eq!(MetalProcess::below(&root.join("proc"), 11), None);
        fs::remove_file(root.join("proc/10/maps")).unwrap();
        // Not even root reads a directory as a file.
        fs::create_dir(root.join("proc/10/maps")).unwrap();
        let (directories, unknown) = found(&root).unwrap();
        assert!(directories.is_empty() && unknown.unwrap().contains("not known"));
        fs::remove_dir_all(root).unwrap();
    }
}
