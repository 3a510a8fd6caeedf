//! Ethernet cores on which no kernel runs, and whose firmware has stopped.

use super::Case;
use crate::condition::Condition;
use crate::finding::{Confidence, Finding};
use crate::look::Look;
use crate::place::Place;
use decode::state::Activity;
use images::Reading;
use layouts::{CoreId, EthId};
use machine::words::counted;
use std::collections::BTreeMap;

/// The heartbeat of an Ethernet core under firmware, and whether that is base firmware only.
type Beat = (bool, u32);

impl Case<'_> {
    /// Returns the cores whose heartbeat stands while that of others under the same firmware moves.
    pub(super) fn stopped_firmware(&self) -> Vec<Finding> {
        let beats: Vec<BTreeMap<CoreId, Beat>> =
            self.looks.iter().map(|look| self.beats(*look)).collect();
        let Some((last, before)) = beats.split_last() else { return Vec::new() };
        let under = |core: &CoreId, firmware: bool| {
            before.iter().all(|then| then.get(core).is_some_and(|beat| beat.0 == firmware))
        };
        let watched = last.iter().filter(|(core, beat)| under(core, beat.0));
        let (still, moving): (Vec<_>, Vec<_>) = watched
            .partition(|(core, beat)| before.iter().all(|then| then.get(core) == Some(beat)));
        let others = |firmware: bool| moving.iter().filter(|(_, beat)| beat.0 == firmware).count();
        let found = still.into_iter().filter_map(|(core, (base, beat))| {
            let others = others(*base);
            let firmware = if *base { "base firmware" } else { "firmware" };
            let words = format!(
                "core {core}: its {firmware} has stopped: its heartbeat stays {beat:#010x}, and it moves on {}",
                counted(others as u64, "other core", "other cores")
            );
            let mut finding = Finding::fault(Condition::CoreStuck, Place::Core(*core), words);
            finding.confidence = Confidence::Likely;
            finding.evidence = self.evidence(*core);
            (others > 0).then_some(finding)
        });
        found.collect()
    }

    /// Returns the heartbeats of the Ethernet cores that have a link and run no kernel. On a port
    /// without one, tt-metal runs firmware that has no heartbeat.
    fn beats(&self, look: Look<'_>) -> BTreeMap<CoreId, Beat> {
        let has_link =
            |end: EthId| self.mesh.links.iter().any(|link| link.a == end || link.b == end);
        let linked = look.cores().filter(|(_, end)| end.is_some_and(has_link));
        let beat = linked.filter_map(|(core, _)| {
            let base = match core.activity.known()? {
                Activity::BaseFirmware => true,
                // The host sets it before the application begins.
                Activity::Waiting if core.waypoint == Reading::Known("XXXX".to_owned()) => true,
                Activity::Waiting | Activity::Done => false,
                Activity::Running | Activity::InReset => return None,
            };
            Some((core.id, (base, *core.heartbeat.known()?)))
        });
        beat.collect()
    }
}
