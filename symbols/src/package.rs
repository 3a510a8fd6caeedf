//! DWARF packages (`.dwp`): the units of many `.dwo` files in one file, found by id.

use std::ops::Range;
use std::sync::Arc;

use gimli::{DebugCuIndex, DebugTuIndex, EndianSlice, LittleEndian, SectionId, UnitIndex};

use crate::bytes::Bytes;
use crate::companions::Companions;
use crate::image::ElfHeaders;
use crate::problem::Problem;
use crate::sections::{DebugSections, Slice};
use crate::source::Source;

/// One open package.
pub(crate) struct Package {
    name: String,
    bytes: Arc<Bytes>,
    image: ElfHeaders,
    sections: DebugSections,
    /// Whether a unit was found in it; only then its types are read.
    used: bool,
}

impl Package {
    /// Opens the package of an ELF, named like it with `.dwp` at the end. An unreadable package is
    /// a problem.
    pub(crate) fn find(
        companions: &mut Companions<'_>,
        problems: &mut Vec<Problem>,
    ) -> Option<Package> {
        let path = companions.with(".dwp");
        let bytes = companions.open(&path)?;
        let name = path.display().to_string();
        match Package::new(name.clone(), bytes) {
            Ok(package) => Some(package),
            Err(reason) => {
                problems.push(Problem::DebugFile { file: name, reason });
                None
            }
        }
    }

    fn new(name: String, bytes: Bytes) -> Result<Package, String> {
        let data = (*bytes).as_ref();
        let mut problems = Vec::new();
        let image = ElfHeaders::parse(data, &mut problems).map_err(|error| error.to_string())?;
        problems.clear();
        let sections = DebugSections::split(data, &image, &mut problems);
        if let Some(problem) = problems.first() {
            return Err(problem.to_string());
        }
        let package = Package { name, bytes: Arc::new(bytes), image, sections, used: false };
        DebugCuIndex::from(package.section(".debug_cu_index"))
            .index()
            .map_err(|error| format!(".debug_cu_index: {error}"))?;
        Ok(package)
    }

    fn section(&self, name: &str) -> Slice<'_> {
        let data = (**self.bytes).as_ref();
        let section = self.image.section(name).and_then(|section| data.get(section.file.clone()));
        EndianSlice::new(section.unwrap_or_default(), LittleEndian)
    }

    pub(crate) fn unit(&mut self, id: u64) -> Option<Source> {
        let index = DebugCuIndex::from(self.section(".debug_cu_index")).index().ok()?;
        let source = self.row(&index, index.find(id)?)?;
        self.used = true;
        Some(source)
    }

    /// Returns all type units, if any unit of the package was used.
    pub(crate) fn types(self) -> Vec<Source> {
        let index = DebugTuIndex::from(self.section(".debug_tu_index")).index();
        let Some(index) = index.ok().filter(|_| self.used) else { return Vec::new() };
        (1..=index.unit_count()).map_while(|row| self.row(&index, row)).collect()
    }

    fn row(&self, index: &UnitIndex<Slice<'_>>, row: u32) -> Option<Source> {
        let sections = index.sections(row).ok()?;
        let contributed: Vec<(SectionId, Range<usize>)> = sections
            .map(|part| {
                let start = part.offset as usize;
                (part.section.section_id(), start..start.saturating_add(part.size as usize))
            })
            .collect();
        let sections = self.sections.cut(&contributed);
        Some(Source::new(self.name.clone(), Arc::clone(&self.bytes), sections))
    }
}
