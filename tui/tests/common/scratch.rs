//! A run of the program, and a folder of a test, which goes with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program, to be run in the workspace.
pub(crate) fn meshscope_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).stdin(Stdio::null());
    command
}

/// Runs the program in the workspace.
pub(crate) fn meshscope(arguments: &[&str]) -> Output {
    meshscope_command().args(arguments).output().unwrap()
}

/// The folder.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let folder = format!("meshscope-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Names of the files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let files = fs::read_dir(Path::new(&self.0)).unwrap();
        let mut names: Vec<_> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
