//! The chain of calls at an address: inlined frames innermost first, then the function.

use std::borrow::Cow;
use std::sync::Arc;

use crate::demangle::clones;
use crate::functions::FunctionNames;
use crate::inner::Inner;
use crate::symtab::{Symbol, SymbolKind};
use crate::units::DieId;

/// One frame at an address: a function and the position in it. Unknown fields are none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Location {
    /// The function's own name, without scopes and parameters.
    pub function: Option<Arc<str>>,
    /// If the code is a clone that the compiler made for some of the calls, or a split-off part:
    /// its marks, such as `[clone .constprop.0]`.
    pub clone: Option<Arc<str>>,
    /// Its mangled name, if it has one.
    pub linkage_name: Option<Arc<str>>,
    /// The source file as the compiler recorded it.
    pub file: Option<Arc<str>>,
    /// The line; except for the innermost frame, the line of the call.
    pub line: Option<u32>,
    /// Whether this frame was inlined into the next one.
    pub inlined: bool,
}

/// Returns the frames at an address; empty if the file has no information about it.
pub(crate) fn at(inner: &Inner, address: u32) -> Vec<Location> {
    let code = inner.image.is_code(address);
    let calls = if code { inner.calls().at(address) } else { Vec::new() };
    let outermost = calls.len().saturating_sub(1);
    if calls.is_empty() {
        // Data has a symbol too, but is not a function.
        let symbol = inner.symbol_at(address).filter(|symbol| symbol.kind != SymbolKind::Object);
        return symbol.map(|symbol| frame(named(&symbol), None, 0, false)).into_iter().collect();
    }
    let frames = calls.into_iter().enumerate().map(|(level, call)| {
        let inlined = level < outermost;
        let names = match call.die {
            Some(die) if inlined => inner.function_names(die, |die| dwarf_names(inner, die)),
            Some(die) => inner.function_names(die, |die| outermost_names(inner, address, die)),
            None => inner.symbol_at(address).as_ref().map_or_else(FunctionNames::default, named),
        };
        frame(names, call.file, call.line.unwrap_or(0), inlined)
    });
    let mut frames: Vec<Location> = frames.collect();
    // Each part of the outermost function has a symbol of its own.
    if let (Some(last), Some(symbol)) = (frames.last_mut(), inner.symbol_at(address)) {
        // The cold part of a function is no clone.
        let clones = clones(symbol.name.trim_end_matches(".cold"));
        // A name from the symbol has them.
        let without = !clones.is_empty() && last.function != named(&symbol).plain;
        last.clone = without.then(|| clones.into());
    }
    frames
}

impl Location {
    /// Returns the function with the marks of its clone.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        let function = self.function.as_deref()?;
        let whole = |clone: &Arc<str>| Cow::Owned(format!("{function} {clone}"));
        Some(self.clone.as_ref().map_or(Cow::Borrowed(function), whole))
    }
}

fn frame(names: FunctionNames, file: Option<Arc<str>>, line: u32, inlined: bool) -> Location {
    let line = (line > 0).then_some(line);
    let (function, linkage_name) = (names.plain, names.linkage);
    Location { function, clone: None, linkage_name, file, line, inlined }
}

fn dwarf_names(inner: &Inner, die: DieId) -> FunctionNames {
    let view = inner.view();
    let plain = view.full_name(die).map(Into::into);
    FunctionNames { plain, linkage: view.linkage_name(die).map(Into::into) }
}

/// Returns the names of the outermost function. It has a symbol, even if its entry has no name.
fn outermost_names(inner: &Inner, address: u32, die: DieId) -> FunctionNames {
    let mut names = dwarf_names(inner, die);
    if (names.plain.is_none() || names.linkage.is_none())
        && let Some(symbol) = inner.symbol_at(address)
    {
        let symbol = named(&symbol);
        names.plain = names.plain.or(symbol.plain);
        names.linkage = names.linkage.or(symbol.linkage);
    }
    names
}

/// Returns a symbol's names, for code without a debug entry: nearly all code has a symbol.
fn named(symbol: &Symbol) -> FunctionNames {
    FunctionNames {
        plain: Some(symbol.demangled().unwrap_or_else(|| symbol.name.clone()).into()),
        linkage: Some(symbol.name.as_str().into()),
    }
}
