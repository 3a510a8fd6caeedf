//! What a look tells of a fabric: routers by the names of their image, and the credits of both ends.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

use probe::inspect::{Interest, fabric_heads};
use probe::session::Session;
use probe::state::{Reading, Verdict};
use probe::target::Allow;
use probe::ttsim::HostCommand;

#[test]
fn routers_at_rest_have_all_their_credits() {
    let words = "emulator:t3000,run=fabric,topology=ring,seed=3";
    let mut session = Session::open(words, &HostCommand::default(), Allow::default()).unwrap();
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    let fabric = session.look(&interest).state.fabric;
    assert_eq!(fabric.routers.len(), 16);
    for router in &fabric.routers {
        assert_eq!(router.status, Reading::Known("READY_FOR_TRAFFIC"), "{}", router.at);
        assert_eq!(router.topology, Some("Ring"));
        // Local, forwarded, behind the dateline, control; two receivers and the control channel.
        assert_eq!((router.senders.len(), router.receivers.len()), (4, 3));
        assert!(router.passes.known().is_some_and(|passes| *passes > 0));
    }
    // Both ways of eight links, in both virtual channels.
    assert_eq!(fabric.ledgers.len(), 32);
    for ledger in &fabric.ledgers {
        assert_eq!((ledger.slots, ledger.remote_free_slots), (8, 8));
        assert_eq!(ledger.verdict, Verdict::Empty);
    }
    assert!(fabric_heads(&fabric).is_empty());
}

#[test]
fn a_mesh_without_a_fabric_shows_none() {
    let mut session =
        Session::open("emulator:n300,run=idle", &HostCommand::default(), Allow::default()).unwrap();
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    let fabric = session.look(&interest).state.fabric;
    assert!(fabric.routers.is_empty() && fabric.ledgers.is_empty());
}
