//! Units in other files (`-gsplit-dwarf`): from the skeleton to its `.dwo`, or its part of a
//! `.dwp`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::SectionId;

use crate::bytes::Bytes;
use crate::companions::Companions;
use crate::image::ElfHeaders;
use crate::lengths;
use crate::package::Package;
use crate::problem::Problem;
use crate::sections::{DebugSections, Slice};
use crate::source::Source;
use crate::units::{self, Skeleton, UnitInfo};

/// The most other files opened.
const MAX_SOURCES: usize = 1 << 12;

/// Split units: one source per file, and the units in it.
#[derive(Default)]
pub(crate) struct Split {
    pub(crate) sources: Vec<Source>,
    pub(crate) units: Vec<UnitInfo>,
}

/// Reads the units of the skeletons. `own` are the skeletons' units, `first` is the first free
/// entry id, and `size` returns the size of the function at an address.
pub(crate) fn read(
    main: &gimli::Dwarf<Slice<'_>>,
    own: &[UnitInfo],
    skeletons: &[Skeleton],
    first: usize,
    companions: Option<&mut Companions<'_>>,
    size: &dyn Fn(u32) -> Option<u64>,
    problems: &mut Vec<Problem>,
) -> Split {
    let mut reader = SplitReader { main, own, size, split: Split::default(), next: first };
    let Some(companions) = companions.filter(|_| !skeletons.is_empty()) else {
        problems.extend(skeletons.iter().map(|skeleton| problem(skeleton, None)));
        return reader.split;
    };
    let mut package = Package::find(companions, problems);
    let mut seen = HashSet::new();
    for skeleton in skeletons {
        if skeleton.id.is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        if reader.split.sources.len() >= MAX_SOURCES {
            problems.push(Problem::Limit { what: "files with debug information" });
            break;
        }
        let packed = package.as_mut().and_then(|package| package.unit(skeleton.id?));
        let done = match packed {
            Some(source) => reader.take(skeleton, source),
            None => reader.file(skeleton, companions),
        };
        if let Err(reason) = done {
            problems.push(problem(skeleton, Some(reason)));
        }
    }
    for source in package.map(Package::types).into_iter().flatten() {
        if reader.split.sources.len() < MAX_SOURCES {
            reader.types(source);
        }
    }
    reader.split
}

fn problem(skeleton: &Skeleton, reason: Option<String>) -> Problem {
    let file = skeleton.file.display().to_string();
    Problem::Split { offset: u64::from(skeleton.start), file, reason }
}

struct SplitReader<'m, 'a> {
    main: &'m gimli::Dwarf<Slice<'a>>,
    own: &'m [UnitInfo],
    size: &'m dyn Fn(u32) -> Option<u64>,
    split: Split,
    next: usize,
}

impl SplitReader<'_, '_> {
    /// Opens the file at the compiler's path, then around the ELF.
    fn file(&mut self, skeleton: &Skeleton, companions: &mut Companions<'_>) -> Result<(), String> {
        let mut refused = None;
        for path in candidates(skeleton, companions) {
            let Some(bytes) = companions.open(&path) else { continue };
            match open(&path, bytes).and_then(|source| self.take(skeleton, source)) {
                Ok(()) => return Ok(()),
                Err(reason) => refused = refused.or(Some(reason)),
            }
        }
        Err(refused.unwrap_or_else(|| "which does not exist".to_owned()))
    }

    /// Keeps the unit of the skeleton, and the type units of its file.
    fn take(&mut self, skeleton: &Skeleton, mut source: Source) -> Result<(), String> {
        let mut units = self.units(&source)?;
        let ids: Vec<u64> = units.iter().filter_map(|unit| unit.dwo_id).collect();
        if let Some(id) = skeleton.id
            && !ids.contains(&id)
        {
            return Err(match ids.first() {
                Some(other) => format!("which has the id {other:#018x}, not {id:#018x}"),
                None => "which has no unit".to_owned(),
            });
        }
        units.retain(|unit| {
            unit.signature().is_some() || skeleton.id.is_none() || unit.dwo_id == skeleton.id
        });
        if let Some(own) = self.own.get(skeleton.unit) {
            for unit in &mut units {
                unit.complete(own);
            }
        }
        if let Some(info) = lengths::completed(&source.split(self.main), &units, self.size) {
            source.replace(SectionId::DebugInfo, &info);
        }
        self.keep(source, units);
        Ok(())
    }

    /// Keeps one type unit of a package.
    fn types(&mut self, source: Source) {
        if let Ok(units) = self.units(&source) {
            self.keep(source, units);
        }
    }

    fn units(&self, source: &Source) -> Result<Vec<UnitInfo>, String> {
        let number = self.split.sources.len() + 1;
        let end = u32::try_from(self.next.saturating_add(source.length()));
        let (Ok(first), Ok(_)) = (u32::try_from(self.next), end) else {
            return Err("which is too long".to_owned());
        };
        let mut problems = Vec::new();
        let found = units::read(&source.split(self.main), number, first, &mut problems);
        match problems.first() {
            Some(problem) if found.units.is_empty() => Err(format!("but {problem}")),
            _ => Ok(found.units),
        }
    }

    fn keep(&mut self, source: Source, units: Vec<UnitInfo>) {
        self.next += source.length();
        self.split.units.extend(units);
        self.split.sources.push(source);
    }
}

/// Returns the path as compiled, relative to the folder of the ELF, and in that folder itself.
fn candidates(skeleton: &Skeleton, companions: &Companions<'_>) -> Vec<PathBuf> {
    let compiled = skeleton.directory.as_ref().map(|folder| folder.join(&skeleton.file));
    let relative = skeleton.file.is_relative().then(|| companions.in_folder(&skeleton.file));
    let named = skeleton.file.file_name().map(|name| companions.in_folder(name));
    let mut paths = Vec::new();
    for path in [compiled, relative, named].into_iter().flatten() {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn open(path: &Path, bytes: Bytes) -> Result<Source, String> {
    let data = (*bytes).as_ref();
    let mut problems = Vec::new();
    let image = ElfHeaders::parse(data, &mut problems).map_err(|error| format!("but {error}"))?;
    problems.clear();
    let sections = DebugSections::split(data, &image, &mut problems);
    if let Some(problem) = problems.first() {
        return Err(format!("but {problem}"));
    }
    Ok(Source::new(path.display().to_string(), Arc::new(bytes), sections))
}
