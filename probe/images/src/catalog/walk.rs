//! A bounded, sorted walk through a directory that visits each folder once, despite links.

use super::CatalogError;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The limits of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most files and folders visited.
    pub entries: usize,
    /// Most nested folders.
    pub depth: usize,
}

impl Default for Limits {
    /// A tt-metal cache has about ten files per kernel, nine folders below its root.
    fn default() -> Self {
        Self { entries: 2_000_000, depth: 16 }
    }
}

/// Device and number of each folder that was visited.
pub(super) type Visited = HashSet<(u64, u64)>;

/// A folder with the sorted names of its files.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) files: Vec<String>,
    /// Whether the folder is the named directory, not one below it.
    pub(super) is_root: bool,
    /// Names of the folders in the same parent.
    pub(super) siblings: Rc<Vec<String>>,
}

/// A folder that is still to be visited.
struct Pending {
    path: PathBuf,
    depth: usize,
    siblings: Rc<Vec<String>>,
}

/// A walk in progress.
pub(super) struct CatalogWalk {
    pending: Vec<Pending>,
    /// The last device that is known to have files of its own.
    device: u64,
    left: usize,
    limits: Limits,
    root: PathBuf,
    /// Folders that were left out, one sentence each.
    pub(super) problems: Vec<String>,
}

impl CatalogWalk {
    pub(super) fn new(root: &Path, limits: Limits) -> Result<Self, CatalogError> {
        let error = |reason: std::io::Error| CatalogError {
            path: root.to_owned(),
            reason: reason.to_string(),
        };
        let path = fs::canonicalize(root).map_err(error)?;
        fs::read_dir(&path).map_err(error)?;
        let device = fs::metadata(&path).map_err(error)?.dev();
        if files::is_pseudo_file_system(&path) {
            return Err(error(std::io::Error::other("a pseudo file system has no ELFs of cores")));
        }
        let first = Pending { path: path.clone(), depth: 0, siblings: Rc::default() };
        Ok(Self {
            pending: vec![first],
            device,
            left: limits.entries,
            limits,
            root: path,
            problems: Vec::new(),
        })
    }

    /// Returns the next folder that no walk has visited; one that cannot be read becomes a problem.
    pub(super) fn next_folder(&mut self, visited: &mut Visited) -> Option<Folder> {
        while let Some(folder) = self.pending.pop() {
            match self.visit(&folder, visited) {
                Ok(Some(visited)) => return Some(visited),
                Ok(None) => {}
                Err(error) => {
                    self.problems.push(format!("{}: {error}", folder.path.display()));
                }
            }
        }
        None
    }

    fn visit(
        &mut self,
        folder: &Pending,
        visited: &mut Visited,
    ) -> std::io::Result<Option<Folder>> {
        let metadata = fs::metadata(&folder.path)?;
        if metadata.dev() != self.device {
            if files::is_pseudo_file_system(&folder.path) {
                return Ok(None);
            }
            self.device = metadata.dev();
        }
        if !visited.insert((metadata.dev(), metadata.ino())) {
            return Ok(None);
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&folder.path)? {
            let entry = entry?;
            let Some(left) = self.left.checked_sub(1) else {
                self.stop();
                break;
            };
            self.left = left;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let mut kind = entry.file_type()?;
            // A dangling link is skipped, and so is a pipe, on which a read could block.
            if kind.is_symlink()
                && let Ok(target) = fs::metadata(entry.path())
            {
                kind = target.file_type();
            }
            if kind.is_dir() {
                folders.push(name);
            } else if kind.is_file() {
                files.push(name);
            }
        }
        files.sort();
        folders.sort();
        self.enqueue(folder, folders);
        Ok(Some(Folder {
            path: folder.path.clone(),
            files,
            is_root: folder.path == self.root,
            siblings: Rc::clone(&folder.siblings),
        }))
    }

    fn enqueue(&mut self, folder: &Pending, folders: Vec<String>) {
        if folders.is_empty() {
            return;
        }
        if folder.depth == self.limits.depth {
            let depth = self.limits.depth;
            let path = folder.path.display();
            self.problems.push(format!("{path}: more than {depth} folders deep; not searched"));
            return;
        }
        let siblings = Rc::new(folders);
        // A stack: pushed in reverse order.
        for name in siblings.iter().rev() {
            let path = folder.path.join(name);
            self.pending.push(Pending {
                path,
                depth: folder.depth + 1,
                siblings: Rc::clone(&siblings),
            });
        }
    }

    /// Ends the walk at its limit of entries.
    fn stop(&mut self) {
        let (root, entries) = (self.root.display(), self.limits.entries);
        self.problems.push(format!("{root}: more than {entries} files; the rest is not searched"));
        self.pending.clear();
    }
}
