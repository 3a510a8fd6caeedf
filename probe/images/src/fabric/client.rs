//! The facts of a kernel's connections, its `fabric_client_state_t` (tt-metal.md 6).

use super::builtin::{Members, Names, pair};
use super::enumeration::{Enumeration, Enumerator};
use super::fact_table::facts;
use super::location::{Formula, Location, Locations as _, Structure, Word};
use layouts::{ChipLayout, NocXy};
use symbols::{Kind, Symbols, Type};

facts! {
    /// A kernel's connection to a channel of a router or mux.
    struct ClientFacts, located by ClientLocations, in built-in images by at: ClientNames<'_> {
        /// `fabric_client_stage_t`.
        stage: Enumerator = at.own.at("stage"),
        /// Whether it waits for a free slot of the channel.
        waits: bool = at.own.at("waits"),
        /// The tile of the router or mux.
        to_tile: NocXy = {
            let of = |member| at.own.at(member).map(|location| location.formula);
            pair(Formula::Tile, of("connection.edm_noc_x"), of("connection.edm_noc_y"))
        },
        /// Number of slots of the channel.
        slots: u64 = at.own.at("connection.num_buffers_per_channel"),
        /// Packets put into the channel, by this client and earlier ones.
        sent: u64 = at.own.at("write_counter"),
        /// Packets whose slots were not returned yet.
        used: u64 = {
            let sent = at.own.at("write_counter").map(|location| location.formula);
            pair(Formula::Difference, sent, at.word("read_counter"))
        },
        /// The teardown word, incremented when the close is answered.
        teardown: u64 = at.word("teardown").map(Location::from),
        /// Its part in ending a shared mux: `fabric_traffic_termination_t`.
        termination: Enumerator = at.termination(),
        /// Number of clients of the mux.
        mux_clients: u64 = at.part("mux_clients"),
        /// Number of clients that have reported their close to the termination master.
        closed: u64 = {
            let of = |member| at.own.names.word(&at.part_path(member)?);
            let master = of("master_xy").zip(of("master_address"));
            master.map(|(xy, address)| Formula::Elsewhere(xy, address).into())
        },
        /// The stream of the channel's free slots at the router or mux.
        #[serde(skip)]
        stream: u64 = at.own.at("connection.worker_free_slots_stream_id"),
    }
}

/// A connection of a kernel.
#[derive(Clone, Debug)]
pub struct ClientLayout {
    /// The member path in the kernel's global, such as `clients[0]`.
    pub name: String,
    /// The locations of its facts.
    pub facts: ClientLocations,
}

/// Resolves the names of a connection.
struct ClientNames<'a> {
    own: Members<'a>,
    /// The words that router or mux write.
    words: Structure,
    /// Path of the connection's arguments, if the kernel has an array of connections.
    part: Option<String>,
}

const TYPE: &str = "fabric_client_state_t";
const WORDS: &str = "fabric_client_words_t";
/// The prefix of the same enumerators in the worker of the collectives.
const CCL: &str = "CCL_";
/// A bound above the number of connections of any kernel.
const MOST: usize = 64;

impl ClientNames<'_> {
    fn word(&self, member: &str) -> Option<Formula> {
        self.own.names.inside(&self.words, &format!("{WORDS}.{member}"))
    }

    fn part_path(&self, member: &str) -> Option<String> {
        Some(format!("{}.{member}", self.part.as_ref()?))
    }

    fn part(&self, member: &str) -> Option<Location> {
        self.own.names.at(&self.part_path(member)?)
    }

    /// Returns the termination with the same names for all kernels.
    fn termination(&self) -> Option<Location> {
        let path = self.part_path("termination")?;
        let ty = self.own.names.1.locate(&path).ok()?.ty;
        Some(Location { names: Enumeration::of(&ty, CCL), ..self.own.names.at(&path)? })
    }
}

impl ClientLayout {
    /// Finds the connections in the kernel's global.
    pub(crate) fn find(layout: &ChipLayout, symbols: &Symbols, global: &str) -> Vec<Self> {
        let mut found = Vec::new();
        if let (Some(_), Ok(whole)) = (symbols.type_named(TYPE), symbols.locate(global)) {
            walk(&whole.ty, global, &mut found);
        }
        let names = Names(layout, symbols);
        found.iter().filter_map(|path| names.client(global, path)).collect()
    }

    /// Returns every word of the global that decoding needs.
    pub fn words(&self) -> impl Iterator<Item = Word> {
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
        Some(ClientLayout { name, facts: ClientLocations::builtin(&at) })
    }
}

/// Collects the paths of all members of the type.
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
