//! The words that decide the stages of parties: a stage changes only with one of them.

use super::site::Site;
use super::words;
use crate::inspect::{Inspection, TargetFacts};
use crate::state::{PROTOCOLS, Sign};
use images::fabric::{Location, Locations};
use images::{Image, ImageMap};
use layouts::{ChipId, CoreId, NocXy};
use machine::snapshot::{Snapshot, Span};
use machine::target::Mesh;
use std::collections::BTreeSet;

/// Members of the global of a built-in kernel that its stage, or that of a channel of it, is found by.
const MEMBERS: [&str; 6] =
    [".phase", ".control.stage", ".messages_sent", ".completed", ".worker_signals", ".done"];

/// Returns the words in the L1 of some tiles that decide the stages of the parties there: of
/// [`FabricState::party_tiles`](crate::state::FabricState::party_tiles) all that decide those of its
/// cores. The snapshot has the pointers to some of them.
pub fn stage_words(
    snapshot: &Snapshot,
    mesh: &Mesh,
    images: &ImageMap,
    tiles: &BTreeSet<(ChipId, NocXy)>,
) -> Vec<Span> {
    let view = Inspection { snapshot, mesh, images, facts: &TargetFacts::default() };
    let facts: BTreeSet<&str> = PROTOCOLS
        .iter()
        .flat_map(|protocol| protocol.stages.iter().flat_map(|stage| stage.signs))
        .map(|sign| match sign {
            Sign::Is(fact, _) | Sign::Zero(fact) | Sign::Set(fact) | Sign::At(fact, _) => *fact,
        })
        .collect();
    let mut found = BTreeSet::new();
    for &(chip, tile) in tiles {
        let site = Site { view: &view, chip, tile };
        let Some(kind) = mesh.layout().tile_at(tile).map(|tile| tile.kind) else { continue };
        for &core in kind.cores() {
            let core = CoreId { chip, tile, core };
            found.extend(of_core(site, core, &facts));
        }
    }
    let is_l1 = |span: &Span| {
        let layout = mesh.layout();
        let bytes = layout.tile_at(span.addr.tile).and_then(|tile| layout.l1_bytes(tile.kind));
        bytes.is_some_and(|bytes| span.addr.offset + u64::from(span.len) <= bytes)
    };
    found.into_iter().filter(is_l1).collect()
}

fn of_core(site: Site<'_>, core: CoreId, facts: &BTreeSet<&str>) -> Vec<Span> {
    let images = site.view.images;
    let word = |at: u64, len: u32| Span { addr: site.at(at), len };
    let mut found = Vec::new();
    if let Some((mailbox, _)) = images.mailbox_of(core) {
        let (go, bytes) = mailbox.go_word();
        found.extend([word(mailbox.waypoint(core.core), 4), word(go, bytes)]);
    }
    let loads = images.resolved(core);
    for image in loads.iter().map(|load| load.image) {
        let members = image.state.iter();
        let members = members.filter(|it| MEMBERS.iter().any(|end| it.name.ends_with(end)));
        found.extend(members.map(|member| word(member.addr, member.size)));
        found.extend(of_facts(site, locations(image, facts)));
    }
    if let Some(described) = images.described(core) {
        found.extend(of_facts(site, named(&described.layout.facts, facts)));
    }
    found
}

/// The locations of the facts with these names, of the parties that an image is.
fn locations<'a>(image: &'a Image, names: &BTreeSet<&str>) -> Vec<&'a Location> {
    let router = image.router.iter().flat_map(|router| named(&router.facts, names));
    let mux = image.mux.iter().flat_map(|mux| {
        let channels = mux.channels.iter().flat_map(Locations::known);
        named(&mux.facts, names).into_iter().chain(channels)
    });
    let clients = image.clients.iter().flat_map(|client| named(&client.facts, names));
    router.chain(mux).chain(clients).collect()
}

fn named<'a>(of: &'a impl Locations, names: &BTreeSet<&str>) -> Vec<&'a Location> {
    let named = of.each().filter(|(name, _)| names.contains(name));
    named.filter_map(|(_, located)| located.location()).collect()
}

/// The words of facts, also those whose addresses are in others.
fn of_facts(site: Site<'_>, locations: Vec<&Location>) -> Vec<Span> {
    let own = words(locations.iter().flat_map(|it| it.words()), site.chip, site.tile);
    let behind = site.leads(locations.into_iter());
    own.into_iter().chain(behind.into_iter().filter(|span| span.len <= 8)).collect()
}
