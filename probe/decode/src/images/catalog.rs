//! What ELFs lie in directories that a person named: tt-metal's caches, packages and logs, or ours.
//!
//! Nothing is opened here but logs: a cache can hold thousands of kernels.

mod classify;
mod records;
mod walk;

pub use records::KernelRecord;
pub(crate) use records::Records;
pub use walk::Limits;

use crate::images::kinds::ImageRole;
use classify::{Sort, sort};
use layouts::CoreKind;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// An ELF that can run on a kind of core.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogEntry {
    /// The file.
    pub path: PathBuf,
    /// The build or kernel that it belongs to, and its own name.
    pub name: String,
    /// The build key, or the kernel's hash; empty in a plain directory.
    pub key: String,
    /// The kind of core.
    pub core: CoreKind,
    /// The layer.
    pub role: ImageRole,
    /// The copy of it whose text is as it is loaded, where the linked one is not.
    pub placed: Option<PathBuf>,
}

/// The ELFs and logs of some directories.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The directories, as a person named them.
    pub directories: Vec<PathBuf>,
    /// The ELFs, by path.
    pub entries: Vec<CatalogEntry>,
    /// What tt-metal's logs say.
    pub(crate) records: Records,
    /// What could not be understood, one sentence each.
    pub problems: Vec<String>,
    nameless: Vec<PathBuf>,
}

/// A directory that cannot be looked into: what and why, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// The directory.
    pub path: PathBuf,
    /// What the operating system said.
    pub reason: String,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for CatalogError {}

impl Catalog {
    /// Lists what is in these directories and below.
    ///
    /// # Errors
    /// The first directory that cannot be looked into at all.
    pub fn read(directories: &[PathBuf]) -> Result<Self, CatalogError> {
        Self::read_within(directories, Limits::default())
    }

    /// The same with other bounds.
    ///
    /// # Errors
    /// As [`Catalog::read`].
    pub fn read_within(directories: &[PathBuf], limits: Limits) -> Result<Self, CatalogError> {
        let mut catalog = Self { directories: directories.to_vec(), ..Self::default() };
        let mut seen = BTreeSet::new();
        for directory in directories {
            let mut walk = walk::Walk::new(directory, limits)?;
            while let Some(folder) = walk.next_folder() {
                for name in &folder.files {
                    let path = folder.path.join(name);
                    if seen.insert(path.clone()) {
                        catalog.add(&folder, &path, name);
                    }
                }
            }
            catalog.problems.extend(walk.problems);
        }
        catalog.entries.sort();
        if let [first, more @ ..] = &catalog.nameless[..] {
            let others =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            catalog.problems.push(format!(
                "{}{others}: for which core is told by the name only, and this has no part brisc, ncrisc, \
                 trisc0, trisc1, trisc2, erisc or idle_erisc",
                first.display()
            ));
        }
        Ok(catalog)
    }

    fn add(&mut self, folder: &walk::Folder, path: &Path, name: &str) {
        match sort(folder, path, name) {
            Sort::Elfs(entries) => self.entries.extend(entries),
            Sort::Log(log) => self.records.read(path, log, &mut self.problems),
            Sort::Nameless => self.nameless.push(path.to_owned()),
            Sort::Nothing => {}
        }
    }

    /// The ELFs of a layer for a kind of core, by number.
    pub(crate) fn of(
        &self,
        core: CoreKind,
        role: ImageRole,
    ) -> impl Iterator<Item = (usize, &CatalogEntry)> {
        let entries = self.entries.iter().enumerate();
        entries.filter(move |(_, entry)| entry.core == core && entry.role == role)
    }

    /// The directories, for sentences.
    pub(crate) fn places(&self) -> String {
        let names = self.directories.iter().map(|path| path.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}
