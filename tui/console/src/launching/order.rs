//! A launch as requested, before a target is opened.

use crate::exit::Failure;
use launch::elf_kernel::ElfKernel;
use layouts::CoreKind;
use machine::place::Place;
use std::path::{Path, PathBuf};
use symbols::{Problem, Symbols};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The ELF; none if what runs is to be taken away.
    pub elf: Option<PathBuf>,
    /// The tiles.
    pub places: Vec<Place>,
    /// The places as given.
    pub on: String,
    /// The core of each tile; none: the one for which the ELF was linked.
    pub core: Option<CoreKind>,
    /// The kernel without the name of its image.
    pub kernel: ElfKernel,
    /// Whether a kernel that has not returned at the end of its time is a finding.
    pub wait: bool,
    /// Time after which the kernel is taken away, in cycles.
    pub over_cycles: Option<u64>,
}

/// An opened ELF.
pub struct Elf {
    /// The path as given.
    pub(super) path: String,
    /// The file's name without `.elf`.
    pub(super) name: String,
    pub(super) symbols: Symbols,
}

impl Order {
    /// Opens the ELF, if there is one to launch.
    ///
    /// # Errors
    /// `Usage` if it cannot be read, or has no addresses.
    pub fn open(&self) -> Result<Option<Elf>, Failure> {
        self.elf.as_deref().map(Elf::open).transpose().map_err(Failure::Usage)
    }
}

impl Elf {
    fn open(path: &Path) -> Result<Self, String> {
        let shown = path.display().to_string();
        let named =
            |what: String| if what.contains(&shown) { what } else { format!("{shown}: {what}") };
        let (symbols, problems) = Symbols::open(path).map_err(|error| named(error.to_string()))?;
        if problems.contains(&Problem::Relocatable) {
            return Err(named("it is an object file, which has no addresses: link it".to_owned()));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path: shown, name: stem, symbols })
    }
}
