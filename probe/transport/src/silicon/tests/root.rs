//! File systems of a host as a test wants them.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::PathBuf;

/// A folder with these files, which goes with it.
pub(in super::super) struct Root(pub(in super::super) PathBuf);

impl Root {
    pub(in super::super) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = format!("meshscope-host-{name}-{}", std::process::id());
        let root = Self(std::env::temp_dir().join(folder));
        for (file, text) in files {
            root.set(file, text.as_bytes());
        }
        root
    }

    pub(in super::super) fn set(&self, file: &str, bytes: &[u8]) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
