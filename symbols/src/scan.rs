//! The pass that fills the index: it visits every entry once and skips most.

use gimli::{
    Abbreviation, AttributeValue, DwTag, EntriesRaw, Operation, Unit, UnitOffset, constants as dw,
};

use crate::die::DieView;
use crate::index::{Class, Index, NO_SCOPE, NamedEntry, Scope};
use crate::names::hash;
use crate::problem::Problem;
use crate::sections::Slice;
use crate::units::DieId;

/// Reads all units into an index.
pub(crate) fn scan(view: &DieView<'_>, problems: &mut Vec<Problem>) -> Index {
    let mut scan = Scan { view, index: Index::default(), open: Vec::new() };
    let mut completions = Vec::new();
    for (number, info) in view.units.iter().enumerate() {
        let Some(unit) = view.unit(number) else { continue };
        scan.open.clear();
        if let Err(error) = scan.unit(number, &unit, &mut completions) {
            problems.push(Problem::Unit { offset: info.start.into(), reason: error.to_string() });
        }
    }
    finish(scan.index, &completions)
}

struct Scan<'v, 'a> {
    view: &'v DieView<'a>,
    index: Index,
    /// The open scopes with their depth, outermost first.
    open: Vec<(isize, u32)>,
}

/// The attributes of one entry that the index needs.
#[derive(Default)]
struct ScannedEntry {
    name: Option<u32>,
    completes: Option<DieId>,
    declaration: bool,
    constant: bool,
    fixed: bool,
}

impl<'a> Scan<'_, 'a> {
    fn unit(
        &mut self,
        number: usize,
        unit: &Unit<Slice<'a>>,
        completions: &mut Vec<(u32, DieId)>,
    ) -> gimli::Result<()> {
        let start = self.view.units.get(number).map_or(0, |info| info.start);
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (UnitOffset(offset), depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            while self.open.last().is_some_and(|&(at, _)| at >= depth) {
                self.open.pop();
            }
            let tag = abbreviation.tag();
            if !is_wanted(tag) {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let die = DieId(start.saturating_add(offset as u32));
            let found = self.attributes(number, unit, abbreviation, &mut raw)?;
            self.note(die, tag, &found, completions);
            if abbreviation.has_children() && is_scope(tag) {
                self.enter(die, tag, depth);
            }
        }
        Ok(())
    }

    fn attributes(
        &self,
        number: usize,
        unit: &Unit<Slice<'a>>,
        abbreviation: &Abbreviation,
        raw: &mut EntriesRaw<'_, Slice<'a>>,
    ) -> gimli::Result<ScannedEntry> {
        let mut found = ScannedEntry::default();
        for &spec in abbreviation.attributes() {
            let attribute = raw.read_attribute(spec)?;
            match attribute.name() {
                dw::DW_AT_name => {
                    let name = self.view.dwarf_of(number).attr_string(unit, attribute.value()).ok();
                    found.name = name.filter(|n| !n.is_empty()).map(|name| hash(name.slice()));
                }
                dw::DW_AT_specification | dw::DW_AT_abstract_origin => {
                    found.completes = self.view.target(number, &attribute.value());
                }
                dw::DW_AT_declaration => found.declaration = true,
                dw::DW_AT_const_value => found.constant = true,
                dw::DW_AT_location => found.fixed = is_fixed(unit, &attribute.value()),
                _ => {}
            }
        }
        Ok(found)
    }

    fn note(
        &mut self,
        die: DieId,
        tag: DwTag,
        found: &ScannedEntry,
        completions: &mut Vec<(u32, DieId)>,
    ) {
        let Some(class) = class(tag, found) else { return };
        let scope = self.open.last().map_or(NO_SCOPE, |&(_, scope)| scope);
        let local = self.in_function(scope);
        // A local variable is on the stack or in a register, unless it is static or constant.
        if class == Class::Variable && local && !found.fixed && !found.constant {
            return;
        }
        let hash = match (found.name, found.completes) {
            (Some(hash), _) => hash,
            (None, Some(completes)) => {
                let Some(name) = self.view.full_name(completes) else { return };
                hash(name.as_bytes())
            }
            (None, None) => return,
        };
        if let Some(completes) = found.completes {
            completions.push((self.index.named.len() as u32, completes));
        }
        let known = found.fixed || found.constant;
        let declaration = match class {
            Class::Type => found.declaration,
            _ => !known && class == Class::Variable,
        };
        self.index.named.push(NamedEntry { die, hash, scope, class, declaration, local });
    }

    fn in_function(&self, scope: u32) -> bool {
        self.index.scopes.get(scope as usize).is_some_and(|scope| scope.function)
    }

    fn enter(&mut self, die: DieId, tag: DwTag, depth: isize) {
        let parent = self.open.last().map_or(NO_SCOPE, |&(_, scope)| scope);
        let scope = self.index.scopes.len() as u32;
        let function = tag == dw::DW_TAG_subprogram || self.in_function(parent);
        self.index.scopes.push(Scope { die, parent, function });
        self.open.push((depth, scope));
    }
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_namespace
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_subprogram
    )
}

fn is_wanted(tag: DwTag) -> bool {
    is_scope(tag)
        || matches!(
            tag,
            dw::DW_TAG_typedef
                | dw::DW_TAG_base_type
                | dw::DW_TAG_unspecified_type
                | dw::DW_TAG_variable
                | dw::DW_TAG_member
                | dw::DW_TAG_enumerator
        )
}

fn class(tag: DwTag, found: &ScannedEntry) -> Option<Class> {
    match tag {
        dw::DW_TAG_structure_type
        | dw::DW_TAG_class_type
        | dw::DW_TAG_union_type
        | dw::DW_TAG_enumeration_type
        | dw::DW_TAG_typedef
        | dw::DW_TAG_base_type
        | dw::DW_TAG_unspecified_type => Some(Class::Type),
        dw::DW_TAG_variable => Some(Class::Variable),
        // In DWARF 4 static members are members that are declarations.
        dw::DW_TAG_member if found.declaration => Some(Class::Variable),
        dw::DW_TAG_enumerator => Some(Class::Enumerator),
        _ => None,
    }
}

/// Whether a location is constant: its first operation is an address.
fn is_fixed(unit: &Unit<Slice<'_>>, value: &AttributeValue<Slice<'_>>) -> bool {
    let AttributeValue::Exprloc(expression) = value else { return false };
    let first = expression.operations(unit.encoding()).next();
    matches!(first, Ok(Some(Operation::Address { .. } | Operation::AddressIndex { .. })))
}

/// Sorts the index. An entry that completes a declaration gets the declaration's scope.
fn finish(mut index: Index, completions: &[(u32, DieId)]) -> Index {
    for &(at, completes) in completions {
        let scope = index.scope_of(completes);
        if scope != NO_SCOPE
            && let Some(named) = index.named.get_mut(at as usize)
        {
            named.scope = scope;
        }
    }
    let mut by_hash: Vec<u32> = (0..index.named.len() as u32).collect();
    by_hash.sort_by_key(|&at| index.named.get(at as usize).map_or(0, |named| named.hash));
    index.by_hash = by_hash;
    index.named.shrink_to_fit();
    index
}
