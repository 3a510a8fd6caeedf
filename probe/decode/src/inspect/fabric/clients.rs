//! Decodes the kernels that send through channels of routers and muxes.

use super::site::Site;
use super::words;
use crate::inspect::Inspection;
use crate::state::{
    Activity, ChipState, ClientState, CoreState, FabricPort, FabricState, MuxChannelState,
    MuxState, RouterState, SenderState, Stage,
};
use images::fabric::{
    ClientFacts, ClientLayout, Code, EntryFacts, EntryPlace, Enumeration, Locations as _, Memory,
    Reader, Sender, Word, stream,
};
use images::{Image, ImageRole, Reading};
use layouts::{ChipId, CoreId, CoreKind, EthId, NocXy, TileKind};
use machine::fabric::Direction;
use machine::snapshot::{AccessError, Span};

/// A connection that was found: what it says without the others.
pub(super) struct FoundClient {
    pub(super) at: CoreId,
    image: String,
    name: String,
    pub(super) activity: Reading<Activity>,
    pub(super) waypoint: Reading<String>,
    pub(super) facts: ClientFacts,
    pub(super) to: Option<FabricPort>,
    entry: Option<EntryFacts>,
}

impl FoundClient {
    /// Returns the mux that it sends through.
    pub(super) fn mux(&self) -> Option<CoreId> {
        self.to?.mux()
    }

    pub(super) fn state(self, stage: Option<&'static Stage>) -> ClientState {
        let Self { at, image, name, activity, waypoint, facts, to, entry } = self;
        ClientState { at, image, name, activity, waypoint, facts, to, entry, stage }
    }
}

/// A kernel with connections, being decoded.
pub(super) struct Clients<'a> {
    pub(super) site: Site<'a>,
    pub(super) image: &'a Image,
    pub(super) core: &'a CoreState,
}

impl Clients<'_> {
    /// Returns the connections that the kernel's arguments use, and the spans of their words.
    pub(super) fn found(&self) -> (Vec<FoundClient>, Vec<Span>) {
        let all = self.image.clients.iter().map(|client| (client, client.facts.read(&self.site)));
        let used = all.filter(|(_, facts)| facts.slots.known().is_some_and(|slots| *slots != 0));
        let (states, spans): (_, Vec<_>) = used
            .map(|(client, facts)| {
                (self.client(client, facts), self.site.leads(client.facts.known()))
            })
            .unzip();
        (states, spans.into_iter().flatten().collect())
    }

    fn client(&self, client: &ClientLayout, facts: ClientFacts) -> FoundClient {
        let channel = facts.to_tile.known().zip(facts.stream.known());
        FoundClient {
            at: self.core.id,
            image: self.image.name.clone(),
            name: client.name.clone(),
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            to: channel.and_then(|(tile, id)| port(&self.site, *tile, *id)),
            facts: ClientFacts { used: not_overtaken(facts.used), ..facts },
            entry: None,
        }
    }
}

/// Reason of facts of tt-metal's adapter.
const ON_THE_STACK: &str = "tt-metal's adapter keeps it on the kernel's stack";
const ENDS_NO_MUX: &str = "tt-metal's adapter does not know it";

/// A channel whose client is connected, as its router or mux shows it.
struct Connection<'a> {
    port: FabricPort,
    /// Chip and tile of the router or mux.
    at: (ChipId, NocXy),
    name: String,
    client: NocXy,
    word: &'a Reading<Code>,
    slots: u64,
    /// Packets whose slots were not returned.
    used: Reading<u64>,
    teardown: Reading<u64>,
    /// Whether its close can have been answered without a trace in the word.
    keeps_close_request: bool,
}

impl<'a> Connection<'a> {
    fn of_router(router: &'a RouterState, sender: &'a SenderState) -> Option<Self> {
        Some(Self {
            port: FabricPort::Router { router: router.at, channel: sender.index },
            at: (router.at.chip, router.tile),
            name: format!("connection to e{}", router.at.channel),
            client: sender.client()?,
            word: &sender.facts.connection,
            slots: sender.slots,
            used: sender.facts.queued.clone().map(|queued| queued + sender.in_flight()),
            teardown: sender.facts.client_teardown.clone(),
            keeps_close_request: false,
        })
    }

