//! The images of directories: matched with the code on the cores, and opened on demand.

mod firmware;
mod job;
mod kernels;
mod launched;
mod texts;

use super::catalog::{Catalog, CatalogEntry};
use super::known::Known;
use super::text::{TextCheck, TextWindow};
use super::{Image, ImageFinding, ImageMap};
use crate::kinds::{ImageRole, Provenance};
use layouts::{ChipKind, CoreId, CoreKind, NocAddr};
use machine::snapshot::{Plan, Snapshot, Span};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use symbols::Symbols;
use texts::{Fingerprints, TextSet};

/// Reads a plan from the target.
pub(super) type Reader<'a> = dyn FnMut(&Plan) -> Snapshot + 'a;

/// The ELFs of directories, and the images opened from them.
#[derive(Debug, Default)]
pub struct Library {
    catalog: Catalog,
    /// The firmware of each kind of core by its text.
    firmware: BTreeMap<(CoreKind, ImageRole), TextSet>,
    /// The kernels of each kind of core by their text.
    kernels: BTreeMap<CoreKind, Fingerprints>,
    /// Indexes in the image map, by file; none if the file cannot be opened.
    opened: HashMap<PathBuf, Option<usize>>,
    /// The launch for which a core's kernel was searched, and its findings.
    searched: BTreeMap<CoreId, (launched::Launched, Vec<ImageFinding>)>,
    /// The image found for a kernel's number on any core of a kind.
    found: BTreeMap<(u16, CoreKind), usize>,
    problems: Vec<String>,
}

impl Library {
    /// Makes a library of a catalog; no ELF is opened yet.
    pub fn new(mut catalog: Catalog) -> Self {
        let problems = std::mem::take(&mut catalog.problems);
        Self { catalog, problems, ..Self::default() }
    }

    /// Returns problems with the directories and files, one sentence each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Searches the images of cores: firmware first, because its mailboxes name the launched
    /// kernels.
    pub fn search(&mut self, reader: &mut Reader<'_>, images: &mut ImageMap, cores: &[CoreId]) {
        self.find_firmware(reader, images, cores);
        self.find_kernels(reader, images, cores);
    }

    /// Returns the plan of the search's first read; opens only the ELFs that the plan needs.
    pub fn first_plan(&mut self, images: &ImageMap, cores: &[CoreId]) -> Plan {
        self.firmware_plan(images, cores)
    }

    /// Opens a file as an image, once.
    fn open(
        &mut self,
        images: &mut ImageMap,
        path: &Path,
        describe: impl FnOnce() -> CatalogEntry,
    ) -> Option<usize> {
        if let Some(known) = self.opened.get(path) {
            return *known;
        }
        let entry = describe();
        let image = self.image(images.chip(), &entry);
        let index = image.map(|image| images.take(image));
        self.opened.insert(path.to_owned(), index);
        index
    }

    fn image(&mut self, chip: ChipKind, entry: &CatalogEntry) -> Option<Image> {
        let symbols = self.load(&entry.path)?;
        let placed = match &entry.placed {
            Some(path) => Some(self.load(path)?),
            None => None,
        };
        // Outside of a cache only its contents say what it is.
        let kernel = entry.key.is_empty() && is_kernel(&symbols);
        let role = if kernel { ImageRole::Kernel } else { entry.role };
        let mut image = Image::new(chip, &entry.name, role, entry.core, symbols);
        image.path = Some(entry.path.clone());
        image.attached = entry.attached;
        image.placed = placed;
        Some(image)
    }

    fn load(&mut self, path: &Path) -> Option<Symbols> {
        match self.catalog.open(path) {
            Ok(symbols) => Some(symbols),
            Err(error) => {
                self.complain(path, &error);
                None
            }
        }
    }

    /// Records a problem with a file once.
    fn complain(&mut self, path: &Path, error: &symbols::Error) {
        let (path, text) = (path.display().to_string(), error.to_string());
        let text = if text.contains(&path) { text } else { format!("{path}: {text}") };
        if !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    /// Opens the entry at this index as an image.
    fn open_entry(&mut self, images: &mut ImageMap, number: usize) -> Option<usize> {
        let entry = self.catalog.entries.get(number)?.clone();
        let path = entry.path.clone();
        self.open(images, &path, || entry)
    }

    /// Returns entries with the newest file first; the order of files that are as old is kept.
    fn newest_first(&self, entries: &[usize]) -> Vec<usize> {
        let mut entries = entries.to_vec();
        if entries.len() > 1 {
            let changed = |&entry: &usize| {
                let path = &self.catalog.entries.get(entry)?.path;
                std::fs::metadata(path).and_then(|about| about.modified()).ok()
            };
            entries.sort_by_cached_key(|entry| std::cmp::Reverse(changed(entry)));
        }
        entries
    }

    fn entry_name(&self, number: usize) -> String {
        self.catalog.entries.get(number).map_or_else(String::new, |entry| entry.name.clone())
    }
}

/// Whether the ELF has the function that every kernel of tt-metal defines and its firmware does not.
fn is_kernel(symbols: &Symbols) -> bool {
    symbols.functions("kernel_main").is_ok()
}

/// Makes a plan of ranges.
fn plan(places: impl IntoIterator<Item = (NocAddr, u32)>) -> Plan {
    Plan { spans: places.into_iter().map(|(addr, len)| Span { addr, len }).collect() }
}

/// Makes the state of an image that was found by its text or by a record.
fn known_as(evidence: Provenance, bias: u32, windows: Vec<TextWindow>) -> Known {
    Known { bias, ..Known::new(evidence, windows) }
}

/// Compares an image with the snapshot and records the result.
fn compare(images: &ImageMap, index: usize, core: CoreId, known: &mut Known, snapshot: &Snapshot) {
    if let Some(image) = images.get(index) {
        known.compare(image, core, snapshot);
    }
}

/// Whether no difference was found.
fn fits(known: &Known) -> bool {
    !matches!(known.comparison.check, TextCheck::Differs(_))
}
