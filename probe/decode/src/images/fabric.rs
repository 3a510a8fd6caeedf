//! Where fabric routers, muxes and their clients keep what they do, resolved by the names of their images (tt-metal.md 4, tt-metal.md 5, tt-metal.md 6).

mod channels;
mod client;
mod header;
mod mux;
mod names;
mod router;
mod tables;

pub use channels::{DownstreamPlace, ReceiverPlace, SenderPlace};
pub use client::{ClientLayout, ClientPlace};
pub use header::HeaderFields;
pub use mux::{MuxChannelPlace, MuxLayout};
pub use names::{Slots, Word, stream};
pub use router::RouterLayout;
pub use tables::TablesLayout;

/// `EDMStatus` (tt-metal.md 4.1); REFUSED is this house's.
const STATUSES: [&str; 6] = [
    "STARTED",
    "REMOTE_HANDSHAKE_COMPLETE",
    "LOCAL_HANDSHAKE_COMPLETE",
    "READY_FOR_TRAFFIC",
    "TERMINATED",
    "REFUSED",
];
