//! The files of a process that runs tt-metal, as the proc file system tells: its logs, its caches of
//! kernels, and the firmware of its package (tt-metal.md 8.1, tt-metal.md 8.3).

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Most bytes of a process's environment or list of mappings that are read.
const MOST_BYTES: u64 = 16 << 20;
/// tt-metal's host library.
const LIBRARY: &str = "libtt_metal.so";
/// The firmware of a package, below its root.
const FIRMWARE: &str = "tt_metal/pre-compiled";
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
            Some(library) => Ok(Some(Files::of(&folder)?.directories(&library))),
            None => Ok(None),
        });
        let (directories, unknown) = match found {
            Ok(Some(directories)) => (directories, None),
            Ok(None) => return None,
            // It has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => (Vec::new(), Some(format!("its files are not known: {error}"))),
        };
        Some(Self { pid, name, directories, unknown })
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
