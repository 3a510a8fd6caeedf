//! The results of the instructions of a loop. A loop that waits in an inner loop repeats the steps of
//! that hundreds of times: of a repetition, only the first two rounds are kept where it was skipped
//! ([`super::inner`]), and in checkpoints.

use super::stride::Strided;

/// The slot of a step without result. Slots are 32 registers, then the words of private RAM, then
/// the words of L1.
pub(super) const NO_SLOT: u32 = u32::MAX;
/// Most steps of a round.
const LONGEST_ROUND: usize = 128;
/// A loop of fewer steps is kept as it is.
const WORTH_SEARCH: usize = 256;
/// A repetition that spares fewer steps than this is not worth it.
const WORTH_STEPS: usize = 8;

/// The result of one instruction of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopStep {
    pub(crate) pc: u32,
    pub(crate) slot: u32,
    pub(crate) result: Strided,
}

impl LoopStep {
    /// Creates the step of an instruction without result.
    pub(super) fn nothing(pc: u32) -> Self {
        Self { pc, slot: NO_SLOT, result: Strided::fixed(0) }
    }

    /// Returns the step of the round after this one, in which the value has changed by an amount.
    fn again(self, change: u32) -> Self {
        let value = self.result.value.wrapping_add(change);
        Self { result: Strided { value, ..self.result }, ..self }
    }

    /// Returns the step of a round from those of the first and of the second round: the value changes
    /// by the same amount in each round.
    fn in_round(self, second: Self, round: u32) -> Self {
        let change = second.result.value.wrapping_sub(self.result.value);
        self.again(change.wrapping_mul(round))
    }
}

/// All steps of a loop, in the order of execution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LoopSteps {
    /// The steps of each part, one part after the other.
    kept: Vec<LoopStep>,
    parts: Vec<Part>,
    len: usize,
    /// Whether repetitions were searched for, or are known.
    searched: bool,
}

/// Some steps in sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// The number of its first step in the loop, and its place in `kept`.
    first: usize,
    at: usize,
    /// Steps of a round, two of which are kept; all steps are kept of a part without rounds.
    round: Option<usize>,
}

impl LoopSteps {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, step: LoopStep) {
        if self.parts.last().is_none_or(|part| part.round.is_some()) {
            self.parts.push(Part { first: self.len, at: self.kept.len(), round: None });
        }
        self.kept.push(step);
        self.len += 1;
    }

    /// Makes the last steps, those of `round`, the first of several rounds; from each to the next,
    /// each result changes by its stride in `round`.
    pub(super) fn repeat(&mut self, round: &Self, rounds: usize) {
        let length = round.len;
        let (first, at) = (self.len - length, self.kept.len() - length);
        self.parts.pop_if(|part| part.first == first);
        self.parts.push(Part { first, at, round: Some(length) });
        for index in 0..length {
            let change = round.get(index).map_or(0, |step| step.result.stride);
            self.kept.push(self.kept[at + index].again(change));
        }
        self.len += (rounds - 1) * length;
        self.searched = true;
    }

    /// Whether to search for repetitions would be in vain.
    pub(super) fn is_compact(&self) -> bool {
        self.searched || self.len < WORTH_SEARCH
    }

    /// Returns the same steps with two rounds of each repetition.
    pub(super) fn compact(&self) -> Self {
        let mut all = Self { searched: true, ..Self::default() };
        while let rest @ [step, ..] = &self.kept[all.len..] {
            if let Some((round, repeated)) = repetition(rest) {
                let (first, at) = (all.len, all.kept.len());
                all.parts.push(Part { first, at, round: Some(round) });
                all.kept.extend_from_slice(&rest[..2 * round]);
                all.len += repeated;
            } else {
                all.push(*step);
            }
        }
        all.kept.shrink_to_fit();
        all
    }

    /// Returns a step.
    pub(super) fn get(&self, index: usize) -> Option<LoopStep> {
        let part = self.parts.partition_point(|part| part.first <= index).checked_sub(1)?;
        (index < self.len).then(|| self.in_part(&self.parts[part], index))
    }

    fn in_part(&self, part: &Part, index: usize) -> LoopStep {
        let (index, kept) = (index - part.first, &self.kept[part.at..]);
        let Some(round) = part.round else { return kept[index] };
        let in_round = index % round;
        kept[in_round].in_round(kept[in_round + round], (index / round) as u32)
    }

    /// Returns the last result of each slot, and others before it, of the first `count` steps, in their
    /// order.
    pub(super) fn results(&self, count: usize) -> impl Iterator<Item = LoopStep> {
        let ends = self.parts.iter().skip(1).map(|part| part.first).chain([self.len]);
        let parts = self.parts.iter().zip(ends).take_while(move |(part, _)| part.first < count);
        let steps = parts.flat_map(move |(part, end)| {
            let end = end.min(count);
            // The last round replaces all results of those before it.
            let start = part.round.map_or(0, |round| end.saturating_sub(round));
            (start.max(part.first)..end).map(|index| self.in_part(part, index))
        });
        steps.filter(|step| step.slot != NO_SLOT)
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.kept[..]) + size_of_val(&self.parts[..]) + size_of::<Self>()
    }
}

