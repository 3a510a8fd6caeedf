//! What a fabric snapshot says of itself, one sentence each.

use super::document::{Router, Sample, Status};
use super::moment::end;
use layouts::{ChipLayout, EthId};
use std::collections::{BTreeMap, BTreeSet};

/// Routers that a sentence names.
const MOST_NAMED: usize = 8;

/// Returns what is wrong with the routers of a sample, or not known of them.
pub(super) fn remarks(sample: &Sample, layout: &ChipLayout) -> Vec<String> {
    let mut found = Remarks::default();
    for router in &sample.routers {
        found.state(router);
        found.place(router, layout);
        found.heartbeat(router, layout);
    }
    found.0.into_iter().map(|(what, ends)| format!("{}: {what}", listed(&ends))).collect()
}

/// Names the first routers, and counts the others.
fn listed(ends: &BTreeSet<EthId>) -> String {
    let named: Vec<_> = ends.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    match ends.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} others", named.join(", ")),
    }
}

/// The routers of each sentence.
#[derive(Default)]
struct Remarks(BTreeMap<String, BTreeSet<EthId>>);

impl Remarks {
    fn add(&mut self, router: &Router, what: impl Into<String>) {
        self.0.entry(what.into()).or_default().insert(end(router));
    }

    fn state(&mut self, router: &Router) {
        let word = match router.status {
            Status::Ok => return,
            Status::Unreadable => "in part unreadable when it was captured",
            Status::Reset => "in reset when it was captured",
            Status::Torn => "moved while it was captured; streams are shown as read last",
            Status::Unknown => "unknown to the capture",
            Status::Unsupported => "not supported by the capture",
        };
        let why = match router.status {
            Status::Torn => moved(router),
            _ => router.error.clone(),
        };
        self.add(router, why.map_or(word.to_owned(), |why| format!("{word} ({why})")));
    }

    fn place(&mut self, router: &Router, layout: &ChipLayout) {
        if let Err(none) = layout.eth_tile(router.id.eth_chan) {
            self.add(router, format!("its bytes are not shown: {none}"));
        }
        if router.asic_id_matches_physical == Some(false) {
            let asic = router.asic_id.as_deref().unwrap_or("unknown");
            self.add(router, format!("UMD gave ASIC {asic} another number when it was captured"));
        }
        let identity = &router.identity;
        if let (Some(false), Some(mesh), Some(device)) =
            (identity.matches_manifest, identity.my_mesh_id, identity.my_device_id)
        {
            let (own, chip) = (router.id.mesh_id, router.id.chip_id);
            let what = format!("its routing table is of M{mesh}D{device}, not of M{own}D{chip}");
            self.add(router, what);
        }
    }

    /// A router advances if two of its own values differ. Base firmware beats in the same word, so
    /// that a change alone proves nothing.
    fn heartbeat(&mut self, router: &Router, layout: &ChipLayout) {
        let mark = layout.eth.values.heartbeat_router;
        let all: Vec<u32> = router.liveness.iter().filter_map(|beat| beat.heartbeat).collect();
        let own: Vec<_> = all.iter().filter(|beat| **beat >> 16 == u32::from(mark)).collect();
        let rounds = router.liveness.len();
        match own.as_slice() {
            [] | [_] if all.len() > 1 => {
                let what = format!("whether it advances is not known: of its {rounds} heartbeats");
                self.add(router, format!("{what} fewer than two are a router's"));
            }
            [first, others @ ..] if !others.is_empty() && others.iter().all(|it| it == first) => {
                let what = format!("its heartbeat stayed {first:#010x} for {rounds} rounds");
                self.add(router, format!("{what}: it did not advance"));
            }
            _ => {}
        }
    }
}

/// Names the streams that moved between the two reads.
fn moved(router: &Router) -> Option<String> {
    let (before, after) = (&router.streams.pre, &router.streams.post);
    let moved = before.iter().filter(|(id, value)| after.get(id).is_some_and(|it| it != *value));
    let ids: Vec<_> = moved.map(|(id, _)| id.to_string()).collect();
    (!ids.is_empty()).then(|| format!("streams {}", ids.join(", ")))
}
