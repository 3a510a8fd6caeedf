//! Loops that a compiler made, and any words.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::{End, Operand, Reads, spin, text_of};
use std::collections::BTreeMap;

const CLOCK: u32 = 0xFFB1_21F0;

struct L1(BTreeMap<u32, u32>);

impl Reads for L1 {
    fn word(&mut self, at: u32) -> Option<u32> {
        self.0.get(&at).copied()
    }

    fn name(&self, at: u32) -> Option<String> {
        (at >= 0xFFB0_0000).then(|| "a register".to_owned())
    }

    fn global_pointer(&self) -> Option<u32> {
        None
    }

    fn is_time(&self, at: u32) -> bool {
        at == CLOCK
    }
}

/// Returns what `spin` says of code at 0x1000, between returns, if it was sampled in its last words.
fn of(code: &[u32], last: usize, l1: &[(u32, u32)]) -> Option<super::Spin> {
    let end = 0x1000 + 4 * code.len() as u32;
    let pcs: Vec<u32> = (0..last as u32).map(|back| end - 4 - 4 * back).collect();
    let text = text_of(&pcs).unwrap();
    let word = |at: u32| match at.checked_sub(0x1000) {
        Some(at) if at / 4 < code.len() as u32 => code[at as usize / 4],
        _ => 0x0000_8067,
    };
    let words: Vec<u32> = text.step_by(4).map(word).collect();
    spin(&pcs, &words, &mut L1(l1.iter().copied().collect()))
}

fn words(code: &[u32], last: usize, l1: &[(u32, u32)]) -> Option<String> {
    let ends = of(code, last, l1)?.ends;
    Some(ends.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

// What Debian's compiler makes of loops in C, with -O2.

#[test]
fn a_flag_at_an_address() {
    // while (*(volatile unsigned*)0x12190 != 64) {}
    let code = [0x0001_26B7, 0x0400_0713, 0x1906_A783, 0xFEE7_9EE3];
    assert_eq!(words(&code, 2, &[(0x12190, 63)]).unwrap(), "0x12190 (63) is 64");
    let awaited = Some(("", Operand { value: 64, at: None }));
    let end = End { at: 0x12190, name: None, value: Some(63), awaited, least: None };
    assert_eq!(of(&code, 2, &[(0x12190, 63)]).unwrap().ends, [end]);
    // It ends now.
    assert_eq!(of(&code, 2, &[(0x12190, 64)]), None);
}

#[test]
fn a_flag_at_an_address_that_is_not_known() {
    // while (*p < n) {}
    let found = of(&[0x0005_2783, 0xFEB7_EEE3], 2, &[]).unwrap();
    assert!(found.ends.is_empty() && !found.endless);
}

#[test]
fn a_bit_and_two_words() {
    // while (!(*(volatile unsigned*)0x100 & 1)) {}
    let code = [0x1000_2783, 0x0017_F793, 0xFE07_8CE3];
    assert_eq!(words(&code, 3, &[(0x100, 2)]).unwrap(), "0x100 (2) changes");
    // while (*(volatile unsigned*)0x100 == 0 && *(volatile unsigned*)0x200 != 5) {}
    let code = [0x0050_0713, 0x00C0_006F, 0x2000_2783, 0x00E7_8663, 0x1000_2783, 0xFE07_8AE3];
    let l1 = [(0x100, 0), (0x200, 4)];
    assert_eq!(words(&code, 4, &l1).unwrap(), "0x200 (4) is 5, 0x100 (0) is not 0");
    // A register that is not read.
    assert_eq!(words(&[0xFFB2_0737, 0x2087_2783, 0xFE07_9EE3], 2, &[]).unwrap(), "a register is 0");
}

#[test]
fn a_loop_that_computes_does_not_spin() {
    // for (unsigned i = 0; i < n; i++) s += p[i];
    assert_eq!(of(&[0x0007_A703, 0x0047_8793, 0x00E5_0533, 0xFED7_9AE3], 4, &[]), None);
    // for (;;) *p = 1;
    assert_eq!(of(&[0x0010_0793, 0x00F5_2023, 0x00F5_2023, 0xFF9F_F06F], 3, &[]), None);
    // while (*clock - start < n) {}
    let code = [0xFFB1_27B7, 0x1F07_A683, 0xFFB1_2737, 0x1F07_2783, 0x40D7_87B3, 0xFEA7_ECE3];
    assert_eq!(of(&code, 3, &[]), None);
}

#[test]
fn what_is_computed_of_a_word_ends_the_loop_too() {
    // li a3, 3; lw a5, 0x100(x0); sub a5, a5, a2; bltu a5, a3, to the second line.
    let code = [0x0030_0693, 0x1000_2783, 0x40C7_87B3, 0xFED7_ECE3];
    let [end] = of(&code, 3, &[(0x100, 2)]).unwrap().ends.try_into().unwrap();
    assert_eq!((end.at, end.awaited, end.least), (0x100, None, Some(3)));
    // bgeu a3, a5, to the second line.
    let code = [0x0030_0693, 0x1000_2783, 0xFEF6_FEE3];
    assert_eq!(words(&code, 2, &[(0x100, 2)]).unwrap(), "0x100 (2) is at least 4");
}

#[test]
fn an_endless_loop_reads_nothing() {
    // for (;;) asm volatile("nop");
    let found = of(&[0x0000_0013, 0xFFDF_F06F], 2, &[]).unwrap();
    assert!(found.endless && found.ends.is_empty());
}

#[test]
fn code_from_outside_that_comes_back_is_part_of_the_loop() {
    // The loop leaves to code behind it, which stores, and comes back into its middle.
    let code = [0x1000_2783, 0x0007_8663, 0x0000_0013, 0xFF5F_F06F, 0x00F5_2023, 0xFF5F_F06F];
    let text: Vec<u32> = code.to_vec();
    let pcs = [0x1000, 0x1008, 0x100C];
    let start = text_of(&pcs).unwrap().start;
    let mut words = vec![0x0000_8067; ((0x1000 - start) / 4) as usize];
    words.extend(text);
    words.resize(words.len() + 64, 0x0000_8067);
    assert_eq!(spin(&pcs, &words, &mut L1(BTreeMap::new())), None);
}

#[test]
fn any_words_are_looked_at() {
    let mut seed = 1_u32;
    for _ in 0..2_000 {
        let words: Vec<u32> = (0..400)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Mostly branches and jumps.
                if seed >> 30 == 0 { seed } else { (seed & !0x7F) | (0x63 + (seed >> 31) * 0xC) }
            })
            .collect();
        let _ = spin(&[0x2000, 0x2010], &words, &mut L1(BTreeMap::new()));
    }
    assert_eq!(text_of(&[]), None);
    assert_eq!(text_of(&[0x1002]), None);
    assert!(text_of(&[0xFFFF_FFFC]).is_some());
}
