//! Tiles that owe an answer to others: to read one can take its chip along, so that they are found by
//! the requests to them and left alone.

use super::Session;
use decode::requests::Interface;
use diagnosis::LEAST_APART_CYCLES;
use layouts::{NocXy, TileKind};
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Mesh, TargetBus};
use std::collections::BTreeSet;
use std::vec::IntoIter;

/// An interface with requests that were not answered.
struct Waiting {
    place: Place,
    interface: Interface,
    seen: Snapshot,
    on: Vec<NocXy>,
}

impl Session {
    /// Leaves tiles alone of the chips with PCIe that have owed an answer for longer than any takes.
    pub(super) fn leave_silent_tiles_alone(&mut self) {
        if self.target.quarantine().is_none()
            || self.target.bus().is_none_or(TargetBus::leave_silent_tiles_alone)
        {
            return;
        }
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut chips = interfaces(self.target.mesh());
        loop {
            let owes = |at: &Place| {
                waiting.iter().any(|it| it.place.chip == at.chip && it.on.contains(&at.tile))
            };
            // A tile of each chip at once: what owes an answer is found before it is its turn.
            let next = chips.iter_mut().filter_map(|tiles| tiles.find(|(at, _)| !owes(at)));
            let next: Vec<(Place, Vec<Interface>)> = next.collect();
            if next.is_empty() {
                break;
            }
            // Requests without an id of their own have id 0; each counter is a read of its own.
            let first = |it: &Interface| Span { len: 4, ..it.outstanding };
            // Nothing else of the tiles: they may be some that do not answer.
            let spans = next.iter().flat_map(|(_, interfaces)| interfaces).map(first).collect();
            let counters = self.target.read(&Plan { spans });
            self.just_read = counters.completed_by(&self.just_read);
            for (place, interface) in next.into_iter().flat_map(each) {
                let count = counters.word(interface.outstanding.addr);
                if count.is_ok_and(|count| count as u8 != 0) {
                    let (seen, on) = self.requests(&interface);
                    waiting.push(Waiting { place, interface, seen, on });
                }
            }
        }
        waiting.retain(|it| !it.on.is_empty());
        if waiting.is_empty() || self.pass(LEAST_APART_CYCLES).is_err() {
            return;
        }
        let mut silent = BTreeSet::new();
        for Waiting { place, interface, seen, on } in waiting {
            // Who has sent and been answered nothing meanwhile waits for the same tiles.
            let now = self.target.read(&Plan { spans: counts(&interface) });
            let same = |span: &Span| {
                let bytes = |of: &Snapshot| of.bytes(span.addr, span.len).ok().map(<[u8]>::to_vec);
                bytes(&now).is_some_and(|now| Some(now) == bytes(&seen))
            };
            if counts(&interface).iter().all(same) {
                silent.extend(on.into_iter().map(|tile| (Place { tile, ..place }, place.tile)));
            }
        }
        for (place, from) in silent {
            let Place { chip, tile } = place;
            let why = format!(
                "{chip}:{tile} has not answered a request of {chip}:{from}; it is not read, as that could take the chip along"
            );
            if let Some(quarantine) = self.target.quarantine() {
                quarantine.leave_alone(place, AccessError::Hung(why));
            }
        }
    }

    /// Reads an interface; returns its words, and the tiles with cores to which its open requests went.
    fn requests(&mut self, interface: &Interface) -> (Snapshot, Vec<NocXy>) {
        let layout = self.target.mesh().layout();
        let mut spans = counts(interface);
        spans.extend(interface.heads(layout));
        let seen = self.target.read(&Plan { spans });
        let spans = interface.sent_to_one(layout, &seen);
        let seen = self.target.read(&Plan { spans }).completed_by(&seen);
        let open = interface.open(layout, &seen, None);
        let has_cores = |tile: &NocXy| {
            let tile = layout.tile_at(*tile);
            tile.is_some_and(|tile| matches!(tile.kind, TileKind::Tensix | TileKind::Eth))
        };
        let open = open.iter().flatten();
        (seen, open.filter_map(|it| it.to).map(|(tile, _)| tile).filter(has_cores).collect())
    }
}

/// Returns the words that change with each request and each answer.
fn counts(interface: &Interface) -> Vec<Span> {
    interface.counts.iter().copied().chain([interface.outstanding]).collect()
}

fn each((place, interfaces): (Place, Vec<Interface>)) -> impl Iterator<Item = (Place, Interface)> {
    interfaces.into_iter().map(move |interface| (place, interface))
}

/// Returns the interfaces of the tiles with cores of each chip with PCIe, tile by tile.
fn interfaces(mesh: &Mesh) -> Vec<IntoIter<(Place, Vec<Interface>)>> {
    let near = mesh.chips.iter().filter(|chip| chip.pcie);
    near.map(|chip| Interface::of_chip(mesh, chip.id).collect::<Vec<_>>().into_iter()).collect()
}
