//! What one loaded file shares among all its handles: the bytes, and everything derived so far.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use gimli::SectionId;

use crate::builder::{Builder, TypeCache};
use crate::calls::Calls;
use crate::die::View;
use crate::error::Error;
use crate::frames::Names;
use crate::image::Image;
use crate::index::Index;
use crate::lines::{self, Lines};
use crate::problem::Problem;
use crate::scan::scan;
use crate::sections::DebugSections;
use crate::symtab::{Symbol, SymbolTable};
use crate::types::Type;
use crate::units::{self, DieId, UnitInfo};
use crate::unwind::CallFrames;

/// The file's bytes, whoever keeps them: a vector, a mapping, a static array.
pub(crate) type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

pub(crate) struct Inner {
    pub(crate) name: String,
    bytes: Bytes,
    pub(crate) image: Image,
    sections: DebugSections,
    units: Vec<UnitInfo>,
    signatures: Vec<(u64, DieId)>,
    symbols: OnceLock<SymbolTable>,
    index: OnceLock<Index>,
    calls: OnceLock<Calls>,
    call_frames: OnceLock<CallFrames>,
    lines: Vec<OnceLock<Lines>>,
    names: RwLock<HashMap<DieId, Names>>,
    pub(crate) types: TypeCache,
    pub(crate) named_types: RwLock<HashMap<Box<str>, Type>>,
    problems: Mutex<Vec<Problem>>,
}

impl Inner {
    pub(crate) fn load(bytes: Bytes, name: String) -> Result<Inner, Error> {
        let data = (*bytes).as_ref();
        let mut problems = Vec::new();
        let image = Image::parse(data, &mut problems)?;
        SymbolTable::check(&image, &mut problems);
        if image.section(".debug_info").is_none() {
            problems.push(Problem::NoDebugInfo);
        }
        let sections = DebugSections::load(data, &image, &mut problems);
        let units = units::read(&sections.dwarf(data), &mut problems);
        let mut signatures: Vec<_> = units.iter().filter_map(UnitInfo::signature).collect();
        signatures.sort_unstable();
        let lines = units.iter().map(|_| OnceLock::new()).collect();
        Ok(Inner {
            name,
            bytes,
            image,
            sections,
            units,
            signatures,
            symbols: OnceLock::new(),
            index: OnceLock::new(),
            calls: OnceLock::new(),
            call_frames: OnceLock::new(),
            lines,
            names: RwLock::default(),
            types: RwLock::default(),
            named_types: RwLock::default(),
            problems: Mutex::new(problems),
        })
    }

    pub(crate) fn data(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            dwarf: self.sections.dwarf(self.data()),
            units: &self.units,
            signatures: &self.signatures,
        }
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn report(&self, new: Vec<Problem>) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in new {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }

    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut problems = Vec::new();
            let index = scan(&self.view(), &mut problems);
            self.report(problems);
            index
        })
    }

    pub(crate) fn calls(&self) -> &Calls {
        self.calls.get_or_init(|| {
            let mut problems = Vec::new();
            let calls = Calls::new(&self.view(), |id| self.section(id), &mut problems);
            self.report(problems);
            calls
        })
    }

    pub(crate) fn call_frames(&self) -> &CallFrames {
        self.call_frames.get_or_init(|| {
            let mut problems = Vec::new();
            let frames = CallFrames::new(self, &mut problems);
            self.report(problems);
            frames
        })
    }

    /// One debug section's bytes; empty where the file has none.
    pub(crate) fn section(&self, id: SectionId) -> &[u8] {
        self.sections.bytes(self.data(), id)
    }

    fn symbols(&self) -> &SymbolTable {
        self.symbols.get_or_init(|| SymbolTable::build(self.data(), &self.image))
    }

    pub(crate) fn symbol_named(&self, name: &str) -> Option<Symbol> {
        self.symbols().named(self.data(), &self.image, name)
    }

    pub(crate) fn symbol_at(&self, address: u32) -> Option<Symbol> {
        self.symbols().at(self.data(), &self.image, address)
    }

    /// Runs one building of types and keeps the problems it found.
    pub(crate) fn build<T>(&self, work: impl FnOnce(&mut Builder<'_, '_>) -> T) -> T {
        let (view, index) = (self.view(), self.index());
        let mut problems = Vec::new();
        let built = work(&mut Builder::new(&view, index, &self.types, &mut problems));
        if !problems.is_empty() {
            self.report(problems);
        }
        built
    }

    fn lines(&self, unit: usize) -> Option<&Lines> {
        let lines = self.lines.get(unit)?.get_or_init(|| {
            let mut problems = Vec::new();
            let lines = lines::read(&self.view(), &self.image, unit, &mut problems);
            self.report(problems);
            lines
        });
        Some(lines)
    }

    /// All line tables; units may share one, which then is read for each.
    pub(crate) fn all_lines(&self) -> impl Iterator<Item = &Lines> {
        (0..self.units.len()).filter_map(|unit| self.lines(unit))
    }

    pub(crate) fn function_names(&self, die: DieId, make: impl FnOnce(DieId) -> Names) -> Names {
        kept(&self.names, die, || make(die))
    }
}

/// The kept answer, or a new one, which is kept.
fn kept<T: Clone>(cache: &RwLock<HashMap<DieId, T>>, die: DieId, make: impl FnOnce() -> T) -> T {
    let known = cache.read().unwrap_or_else(PoisonError::into_inner).get(&die).cloned();
    known.unwrap_or_else(|| {
        let new = make();
        let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
        cache.entry(die).or_insert(new).clone()
    })
}
