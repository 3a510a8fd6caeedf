//! The files below folders, and the hosts that the folders name.

use crate::error::LogError;
use std::path::{Path, PathBuf};

/// A file below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The file.
    pub path: PathBuf,
    /// The same, below the folder.
    pub name: String,
    /// The host by the name of the first folder below, or of the folder itself.
    pub host: String,
}

/// Returns the regular files below folders in the order of their names, which for names with a date is that
/// of time; and in words what is left out: links, which are not followed, and what cannot be read.
///
/// # Errors
/// A folder does not exist or cannot be read.
pub fn files_below(folders: &[PathBuf]) -> Result<(Vec<FoundFile>, Vec<String>), LogError> {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for folder in folders {
        let io = |error| LogError::Io { path: folder.clone(), error };
        // An error of the named folder itself is one of usage.
        std::fs::read_dir(folder).map_err(io)?;
        let mut waiting = vec![folder.clone()];
        while let Some(current) = waiting.pop() {
            match entries(&current) {
                Ok(entries) => {
                    take(&entries, folder, &mut waiting, (&mut found, &mut left_out));
                }
                Err(error) => left_out.push(format!("{}: {error}", current.display())),
            }
        }
    }
    found.sort_by(|one: &FoundFile, other| one.path.cmp(&other.path));
    found.dedup_by(|one, other| one.path == other.path);
    Ok((found, left_out))
}

fn entries(folder: &Path) -> std::io::Result<Vec<std::fs::DirEntry>> {
    std::fs::read_dir(folder)?.collect()
}

fn take(
    entries: &[std::fs::DirEntry],
    folder: &Path,
    waiting: &mut Vec<PathBuf>,
    (found, left_out): (&mut Vec<FoundFile>, &mut Vec<String>),
) {
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => waiting.push(path),
            Ok(kind) if kind.is_file() => found.push(file(path, folder)),
            Ok(kind) if kind.is_symlink() => {
                left_out.push(format!("{}: a link, which is not followed", path.display()));
            }
            Ok(kind) => {
                let what = files::irregular(kind).unwrap_or("something else");
                left_out.push(format!("{}: {what}, not a regular file", path.display()));
            }
            Err(error) => left_out.push(format!("{}: {error}", path.display())),
        }
    }
}

fn file(path: PathBuf, folder: &Path) -> FoundFile {
    let below = path.strip_prefix(folder).unwrap_or(&path);
    let name = below.display().to_string();
    let words = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    let mut parts = below.components();
    let host = if let (Some(first), Some(_)) = (parts.next(), parts.next()) {
        words(first.as_os_str())
    } else {
        let whole = std::path::absolute(folder).unwrap_or_default();
        whole.file_name().map_or_else(String::new, words)
    };
    FoundFile { path, name, host }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn links_are_not_followed_and_folders_name_hosts() {
        let folder = std::env::temp_dir().join(format!("logs-walk-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("h1/deep")).unwrap();
        for name in ["h1/deep/b.json", "h1/a.log", "c.log"] {
            std::fs::write(folder.join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("..", folder.join("h1/loop")).unwrap();
        let (found, left_out) = files_below(std::slice::from_ref(&folder)).unwrap();
        let names: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.host.as_str())).collect();
        let own = folder.file_name().unwrap().to_str().unwrap();
        assert_eq!(names, [("c.log", own), ("h1/a.log", "h1"), ("h1/deep/b.json", "h1")]);
        assert_eq!(left_out.len(), 1);
        assert!(left_out[0].ends_with("h1/loop: a link, which is not followed"), "{left_out:?}");
        let none = files_below(&[folder.join("none")]).unwrap_err().to_string();
        assert!(none.contains("/none: No such file"), "{none}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
