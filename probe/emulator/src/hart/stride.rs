//! Values that change by the same amount in every iteration of a loop, and the number of iterations
//! for which a decision over them holds.
//!
//! In iteration n such a value is `value + n * stride`, modulo 2^32. Each bound here is the first n
//! whose decision may differ from that of n = 0. A bound is never too late, sometimes early, and
//! `NEVER` if no iteration differs.

use crate::decode as d;

/// No iteration.
pub(crate) const NEVER: u64 = u64::MAX;

/// A value and its change per iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Strided {
    pub(crate) value: u32,
    pub(crate) stride: u32,
}

impl Strided {
    pub(crate) fn fixed(value: u32) -> Self {
        Self { value, stride: 0 }
    }

    /// Returns the value in an iteration.
    pub(crate) fn at(self, iteration: u64) -> u32 {
        self.value.wrapping_add(self.stride.wrapping_mul(iteration as u32))
    }
}

/// Returns when the outcome of a branch may change.
pub(crate) fn branch_bound(kind: u8, a: Strided, b: Strided) -> u64 {
    match kind {
        d::BEQ | d::BNE => {
            equal_bound(a.value.wrapping_sub(b.value), a.stride.wrapping_sub(b.stride))
        }
        d::BLT | d::BGE => less_bound(a, b, true),
        _ => less_bound(a, b, false),
    }
}

/// Returns when `difference` may become zero, or stop being zero.
fn equal_bound(difference: u32, stride: u32) -> u64 {
    match (stride as i32, difference) {
        (0, _) => NEVER,
        (_, 0) => 1,
        (1.., _) => ((1 << 32) - u64::from(difference)).div_ceil(u64::from(stride)),
        (_, _) => u64::from(difference).div_ceil(u64::from(stride.wrapping_neg())),
    }
}

/// Returns when the outcome of `a < b` may change, or when either side may wrap.
pub(crate) fn less_bound(a: Strided, b: Strided, signed: bool) -> u64 {
    let (low, high) =
        if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
    let wide = |value: u32| if signed { i64::from(value as i32) } else { i64::from(value) };
    let (x, y) = (wide(a.value), wide(b.value));
    let (s, t) = (i64::from(a.stride as i32), i64::from(b.stride as i32));
    // As integers, the outcome is the sign of `x - y`; it changes when the difference leaves the
    // range of that sign.
    let crossing =
        if x < y { leaves(x - y, s - t, i64::MIN, -1) } else { leaves(x - y, s - t, 0, i64::MAX) };
    crossing.min(leaves(x, s, low, high)).min(leaves(y, t, low, high))
}

/// Returns when the bits from `bit` upwards of a value change.
pub(crate) fn high_bits_bound(a: Strided, bit: u32) -> u64 {
    let block = (1i64 << bit) - 1;
    let value = i64::from(a.value);
    leaves(value, i64::from(a.stride as i32), value & !block, value | block)
}

/// Returns the first n for which `value + n * stride` is outside `low..=high`.
fn leaves(value: i64, stride: i64, low: i64, high: i64) -> u64 {
    match stride {
        0 => NEVER,
        1.. => (high.saturating_sub(value) / stride) as u64 + 1,
        _ => (value.saturating_sub(low) / -stride) as u64 + 1,
    }
}

