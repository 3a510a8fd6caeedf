//! The table of functions: one pass over the debug information, made on first use.

use std::sync::Arc;

use gimli::{UnitOffset, constants as dw};

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

/// Everything the pass found.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    /// Only the scopes are filled.
    pub(crate) scopes: Index,
    /// All entries of functions with their scope, sorted by entry.
    entries: Vec<(DieId, u32)>,
    /// Sorted by root.
    pub(crate) pieces: Vec<Piece>,
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
        let mut around: Vec<(isize, DieId)> = Vec::new();
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (UnitOffset(offset), depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            while open.last().is_some_and(|&(at, _)| at >= depth) {
                open.pop();
            }
            while around.last().is_some_and(|&(at, _)| at >= depth) {
                around.pop();
            }
            let tag = abbreviation.tag();
            let die = DieId(info.start.saturating_add(offset as u32));
            let scope = open.last().map_or(NO_SCOPE, |&(_, scope)| scope);
            let inlined = tag == dw::DW_TAG_inlined_subroutine;
            if tag == dw::DW_TAG_subprogram || inlined {
                let (mut code, mut origin) = (Code::default(), None);
                for &spec in abbreviation.attributes() {
                    let attribute = raw.read_attribute(spec)?;
                    code.note(attribute.name(), attribute.value());
                    if let dw::DW_AT_abstract_origin | dw::DW_AT_specification = attribute.name() {
                        origin = view.target(number, &attribute.value());
                    }
                }
                if !inlined {
                    self.found.entries.push((die, scope));
                }
                let root = root(view, origin.unwrap_or(die));
                // A split-off part may be inlined into the rest again: one copy.
                let again = inlined && around.iter().any(|&(_, outer)| outer == root);
                if abbreviation.has_children() {
                    around.push((depth, root));
                }
                let (found, image) = (&mut self.found.pieces, self.image);
                code.each(view.dwarf_of(number), &unit, &mut self.budget, |begin, end| {
                    // Entries of dropped functions have address 0.
                    if !again && image.is_code(begin) {
                        found.push(Piece { root, inlined, begin, end });
                    }
                });
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
