//! The check after a teardown, that nothing is left and every chip answers, and the report.

use super::Clean;
use super::find::{Search, Standing, has_any_of};
use super::report::{CleanReport, CleanTile, Remains};
use super::steps::is_ethernet;
use images::ImageMap;
use launch::cause::{link_is_down, stuck_cores};
use launch::outcome::RunError;
use launch::reason;
use layouts::{ChipId, EthId};
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Link, Target};
use std::collections::BTreeSet;

impl Clean {
    /// Returns what was found, done and left so far.
    pub(super) fn report(&mut self, target: &dyn Target) -> CleanReport {
        let credits = |place: Place| {
            let words = self.unrest.iter().filter(move |word| Place::from(word.addr) == place);
            words.map(|word| format!("{} is {:#x}", word.what, word.value)).collect()
        };
        let tile = |tile: &Standing| CleanTile {
            place: tile.place,
            found: tile.found.clone(),
            credits: credits(tile.place),
            done: tile.done.clone(),
            left: tile.left.clone(),
        };
        CleanReport {
            tiles: self.tiles.iter().map(tile).collect(),
            lost: self.lost.clone(),
            chips: target.mesh().chips.len(),
            problems: self.problems.clone(),
        }
    }

    /// Notes what still stands on the mesh, and reads a word of every chip.
    pub(super) fn check(
        &mut self,
        after: Search,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), RunError> {
        self.problems.extend(after.problems);
        let stuck = stuck(target, images, &after.tiles)?;
        let escalated = self.settings.escalate;
        for tile in &mut self.tiles {
            if !after.tiles.iter().any(|other| other.place == tile.place) {
                tile.left = None;
            }
        }
        for mut found in after.tiles {
            let place = found.place;
            let credits = after.unrest.iter().filter(|word| Place::from(word.addr) == place);
            let credits: Vec<String> =
                credits.map(|word| format!("{} is {:#x}", word.what, word.value)).collect();
            let behind = if stuck.contains(&place) { Some(behind(target, place)) } else { None };
            let ethernet = is_ethernet(images, place);
            let known = self.tiles.iter().position(|tile| tile.place == place);
            let before = match known.and_then(|index| self.tiles.get_mut(index)) {
                Some(tile) => tile.left.take(),
                None => found.left.take(),
            };
            let where_it_is = (ethernet, found.is_built_in());
            let still = || Remains::still(&found.found, where_it_is, escalated, &credits);
            let left = behind.map(|chips| Remains::stuck(&chips)).or(before).unwrap_or_else(still);
            let left = Some(left.advised(ethernet, escalated));
            match known.and_then(|index| self.tiles.get_mut(index)) {
                Some(tile) => tile.left = left,
                None => self.tiles.push(Standing { left, ..found }),
            }
        }
        self.tiles.sort_by_key(|tile| tile.place);
        self.lost = lost(target, self.only.as_ref());
        self.problems.extend(down(target, self.only.as_ref()));
        Ok(())
    }
}

/// Returns the Ethernet tiles on which something is left and whose core stands still.
fn stuck(
    target: &mut dyn Target,
    images: &ImageMap,
    tiles: &[Standing],
) -> Result<Vec<Place>, RunError> {
    // Only built-in kernels are known to let base firmware beat its heartbeat.
    let built_in = tiles.iter().filter(|tile| tile.is_built_in());
    let ethernet = built_in.map(|tile| tile.place);
    let ethernet: Vec<Place> = ethernet.filter(|place| is_ethernet(images, *place)).collect();
    if ethernet.is_empty() { Ok(Vec::new()) } else { stuck_cores(target, &ethernet) }
}

/// Returns the chips that are reached only through this Ethernet core.
fn behind(target: &dyn Target, place: Place) -> Vec<ChipId> {
    let mesh = target.mesh();
    let is_here = |end: &EthId| mesh.place(*end) == Ok(place);
    let only = |gateway: &Vec<EthId>| !gateway.is_empty() && gateway.iter().all(is_here);
    let chips = mesh.chips.iter().filter(|chip| chip.gateway.as_ref().is_some_and(only));
    chips.map(|chip| chip.id).collect()
}

/// Returns a sentence on each link of these tiles that is down: a queue keeps what it could not
/// send, and sends it into tiles that are idle by then (wormhole.md 5.2).
fn down(target: &mut dyn Target, only: Option<&BTreeSet<Place>>) -> Vec<String> {
    let Some(only) = only else { return Vec::new() };
    let mesh = target.mesh();
    let of_ours = |end: &EthId| mesh.place(*end).is_ok_and(|place| only.contains(&place));
    let links: Vec<Link> =
        mesh.links.iter().filter(|it| of_ours(&it.a) || of_ours(&it.b)).copied().collect();
    let down = links
        .into_iter()
        .filter(|link| [link.a, link.b].into_iter().any(|end| link_is_down(target, end)));
    down.map(|Link { a, b }| {
        format!("link {a}-{b} is down: what was sent over it arrives when it is up again")
    })
    .collect()
}

/// Returns the chips that do not answer, and why: a word of an Ethernet tile of each is read.
fn lost(target: &mut dyn Target, only: Option<&BTreeSet<Place>>) -> Vec<(ChipId, String)> {
    let mesh = target.mesh();
    let heartbeat = mesh.layout().eth.l1.heartbeat.at;
    let word = |chip: ChipId| {
        let place = mesh.place(EthId { chip, channel: 0 }).ok()?;
        Some((chip, Span { addr: place.at(heartbeat), len: 4 }))
    };
    let chips = mesh.chips.iter().map(|chip| chip.id).filter(|chip| has_any_of(*chip, only));
    let words: Vec<_> = chips.filter_map(word).collect();
    let snapshot = target.read(&Plan { spans: words.iter().map(|(_, span)| *span).collect() });
    let lost = |(chip, span): (ChipId, Span)| match snapshot.word(span.addr) {
        Ok(_) => None,
        Err(why @ AccessError::Hung(_)) => Some((chip, format!("{why} (in quarantine)"))),
        Err(why) => Some((chip, reason(&why))),
    };
    words.into_iter().filter_map(lost).collect()
}
