//! The state of one loaded file that all its handles share: the bytes, and everything derived from
//! them.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use gimli::{SectionId, UnwindContext};

use crate::builder::{Builder, TypeCache};
use crate::bytes::Bytes;
use crate::call_frames::{CallFrames, FrameSections, Rules};
use crate::calls::Calls;
use crate::companions::Companions;
use crate::die::DieView;
use crate::error::Error;
use crate::functions::{self, FunctionNames, Functions};
use crate::image::ElfHeaders;
use crate::index::Index;
use crate::lines::{self, Lines};
use crate::problem::Problem;
use crate::scan::scan;
use crate::sections::DebugSections;
use crate::separate;
use crate::source::{self, Source};
use crate::split;
use crate::symtab::{Symbol, SymbolKind, SymbolTable};
use crate::types::Type;
use crate::units::{self, DieId, FoundUnits, UnitInfo};

pub(crate) struct Inner {
    pub(crate) name: String,
    bytes: Arc<Bytes>,
    pub(crate) image: ElfHeaders,
    /// Sections of the file itself.
    sections: DebugSections,
    /// The file with the debug information: usually the file itself.
    source: Source,
    /// The image of a separate debug file, if that file has the symbol table.
    symbol_image: Option<ElfHeaders>,
    /// Other files with units of their own.
    others: Vec<Source>,
    units: Vec<UnitInfo>,
    signatures: Vec<(u64, DieId)>,
    symbols: OnceLock<SymbolTable>,
    index: OnceLock<Index>,
    calls: OnceLock<Calls>,
    call_frames: OnceLock<CallFrames>,
    functions: OnceLock<Functions>,
    lines: Vec<OnceLock<Lines>>,
    names: RwLock<HashMap<DieId, FunctionNames>>,
    pub(crate) types: TypeCache,
    pub(crate) named_types: RwLock<HashMap<Box<str>, Type>>,
    problems: Mutex<Vec<Problem>>,
}

impl Inner {
    /// Returns the bytes of the file.
    pub(crate) fn elf(&self) -> &[u8] {
        (**self.bytes).as_ref()
    }

    /// Reads a file; `companions` opens the other files that it names.
    pub(crate) fn load(
        bytes: Bytes,
        name: String,
        mut companions: Option<Companions<'_>>,
    ) -> Result<Inner, Error> {
        let bytes = Arc::new(bytes);
        let data = (**bytes).as_ref();
        let mut problems = Vec::new();
        let image = ElfHeaders::parse(data, &mut problems)?;
        let mut separate = None;
        let mut missing = Vec::new();
        if image.section(".debug_info").is_none() {
            match &mut companions {
                Some(companions) => {
                    separate = separate::find(data, &image, companions, &mut missing);
                }
                None => missing.push(Problem::NoDebugInfo),
            }
        }
        let symbol_image = separate.as_ref().map(|separate| &separate.image);
        let symbol_image = symbol_image.filter(|_| !SymbolTable::is_in(&image)).cloned();
        if !SymbolTable::is_in(symbol_image.as_ref().unwrap_or(&image)) {
            problems.push(Problem::NoSymbols);
        }
        problems.extend(missing);
        let sections = DebugSections::load(data, &image, &mut problems);
        let source = match separate {
            Some(found) => {
                let sections =
                    DebugSections::load((*found.bytes).as_ref(), &found.image, &mut problems);
                Source::new(found.name, Arc::new(found.bytes), sections)
            }
            None => Source::new(name.clone(), Arc::clone(&bytes), sections.clone()),
        };
        let symbols = OnceLock::new();
        let size = |address| {
            let (data, image) =
                symbol_image.as_ref().map_or((data, &image), |i| (source.data(), i));
            let table = symbols.get_or_init(|| SymbolTable::build(data, image));
            table
                .at(data, image, address)
                .filter(|it| it.address == address.into())
                .map(|it| it.size)
        };
        let dwarf = source.dwarf();
        let FoundUnits { mut units, skeletons } = units::read(&dwarf, 0, 0, &mut problems);
        let split = split::read(
            &dwarf,
            &units,
            &skeletons,
            source.length(),
            companions.as_mut(),
            &size,
            &mut problems,
        );
        units.extend(split.units);
        let mut signatures: Vec<_> = units.iter().filter_map(UnitInfo::signature).collect();
        signatures.sort_unstable();
        let lines = units.iter().map(|_| OnceLock::new()).collect();
        Ok(Inner {
            name,
            bytes,
            image,
            sections,
            source,
            symbol_image,
            others: split.sources,
            units,
            signatures,
            symbols,
            index: OnceLock::new(),
            calls: OnceLock::new(),
            call_frames: OnceLock::new(),
            functions: OnceLock::new(),
            lines,
            names: RwLock::default(),
            types: RwLock::default(),
            named_types: RwLock::default(),
            problems: Mutex::new(problems),
        })
    }

