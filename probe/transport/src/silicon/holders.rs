//! Finds the other processes that have a device open: from the driver's list, or from the
//! descriptors of all visible processes.

use machine::clients::Holder;
use std::path::{Path, PathBuf};

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
        let listed = self.root.join(format!("driver/tenstorrent/{number}/pids"));
        let mut pids = match std::fs::read_to_string(listed) {
            Ok(text) => text.lines().filter_map(|line| line.trim().parse().ok()).collect(),
            // Older drivers keep no list.
            Err(_) => self.with_open(Path::new(&format!("{}/{number}", super::kmd::FOLDER))),
        };
        pids.retain(|pid| *pid != self.own);
        pids.sort_unstable();
        pids.dedup();
        pids.into_iter().map(|pid| Holder { pid, name: self.name(pid) }).collect()
    }

    fn name(&self, pid: u32) -> String {
        // The driver lists 0 for a process outside of this pid namespace.
        let name = std::fs::read_to_string(self.root.join(pid.to_string()).join("comm"));
        name.map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned())
    }

    fn with_open(&self, device: &Path) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(&self.root) else { return Vec::new() };
        let pids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| self.opens(*pid, device)).collect()
    }

    fn opens(&self, pid: u32, device: &Path) -> bool {
        let folder = self.root.join(pid.to_string()).join("fd");
        let Ok(descriptors) = std::fs::read_dir(folder) else { return false };
        descriptors.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == device))
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
