//! The clients' side: every `fabric_client_state_t` that a kernel keeps (tt-metal.md 6).

use super::enumeration::{Enumeration, Enumerator};
use super::fact::facts;
use super::location::{Formula, Location, Locations as _, Structure, Word};
use super::ours::{Members, Names, pair};
use layouts::{ChipLayout, NocXy};
use symbols::{Kind, Symbols, Type};

facts! {
    /// What a kernel says of its connection to a channel of a router or mux.
    struct ClientFacts, located by ClientLocations, in our images by at: ClientNames<'_> {
        /// `fabric_client_stage_t`.
        stage: Enumerator = at.own.at("stage"),
        /// It waits for a free slot of the channel.
        waits: bool = at.own.at("waits"),
        /// The tile of the router or mux.
        to_tile: NocXy = {
            let of = |member| at.own.at(member).map(|location| location.formula);
            pair(Formula::Tile, of("connection.edm_noc_x"), of("connection.edm_noc_y"))
        },
        /// Slots of that channel.
        slots: u64 = at.own.at("connection.num_buffers_per_channel"),
        /// Packets put into it so far, by this client and those before it.
        sent: u64 = at.own.at("write_counter"),
        /// Packets put into it whose slots it has not been given back.
        used: u64 = {
            let sent = at.own.at("write_counter").map(|location| location.formula);
            pair(Formula::Difference, sent, at.word("read_counter"))
        },
        /// Its teardown word: counted up when its close is answered.
        teardown: u64 = at.word("teardown").map(Location::from),
        /// What it does at the end for a mux that it shares: `fabric_traffic_termination_t`.
        termination: Enumerator = at.termination(),
        /// Clients of that mux.
        mux_clients: u64 = at.part("mux_clients"),
        /// How many of them have told their termination master that they have closed.
        closed: u64 = {
            let of = |member| at.own.names.word(&at.part_path(member)?);
            let master = of("master_xy").zip(of("master_address"));
            master.map(|(xy, address)| Formula::Elsewhere(xy, address).into())
        },
        /// The stream of the channel's free slots, at the router or mux.
        #[serde(skip)]
        stream: u64 = at.own.at("connection.worker_free_slots_stream_id"),
    }
}

/// A connection of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct ClientLayout {
    /// The member path in the kernel's global, such as `clients[0]`.
    pub(crate) name: String,
    pub(crate) facts: ClientLocations,
}

/// Asks an image for a connection.
struct ClientNames<'a> {
    own: Members<'a>,
    /// What others write.
    words: Structure,
    /// The arguments of the connection, if the kernel has more than one.
    part: Option<String>,
}

const TYPE: &str = "fabric_client_state_t";
const WORDS: &str = "fabric_client_words_t";
/// The names of the same enumerators begin so in the worker of the collectives.
const CCL: &str = "CCL_";
/// More connections than any kernel has.
const MOST: usize = 64;

impl ClientNames<'_> {
    fn word(&self, member: &str) -> Option<Formula> {
        self.own.names.inside(self.words, &format!("{WORDS}.{member}"))
    }

    fn part_path(&self, member: &str) -> Option<String> {
        Some(format!("{}.{member}", self.part.as_ref()?))
    }

    fn part(&self, member: &str) -> Option<Location> {
        self.own.names.at(&self.part_path(member)?)
    }

    /// By one name, whatever kernel it is of.
    fn termination(&self) -> Option<Location> {
        let path = self.part_path("termination")?;
        let ty = self.own.names.1.locate(&path).ok()?.ty;
        Some(Location { names: Enumeration::of(&ty, CCL), ..self.own.names.at(&path)? })
    }
}

impl ClientLayout {
    /// The connections in the kernel's global.
    pub(crate) fn find(layout: &ChipLayout, symbols: &Symbols, global: &str) -> Vec<Self> {
        let mut found = Vec::new();
        if let (Some(_), Ok(whole)) = (symbols.type_named(TYPE), symbols.locate(global)) {
            walk(&whole.ty, global, &mut found);
        }
        let names = Names(layout, symbols);
        found.iter().filter_map(|path| names.client(global, path)).collect()
    }

    /// Every word of the global that decoding may want.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> {
        self.facts.known().flat_map(Location::words)
    }
}

impl Names<'_> {
    fn client(self, global: &str, path: &str) -> Option<ClientLayout> {
        let index = path.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let at = ClientNames {
            own: self.within(path),
            words: self.structure(WORDS, &format!("{path}.words_address"))?,
            part: index.map(|(index, _)| format!("{global}.args.connection[{index}]")),
        };
        let name = path.strip_prefix(global)?.trim_start_matches('.').to_owned();
        Some(ClientLayout { name, facts: ClientLocations::ours(&at) })
    }
}

/// The paths of all members of the type.
fn walk(ty: &Type, path: &str, found: &mut Vec<String>) {
    if found.len() >= MOST {
        return;
    }
    let plain = ty.plain();
    if plain.name() == TYPE {
        found.push(path.to_owned());
        return;
    }
    match plain.kind() {
        Kind::Record(record) => {
            for member in &record.members {
                if let Some(name) = &member.name {
                    walk(&member.ty, &format!("{path}.{name}"), found);
                }
            }
        }
        Kind::Array(array) => {
            let count = array.count().map_or(0, |count| count.min(MOST as u64));
            let element = array.element.plain();
            if matches!(element.kind(), Kind::Record(_)) {
                (0..count).for_each(|index| walk(element, &format!("{path}[{index}]"), found));
            }
        }
        _ => {}
    }
}
