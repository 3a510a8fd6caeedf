//! Why a backtrace ends where it ends.

use std::fmt;
use std::sync::Arc;

/// Why there is no further frame. `E` is what reading memory fails with.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StackEnd<E> {
    /// The function's call frame information says that nobody called it.
    Outermost {
        /// Its name.
        function: Option<Arc<str>>,
        /// Where in it the frame is.
        pc: u32,
    },
    /// The function has called another one, which overwrote the register with its return address, and
    /// its call frame information names no place where it was saved: start code mostly.
    NotSaved {
        /// Its name.
        function: Option<Arc<str>>,
        /// Where in it the frame is.
        pc: u32,
        /// Whether it is the one at which its file says that execution starts.
        entry: bool,
    },
    /// None of the files has code there.
    NoModule {
        /// The pc, or the return address.
        pc: u32,
    },
    /// The file has code there, but no call frame information for it.
    NoCallFrames {
        /// The function there, if there is a symbol.
        function: Option<Arc<str>>,
        /// The pc, or the return address.
        pc: u32,
        /// What the link register holds, if this is the innermost frame: perhaps its return address.
        ra: Option<u32>,
        /// Whether the function is the one at which its file says that execution starts.
        entry: bool,
    },
    /// The call frame information makes no sense.
    BrokenCallFrames {
        /// The pc, or the return address, it was looked up for.
        pc: u32,
        /// What is wrong.
        reason: String,
    },
    /// Memory that had to be read cannot be read.
    Unreadable {
        /// The pc of the last frame.
        pc: u32,
        /// What was looked for there: a register's name, or what else is needed to go on.
        what: &'static str,
        /// Where it was.
        address: u32,
        /// Why it cannot be read.
        error: E,
    },
    /// A register that is needed is not known: it was not given, or a function in between has lost it.
    Unknown {
        /// The pc of the last frame, if there is one.
        pc: Option<u32>,
        /// The register.
        register: &'static str,
    },
    /// A frame comes again, with its pc and its address: the stack is damaged.
    Repeats {
        /// The pc of that frame.
        pc: u32,
        /// Its canonical frame address.
        cfa: u32,
    },
    /// There are more frames than a stack in private RAM can hold.
    Limit {
        /// How many there are here.
        frames: usize,
    },
}

impl<E> StackEnd<E> {
    /// The kind of reason, as a word for scripts that never changes.
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

/// A function in words.
struct Function<'a>(Option<&'a Arc<str>>, u32);

impl fmt::Display for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "{name} at {:#x}", self.1),
            None => write!(f, "the code at {:#x}", self.1),
        }
    }
}

/// What is added for a function where execution starts.
fn of_entry(entry: bool) -> &'static str {
    if entry { ", where execution of its file starts," } else { "" }
}

impl<E: fmt::Display> fmt::Display for StackEnd<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackEnd::Outermost { function, pc } => {
                let function = Function(function.as_ref(), *pc);
                write!(f, "{function} is outermost: by its call frame information nobody called it")
            }
            StackEnd::NotSaved { function, pc, entry } => {
                let function = Function(function.as_ref(), *pc);
                write!(
                    f,
                    "{function}{} has made a call, and its call frame information does not say \
                     where its own return address is",
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
                write!(f, "the call frame information for {pc:#x} makes no sense: {reason}")
            }
            StackEnd::Unreadable { pc, what, address, error } => write!(
                f,
                "going on from {pc:#x} needs the {what} at {address:#x}, which cannot be read: \
                 {error}"
            ),
            StackEnd::Unknown { pc: Some(pc), register } => {
                write!(f, "going on from {pc:#x} needs {register}, which is not known")
            }
            StackEnd::Unknown { pc: None, register } => write!(f, "{register} is not known"),
            StackEnd::Repeats { pc, cfa } => write!(
                f,
                "the frame at pc {pc:#x} with address {cfa:#x} comes again: the stack is damaged"
            ),
            StackEnd::Limit { frames } => write!(f, "stopped at the limit of {frames} frames"),
        }
    }
}
