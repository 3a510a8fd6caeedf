//! Decoding: a value from a type and bytes.

use crate::field::{little_endian, read_bits, sign_extend};
use crate::limits::{MAX_BYTES, MAX_DEPTH, MAX_VALUES};
use crate::types::{Array, Bits, Encoding, Kind, Member, Type};
use crate::value::Value;
use crate::walk::element;

impl Type {
    /// Decodes bytes that hold one value of this type. Parts past their end are `Unread`.
    pub fn decode(&self, bytes: &[u8]) -> Value {
        Decoder { bytes, left: MAX_VALUES }.value(self, 0, MAX_DEPTH)
    }

    /// Reads one value of this type from memory, in one access.
    pub fn read<E>(
        &self,
        address: u64,
        mut memory: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Value, E> {
        let size = self.size().unwrap_or(0);
        if size > MAX_BYTES {
            return Ok(Value::Opaque);
        }
        let mut bytes = vec![0; size as usize];
        if !bytes.is_empty() {
            memory(address, &mut bytes)?;
        }
        Ok(self.decode(&bytes))
    }
}

/// Returns the value of a bit-field from the bytes that hold its bits, counted from bit 0 of the
/// first byte.
pub(crate) fn decode_bits(ty: &Type, bits: Bits, bytes: &[u8]) -> Value {
    Decoder { bytes, left: MAX_VALUES }.bits(ty, bits, 0)
}

/// One decoding of these bytes.
struct Decoder<'b> {
    bytes: &'b [u8],
    left: usize,
}

impl<'b> Decoder<'b> {
    fn at(&self, offset: u64, size: u64) -> Option<&'b [u8]> {
        let start = usize::try_from(offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }

    fn value(&mut self, ty: &Type, offset: u64, depth: usize) -> Value {
        let (Some(left), Some(depth)) = (self.left.checked_sub(1), depth.checked_sub(1)) else {
            return Value::Opaque;
        };
        self.left = left;
        let plain = ty.plain();
        match plain.kind() {
            Kind::Record(record) => self.members(&record.members, offset, depth),
            Kind::Array(array) => self.elements(plain, array, offset, depth),
            Kind::Function | Kind::Void | Kind::Unknown => Value::Opaque,
            _ => match plain.size() {
                Some(size) if size <= 16 => {
                    let bytes = self.at(offset, size);
                    bytes.map_or(Value::Unread, |bytes| scalar(plain, bytes))
                }
                _ => Value::Opaque,
            },
        }
    }

    fn members(&mut self, members: &[Member], offset: u64, depth: usize) -> Value {
        let mut values = Vec::new();
        for member in members {
            let value = match (member.bits, offset.checked_add(member.offset)) {
                (_, None) => Value::Opaque,
                (Some(bits), Some(at)) => self.bits(&member.ty, bits, at),
                (None, Some(at)) => self.value(&member.ty, at, depth),
            };
            values.push((member.name.clone(), value));
            if self.left == 0 {
                return Value::Opaque;
            }
        }
        Value::Struct(values)
    }

    fn bits(&mut self, ty: &Type, bits: Bits, at: u64) -> Value {
        let Ok(size) = u32::try_from(bits.size) else { return Value::Opaque };
        let shift = (bits.offset % 8) as u32;
        if size == 0 || size > 64 {
            return Value::Opaque;
        }
        let Some(bytes) = self.at(at, u64::from((shift + size).div_ceil(8))) else {
            return Value::Unread;
        };
        let Some(raw) = read_bits(bytes, shift, size) else { return Value::Unread };
        let plain = ty.plain();
        let raw = if ty.is_signed() { sign_extend(raw, size) as u64 } else { raw };
        let width = plain.size().unwrap_or(0).clamp(1, 8) as usize;
        scalar(plain, raw.to_le_bytes().get(..width).unwrap_or_default())
    }

    fn elements(&mut self, whole: &Type, array: &Array, offset: u64, depth: usize) -> Value {
        let element = element(whole, array);
        let count = array.lengths.first().copied().flatten().unwrap_or(0);
        let size = element.size().unwrap_or(0);
        if count > self.left as u64 || count.saturating_mul(size) > MAX_BYTES {
            return Value::Opaque;
        }
        if is_scalar(&element)
            && let Some(bytes) = self.at(offset, count.saturating_mul(size))
        {
            self.left -= count as usize;
            let each = bytes.chunks_exact(size as usize);
            return Value::Array(each.map(|bytes| scalar(element.plain(), bytes)).collect());
        }
        let mut values = Vec::with_capacity(count as usize);
        for index in 0..count {
            let value = match offset.checked_add(index.saturating_mul(size)) {
                Some(at) => self.value(&element, at, depth),
                None => Value::Opaque,
            };
            values.push(value);
        }
        Value::Array(values)
    }
}

/// Whether a value of this type has no parts, so that a run of them can be read at once.
fn is_scalar(ty: &Type) -> bool {
    matches!(ty.plain().kind(), Kind::Base(_) | Kind::Enum(_) | Kind::Pointer(_))
        && ty.size().is_some_and(|size| (1..=16).contains(&size))
}

/// Returns a value of at most 16 bytes.
fn scalar(ty: &Type, bytes: &[u8]) -> Value {
    let Some(raw) = little_endian(bytes) else { return Value::Bytes(bytes.to_vec()) };
    let width = bytes.len() as u32 * 8;
    match ty.kind() {
        Kind::Base(Encoding::Signed) => Value::Signed(sign_extend(raw, width)),
        Kind::Base(Encoding::Bool) if raw <= 1 => Value::Bool(raw == 1),
        Kind::Base(Encoding::Unsigned | Encoding::Bool) => Value::Unsigned(raw),
        Kind::Base(Encoding::Char) => {
            char::from_u32(raw as u32).map_or(Value::Unsigned(raw), Value::Char)
        }
        Kind::Base(Encoding::Float) => match bytes.len() {
            4 => Value::Float(f32::from_bits(raw as u32).into()),
            8 => Value::Float(f64::from_bits(raw)),
            _ => Value::Bytes(bytes.to_vec()),
        },
        Kind::Enum(enumeration) => {
            let signed = enumeration.signed;
            let value = if signed { sign_extend(raw, width).into() } else { raw.into() };
            Value::Enum { name: enumeration.name_of(value).cloned(), value }
        }
        Kind::Pointer(_) => Value::Pointer(raw),
        _ => Value::Bytes(bytes.to_vec()),
    }
}