    fn of_mux(mux: &'a MuxState, channel: &'a MuxChannelState) -> Option<Self> {
        let connection = &channel.facts.connection;
        connection.value().filter(|connection| *connection != 0)?;
        Some(Self {
            port: FabricPort::Mux { mux: mux.at, channel: channel.index },
            at: (mux.at.chip, mux.at.tile),
            name: format!("connection to {}", mux.at.tile),
            client: *channel.facts.client.known()?,
            word: connection,
            slots: *channel.facts.slots.known()?,
            used: channel.facts.queued.clone(),
            teardown: Reading::Absent,
            keeps_close_request: mux.keeps_close_requests(),
        })
    }

    /// Returns the client and the spans of its entry; none if it has closed.
    fn client(
        self,
        view: &Inspection<'_>,
        chips: &[ChipState],
    ) -> Option<(FoundClient, Vec<Span>)> {
        let (chip, to_tile) = self.at;
        let tile = self.client;
        let cores = chips.iter().filter(|state| state.chip.id == chip);
        let cores = cores.flat_map(|state| &state.tiles).filter(|state| state.xy == tile);
        let cores: Vec<_> = cores.flat_map(|tile| &tile.cores).collect();
        let runs = |core: &&&CoreState| core.activity == Reading::Known(Activity::Running);
        let has_kernel = |core: &&&CoreState| kernel(core).is_some();
        let core = cores.iter().filter(runs).find(has_kernel).or_else(|| cores.first());
        let full = self.used.known().is_some_and(|used| *used >= self.slots);
        let closing = self.word.is("CLOSE_CONNECTION_REQUEST");
        if closing && self.keeps_close_request && !core.as_ref().is_some_and(runs) {
            return None;
        }
        let stage = if closing { (1, "CLIENT_CLOSING") } else { (0, "CLIENT_OPEN") };
        let at = core.map_or(CoreId { chip, tile, core: CoreKind::Brisc }, |core| core.id);
        let (entry, spans) = self.entry(&Site { view, chip, tile: at.tile });
        let client = FoundClient {
            at,
            image: core.and_then(|core| kernel(core)).unwrap_or("?").to_owned(),
            name: self.name,
            activity: core.map_or(Reading::Absent, |core| core.activity.clone()),
            waypoint: core.map_or(Reading::Absent, |core| core.waypoint.clone()),
            facts: ClientFacts {
                stage: Reading::Known(Enumeration::new(&[stage]).of_value(stage.0)),
                waits: Reading::Known(full && !closing),
                to_tile: Reading::Known(to_tile),
                slots: Reading::Known(self.slots),
                used: self.used,
                teardown: self.teardown,
                unknown: [
                    ("closed", ENDS_NO_MUX),
                    ("mux_clients", ENDS_NO_MUX),
                    ("sent", ON_THE_STACK),
                    ("termination", ENDS_NO_MUX),
                ]
                .into(),
                ..ClientFacts::default()
            },
            to: Some(self.port),
            entry,
        };
        Some((client, spans))
    }

    /// Returns the entry of its router in the connection table of the client's tile, and its spans.
    fn entry(&self, site: &Site<'_>) -> (Option<EntryFacts>, Vec<Span>) {
        let FabricPort::Router { router: at, .. } = self.port else { return (None, Vec::new()) };
        let place = EntryPlace::new(site.view.layout(), at.channel);
        let Some(place) = place else { return (None, Vec::new()) };
        let (mask, bit) = place.mask();
        let valid = site.word(mask).known().is_some_and(|mask| mask & bit != 0);
        let entry = valid.then(|| place.locations().read(site));
        (entry, words(place.words().into_iter(), site.chip, site.tile))
    }
}

/// Returns the clients that only the connections of routers and muxes show: kernels that keep their
/// end on the stack, as those with tt-metal's adapter do; and the spans of their entries.
pub(super) fn of_connections(
    view: &Inspection<'_>,
    chips: &[ChipState],
    fabric: &FabricState,
    clients: &[FoundClient],
) -> (Vec<FoundClient>, Vec<Span>) {
    let routers = fabric.routers.iter().flat_map(|router| {
        router.senders.iter().filter_map(move |sender| Connection::of_router(router, sender))
    });
    let muxes = fabric.muxes.iter().flat_map(|mux| {
        mux.channels.iter().filter_map(move |channel| Connection::of_mux(mux, channel))
    });
    let is_shown = |port: FabricPort| clients.iter().any(|client| client.to == Some(port));
    let is_tensix =
        |tile: NocXy| view.layout().tile_at(tile).is_some_and(|tile| tile.kind == TileKind::Tensix);
    let found = routers
        .chain(muxes)
        .filter(|found| is_tensix(found.client) && !is_shown(found.port))
        .filter_map(|found| found.client(view, chips));
    let (clients, spans): (_, Vec<_>) = found.unzip();
    (clients, spans.concat())
}

