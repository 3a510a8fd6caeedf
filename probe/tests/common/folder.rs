//! A temporary folder of a test, with copies of built-in images, removed at its end.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("meshscope-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Writes a file.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes a built-in image.
    pub(crate) fn image(&self, path: &str, name: &str) -> PathBuf {
        self.put(path, image(name))
    }

    /// Writes the built-in firmware in tt-metal's layout.
    pub(crate) fn firmware(&self, under: &str) {
        for target in ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"] {
            self.image(&format!("{under}/{target}/{target}.elf"), &format!("tensix_{target}"));
        }
        self.image(&format!("{under}/erisc/erisc.elf"), "erisc_app");
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the bytes of a built-in image.
pub(crate) fn image(name: &str) -> &'static [u8] {
    firmware::images().iter().find(|image| image.name == name).unwrap().elf
}
