//! The reasons why a backtrace ends.

use std::fmt;
use std::sync::Arc;

/// The reason why there is no further frame. `E` is the error of memory accesses.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StackEnd<E> {
    /// The function's call frame information states that it has no caller.
    Outermost {
        /// Its name.
        function: Option<Arc<str>>,
        /// The pc of the frame.
        pc: u32,
    },
    /// The function made a call that overwrote its return address, and its call frame information
    /// does not locate the saved one; usually start code.
    NotSaved {
        /// Its name.
        function: Option<Arc<str>>,
        /// The pc of the frame.
        pc: u32,
        /// Whether the function is at the file's entry point.
        entry: bool,
    },
    /// No file has code at this address.
    NoModule {
        /// The pc, or the return address.
        pc: u32,
    },
    /// The file has code at this address, but no call frame information.
    NoCallFrames {
        /// The function, if there is a symbol.
        function: Option<Arc<str>>,
        /// The pc, or the return address.
        pc: u32,
        /// The link register, if this is the innermost frame: perhaps its return address.
        ra: Option<u32>,
        /// Whether the function is at the file's entry point.
        entry: bool,
    },
    /// The call frame information is invalid.
    BrokenCallFrames {
        /// The pc or the return address of the lookup.
        pc: u32,
        /// The error.
        reason: String,
    },
    /// Required memory is unreadable.
    Unreadable {
        /// The pc of the last frame.
        pc: u32,
        /// The value needed: a register's name, or another value.
        what: &'static str,
        /// The address of the value.
        address: u32,
        /// The error of the access.
        error: E,
    },
    /// A required register is unknown: it was not given, or an intermediate function lost it.
    Unknown {
        /// The pc of the last frame, if there is one.
        pc: Option<u32>,
        /// The register.
        register: &'static str,
    },
    /// A frame repeats, with its pc and its frame address: the stack is damaged.
    Repeats {
        /// The pc of that frame.
        pc: u32,
        /// Its canonical frame address.
        cfa: u32,
    },
    /// The stack has more frames than fit into private RAM.
    Limit {
        /// The number of frames found.
        frames: usize,
    },
}

impl<E> StackEnd<E> {
    /// Returns the reason as a constant word for scripts.
    pub fn name(&self) -> &'static str {
        match self {
            StackEnd::Outermost { .. } => "outermost",
            StackEnd::NotSaved { .. } => "not-saved",
            StackEnd::NoModule { .. } => "no-file",
            StackEnd::NoCallFrames { .. } => "no-call-frames",
            StackEnd::BrokenCallFrames { .. } => "broken-call-frames",
            StackEnd::Unreadable { .. } => "unreadable",
            StackEnd::Unknown { .. } => "unknown-register",
            StackEnd::Repeats { .. } => "repeats",
            StackEnd::Limit { .. } => "limit",
        }
    }
}

/// A function and its pc, as text.
struct Function<'a>(Option<&'a Arc<str>>, u32);

impl fmt::Display for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "{name} at {:#x}", self.1),
            None => write!(f, "the code at {:#x}", self.1),
        }
    }
}

/// Returns the words for a function at the entry point.
fn of_entry(entry: bool) -> &'static str {
    if entry { ", the entry point of its file," } else { "" }
}

impl<E: fmt::Display> fmt::Display for StackEnd<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackEnd::Outermost { function, pc } => {
                let function = Function(function.as_ref(), *pc);
                write!(f, "{function} is outermost: its call frame information has no caller")
            }
            StackEnd::NotSaved { function, pc, entry } => {
                let function = Function(function.as_ref(), *pc);
                write!(
                    f,
                    "{function}{} has made a call, and its call frame information does not \
                     locate its own return address",
                    of_entry(*entry)
                )
            }
            StackEnd::NoModule { pc } => write!(f, "no file has code at {pc:#x}"),
            StackEnd::NoCallFrames { function, pc, ra, entry } => {
                let function = Function(function.as_ref(), *pc);
                let entry = of_entry(*entry).trim_end_matches(',');
                write!(f, "no call frame information for {function}{entry}")?;
                ra.map_or(Ok(()), |ra| write!(f, "; ra holds {ra:#x}"))
            }
            StackEnd::BrokenCallFrames { pc, reason } => {
                write!(f, "the call frame information for {pc:#x} is invalid: {reason}")
            }
            StackEnd::Unreadable { pc, what, address, error } => write!(
                f,
                "unwinding from {pc:#x} needs the {what} at {address:#x}, which cannot be read: \
                 {error}"
            ),
            StackEnd::Unknown { pc: Some(pc), register } => {
                write!(f, "unwinding from {pc:#x} needs {register}, which is unknown")
            }
            StackEnd::Unknown { pc: None, register } => write!(f, "{register} is unknown"),
            StackEnd::Repeats { pc, cfa } => write!(
                f,
                "the frame at pc {pc:#x} with address {cfa:#x} repeats: the stack is damaged"
            ),
            StackEnd::Limit { frames } => write!(f, "stopped at the limit of {frames} frames"),
        }
    }
}
