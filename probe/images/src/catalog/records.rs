//! Kernel numbers from tt-metal's logs (tt-metal.md 8.2, tt-metal.md 8.3).

use layouts::Node;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A log with kernel numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Log {
    /// Inspector's `kernels.yaml`.
    Kernels,
    /// The watcher's `kernel_names.txt`.
    Names,
    /// The watcher's `kernel_elf_paths.txt`.
    Paths,
}

impl Log {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "kernels.yaml" => Some(Self::Kernels),
            "kernel_names.txt" => Some(Self::Names),
            "kernel_elf_paths.txt" => Some(Self::Paths),
            _ => None,
        }
    }
}

/// A kernel in one line or item of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRecord {
    /// The kernel's name, if the log has one.
    pub name: Option<String>,
    /// The kernel's ELFs: a folder of targets, or the files.
    pub(crate) elfs: Elfs,
    /// The log.
    pub file: PathBuf,
    /// Line in the log, from 1.
    pub line: usize,
    /// Whether the log need not be that of what runs.
    pub(crate) doubtful: bool,
}

/// The place of a kernel's ELFs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Elfs {
    /// A folder with `<target>/<target>.elf`.
    Folder(PathBuf),
    /// The files.
    Files(Vec<PathBuf>),
}

impl fmt::Display for KernelRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

impl KernelRecord {
    /// Returns the kernel's ELF for a tt-metal target.
    pub(crate) fn elf(&self, target: &str) -> Option<PathBuf> {
        let file = format!("{target}.elf");
        match &self.elfs {
            Elfs::Folder(folder) => Some(folder.join(target).join(file)),
            Elfs::Files(files) => files.iter().find(|path| path.ends_with(&file)).cloned(),
        }
    }
}

/// Records of all logs, by kernel number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    by_id: BTreeMap<u16, Vec<KernelRecord>>,
    names: BTreeMap<u16, String>,
    /// Whether the logs that are read now need not be those of what runs.
    doubtful: bool,
}

/// An item of `kernels.yaml`; other keys are ignored.
#[derive(Deserialize)]
struct Item {
    kernel: Kernel,
}

#[derive(Deserialize)]
struct Kernel {
    watcher_kernel_id: u16,
    name: Option<String>,
    path: Option<String>,
}

impl Records {
    /// Returns all records of a kernel.
    pub(crate) fn of(&self, id: u16) -> &[KernelRecord] {
        self.by_id.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the kernel's name, if a log has it.
    pub(crate) fn name(&self, id: u16) -> Option<&str> {
        let mut sure = self.of(id).iter().filter(|record| !record.doubtful);
        let recorded = sure.find_map(|record| record.name.as_deref());
        recorded.or_else(|| self.names.get(&id).map(String::as_str))
    }

    /// Sets whether the logs that follow need not be those of what runs.
    pub(super) fn doubt(&mut self, doubtful: bool) {
        self.doubtful = doubtful;
    }

    /// Whether no log names a kernel's ELFs.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Reads a log; malformed lines are problems.
    pub(super) fn read(&mut self, path: &Path, log: Log, problems: &mut Vec<String>) {
        let bytes = match files::read(path, files::Kind::LOG) {
            Ok(bytes) => bytes,
            Err(error) => return problems.push(error.to_string()),
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut complain = |line: usize, why: &str| {
            problems.push(format!("{}:{line}: {why}", path.display()));
        };
        match log {
            Log::Kernels => self.kernels(path, &text, &mut complain),
            Log::Names | Log::Paths => {
                for (line, text) in (1..).zip(text.lines()) {
                    if let Err(why) = self.line(path, line, text, log) {
                        complain(line, why);
                    }
                }
            }
        }
    }

    /// Reads item by item: the log of a program that runs or has died can end anywhere.
    fn kernels(&mut self, path: &Path, text: &str, complain: &mut impl FnMut(usize, &str)) {
        for (line, item) in items(text) {
            let parse = |text: &str| Node::from_yaml(text)?.read::<Vec<Item>>();
            match parse(&item).or_else(|error| match needed(&item) {
                some if some.is_empty() => Err(error),
                some => parse(&some).map_err(|_| error),
            }) {
                Ok(found) => {
                    for Item { kernel } in found {
                        self.kernel(path, line, kernel);
                    }
                }
                Err(error) => {
                    let within = error.line.saturating_sub(1);
                    complain(line + within as usize, &format!("not a kernel: {}", error.what));
                }
            }
        }
    }

    fn kernel(&mut self, path: &Path, line: usize, kernel: Kernel) {
        let Kernel { watcher_kernel_id: id, name, path: folder } = kernel;
        match folder.filter(|folder| !folder.is_empty()) {
            Some(folder) => {
                let elfs = Elfs::Folder(folder.into());
                self.add(id, name, elfs, (path, line));
            }
            None => drop(name.map(|name| self.add_name(id, name))),
        }
    }

    fn add(&mut self, id: u16, name: Option<String>, elfs: Elfs, (file, line): (&Path, usize)) {
        let doubtful = self.doubtful;
        let known = self.by_id.entry(id).or_default();
        match known.iter_mut().find(|old| old.elfs == elfs) {
            Some(old) => old.doubtful &= doubtful,
            None => known.push(KernelRecord { name, elfs, file: file.to_owned(), line, doubtful }),
        }
    }

    /// A name without an ELF cannot be checked.
    fn add_name(&mut self, id: u16, name: String) {
        if !self.doubtful {
            self.names.insert(id, name);
        }
    }

    /// Reads a line `<number>: <name>` or `<number>: <path>[:<path>...]`.
    fn line(&mut self, path: &Path, line: usize, text: &str, log: Log) -> Result<(), &'static str> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let (id, rest) = text.split_once(':').ok_or("not a line of the form `number: ...`")?;
        let id = id.trim().parse().map_err(|_| "the line does not begin with a kernel number")?;
        let rest = rest.trim();
        // Number 0: no kernel is loaded.
        if id == 0 || rest.is_empty() {
            return Ok(());
        }
        if log == Log::Names {
            self.add_name(id, rest.to_owned());
        } else {
            let files = rest.split(':').map(|path| PathBuf::from(path.trim())).collect();
            let elfs = Elfs::Files(files);
            self.add(id, None, elfs, (path, line));
        }
        Ok(())
    }
}

/// Returns the relevant lines of an item: tt-metal writes a kernel's source verbatim, which can not
/// be YAML.
fn needed(item: &str) -> String {
    const KEYS: [&str; 4] = ["- kernel:", "watcher_kernel_id:", "name:", "path:"];
    let matters = |line: &&str| KEYS.iter().any(|key| line.trim_start().starts_with(key));
    item.lines().filter(matters).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the items of a list in block style with their first line.
fn items(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match items.last_mut() {
            Some((_, item)) if !line.starts_with('-') || line.starts_with("---") => {
                item.push_str(line);
                item.push('\n');
            }
            _ if line.trim().is_empty() || line.starts_with('#') || line.starts_with("---") => {}
            _ => items.push((number, format!("{line}\n"))),
        }
    }
    items
}

#[cfg(test)]
mod tests;
