//! Builds a `Type` from its debug entry, each entry once, down to a limited depth.

pub(crate) mod arguments;
mod records;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use gimli::constants as dw;

use crate::die::{Die, DieView, number};
use crate::index::{Class, Index, NamedEntry};
use crate::names::{Name, split_scopes};
use crate::problem::Problem;
use crate::spelling::{Speller, lengths};
use crate::types::{
    Array, Enumeration, Enumerator, Keyword, Kind, Pointer, Target, Type, TypeData,
};
use crate::units::DieId;

/// The deepest nesting of types accepted.
const MAX_DEPTH: usize = 96;

/// The types built so far.
pub(crate) type TypeCache = RwLock<HashMap<DieId, Type>>;

/// Builds types. It keeps the entries in progress, so that it notices a type that contains itself.
pub(crate) struct Builder<'v, 'a> {
    pub(crate) view: &'v DieView<'a>,
    pub(crate) index: &'v Index,
    pub(crate) cache: &'v TypeCache,
    pub(crate) problems: &'v mut Vec<Problem>,
    in_progress: Vec<DieId>,
}

impl<'v, 'a> Builder<'v, 'a> {
    pub(crate) fn new(
        view: &'v DieView<'a>,
        index: &'v Index,
        cache: &'v TypeCache,
        problems: &'v mut Vec<Problem>,
    ) -> Self {
        Builder { view, index, cache, problems, in_progress: Vec::new() }
    }

    /// Returns the type of an entry.
    pub(crate) fn build(&mut self, id: DieId) -> Type {
        let cached = self.cache.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        if let Some(known) = cached {
            return known;
        }
        if self.in_progress.contains(&id) || self.in_progress.len() >= MAX_DEPTH {
            self.complain(id, "contains itself, or is nested too deep");
            return self.finish(id, None, Kind::Unknown);
        }
        self.in_progress.push(id);
        let built = self.fresh(id);
        self.in_progress.pop();
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        cache.entry(id).or_insert(built).clone()
    }

    fn fresh(&mut self, id: DieId) -> Type {
        let Some(die) = self.view.die(id) else {
            self.complain(id, "no entry there");
            return self.finish(id, None, Kind::Unknown);
        };
        match die.tag() {
            dw::DW_TAG_structure_type => self.record(&die, Keyword::Struct),
            dw::DW_TAG_class_type => self.record(&die, Keyword::Class),
            dw::DW_TAG_union_type => self.record(&die, Keyword::Union),
            dw::DW_TAG_enumeration_type => self.enumeration(&die),
            dw::DW_TAG_base_type => self.base(&die),
            dw::DW_TAG_array_type => self.array(&die),
            dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_rvalue_reference_type => {
                let target = self.view.reference(&die, dw::DW_AT_type).map(Target::Die);
                let size = die.udata(dw::DW_AT_byte_size).unwrap_or(4);
                let reference = die.tag() != dw::DW_TAG_pointer_type;
                self.finish(id, Some(size), Kind::Pointer(Pointer { reference, target }))
            }
            dw::DW_TAG_ptr_to_member_type => self.to_member(&die),
            dw::DW_TAG_typedef | dw::DW_TAG_template_alias => self.outer(&die, Kind::Alias),
            dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type => self.outer(&die, Kind::Qualified),
            dw::DW_TAG_subroutine_type => self.finish(id, None, Kind::Function),
            dw::DW_TAG_unspecified_type => self.finish(id, None, Kind::Void),
            tag => {
                self.complain(id, &format!("{tag} is not known as a type"));
                self.finish(id, None, Kind::Unknown)
            }
        }
    }

    /// Returns the type that the entry's `DW_AT_type` names; an entry without one has type `void`.
    pub(crate) fn target(&mut self, die: &Die<'a>) -> Type {
        match self.view.reference(die, dw::DW_AT_type) {
            Some(target) => self.build(target),
            None => void(die.id),
        }
    }

    pub(crate) fn finish(&self, id: DieId, size: Option<u64>, kind: Kind) -> Type {
        let name = Speller { view: self.view, index: self.index }.name(id).into();
        Type(Arc::new(TypeData { id, name, size, kind }))
    }

    pub(crate) fn complain(&mut self, id: DieId, reason: &str) {
        /// A damaged file need not report every entry.
        const MAX_PROBLEMS: usize = 64;
        if self.problems.len() < MAX_PROBLEMS {
            let offset = u64::from(id.0);
            self.problems.push(Problem::Type { offset, reason: reason.to_owned() });
        }
    }

