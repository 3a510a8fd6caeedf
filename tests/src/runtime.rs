//! Programs of tt-metal's own runtime (`tests/tt-metal/setup WHEEL FOLDER` installs it) on an emulated
//! mesh: `meshscope exec`.

use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "libmeshscope_ttsim.so";

/// An installed runtime, and the program that starts it.
pub struct Runtime {
    /// The path of meshscope.
    pub meshscope: PathBuf,
    /// The folder that `setup` has made.
    pub folder: PathBuf,
}

impl Runtime {
    /// Returns the runtime of `MESHSCOPE_TT_METAL_RUNTIME` for a meshscope; none if it is not installed.
    #[must_use]
    pub fn installed(meshscope: PathBuf) -> Option<Self> {
        let folder = std::env::var_os("MESHSCOPE_TT_METAL_RUNTIME").map(PathBuf::from)?;
        Self::at(meshscope, &folder)
    }

    /// Returns the runtime in a folder; none if it is not installed there.
    #[must_use]
    pub fn at(meshscope: PathBuf, folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok().filter(|folder| folder.join("ttnn").exists())?;
        Some(Self { meshscope, folder })
    }

    /// Returns the command that runs one of the programs of `tests/tt-metal` on a mesh, served at a
    /// socket, for at most some seconds.
    ///
    /// # Errors
    /// When the folder for tt-metal's logs cannot be made.
    pub fn exec(
        &self,
        (mesh, socket): (&str, &Path),
        seconds: u32,
        program: &str,
    ) -> std::io::Result<Command> {
        // Two programs in one directory write the same logs, which then prove nothing.
        let work = self.folder.join("work").join(std::process::id().to_string());
        std::fs::create_dir_all(&work)?;
        // `cargo test` leaves it where the tests are.
        let beside = self.meshscope.with_file_name(LIBRARY);
        let deps = self.meshscope.with_file_name("deps").join(LIBRARY);
        let mut command = Command::new("timeout");
        command
            .args(["-s", "KILL", &seconds.to_string()])
            .arg(&self.meshscope)
            .args(["exec", "--mesh", mesh, "--socket"])
            .arg(socket)
            .arg("--library")
            .arg(if beside.is_file() { beside } else { deps })
            .arg("--")
            .arg(self.folder.join("python/bin/python"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tt-metal").join(program))
            .env("TT_METAL_HOME", self.folder.join("ttnn"))
            .env("TT_METAL_CACHE", self.folder.join("cache"))
            .current_dir(work);
        Ok(command)
    }
}
