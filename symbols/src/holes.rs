//! Bytes and bits of a record that belong to no member.

use crate::types::{Keyword, Member, Type};

/// A run of bits in a record that belongs to no member and no base.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hole {
    /// Bits from the start of the record.
    pub bit_offset: u64,
    /// How many bits.
    pub bit_size: u64,
    /// Behind the last member.
    pub padding: bool,
}

impl Type {
    /// The holes of a structure or class, in order; none for anything else. Those inside of members
    /// and bases are their types'. With virtual bases nothing is said of the bytes behind the last
    /// member, which may be theirs.
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
        // An empty structure has a byte so that it has an address.
        if size > end && end > 0 && !record.has_virtual_bases() {
            holes.push(Hole { bit_offset: end, bit_size: size - end, padding: true });
        }
        holes
    }
}

/// The bits of a member; a base without members takes no room.
fn taken(member: &Member) -> (u64, u64) {
    if let Some(bits) = member.bits {
        return (bits.offset, bits.offset.saturating_add(bits.size));
    }
    let start = member.offset.saturating_mul(8);
    let empty = member.base && member.ty.members().is_empty();
    let size = if empty { 0 } else { member.size().saturating_mul(8) };
    (start, start.saturating_add(size))
}
