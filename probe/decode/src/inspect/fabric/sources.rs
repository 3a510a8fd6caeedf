//! Compares what a fabric manifest says of a router with the router's ELF and with L1.

use super::site::Site;
use crate::fabric::{Disagreement, Location, Reader, RouterLayout, StaticInfo, disagreements};
use crate::images::DescribedRouter;
use crate::state::{Reading, RouterState};
use layouts::EthId;
use machine::fabric::{Direction, FabricNode};
use std::fmt::Display;

/// `FABRIC_TELEMETRY_VERSION` (tt-metal.md 4.2): the host has written the constant part.
const TELEMETRY_VERSION: u64 = 1;

/// A router and its description in a manifest.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) site: Site<'a>,
    pub(super) at: EthId,
    pub(super) described: &'a DescribedRouter,
}

impl Sources<'_> {
    /// Returns a sentence for each fact that stands elsewhere by the image, whose text in L1 has
    /// proved it.
    pub(super) fn differences(self, image: &str, layout: &RouterLayout) -> Vec<String> {
        let both = [layout, &self.described.layout];
        let found = disagreements(self.site.view.layout(), &self.site, both).into_iter();
        let sentence = |Disagreement { fact, said: [own, other] }| {
            format!("{} {fact}: {own} by the ELF {image}, {other} by {}", self.at, self.manifest())
        };
        found.map(sentence).collect()
    }

    /// Returns a sentence for each fact of a decoded router that L1 contradicts: nodes in its tables
    /// and in its handshake, and what the host wrote into its telemetry.
    pub(super) fn contradictions(self, router: &RouterState) -> Vec<String> {
        let DescribedRouter { nodes: (own, peer), layout, .. } = self.described;
        let facts = &router.facts;
        let words = [
            self.compared("node", &facts.node, Some(*own), "L1"),
            self.compared("peer", &facts.peer, *peer, "the handshake in L1"),
        ];
        let info = layout.static_info.iter().flat_map(|info| self.telemetry(info, layout));
        words.into_iter().flatten().chain(info).collect()
    }

    fn telemetry(self, info: &StaticInfo, layout: &RouterLayout) -> Vec<String> {
        const FROM: &str = "FabricTelemetry in L1";
        let read = Reader(&self.site);
        if read.fact::<u64>(Some(&info.version)) != Reading::Known(TELEMETRY_VERSION) {
            return Vec::new();
        }
        let node = |at: &Location| read.fact::<FabricNode>(Some(at));
        let (own, peer) = self.described.nodes;
        let direction: Reading<Direction> = read.fact(layout.facts.direction.location());
        let found: Reading<Direction> = read.fact(Some(&info.direction));
        let found = found.map(Direction::name);
        let all = [
            self.compared("node", &node(&info.node), Some(own), FROM),
            self.compared("peer", &node(&info.peer), peer, FROM),
            self.compared("direction", &found, direction.known().map(|it| it.name()), FROM),
        ];
        all.into_iter().flatten().collect()
    }

    fn compared<T: Display + PartialEq>(
        self,
        fact: &str,
        found: &Reading<T>,
        expected: Option<T>,
        place: &str,
    ) -> Option<String> {
        let (found, expected) = found.known().zip(expected)?;
        let (at, manifest) = (self.at, self.manifest());
        let sentence = || format!("{at} {fact}: {found} in {place}, {expected} by {manifest}");
        (*found != expected).then(sentence)
    }

    fn manifest(self) -> String {
        format!("{} of the manifest", self.described.name)
    }
}
