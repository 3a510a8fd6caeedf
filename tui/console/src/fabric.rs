//! The parts of a fabric in words and tables, shared by the verb and the screen.

mod channels;
mod clients;
mod proof;
mod router;
mod routes;
mod waits;

pub use channels::{channel_table, ledger_table, receiver_wait};
pub use clients::{
    client_table, client_text, client_wait, mux_table, mux_text, policy, stage, target,
};
pub use proof::{Rewrite, TablesFile, proof_text, replace_tables};
pub use router::{candidates, router_text, stage_or_status, status, unknown_text};
pub use routes::{Addressee, chip_of, groups, routes_text, tables_text, tables_title};
pub use waits::wait;

use crate::glyph::Glyphs;
use crate::reading::short;
use decode::state::{ClientState, FabricState, HeadState, MuxState, RouterState};
use images::Reading;
use images::fabric::Code;
use layouts::{ChipId, NocXy};

/// An enumerator in a narrow column.
fn code(glyphs: Glyphs, reading: &Reading<Code>) -> String {
    short(glyphs, reading, |code| code.0.short())
}

/// The link that a router uses; nothing if it knows only its own.
pub fn link(glyphs: Glyphs, router: &RouterState) -> String {
    code(glyphs, &router.facts.link)
}

/// A sender, forwarder or receiver of packets.
#[derive(Clone, Copy, Debug)]
pub enum FabricPart<'a> {
    /// A router.
    Router(&'a RouterState),
    /// A mux.
    Mux(&'a MuxState),
    /// A client.
    Client(&'a ClientState),
}

impl<'a> FabricPart<'a> {
    /// All parts: routers, then muxes, then clients.
    pub fn all(fabric: &'a FabricState) -> impl Iterator<Item = Self> {
        let routers = fabric.routers.iter().map(Self::Router);
        let muxes = fabric.muxes.iter().map(Self::Mux);
        routers.chain(muxes).chain(fabric.clients.iter().map(Self::Client))
    }

    /// The oldest packets of its channels.
    pub fn heads(self) -> impl Iterator<Item = &'a HeadState> {
        let (senders, receivers, channels) = match self {
            Self::Router(router) => (&router.senders[..], &router.receivers[..], &[][..]),
            Self::Mux(mux) => (&[][..], &[][..], &mux.channels[..]),
            Self::Client(_) => (&[][..], &[][..], &[][..]),
        };
        let receivers = receivers.iter().filter_map(|channel| channel.head.as_ref());
        let channels = channels.iter().filter_map(|channel| channel.head.as_ref());
        senders.iter().filter_map(|channel| channel.head.as_ref()).chain(receivers).chain(channels)
    }

    /// The tile that it runs on.
    pub fn tile(self) -> (ChipId, NocXy) {
        match self {
            Self::Router(router) => (router.at.chip, router.tile),
            Self::Mux(mux) => (mux.at.chip, mux.at.tile),
            Self::Client(client) => (client.at.chip, client.at.tile),
        }
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Router(router) => format!("router {}, tile {}", router.at, router.tile),
            Self::Mux(mux) => format!("mux {}", mux.at),
            Self::Client(client) => format!("{} of {}", client.name, client.at),
        }
    }
}