/// Returns a sentence for each fact in which a client's entry and its router differ.
pub(super) fn differences(fabric: &FabricState, clients: &[FoundClient]) -> Vec<String> {
    let mut found = Vec::new();
    for client in clients {
        let (Some(entry), Some(FabricPort::Router { router: at, channel: index })) =
            (&client.entry, client.to)
        else {
            continue;
        };
        let router = fabric.routers.iter().find(|router| router.at == at);
        let sender = router.and_then(|router| router.senders.get(usize::from(index)));
        let Some((router, sender)) = router.zip(sender) else { continue };
        let slots = Reading::Known(sender.slots);
        let (own, tile) = (&sender.facts, Reading::Known(router.tile));
        let mut compare = |fact: &str, table: Option<String>, there: Option<String>| {
            if let Some((table, there)) = table.zip(there).filter(|(table, there)| table != there) {
                found.push(format!(
                    "{} {fact}: {table} by its connection table, {there} by router {at} sender \
                     {index}",
                    client.at
                ));
            }
        };
        compare("tile", shown(&entry.tile), shown(&tile));
        compare("direction", name(&entry.direction), name(&router.facts.direction));
        compare("slots", shown(&entry.slots), shown(&slots));
        compare("slot_bytes", shown(&entry.slot_bytes), shown(&own.slot_bytes));
        compare("slots_address", shown(&entry.slots_address), shown(&own.slots_address));
    }
    found
}

fn shown(reading: &Reading<impl ToString>) -> Option<String> {
    reading.known().map(ToString::to_string)
}

fn name(direction: &Reading<Direction>) -> Option<String> {
    direction.known().map(|direction| direction.name().to_owned())
}

/// Returns the name of a core's kernel.
fn kernel(core: &CoreState) -> Option<&str> {
    let mut kernels = core.images.iter().filter(|image| image.role == ImageRole::Kernel);
    kernels.next().map(|image| image.name.as_str())
}

/// Returns the used slots, at least 0: the count of taken packets is read later and can be ahead.
fn not_overtaken(used: Reading<u64>) -> Reading<u64> {
    used.map(|used| if (used as u32).cast_signed() < 0 { 0 } else { used })
}

/// Returns the channel of a tile whose free slots this stream counts.
fn port(site: &Site<'_>, tile: NocXy, id: u64) -> Option<FabricPort> {
    let found = site.view.layout().tile_at(tile)?;
    let core = |core: CoreKind| CoreId { chip: site.chip, tile, core };
    if found.kind == TileKind::Eth {
        let image = site.view.images.fabric_image(core(CoreKind::Erisc));
        if let Some(router) = image.and_then(|image| image.router.as_ref()) {
            let word = stream(site.view.layout(), TileKind::Eth, id)?;
            let counted = |sender: &&Sender| {
                let free = sender.facts.free_slots.location();
                free.is_some_and(|location| location.is_word(word))
            };
            let sender = router.senders.iter().find(counted)?;
            let at = EthId { chip: site.chip, channel: found.channel? };
            return Some(FabricPort::Router { router: at, channel: sender.index });
        }
    }
    found.kind.cores().iter().find_map(|&kind| {
        let mux = site.view.images.fabric_image(core(kind))?.mux.as_ref()?;
        let there = Site { tile, ..*site };
        let first: Reading<u64> = Reader(&there).fact(mux.facts.first_stream.location());
        let channel = id.checked_sub(*first.known()?)?;
        Some(FabricPort::Mux { mux: core(kind), channel: u8::try_from(channel).ok()? })
    })
}

/// Whether the plan had the words of the image.
pub(super) fn was_read(site: &Site<'_>, word: Word) -> bool {
    site.word(word) != Reading::Unread(AccessError::NotRequested)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_overtaken_between_two_reads_has_nothing_in_flight() {
        for (used, in_flight) in [(2, 2), (0, 0), (0xFFFF_FFFF, 0)] {
            assert_eq!(not_overtaken(Reading::Known(used)), Reading::Known(in_flight), "{used}");
        }
    }
}
