//! What the ELF of an image says: its symbols, and the addresses that decoding needs, resolved
//! once.

use super::channels::{self, ChannelTable};
use super::mailbox::Mailbox;
use super::members::{self, Member, members};
use super::outline::Outline;
use super::waypoints::{self, WaypointPlace};
use crate::fabric::{ClientLayout, MuxLayout, RouterLayout};
use layouts::{ChipLayout, CoreKind};
use std::sync::OnceLock;
use symbols::Symbols;

/// The ending of the name of the global with a kernel's progress words.
const STATE_SUFFIX: &str = "_state";

/// An opened ELF with what decoding needs from it.
#[derive(Debug)]
pub struct Contents {
    /// The ELF's symbols.
    pub symbols: Symbols,
    /// Addresses of the mailbox, if the image has one.
    pub mailbox: Option<Mailbox>,
    /// The table of Ethernet channels, if the image has one.
    pub channel_table: Option<ChannelTable>,
    /// The layout of a fabric router, if the image is one.
    pub router: Option<RouterLayout>,
    /// The layout of a mux, if the image is one.
    pub mux: Option<MuxLayout>,
    /// The image's connections to channels of routers and muxes.
    pub clients: Vec<ClientLayout>,
    /// The kernel's progress words: scalar members of the global named `*_state`.
    pub state: Vec<Member>,
    /// The mailbox's scalars in a core's summary.
    pub summary: Vec<Member>,
    /// The name of the global of the progress words.
    state_name: String,
    waypoints: OnceLock<Vec<WaypointPlace>>,
    own: OnceLock<Option<Outline>>,
    shared: OnceLock<Vec<Outline>>,
}

impl Contents {
    /// Reads what the ELF of the image of this name says.
    pub(super) fn new(layout: &ChipLayout, core: CoreKind, image: &str, symbols: Symbols) -> Self {
        let state = state_of(&symbols, image);
        Self {
            mailbox: Mailbox::find(layout, &symbols),
            channel_table: channels::channel_table(layout, &symbols),
            router: RouterLayout::find(layout, &symbols),
            mux: MuxLayout::find(layout, core, &symbols),
            clients: ClientLayout::find(layout, &symbols, &state),
            summary: members::summary(layout, &symbols),
            state: members(layout, &symbols, &state),
            state_name: state,
            waypoints: OnceLock::new(),
            own: OnceLock::new(),
            shared: OnceLock::new(),
            symbols,
        }
    }

    /// Returns the places in the code that set waypoints.
    pub(super) fn waypoints(&self) -> &[WaypointPlace] {
        self.waypoints.get_or_init(|| waypoints::read(&self.symbols))
    }

    /// Returns the global of the progress words with every member.
    pub(super) fn own(&self) -> Option<&Outline> {
        self.own.get_or_init(|| Outline::global(&self.symbols, &self.state_name)).as_ref()
    }

    /// Returns the structures that firmware shares with the host, with every member.
    pub(super) fn shared(&self, layout: &ChipLayout) -> &[Outline] {
        self.shared.get_or_init(|| Outline::shared(layout, &self.symbols))
    }
}

/// Returns the name of the global of a kernel's progress words: that of the image or of its family,
/// such as `fabric_router` for `fabric_router_mesh`, with [`STATE_SUFFIX`].
fn state_of(symbols: &Symbols, image: &str) -> String {
    let families = image.rmatch_indices('_').map(|(end, _)| &image[..end]);
    let globals = [image].into_iter().chain(families).map(|name| format!("{name}{STATE_SUFFIX}"));
    let found = globals.into_iter().find(|global| symbols.locate(global).is_ok());
    found.unwrap_or_else(|| format!("{image}{STATE_SUFFIX}"))
}
