//! Variables and constants: what DWARF says of them, joined with what the symbol table says.

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
    /// With its scopes, as C++ writes it.
    pub name: String,
    /// The mangled name where it differs.
    pub linkage_name: Option<String>,
    /// None if only the symbol table knows it.
    pub ty: Option<Type>,
    /// Where its value is.
    pub storage: Storage,
    /// Its entry in the symbol table.
    pub symbol: Option<Symbol>,
    /// Inside a function. A constant there may be what one inlined call made of a variable.
    pub local: bool,
}

/// A value that needs no memory: an enumerator, a `constexpr`, or a constant pointer.
#[derive(Clone, Debug)]
pub struct Constant {
    /// With its scopes, as C++ writes it.
    pub name: String,
    /// What it is.
    pub ty: Type,
    /// The value as it would stand in memory.
    pub bytes: Vec<u8>,
}

impl Variable {
    /// The address, if there is one.
    pub fn address(&self) -> Option<u64> {
        match self.storage {
            Storage::Address(address) => Some(address),
            _ => None,
        }
    }
}

impl Constant {
    /// The value as a number, zero-extended; none if it is longer than eight bytes.
    pub fn as_u64(&self) -> Option<u64> {
        little_endian(&self.bytes)
    }
}

/// A variable as its debug entries describe it; the symbol is joined by the caller.
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

/// The type that the nearest entry gives. An array may be declared open and be defined with its
/// length, so that a complete type further on is worth more than an open one.
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

/// An enumerator by name, with or without its enumeration as scope.
pub(crate) fn enumerator(builder: &mut Builder<'_, '_>, name: &Name<'_>) -> Option<Constant> {
    let view = builder.view;
    let found = builder.index.find(view, name, Class::Enumerator);
    found.into_iter().find_map(|named| {
        let die = view.die(named.die)?;
        let parent = builder.index.scopes(named.scope).next()?;
        let ty = builder.build(parent.die);
        let value = number(die.attr(dw::DW_AT_const_value)?)?;
        let name = qualified(view, builder.index, named.scope, &view.full_name(named.die)?);
        let bytes = to_bytes(value as u64, value_size(Some(&ty)));
        Some(Constant { name, ty, bytes })
    })
}
