//! The files of what runs on a target: directories that a person named, those of its processes, and what
//! other hosts found of theirs.

use super::{NamedManifest, Session};
use crate::spec::TargetSpec;
use decode::inspect::ReadSet;
use decode::state::{Activity, CoreState, MeshState};
use images::fabric::manifest::FabricManifest;
use images::inspector;
use images::{Catalog, ImageRole, Reading, doubts, metal_process, serving_process, usual_places};
use machine::clients::MetalProcess;
use machine::snapshot::AccessError;
use machine::target::{FarElf, FarElfs, FarFound, Target, TargetBus};
use recordings::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use transport::agent::Served;

/// Least time between two searches for further files.
const PAUSE: Duration = Duration::from_secs(2);
/// The time after many searches that found nothing new.
const MOST_PAUSE: Duration = Duration::from_mins(1);
/// A search takes this part of the time at most.
const PART: u32 = 20;
/// Most bytes of ELFs of other hosts that are kept: a kernel of tt-metal has up to 2 MiB.
const MOST_FAR_BYTES: u64 = 1 << 30;

/// Where files were sought.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Directories that a person named.
    named: Vec<PathBuf>,
    /// Whether those of tt-metal's processes are added.
    find: bool,
    /// The processes that serve a target which other programs can use; none if none can.
    servers: Option<Vec<u32>>,
    /// The usual places that were searched, since no process tells its files.
    pub(super) usual: Vec<PathBuf>,
    /// Problems with them, one sentence each.
    pub(super) problems: Vec<String>,
    /// The manifests that were read.
    manifests: BTreeSet<PathBuf>,
    /// ELFs of other hosts, by their SHA-256.
    far: BTreeMap<String, Arc<[u8]>>,
    /// The ELFs of the last search, each with its time.
    seen: Vec<(PathBuf, Option<SystemTime>)>,
    /// When the next search is due.
    due: Option<Instant>,
    pause: Duration,
}

impl Files {
    /// Returns those of a target that other programs can use, and that these processes serve.
    pub(super) fn of(servers: Vec<u32>) -> Self {
        Self { servers: Some(servers), ..Self::default() }
    }

    /// Sets where they are sought: in directories, and whether at the tt-metal processes.
    pub(super) fn seek(&mut self, named: &[PathBuf], find: bool) {
        self.named = named.to_vec();
        self.find = find;
    }
}

impl Files {
    /// Adds the ELFs that other hosts found, each fetched once; returns the processes that they found.
    fn fetch(&mut self, hosts: &mut dyn FarElfs, catalog: &mut Catalog) -> Vec<MetalProcess> {
        let FarFound { elfs, processes, problems } = hosts.found();
        self.problems.extend(problems);
        for elf in &elfs {
            match self.fetched(hosts, elf) {
                Ok(bytes) => catalog.attach(Path::new(&elf.host), &elf.name, bytes),
                Err(why) => self.problems.push(format!("{}: {}: {why}", elf.host, elf.name)),
            }
        }
        processes
    }

    fn fetched(&mut self, hosts: &mut dyn FarElfs, elf: &FarElf) -> Result<Arc<[u8]>, String> {
        if let Some(known) = self.far.get(&elf.sha256) {
            return Ok(known.clone());
        }
        let kept: u64 = self.far.values().map(|bytes| bytes.len() as u64).sum();
        if kept.saturating_add(elf.bytes) > MOST_FAR_BYTES {
            return Err(format!("more than {} MiB of ELFs are not fetched", MOST_FAR_BYTES >> 20));
        }
        let bytes = hosts.fetch(elf).map_err(|why| why.to_string())?;
        if bytes.len() as u64 != elf.bytes || sha256(&bytes) != elf.sha256 {
            return Err("the host sent other bytes than it had announced".to_owned());
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.far.insert(elf.sha256.clone(), bytes.clone());
        Ok(bytes)
    }
}

impl Served for Session {
    fn target(&mut self) -> &mut dyn Target {
        Self::target(self)
    }

    fn has_found(&mut self) -> bool {
        !self.files.seen.is_empty() || !self.processes.is_empty()
    }

    fn find(&mut self) -> (FarFound, Vec<Vec<u8>>) {
        let everything = ReadSet::everything(self.target.mesh());
        let state = self.inspect(&everything).state;
        if self.find_files_of(&state) {
            self.inspect(&everything);
        }
        let named = |(name, bytes): (String, &[u8])| {
            let (host, sha256, len) = (String::new(), sha256(bytes), bytes.len() as u64);
            (FarElf { host, name, sha256, bytes: len }, bytes.to_vec())
        };
        let (elfs, bytes) = self.images.attachments().into_iter().map(named).unzip();
        let problems = self.files.problems.clone();
        let process = |process: &MetalProcess| {
            // A path that is no text cannot be sent.
            let shown = |path: &PathBuf| path.to_string_lossy().into_owned().into();
            let directories = process.directories.iter().map(shown).collect();
            MetalProcess { directories, ..process.clone() }
        };
        let processes = self.processes.iter().map(process).collect();
        (FarFound { elfs, processes, problems }, bytes)
    }

