//! Functions by name: all their code, and the places where they were inlined.

use std::collections::HashSet;
use std::sync::Arc;

use gimli::constants as dw;

use crate::demangle::{clones, demangled_without_parameters};
use crate::error::Error;
use crate::frames::Location;
use crate::functions::Functions;
use crate::index::is_called;
use crate::names::Name;
use crate::normalized::normalized;
use crate::spelling::qualified;
use crate::symbols::Symbols;
use crate::symtab::Symbol;
use crate::units::DieId;

/// The most inlined copies listed per function; a hostile file has one for each byte.
const MAX_COPIES: usize = 1 << 12;

/// A function with all its code.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FunctionCode {
    /// The name with scopes and template arguments, without parameters.
    pub name: String,
    /// The mangled name, if it has one.
    pub linkage_name: Option<String>,
    /// The file and line of its declaration.
    pub declared: Option<(Arc<str>, u32)>,
    /// Its own code by address: the hot part, cold and other split parts, and clones. Empty if all
    /// calls were inlined.
    pub parts: Vec<CodeRange>,
    /// Where it was inlined, by address.
    pub copies: Vec<InlinedCopy>,
}

/// A run of code of a function.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CodeRange {
    /// The first address.
    pub begin: u64,
    /// The address after the last byte.
    pub end: u64,
    /// The mangled symbol at `begin`: clones and split parts end in `.part.0`, `.constprop.0`,
    /// `.cold`.
    pub symbol: Option<String>,
}

/// A run of code that is a copy of a function inside another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InlinedCopy {
    /// The first address.
    pub begin: u64,
    /// The address after the last byte.
    pub end: u64,
    /// The function that it was inlined into.
    pub into: Option<Arc<str>>,
    /// The file of the inlined call.
    pub file: Option<Arc<str>>,
    /// The line of the inlined call.
    pub line: Option<u32>,
}

impl FunctionCode {
    /// Returns the bytes of its own code in all parts.
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.end.saturating_sub(part.begin)).sum()
    }
}

impl Symbols {
    /// Returns all functions of this name: overloads, and those of several scopes. Scopes and
    /// template arguments may be omitted. A mangled name matches itself, with or without a clone
    /// suffix.
    pub fn functions(&self, name: &str) -> Result<Vec<FunctionCode>, Error> {
        let (view, functions) = (self.inner.view(), self.inner.functions());
        let normalized = normalized(name);
        let wanted = Name::parse(&normalized);
        let mut found: Vec<FunctionCode> = Vec::new();
        for root in functions.roots() {
            let Some(own) = view.full_name(root) else { continue };
            let mangled = || view.linkage_name(root).is_some_and(|linkage| linkage == name);
            let scope = functions.scope_of(root);
            let called = is_called(&own, wanted.last)
                && functions.scopes.distance(&view, scope, &wanted.scopes).is_some();
            if called || mangled() {
                Self::join(&mut found, self.function(functions, root));
            }
        }
        if found.is_empty() {
            found.extend(self.only_symbols(name));
        }
        if found.is_empty() { Err(Error::NoFunction { name: name.to_owned() }) } else { Ok(found) }
    }