/// Returns the repetition with which some steps begin, if it is worth it: the steps of a round, and all
/// steps.
fn repetition(steps: &[LoopStep]) -> Option<(usize, usize)> {
    let head = steps.first()?;
    let others = steps.iter().skip(1).take(LONGEST_ROUND);
    let round = 1 + others.map(|step| step.pc).position(|pc| pc == head.pc)?;
    if steps.len() < 2 * round {
        return None;
    }
    let (first, second) = (&steps[..round], &steps[round..2 * round]);
    let mut repeated = 0;
    for (number, of_round) in (0..).zip(steps.chunks(round)) {
        let expected = first.iter().zip(second).map(|(a, b)| a.in_round(*b, number));
        let same = expected.zip(of_round).take_while(|(expected, step)| expected == *step).count();
        repeated += same;
        if same < round {
            break;
        }
    }
    (repeated >= 2 * round + WORTH_STEPS).then_some((round, repeated))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::{LoopStep, LoopSteps, Strided};
    use std::collections::HashMap;

    /// Steps that write `value` into register 5 and that have another slot now and then.
    fn step(pc: u32, value: u32) -> LoopStep {
        let slot = if pc.is_multiple_of(3) { 5 } else { pc };
        LoopStep { pc, slot, result: Strided { value, stride: pc & 1 } }
    }

    /// The steps of a loop with rounds of these lengths and numbers, each after some other steps.
    fn steps(rounds: &[(u32, u32)]) -> Vec<LoopStep> {
        let mut steps = vec![step(1000, 7), step(1001, 9), LoopStep::nothing(1002)];
        for (number, (length, count)) in (1..).zip(rounds) {
            let of_round = |round| {
                (0..*length).map(move |pc| {
                    let value = if pc % 4 == 1 { 5_u32.wrapping_sub(7 * round) } else { pc };
                    step(number * 200 + pc, value)
                })
            };
            steps.extend((0..*count).flat_map(of_round));
            steps.extend([step(2000 + number, number), step(1, number)]);
        }
        steps
    }

    fn loop_steps(steps: &[LoopStep]) -> LoopSteps {
        let mut all = LoopSteps::default();
        for step in steps {
            all.push(*step);
        }
        all
    }

    #[test]
    fn all_steps_come_back() {
        let shapes: [&[(u32, u32)]; 7] = [
            &[],
            &[(36, 114)],
            &[(1, 40), (2, 9), (3, 5), (100, 4)],
            &[(128, 3), (129, 4), (7, 2)],
            &[(5, 10), (5, 10), (64, 64)],
            &[(36, 50), (40, 50), (36, 50)],
            &[(6, 4)],
        ];
        for rounds in shapes {
            let plain = steps(rounds);
            let all = loop_steps(&plain).compact();
            let back: Vec<LoopStep> =
                (0..plain.len()).map(|index| all.get(index).unwrap()).collect();
            assert_eq!(back, plain, "{rounds:?}");
            assert_eq!(all.get(plain.len()), None);
            for count in 0..=plain.len() {
                let last = |steps: &mut dyn Iterator<Item = LoopStep>| {
                    let written = steps.filter(|step| step.slot != super::NO_SLOT);
                    written.map(|step| (step.slot, step.result)).collect::<HashMap<_, _>>()
                };
                let direct = last(&mut plain[..count].iter().copied());
                assert_eq!(last(&mut all.results(count)), direct, "{rounds:?}, {count}");
            }
        }
    }

    #[test]
    fn an_inner_loop_is_kept_as_two_rounds() {
        let plain = steps(&[(36, 114)]);
        let all = loop_steps(&plain).compact();
        assert_eq!((plain.len(), all.kept.len(), all.parts.len()), (4109, 77, 3));
        assert_eq!(all.results(4108).count(), 2 + 36 + 1);
    }
}
