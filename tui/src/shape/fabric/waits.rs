//! Who waits for whom.

use super::clients::core;
use decode::state::{MeshState, Party, Waits};
use layouts::{CoreId, EthId};
use serde_json::{Value, json};

/// The shape of `fabric waits`.
pub(crate) fn fabric_waits(target: &str, state: &MeshState, waits: &Waits, over: u64) -> Value {
    let parties = |all: Vec<Party>| all.into_iter().map(party).collect::<Vec<_>>();
    let roots = waits.roots().into_iter().map(|root| {
        let mut shown = party(root);
        shown["note"] = waits.notes.get(&root).cloned().into();
        shown
    });
    let still = waits.still.iter().copied().map(party);
    json!({
        "target": target,
        "cycles": state.cycles,
        "over_cycles": over,
        "still": still.collect::<Vec<_>>(),
        "waits": self::waits(waits),
        "roots": roots.collect::<Vec<_>>(),
        "deadlocks": waits.cycles().into_iter().map(parties).collect::<Vec<_>>(),
    })
}

/// Each wait.
pub(super) fn waits(waits: &Waits) -> Vec<Value> {
    let one = |wait: &decode::state::Wait| json!({ "who": party(wait.who), "on": party(wait.on), "for": wait.reason.word() });
    waits.all.iter().map(one).collect()
}

fn party(party: Party) -> Value {
    let name = party.to_string();
    match party {
        Party::Client(at, n) => on_core(&name, "client", at, Some(n)),
        Party::MuxChannel(at, n) => on_core(&name, "mux_channel", at, Some(n)),
        Party::Mux(at) => on_core(&name, "mux", at, None),
        Party::Sender(at, n) => at_end(&name, "sender", at, Some(n)),
        Party::Receiver(at, n) => at_end(&name, "receiver", at, Some(n)),
        Party::Router(at) => at_end(&name, "router", at, None),
        Party::Link(at) => at_end(&name, "link", at, None),
        Party::Noc(at) => at_end(&name, "noc", at, None),
        Party::Host => json!({ "name": name, "kind": "host" }),
    }
}

fn on_core(name: &str, kind: &str, at: CoreId, index: Option<u8>) -> Value {
    json!({ "name": name, "kind": kind, "core": core(at), "index": index })
}

fn at_end(name: &str, kind: &str, at: EthId, index: Option<u8>) -> Value {
    json!({ "name": name, "kind": kind, "chip": at.chip.0, "channel": at.channel, "index": index })
}
