//! Decodes routers, muxes and clients by the names of their images, and joins the credits of both
//! ends of a link.

mod bounds;
mod clients;
mod connection;
mod head;
mod ledger;
mod mux;
mod path;
mod router;
mod site;
mod sources;
mod stage_words;
mod status;
mod tables;
mod waits;

pub use path::fabric_routes;
pub use stage_words::stage_words;

use super::{Inspection, ReadSet};
use crate::state::{Activity, ChipState, CoreState, FabricState, HeadState, LinkState};
use clients::{Clients, FoundClient, was_read};
use images::fabric::{ClientLayout, MuxLayout, RouterLayout, Word};
use images::{Image, Reading, RouterSource, SourceKind};
use layouts::{ChipId, ChipLayout, EthId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Span};
use machine::target::Mesh;
use mux::Mux;
use router::Router;
use site::Site;
use sources::Sources;
use status::StatusQueue;
use std::collections::BTreeSet;
use tables::Tables;

impl Inspection<'_> {
    /// Decodes the fabric from the snapshot.
    pub(super) fn fabric(
        &self,
        chips: &[ChipState],
        links: &[LinkState],
        cycles: u64,
    ) -> FabricState {
        let (mut fabric, mut routers) = (FabricState::default(), Vec::new());
        let mut clients = Vec::new();
        for chip in chips {
            for tile in &chip.tiles {
                for core in &tile.cores {
                    let site = Site { view: self, chip: core.id.chip, tile: core.id.tile };
                    let image = self.images.fabric_image(core.id);
                    if let Some(eth) = &tile.eth {
                        let at = EthId { chip: site.chip, channel: eth.channel };
                        routers.extend(find_router(site, at, image, core, &mut fabric));
                    }
                    if let Some(image) = image {
                        clients.extend(collect(site, image, core, &mut fabric));
                    }
                }
            }
        }
        routers.sort_by_key(|router| router.at);
        fabric.tables.sort_by_key(|tables| tables.at);
        // What ended routers left in L1 leads nowhere once others run.
        let running: BTreeSet<EthId> =
            routers.iter().filter(|it| it.routes()).map(|it| it.at).collect();
        let counts = |at: EthId| running.is_empty() || running.contains(&at);
        fabric.tables.retain(|tables| counts(tables.at));
        let planes = path::planes(self.mesh, routers.iter().filter(|it| counts(it.at)));
        let of = |at: EthId| routers.iter().find(|router| router.at == at);
        let senders = routers.iter().map(|it| it.senders(peer(self.mesh, it.at).and_then(of)));
        let senders: Vec<_> = senders.collect();
        let states = routers.into_iter().zip(senders);
        fabric.routers = states.map(|(it, senders)| it.state(&planes, senders)).collect();
        let (found, spans) = clients::of_connections(self, chips, &fabric, &clients);
        clients.extend(found);
        clients.sort_by_key(|client| client.at);
        fabric.leads.spans.extend(spans);
        fabric.findings.extend(clients::differences(&fabric, &clients));
        fabric.ledgers = ledger::join(self, &fabric.routers);
        let FabricState { routers, muxes, leads, .. } = &mut fabric;
        let senders = routers.iter().flat_map(|router| {
            let last = router.senders.iter().filter_map(|sender| sender.facts.last_client.known());
            last.map(|tile| (router.at.chip, *tile))
        });
        let channels = muxes.iter().flat_map(|mux| {
            let clients = mux.channels.iter().filter_map(|channel| channel.facts.client.known());
            clients.map(|tile| (mux.at.chip, *tile))
        });
        leads
            .tiles
            .extend(senders.chain(channels).filter(|(_, tile)| has_cores(self.layout(), *tile)));
        leads.tiles.sort_unstable();
        leads.tiles.dedup();
        let stages = clients.iter().map(|client| connection::stage(&fabric, &clients, client));
        let stages: Vec<_> = stages.collect();
        let states = clients.into_iter().zip(stages);
        fabric.clients = states.map(|(client, stage)| client.state(stage)).collect();
        fabric.waits = waits::find(&fabric, self.mesh, chips, links, cycles);
        fabric
    }
}

/// Finds a router, by its image or by a manifest, or else by what it publishes.
fn find_router<'a>(
    site: Site<'a>,
    at: EthId,
    image: Option<&'a Image>,
    core: &'a CoreState,
    fabric: &mut FabricState,
) -> Option<Router<'a>> {
    let images = site.view.images;
    if let Some(source) = images.router_source(core.id, image) {
        return read_router(site, at, core, source, fabric);
    }
    // A kernel can be there, and what it is is not known.
    let can_be = match &core.activity {
        Reading::Known(activity) => [Activity::Running, Activity::Done].contains(activity),
        // Without the ELF of the application firmware, or its words, that is not known.
        Reading::Absent | Reading::Unknown(_) => true,
        Reading::Unread(why) => {
            matches!(why, AccessError::NotRequested | AccessError::NotRecorded)
        }
    };
    if !can_be || images.has_described_kernel(core.id) {
        return None;
    }
    let source = images.unknown_router();
    fabric.leads.spans.extend(words(source.layout.words(), site.chip, site.tile));
    read_router(site, at, core, source, fabric)
}

