//! Compares the two sources of a router's locations, its ELF and the fabric manifest, and what L1
//! says of its nodes.

use crate::fabric::{Formula, Located, Locations, RouterLayout};
use crate::images::DescribedRouter;
use crate::state::RouterState;
use layouts::EthId;

/// A router in two sources.
pub(super) struct Sources<'a> {
    pub(super) at: EthId,
    /// The name of the image, and its locations: the text in L1 has proved it.
    pub(super) image: (&'a str, &'a RouterLayout),
    /// The path in the manifest, and the locations there.
    pub(super) manifest: (&'a str, &'a RouterLayout),
}

impl Sources<'_> {
    /// Returns a sentence for each constant and each word that differs.
    pub(super) fn differences(&self) -> Vec<String> {
        let ((_, own), (_, other)) = (self.image, self.manifest);
        let mut found = self.compared("", &own.facts, &other.facts);
        let counts = [
            ("sender channels", own.senders.len(), other.senders.len()),
            ("receiver channels", own.receivers.len(), other.receivers.len()),
        ];
        let differing = counts.into_iter().filter(|(_, own, other)| own != other);
        found.extend(
            differing.map(|(what, own, other)| {
                self.sentence(what, &own.to_string(), &other.to_string())
            }),
        );
        for (own, other) in own.senders.iter().zip(&other.senders) {
            let name = format!("sender {} ", own.index);
            found.extend(self.compared(&name, &own.facts, &other.facts));
        }
        for (own, other) in own.receivers.iter().zip(&other.receivers) {
            let name = format!("receiver {} ", own.index);
            found.extend(self.compared(&name, &own.facts, &other.facts));
        }
        for own in &own.downstream {
            let same = |other: &&crate::fabric::Edge| {
                (other.direction, other.virtual_channel) == (own.direction, own.virtual_channel)
            };
            if let Some(other) = other.downstream.iter().find(same) {
                let name = format!("edge {} ", own.direction.name());
                found.extend(self.compared(&name, &own.facts, &other.facts));
            }
        }
        found
    }

    /// Returns a sentence if the nodes in L1 are not those of the manifest.
    pub(super) fn nodes(router: &RouterState, described: &DescribedRouter) -> Vec<String> {
        let (own, peer) = described.nodes;
        let facts = &router.facts;
        let pairs = [("node", &facts.node, Some(own)), ("peer", &facts.peer, peer)];
        let differing = pairs.into_iter().filter_map(|(what, found, expected)| {
            let (found, expected) = found.known().zip(expected)?;
            let (at, path) = (router.at, &described.name);
            let words =
                || format!("{at} {what}: {found} in L1, {expected} by {path} of the manifest");
            (*found != expected).then(words)
        });
        differing.collect()
    }

    fn compared<L: Locations>(&self, part: &str, own: &L, other: &L) -> Vec<String> {
        let both = own.each().zip(other.each());
        let differing = both.filter_map(|((name, own), (_, other))| {
            let (own, other) = shown(own).zip(shown(other)).filter(|(own, other)| own != other)?;
            Some(self.sentence(&format!("{part}{name}"), &own, &other))
        });
        differing.collect()
    }

    fn sentence(&self, what: &str, own: &str, other: &str) -> String {
        let (at, image, path) = (self.at, self.image.0, self.manifest.0);
        format!("{at} {what}: {own} by the ELF {image}, {other} by {path} of the manifest")
    }
}

/// Shows a location that can be compared: a constant, or a word at a known address. An address that
/// is itself read is compared by nobody: both sources lead to the same word or not.
fn shown(located: &Located) -> Option<String> {
    match located.location()?.formula {
        Formula::Constant(value) => Some(value.to_string()),
        Formula::Word(word) => Some(format!("the word at {:#x}", word.addr)),
        _ => None,
    }
}
