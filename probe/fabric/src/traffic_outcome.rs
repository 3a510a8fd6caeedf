//! The state of the traffic kernel.

use super::mux::offset;
use super::traffic::{Traffic, WorkerId};
use super::traffic_launch::{WORDS, WORDS_TYPE};
use super::traffic_lists::KERNEL;
use images::{Image, ImageMap, Member};
use launch::records::{bytes_read, variable};
use launch::{ControlError, image};
use machine::place::Place;
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;

/// `fabric_traffic_phase_t` of a kernel that has ended, well or not.
const FINISHED: u32 = 4;
const REFUSED: u32 = 6;

/// A worker's counts and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficOutcome {
    /// `fabric_traffic_phase_t`.
    pub phase: u32,
    /// Packets handed to a router or mux.
    pub sent: u32,
    /// Packets without a route.
    pub refused: u32,
    /// Memory ranges checked.
    pub arrived: u32,
    /// Words with wrong contents.
    pub wrong_words: u32,
    /// Surplus increments of the counter.
    pub doubled: u32,
    /// Memory ranges that did not arrive.
    pub missing: u32,
    /// Negative acknowledges received.
    pub nacks: u32,
    /// Start, on the chip's wall clock.
    pub started_cycles: u64,
    /// All packets handed over, on the chip's wall clock.
    pub sent_cycles: u64,
    /// End, on the chip's wall clock.
    pub finished_cycles: u64,
    /// First close request, on the chip's wall clock; 0 before.
    pub closing_cycles: u64,
    /// Last close answered, on the chip's wall clock; 0 before.
    pub closed_cycles: u64,
    /// The longest wait for a slot of a router or mux.
    pub longest_slot_wait_cycles: u64,
}

impl TrafficOutcome {
    /// Returns true if the worker has finished, stopped or refused.
    pub fn is_over(&self) -> bool {
        (FINISHED..=REFUSED).contains(&self.phase)
    }

    /// Returns true if all packets were sent and have arrived.
    pub fn is_finished(&self) -> bool {
        self.phase == FINISHED
    }
}

impl Traffic {
    /// Reads a worker's state.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn outcome(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        id: WorkerId,
    ) -> Result<TrafficOutcome, ControlError> {
        let outcomes = self.outcomes(target, images, &[id])?;
        outcomes.first().copied().ok_or_else(|| Self::missing(id))
    }

    /// Reads the states of workers, all at once.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn outcomes(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        ids: &[WorkerId],
    ) -> Result<Vec<TrafficOutcome>, ControlError> {
        let kernel = image(images, KERNEL)?;
        let nacks = WORDS + offset(&kernel, &format!("{WORDS_TYPE}.nacks"))?;
        let mut spans = Vec::new();
        for &id in ids {
            let place = self.place(id)?;
            let own = StateSpan::of(&kernel, place, ["phase", "finished_cycles"])?;
            spans.push((own, Span { addr: place.at(nacks.into()), len: 4 }));
        }
        let read = spans.iter().flat_map(|(own, nacks)| [own.span, *nacks]).collect();
        let snapshot = target.read(&Plan { spans: read });
        let outcome = |(own, nacks): &(StateSpan<'_>, Span)| {
            let nacks = Member::value(bytes_read(&snapshot, *nacks)?) as u32;
            own.outcome(&snapshot, nacks)
        };
        spans.iter().map(outcome).collect()
    }
}

/// Words of a traffic kernel's state that follow each other.
pub(super) struct StateSpan<'a> {
    pub(super) kernel: &'a Image,
    start: u64,
    pub(super) span: Span,
}

impl<'a> StateSpan<'a> {
    /// Returns the words from one member to another.
    pub(super) fn of(
        kernel: &'a Image,
        place: Place,
        [first, last]: [&str; 2],
    ) -> Result<Self, ControlError> {
        let state = |member: &str| variable(kernel, &format!("fabric_traffic_state.{member}"));
        let (start, end) = (state(first)?.address(), state(last)?);
        let len = (end.address() + end.field.size).saturating_sub(start) as u32;
        Ok(Self { kernel, start, span: Span { addr: place.at(start), len } })
    }

    /// Returns the value of one of them.
    pub(super) fn value(&self, snapshot: &Snapshot, member: &str) -> Result<u64, ControlError> {
        let found = variable(self.kernel, &format!("fabric_traffic_state.{member}"))?;
        let outside = || ControlError::NoMember(KERNEL.to_owned(), member.to_owned());
        let at = found.address().checked_sub(self.start).ok_or_else(outside)? as usize;
        let bytes = bytes_read(snapshot, self.span)?.get(at..at + found.field.size as usize);
        Ok(Member::value(bytes.ok_or_else(outside)?))
    }

    fn outcome(&self, snapshot: &Snapshot, nacks: u32) -> Result<TrafficOutcome, ControlError> {
        let value = |member: &str| self.value(snapshot, member);
        let word = |member: &str| value(member).map(|value| value as u32);
        Ok(TrafficOutcome {
            phase: word("phase")?,
            sent: word("packets_sent")?,
            refused: word("packets_refused")?,
            arrived: word("arrived")?,
            wrong_words: word("wrong_words")?,
            doubled: word("doubled")?,
            missing: word("missing")?,
            nacks,
            started_cycles: value("started_cycles")?,
            sent_cycles: value("sent_cycles")?,
            finished_cycles: value("finished_cycles")?,
            closing_cycles: value("closing_cycles")?,
            closed_cycles: value("closed_cycles")?,
            longest_slot_wait_cycles: value("longest_slot_wait_cycles")?,
        })
    }
}
