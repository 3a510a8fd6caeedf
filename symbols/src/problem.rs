//! Problems: parts of a file that were skipped while reading. The rest stays usable.

use std::fmt;

/// One unusable part of the file, and why.
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
    /// A section's bytes are not readable.
    Section {
        /// The section's name.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A loadable segment that reaches past the end of the file; its bytes are cut there.
    Segment {
        /// Its load address.
        address: u64,
        /// The number of missing bytes.
        missing: u64,
    },
    /// An unreadable unit of debug information, or the rest of one.
    Unit {
        /// Its offset in `.debug_info`.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// An unusable unit whose types are in another file (`-gsplit-dwarf`).
    Split {
        /// The offset of the skeleton in `.debug_info`.
        offset: u64,
        /// The other file, as the compiler named it.
        file: String,
        /// The reason; none if the ELF was loaded from bytes, so that the file was not searched.
        reason: Option<String>,
    },
    /// An unusable file with debug information.
    DebugFile {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
    /// A problem in another file that is read along with this one.
    Elsewhere {
        /// The other file.
        file: String,
        /// The problem.
        problem: Box<Problem>,
    },
    /// An unreadable line table, or the rest of one.
    Lines {
        /// Its offset in `.debug_line`.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// Unreadable call frame information, or the rest of it.
    CallFrames {
        /// Its section.
        section: &'static str,
        /// The offset of the first unreadable entry.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// An incomplete type.
    Type {
        /// Its offset in `.debug_info`.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// A limit against hostile input was reached; the rest is missing.
    Limit {
        /// The limit.
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
