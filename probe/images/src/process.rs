//! The files of a process that runs tt-metal, as the proc file system tells: its logs, its caches of
//! kernels, and the firmware of its package (tt-metal.md 8.1, tt-metal.md 8.3). Without a process: the
//! usual places of these files.

mod host;

use host::{Host, library, read};
use machine::clients::MetalProcess;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

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
/// The folder of the logs.
const LOGS: &str = "generated";

/// Returns the process of this id; none if it does not run tt-metal.
pub fn metal_process(pid: u32) -> Option<MetalProcess> {
    on(&Host::this(), pid)
}

/// Returns the process of this id that started ELFs of these folders on what it serves, as its
/// command line says; none if there is no such folder.
pub fn serving_process(pid: u32, folders: impl Fn(&str) -> Vec<PathBuf>) -> Option<MetalProcess> {
    let host = Host::this();
    let folder = host.process(pid);
    let words = read(&folder.join("cmdline")).ok()?;
    let working = fs::read_link(folder.join("cwd")).ok()?;
    let named = words.split(|byte| *byte == 0).filter_map(|word| str::from_utf8(word).ok());
    let directories = named.flat_map(folders).map(|named| working.join(named));
    let directories: Vec<PathBuf> = directories.filter(|named| named.is_dir()).collect();
    (!directories.is_empty()).then(|| MetalProcess { directories, ..process(&host, pid) })
}

/// Whether the logs in a directory can be those of another process than this one.
pub fn doubts(process: &MetalProcess, directory: &Path) -> bool {
    let shares = process.host.is_none() && process.shares_logs_with.is_some();
    shares && directory.ends_with(LOGS)
}

/// A process of which nothing else is known.
fn process(host: &Host, pid: u32) -> MetalProcess {
    MetalProcess {
        host: None,
        pid,
        name: host.name(pid),
        directories: Vec::new(),
        shares_logs_with: None,
        inspector: None,
        unknown: None,
    }
}

