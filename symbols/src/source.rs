//! Where debug information is: the file itself, its separate debug file, and units in other files.

use std::sync::Arc;

use gimli::SectionId;

use crate::bytes::Bytes;
use crate::problem::Problem;
use crate::sections::{DebugSections, Slice};

/// One file's debug sections, or what one unit of a package contributed to them.
pub(crate) struct Source {
    /// The file's name, for people.
    pub(crate) name: String,
    bytes: Arc<Bytes>,
    sections: DebugSections,
}

impl Source {
    pub(crate) fn new(name: String, bytes: Arc<Bytes>, sections: DebugSections) -> Source {
        Source { name, bytes, sections }
    }

    /// One section's bytes; empty where there is none.
    pub(crate) fn section(&self, id: SectionId) -> &[u8] {
        self.sections.bytes(self.data(), id)
    }

    pub(crate) fn data(&self) -> &[u8] {
        (**self.bytes).as_ref()
    }

    /// The sections as gimli wants them.
    pub(crate) fn dwarf(&self) -> gimli::Dwarf<Slice<'_>> {
        self.sections.dwarf(self.data())
    }

    /// The sections of a unit whose skeleton is in `parent`, from where it takes addresses.
    pub(crate) fn split<'a>(&'a self, parent: &gimli::Dwarf<Slice<'a>>) -> gimli::Dwarf<Slice<'a>> {
        let mut dwarf = self.dwarf();
        dwarf.make_dwo(parent);
        dwarf
    }

    /// How many numbers of entries it takes.
    pub(crate) fn length(&self) -> usize {
        let of = |id| self.section(id).len();
        of(SectionId::DebugInfo).saturating_add(of(SectionId::DebugTypes))
    }
}

/// Counts a place in another file from that file's start, and names the file.
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
