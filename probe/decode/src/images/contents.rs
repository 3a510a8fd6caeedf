//! What the ELF of an image says: its symbols, and the addresses that decoding needs, resolved
//! once.

use super::channels::{self, ChannelTable};
use super::mailbox::Mailbox;
use super::members::{self, Member, members};
use super::outline::Outline;
use super::waypoints::{self, WaypointPlace};
use crate::fabric::{ClientLayout, MuxLayout, RouterLayout};
use layouts::{ChipLayout, CoreKind};
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
    pub(crate) channel_table: Option<ChannelTable>,
    /// The layout of a fabric router, if the image is one.
    pub(crate) router: Option<RouterLayout>,
    /// The layout of a mux, if the image is one.
    pub(crate) mux: Option<MuxLayout>,
    /// The image's connections to channels of routers and muxes.
    pub(crate) clients: Vec<ClientLayout>,
    /// Places in the code that set waypoints.
    pub(super) waypoints: Vec<WaypointPlace>,
    /// The kernel's progress words: scalar members of the global named `*_state`.
    pub state: Vec<Member>,
    /// The mailbox's scalars in a core's summary.
    pub(crate) summary: Vec<Member>,
    /// The global of the progress words with every member.
    pub(crate) own: Option<Outline>,
    /// The structures that firmware shares with the host, with every member.
    pub(crate) shared: Vec<Outline>,
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
            waypoints: waypoints::read(&symbols),
            summary: members::summary(layout, &symbols),
            own: Outline::global(&symbols, &state),
            shared: Outline::shared(layout, &symbols),
            state: members(layout, &symbols, &state),
            symbols,
        }
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
