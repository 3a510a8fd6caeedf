//! A bounded walk through a directory: sorted, and once through each folder whatever links lead there.

use super::CatalogError;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files and folders looked at.
    pub entries: usize,
    /// Folders inside each other.
    pub depth: usize,
}

impl Default for Limits {
    /// A cache of tt-metal has about ten files per kernel, nine folders below its root.
    fn default() -> Self {
        Self { entries: 2_000_000, depth: 16 }
    }
}

/// A folder with the names of what is in it, sorted.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) files: Vec<String>,
    /// It is the directory that was named, not one below it.
    pub(super) is_root: bool,
    /// Names of the folders beside it.
    pub(super) beside: Rc<Vec<String>>,
}

/// A folder that is still to be looked into.
struct Ahead {
    path: PathBuf,
    depth: usize,
    beside: Rc<Vec<String>>,
}

/// A walk under way.
pub(super) struct Walk {
    ahead: Vec<Ahead>,
    visited: HashSet<(u64, u64)>,
    left: usize,
    limits: Limits,
    root: PathBuf,
    /// What was left out, one sentence each.
    pub(super) problems: Vec<String>,
}

impl Walk {
    pub(super) fn new(root: &Path, limits: Limits) -> Result<Self, CatalogError> {
        let error = |reason: std::io::Error| CatalogError {
            path: root.to_owned(),
            reason: reason.to_string(),
        };
        let path = fs::canonicalize(root).map_err(error)?;
        fs::read_dir(&path).map_err(error)?;
        if files::is_made_up(&path) {
            return Err(error(std::io::Error::other("no ELFs of cores: the kernel makes it up")));
        }
        let first = Ahead { path: path.clone(), depth: 0, beside: Rc::default() };
        Ok(Self {
            ahead: vec![first],
            visited: HashSet::new(),
            left: limits.entries,
            limits,
            root: path,
            problems: Vec::new(),
        })
    }

    /// The next folder; one that cannot be looked into is a problem.
    pub(super) fn next_folder(&mut self) -> Option<Folder> {
        while let Some(ahead) = self.ahead.pop() {
            match self.visit(&ahead) {
                Ok(Some(folder)) => return Some(folder),
                Ok(None) => {}
                Err(error) => {
                    self.problems.push(format!("{}: {error}", ahead.path.display()));
                }
            }
        }
        None
    }

    fn visit(&mut self, ahead: &Ahead) -> std::io::Result<Option<Folder>> {
        let about = fs::metadata(&ahead.path)?;
        if files::is_made_up(&ahead.path) {
            return Ok(None);
        }
        if !self.visited.insert((about.dev(), about.ino())) {
            return Ok(None);
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&ahead.path)? {
            let entry = entry?;
            let Some(left) = self.left.checked_sub(1) else {
                self.stop();
                break;
            };
            self.left = left;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            // A link that leads nowhere is nobody's ELF, nor is a pipe, which could keep us waiting.
            let kind = match fs::metadata(entry.path()) {
                Ok(about) if kind.is_symlink() => about.file_type(),
                _ => kind,
            };
            if kind.is_dir() {
                folders.push(name);
            } else if kind.is_file() {
                files.push(name);
            }
        }
        files.sort();
        folders.sort();
        self.go_on(ahead, folders);
        Ok(Some(Folder {
            path: ahead.path.clone(),
            files,
            is_root: ahead.path == self.root,
            beside: Rc::clone(&ahead.beside),
        }))
    }

    fn go_on(&mut self, ahead: &Ahead, folders: Vec<String>) {
        if folders.is_empty() {
            return;
        }
        if ahead.depth == self.limits.depth {
            let depth = self.limits.depth;
            let path = ahead.path.display();
            self.problems.push(format!("{path}: more than {depth} folders deep; not looked into"));
            return;
        }
        let beside = Rc::new(folders);
        // The last one in is the first one out.
        for name in beside.iter().rev() {
            let path = ahead.path.join(name);
            self.ahead.push(Ahead { path, depth: ahead.depth + 1, beside: Rc::clone(&beside) });
        }
    }

    /// Enough was looked at.
    fn stop(&mut self) {
        let (root, entries) = (self.root.display(), self.limits.entries);
        self.problems.push(format!("{root}: more than {entries} files; the rest is not looked at"));
        self.ahead.clear();
    }
}