    fn inspector(&mut self, pid: u32) -> Result<Vec<u8>, AccessError> {
        let process = self.processes.iter().find(|process| process.pid == pid);
        let at = process.and_then(|process| process.inspector);
        let none = || AccessError::Unreachable(format!("process {pid} has no Inspector"));
        let told = inspector::ask(at.ok_or_else(none)?);
        told.map(|told| told.sent()).map_err(|error| AccessError::Unreachable(error.to_string()))
    }

    fn leave_silent_tiles_alone(&mut self) {
        Self::leave_silent_tiles_alone(self);
    }
}

impl Session {
    /// Adds the files of the tt-metal processes on the target, and the manifests beside all; returns
    /// whether any is new.
    pub(super) fn find_files(&mut self, mut catalog: Catalog) -> bool {
        let began = Instant::now();
        self.files.problems.clear();
        match self.target.elfs() {
            Some(elfs) if self.files.find => self.processes = self.files.fetch(elfs, &mut catalog),
            None if self.files.find => self.find_processes(&mut catalog),
            _ => {}
        }
        // A manifest cannot be checked as a text can.
        let sure = catalog.directories.iter().filter(|folder| !self.doubts(folder));
        let manifests: Vec<_> = sure.flat_map(|folder| FabricManifest::beside(folder)).collect();
        for path in manifests {
            if !self.files.manifests.insert(path.clone()) {
                continue;
            }
            match FabricManifest::read(&path) {
                Ok(manifest) => self.add_manifest(&path, &manifest),
                Err(problem) => self.problems.push(problem),
            }
        }
        let changed = |path: &PathBuf| std::fs::metadata(path).and_then(|it| it.modified()).ok();
        let seen = catalog.entries.iter().map(|it| (it.path.clone(), changed(&it.path)));
        let seen: Vec<_> = seen.collect();
        let is_new = seen != self.files.seen;
        if is_new && !catalog.is_empty() {
            self.add_catalog(catalog);
        }
        let files = &mut self.files;
        files.seen = seen;
        files.pause = if is_new { PAUSE } else { (2 * files.pause).clamp(PAUSE, MOST_PAUSE) };
        files.due = Some(Instant::now() + files.pause.max(began.elapsed() * PART));
        is_new
    }

    /// Searches again from time to time while something runs whose files are not known: a program
    /// builds its kernels when it needs them.
    pub(super) fn find_more_files(&mut self, state: &MeshState) {
        if self.files.due.is_some_and(|due| Instant::now() >= due) {
            self.find_files_of(state);
        }
    }

    /// Searches again if something runs whose files are not known; returns whether any is new.
    pub(super) fn find_files_of(&mut self, state: &MeshState) -> bool {
        let is_live = self.files.find && self.file.is_none();
        let named = || Catalog::read(&self.files.named).ok();
        let catalog = (is_live && has_unknown(state)).then(named).flatten();
        catalog.is_some_and(|catalog| self.find_files(catalog))
    }

    /// Adds the ELFs and logs of the processes that run tt-metal on the target; if none tells its files,
    /// as when it has died, those in the usual places.
    fn find_processes(&mut self, catalog: &mut Catalog) {
        let mut pids: Vec<u32> = self.files.servers.iter().flatten().copied().collect();
        pids.extend(
            self.target.bus().into_iter().flat_map(TargetBus::holders).map(|(_, it)| it.pid),
        );
        pids.sort_unstable();
        pids.dedup();
        let folders =
            |words: &str| TargetSpec::parse(words).map_or_else(|_| Vec::new(), |it| it.folders());
        let process = |pid| metal_process(pid).or_else(|| serving_process(pid, folders));
        self.processes = pids.into_iter().filter_map(process).collect();
        let untold = self.processes.iter().all(|process| process.unknown.is_some());
        self.files.usual = match (&self.files.servers, std::env::current_dir()) {
            (Some(_), Ok(working)) if untold => usual_places(std::env::vars_os(), working),
            _ => Vec::new(),
        };
        let of_processes = self.processes.iter().flat_map(|process| &process.directories);
        let directories = of_processes.chain(&self.files.usual).cloned();
        for directory in directories.collect::<BTreeSet<_>>() {
            let added = if self.doubts(&directory) {
                catalog.add_doubtful(directory)
            } else {
                catalog.add(&[directory])
            };
            // What cannot be read was not asked for.
            if let Err(error) = added {
                self.files.problems.push(error.to_string());
            }
        }
        for process in &self.processes {
            if let Some(why) = &process.unknown {
                self.files.problems.push(format!("{process}: {why}"));
            }
        }
    }

