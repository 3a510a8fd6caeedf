//! Variables and constants: what DWARF says of them, joined with what the symbol table says.

use gimli::{AttributeValue, Encoding, Expression, Operation, Unit, constants as dw};

use crate::builder::{Builder, number};
use crate::die::{Die, View};
use crate::field::little_endian;
use crate::index::{Class, Named};
use crate::names::Name;
use crate::sections::Slice;
use crate::spelling::qualified;
use crate::symtab::Symbol;
use crate::types::Type;

/// Constants larger than this are not copied.
const MAX_CONSTANT: usize = 1 << 20;

/// Where a variable's value is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Storage {
    /// In memory as its core sees it.
    Address(u64),
    /// Nowhere: the debug information holds the value, little-endian.
    Constant(Vec<u8>),
    /// In a register, computed, or optimised away: in words, for people.
    Elsewhere(&'static str),
}

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
pub(crate) fn describe(builder: &mut Builder<'_, '_>, named: Named) -> Option<Variable> {
    let view = builder.view;
    let own = view.full_name(named.die)?;
    let name = qualified(view, builder.index, named.scope, &own);
    let linkage_name = view.linkage_name(named.die).map(std::borrow::Cow::into_owned);
    let ty = type_of(builder, named);
    let storage = view
        .origins(view.die(named.die)?)
        .find_map(|die| storage(view, &die, ty.as_ref()))
        .unwrap_or(Storage::Elsewhere("optimised away"));
    Some(Variable { name, linkage_name, ty, storage, symbol: None, local: named.local })
}

/// The type that the nearest entry gives. An array may be declared open and be defined with its
/// length, so that a complete type further on is worth more than an open one.
fn type_of(builder: &mut Builder<'_, '_>, named: Named) -> Option<Type> {
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

fn storage(view: &View<'_>, die: &Die<'_>, ty: Option<&Type>) -> Option<Storage> {
    if let Some(value) = die.attr(dw::DW_AT_const_value) {
        return Some(Storage::Constant(constant_bytes(view, die, value, ty)?));
    }
    let unit = view.unit(die.unit)?;
    match die.attr(dw::DW_AT_location)? {
        AttributeValue::Exprloc(expression) => Some(place(view, &unit, expression, ty)),
        _ => Some(Storage::Elsewhere("moves between registers and memory")),
    }
}

/// What a location says without knowing any register.
fn place(
    view: &View<'_>,
    unit: &Unit<Slice<'_>>,
    expression: Expression<Slice<'_>>,
    ty: Option<&Type>,
) -> Storage {
    let encoding: Encoding = unit.encoding();
    let mut operations = expression.operations(encoding);
    let (first, second) = (operations.next().ok().flatten(), operations.next());
    let (Ok(second), size) = (second, value_size(ty)) else {
        return Storage::Elsewhere("not readable");
    };
    match (first, second) {
        (None, _) => Storage::Elsewhere("optimised away"),
        (Some(Operation::Address { address }), None) => Storage::Address(address),
        (Some(Operation::AddressIndex { index }), None) => {
            let address = view.dwarf.address(unit, index);
            address.map_or(Storage::Elsewhere("not readable"), Storage::Address)
        }
        (Some(Operation::UnsignedConstant { value }), Some(Operation::StackValue)) => {
            Storage::Constant(to_bytes(value, size))
        }
        (Some(Operation::SignedConstant { value }), Some(Operation::StackValue)) => {
            Storage::Constant(to_bytes(value as u64, size))
        }
        (Some(Operation::ImplicitValue { data }), None) if data.len() <= MAX_CONSTANT => {
            Storage::Constant(data.slice().to_vec())
        }
        (Some(Operation::Register { .. }), None) => Storage::Elsewhere("in a register"),
        (Some(Operation::RegisterOffset { .. } | Operation::FrameOffset { .. }), _) => {
            Storage::Elsewhere("on the stack")
        }
        _ => Storage::Elsewhere("computed at run time"),
    }
}

fn value_size(ty: Option<&Type>) -> u64 {
    ty.and_then(Type::size).filter(|size| (1..=8).contains(size)).unwrap_or(8)
}

fn to_bytes(value: u64, size: u64) -> Vec<u8> {
    value.to_le_bytes().into_iter().take(size as usize).collect()
}

fn constant_bytes(
    view: &View<'_>,
    die: &Die<'_>,
    value: AttributeValue<Slice<'_>>,
    ty: Option<&Type>,
) -> Option<Vec<u8>> {
    let block = match value {
        AttributeValue::Block(block) => block,
        // A string constant of a character array: its bytes and the zero after them.
        AttributeValue::String(_) | AttributeValue::DebugStrRef(_) => {
            let text = view.dwarf.attr_string(&view.unit(die.unit)?, value).ok()?;
            return Some(text.slice().iter().copied().take(MAX_CONSTANT).chain([0]).collect());
        }
        AttributeValue::Addr(address) => return Some(to_bytes(address, value_size(ty))),
        AttributeValue::Data16(value) => return Some(value.to_le_bytes().to_vec()),
        _ => return Some(to_bytes(number(value)? as u64, value_size(ty))),
    };
    (block.len() <= MAX_CONSTANT).then(|| block.slice().to_vec())
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
