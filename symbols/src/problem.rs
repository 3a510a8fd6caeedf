//! What was skipped while reading: each problem leaves the rest usable.

use std::fmt;

/// One part of the file that could not be used, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// No section headers, so neither symbols nor debug information.
    NoSections,
    /// No `.symtab`: stripped.
    NoSymbols,
    /// No `.debug_info`: built without `-g`, or stripped.
    NoDebugInfo,
    /// A relocatable object: addresses and references are not final.
    Relocatable,
    /// A section's bytes cannot be had.
    Section {
        /// The section's name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A loadable segment reaches past the end of the file; its bytes are cut there.
    Segment {
        /// Where it loads.
        address: u64,
        /// How many bytes the file lacks.
        missing: u64,
    },
    /// A unit of debug information, or the rest of one, cannot be read.
    Unit {
        /// Where it starts in `.debug_info`.
        offset: u64,
        /// Why not.
        reason: String,
    },
    /// A unit whose types are in another file (`-gsplit-dwarf`), which could not be used.
    Split {
        /// Where the skeleton starts in `.debug_info`.
        offset: u64,
        /// The other file, as the compiler named it.
        file: String,
        /// Why not; none if it was not looked for, because the ELF was loaded from bytes.
        reason: Option<String>,
    },
    /// A file made to hold the debug information could not be used.
    DebugFile {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// What was found in another file that is read along with this one.
    Elsewhere {
        /// The other file.
        file: String,
        /// What was found there.
        problem: Box<Problem>,
    },
    /// A line table, or the rest of one, cannot be read.
    Lines {
        /// Where it starts in `.debug_line`.
        offset: u64,
        /// Why not.
        reason: String,
    },
    /// Call frame information, or the rest of it, cannot be read.
    CallFrames {
        /// The section it is in.
        section: &'static str,
        /// The first entry that cannot be read.
        offset: u64,
        /// Why not.
        reason: String,
    },
    /// A type that could not be built whole.
    Type {
        /// Where it is in `.debug_info`.
        offset: u64,
        /// Why not.
        reason: String,
    },
    /// A bound against hostile input was reached; what lies past it is missing.
    Limit {
        /// Which bound.
        what: &'static str,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoSections => f.write_str("no section headers"),
            Problem::NoSymbols => f.write_str("no symbol table (stripped)"),
            Problem::NoDebugInfo => f.write_str("no debug information (built without -g)"),
            Problem::Relocatable => f.write_str("a relocatable object: addresses are not final"),
            Problem::Section { name, reason } => write!(f, "section {name}: {reason}"),
            Problem::Segment { address, missing } => {
                write!(f, "segment at {address:#x}: the file lacks its last {missing} bytes")
            }
            Problem::Unit { offset, reason } => write!(f, "unit at {offset:#x}: {reason}"),
            Problem::Split { offset, file, reason } => {
                write!(f, "unit at {offset:#x}: its debug information is in {file}")?;
                reason.iter().try_for_each(|reason| write!(f, ", {reason}"))
            }
            Problem::DebugFile { file, reason } => {
                write!(f, "debug information in {file}: {reason}")
            }
            Problem::Elsewhere { file, problem } => write!(f, "{file}: {problem}"),
            Problem::Lines { offset, reason } => write!(f, "line table at {offset:#x}: {reason}"),
            Problem::CallFrames { section, offset, reason } => {
                write!(f, "{section} entry at {offset:#x}: {reason}")
            }
            Problem::Type { offset, reason } => write!(f, "type at {offset:#x}: {reason}"),
            Problem::Limit { what } => write!(f, "stopped at the limit of {what}"),
        }
    }
}