    /// Whether the logs in a directory need not be those of what runs.
    fn doubts(&self, directory: &PathBuf) -> bool {
        self.files.usual.contains(directory)
            || self.processes.iter().any(|process| doubts(process, directory))
    }

    /// Adds manifests that a person named.
    pub(super) fn add_manifests(&mut self, given: &[NamedManifest]) {
        for (path, manifest) in given {
            self.add_manifest(path, manifest);
        }
    }
}

/// Whether firmware or a kernel runs of which no image is known.
fn has_unknown(state: &MeshState) -> bool {
    let tiles = state.chips.iter().flat_map(|chip| &chip.tiles);
    // What base firmware of an Ethernet core does is known without its image.
    let mut cores = tiles.flat_map(|tile| tile.cores.iter().map(|core| (core, tile.eth.is_none())));
    let has_kernel =
        |core: &CoreState| core.images.iter().any(|image| image.role == ImageRole::Kernel);
    cores.any(|(core, is_compute)| match &core.activity {
        Reading::Unknown(_) | Reading::Absent => is_compute,
        Reading::Known(Activity::Running) => !has_kernel(core),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;
    use crate::session::OpenOptions;
    use decode::inspect::ReadSet;
    use layouts::ChipId;
    use machine::progress::Listener;
    use transport::ttsim::HostCommand;

    /// A host that sends these bytes, whatever it has announced.
    struct Sends(Vec<u8>, usize);

    impl FarElfs for Sends {
        fn found(&mut self) -> FarFound {
            let elf = |name: &str, sha256: String, bytes| FarElf {
                host: "anna".into(),
                name: name.into(),
                sha256,
                bytes,
            };
            let text = sha256(b"text");
            let found = vec![
                elf("kernel/brisc/1/a", text.clone(), 4),
                elf("kernel/brisc/2/b", text.clone(), 4),
                elf("kernel/brisc/3/c", sha256(b"else"), 4),
                elf("kernel/brisc/4/d", sha256(b"much"), 2 << 30),
            ];
            let problems = vec!["anna: a problem".into()];
            FarFound { elfs: found, problems, ..FarFound::default() }
        }

        fn inspector(&mut self, _: &str, _: u32) -> Result<(Vec<u8>, Vec<ChipId>), AccessError> {
            Err(AccessError::NotRequested)
        }

        fn fetch(&mut self, _: &FarElf) -> Result<Vec<u8>, AccessError> {
            self.1 += 1;
            Ok(self.0.clone())
        }
    }

    #[test]
    fn the_elfs_of_a_host_are_those_that_it_announced() {
        let mut host = Sends(b"text".to_vec(), 0);
        let (mut files, mut catalog) = (Files::default(), Catalog::default());
        files.fetch(&mut host, &mut catalog);
        let names: Vec<&str> = catalog.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!((names, host.1), (vec!["a", "b"], 2), "one text is fetched once");
        assert_eq!(
            files.problems,
            [
                "anna: a problem",
                "anna: kernel/brisc/3/c: the host sent other bytes than it had announced",
                "anna: kernel/brisc/4/d: more than 1024 MiB of ELFs are not fetched",
            ]
        );
    }

    #[test]
    fn files_that_come_later_are_found_while_something_is_unknown() {
        let folder = std::env::temp_dir().join(format!("meshscope-files-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("kernels/ring_ping/1/erisc")).unwrap();
        let options =
            OpenOptions { elfs: vec![folder.clone()], find: true, ..OpenOptions::default() };
        let host = HostCommand::default();
        let listener = Listener::default();
        let mut session =
            Session::open_with("emulator:n300,run=idle", &host, &options, &listener).unwrap();
        let everything = ReadSet::everything(session.target().mesh());
        let mut state = session.inspect(&everything).state;
        let elf = firmware::images().iter().find(|image| image.name == "ring_ping").unwrap().elf;
        std::fs::write(folder.join("kernels/ring_ping/1/erisc/erisc.elf"), elf).unwrap();
        assert!(!session.find_files_of(&state), "all is known");
        let mut tiles = state.chips.iter_mut().flat_map(|chip| &mut chip.tiles);
        let tile = tiles.find(|tile| tile.eth.is_none() && !tile.cores.is_empty()).unwrap();
        tile.cores[0].activity = Reading::Unknown(0);
        assert!(session.find_files_of(&state), "the ELF has come");
        assert!(!session.find_files_of(&state), "it is known");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
