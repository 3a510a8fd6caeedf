//! The words in which kernels count their work, and whether they move.

use super::Staged;
use images::{ImageMap, Member};
use launch::image;
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;
use workloads::scene::SceneError;

/// Words of the kernels that change only when a kernel gets something done.
const WORK: [(&str, &[&str]); 9] = [
    ("edm", &["edm_state.channels[*].messages_sent", "edm_state.channels[*].completed"]),
    (
        "ccl_worker",
        &[
            "ccl_worker_state.packets_in",
            "ccl_worker_state.packets_out",
            "ccl_worker_state.signals_sent",
            "ccl_worker_state.slice",
        ],
    ),
    ("ring_ping", &["ring_ping_state.sent", "ring_ping_state.received"]),
    ("tensix_worker", &["tensix_worker_state.iterations"]),
    ("dispatch", &["dispatch_state.dispatch_progress"]),
    ("fabric_traffic", &["fabric_traffic_state.packets_sent", "fabric_traffic_state.arrived"]),
    (
        "fabric_router",
        &[
            "fabric_router_state.senders[*].packets_sent",
            "fabric_router_state.senders[*].packets_completed",
        ],
    ),
    ("link_race", &["link_race_state.messages", "link_race_state.credits"]),
    ("fabric_mux", &["fabric_mux_state.channels[*].packets_forwarded"]),
];
/// Most elements of an array of channels.
const MOST_CHANNELS: usize = 8;

/// Whether the words of a run's work changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// Words that could be read both times.
    pub read: usize,
    /// Words that changed.
    pub changed: usize,
}

impl Staged {
    /// Reads the words of the run's work before and after some time.
    ///
    /// # Errors
    /// When time cannot pass.
    pub fn movement(&mut self, cycles: u64) -> Result<Movement, AccessError> {
        let before = look(&mut self.target, &self.work);
        self.target.pass(cycles)?;
        let after = look(&mut self.target, &self.work);
        let both = || before.iter().zip(&after).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        Ok(Movement { read: both().count(), changed: both().filter(|(a, b)| a != b).count() })
    }
}

/// Returns the words; none for one that cannot be read.
pub(super) fn look(target: &mut dyn Target, work: &[Span]) -> Vec<Option<u64>> {
    let snapshot = target.read(&Plan { spans: work.to_vec() });
    let value = |span: &Span| snapshot.bytes(span.addr, span.len).ok().map(Member::value);
    work.iter().map(value).collect()
}

/// Returns the words in which a kernel on a tile counts its work.
///
/// # Errors
/// When it has none.
pub(super) fn words(
    images: &ImageMap,
    place: Place,
    kernel: &str,
) -> Result<Vec<Span>, SceneError> {
    let symbols = &image(images, kernel)?.symbols;
    let paths = WORK.iter().find(|(name, _)| kernel.starts_with(name)).map(|(_, paths)| *paths);
    let mut words = Vec::new();
    for path in paths.into_iter().flatten() {
        let elements = if path.contains('*') { MOST_CHANNELS } else { 1 };
        for index in 0..elements {
            // Arrays of different images differ in length.
            let found = symbols.locate(&path.replace('*', &index.to_string()));
            let Ok(found) = found else { break };
            let (addr, len) = (place.at(found.address()), found.field.size as u32);
            words.push(Span { addr, len });
        }
    }
    let none = || SceneError::Image(format!("{kernel} does not count its work"));
    if words.is_empty() { Err(none()) } else { Ok(words) }
}
