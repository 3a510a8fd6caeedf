//! A compressed tar archive with one folder.

use console::exit::Failure;
use console::host_time::now_micros;
use console::words::printable;
use flate2::Compression;
use flate2::write::GzEncoder;
use recordings::without_folders;
use tar::{Builder, Header};

/// An archive that is written.
pub(super) struct Archive {
    builder: Builder<GzEncoder<Vec<u8>>>,
    folder: String,
    files: usize,
    keeps_paths: bool,
    /// Absolute paths whose folders were left out.
    paths: u64,
}

impl Archive {
    /// Begins an archive with this folder, whose texts keep absolute paths or not.
    pub(super) fn new(folder: &str, keeps_paths: bool) -> Self {
        let encoder = GzEncoder::new(Vec::new(), Compression::default());
        let (builder, folder) = (Builder::new(encoder), folder.to_owned());
        Self { builder, folder, files: 0, keeps_paths, paths: 0 }
    }

    /// Returns a text as it may stand in the archive.
    pub(super) fn text(&mut self, text: &str) -> String {
        if self.keeps_paths {
            return text.to_owned();
        }
        let (text, paths) = without_folders(text);
        self.paths += paths;
        text
    }

    /// Returns the number of paths whose folders were left out.
    pub(super) fn paths(&self) -> u64 {
        self.paths
    }

    /// Adds a text to the folder.
    pub(super) fn add_text(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        let text = self.text(text);
        self.add(name, printable(&text).as_bytes())
    }

    /// Adds a file to the folder.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(now_micros() / 1_000_000);
        self.files += 1;
        let path = format!("{}/{name}", self.folder);
        self.builder.append_data(&mut header, path, bytes).map_err(|error| failed(&error))
    }

    /// Returns the archive, and the number of its files.
    pub(super) fn finish(self) -> Result<(Vec<u8>, usize), Failure> {
        let encoder = self.builder.into_inner().map_err(|error| failed(&error))?;
        let bytes = encoder.finish().map_err(|error| failed(&error))?;
        Ok((bytes, self.files))
    }
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::Internal(format!("archive: {error}"))
}
