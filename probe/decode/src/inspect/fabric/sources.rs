//! Compares what sources say of a router: its ELF, a fabric manifest, and L1.

use super::router::Router;
use super::site::Site;
use images::fabric::{Disagreement, Location, Reader, RouterLayout, StaticInfo, disagreements};
use images::{DescribedRouter, Reading};
use layouts::EthId;
use machine::fabric::{Direction, FabricNode};
use std::fmt::Display;

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

    /// Returns a sentence for each node of the manifest that L1 contradicts.
    pub(super) fn nodes(self, router: &Router<'_>) -> Vec<String> {
        let (own, peer) = self.described.nodes;
        let (facts, manifest) = (&router.facts, format!("by {}", self.manifest()));
        let all = [
            compared(self.at, "node", (&facts.node, "in L1"), (Some(own), &manifest)),
            compared(self.at, "peer", (&facts.peer, "in the handshake in L1"), (peer, &manifest)),
        ];
        all.into_iter().flatten().collect()
    }

    fn manifest(self) -> String {
        format!("{} of the manifest", self.described.name)
    }
}

/// Returns a sentence for each fact of a router that its telemetry contradicts, in which the host
/// has written it too.
pub(super) fn telemetry(router: &Router<'_>, info: &StaticInfo) -> Vec<String> {
    const FROM: &str = "in FabricTelemetry in L1";
    let read = Reader(&router.site);
    let node = |at: &Location| read.fact::<FabricNode>(Some(at));
    let direction: Reading<Direction> = read.fact(Some(&info.direction));
    let (facts, at) = (&router.facts, router.at);
    let own = |reading: &Reading<FabricNode>| reading.known().copied();
    let by = format!("by {}", router.image);
    let towards = facts.direction.known().map(|it| it.name());
    let all = [
        compared(at, "node", (&node(&info.node), FROM), (own(&facts.node), "in its tables")),
        compared(at, "peer", (&node(&info.peer), FROM), (own(&facts.peer), "in the handshake")),
        compared(at, "direction", (&direction.map(Direction::name), FROM), (towards, &by)),
    ];
    all.into_iter().flatten().collect()
}

fn compared<T: Display + PartialEq>(
    at: EthId,
    fact: &str,
    (found, place): (&Reading<T>, &str),
    (expected, source): (Option<T>, &str),
) -> Option<String> {
    let (found, expected) = found.known().zip(expected)?;
    let sentence = || format!("{at} {fact}: {found} {place}, {expected} {source}");
    (*found != expected).then(sentence)
}
