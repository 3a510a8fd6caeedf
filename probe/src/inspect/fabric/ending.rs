//! How far the end of a client and of its mux has come: the twelve steps of tt-metal.md 5.2.

use crate::state::{Activity, ClientState, FabricPort, FabricState, MuxState, Reading};

/// `connection_t`.
const CLOSE_REQUESTED: u32 = 2;

/// The step that a client, or its mux for it, is in; none before it has opened its channel.
pub(super) fn step(fabric: &FabricState, client: &ClientState) -> Option<u8> {
    let Some(FabricPort::Mux(core, channel)) = client.to else { return own_step(client, false) };
    let mux = fabric.muxes.iter().find(|mux| mux.at == core)?;
    let channel = mux.channels.get(usize::from(channel))?;
    if client.stage.known() == Some(&"CLIENT_CLOSED") {
        // A channel that nobody has closed was not opened either.
        channel.closes.known().filter(|closes| **closes > 0)?;
        return Some(mux_step(fabric, mux).unwrap_or_else(|| after(client)));
    }
    own_step(client, channel.connection.known() == Some(&CLOSE_REQUESTED))
}

/// Up to the end of its own connection.
fn own_step(client: &ClientState, asked: bool) -> Option<u8> {
    match client.stage.known().copied()? {
        "CLIENT_OPEN" => Some(1),
        "CLIENT_CLOSING" if client.teardown.known().is_some_and(|word| *word != 0) => Some(5),
        "CLIENT_CLOSING" if asked => Some(2),
        "CLIENT_CLOSING" => Some(4),
        _ => None,
    }
}

/// Behind its own close: who ends the mux waits for the others.
fn after(client: &ClientState) -> u8 {
    let waits = client.waypoint.known().is_some_and(|code| code == "NSMW");
    match client.termination.known().copied() {
        Some("TERMINATION_MASTER") if waits => 7,
        Some("TERMINATION_MASTER") => 8,
        Some("TELLS_MASTER") => 6,
        _ => 5,
    }
}

/// What the mux does since it was told to end.
fn mux_step(fabric: &FabricState, mux: &MuxState) -> Option<u8> {
    if mux.status == Reading::Known("TERMINATED") {
        return Some(12);
    }
    mux.termination.known().filter(|signal| **signal != 0)?;
    if mux.activity != Reading::Known(Activity::Running) {
        return Some(12);
    }
    let router = fabric.clients.iter().find(|client| client.at == mux.at);
    if router.is_some_and(|router| router.stage == Reading::Known("CLIENT_CLOSING")) {
        return Some(11);
    }
    let queued = mux.channels.iter().any(|c| c.queued.known().is_some_and(|queued| *queued > 0));
    Some(if queued { 9 } else { 10 })
}
