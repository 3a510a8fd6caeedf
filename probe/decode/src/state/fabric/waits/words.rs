//! Names and messages of waits.

use super::{Party, WaitReason};
use std::fmt;

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(core, 0) => write!(f, "client {core}"),
            Self::Client(core, n) => write!(f, "client {core} #{n}"),
            Self::MuxChannel(core, channel) => write!(f, "mux {core} channel {channel}"),
            Self::Mux(core) => write!(f, "mux {core}"),
            Self::Sender(at, channel) => write!(f, "router {at} sender {channel}"),
            Self::Receiver(at, channel) => write!(f, "router {at} receiver {channel}"),
            Self::Router(at) => write!(f, "router {at}"),
            Self::Link(at) => write!(f, "link of {at}"),
            Self::Noc(at) => write!(f, "NoC at {at}"),
            Self::Core(core) => write!(f, "core {core}"),
            Self::Channel(at, channel) => write!(f, "EDM {at} channel {channel}"),
            Self::Host => f.write_str("host"),
        }
    }
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slot => "a free slot",
            Self::Teardown => "an answer to its close",
            Self::Ready | Self::Begin => "READY_FOR_TRAFFIC",
            Self::Turn => "its turn",
            Self::Credit => "a free slot of the receiver",
            Self::Completion => "completions",
            Self::Downstream(direction) => return write!(f, "a free slot towards {direction}"),
            Self::Noc => "the NoC",
            Self::Link => "the link",
            Self::Handshake => "the handshake",
            Self::LocalSync => "the routers of its chip",
            Self::Leave => "its peer to leave as well",
            Self::Clients => "the other clients of its mux",
            Self::Drain => "its packets to leave",
            Self::Router => "its router",
            Self::Message => "the next message",
            Self::Buffer => "a free buffer",
            Self::Read => "its message to be read",
            Self::Pages => "pages of a circular buffer",
            Self::Room => "room in a circular buffer",
            Self::Increment => "an increment of its semaphore",
            Self::Signal => "a signal of its partner",
            Self::Sibling => "its sibling",
            Self::Done => "its cores to be done",
            Self::Core => "its core",
        })
    }
}
