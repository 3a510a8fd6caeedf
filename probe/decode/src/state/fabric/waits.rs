//! Waits: who waits for whom, and for what.

mod words;

use layouts::{CoreId, EthId};
use machine::fabric::Direction;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A party that waits, or is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// The n-th connection of a kernel.
    Client(CoreId, u8),
    /// A channel of a mux.
    MuxChannel(CoreId, u8),
    /// A mux.
    Mux(CoreId),
    /// A sender channel of a router.
    Sender(EthId, u8),
    /// A receiver channel of a router.
    Receiver(EthId, u8),
    /// A router.
    Router(EthId),
    /// The link of a router.
    Link(EthId),
    /// The NoC, as a router uses it.
    Noc(EthId),
    /// A core and the kernel on it.
    Core(CoreId),
    /// A channel of an EDM.
    Channel(EthId, u8),
    /// The host that brings the fabric up.
    Host,
}

/// The thing that a party waits for.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "&'static str")]
#[schemars(with = "String", inline)]
pub enum WaitReason {
    /// A free slot of a channel.
    Slot,
    /// An answer to its close.
    Teardown,
    /// `READY_FOR_TRAFFIC`.
    Ready,
    /// Its turn: the mux waits for another channel.
    Turn,
    /// A free slot of the peer's receiver channel.
    Credit,
    /// Completions of packets that it sent.
    Completion,
    /// A free slot of the router downstream in a direction.
    Downstream(Direction),
    /// The NoC to take a packet.
    Noc,
    /// The link to take or bring packets.
    Link,
    /// The peer's identity.
    Handshake,
    /// Other routers of the chip.
    LocalSync,
    /// The signal to begin.
    Begin,
    /// The peer to drain.
    Leave,
    /// Other clients of the mux that it ends.
    Clients,
    /// One of its channels to drain.
    Drain,
    /// Its router to run.
    Router,
    /// The next message.
    Message,
    /// A free buffer.
    Buffer,
    /// A message to be read.
    Read,
    /// Pages of a circular buffer, from any processor of its tile.
    Pages,
    /// Room in a circular buffer, from any processor of its tile.
    Room,
    /// An increment of its semaphore, by any kernel of its operation.
    Increment,
    /// A signal of its partner.
    Signal,
    /// The sibling on its chip.
    Sibling,
    /// Cores to report that they are done.
    Done,
    /// The core to execute its kernel.
    Core,
}

impl WaitReason {
    /// Whether any one of the parties that are waited for can end the wait; else all must act.
    pub fn is_any(self) -> bool {
        matches!(self, Self::Pages | Self::Room | Self::Increment)
    }
}

/// A wait of one party for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The waiting party.
    pub waiter: Party,
    /// The party waited for.
    pub on: Party,
    /// The thing waited for.
    pub reason: WaitReason,
    /// The progress count of `who`: unchanged if it has not moved.
    pub mark: u64,
}

/// The waits of one snapshot, as its words tell them: the edges of the wait graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The target's time when the snapshot began, in device cycles.
    pub cycles: u64,
    /// All waits, by waiting party.
    pub all: Vec<Wait>,
    /// Problems of parties that are waited for.
    pub notes: BTreeMap<Party, String>,
    /// Loop passes of each router that should serve.
    pub turns: BTreeMap<Party, u64>,
}

impl Waits {
    /// Returns the waits of a party.
    pub fn of(&self, who: Party) -> impl Iterator<Item = &Wait> {
        self.all.iter().filter(move |wait| wait.waiter == who)
    }

    /// Returns the waits for a party.
    pub fn on(&self, on: Party) -> impl Iterator<Item = &Wait> {
        self.all.iter().filter(move |wait| wait.on == on)
    }
}
