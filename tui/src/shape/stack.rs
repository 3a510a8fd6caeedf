//! The JSON of `symbols backtrace`.

use serde::Serialize;
use std::collections::BTreeMap;

/// `symbols backtrace`.
#[derive(Serialize)]
pub(crate) struct Stack<'a> {
    pub(crate) frames: Vec<Stacked<'a>>,
    pub(crate) end: StackReason,
}

/// A frame of a stack.
#[derive(Serialize)]
pub(crate) struct Stacked<'a> {
    pub(crate) pc: u32,
    pub(crate) cfa: Option<u32>,
    pub(crate) elf: &'a str,
    pub(crate) locations: Vec<StackSource<'a>>,
    /// The known ones, by the names of the calling convention.
    pub(crate) registers: BTreeMap<&'static str, u32>,
}

/// A place in source, and whether it was inlined into the next one.
#[derive(Serialize)]
pub(crate) struct StackSource<'a> {
    pub(crate) function: Option<&'a str>,
    pub(crate) file: Option<&'a str>,
    pub(crate) line: Option<u32>,
    pub(crate) inlined: bool,
}

/// Why a stack ends.
#[derive(Serialize)]
pub(crate) struct StackReason {
    pub(crate) reason: &'static str,
    pub(crate) detail: String,
}
