//! What the traffic kernel says of itself.

use super::mux::offset;
use super::traffic::{Traffic, WorkerId};
use super::traffic_launch::{WORDS, WORDS_TYPE};
use super::traffic_lists::KERNEL;
use decode::images::{ImageMap, Spot};
use launch::{ControlError, image};
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// `fabric_traffic_phase_t` of a kernel that has ended, well or not.
const FINISHED: u32 = 4;
const REFUSED: u32 = 6;

/// What a worker says of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficOutcome {
    /// `fabric_traffic_phase_t`.
    pub phase: u32,
    /// Packets handed to a router or mux.
    pub sent: u32,
    /// Packets that had no route.
    pub refused: u32,
    /// Stretches of memory looked at.
    pub arrived: u32,
    /// Words that were not what they should be.
    pub wrong_words: u32,
    /// Packets counted too often, and stretches that did not come.
    pub doubled: u32,
    /// The same.
    pub missing: u32,
    /// Negative acknowledges.
    pub nacks: u32,
    /// Wall clock of the chip: begun, all handed over, ended.
    pub started_cycles: u64,
    /// The same.
    pub sent_cycles: u64,
    /// The same.
    pub finished_cycles: u64,
    /// Wall clock of the chip: the first close was asked for, the last one answered; 0 before.
    pub closing_cycles: u64,
    /// The same.
    pub closed_cycles: u64,
    /// The longest wait for a slot of a router or mux.
    pub longest_slot_wait_cycles: u64,
}

impl TrafficOutcome {
    /// Finished, stopped or refused.
    pub fn is_over(&self) -> bool {
        (FINISHED..=REFUSED).contains(&self.phase)
    }

    /// Everything was sent and has arrived.
    pub fn is_finished(&self) -> bool {
        self.phase == FINISHED
    }
}

impl Traffic {
    /// What a worker says now.
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
        let state = |member: &str| {
            let path = format!("fabric_traffic_state.{member}");
            let missing = |_| ControlError::NoMember(KERNEL.to_owned(), path.clone());
            kernel.symbols.locate(&path).map_err(missing)
        };
        let start = state("phase")?.address();
        let end = state("finished_cycles")?;
        let len = (end.address() + end.field.size - start) as u32;
        let nacks = WORDS + offset(&kernel, &format!("{WORDS_TYPE}.nacks"))?;
        let spans =
            [(start, len), (nacks.into(), 4)].map(|(at, len)| Span { addr: place.at(at), len });
        let snapshot = target.read(&Plan { spans: spans.to_vec() });
        let bytes = |span: Span| {
            let failed = |reason| ControlError::Access { addr: span.addr, reason };
            snapshot.bytes(span.addr, span.len).map_err(failed)
        };
        let (own, nacks) = (bytes(spans[0])?, bytes(spans[1])?);
        let value = |member: &str| {
            let found = state(member)?;
            let outside = || ControlError::NoMember(KERNEL.to_owned(), member.to_owned());
            let at = found.address().checked_sub(start).ok_or_else(outside)? as usize;
            let bytes = own.get(at..at + found.field.size as usize).ok_or_else(outside)?;
            Ok::<u64, ControlError>(Spot::value(bytes))
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
            nacks: Spot::value(nacks) as u32,
            started_cycles: value("started_cycles")?,
            sent_cycles: value("sent_cycles")?,
            finished_cycles: value("finished_cycles")?,
            closing_cycles: value("closing_cycles")?,
            closed_cycles: value("closed_cycles")?,
            longest_slot_wait_cycles: value("longest_slot_wait_cycles")?,
        })
    }
}
