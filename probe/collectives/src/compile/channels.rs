//! EDMs and their message counts, derived from the workers' commands.

use crate::program::{Channel, EdmChannel, EdmPlan, WorkerPlan, flags};
use machine::place::Place;
use std::collections::BTreeMap;

/// Returns the packets of each command of a worker's list, over all slices.
pub(super) fn packets(worker: &WorkerPlan) -> u32 {
    let (whole, rest) = (worker.pages / worker.slice_pages, worker.pages % worker.slice_pages);
    let of = |pages: u32| pages.div_ceil(worker.packet_pages);
    whole * of(worker.slice_pages) + of(rest)
}

/// Returns the number of messages that a worker takes from its inbound channel.
pub(super) fn taken(worker: &WorkerPlan) -> u32 {
    messages(worker, flags::FROM_CHANNEL) + credits(worker, flags::TO_CHANNEL)
}

/// Returns the number of messages that a worker gives to its outbound channel.
pub(super) fn given(worker: &WorkerPlan) -> u32 {
    messages(worker, flags::TO_CHANNEL) + credits(worker, flags::FROM_CHANNEL)
}

fn messages(worker: &WorkerPlan, flag: u16) -> u32 {
    worker.commands.iter().filter(|command| command.flags & flag != 0).count() as u32
        * packets(worker)
}

/// Returns the credits of a socket: one per packet, in the channel of the other direction.
fn credits(worker: &WorkerPlan, flag: u16) -> u32 {
    let of = |flags: u16| flags & flags::CREDIT != 0 && flags & flag != 0;
    worker.commands.iter().filter(|command| of(command.flags)).count() as u32 * packets(worker)
}

/// Returns the EDMs of all channels that workers use. The end that sends on channel 0 begins the
/// handshake.
pub(super) fn edms(workers: &[WorkerPlan]) -> Vec<EdmPlan> {
    let mut channels: BTreeMap<Place, BTreeMap<u32, EdmChannel>> = BTreeMap::new();
    let mut add = |channel: Option<Channel>, sends, messages, worker| {
        let Some(Channel { edm, number }) = channel else { return };
        let channel = EdmChannel { sends, messages, workers: vec![worker] };
        channels.entry(edm).or_default().insert(number, channel);
    };
    for worker in workers {
        add(worker.outbound, true, given(worker), worker.place);
        add(worker.inbound, false, taken(worker), worker.place);
    }
    let plan = |(place, channels): (Place, BTreeMap<u32, EdmChannel>)| EdmPlan {
        place,
        handshake_sender: channels.get(&0).is_some_and(|channel| channel.sends),
        channels: channels.into_values().collect(),
    };
    channels.into_iter().map(plan).collect()
}
