//! The place of a variable: an address, a constant of the debug information, or a description.

use std::fmt;

use gimli::{
    AttributeValue, Dwarf, EvaluationResult, Expression, Location, Operation, Piece, Register,
    Unit, constants as dw,
};

use crate::die::{Die, DieView, number};
use crate::sections::Slice;
use crate::types::Type;

/// The largest constant copied.
const MAX_CONSTANT: usize = 1 << 20;

/// The longest location list; a hostile file can share one long list among all its variables.
const MAX_RANGES: usize = 1 << 10;

/// The longest computation.
const MAX_OPERATIONS: u32 = 1 << 10;

/// The place of a variable's value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Storage {
    /// In memory, as its core sees it.
    Address(u64),
    /// No place: the debug information contains the value, little-endian.
    Constant(Vec<u8>),
    /// No place: an expression computed the value, little-endian, as `&x` and `sizeof(x)` do.
    Computed(Vec<u8>),
    /// In a register, computed by the core, or optimised away: a description for messages.
    Elsewhere(String),
    /// Different places in different ranges of the program counter. It has no place outside the
    /// ranges.
    Moving(Vec<Placed>),
}

/// The place of a moving variable in one range of code.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placed {
    /// The first address of the code.
    pub begin: u64,
    /// The address after the last byte of the code.
    pub end: u64,
    /// Its place there; never `Moving`.
    pub storage: Storage,
}

impl Storage {
    pub(crate) fn gone() -> Storage {
        Storage::Elsewhere("optimised away".to_owned())
    }

    /// Returns the place of the variable at a program counter; a fixed place is the same
    /// everywhere.
    #[must_use]
    pub fn at(&self, pc: u64) -> Storage {
        let Storage::Moving(ranges) = self else { return self.clone() };
        let mut ranges = ranges.iter().filter(|range| (range.begin..range.end).contains(&pc));
        ranges.next().map_or_else(Storage::gone, |range| range.storage.clone())
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Storage::Address(address) => write!(f, "at {address:#x}"),
            Storage::Constant(_) => f.write_str("a constant of the debug information"),
            Storage::Computed(_) => f.write_str("computed"),
            Storage::Elsewhere(words) => f.write_str(words),
            Storage::Moving(_) => f.write_str("moves between registers and memory"),
        }
    }
}

/// Returns the place that an entry defines; none if it defines none.
pub(crate) fn storage(view: &DieView<'_>, die: &Die<'_>, ty: Option<&Type>) -> Option<Storage> {
    if let Some(value) = die.attr(dw::DW_AT_const_value) {
        return Some(Storage::Constant(constant_bytes(view, die, value, ty)?));
    }
    let unit = view.unit(die.unit)?;
    match die.attr(dw::DW_AT_location)? {
        AttributeValue::Exprloc(expression) => {
            Some(place(view.dwarf_of(die.unit), &unit, expression, ty))
        }
        list => Some(moving(view.dwarf_of(die.unit), &unit, list, ty)),
    }
}

fn moving<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    list: AttributeValue<Slice<'a>>,
    ty: Option<&Type>,
) -> Storage {
    let Ok(Some(mut locations)) = dwarf.attr_locations(unit, list) else {
        return unreadable();
    };
    let mut ranges = Vec::new();
    while let Ok(Some(entry)) = locations.next() {
        if ranges.len() >= MAX_RANGES {
            break;
        }
        // An empty range describes an argument at the call itself.
        if entry.range.begin < entry.range.end {
            let storage = place(dwarf, unit, entry.data, ty);
            ranges.push(Placed { begin: entry.range.begin, end: entry.range.end, storage });
        }
    }
    if ranges.is_empty() { Storage::gone() } else { Storage::Moving(ranges) }
}

