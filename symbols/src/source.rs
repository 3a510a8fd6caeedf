//! Sources of debug information: the file itself, its separate debug file, and split units.

use std::sync::Arc;

use gimli::SectionId;

use crate::bytes::Bytes;
use crate::problem::Problem;
use crate::sections::{DebugSections, Slice};

/// One file's debug sections, or the contributions of one unit of a package.
pub(crate) struct Source {
    /// The file's name, for messages.
    pub(crate) name: String,
    bytes: Arc<Bytes>,
    sections: DebugSections,
}

impl Source {
    pub(crate) fn new(name: String, bytes: Arc<Bytes>, sections: DebugSections) -> Source {
        Source { name, bytes, sections }
    }

    /// Replaces one section's bytes.
    pub(crate) fn replace(&mut self, id: SectionId, bytes: &[u8]) {
        self.sections.replace(id, bytes);
    }

    /// Returns one section's bytes; empty if there is none.
    pub(crate) fn section(&self, id: SectionId) -> &[u8] {
        self.sections.bytes(self.data(), id)
    }

    pub(crate) fn data(&self) -> &[u8] {
        (**self.bytes).as_ref()
    }

    /// Returns the sections for gimli.
    pub(crate) fn dwarf(&self) -> gimli::Dwarf<Slice<'_>> {
        self.sections.dwarf(self.data())
    }

    /// Returns the sections of a unit whose skeleton is in `parent`, which has its addresses.
    pub(crate) fn split<'a>(&'a self, parent: &gimli::Dwarf<Slice<'a>>) -> gimli::Dwarf<Slice<'a>> {
        let mut dwarf = self.dwarf();
        dwarf.make_dwo(parent);
        dwarf
    }

    /// Returns how many entry ids the source takes.
    pub(crate) fn length(&self) -> usize {
        let length = |id| self.section(id).len();
        length(SectionId::DebugInfo).saturating_add(length(SectionId::DebugTypes))
    }
}

/// Makes a problem's offset relative to the other file it is in, and names that file.
pub(crate) fn placed(mut problem: Problem, main: &Source, others: &[Source]) -> Problem {
    let (Problem::Unit { offset, .. } | Problem::Type { offset, .. }) = &mut problem else {
        return problem;
    };
    let mut start = main.length() as u64;
    for other in others {
        let length = other.length() as u64;
        if (start..start + length).contains(offset) {
            *offset -= start;
            return Problem::Elsewhere { file: other.name.clone(), problem: Box::new(problem) };
        }
        start += length;
    }
    problem
}
