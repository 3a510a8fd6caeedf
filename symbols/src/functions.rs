//! The table of functions: one pass over the debug information, made on first use.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{AttributeValue, UnitOffset, constants as dw};

use crate::die::DieView;
use crate::image::ElfHeaders;
use crate::index::{Index, NO_SCOPE, Scope};
use crate::problem::Problem;
use crate::ranges::{BUDGET, Code};
use crate::units::DieId;

/// Code of one function: its own, or an inlined copy.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Piece {
    /// The entry that defines the function; other entries complete it.
    pub(crate) root: DieId,
    pub(crate) inlined: bool,
    pub(crate) begin: u32,
    pub(crate) end: u32,
}

/// A function's names, cached for frequent lookups.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionNames {
    pub(crate) plain: Option<Arc<str>>,
    pub(crate) linkage: Option<Arc<str>>,
}

/// The tail calls of one function.
#[derive(Debug, Default)]
pub(crate) struct TailCalls {
    /// The address after each, with the function called; none if the compiler does not know it.
    pub(crate) sites: Vec<(u32, Option<DieId>)>,
    /// Whether the compiler says that there are no others.
    pub(crate) all: bool,
}

/// Everything the pass found.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    /// Only the scopes are filled.
    pub(crate) scopes: Index,
    /// All entries of functions with their scope, sorted by entry.
    entries: Vec<(DieId, u32)>,
    /// Sorted by root.
    pub(crate) pieces: Vec<Piece>,
    /// Begin and end of functions' own code, and the first address of the function, sorted.
    own: Vec<(u32, u32, u32)>,
    /// The return addresses of calls, and the functions called, sorted.
    calls: Vec<(u32, DieId)>,
    /// By the first address of the function that makes them.
    pub(crate) tail_calls: HashMap<u32, TailCalls>,
}

impl Functions {
    /// Returns the scope that a function is declared in.
    pub(crate) fn scope_of(&self, die: DieId) -> u32 {
        let at = self.entries.binary_search_by_key(&die, |&(die, _)| die);
        at.ok().and_then(|at| self.entries.get(at)).map_or(NO_SCOPE, |&(_, scope)| scope)
    }

    /// Returns the entries that have code, each once.
    pub(crate) fn roots(&self) -> Vec<DieId> {
        let mut roots: Vec<DieId> = self.pieces.iter().map(|piece| piece.root).collect();
        roots.dedup();
        roots
    }

    /// Returns the first address of the function whose own code is at an address.
    pub(crate) fn start_of(&self, address: u32) -> Option<u32> {
        let after = self.own.partition_point(|&(begin, ..)| begin <= address);
        let &(_, end, start) = self.own.get(after.checked_sub(1)?)?;
        (address < end).then_some(start)
    }

    /// Returns the function that the call before a return address calls, if the compiler knows it.
    pub(crate) fn callee(&self, back: u32) -> Option<DieId> {
        let at = self.calls.binary_search_by_key(&back, |&(back, _)| back).ok()?;
        Some(self.calls.get(at)?.1)
    }

    /// Returns the code of one function.
    pub(crate) fn pieces_of(&self, root: DieId) -> impl Iterator<Item = &Piece> {
        let start = self.pieces.partition_point(|piece| piece.root < root);
        self.pieces.iter().skip(start).take_while(move |piece| piece.root == root)
    }
}

/// Reads the functions of all units.
pub(crate) fn read(
    view: &DieView<'_>,
    image: &ElfHeaders,
    problems: &mut Vec<Problem>,
) -> Functions {
    let mut pass = Pass { view, image, found: Functions::default(), budget: BUDGET };
    for (number, info) in view.units.iter().enumerate() {
        if let Err(error) = pass.unit(number) {
            problems.push(Problem::Unit { offset: info.start.into(), reason: error.to_string() });
        }
    }
    let mut found = pass.found;
    found.pieces.sort_unstable();
    found.pieces.dedup();
    found.own.sort_unstable();
    found.calls.sort_unstable();
    found
}

struct Pass<'v, 'a> {
    view: &'v DieView<'a>,
    image: &'v ElfHeaders,
    found: Functions,
    budget: usize,
}