    /// Returns the names of all functions that have code, inlined or not, sorted, each once.
    pub fn function_names(&self) -> Vec<String> {
        let (view, functions) = (self.inner.view(), self.inner.functions());
        let roots = functions.roots().into_iter();
        let mut names: Vec<String> = roots
            .filter_map(|root| {
                let own = view.full_name(root)?;
                Some(qualified(&view, &functions.scopes, functions.scope_of(root), &own))
            })
            .collect();
        let own = functions.pieces.iter().filter(|piece| !piece.inlined);
        let described: HashSet<u64> = own.map(|piece| piece.begin.into()).collect();
        let bare = self.inner.function_symbols().into_iter();
        let bare = bare.filter(|symbol| !described.contains(&symbol.address));
        names.extend(bare.map(|symbol| plain_name(&symbol)));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Merges descriptions of one function from several units.
    fn join(found: &mut Vec<FunctionCode>, new: FunctionCode) {
        let same = |f: &&mut FunctionCode| f.name == new.name && f.linkage_name == new.linkage_name;
        let Some(known) = found.iter_mut().find(same) else { return found.push(new) };
        known.declared = known.declared.take().or(new.declared);
        known.parts.extend(new.parts);
        known.copies.extend(new.copies);
        known.parts.sort_by_key(|part| part.begin);
        known.copies.sort_by_key(|copy| copy.begin);
    }

    fn function(&self, functions: &Functions, root: DieId) -> FunctionCode {
        let view = self.inner.view();
        let own = view.full_name(root).unwrap_or_default();
        let name = qualified(&view, &functions.scopes, functions.scope_of(root), &own);
        let linkage_name = view.linkage_name(root).map(std::borrow::Cow::into_owned);
        let mut function = FunctionCode {
            name,
            linkage_name,
            declared: self.declared(root),
            parts: vec![],
            copies: vec![],
        };
        for piece in functions.pieces_of(root) {
            let (begin, end) = (u64::from(piece.begin), u64::from(piece.end));
            if piece.inlined && function.copies.len() < MAX_COPIES {
                function.copies.push(self.copy(&own, begin, end));
            } else if !piece.inlined {
                let symbol = self.symbol_at(begin).map(|symbol| symbol.name);
                function.parts.push(CodeRange { begin, end, symbol });
            }
        }
        function
    }

    /// Returns an inlined copy. The frame around the inlined one has the position of the call.
    fn copy(&self, own: &str, begin: u64, end: u64) -> InlinedCopy {
        let frames = self.frames_at(begin);
        let at = frames.iter().rposition(|frame| frame.function.as_deref() == Some(own));
        let caller = at.and_then(|at| frames.get(at + 1));
        InlinedCopy {
            begin,
            end,
            into: caller.and_then(Location::name).map(Into::into),
            file: caller.and_then(|frame| frame.file.clone()),
            line: caller.and_then(|frame| frame.line),
        }
    }

    fn declared(&self, root: DieId) -> Option<(Arc<str>, u32)> {
        let view = self.inner.view();
        let die = view.die(root)?;
        let file = self.inner.file_of(die.unit, die.udata(dw::DW_AT_decl_file)?)?;
        Some((file, u32::try_from(die.udata(dw::DW_AT_decl_line)?).ok()?))
    }

    /// Returns code without debug information, such as assembly, from the symbol table.
    fn only_symbols(&self, name: &str) -> Vec<FunctionCode> {
        let symbols = self.inner.function_symbols().into_iter();
        let symbols = symbols.filter(|s| {
            let plain = plain_name(s);
            let own = s.name.split('.').next().unwrap_or_default();
            [s.name.as_str(), own, &plain, without_clones(&plain)].contains(&name)
        });
        let functions = symbols.map(|symbol| {
            let (begin, end) = (symbol.address, symbol.address.saturating_add(symbol.size));
            let name = plain_name(&symbol);
            let part = CodeRange { begin, end, symbol: Some(symbol.name.clone()) };
            let linkage_name = (symbol.name != name).then_some(symbol.name);
            FunctionCode { name, linkage_name, declared: None, parts: vec![part], copies: vec![] }
        });
        functions.collect()
    }
}

/// Returns a symbol's name without parameters; a clone's name ends in `[clone .constprop.0]`.
fn plain_name(symbol: &Symbol) -> String {
    match demangled_without_parameters(&symbol.name) {
        Some(name) => format!("{name} {}", clones(&symbol.name)).trim_end().to_owned(),
        None => symbol.name.clone(),
    }
}

fn without_clones(name: &str) -> &str {
    name.split_once(" [clone").map_or(name, |(name, _)| name)
}
