//! The progress words of the kernels of a collective, found by the members' names.

use super::edm_builder::EDM;
use super::worker::WORKER;
use images::{Image, ImageMap};
use launch::records::variable;
use launch::{ControlError, image};
use symbols::Located;

/// The words read of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// Its phase, by its own enumeration.
    pub(super) phase: u32,
    /// Packets that a worker has taken and given.
    pub(super) packets_in: u32,
    pub(super) packets_out: u32,
    /// Packets of any kind that a worker has begun; read for fills and checks only.
    pub(super) stage: u32,
    /// For a worker: the command in progress, and the signals taken from its partner.
    command: u32,
    signals_taken: u32,
    /// For an EDM, summed over its channels.
    sent: u32,
    acknowledged: u32,
    completed: u32,
    worker_signals: u32,
    /// Low half of the wall clock at the last step; summed over an EDM's channels.
    last_progress: u32,
    /// Times by the wall clock of its chip.
    pub(super) started_cycles: u64,
    pub(super) ready_cycles: u64,
    pub(super) finished_cycles: u64,
    /// Over the fabric: when the other worker had taken everything.
    pub(super) acknowledged_cycles: u64,
}

/// Stores the value of a member.
type Take = fn(&mut Values, u64);

/// The members read of a worker.
const OF_WORKER: [(&str, Take); 10] = [
    ("phase", |values, word| values.phase = word as u32),
    ("command", |values, word| values.command = word as u32),
    ("packets_in", |values, word| values.packets_in = word as u32),
    ("packets_out", |values, word| values.packets_out = word as u32),
    ("signals_taken", |values, word| values.signals_taken = word as u32),
    ("last_progress", |values, word| values.last_progress = word as u32),
    ("started_cycles", |values, word| values.started_cycles = word),
    ("ready_cycles", |values, word| values.ready_cycles = word),
    ("finished_cycles", |values, word| values.finished_cycles = word),
    ("acknowledged_cycles", |values, word| values.acknowledged_cycles = word),
];

/// The additional member read of a worker that fills or checks.
const OF_FILLER: (&str, Take) = ("control.stage", |values, word| values.stage = word as u32);

/// The members read of an EDM, and of each of its channels.
const OF_EDM: [(&str, Take); 4] = [
    ("phase", |values, word| values.phase = word as u32),
    ("started_cycles", |values, word| values.started_cycles = word),
    ("ready_cycles", |values, word| values.ready_cycles = word),
    ("finished_cycles", |values, word| values.finished_cycles = word),
];
const OF_CHANNEL: [(&str, Take); 5] = [
    ("messages_sent", |values, word| values.sent += word as u32),
    ("acknowledged", |values, word| values.acknowledged += word as u32),
    ("completed", |values, word| values.completed += word as u32),
    ("worker_signals", |values, word| values.worker_signals += word as u32),
    ("last_progress", |values, word| {
        values.last_progress = values.last_progress.wrapping_add(word as u32);
    }),
];

/// A member's position in the bytes read.
#[derive(Clone, Copy, Debug)]
struct MemberWord {
    at: usize,
    size: usize,
    take: Take,
}

/// The bytes read of a kernel's state, and the positions of its members.
#[derive(Clone, Debug)]
pub(super) struct StateWords {
    pub(super) start: u64,
    pub(super) len: u32,
    words: Vec<MemberWord>,
}

impl StateWords {
    pub(super) fn of_worker(images: &ImageMap) -> Result<Self, ControlError> {
        let state = KernelState { image: &*image(images, WORKER)?, global: "ccl_worker_state" };
        let members = OF_WORKER.map(|(member, take)| (member.to_owned(), take));
        state.words(&members)
    }

    /// Returns the words of a worker that fills or checks.
    pub(super) fn of_filler(images: &ImageMap) -> Result<Self, ControlError> {
        let state = KernelState { image: &*image(images, WORKER)?, global: "ccl_worker_state" };
        let members = OF_WORKER.into_iter().chain([OF_FILLER]);
        state.words(&members.map(|(member, take)| (member.to_owned(), take)).collect::<Vec<_>>())
    }

    pub(super) fn of_edm(images: &ImageMap) -> Result<Self, ControlError> {
        let state = KernelState { image: &*image(images, EDM)?, global: "edm_state" };
        let mut members = OF_EDM.map(|(member, take)| (member.to_owned(), take)).to_vec();
        for channel in 0..state.find("channels")?.field.count {
            let of = |(member, take)| (format!("channels[{channel}].{member}"), take);
            members.extend(OF_CHANNEL.map(of));
        }
        state.words(&members)
    }

    pub(super) fn read(&self, bytes: &[u8]) -> Values {
        let mut values = Values::default();
        for word in &self.words {
            let mut wide = [0; 8];
            let room = wide.get_mut(..word.size);
            if let (Some(room), Some(part)) = (room, bytes.get(word.at..word.at + word.size)) {
                room.copy_from_slice(part);
            }
            (word.take)(&mut values, u64::from_le_bytes(wide));
        }
        values
    }
}

/// A kernel's global.
struct KernelState<'a> {
    image: &'a Image,
    global: &'static str,
}

impl KernelState<'_> {
    fn find(&self, member: &str) -> Result<Located, ControlError> {
        variable(self.image, &format!("{}.{member}", self.global))
    }

    fn words(&self, members: &[(String, Take)]) -> Result<StateWords, ControlError> {
        let find = |(member, take): &(String, Take)| Ok((self.find(member)?, *take));
        let found = members.iter().map(find).collect::<Result<Vec<_>, ControlError>>()?;
        let starts = found.iter().map(|(place, _)| place.address());
        let ends = found.iter().map(|(place, _)| place.address() + place.field.size);
        let none = || ControlError::NoMember(self.image.name.clone(), self.global.to_owned());
        let start = starts.min().ok_or_else(none)? & !3;
        let end = ends.max().ok_or_else(none)?.next_multiple_of(4);
        let word = |(place, take): &(Located, Take)| MemberWord {
            at: (place.address() - start) as usize,
            size: place.field.size.min(8) as usize,
            take: *take,
        };
        Ok(StateWords { start, len: (end - start) as u32, words: found.iter().map(word).collect() })
    }
}
