//! What routers report in their status queues: packets that they dropped.

use super::{Case, MOST_LISTED};
use crate::condition::Condition;
use crate::finding::{Evidence, Finding};
use crate::place::Place;
use decode::state::RouterState;
use images::Reading;
use images::fabric::StatusWords;
use layouts::EthId;
use machine::words::counted;

impl Case<'_> {
    /// Returns that routers have dropped packets, if their status queues tell of some. Entries that were
    /// drained have been seen.
    pub(super) fn dropped(&self) -> Option<Finding> {
        let routers = self.last.state.fabric.routers.iter();
        let tells = |it: &&RouterState| it.status_entries.iter().any(StatusWords::is_drop);
        let mut told: Vec<&RouterState> = routers.filter(tells).collect();
        told.sort_by_key(|it| std::cmp::Reverse(it.counts.dropped()));
        let first = told.first()?;
        let sum = |count: fn(&RouterState) -> &Reading<u64>| {
            told.iter().filter_map(|it| count(it).known()).sum::<u64>()
        };
        let reasons = [
            (sum(|it| &it.counts.timed_out), "timed out"),
            (sum(|it| &it.counts.expired), "had lived too long"),
            (sum(|it| &it.counts.routing_errors), "had no way"),
        ];
        let all: u64 = reasons.iter().map(|(count, _)| count).sum();
        let of = |(count, why): &(u64, &str)| (*count > 0).then(|| format!("{count} {why}"));
        let reasons: Vec<String> = reasons.iter().filter_map(of).collect();
        let who = match &told[..] {
            [one] => format!("router {} has", one.at),
            more => format!("{} routers have", more.len()),
        };
        let why = if reasons.is_empty() {
            "no link was left for them".to_owned()
        } else {
            reasons.join(", ")
        };
        let packets =
            if all > 0 { counted(all, "packet", "packets") } else { "packets".to_owned() };
        let words = format!("{who} dropped {packets}: {why}; kernels wait for them in vain");
        let place = Place::Router(first.at);
        let mut finding = Finding::fault(Condition::PacketsDropped, place, words);
        for router in told.iter().take(MOST_LISTED) {
            let newest = router.status_entries.iter().rfind(|it| it.is_drop());
            finding.evidence.extend(newest.map(|entry| self.entry(router.at, entry)));
        }
        Some(finding)
    }

    /// Returns what the router at the end of a link has reported of its going down last.
    pub(super) fn reported_down(&self, end: EthId) -> Option<Evidence> {
        let router = self.last.state.fabric.routers.iter().find(|router| router.at == end)?;
        let is_down = |it: &&StatusWords| it.event.name.as_deref() == Some("EVENT_LINK_DOWN");
        let entry = router.status_entries.iter().rev().find(is_down)?;
        Some(self.entry(end, entry))
    }

    fn entry(&self, router: EthId, entry: &StatusWords) -> Evidence {
        let text = entry.text(self.mesh.layout(), router.chip);
        let value = format!("{}: {text}, wall clock {}", entry.event, entry.wall_clock_cycles);
        Evidence { at: None, name: format!("{router} status entry {}", entry.number), value }
    }
}
