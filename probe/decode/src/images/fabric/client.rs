//! The clients' side: every `fabric_client_state_t` that a kernel keeps (tt-metal.md 6).

use super::names::{Names, Word};
use layouts::ChipLayout;
use symbols::{Field, Kind, Symbols, Type};

/// One connection of a kernel to a channel of a router or mux.
#[derive(Clone, Debug)]
pub struct ClientPlace {
    /// The member path in the kernel's global, such as `clients[0]`.
    pub(crate) name: String,
    pub(crate) x: Word,
    pub(crate) y: Word,
    pub(crate) stream: Option<Word>,
    pub(crate) slots: Option<Word>,
    pub(crate) words_address: Word,
    pub(crate) stage: Option<Word>,
    pub(crate) write_counter: Option<Word>,
    pub(crate) waits: Option<Word>,
    /// What it does at the end for a mux that it shares.
    pub(crate) termination: Option<Word>,
    /// Clients of that mux.
    pub(crate) mux_clients: Option<Word>,
    /// The tile of their termination master (`x | y << 16`), and where it counts those that have told it that they have closed.
    pub(crate) master_xy: Option<Word>,
    pub(crate) master_address: Option<Word>,
}

/// A kernel's connections.
#[derive(Clone, Debug)]
pub struct ClientLayout {
    pub(crate) places: Vec<ClientPlace>,
    pub(crate) stages: Vec<(u64, &'static str)>,
    pub(crate) terminations: Vec<(u64, &'static str)>,
    /// What others write: a `fabric_client_words_t` at `words_address`.
    pub(crate) words_bytes: u64,
    pub(crate) read_counter: Option<Field>,
    pub(crate) teardown: Option<Field>,
}

const TYPE: &str = "fabric_client_state_t";
const WORDS: &str = "fabric_client_words_t";
const STAGES: [&str; 4] = ["CLIENT_CLOSED", "CLIENT_OPENING", "CLIENT_OPEN", "CLIENT_CLOSING"];
const TERMINATIONS: [&str; 3] = ["ENDS_NOTHING", "TELLS_MASTER", "TERMINATION_MASTER"];
/// The same of the worker of the collectives.
const CCL_TERMINATIONS: [&str; 3] =
    ["CCL_ENDS_NOTHING", "CCL_TELLS_MASTER", "CCL_TERMINATION_MASTER"];
/// More connections than any kernel has.
const MOST: usize = 64;

impl ClientLayout {
    /// The connections in the kernel's global; `None` for an image that has none.
    pub(in crate::images) fn find(
        layout: &ChipLayout,
        symbols: &Symbols,
        global: &str,
    ) -> Option<Self> {
        symbols.type_named(TYPE)?;
        let names = Names(layout, symbols);
        let whole = symbols.locate(global).ok()?;
        let mut found = Vec::new();
        walk(&whole.ty, global, &mut found);
        let places: Vec<_> = found.iter().filter_map(|path| names.client(global, path)).collect();
        let words = |member: &str| names.field(&format!("{WORDS}.{member}"));
        (!places.is_empty()).then_some(Self {
            places,
            stages: names.named(&STAGES),
            terminations: names.terminations(),
            words_bytes: symbols.type_named(WORDS)?.size()?,
            read_counter: words("read_counter"),
            teardown: words("teardown"),
        })
    }

    /// Every word of the global that decoding may want.
    pub(crate) fn words(&self) -> Vec<Word> {
        let of = |c: &ClientPlace| {
            let sure = [Some(c.x), Some(c.y), Some(c.words_address)];
            let more = [c.stream, c.slots, c.stage, c.write_counter, c.waits];
            let end = [c.termination, c.mux_clients, c.master_xy, c.master_address];
            sure.into_iter().chain(more).chain(end)
        };
        self.places.iter().flat_map(of).flatten().collect()
    }
}

impl Names<'_> {
    fn client(&self, global: &str, path: &str) -> Option<ClientPlace> {
        let of = |member: &str| self.at(&format!("{path}.{member}"));
        let index = path.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let part = |member: &str| {
            let (index, _) = index?;
            self.at(&format!("{global}.args.connection[{index}].{member}"))
        };
        Some(ClientPlace {
            name: path.strip_prefix(global)?.trim_start_matches('.').to_owned(),
            x: of("connection.edm_noc_x")?,
            y: of("connection.edm_noc_y")?,
            stream: of("connection.worker_free_slots_stream_id"),
            slots: of("connection.num_buffers_per_channel"),
            words_address: of("words_address")?,
            stage: of("stage"),
            write_counter: of("write_counter"),
            waits: of("waits"),
            termination: part("termination"),
            mux_clients: part("mux_clients"),
            master_xy: part("master_xy"),
            master_address: part("master_address"),
        })
    }

    /// What a client does for a mux, by one name whatever kernel it is of.
    fn terminations(&self) -> Vec<(u64, &'static str)> {
        let pairs = TERMINATIONS.iter().zip(CCL_TERMINATIONS);
        let value = |name: &str, other| self.constant(name).or_else(|| self.constant(other));
        pairs.filter_map(|(name, other)| Some((value(name, other)?, *name))).collect()
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
