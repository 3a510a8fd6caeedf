//! DWARF expressions in call frame information, evaluated with registers and memory.

use gimli::{
    Encoding, EndianSlice, Evaluation, EvaluationResult, LittleEndian, Location, UnitOffset, Value,
};

use super::registers::Registers;

/// The most operations of one expression; each reads at most four bytes of memory.
const MAX_OPERATIONS: u32 = 100;

/// Why an expression has no value.
#[derive(Debug)]
pub(crate) enum ExpressionFault<E> {
    /// It is invalid, or needs data that call frame information must not use.
    Broken(String),
    /// It needs an unknown register.
    Unknown(u16),
    /// It needs unreadable memory.
    Unreadable(u32, E),
}

impl<E> From<gimli::Error> for ExpressionFault<E> {
    fn from(error: gimli::Error) -> Self {
        ExpressionFault::Broken(error.to_string())
    }
}

/// Evaluates an expression; its stack starts with the frame address, if that is known.
pub(crate) fn evaluate<E>(
    bytes: &[u8],
    encoding: Encoding,
    cfa: Option<u32>,
    registers: &Registers,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<u32, ExpressionFault<E>> {
    const UNTYPED: UnitOffset = UnitOffset(0);
    let mut evaluation = Evaluation::new(EndianSlice::new(bytes, LittleEndian), encoding);
    evaluation.set_max_iterations(MAX_OPERATIONS);
    if let Some(cfa) = cfa {
        evaluation.set_initial_value(cfa.into());
    }
    let mut step = evaluation.evaluate()?;
    loop {
        step = match step {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, base_type: UNTYPED } => {
                let value =
                    registers.get(register.0).ok_or(ExpressionFault::Unknown(register.0))?;
                evaluation.resume_with_register(Value::Generic(value.into()))?
            }
            EvaluationResult::RequiresMemory { address, size, space: None, base_type: UNTYPED } => {
                let address = address as u32;
                let mut word = [0; 4];
                let wanted = word.get_mut(..usize::from(size));
                let wanted = wanted
                    .ok_or_else(|| ExpressionFault::Broken(format!("{size} bytes at once")))?;
                read(address.into(), wanted)
                    .map_err(|error| ExpressionFault::Unreadable(address, error))?;
                let value = u32::from_le_bytes(word);
                evaluation.resume_with_memory(Value::Generic(value.into()))?
            }
            other => {
                return Err(ExpressionFault::Broken(format!(
                    "an expression that requires {other:?}"
                )));
            }
        };
    }
    match evaluation.as_result() {
        [piece] => match piece.location {
            Location::Address { address } => Ok(address as u32),
            ref other => Err(ExpressionFault::Broken(format!("an expression for {other:?}"))),
        },
        pieces => Err(ExpressionFault::Broken(format!("an expression of {} pieces", pieces.len()))),
    }
}
