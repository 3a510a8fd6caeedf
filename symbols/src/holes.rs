//! Bytes and bits of a record outside all members.

use crate::types::{Keyword, Member, Type};

/// A run of bits in a record outside all members and bases.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hole {
    /// Bits from the start of the record to the hole.
    pub bit_offset: u64,
    /// The number of bits.
    pub bit_size: u64,
    /// Whether the hole is after the last member.
    pub padding: bool,
}

impl Type {
    /// Returns the holes of a structure or class in order; none for other types. Holes inside
    /// members and bases belong to their types. With virtual bases, bytes after the last member are
    /// not reported: they may belong to the bases.
    pub fn holes(&self) -> Vec<Hole> {
        let Some(record) = self.record().filter(|record| record.keyword != Keyword::Union) else {
            return Vec::new();
        };
        let mut taken: Vec<(u64, u64)> = record.members.iter().map(taken).collect();
        taken.sort_unstable();
        let mut holes = Vec::new();
        let mut end = 0;
        for (start, behind) in taken {
            if start > end {
                holes.push(Hole { bit_offset: end, bit_size: start - end, padding: false });
            }
            end = end.max(behind);
        }
        let size = self.size().unwrap_or(0).saturating_mul(8);
        // An empty structure has one byte, so that it has an address.
        if size > end && end > 0 && !record.has_virtual_bases() {
            holes.push(Hole { bit_offset: end, bit_size: size - end, padding: true });
        }
        holes
    }
}

/// Returns the bits of a member; a base without members has none.
fn taken(member: &Member) -> (u64, u64) {
    if let Some(bits) = member.bits {
        return (bits.offset, bits.offset.saturating_add(bits.size));
    }
    let start = member.offset.saturating_mul(8);
    let empty = member.base && member.ty.members().is_empty();
    let size = if empty { 0 } else { member.size().saturating_mul(8) };
    (start, start.saturating_add(size))
}
