//! Waits of a fabric.

use decode::state::{MeshState, Party, Waits};
use diagnosis::WaitGraph;
use layouts::{CoreId, EthId};
use schemars::JsonSchema;
use serde::Serialize;

/// Waits that last between two snapshots.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FabricWaits<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The time between the two snapshots, in cycles of a nanosecond.
    over_cycles: u64,
    /// Routers whose loop does not run.
    still: Vec<Waiter>,
    /// Each wait.
    waits: Vec<Wait>,
    /// Parties that are waited for and wait for none.
    roots: Vec<Root<'a>>,
    /// The cycles of waits.
    deadlocks: Vec<Vec<Waiter>>,
}

/// A wait.
#[derive(Serialize, JsonSchema)]
pub(super) struct Wait {
    /// The waiting party.
    who: Waiter,
    /// The party that it waits for.
    on: Waiter,
    /// What it waits for.
    r#for: &'static str,
}

/// A party that waits for none, and its problem.
#[derive(Serialize, JsonSchema)]
struct Root<'a> {
    #[serde(flatten)]
    party: Waiter,
    /// Its problem; null if none is known.
    note: Option<&'a str>,
}

/// A party of a wait.
#[derive(Serialize, JsonSchema)]
struct Waiter {
    /// Its name on screen.
    name: String,
    /// client, mux_channel, mux, sender, receiver, router, link, noc or host.
    kind: &'static str,
    #[serde(flatten)]
    at: Option<At>,
}

/// Its place; the host has none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum At {
    Core {
        /// Its core.
        core: CoreId,
        /// The number of the channel or connection; null if it is none.
        index: Option<u8>,
    },
    End {
        #[serde(flatten)]
        end: EthId,
        /// The number of the channel; null if it is none.
        index: Option<u8>,
    },
}

/// Builds `fabric waits`.
pub(crate) fn fabric_waits<'a>(
    target: &'a str,
    state: &MeshState,
    waits: &'a WaitGraph,
    over: u64,
) -> FabricWaits<'a> {
    let root = |root: Party| Root {
        party: Waiter::of(root),
        note: waits.notes.get(&root).map(String::as_str),
    };
    let all = |parties: Vec<Party>| parties.into_iter().map(Waiter::of).collect();
    FabricWaits {
        target,
        cycles: state.cycles,
        over_cycles: over,
        still: waits.still.iter().copied().map(Waiter::of).collect(),
        waits: self::waits(waits),
        roots: waits.roots().into_iter().map(root).collect(),
        deadlocks: waits.cycles().into_iter().map(all).collect(),
    }
}

/// Builds the waits.
pub(super) fn waits(waits: &Waits) -> Vec<Wait> {
    let shape = |wait: &decode::state::Wait| Wait {
        who: Waiter::of(wait.waiter),
        on: Waiter::of(wait.on),
        r#for: wait.reason.into(),
    };
    waits.all.iter().map(shape).collect()
}

impl Waiter {
    fn of(party: Party) -> Self {
        let core = |core, index| Some(At::Core { core, index });
        let link = |at, index| Some(At::End { end: at, index });
        let (kind, at) = match party {
            Party::Client(at, n) => ("client", core(at, Some(n))),
            Party::MuxChannel(at, n) => ("mux_channel", core(at, Some(n))),
            Party::Mux(at) => ("mux", core(at, None)),
            Party::Sender(at, n) => ("sender", link(at, Some(n))),
            Party::Receiver(at, n) => ("receiver", link(at, Some(n))),
            Party::Router(at) => ("router", link(at, None)),
            Party::Link(at) => ("link", link(at, None)),
            Party::Noc(at) => ("noc", link(at, None)),
            Party::Core(at) => ("core", core(at, None)),
            Party::Channel(at, n) => ("edm_channel", link(at, Some(n))),
            Party::Host => ("host", None),
        };
        Self { name: party.to_string(), kind, at }
    }
}
