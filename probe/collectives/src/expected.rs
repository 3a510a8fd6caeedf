//! What must come out: the pattern, sums in the order of the additions, and digests, bit for bit as the kernel has them
//! (`ccl_pattern`, `ccl_digest`).

use super::op::DataType;
use super::program::{Expected, OutputRange, Program, WorkerPlan};

const DIGEST_SEED: u32 = 0x811C_9DC5;
const DIGEST_PRIME: u32 = 0x0100_0193;

/// `ccl_mix`.
fn mix(seed: u32, stream: u32, index: u32) -> u32 {
    let seed = seed.wrapping_mul(0x9E37_79B9);
    let stream = stream.wrapping_add(1).wrapping_mul(0x85EB_CA6B);
    let mut x = seed ^ stream ^ index.wrapping_mul(0xC2B2_AE35);
    x ^= x >> 15;
    x = x.wrapping_mul(0x2C1B_3C6D);
    x ^ x >> 13
}

/// `ccl_pattern`: word `index` of a stream, two elements of bfloat16.
pub fn pattern(data_type: DataType, seed: u32, stream: u32, index: u32) -> u32 {
    let x = mix(seed, stream, index);
    match data_type {
        DataType::Int32 => x,
        DataType::Float32 => (x & 0x807F_FFFF) | (120 + (x >> 8 & 15)) << 23,
        DataType::Bfloat16 => {
            (x & 0x807F_807F) | (120 + (x >> 8 & 7)) << 7 | (120 + (x >> 11 & 7)) << 23
        }
    }
}

/// The sum of two words: wrapping integers, floats rounded to nearest even at each addition.
pub fn add(data_type: DataType, a: u32, b: u32) -> u32 {
    match data_type {
        DataType::Int32 => a.wrapping_add(b),
        DataType::Float32 => (f32::from_bits(a) + f32::from_bits(b)).to_bits(),
        DataType::Bfloat16 => {
            let low = add_bfloat16(a << 16, b << 16) >> 16;
            let high = add_bfloat16(a & 0xFFFF_0000, b & 0xFFFF_0000);
            high | low
        }
    }
}

/// Operands and sum are the upper halves of words.
fn add_bfloat16(a: u32, b: u32) -> u32 {
    let sum = (f32::from_bits(a) + f32::from_bits(b)).to_bits();
    let nearest_even = 0x7FFF + (sum >> 16 & 1);
    sum.wrapping_add(nearest_even) & 0xFFFF_0000
}

/// `ccl_digest` over words.
pub fn digest(words: impl Iterator<Item = u32>) -> u32 {
    words.fold(DIGEST_SEED, |digest, word| (digest ^ word).wrapping_mul(DIGEST_PRIME))
}

/// A stretch as it must stand in the tensor, page after page; the padding of its last page is zero.
pub fn bytes(program: &Program, expected: &Expected) -> Vec<u8> {
    let Some(worker) = program.checks.get(expected.worker) else { return Vec::new() };
    let words = words(program.data_type, program.seed, worker, &expected.stretch);
    words.flat_map(u32::to_le_bytes).collect()
}

/// The words of a stretch that this worker digests.
pub(super) fn words<'a>(
    data_type: DataType,
    seed: u32,
    worker: &WorkerPlan,
    stretch: &'a OutputRange,
) -> impl Iterator<Item = u32> + 'a {
    let page_bytes = worker.tensors.get(stretch.tensor).map_or(0, |tensor| tensor.page_bytes);
    let before = worker.pages.saturating_sub(1);
    let bytes = u64::from(before) * u64::from(page_bytes) + u64::from(worker.last_page_bytes);
    let in_word = 4 / data_type.bytes();
    let (first, elements) = (stretch.first_element / in_word, u64::from(worker.elements));
    (first..first + bytes / 4).map(move |index| {
        let real = elements.saturating_sub(index * in_word).min(in_word);
        if real == 0 {
            return 0;
        }
        let word = sum(data_type, seed, &stretch.arms, index as u32);
        if real < in_word { word & 0xFFFF } else { word }
    })
}

fn sum(data_type: DataType, seed: u32, arms: &[Vec<u32>], index: u32) -> u32 {
    let add = |a, b| add(data_type, a, b);
    let arm = |arm: &Vec<u32>| {
        arm.iter().map(|&stream| pattern(data_type, seed, stream, index)).reduce(add)
    };
    arms.iter().filter_map(arm).reduce(add).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_the_pattern_are_finite_and_normal() {
        for index in 0..2000 {
            assert!(f32::from_bits(pattern(DataType::Float32, 7, 3, index)).is_normal());
            let two = pattern(DataType::Bfloat16, 7, 3, index);
            assert!(f32::from_bits(two << 16).is_normal());
            assert!(f32::from_bits(two & 0xFFFF_0000).is_normal());
        }
    }

    #[test]
    fn sums_round_at_each_addition() {
        let bf16 = |x: f32| x.to_bits() >> 16;
        // 1 + 2^-8 lies half-way between two values of 8 bits: to even, which is 1; 1.0078125 + 2^-8 goes up.
        assert_eq!(add(DataType::Bfloat16, bf16(1.0), bf16(0.003_906_25)), bf16(1.0));
        assert_eq!(add(DataType::Bfloat16, bf16(1.007_812_5), bf16(0.003_906_25)), bf16(1.015_625));
        assert_eq!(add(DataType::Int32, u32::MAX, 2), 1);
        let both = add(DataType::Bfloat16, 0x3F80_4000, 0x3F80_4000);
        assert_eq!(both, 0x4000_4080, "two elements in a word do not disturb each other");
    }

    #[test]
    fn the_digest_is_fnv_by_words() {
        assert_eq!(digest([].into_iter()), 0x811C_9DC5);
        assert_eq!(digest([1].into_iter()), (0x811C_9DC5_u32 ^ 1).wrapping_mul(0x0100_0193));
    }
}