fn read_router<'a>(
    site: Site<'a>,
    at: EthId,
    core: &'a CoreState,
    RouterSource { name, layout, kind }: RouterSource<'a>,
    fabric: &mut FabricState,
) -> Option<Router<'a>> {
    let router = Router::read(site, at, core, (name, layout))?;
    let images = site.view.images;
    let is_manifest = kind == SourceKind::Manifest;
    if let Some(other) = images.other_kernel(core.id).filter(|_| is_manifest) {
        let sentence = format!("{at}: the kernel {other} runs there, {name} by the manifest");
        fabric.findings.push(sentence);
        return None;
    }
    match kind {
        SourceKind::Image => Some(""),
        SourceKind::Manifest => router.facts.status.name(),
        SourceKind::FixedAreas => router.facts.postcode.name(),
    }?;
    if let Some(described) = images.described(core.id) {
        let sources = Sources { site, at, described };
        if kind == SourceKind::Image {
            fabric.findings.extend(sources.differences(name, layout));
        }
        fabric.findings.extend(sources.nodes(&router));
    }
    let info = layout.static_info.iter();
    fabric.findings.extend(info.flat_map(|info| sources::telemetry(&router, info)));
    fabric.leads.spans.extend(router.status().iter().flat_map(StatusQueue::spans));
    let tables = layout.tables.iter().map(|layout| Tables { site, layout, at });
    fabric.leads.spans.extend(site.leads(layout.locations()));
    fabric.leads.tables.extend(tables.clone().map(|tables| tables.span()));
    fabric.tables.extend(tables.filter_map(|tables| tables.state()));
    Some(router)
}

/// Adds a mux; returns the connections of a client, or of a mux that is also a client.
fn collect(
    site: Site<'_>,
    image: &Image,
    core: &CoreState,
    fabric: &mut FabricState,
) -> Vec<FoundClient> {
    if let Some(layout) = image.mux.as_ref().filter(|mux| was_read(&site, mux.first_word)) {
        let mux = Mux::new(site, image, layout, core);
        fabric.leads.spans.extend(mux.spans());
        fabric.muxes.push(mux.state());
    }
    let (clients, spans) = Clients { site, image, core }.found();
    fabric.leads.spans.extend(spans);
    clients
}

/// Returns the other end of a link.
pub(super) fn peer(mesh: &Mesh, at: EthId) -> Option<EthId> {
    mesh.links.iter().find_map(|link| link.other_end(at))
}

/// Whether a client can run on the tile.
fn has_cores(layout: &ChipLayout, tile: NocXy) -> bool {
    layout.tile_at(tile).is_some_and(|tile| !tile.kind.cores().is_empty())
}

/// Returns the spans of a router, mux or client, without packet headers in slots and without words
/// whose addresses must be read first.
pub(super) fn spans(image: &Image, chip: ChipId, tile: NocXy) -> Vec<Span> {
    let router = image.router.iter().flat_map(RouterLayout::words);
    let mux = image.mux.iter().flat_map(MuxLayout::words);
    let clients = image.clients.iter().flat_map(ClientLayout::words);
    words(router.chain(mux).chain(clients), chip, tile)
}

/// Returns the spans of words of a tile, each once.
pub(super) fn words(words: impl Iterator<Item = Word>, chip: ChipId, tile: NocXy) -> Vec<Span> {
    let span =
        |word: Word| Span { addr: NocAddr { chip, tile, offset: word.addr }, len: word.size };
    words.collect::<BTreeSet<Word>>().into_iter().map(span).collect()
}

/// Returns the read set of the next snapshot, with all leads of this one and the oldest packets of
/// all channels. It is unchanged if there is nothing new: then everything has been read.
#[must_use]
pub fn fabric_read_set(state: &FabricState, requested: &ReadSet) -> ReadSet {
    let mut tiles = requested.fabric_tiles.clone();
    tiles.extend(state.leads.tiles.iter().copied());
    tiles.sort_unstable();
    tiles.dedup();
    let tables = state.leads.tables.iter().filter(|_| requested.fabric_tables);
    let spans =
        state.leads.spans.iter().chain(tables).copied().chain(fabric_heads(state)).collect();
    ReadSet { fabric: true, fabric_tiles: tiles, spans, ..requested.clone() }
}

/// Returns the spans of the headers of all channels' oldest packets, for the next snapshot.
pub fn fabric_heads(state: &FabricState) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut add = |chip, tile, head: &HeadState| {
        let addr = NocAddr { chip, tile, offset: head.addr };
        spans.push(Span { addr, len: head.bytes });
    };
    for router in &state.routers {
        let senders = router.senders.iter().map(|channel| (&channel.head, &channel.candidates));
        let receivers = router.receivers.iter().map(|channel| (&channel.head, &channel.candidates));
        for (head, candidates) in senders.chain(receivers) {
            head.iter().chain(candidates).for_each(|head| add(router.at.chip, router.tile, head));
        }
    }
    for mux in &state.muxes {
        let heads =
            mux.channels.iter().flat_map(|channel| channel.head.iter().chain(&channel.candidates));
        heads.for_each(|head| add(mux.at.chip, mux.at.tile, head));
    }
    spans
}
