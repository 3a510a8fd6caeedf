//! Variables and parameters of functions, and their places in every copy of the function's code.

use std::ops::Range;

use gimli::{UnitOffset, constants as dw};

use crate::index::{ANONYMOUS, is_called};
use crate::inner::Inner;
use crate::names::Name;
use crate::normalized::normalized;
use crate::ranges::{BUDGET, Code};
use crate::storage::{Placed, Storage, storage};
use crate::symbols::Symbols;
use crate::types::Type;
use crate::units::DieId;
use crate::variables::Variable;

/// The most places listed per variable; a hostile file has one for each byte.
const MAX_PLACES: usize = 1 << 12;

/// An enclosing function or inlined copy, with its code.
struct Open {
    depth: isize,
    die: DieId,
    code: Vec<Range<u64>>,
    wanted: bool,
}

impl Symbols {
    /// Returns a variable or parameter of a function: `function::name`, or with a program counter
    /// only `name`, searched in the functions around it, inlined ones first. Its storage is
    /// `Moving`: one place for each range of code.
    pub fn local(&self, name: &str, pc: Option<u64>) -> Option<Variable> {
        let normalized = normalized(name);
        let parsed = Name::parse(&normalized);
        let found = Search { inner: &self.inner, name: &parsed, pc, budget: BUDGET }.all();
        let innermost = found.iter().map(|(depth, ..)| *depth).max()?;
        let (mut places, mut ty, mut first) = (Vec::new(), None, None);
        for (depth, die, code) in &found {
            // With a program counter an inner variable hides the outer ones.
            if pc.is_some() && *depth < innermost {
                continue;
            }
            let (own, mut here) = self.placed(*die, code);
            ty = ty.or(own);
            first.get_or_insert(*die);
            if places.len() < MAX_PLACES {
                places.append(&mut here);
            }
        }
        places.sort_by_key(|place| (place.begin, place.end));
        places.dedup();
        let own = self.inner.view().full_name(first?)?.into_owned();
        let storage = if places.is_empty() { Storage::gone() } else { Storage::Moving(places) };
        Some(Variable { name: own, linkage_name: None, ty, storage, symbol: None, local: true })
    }

    /// Returns the type of a variable, and the places of one of its entries.
    fn placed(&self, die: DieId, code: &[Range<u64>]) -> (Option<Type>, Vec<Placed>) {
        self.inner.build(|builder| {
            let view = builder.view;
            let origins = || view.die(die).into_iter().flat_map(|die| view.origins(die));
            let target = origins().find_map(|die| view.reference(&die, dw::DW_AT_type));
            let ty = target.map(|target| builder.build(target));
            let found = origins().find_map(|die| storage(view, &die, ty.as_ref()));
            let places = match found {
                None => Vec::new(),
                Some(Storage::Moving(places)) => places,
                Some(fixed) => {
                    let place = |code: &Range<u64>| Placed {
                        begin: code.start,
                        end: code.end,
                        storage: fixed.clone(),
                    };
                    code.iter().map(place).collect()
                }
            };
            (ty, places)
        })
    }
}

/// One search through all units.
struct Search<'a> {
    inner: &'a Inner,
    name: &'a Name<'a>,
    pc: Option<u64>,
    budget: usize,
}

/// The depth of a variable in functions, its entry, and the code of its function.
type FoundVariable = (usize, DieId, Vec<Range<u64>>);

impl Search<'_> {
    fn all(mut self) -> Vec<FoundVariable> {
        let units = self.inner.view().units.len();
        let mut found = Vec::new();
        // Without scopes or program counter, the name would match variables of all functions.
        if self.pc.is_none() && self.name.scopes.is_empty() {
            return found;
        }
        for number in 0..units {
            // Unreadable entries were reported when the index was made.
            let _ = self.unit(number, &mut found);
        }
        found
    }

    fn unit(&mut self, number: usize, found: &mut Vec<FoundVariable>) -> gimli::Result<()> {
        let view = self.inner.view();
        let (Some(info), Some(unit)) = (view.units.get(number), view.unit(number)) else {
            return Ok(());
        };
        let mut open: Vec<Open> = Vec::new();
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (UnitOffset(offset), depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            while open.last().is_some_and(|open| open.depth >= depth) {
                open.pop();
            }
            let tag = abbreviation.tag();
            let die = DieId(info.start.saturating_add(offset as u32));
            let function = matches!(tag, dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine);
            if !function {
                raw.skip_attributes(abbreviation.attributes())?;
                let variable = matches!(tag, dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
                if variable
                    && found.len() < MAX_PLACES
                    && let Some(inside) = open.last().filter(|open| open.wanted)
                    && view.full_name(die).is_some_and(|name| name == self.name.last)
                {
                    found.push((open.len(), die, inside.code.clone()));
                }
                continue;
            }
            let mut code = Code::default();
            for &spec in abbreviation.attributes() {
                let attribute = raw.read_attribute(spec)?;
                code.note(attribute.name(), attribute.value());
            }
            if !abbreviation.has_children() {
                continue;
            }
            let mut ranges = Vec::new();
            code.each(view.dwarf_of(number), &unit, &mut self.budget, |begin, end| {
                if self.inner.image.is_code(begin) {
                    ranges.push(u64::from(begin)..u64::from(end));
                }
            });
            let mut next = Open { depth, die, code: ranges, wanted: false };
            next.wanted = self.is_wanted(&next);
            open.push(next);
        }
        Ok(())
    }

    /// Whether a function may contain the variable.
    fn is_wanted(&self, open: &Open) -> bool {
        let here = |pc: &u64| open.code.iter().any(|code| code.contains(pc));
        if open.code.is_empty() || !self.pc.as_ref().is_none_or(here) {
            return false;
        }
        let Some(last) = self.name.scopes.last().filter(|last| **last != ANONYMOUS) else {
            return true;
        };
        let own = self.inner.view().full_name(open.die);
        own.is_some_and(|own| is_called(&own, last))
    }
}