    /// The type of a pointer to a member: an offset, or for functions an address and an adjustment.
    /// It cannot be followed.
    fn to_member(&self, die: &Die<'a>) -> Type {
        let target = self.view.reference(die, dw::DW_AT_type).and_then(|id| self.view.die(id));
        let function = target.is_some_and(|die| die.tag() == dw::DW_TAG_subroutine_type);
        let size = die.udata(dw::DW_AT_byte_size).unwrap_or(if function { 8 } else { 4 });
        let pointer = Pointer { reference: false, target: None };
        self.finish(die.id, Some(size), Kind::Pointer(pointer))
    }

    fn outer(&mut self, die: &Die<'a>, kind: fn(Type) -> Kind) -> Type {
        let inner = self.target(die);
        self.finish(die.id, inner.size(), kind(inner))
    }

    fn record(&mut self, die: &Die<'a>, keyword: Keyword) -> Type {
        if die.flag(dw::DW_AT_declaration) || die.attr(dw::DW_AT_signature).is_some() {
            return self.completed(die);
        }
        let record = records::record(self, die.id, keyword);
        let size = die.udata(dw::DW_AT_byte_size);
        self.finish(die.id, size, Kind::Record(record))
    }

    /// Returns the complete type of an entry that a type unit or, for a declaration, another unit
    /// defines.
    fn completed(&mut self, die: &Die<'a>) -> Type {
        let signature = self.view.reference(die, dw::DW_AT_signature);
        match signature.or_else(|| self.complete_elsewhere(die.id)) {
            Some(complete) if complete != die.id => self.build(complete),
            _ => self.finish(die.id, None, Kind::Unknown),
        }
    }

    fn complete_elsewhere(&self, id: DieId) -> Option<DieId> {
        let own = self.view.full_name(id)?;
        let scope = self.index.scope_of(id);
        let full = crate::spelling::qualified(self.view, self.index, scope, &own);
        let mut scopes = split_scopes(&full);
        scopes.pop();
        let name = Name { keyword: None, scopes, last: &own };
        let tag = self.view.die(id)?.tag();
        let record = |named: &&NamedEntry| match self.view.die(named.die).map(|die| die.tag()) {
            // `struct X;` and `class X {}` are the same type.
            Some(dw::DW_TAG_structure_type | dw::DW_TAG_class_type) => {
                matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_class_type)
            }
            other => other == Some(tag),
        };
        let found = self.index.find(self.view, &name, Class::Type);
        found.iter().filter(|named| !named.declaration).find(record).map(|named| named.die)
    }

    fn enumeration(&mut self, die: &Die<'a>) -> Type {
        let declared = die.flag(dw::DW_AT_declaration) && die.udata(dw::DW_AT_byte_size).is_none();
        if declared || die.attr(dw::DW_AT_signature).is_some() {
            return self.completed(die);
        }
        let underlying = self.view.reference(die, dw::DW_AT_type).map(|id| self.build(id));
        let size = die.udata(dw::DW_AT_byte_size).or_else(|| underlying.as_ref()?.size());
        let mut enumerators = Vec::new();
        let mut negative = false;
        let walked = self.view.children(die.id, |child| {
            if child.tag() == dw::DW_TAG_enumerator
                && let Some(name) = self.view.name(child)
                && let Some(value) = child.attr(dw::DW_AT_const_value).and_then(number)
            {
                negative |= value < 0;
                enumerators.push(Enumerator { name: name.into(), value });
            }
            true
        });
        if let Err(error) = walked {
            self.complain(die.id, &error.to_string());
        }
        let signed = underlying.as_ref().map_or(negative, Type::is_signed);
        let scoped = die.flag(dw::DW_AT_enum_class);
        let enumeration = Enumeration { enumerators, signed, scoped, underlying };
        self.finish(die.id, size, Kind::Enum(enumeration))
    }

    fn array(&mut self, die: &Die<'a>) -> Type {
        let element = self.target(die);
        let array = Array { element, lengths: lengths(self.view, die.id) };
        let size = match (array.element.size(), array.count()) {
            (Some(size), Some(count)) => size.checked_mul(count),
            _ => None,
        };
        self.finish(die.id, size, Kind::Array(array))
    }
}

/// The type of an entry without a type: `void` has no entry.
fn void(id: DieId) -> Type {
    Type(Arc::new(TypeData { id, name: "void".into(), size: None, kind: Kind::Void }))
}
