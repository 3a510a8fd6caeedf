//! Who waits for whom.

use super::clients::Core;
use crate::shape::End;
use crate::shape::build::end;
use decode::state::{MeshState, Party, Waits};
use serde::Serialize;

/// The shape of `fabric waits`.
#[derive(Serialize)]
pub(crate) struct FabricWaits<'a> {
    target: &'a str,
    cycles: u64,
    over_cycles: u64,
    /// Routers whose loop stands still.
    still: Vec<Waiter>,
    waits: Vec<Wait>,
    roots: Vec<Root<'a>>,
    deadlocks: Vec<Vec<Waiter>>,
}

/// One waits for another.
#[derive(Serialize)]
pub(super) struct Wait {
    who: Waiter,
    on: Waiter,
    r#for: &'static str,
}

/// Somebody who waits for nobody, and what is wrong with it.
#[derive(Serialize)]
struct Root<'a> {
    #[serde(flatten)]
    party: Waiter,
    note: Option<&'a str>,
}

/// Somebody of a fabric who waits, or is waited for.
#[derive(Serialize)]
struct Waiter {
    name: String,
    kind: &'static str,
    #[serde(flatten)]
    at: Option<At>,
}

/// Where it is; the host is nowhere.
#[derive(Serialize)]
#[serde(untagged)]
enum At {
    Core {
        core: Core,
        index: Option<u8>,
    },
    End {
        #[serde(flatten)]
        end: End,
        index: Option<u8>,
    },
}

/// The shape of `fabric waits`.
pub(crate) fn fabric_waits<'a>(
    target: &'a str,
    state: &MeshState,
    waits: &'a Waits,
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

/// Each wait.
pub(super) fn waits(waits: &Waits) -> Vec<Wait> {
    let one = |wait: &decode::state::Wait| Wait {
        who: Waiter::of(wait.who),
        on: Waiter::of(wait.on),
        r#for: wait.reason.word(),
    };
    waits.all.iter().map(one).collect()
}

impl Waiter {
    fn of(party: Party) -> Self {
        let core = |core, index| Some(At::Core { core: Core::of(core), index });
        let link = |at, index| Some(At::End { end: end(at), index });
        let (kind, at) = match party {
            Party::Client(at, n) => ("client", core(at, Some(n))),
            Party::MuxChannel(at, n) => ("mux_channel", core(at, Some(n))),
            Party::Mux(at) => ("mux", core(at, None)),
            Party::Sender(at, n) => ("sender", link(at, Some(n))),
            Party::Receiver(at, n) => ("receiver", link(at, Some(n))),
            Party::Router(at) => ("router", link(at, None)),
            Party::Link(at) => ("link", link(at, None)),
            Party::Noc(at) => ("noc", link(at, None)),
            Party::Host => ("host", None),
        };
        Self { name: party.to_string(), kind, at }
    }
}
