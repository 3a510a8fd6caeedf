//! ELFs in directories that the user named: tt-metal's caches, packages and logs, or built-in
//! images.
//!
//! Only logs are opened here: a cache can hold thousands of kernels.

mod attached;
mod classify;
mod records;
mod walk;

pub use records::KernelRecord;
pub(crate) use records::Records;
pub use walk::Limits;

use crate::kinds::ImageRole;
use classify::{FileKind, classify};
use layouts::CoreKind;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use symbols::{Elf, Symbols};

/// An ELF that can run on a kind of core.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogEntry {
    /// Whether it is attached to a recording: the same ELF of a directory comes before it.
    pub(crate) attached: bool,
    /// The file.
    pub path: PathBuf,
    /// The build or kernel, and the file's own name.
    pub name: String,
    /// The build key, or the kernel's hash; empty in another directory.
    pub key: String,
    /// The kind of core.
    pub core: CoreKind,
    /// The layer.
    pub role: ImageRole,
    /// The copy with the text as loaded, if that differs from the linked text.
    pub placed: Option<PathBuf>,
}

/// The ELFs and logs of some directories.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The directories, as the user named them.
    pub directories: Vec<PathBuf>,
    /// The ELFs, by path.
    pub entries: Vec<CatalogEntry>,
    /// Kernel numbers from tt-metal's logs.
    pub(crate) records: Records,
    /// Problems with the directories, one sentence each.
    pub problems: Vec<String>,
    nameless: Vec<PathBuf>,
    /// The folders that were searched: directories can overlap.
    visited: walk::Visited,
    /// Files of a recording, by path.
    attached: BTreeMap<PathBuf, Arc<[u8]>>,
}

/// A directory that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// The directory.
    pub path: PathBuf,
    /// The operating system's error.
    pub reason: String,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for CatalogError {}

impl Catalog {
    /// Lists the ELFs and logs in directories and below.
    ///
    /// # Errors
    /// The first directory that cannot be read.
    pub fn read(directories: &[PathBuf]) -> Result<Self, CatalogError> {
        Self::read_within(directories, Limits::default())
    }

    /// Lists as [`Catalog::read`] does, with other limits.
    ///
    /// # Errors
    /// As [`Catalog::read`].
    pub fn read_within(directories: &[PathBuf], limits: Limits) -> Result<Self, CatalogError> {
        let mut catalog = Self::default();
        catalog.add_within(directories, limits)?;
        Ok(catalog)
    }

    /// Lists the ELFs and logs in further directories and below.
    ///
    /// # Errors
    /// As [`Catalog::read`].
    pub fn add(&mut self, directories: &[PathBuf]) -> Result<(), CatalogError> {
        self.add_within(directories, Limits::default())
    }

    /// Lists the ELFs and logs in a directory whose logs need not be those of what runs: they count only
    /// where L1 has the text that they name.
    ///
    /// # Errors
    /// As [`Catalog::read`].
    pub fn add_doubtful(&mut self, directory: PathBuf) -> Result<(), CatalogError> {
        self.records.doubt(true);
        let added = self.add(&[directory]);
        self.records.doubt(false);
        added
    }

    fn add_within(&mut self, directories: &[PathBuf], limits: Limits) -> Result<(), CatalogError> {
        self.directories.extend_from_slice(directories);
        for directory in directories {
            let mut walk = walk::CatalogWalk::new(directory, limits)?;
            while let Some(folder) = walk.next_folder(&mut self.visited) {
                for name in &folder.files {
                    self.add_file(&folder, name);
                }
            }
            self.problems.extend(walk.problems);
        }
        self.entries.sort();
        if let [first, more @ ..] = &std::mem::take(&mut self.nameless)[..] {
            let others =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            self.problems.push(format!(
                "{}{others}: the name has no part that is a core: brisc, ncrisc, trisc0, trisc1, trisc2, \
                erisc or idle_erisc",
                first.display()
            ));
        }
        Ok(())
    }

    fn add_file(&mut self, folder: &walk::Folder, name: &str) {
        match classify(folder, name) {
            FileKind::Elfs(entries) => self.entries.extend(entries),
            FileKind::Log(log) => {
                self.records.read(&folder.path.join(name), log, &mut self.problems);
            }
            FileKind::Nameless => self.nameless.push(folder.path.join(name)),
            FileKind::Nothing => {}
        }
    }

    /// Returns the ELFs of a layer for a kind of core, with their indexes.
    pub(crate) fn of(
        &self,
        core: CoreKind,
        role: ImageRole,
    ) -> impl Iterator<Item = (usize, &CatalogEntry)> {
        let entries = self.entries.iter().enumerate();
        entries.filter(move |(_, entry)| entry.core == core && entry.role == role)
    }

    /// Whether it has neither directories nor files of a recording.
    pub fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.attached.is_empty()
    }

    /// Opens an ELF of a directory or of a recording.
    pub(crate) fn open(&self, path: &Path) -> Result<Symbols, symbols::Error> {
        let opened = match self.attached.get(path) {
            Some(bytes) => Symbols::load(bytes.clone(), &path.display().to_string()),
            None => Symbols::open(path),
        };
        opened.map(|(symbols, _)| symbols)
    }

    /// Opens the ELF with an entry's text as loaded.
    pub(crate) fn open_text(&self, entry: &CatalogEntry) -> Result<Elf, symbols::Error> {
        let path = entry.placed.as_ref().unwrap_or(&entry.path);
        self.attached.get(path).map_or_else(|| Elf::open(path), |bytes| Elf::load(bytes.clone()))
    }

    /// Returns the directories, for messages, with the version of the package that one is of.
    pub(crate) fn places(&self) -> String {
        let name = |path: &PathBuf| match package_version(path) {
            Some(version) => format!("{} (ttnn {version})", path.display()),
            None => path.display().to_string(),
        };
        self.directories.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the version of the Python package `ttnn` that has a directory, as `pip` notes it beside the
/// package.
fn package_version(path: &Path) -> Option<String> {
    let package = path.ancestors().find(|it| it.file_name().is_some_and(|name| name == "ttnn"))?;
    let beside = std::fs::read_dir(package.parent()?).ok()?.filter_map(Result::ok);
    let mut names = beside.filter_map(|entry| entry.file_name().into_string().ok());
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ".+!".contains(it);
    names.find_map(|name| {
        let version = name.strip_prefix("ttnn-")?.strip_suffix(".dist-info")?;
        version.chars().all(is_plain).then(|| version.to_owned())
    })
}
