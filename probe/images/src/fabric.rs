//! Tables of facts of the fabric's routers, muxes, clients, channels and packets, with the location
//! of each fact (tt-metal.md 4, tt-metal.md 5, tt-metal.md 6).
//!
//! A row of a table is one fact: its name, its kind, its meaning, and its location in the built-in
//! images. The rows determine the decoded structs ([`RouterFacts`] and the others), the plan, and
//! the JSON. A fact without a location is absent. The names of enumerators come from the same DWARF
//! as the location.

mod builtin;
mod channels;
mod client;
mod entry;
mod enumeration;
mod fact;
mod fact_table;
mod header;
mod location;
mod manager;
pub mod manifest;
mod mux;
mod published;
mod router;
mod standing;
mod static_info;
mod status;
mod tables;
mod tt_metal;

pub use builtin::stream;
pub use channels::{Edge, EdgeFacts, Receiver, ReceiverFacts, RouterChannel, Sender, SenderFacts};
pub use client::{ClientFacts, ClientLayout};
pub use entry::{EntryFacts, EntryPlace};
pub use enumeration::{Enumeration, Enumerator};
pub use fact::{
    Channels, Code, Fact, FactValue, Heartbeat, HeartbeatWriter, NameOrNumber, NocTarget,
    NocTargetJson, NodeJson,
};
pub use header::{Header, HeaderBytes, PacketFacts, Route};
pub(crate) use location::Formula;
pub use location::{Lead, Located, Location, Locations, Memory, Reader, Unknown, Word};
pub use manager::RouterManager;
pub use mux::{MuxChannelFacts, MuxChannelLocations, MuxFacts, MuxLayout};
pub use router::{RouterCounts, RouterFacts, RouterLayout};
pub use standing::{Disagreement, disagreements};
pub use static_info::StaticInfo;
pub use status::{STATUS_MAGIC, StatusHead, StatusLayout, StatusWords};
pub use tables::TablesLayout;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{Image, ImageMap};
    use std::sync::Arc;

    fn images(prefix: &str) -> Vec<Arc<Image>> {
        let (map, problems) = ImageMap::firmware();
        assert!(problems.is_empty(), "{problems:?}");
        let all = map.all().filter(|image| image.name.starts_with(prefix));
        all.cloned().collect()
    }

    /// Words that only tt-metal's routers have.
    const OF_TT_METAL: [&str; 13] = [
        "command",
        "handshake",
        "heartbeat",
        "image_channel",
        "local_channels",
        "master_channel",
        "packets_moved",
        "packets_received",
        "packets_sent",
        "peer",
        "rx_heartbeat",
        "state",
        "tx_heartbeat",
    ];

    /// Returns the names of the facts without a location, in alphabetical order.
    fn missing(locations: &impl Locations) -> Vec<&'static str> {
        let mut missing = locations.missing();
        missing.sort_unstable();
        missing
    }

    const NONE: [&str; 0] = [];
    /// Facts that only the second version of tt-metal's mux has.
    const OF_MUX_V2: [&str; 4] = ["drain_initiated", "forwarder_done", "handed_over", "retired"];

    #[test]
    fn our_routers_have_every_fact() {
        let images = images("fabric_router");
        assert_eq!(images.len(), 5);
        for image in images {
            let router = image.router.as_ref().unwrap();
            assert_eq!(missing(&router.facts), OF_TT_METAL, "{}", image.name);
            assert_eq!(missing(&router.counts), NONE, "{}", image.name);
            for sender in &router.senders {
                let control: &[_] = if sender.virtual_channel == 2 {
                    &["acknowledges", "client_credits", "client_teardown", "remote_free_slots"]
                } else {
                    &["acknowledges", "client_credits", "client_teardown"]
                };
                assert_eq!(missing(&sender.facts), control, "{} {}", image.name, sender.index);
            }
            let receivers = router.receivers.iter().map(|receiver| missing(&receiver.facts));
            let edges = router.downstream.iter().map(|edge| missing(&edge.facts));
            assert_eq!(receivers.chain(edges).collect::<Vec<_>>().concat(), NONE, "{}", image.name);
            let header = router.header.as_ref().unwrap();
            let flat: &[_] =
                if matches!(header.route, Some(Route::Map(_))) { &[] } else { &["destination"] };
            assert_eq!(missing(&header.facts), flat, "{}", image.name);
        }
    }

    #[test]
    fn our_muxes_and_clients_have_every_fact() {
        for image in images("fabric_mux") {
            let mux = image.mux.as_ref().unwrap();
            assert_eq!(missing(&mux.facts), OF_MUX_V2, "{}", image.name);
            for channel in &mux.channels {
                assert_eq!(missing(channel), ["slots_address"], "{}", image.name);
            }
            // The mux's own connection ends no other mux.
            let own = image.clients.iter().map(|client| missing(&client.facts));
            assert_eq!(own.collect::<Vec<_>>(), [["closed", "mux_clients", "termination"]]);
        }
        for name in ["fabric_traffic", "ccl_worker"] {
            let image = images(name).pop().unwrap();
            let own = image.clients.iter().map(|client| missing(&client.facts));
            assert_eq!(own.collect::<Vec<_>>().concat(), NONE, "{name}");
            assert!(!image.clients.is_empty(), "{name}");
        }
    }

    #[test]
    fn enumerators_have_names() {
        for image in images("fabric_router") {
            let router = image.router.as_ref().unwrap();
            let facts = &router.facts;
            let own = [&facts.topology, &facts.direction, &facts.status, &facts.postcode];
            let own = own.into_iter().chain([&facts.termination, &facts.refusal, &facts.link]);
            let senders = router.senders.iter().map(|sender| &sender.facts.connection);
            let receivers = router.receivers.iter().map(|receiver| &receiver.facts.waits_for);
            for location in own.chain(senders).chain(receivers) {
                let names = location.location().and_then(|location| location.names.as_ref());
                assert!(names.is_some(), "{}", image.name);
            }
        }
    }
}
