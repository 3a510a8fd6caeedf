//! From an address to the chain of calls there: inlined frames innermost first, then the function.

use std::sync::Arc;

use crate::index::FunctionRange;
use crate::inlines::Inline;
use crate::inner::Inner;
use crate::units::DieId;

/// One frame at an address: a function and the place in it. What is not known is none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Location {
    /// The function's own name, without scopes and parameters.
    pub function: Option<Arc<str>>,
    /// Its mangled name, if it has one.
    pub linkage_name: Option<Arc<str>>,
    /// The source file's path as the compiler recorded it.
    pub file: Option<Arc<str>>,
    /// The line; for all but the innermost frame, where the call stands.
    pub line: Option<u32>,
    /// Whether this frame was inlined into the next one.
    pub inlined: bool,
}

/// A function's names, kept: addresses are asked for a hundred thousand times a second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    plain: Option<Arc<str>>,
    linkage: Option<Arc<str>>,
}

/// The frames at an address; empty if nothing at all is known of it.
pub(crate) fn at(inner: &Inner, address: u32) -> Vec<Location> {
    let index = inner.index();
    let function = index.function_at(address);
    let Some(function) = function else { return without_function(inner, address) };
    let chain = inner.inlines(function.die).chain(address);
    let unit = inner.unit_of(function.die);
    let (mut file, mut line) = inner.line_at(unit, address).unwrap_or((None, 0));
    let mut frames = Vec::with_capacity(chain.len() + 1);
    for call in chain.iter().rev() {
        let names = inner.function_names(call.die, |die| dwarf_names(inner, die));
        frames.push(frame(names, file, line, true));
        (file, line) = called_from(inner, unit, call);
    }
    let names = inner.function_names(function.die, |die| outermost_names(inner, function, die));
    frames.push(frame(names, file, line, false));
    frames
}

fn frame(names: Names, file: Option<Arc<str>>, line: u32, inlined: bool) -> Location {
    let line = (line > 0).then_some(line);
    Location { function: names.plain, linkage_name: names.linkage, file, line, inlined }
}

fn called_from(inner: &Inner, unit: Option<usize>, call: &Inline) -> (Option<Arc<str>>, u32) {
    let file = unit.and_then(|unit| inner.lines(unit)?.file(call.call_file.into()));
    (file, call.call_line)
}

fn dwarf_names(inner: &Inner, die: DieId) -> Names {
    let view = inner.view();
    let plain = view.full_name(die).map(Into::into);
    Names { plain, linkage: view.linkage_name(die).map(Into::into) }
}

/// A function that was really called has a symbol, even if its debug entry has no name.
fn outermost_names(inner: &Inner, function: FunctionRange, die: DieId) -> Names {
    let mut names = dwarf_names(inner, die);
    if names.plain.is_none() || names.linkage.is_none() {
        let symbol = inner.symbol_at(function.begin);
        if let Some(symbol) = symbol {
            let plain = || symbol.demangled().unwrap_or_else(|| symbol.name.clone()).into();
            names.plain.get_or_insert_with(plain);
            names.linkage = names.linkage.or_else(|| Some(symbol.name.into()));
        }
    }
    names
}

/// Code without a debug entry: assembly may still have lines, and nearly everything has a symbol.
fn without_function(inner: &Inner, address: u32) -> Vec<Location> {
    let place = inner.unit_at(address).and_then(|unit| inner.line_at(Some(unit), address));
    let symbol = inner.symbol_at(address);
    if place.is_none() && symbol.is_none() {
        return Vec::new();
    }
    let (file, line) = place.unwrap_or((None, 0));
    let names = symbol.map_or_else(Names::default, |symbol| Names {
        plain: Some(symbol.demangled().unwrap_or_else(|| symbol.name.clone()).into()),
        linkage: Some(symbol.name.into()),
    });
    vec![frame(names, file, line, false)]
}
