//! The teardown step of a client and its mux: the twelve steps of tt-metal.md 5.2.

use crate::state::{Activity, ClientState, FabricPort, FabricState, MuxState, Reading};

/// `connection_t`.
const UNUSED: &str = "UNUSED_CONNECTION";

/// Returns the step of a client or of its mux; none before it has opened its channel.
pub(super) fn step(fabric: &FabricState, client: &ClientState) -> Option<u8> {
    match client.to {
        Some(FabricPort::Mux(core, channel)) => {
            let mux = fabric.muxes.iter().find(|mux| mux.at == core)?;
            let channel = mux.channels.get(usize::from(channel))?;
            // A channel without a close was not opened either.
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

/// Returns the step up to the end of the client's own connection: router and mux mark the channel
/// as unused before they answer a close.
fn own_step(client: &ClientState, used: bool) -> Option<u8> {
    match client.facts.stage.name()? {
        "CLIENT_OPEN" => Some(1),
        "CLIENT_CLOSING" if client.facts.teardown.known().is_some_and(|word| *word != 0) => Some(4),
        "CLIENT_CLOSING" if used => Some(2),
        "CLIENT_CLOSING" => Some(4),
        _ => None,
    }
}

/// Returns the step after the client's own close: clients signal their termination master, which
/// ends the mux when all have.
fn after(fabric: &FabricState, client: &ClientState) -> u8 {
    match client.facts.termination.name() {
        Some("TERMINATION_MASTER") => {
            let waits = client.waypoint.known().is_some_and(|code| code == "NSMW");
            let all = client.facts.closed.known().zip(client.facts.mux_clients.known());
            match all.map(|(signalled, clients)| signalled + 1 >= *clients) {
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

/// Whether a closed client has signalled its master. An ended kernel has; a running one has if the
/// master has counted all closed clients.
fn has_signalled(fabric: &FabricState, client: &ClientState) -> bool {
    let closed = fabric.clients.iter().filter(|other| {
        other.mux() == client.mux()
            && other.facts.termination.is("TELLS_MASTER")
            && other.facts.stage.is("CLIENT_CLOSED")
    });
    let runs = client.activity == Reading::Known(Activity::Running);
    !runs
        || client.facts.closed.known().is_some_and(|signalled| *signalled >= closed.count() as u64)
}

/// Returns the step of a mux after its termination signal.
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
