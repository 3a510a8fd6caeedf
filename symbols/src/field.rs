//! A member's place, resolved once by name and then read from many snapshots.

use crate::types::Type;

/// The place of a value inside the bytes of its outermost type. Small, `Copy`, and free of names:
/// an inspector resolves its fields once per ELF, then only reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// Bytes from the start of the outermost type.
    pub offset: u64,
    /// Size in bytes of the whole field (of the storage, for a bit-field).
    pub size: u64,
    /// For arrays: elements of the first dimension; 1 for everything else.
    pub count: u64,
    /// For arrays: bytes from one element of the first dimension to the next, else `size`.
    pub stride: u64,
    /// For bit-fields: the number of bits; 0 for everything else.
    pub bit_size: u32,
    /// For bit-fields: bits from byte `offset` to the lowest bit.
    pub bit_shift: u32,
    /// Whether the value is sign-extended.
    pub signed: bool,
}

/// A typed place inside a root type, the result of a path.
#[derive(Clone, Debug)]
pub struct MemberPlace {
    /// The type at the end of the path.
    pub ty: Type,
    /// Its place in the type the path starts from.
    pub field: Field,
}

impl MemberPlace {
    pub(crate) fn whole(ty: &Type) -> MemberPlace {
        MemberPlace { ty: ty.clone(), field: Field::whole(ty) }
    }
}

impl Field {
    /// Returns the field that covers a whole type.
    pub fn whole(ty: &Type) -> Field {
        let size = ty.size().unwrap_or(0);
        let mut field = Field {
            offset: 0,
            size,
            count: 1,
            stride: size,
            bit_size: 0,
            bit_shift: 0,
            signed: ty.is_signed(),
        };
        if let Some(array) = ty.array() {
            field.count = array.lengths.first().copied().flatten().unwrap_or(0);
            let inner = array.lengths.get(1..).unwrap_or_default();
            let each = inner.iter().try_fold(1u64, |n, length| n.checked_mul((*length)?));
            let element = array.element.size();
            let stride = each.zip(element).and_then(|(n, size)| n.checked_mul(size));
            field.stride = stride.unwrap_or(0);
            field.signed = array.element.is_signed();
        }
        field
    }

    /// Returns the field's value from the bytes of its outermost type: little-endian,
    /// zero-extended. None if the bytes are too short, or the field is not 1 to 8 bytes long.
    #[inline]
    pub fn read(&self, bytes: &[u8]) -> Option<u64> {
        let start = usize::try_from(self.offset).ok()?;
        if self.bit_size > 0 {
            return read_bits(bytes.get(start..)?, self.bit_shift, self.bit_size);
        }
        let size = usize::try_from(self.size).ok()?;
        little_endian(bytes.get(start..start.checked_add(size)?)?)
    }

    /// Like `read`, sign-extended if the type is signed.
    #[inline]
    pub fn read_signed(&self, bytes: &[u8]) -> Option<i64> {
        let value = self.read(bytes)?;
        let width = if self.bit_size > 0 { self.bit_size } else { (self.size * 8) as u32 };
        Some(if self.signed { sign_extend(value, width) } else { value as i64 })
    }

    /// Returns the field's own bytes, for strings and nested decoding.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.offset).ok()?;
        bytes.get(start..start.checked_add(usize::try_from(self.size).ok()?)?)
    }

    /// Returns a field of this field; `inner` was resolved from this field's type.
    #[inline]
    #[must_use]
    pub fn then(&self, inner: Field) -> Field {
        Field { offset: self.offset.saturating_add(inner.offset), ..inner }
    }
}

/// Returns up to eight bytes as a number.
#[inline]
pub(crate) fn little_endian(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 8 {
        return None;
    }
    let mut word = [0u8; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(word))
}

/// Returns `size` bits from `shift` bits above bit 0 of the first byte; they may span nine bytes.
pub(crate) fn read_bits(bytes: &[u8], shift: u32, size: u32) -> Option<u64> {
    if size == 0 || size > 64 {
        return None;
    }
    let start = (shift / 8) as usize;
    let shift = shift % 8;
    let length = (shift + size).div_ceil(8) as usize;
    let mut word = [0u8; 16];
    let from = bytes.get(start..start.checked_add(length)?)?;
    word.get_mut(..length)?.copy_from_slice(from);
    let value = u128::from_le_bytes(word) >> shift;
    Some((value & ((1u128 << size) - 1)) as u64)
}

/// Returns the lowest `width` bits as a two's complement number.
#[inline]
pub(crate) fn sign_extend(value: u64, width: u32) -> i64 {
    match width {
        1..=63 => ((value << (64 - width)) as i64) >> (64 - width),
        _ => value as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, read_bits, sign_extend};

    fn plain(offset: u64, size: u64) -> Field {
        Field { offset, size, count: 1, stride: size, bit_size: 0, bit_shift: 0, signed: true }
    }

    #[test]
    fn reads_little_endian_and_never_past_the_end() {
        let bytes = [0x11, 0x22, 0x33, 0x44, 0xff];
        assert_eq!(plain(0, 4).read(&bytes), Some(0x4433_2211));
        assert_eq!(plain(4, 1).read_signed(&bytes), Some(-1));
        assert_eq!(plain(4, 2).read(&bytes), None);
        assert_eq!(plain(u64::MAX, 2).read(&bytes), None);
        assert_eq!(plain(0, 0).read(&bytes), None);
        assert_eq!(plain(0, 9).read(&[0; 16]), None);
    }

    #[test]
    fn bits_straddle_bytes() {
        assert_eq!(read_bits(&[0b1010_0000, 0b0000_0011], 5, 5), Some(0b11101));
        assert_eq!(read_bits(&[0xff; 9], 7, 64), Some(u64::MAX));
        assert_eq!(read_bits(&[0xff], 7, 2), None);
        assert_eq!(sign_extend(0b101, 3), -3);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
    }
}
