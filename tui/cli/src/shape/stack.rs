//! The JSON of `symbols backtrace`.

use super::Source;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The frames of a stack.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Stack<'a> {
    /// The frames, innermost first.
    pub(crate) frames: Vec<Stacked<'a>>,
    /// Why the stack ends.
    pub(crate) end: StackReason,
}

/// A frame of a stack.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Stacked<'a> {
    /// Its program counter.
    pub(crate) pc: u32,
    /// The canonical frame address; null if it is not known.
    pub(crate) cfa: Option<u32>,
    /// The name of the file that has its code.
    pub(crate) elf: &'a str,
    /// The inlined functions at the program counter, innermost first, then the function itself.
    pub(crate) locations: Vec<StackSource<'a>>,
    /// The known registers, by the names of the calling convention.
    pub(crate) registers: BTreeMap<&'static str, u32>,
    /// Whether the frame has left the stack by a tail call: its program counter is the address
    /// after the jump.
    pub(crate) tail_call: bool,
    /// Whether frames that tail calls removed are missing between this frame and the next.
    pub(crate) frames_missing: bool,
}

/// A place in source.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StackSource<'a> {
    #[serde(flatten)]
    pub(crate) source: Source<'a>,
    /// Whether it is inlined into the next one.
    pub(crate) inlined: bool,
}

/// Why a stack ends.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StackReason {
    /// outermost, not-saved, no-file, no-call-frames, broken-call-frames, unreadable,
    /// unknown-register, repeats or limit.
    pub(crate) reason: &'static str,
    /// The reason in a sentence.
    pub(crate) detail: String,
}
