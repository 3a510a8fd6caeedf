//! All facts of a fabric as one document, so that machines are compared with each other.

use super::walk::Seen;
use decode::state::{ClientState, RouterState};
use serde_json::{Map, Value, json};

/// Facts that depend on the time of the snapshot, counters that go on, the count of packets, of
/// which workers do not send the same number on every machine, and a client's credits, of which the
/// last are not sent when it closes first.
const TIMED: [&str; 6] =
    ["client_credits", "heartbeat", "packets_moved", "passes", "rx_heartbeat", "tx_heartbeat"];
/// Facts that depend on the moment at which packets were stopped, or move with them.
const MOVING: [&str; 4] = ["completions", "free_slots", "queued", "used"];
/// The states in which workers have packets under way.
const UNDER_WAY: [&str; 3] = ["traffic", "far_paused", "near_paused"];

/// Differing lines that a failure shows.
const SHOWN: usize = 20;

/// Compares the facts of a state on two machines.
pub(super) fn compare(state: &str, emulated: &Value, vendors: &Value) {
    let [here, there] =
        [emulated, vendors].map(|facts| serde_json::to_string_pretty(facts).unwrap());
    let lines = here.lines().zip(there.lines()).enumerate();
    let differing: Vec<_> = lines.filter(|(_, (a, b))| a != b).take(SHOWN).collect();
    assert!(here == there, "{state}, on the emulator and on the simulator: {differing:#?}");
}

/// Returns the facts of a state that do not depend on the machine.
pub(super) fn facts(state: &str, Seen { fabric, waits }: &Seen) -> Value {
    let moves = UNDER_WAY.contains(&state);
    let of = |facts: &dyn Fn() -> Value| without(facts(), moves);
    json!({
        "routers": fabric.routers.iter().map(|it| of(&|| router(it))).collect::<Vec<_>>(),
        "clients": fabric.clients.iter().map(|it| of(&|| client(it))).collect::<Vec<_>>(),
        "waits": waits.all.iter().map(|it| format!("{} for {}: {:?}", it.waiter, it.on, it.reason))
            .collect::<Vec<_>>(),
        "roots": waits.roots().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn router(router: &RouterState) -> Value {
    let senders = router.senders.iter().map(|it| json!(&it.facts)).collect::<Vec<_>>();
    let receivers = router.receivers.iter().map(|it| json!(&it.facts)).collect::<Vec<_>>();
    json!({
        "at": router.at.to_string(),
        "image": router.image,
        "stage": router.stage().map(|stage| stage.name),
        "facts": json!(&router.facts),
        "senders": senders,
        "receivers": receivers,
    })
}

fn client(client: &ClientState) -> Value {
    json!({
        "at": client.at.to_string(),
        "image": client.image,
        "to": format!("{:?}", client.to),
        "facts": json!(&client.facts),
    })
}

/// Returns the facts that do not depend on time.
fn without(facts: Value, moves: bool) -> Value {
    let left_out = |key: &str| TIMED.contains(&key) || moves && MOVING.contains(&key);
    match facts {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(key, _)| !left_out(key));
            let members = members.map(|(key, value)| (key, without(value, moves)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(all) => all.into_iter().map(|value| without(value, moves)).collect(),
        other => other,
    }
}
