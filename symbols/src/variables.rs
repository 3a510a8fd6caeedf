//! Variables and constants, from DWARF and the symbol table.

use gimli::constants as dw;

use crate::builder::Builder;
use crate::die::number;
use crate::field::little_endian;
use crate::index::{Class, NamedEntry};
use crate::names::Name;
use crate::spelling::qualified;
use crate::storage::{Storage, storage, to_bytes, value_size};
use crate::symtab::Symbol;
use crate::types::Type;

/// A variable of global or static life.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name with its scopes.
    pub name: String,
    /// The mangled name, if it differs.
    pub linkage_name: Option<String>,
    /// None if only the symbol table has the variable.
    pub ty: Option<Type>,
    /// The place of its value.
    pub storage: Storage,
    /// Its entry in the symbol table.
    pub symbol: Option<Symbol>,
    /// Whether it is inside a function. A constant there may come from one inlined call.
    pub local: bool,
}

/// A value that needs no memory: an enumerator, a `constexpr`, or a constant pointer.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The type.
    pub ty: Type,
    /// The value as in memory.
    pub bytes: Vec<u8>,
}

impl Variable {
    /// Returns the address, if there is one.
    pub fn address(&self) -> Option<u64> {
        match self.storage {
            Storage::Address(address) => Some(address),
            _ => None,
        }
    }
}

impl Constant {
    /// Returns the value as a number, zero-extended; none if it is longer than eight bytes.
    pub fn as_u64(&self) -> Option<u64> {
        little_endian(&self.bytes)
    }
}

/// Returns a variable from its debug entries; the caller adds the symbol.
pub(crate) fn describe(builder: &mut Builder<'_, '_>, named: NamedEntry) -> Option<Variable> {
    let view = builder.view;
    let own = view.full_name(named.die)?;
    let name = qualified(view, builder.index, named.scope, &own);
    let linkage_name = view.linkage_name(named.die).map(std::borrow::Cow::into_owned);
    let ty = type_of(builder, named);
    let storage = view
        .origins(view.die(named.die)?)
        .find_map(|die| storage(view, &die, ty.as_ref()))
        .unwrap_or_else(Storage::gone);
    Some(Variable { name, linkage_name, ty, storage, symbol: None, local: named.local })
}

/// Returns the type of the nearest entry. An array may be declared open and defined with its
/// length, so a complete type in a later entry precedes an open one.
fn type_of(builder: &mut Builder<'_, '_>, named: NamedEntry) -> Option<Type> {
    let view = builder.view;
    let mut first = None;
    for die in view.origins(view.die(named.die)?) {
        let Some(target) = view.reference(&die, dw::DW_AT_type) else { continue };
        let ty = builder.build(target);
        if ty.size().is_some() {
            return Some(ty);
        }
        first.get_or_insert(ty);
    }
    first
}

/// Returns an enumerator by name, with or without its enumeration as scope.
pub(crate) fn enumerator(builder: &mut Builder<'_, '_>, name: &Name<'_>) -> Option<Constant> {
    let view = builder.view;
    let found = builder.index.find(view, name, Class::Enumerator);
    found.into_iter().find_map(|named| {
        let die = view.die(named.die)?;
        let parent = builder.index.scopes(named.scope).next()?;
        let ty = builder.build(parent.die);
        let value = number(die.attr(dw::DW_AT_const_value)?)?;
        let bytes = to_bytes(value as u64, value_size(Some(&ty)));
        Some(Constant { ty, bytes })
    })
}
