//! How far the end of a client and of its mux has come: the twelve steps of tt-metal.md 5.2.

use crate::state::{Activity, ClientState, FabricPort, FabricState, MuxState, Reading};

/// `connection_t`.
const UNUSED: &str = "UNUSED_CONNECTION";

/// The step that a client, or its mux for it, is in; none before it has opened its channel.
pub(super) fn step(fabric: &FabricState, client: &ClientState) -> Option<u8> {
    match client.to {
        Some(FabricPort::Mux(core, channel)) => {
            let mux = fabric.muxes.iter().find(|mux| mux.at == core)?;
            let channel = mux.channels.get(usize::from(channel))?;
            // A channel that nobody has closed was not opened either.
            if client.facts.stage.is("CLIENT_CLOSED") {
                channel.facts.closes.known().filter(|closes| **closes > 0)?;
                return Some(mux_step(fabric, mux).unwrap_or_else(|| after(fabric, client)));
            }
            own_step(client, !channel.facts.connection.is(UNUSED))
        }
        Some(FabricPort::Router(at, channel)) => {
            let router = fabric.routers.iter().find(|router| router.at == at);
            let channel = router.and_then(|router| router.senders.get(usize::from(channel)));
            own_step(client, channel.is_some_and(|c| !c.facts.connection.is(UNUSED)))
        }
        None => own_step(client, true),
    }
}

/// Up to the end of its own connection: who answers a close first marks the channel as unused.
fn own_step(client: &ClientState, used: bool) -> Option<u8> {
    match client.facts.stage.name()? {
        "CLIENT_OPEN" => Some(1),
        "CLIENT_CLOSING" if client.facts.teardown.known().is_some_and(|word| *word != 0) => Some(4),
        "CLIENT_CLOSING" if used => Some(2),
        "CLIENT_CLOSING" => Some(4),
        _ => None,
    }
}

/// Behind its own close: the others tell their termination master, who ends the mux when all of them have.
fn after(fabric: &FabricState, client: &ClientState) -> u8 {
    match client.facts.termination.name() {
        Some("TERMINATION_MASTER") => {
            let waits = client.waypoint.known().is_some_and(|code| code == "NSMW");
            let all = client.facts.closed.known().zip(client.facts.mux_clients.known());
            match all.map(|(told, clients)| told + 1 >= *clients) {
                Some(true) => 8,
                _ if waits => 7,
                Some(false) => 5,
                None => 8,
            }
        }
        Some("TELLS_MASTER") if has_signalled(fabric, client) => 6,
        _ => 5,
    }
}

/// A kernel that is over has told; one that runs has if as many were counted as have closed.
fn has_signalled(fabric: &FabricState, client: &ClientState) -> bool {
    let closed = fabric.clients.iter().filter(|other| {
        other.mux() == client.mux()
            && other.facts.termination.is("TELLS_MASTER")
            && other.facts.stage.is("CLIENT_CLOSED")
    });
    let runs = client.activity == Reading::Known(Activity::Running);
    !runs || client.facts.closed.known().is_some_and(|told| *told >= closed.count() as u64)
}

/// What the mux does since it was told to end.
fn mux_step(fabric: &FabricState, mux: &MuxState) -> Option<u8> {
    if mux.facts.status.is("TERMINATED") {
        return Some(12);
    }
    mux.facts.termination.value().filter(|signal| *signal != 0)?;
    if mux.activity != Reading::Known(Activity::Running) {
        return Some(12);
    }
    let router = fabric.clients.iter().find(|client| client.at == mux.at);
    if router.is_some_and(|router| router.facts.stage.is("CLIENT_CLOSING")) {
        return Some(11);
    }
    let queued =
        mux.channels.iter().any(|c| c.facts.queued.known().is_some_and(|queued| *queued > 0));
    Some(if queued { 9 } else { 10 })
}