impl Pass<'_, '_> {
    fn unit(&mut self, number: usize) -> gimli::Result<()> {
        let (view, Some(info)) = (self.view, self.view.units.get(number)) else { return Ok(()) };
        let Some(unit) = view.unit(number) else { return Ok(()) };
        let mut open: Vec<(isize, u32)> = Vec::new();
        // The functions around, with the first address of the one whose code theirs is.
        let mut around: Vec<(isize, DieId, Option<u32>)> = Vec::new();
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (UnitOffset(offset), depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            while open.last().is_some_and(|&(at, _)| at >= depth) {
                open.pop();
            }
            while around.last().is_some_and(|&(at, ..)| at >= depth) {
                around.pop();
            }
            let tag = abbreviation.tag();
            let die = DieId(info.start.saturating_add(offset as u32));
            let scope = open.last().map_or(NO_SCOPE, |&(_, scope)| scope);
            let inlined = tag == dw::DW_TAG_inlined_subroutine;
            if tag == dw::DW_TAG_subprogram || inlined {
                let (mut code, mut origin, mut all) = (Code::default(), None, false);
                for &spec in abbreviation.attributes() {
                    let attribute = raw.read_attribute(spec)?;
                    code.note(attribute.name(), attribute.value());
                    match attribute.name() {
                        dw::DW_AT_abstract_origin | dw::DW_AT_specification => {
                            origin = view.target(number, &attribute.value());
                        }
                        dw::DW_AT_call_all_calls
                        | dw::DW_AT_call_all_source_calls
                        | dw::DW_AT_call_all_tail_calls
                        | dw::DW_AT_GNU_all_call_sites
                        | dw::DW_AT_GNU_all_source_call_sites
                        | dw::DW_AT_GNU_all_tail_call_sites => all = true,
                        _ => {}
                    }
                }
                if !inlined {
                    self.found.entries.push((die, scope));
                }
                let root = root(view, origin.unwrap_or(die));
                // A split-off part may be inlined into the rest again: one copy.
                let again = inlined && around.iter().any(|&(_, outer, _)| outer == root);
                let mut start = around.last().filter(|_| inlined).and_then(|&(.., start)| start);
                let (found, image) = (&mut self.found, self.image);
                code.each(view.dwarf_of(number), &unit, &mut self.budget, |begin, end| {
                    // Entries of dropped functions have address 0.
                    if image.is_code(begin) {
                        if !again {
                            found.pieces.push(Piece { root, inlined, begin, end });
                        }
                        if !inlined {
                            found.own.push((begin, end, *start.get_or_insert(begin)));
                        }
                    }
                });
                if let Some(start) = start.filter(|_| !inlined) {
                    found.tail_calls.entry(start).or_default().all |= all;
                }
                if abbreviation.has_children() {
                    around.push((depth, root, start));
                }
            } else if let dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site = tag {
                let (mut back, mut callee, mut tail) = (None, None, false);
                for &spec in abbreviation.attributes() {
                    let attribute = raw.read_attribute(spec)?;
                    let value = attribute.value();
                    let address = || view.dwarf_of(number).attr_address(&unit, value).ok()?;
                    match attribute.name() {
                        dw::DW_AT_call_return_pc | dw::DW_AT_low_pc => back = address(),
                        // LLVM names the tail call itself. No baby core has shorter instructions.
                        dw::DW_AT_call_pc => back = address().map(|at| at.wrapping_add(4)),
                        dw::DW_AT_call_origin | dw::DW_AT_abstract_origin => {
                            callee = view.target(number, &value).map(|die| root(view, die));
                        }
                        dw::DW_AT_call_tail_call | dw::DW_AT_GNU_tail_call => {
                            tail = value == AttributeValue::Flag(true);
                        }
                        _ => {}
                    }
                }
                let caller = around.last().and_then(|&(.., start)| start);
                let back = back.and_then(|back| u32::try_from(back).ok());
                match (back, caller, callee) {
                    (Some(back), Some(caller), callee) if tail => {
                        let known = self.found.tail_calls.entry(caller).or_default();
                        known.sites.push((back, callee));
                    }
                    (Some(back), Some(_), Some(callee)) => self.found.calls.push((back, callee)),
                    _ => {}
                }
            } else {
                raw.skip_attributes(abbreviation.attributes())?;
            }
            let scopes = matches!(
                tag,
                dw::DW_TAG_namespace
                    | dw::DW_TAG_structure_type
                    | dw::DW_TAG_class_type
                    | dw::DW_TAG_union_type
                    | dw::DW_TAG_subprogram
            );
            if scopes && abbreviation.has_children() {
                let function = tag == dw::DW_TAG_subprogram;
                open.push((depth, self.found.scopes.scopes.len() as u32));
                self.found.scopes.scopes.push(Scope { die, parent: scope, function });
            }
        }
        Ok(())
    }
}

/// Returns the last entry of the chain of origins and specifications.
fn root(view: &DieView<'_>, die: DieId) -> DieId {
    let last = view.die(die).and_then(|die| view.origins(die).last());
    last.map_or(die, |die| die.id)
}
