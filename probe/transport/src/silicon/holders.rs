//! Finds the other processes that have a device open: from the driver's list, or from the
//! descriptors of all visible processes.

use super::attribute::line;
use machine::clients::Holder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a command line that are shown at most.
const LONGEST_COMMAND: u64 = 4096;

/// The processes of this host, read from the proc file system.
pub(super) struct Processes {
    root: PathBuf,
    own: u32,
}

impl Default for Processes {
    fn default() -> Self {
        Self { root: "/proc".into(), own: std::process::id() }
    }
}

impl Processes {
    /// Those of the proc file system at `root`.
    pub(super) fn of(root: PathBuf) -> Self {
        Self { root, own: std::process::id() }
    }

    /// Returns the other processes that have device `number` open.
    pub(super) fn holding(&self, number: u16) -> Vec<Holder> {
        let pids = self.pids(number).0;
        pids.into_iter().map(|pid| Holder { pid, name: self.name(pid) }).collect()
    }

    /// Returns their ids, and the number of processes that may have it open unseen.
    pub(super) fn pids(&self, number: u16) -> (Vec<u32>, usize) {
        let listed = self.root.join(format!("driver/tenstorrent/{number}/pids"));
        let (mut pids, hidden) = match std::fs::read_to_string(listed) {
            Ok(text) => (text.lines().filter_map(|line| line.trim().parse().ok()).collect(), 0),
            // Drivers before 2.5 keep no list.
            Err(_) => self.with_open(Path::new(&format!("{}/{number}", super::kmd::FOLDER))),
        };
        pids.retain(|pid| *pid != self.own);
        pids.sort_unstable();
        pids.dedup();
        (pids, hidden)
    }

    /// Returns a process's command line, else the name of its program.
    pub(super) fn command(&self, pid: u32) -> Option<String> {
        let folder = self.root.join(pid.to_string());
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(folder.join("cmdline")) {
            let _ = file.take(LONGEST_COMMAND).read_to_end(&mut bytes);
        }
        let words = String::from_utf8_lossy(&bytes).replace('\0', " ");
        let known = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        // A kernel thread, or a process that has ended, has no words.
        known.or_else(|| line(&folder.join("comm")).ok())
    }

    fn name(&self, pid: u32) -> String {
        // The driver lists 0 for a process outside of this pid namespace.
        let name = std::fs::read_to_string(self.root.join(pid.to_string()).join("comm"));
        name.map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned())
    }

    /// The processes that have a file open, and the number of those whose descriptors this user may
    /// not see.
    fn with_open(&self, device: &Path) -> (Vec<u32>, usize) {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        let opens: Vec<_> = pids.map(|pid| (pid, self.opens(pid, device))).collect();
        let hidden = |(_, opens): &&(u32, io::Result<bool>)| {
            opens.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
        };
        let count = opens.iter().filter(hidden).count();
        (opens.into_iter().filter_map(|(pid, opens)| opens.ok()?.then_some(pid)).collect(), count)
    }

    fn opens(&self, pid: u32, device: &Path) -> io::Result<bool> {
        let mut descriptors =
            std::fs::read_dir(self.root.join(pid.to_string()).join("fd"))?.flatten();
        Ok(descriptors.any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == device)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::os::unix::fs::symlink;

    /// Creates a proc file system with three processes, of which 20 and 30 have device 1 open.
    fn processes(name: &str) -> Processes {
        let root = std::env::temp_dir().join(format!("holders-{}-{name}", std::process::id()));
        for (pid, comm) in [(10, "own"), (20, "tt-metal job"), (30, "python3")] {
            let folder = root.join(pid.to_string());
            std::fs::create_dir_all(folder.join("fd")).unwrap();
            std::fs::write(folder.join("comm"), format!("{comm}\n")).unwrap();
            let open = if pid == 10 { "/dev/null" } else { "/dev/tenstorrent/1" };
            symlink(open, folder.join("fd/3")).unwrap();
        }
        Processes { root, own: 10 }
    }

    fn names(processes: &Processes, number: u16) -> Vec<String> {
        processes.holding(number).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_drivers_list_counts_without_ourselves() {
        let processes = processes("list");
        let listed = processes.root.join("driver/tenstorrent/0");
        std::fs::create_dir_all(&listed).unwrap();
        std::fs::write(listed.join("pids"), "30\n10\n20\n20\n0\n").unwrap();
        assert_eq!(names(&processes, 0), ["0 ?", "20 tt-metal job", "30 python3"]);
        std::fs::remove_dir_all(processes.root).unwrap();
    }

    #[test]
    fn without_a_list_descriptors_are_scanned() {
        let processes = processes("scan");
        assert_eq!(names(&processes, 1), ["20 tt-metal job", "30 python3"]);
        assert_eq!(names(&processes, 0), Vec::<String>::new());
        std::fs::remove_dir_all(processes.root).unwrap();
    }
}