/// Returns the place that a location defines without the value of any register.
fn place(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    expression: Expression<Slice<'_>>,
    ty: Option<&Type>,
) -> Storage {
    let mut operations = expression.operations(unit.encoding());
    let (first, second) = (operations.next().ok().flatten(), operations.next());
    let (Ok(second), size) = (second, value_size(ty)) else { return unreadable() };
    let words = |words: String| Storage::Elsewhere(words);
    match (first, second) {
        (None, _) => Storage::gone(),
        (Some(Operation::Address { address }), None) => Storage::Address(address),
        // The address itself is the value, as for a pointer that is a template argument.
        (Some(Operation::Address { address }), Some(Operation::StackValue)) => {
            Storage::Constant(to_bytes(address, size))
        }
        (Some(Operation::AddressIndex { index }), None) => {
            dwarf.address(unit, index).map_or_else(|_| unreadable(), Storage::Address)
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
        (Some(Operation::Register { register }), None) => {
            words(format!("in register {}", register_name(register)))
        }
        (Some(Operation::RegisterOffset { register, offset, .. }), None) => {
            words(format!("in memory at {}{offset:+}", register_name(register)))
        }
        (Some(Operation::FrameOffset { offset }), None) => {
            words(format!("on the stack, at its frame's base{offset:+}"))
        }
        (_, Some(Operation::Piece { .. })) => words("in several places, piece by piece".to_owned()),
        _ => computed(dwarf, unit, expression, size)
            .unwrap_or_else(|| words("computed at run time".to_owned())),
    }
}

/// Evaluates operations that need neither registers nor memory; none if they need either.
fn computed(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    expression: Expression<Slice<'_>>,
    size: u64,
) -> Option<Storage> {
    let mut evaluation = expression.evaluation(unit.encoding());
    evaluation.set_max_iterations(MAX_OPERATIONS);
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address)
            }
            EvaluationResult::RequiresIndexedAddress { index, .. } => {
                evaluation.resume_with_indexed_address(dwarf.address(unit, index).ok()?)
            }
            _ => return None,
        }
        .ok()?;
    }
    match evaluation.as_result() {
        [Piece { location: Location::Address { address }, size_in_bits: None, .. }] => {
            Some(Storage::Address(*address))
        }
        [Piece { location: Location::Value { value }, size_in_bits: None, .. }] => {
            let number = value.to_u64(u64::from(u32::MAX)).ok()?;
            Some(Storage::Constant(to_bytes(number, size)))
        }
        _ => None,
    }
}

fn unreadable() -> Storage {
    Storage::Elsewhere("not readable".to_owned())
}

/// Returns a register's name in the calling convention: `RISC-V ELF psABI`, table "Integer Register
/// Convention".
fn register_name(register: Register) -> String {
    const NAMES: [&str; 32] = [
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
        "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
        "t5", "t6",
    ];
    let name = NAMES.get(usize::from(register.0));
    name.map_or_else(|| format!("number {}", register.0), |name| (*name).to_owned())
}

/// Returns the size in bytes of a number of this type; eight if the type has no size.
pub(crate) fn value_size(ty: Option<&Type>) -> u64 {
    ty.and_then(Type::size).filter(|size| (1..=8).contains(size)).unwrap_or(8)
}

/// Returns the lowest `size` bytes of a number.
pub(crate) fn to_bytes(value: u64, size: u64) -> Vec<u8> {
    value.to_le_bytes().into_iter().take(size as usize).collect()
}

/// Returns the bytes of a `DW_AT_const_value`.
pub(crate) fn constant_bytes(
    view: &DieView<'_>,
    die: &Die<'_>,
    value: AttributeValue<Slice<'_>>,
    ty: Option<&Type>,
) -> Option<Vec<u8>> {
    let block = match value {
        AttributeValue::Block(block) => block,
        // The string constant of a character array: its bytes and a final zero.
        AttributeValue::String(_)
        | AttributeValue::DebugStrRef(_)
        | AttributeValue::DebugStrOffsetsIndex(_) => {
            let text = view.dwarf_of(die.unit).attr_string(&view.unit(die.unit)?, value).ok()?;
            return Some(text.slice().iter().copied().take(MAX_CONSTANT).chain([0]).collect());
        }
        AttributeValue::Addr(address) => return Some(to_bytes(address, value_size(ty))),
        AttributeValue::Data16(value) => return Some(value.to_le_bytes().to_vec()),
        _ => return Some(to_bytes(number(value)? as u64, value_size(ty))),
    };
    (block.len() <= MAX_CONSTANT).then(|| block.slice().to_vec())
}