/// Returns the stride of the result of a computing instruction, and the first iteration for which
/// it no longer holds; `None` for instructions that the verification does not follow.
pub(crate) fn compute_stride(kind: u8, a: Strided, b: Strided, imm: u32) -> Option<(u32, u64)> {
    let fixed = |bound| Some((0, bound));
    let shifted = match kind {
        d::SRLI | d::SRAI | d::SLLI => imm & 31,
        _ => b.value & 31,
    };
    match kind {
        d::LUI => fixed(NEVER),
        d::ADDI => Some((a.stride, NEVER)),
        d::ADD => Some((a.stride.wrapping_add(b.stride), NEVER)),
        d::SUB => Some((a.stride.wrapping_sub(b.stride), NEVER)),
        d::SLTI => fixed(less_bound(a, Strided::fixed(imm), true)),
        d::SLTIU => fixed(less_bound(a, Strided::fixed(imm), false)),
        d::SLT => fixed(less_bound(a, b, true)),
        d::SLTU => fixed(less_bound(a, b, false)),
        d::SLLI => Some((a.stride << shifted, NEVER)),
        d::SRLI if whole_above(a, shifted) => Some((
            (a.stride as i32 >> shifted) as u32,
            leaves(i64::from(a.value), i64::from(a.stride as i32), 0, i64::from(u32::MAX)),
        )),
        d::SRLI | d::SRAI => fixed(high_bits_bound(a, shifted)),
        d::ANDI => Some(masked(a, imm)),
        d::XORI | d::ORI => Some((a.stride, disjoint_bound(a, imm)?)),
        _ if a.stride == 0 && b.stride == 0 => fixed(NEVER),
        d::OR | d::XOR if b.stride == 0 => Some((a.stride, disjoint_bound(a, b.value)?)),
        d::OR | d::XOR if a.stride == 0 => Some((b.stride, disjoint_bound(b, a.value)?)),
        d::AND if b.stride == 0 => Some(masked(a, b.value)),
        d::AND if a.stride == 0 => Some(masked(b, a.value)),
        d::MUL if b.stride == 0 => Some((a.stride.wrapping_mul(b.value), NEVER)),
        d::MUL if a.stride == 0 => Some((b.stride.wrapping_mul(a.value), NEVER)),
        d::SLL if b.stride == 0 => Some((a.stride << shifted, NEVER)),
        d::SRL | d::SRA if b.stride == 0 => fixed(high_bits_bound(a, shifted)),
        _ => None,
    }
}

/// Returns the stride of a value under a fixed mask, and the first iteration for which it no longer
/// holds. Low bits change like the value itself until they wrap; high bits are fixed until they
/// change.
fn masked(a: Strided, mask: u32) -> (u32, u64) {
    let low = mask & mask.wrapping_add(1) == 0;
    if mask == 0 || a.stride == 0 {
        (0, NEVER)
    } else if low {
        let range = (i64::from(a.value & mask), i64::from(a.stride as i32));
        (a.stride, leaves(range.0, range.1, 0, i64::from(mask)))
    } else {
        (0, high_bits_bound(a, mask.trailing_zeros()))
    }
}

/// Whether only bits from `bit` upwards are ever set.
fn whole_above(a: Strided, bit: u32) -> bool {
    (a.value | a.stride) & ((1 << bit) - 1) == 0
}

/// Returns until when a value has no bits in common with others: to set or flip them is to add them.
/// `None` if it has some now. A fixed value keeps its result in any case.
fn disjoint_bound(a: Strided, bits: u32) -> Option<u64> {
    if a.stride == 0 || bits == 0 {
        return Some(NEVER);
    }
    let below = (1i64 << bits.trailing_zeros()) - 1;
    let value = i64::from(a.value);
    (value <= below).then(|| leaves(value, i64::from(a.stride as i32), 0, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the bounds, for small strides near every edge, with an evaluation of each
    /// iteration.
    #[test]
    fn bounds_never_come_late() {
        let edges = [
            0u32,
            1,
            2,
            7,
            63,
            100,
            0x7FFF_FFFE,
            0x7FFF_FFFF,
            0x8000_0000,
            0x8000_0005,
            0xFFFF_FFF0,
            0xABCD_0000,
            0x0005_0000,
            u32::MAX,
        ];
        let strides = [0u32, 1, 3, 64, 0x1_0000, 0x4000_0000, 0x8000_0000, u32::MAX, 0xFFFF_FFFD];
        let mut values = Vec::new();
        for value in edges {
            values.extend(strides.map(|stride| Strided { value, stride }));
        }
        for &a in &values {
            for &b in &values {
                for kind in d::BEQ..=d::BGEU {
                    let now = super::super::step::taken(kind, a.value, b.value);
                    let bound = branch_bound(kind, a, b);
                    assert!(bound >= 1);
                    for n in 1..bound.min(50) {
                        assert_eq!(
                            super::super::step::taken(kind, a.at(n), b.at(n)),
                            now,
                            "{kind} {a:?} {b:?} {n}"
                        );
                    }
                }
                for kind in d::LUI..=d::REMU {
                    let computes = kind == d::LUI || kind >= d::ADDI;
                    let Some((stride, bound)) =
                        computes.then(|| compute_stride(kind, a, b, b.value)).flatten()
                    else {
                        continue;
                    };
                    let imm = b.value;
                    let result = |n| super::super::step::compute(kind, a.at(n), b.at(n), imm);
                    let first = Strided { value: result(0), stride };
                    for n in 1..bound.min(50) {
                        assert_eq!(result(n), first.at(n), "{kind} {a:?} {b:?} {n}");
                    }
                }
            }
        }
    }
}
