//! The index of names: filled by one pass over the debug information, searched by bisection.

use crate::die::DieView;
use crate::names::{Keyword, Name, hash};
use crate::units::DieId;
use gimli::constants as dw;

/// The class of a named entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Class {
    Type,
    Variable,
    Enumerator,
}

/// One named entry, 16 bytes: real firmware has several thousand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedEntry {
    pub(crate) die: DieId,
    pub(crate) hash: u32,
    /// Index into the scopes; `NO_SCOPE` at the top level.
    pub(crate) scope: u32,
    pub(crate) class: Class,
    /// Whether it is only a declaration.
    pub(crate) declaration: bool,
    /// Whether it is inside a function; a global entry of the same name takes precedence.
    pub(crate) local: bool,
}

/// The scope of entries at the top level.
pub(crate) const NO_SCOPE: u32 = u32::MAX;

/// The most scopes in a qualified name.
const MAX_SCOPES: usize = 32;

/// How an unnamed namespace is written.
pub(crate) const ANONYMOUS: &str = "(anonymous namespace)";

/// A scope: a namespace, a type or a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) die: DieId,
    pub(crate) parent: u32,
    /// Whether it is a function or inside one.
    pub(crate) function: bool,
}

/// The result of the pass.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Sorted by entry.
    pub(crate) named: Vec<NamedEntry>,
    /// Indexes into `named`, sorted by hash.
    pub(crate) by_hash: Vec<u32>,
    pub(crate) scopes: Vec<Scope>,
}

impl Index {
    /// Iterates over the enclosing scopes, innermost first. Parents come before children in the
    /// table, so this ends; the limit guards against deep nesting.
    pub(crate) fn scopes(&self, scope: u32) -> impl Iterator<Item = Scope> {
        let outer = |scope: &Scope| self.scopes.get(scope.parent as usize).copied();
        std::iter::successors(self.scopes.get(scope as usize).copied(), outer).take(MAX_SCOPES)
    }

    /// Returns the scope of a named entry.
    pub(crate) fn scope_of(&self, die: DieId) -> u32 {
        let at = self.named.binary_search_by_key(&die, |named| named.die);
        at.ok().and_then(|at| self.named.get(at)).map_or(NO_SCOPE, |named| named.scope)
    }

    /// Returns all entries of this name, the best match first.
    pub(crate) fn find(
        &self,
        view: &DieView<'_>,
        name: &Name<'_>,
        class: Class,
    ) -> Vec<NamedEntry> {
        let wanted = hash(name.last.as_bytes());
        let start = self.by_hash.partition_point(|&at| self.hash_at(at) < wanted);
        let same = self.by_hash.iter().skip(start).take_while(|&&at| self.hash_at(at) == wanted);
        let mut found: Vec<(usize, NamedEntry)> = same
            .filter_map(|&at| self.named.get(at as usize).copied())
            .filter(|named| named.class == class)
            .filter(|named| view.full_name(named.die).is_some_and(|full| full == name.last))
            .filter(|named| name.keyword.is_none_or(|keyword| is_a(view, *named, keyword)))
            .filter_map(|named| Some((self.distance(view, named.scope, &name.scopes)?, named)))
            .collect();
        found.sort_by_key(|(distance, named)| (named.declaration, named.local, *distance));
        found.into_iter().map(|(_, named)| named).collect()
    }

    /// Returns the functions of this name that enclose other entries, nearest first. They are few
    /// and rarely requested, so they have no table.
    pub(crate) fn functions(&self, view: &DieView<'_>, name: &Name<'_>) -> Vec<DieId> {
        let functions = self.scopes.iter().filter(|scope| scope.function);
        let mut found: Vec<(usize, DieId)> = functions
            .filter(|scope| {
                view.full_name(scope.die).is_some_and(|full| is_called(&full, name.last))
            })
            .filter_map(|scope| Some((self.distance(view, scope.parent, &name.scopes)?, scope.die)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, die)| die).collect()
    }

    fn hash_at(&self, at: u32) -> u32 {
        self.named.get(at as usize).map_or(0, |named| named.hash)
    }

    /// Returns how many scopes `wanted` omits; none if it does not match. As in a debugger, `b::c`
    /// finds `a::b::c`, but `b::c` itself is nearer.
    pub(crate) fn distance(
        &self,
        view: &DieView<'_>,
        scope: u32,
        wanted: &[&str],
    ) -> Option<usize> {
        let mut wanted = wanted.iter().rev().peekable();
        let mut left_out = 0;
        for scope in self.scopes(scope) {
            let Some(name) = view.full_name(scope.die) else {
                // Names in an unnamed scope are visible outside it, so the scope may be omitted.
                wanted.next_if(|want| **want == ANONYMOUS);
                continue;
            };
            match wanted.next() {
                Some(want) if name == *want => {}
                Some(_) => return None,
                None => left_out += 1,
            }
        }
        wanted.next().is_none().then_some(left_out)
    }
}

/// Whether a function has this name; template arguments may be omitted.
pub(crate) fn is_called(own: &str, name: &str) -> bool {
    own == name || own.split('<').next() == Some(name)
}

fn is_a(view: &DieView<'_>, named: NamedEntry, keyword: Keyword) -> bool {
    let tag = view.die(named.die).map(|die| die.tag());
    match keyword {
        Keyword::Record => matches!(tag, Some(dw::DW_TAG_structure_type | dw::DW_TAG_class_type)),
        Keyword::Union => tag == Some(dw::DW_TAG_union_type),
        Keyword::Enum => tag == Some(dw::DW_TAG_enumeration_type),
    }
}