    pub(crate) fn data(&self) -> &[u8] {
        (**self.bytes).as_ref()
    }

    pub(crate) fn view(&self) -> DieView<'_> {
        DieView {
            dwarf: self.source.dwarf(),
            sources: &self.others,
            others: OnceCell::new(),
            units: &self.units,
            signatures: &self.signatures,
        }
    }

    /// Whether it has units of debug information.
    pub(crate) fn has_units(&self) -> bool {
        !self.units.is_empty()
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn report(&self, new: Vec<Problem>) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in new {
            let problem = source::placed(problem, &self.source, &self.others);
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
            let calls = Calls::new(&self.view(), &self.source, &mut problems);
            self.report(problems);
            calls
        })
    }

    /// Returns the rules at an address of the file as linked, see [`CallFrames::rules`].
    pub(crate) fn rules(
        &self,
        context: &mut UnwindContext<usize>,
        address: u32,
    ) -> Result<Option<Rules>, String> {
        let sections = FrameSections {
            image: &self.image,
            debug: self.section(SectionId::DebugFrame),
            eh: self.section(SectionId::EhFrame),
        };
        let frames = self.call_frames.get_or_init(|| {
            let mut problems = Vec::new();
            let frames = CallFrames::new(&sections, self.has_function_at_zero(), &mut problems);
            self.report(problems);
            frames
        });
        frames.rules(&sections, context, address)
    }

    fn has_function_at_zero(&self) -> bool {
        let symbol = self.symbol_at(0);
        symbol.is_some_and(|symbol| symbol.address == 0 && symbol.kind == SymbolKind::Function)
    }

    /// Returns one debug section's bytes; empty if there is none. A separate debug file lacks
    /// loaded sections, such as `.eh_frame`.
    pub(crate) fn section(&self, id: SectionId) -> &[u8] {
        match self.source.section(id) {
            [] => self.sections.bytes(self.data(), id),
            bytes => bytes,
        }
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| {
            let mut problems = Vec::new();
            let found = functions::read(&self.view(), &self.image, &mut problems);
            self.report(problems);
            found
        })
    }

    pub(crate) fn function_symbols(&self) -> Vec<Symbol> {
        let (data, image) = self.symbol_file();
        self.symbols().functions(data, image)
    }

    /// Returns a file by its number in the unit's line table.
    pub(crate) fn file_of(&self, unit: usize, number: u64) -> Option<Arc<str>> {
        // The line table of a unit in another file is with its skeleton.
        let id = self.units.get(unit)?.dwo_id;
        let skeleton = self.units.iter().position(|unit| id.is_some() && unit.dwo_id == id);
        self.lines(skeleton.unwrap_or(unit))?.file(number).cloned()
    }

    fn symbols(&self) -> &SymbolTable {
        self.symbols.get_or_init(|| {
            let (data, image) = self.symbol_file();
            SymbolTable::build(data, image)
        })
    }

    /// Returns the file that has the symbol table.
    fn symbol_file(&self) -> (&[u8], &ElfHeaders) {
        match &self.symbol_image {
            Some(image) => (self.source.data(), image),
            None => (self.data(), &self.image),
        }
    }

    pub(crate) fn symbol_named(&self, name: &str) -> Option<Symbol> {
        let (data, image) = self.symbol_file();
        self.symbols().named(data, image, name)
    }

    pub(crate) fn symbol_at(&self, address: u32) -> Option<Symbol> {
        let (data, image) = self.symbol_file();
        self.symbols().at(data, image, address)
    }

    /// Builds types, and keeps the problems found.
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

    /// Iterates over all line tables; a table that units share is read for each.
    pub(crate) fn all_lines(&self) -> impl Iterator<Item = &Lines> {
        (0..self.units.len()).filter_map(|unit| self.lines(unit))
    }

    pub(crate) fn function_names(
        &self,
        die: DieId,
        make: impl FnOnce(DieId) -> FunctionNames,
    ) -> FunctionNames {
        cached(&self.names, die, || make(die))
    }
}

/// Returns the cached value, or makes it and caches it.
fn cached<T: Clone>(cache: &RwLock<HashMap<DieId, T>>, die: DieId, make: impl FnOnce() -> T) -> T {
    let known = cache.read().unwrap_or_else(PoisonError::into_inner).get(&die).cloned();
    known.unwrap_or_else(|| {
        let new = make();
        let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
        cache.entry(die).or_insert(new).clone()
    })
}