fn on(host: &Host, pid: u32) -> Option<MetalProcess> {
    let folder = host.process(pid);
    let found = library(&folder)
        .and_then(|library| library.map(|library| Ok((library, Files::of(&folder)?))).transpose());
    let known = process(host, pid);
    match found {
        Ok(Some((library, files))) => Some(MetalProcess {
            directories: files.directories(Some(&library)),
            shares_logs_with: host.other_user(pid, &files.logs()),
            inspector: files.inspector(host, &folder),
            ..known
        }),
        Ok(None) => None,
        // It has ended.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            let directories = host.home(pid).map_or_else(Vec::new, |home| usual_caches(&home));
            let searched = match &directories[..] {
                [] => "",
                _ => "; only the caches in its user's home are searched",
            };
            let unknown = format!(
                "its environment and its files may not be read: {error}; its logs and its package are \
                 not known{searched}"
            );
            Some(MetalProcess { directories, unknown: Some(unknown), ..known })
        }
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
            Some((text(name), text(value)))
        });
        Ok(Self::new(variables, fs::read_link(folder.join("cwd"))?))
    }

    fn new(variables: impl Iterator<Item = (OsString, OsString)>, working: PathBuf) -> Self {
        let set = variables.filter(|(_, value)| !value.is_empty());
        Self { environment: set.map(|(name, value)| (name, value.into())).collect(), working }
    }

    /// Returns a directory that a variable names.
    fn named(&self, name: &str) -> Option<PathBuf> {
        Some(self.working.join(self.environment.get(name.as_ref() as &std::ffi::OsStr)?))
    }

    fn logs(&self) -> PathBuf {
        self.named("TT_METAL_LOGS_PATH").unwrap_or_else(|| self.working.clone()).join(LOGS)
    }

    /// Returns the directories that exist, with the place of tt-metal's library if it is known.
    fn directories(&self, library: Option<&Path>) -> Vec<PathBuf> {
        let mut directories = vec![self.logs()];
        directories.extend(match (self.named("TT_METAL_CACHE"), self.named("HOME")) {
            (Some(folder), _) => caches(&folder),
            (None, Some(home)) => usual_caches(&home),
            (None, None) => caches(&std::env::temp_dir()),
        });
        let roots = ["TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME"];
        let roots = roots.into_iter().filter_map(|name| self.named(name));
        let roots = roots.chain(library.into_iter().flat_map(Path::ancestors).map(Path::to_owned));
        directories
            .extend(roots.map(|root| root.join(FIRMWARE)).find(|firmware| firmware.is_dir()));
        directories.retain(|directory| directory.is_dir());
        directories
    }

    /// Returns the address of its Inspector: that on which this process listens, and not another of
    /// the host. In another network namespace the address would be somebody else's.
    fn inspector(&self, host: &Host, folder: &Path) -> Option<SocketAddr> {
        let network = |folder: &Path| fs::read_link(folder.join("ns/net")).ok();
        if network(folder) != network(&host.processes.join("self")) {
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

/// Returns the directories where a process with these variables and this working directory would have
/// ELFs and logs, if they exist. Logs from before the machine started say nothing of its chips.
pub fn usual_places(
    variables: impl Iterator<Item = (OsString, OsString)>,
    working: PathBuf,
) -> Vec<PathBuf> {
    places_on(&Host::this(), &Files::new(variables, working))
}

fn places_on(host: &Host, files: &Files) -> Vec<PathBuf> {
    let mut directories = files.directories(None);
    directories
        .retain(|directory| !directory.ends_with(LOGS) || host.has_started_before(directory));
    directories
}

/// Returns the caches of kernels that tt-metal keeps below a home where it is not told otherwise.
fn usual_caches(home: &Path) -> Vec<PathBuf> {
    caches(&home.join(".cache"))
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

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

    fn host(root: &Path) -> Host {
        Host { processes: root.join("proc"), users: root.join("passwd") }
    }

    fn found(root: &Path) -> Option<(Vec<String>, Option<String>)> {
        let process = on(&host(root), 10)?;
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
            let found = on(&host(&root), 10).unwrap().inspector;
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
        assert_eq!(on(&host(&root), 11), None);
        fs::remove_file(root.join("proc/10/maps")).unwrap();
        // Not even root reads a directory as a file.
        fs::create_dir(root.join("proc/10/maps")).unwrap();
        let (directories, unknown) = found(&root).unwrap();
        assert!(directories.is_empty());
        let unknown = unknown.unwrap();
        assert!(
            unknown.starts_with("its environment and its files may not be read: "),
            "{unknown}"
        );
        assert!(unknown.ends_with("; its logs and its package are not known"), "{unknown}");
        // The list of users is open to all.
        let user = fs::metadata(root.join("proc/10")).unwrap().uid();
        let home = root.join("home").display().to_string();
        let users =
            format!("other:x:{}:9::/none:/bin/sh\nme:x:{user}:9:Me:{home}:/bin/sh\n", user + 1);
        fs::write(root.join("passwd"), users).unwrap();
        let (directories, unknown) = found(&root).unwrap();
        assert_eq!(directories, ["home/.cache/tt-metal-cache123"]);
        assert!(unknown.unwrap().ends_with("; only the caches in its user's home are searched"));
        fs::remove_dir_all(root).unwrap();
    }

    /// Makes process 11, which runs tt-metal and has a file open, a child of another.
    fn second(root: &Path, parent: u32, file: &str) {
        let folder = root.join("proc/11");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("fd")).unwrap();
        fs::copy(root.join("proc/10/maps"), folder.join("maps")).unwrap();
        fs::write(folder.join("status"), format!("Name:\tpython\nPPid:\t{parent}\n")).unwrap();
        symlink(root.join(file), folder.join("fd/4")).unwrap();
    }

    #[test]
    fn logs_that_another_process_writes_are_doubted() {
        let root = machine("logs", "X", "package/libtt_metal.so");
        let log = "run/generated/inspector/kernels.yaml";
        let doubted = || {
            let process = on(&host(&root), 10).unwrap();
            let doubted: Vec<bool> =
                process.directories.iter().map(|directory| doubts(&process, directory)).collect();
            (process.shares_logs_with, doubted)
        };
        assert_eq!(doubted(), (None, vec![false, false]));
        second(&root, 1, log);
        assert_eq!(doubted(), (Some(11), vec![true, false]), "the logs, not the package");
        second(&root, 1, "logs/generated/x");
        assert_eq!(doubted().0, None, "other logs");
        second(&root, 10, log);
        assert_eq!(doubted().0, None, "a child has the files of its parent open");
        second(&root, 1, log);
        fs::write(root.join("proc/11/maps"), "").unwrap();
        assert_eq!(doubted().0, None, "not tt-metal");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn logs_in_the_usual_place_are_newer_than_the_machine_is_up() {
        let root = machine("places", "X", "package/libtt_metal.so");
        fs::write(root.join("run/generated/inspector/kernels.yaml"), "").unwrap();
        let variables = [("HOME", root.join("home")), ("TT_METAL_HOME", root.join("package"))];
        let places = |start: u64| {
            fs::write(root.join("proc/stat"), format!("cpu 1 2\nbtime {start}\n")).unwrap();
            let variables = variables.iter().map(|(name, value)| ((*name).into(), value.into()));
            let places = places_on(&host(&root), &Files::new(variables, root.join("run")));
            let below = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
            places.iter().map(below).collect::<Vec<_>>()
        };
        let (cache, package) = ("home/.cache/tt-metal-cache123", "package/tt_metal/pre-compiled");
        assert_eq!(places(1), ["run/generated", cache, package]);
        assert_eq!(places(1 << 40), [cache, package]);
        fs::remove_dir_all(root).unwrap();
    }
}
