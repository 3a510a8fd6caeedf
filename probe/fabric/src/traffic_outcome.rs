//! The state of the traffic kernel.

use super::mux::offset;
use super::traffic::{Traffic, WorkerId};
use super::traffic_launch::{WORDS, WORDS_TYPE};
use super::traffic_lists::KERNEL;
use images::{ImageMap, Member};
use launch::records::{bytes_read, variable};
use launch::{ControlError, image};
use machine::snapshot::{Plan, Span};
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
        let place = self.place(id)?;
        let kernel = image(images, KERNEL)?;
        let state = |member: &str| variable(&kernel, &format!("fabric_traffic_state.{member}"));
        let start = state("phase")?.address();
        let end = state("finished_cycles")?;
        let len = (end.address() + end.field.size - start) as u32;
        let nacks = WORDS + offset(&kernel, &format!("{WORDS_TYPE}.nacks"))?;
        let spans =
            [(start, len), (nacks.into(), 4)].map(|(at, len)| Span { addr: place.at(at), len });
        let snapshot = target.read(&Plan { spans: spans.to_vec() });
        let (own, nacks) = (bytes_read(&snapshot, spans[0])?, bytes_read(&snapshot, spans[1])?);
        let value = |member: &str| {
            let found = state(member)?;
            let outside = || ControlError::NoMember(KERNEL.to_owned(), member.to_owned());
            let at = found.address().checked_sub(start).ok_or_else(outside)? as usize;
            let bytes = own.get(at..at + found.field.size as usize).ok_or_else(outside)?;
            Ok::<u64, ControlError>(Member::value(bytes))
        };
        let word = |member: &str| value(member).map(|value| value as u32);
        Ok(TrafficOutcome {
            phase: word("phase")?,
            sent: word("packets_sent")?,
            refused: word("packets_refused")?,
            arrived: word("arrived")?,
            wrong_words: word("wrong_words")?,
            doubled: word("doubled")?,
            missing: word("missing")?,
            nacks: Member::value(nacks) as u32,
            started_cycles: value("started_cycles")?,
            sent_cycles: value("sent_cycles")?,
            finished_cycles: value("finished_cycles")?,
            closing_cycles: value("closing_cycles")?,
            closed_cycles: value("closed_cycles")?,
            longest_slot_wait_cycles: value("longest_slot_wait_cycles")?,
        })
    }
}
