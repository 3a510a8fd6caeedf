//! What a router, a mux, a client, a channel and a packet of the fabric *are*: a table of facts for each, and where each fact
//! stands (tt-metal.md 4, tt-metal.md 5, tt-metal.md 6).
//!
//! A row of a table is one fact: its name, its kind, what it means, and its location in our images. From the rows come what is
//! read ([`RouterFacts`] and its like), what is planned, and the JSON. A fact for which a source has no location is absent.
//! Names of enumerators come with the location, from the DWARF that it comes from.

mod channels;
mod client;
mod enumeration;
mod fact;
mod header;
mod location;
mod mux;
mod ours;
mod router;
mod tables;

pub(crate) use channels::{Edge, Receiver, Sender};
pub use channels::{EdgeFacts, ReceiverFacts, SenderFacts};
pub use client::ClientFacts;
pub(crate) use client::ClientLayout;
pub use enumeration::{Enumeration, Enumerator};
pub use fact::{Code, Fact, NameOrNumber, NocTarget, NocTargetJson, NodeJson};
pub use header::PacketFacts;
pub(crate) use header::{Header, HeaderBytes, Route};
pub use location::Word;
pub(crate) use location::{Formula, Lead, Location, Locations, Memory, Reader};
pub use mux::{MuxChannelFacts, MuxFacts};
pub(crate) use mux::{MuxChannelLocations, MuxLayout};
pub use ours::stream;
pub(crate) use router::RouterLayout;
pub use router::{RouterCounts, RouterFacts};
pub(crate) use tables::TablesLayout;
