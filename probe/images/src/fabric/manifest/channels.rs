//! A router's channels and its edges to the routers downstream.

use super::cursor::{Cursor, Parsed, quoted};
use super::fields::{Fields, StreamRef};
use super::path::{self, ChannelPath, RouterPath};
use super::types::{Context, L1Region};
use std::collections::BTreeMap;

/// Whether a channel is in use, or why it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelStatus {
    /// A core of the router serves it.
    Active,
    /// The router does not serve the virtual channel.
    VirtualChannelNotServiced,
    /// A mux carries its traffic.
    Mux,
    /// The profile of used channels turned it off.
    Trimmed,
}

/// The slots of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingBuffer {
    /// Address of the first slot.
    pub address: u32,
    /// Number of slots.
    pub slots: u32,
    /// Bytes of a slot.
    pub slot_bytes: u32,
}

/// Who puts packets into a sender channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// A worker of the chip.
    Worker,
    /// The router's mux on a Tensix tile.
    TensixMux,
    /// A router of the same chip.
    Router(RouterPath),
}

/// Where a sender channel receives credits from the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credit {
    /// In a stream register; none if the stream is unused.
    Stream(Option<StreamRef>),
    /// In a 32-bit counter at this address of L1.
    Counter(u32),
}

/// A router's arrays of credit counters, which are allocated even if streams carry the credits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditCounters {
    /// First-level acknowledges that arrived, by this router's sender channels.
    pub to_sender_ack: L1Region,
    /// Completions that arrived, by this router's sender channels.
    pub to_sender_completion: L1Region,
    /// First-level acknowledges for the peer, by the peer's sender channels.
    pub receiver_ack: L1Region,
    /// Completions for the peer, by the peer's sender channels.
    pub receiver_completion: L1Region,
}

/// A channel that sends packets over the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderChannel {
    /// The virtual channel.
    pub virtual_channel: u8,
    /// The index within the virtual channel.
    pub channel: u8,
    /// The index among all sender channels of the router, by which the kernel numbers them.
    pub index: u8,
    /// Whether it is in use.
    pub status: ChannelStatus,
    /// The cores that serve it.
    pub serviced_by: Vec<u8>,
    /// Who puts packets in; none if nobody does.
    pub producer: Option<Producer>,
    /// Its slots; none if it has none.
    pub ring_buffer: Option<RingBuffer>,
    /// Completions from the peer.
    pub completed: Credit,
    /// First-level acknowledges from the peer, if the router uses them.
    pub acked: Option<Credit>,
    /// `free_slots`, `connection`, `conn_info`, `buffer_index_sem`, and others.
    pub fields: Fields,
}

/// A channel that receives packets over the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverChannel {
    /// The virtual channel.
    pub virtual_channel: u8,
    /// The index within the virtual channel.
    pub channel: u8,
    /// The index among all receiver channels of the router, by which the kernel numbers them.
    pub index: u8,
    /// Whether it is in use.
    pub status: ChannelStatus,
    /// The cores that serve it.
    pub serviced_by: Vec<u8>,
    /// The virtual channel of the edges to which it forwards; none if it forwards to no router.
    pub forwards_on: Option<u8>,
    /// Its slots; none if it has none.
    pub ring_buffer: Option<RingBuffer>,
    /// `pkts_sent` and others.
    pub fields: Fields,
}

/// A connection to a sender channel of a router of the same chip and routing plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownstreamEdge {
    /// The virtual channel.
    pub virtual_channel: u8,
    /// The kernel's number of the edge, from 1.
    pub edge: u8,
    /// The channel at its end.
    pub to: ChannelPath,
    /// Whether it ends at that router's mux on a Tensix tile instead.
    pub through_tensix_mux: bool,
    /// `free_slots`, `teardown_sem`.
    pub fields: Fields,
}

/// A bound above the number of channels of one kind of any router.
const MOST_CHANNELS: usize = 64;

/// Channels with the kernel's number, the virtual channel and the index there.
type Numbered<'a> = Vec<(u8, u8, u8, Cursor<'a>)>;

impl Context<'_> {
    pub(super) fn counters(&self, router: &Cursor<'_>) -> Parsed<CreditCounters> {
        let all = router.get("credit_counters")?;
        let of = |key| {
            let at = all.get(key)?;
            let counters = self.region(&at)?;
            let what = "is no array of 32-bit counters";
            if counters.ty.element_bytes() == 4 { Ok(counters) } else { Err(at.refused(what)) }
        };
        Ok(CreditCounters {
            to_sender_ack: of("to_sender_ack")?,
            to_sender_completion: of("to_sender_completion")?,
            receiver_ack: of("receiver_ack")?,
            receiver_completion: of("receiver_completion")?,
        })
    }

    pub(super) fn senders(
        &self,
        router: &Cursor<'_>,
        counts: &[u8],
        counters: &CreditCounters,
    ) -> Parsed<Vec<SenderChannel>> {
        let channels = router.get("channels")?;
        let senders = channels.get("senders")?;
        let by_vc = senders.numbered("vc")?;
        let mut found = Vec::new();
        for (index, virtual_channel, channel, at) in numbered(&senders, &by_vc, counts)? {
            let credits = at.get("credits")?;
            let acked = credits.find("acked").map(|at| self.credit(&at, counters));
            found.push(SenderChannel {
                virtual_channel,
                channel,
                index,
                status: status(&at)?,
                serviced_by: serviced_by(&at)?,
                producer: at.get("producer")?.present().map(|at| producer(&at)).transpose()?,
                ring_buffer: self.ring_buffer(&at)?,
                completed: self.credit(&credits.get("completed")?, counters)?,
                acked: acked.transpose()?,
                fields: self.fields(&at)?,
            });
        }
        Ok(found)
    }

    pub(super) fn receivers(
        &self,
        router: &Cursor<'_>,
        counts: &[u8],
    ) -> Parsed<Vec<ReceiverChannel>> {
        let channels = router.get("channels")?;
        let receivers = channels.get("receivers")?;
        let by_vc = receivers.numbered("vc")?;
        let mut found = Vec::new();
        for (index, virtual_channel, channel, at) in numbered(&receivers, &by_vc, counts)? {
            let forwards = at.get("forwards_on")?.present();
            found.push(ReceiverChannel {
                virtual_channel,
                channel,
                index,
                status: status(&at)?,
                serviced_by: serviced_by(&at)?,
                forwards_on: forwards.map(|at| prefixed(&at, at.text()?, "vc")).transpose()?,
                ring_buffer: self.ring_buffer(&at)?,
                fields: self.fields(&at)?,
            });
        }
        Ok(found)
    }

    pub(super) fn edges(&self, router: &Cursor<'_>) -> Parsed<Vec<DownstreamEdge>> {
        let all = router.get("intra_chip_downstream_edges")?;
        let mut found = Vec::new();
        for (virtual_channel, edges) in all.numbered("vc")? {
            for (edge, at) in edges.numbered("edge")? {
                found.push(DownstreamEdge {
                    virtual_channel,
                    edge,
                    to: path::sender_channel(&at.get("downstream_channel")?)?,
                    through_tensix_mux: at.get("through_tensix_mux")?.flag()?,
                    fields: self.fields(&at)?,
                });
            }
        }
        Ok(found)
    }

    /// Reads a credit: a stream register, or an element of one of the router's arrays of counters.
    fn credit(&self, at: &Cursor<'_>, counters: &CreditCounters) -> Parsed<Credit> {
        let Some(array) = at.find("array") else { return Ok(Credit::Stream(self.stream(at)?)) };
        let array = array.one_of(&[
            ("credit_counters/to_sender_ack", &counters.to_sender_ack),
            ("credit_counters/to_sender_completion", &counters.to_sender_completion),
            ("credit_counters/receiver_ack", &counters.receiver_ack),
            ("credit_counters/receiver_completion", &counters.receiver_completion),
        ])?;
        let index = at.get("index")?;
        let number: u32 = index.number()?;
        let count = array.ty.count.unwrap_or(1);
        let what = || index.refused(format!("is {number}, and the array has {count} counters"));
        if number < count { Ok(Credit::Counter(array.address + number * 4)) } else { Err(what()) }
    }

    fn ring_buffer(&self, channel: &Cursor<'_>) -> Parsed<Option<RingBuffer>> {
        let at = channel.get("ring_buffer")?;
        let region = self.optional_region(at)?;
        let of = |region: L1Region| RingBuffer {
            address: region.address,
            slots: region.ty.count.unwrap_or(1),
            slot_bytes: region.ty.element_bytes(),
        };
        Ok(region.map(of))
    }
}

/// Returns the channels of all virtual channels: from 0, as many as the router's shape has.
fn numbered<'a>(
    all: &Cursor<'_>,
    by_vc: &'a BTreeMap<u8, Cursor<'a>>,
    counts: &[u8],
) -> Parsed<Numbered<'a>> {
    let mut found = Vec::new();
    for (&virtual_channel, channels) in by_vc {
        for (channel, at) in channels.numbered("ch")? {
            found.push((found.len() as u8, virtual_channel, channel, at));
        }
    }
    let shape =
        counts.iter().enumerate().flat_map(|(vc, &count)| (0..count).map(move |ch| (vc, ch)));
    let listed = found.iter().map(|&(_, vc, channel, _)| (usize::from(vc), channel));
    if found.len() > MOST_CHANNELS {
        Err(all.refused(format!("has more than {MOST_CHANNELS} channels")))
    } else if shape.eq(listed) {
        Ok(found)
    } else {
        Err(all.refused("contradicts the number of channels in the router's `shape`"))
    }
}

fn status(channel: &Cursor<'_>) -> Parsed<ChannelStatus> {
    channel.get("status")?.one_of(&[
        ("active", ChannelStatus::Active),
        ("vc_not_serviced", ChannelStatus::VirtualChannelNotServiced),
        ("mux", ChannelStatus::Mux),
        ("trimmed", ChannelStatus::Trimmed),
    ])
}

fn serviced_by(channel: &Cursor<'_>) -> Parsed<Vec<u8>> {
    let at = channel.get("serviced_by")?;
    at.texts()?.into_iter().map(|text| prefixed(&at, text, "erisc")).collect()
}

fn producer(at: &Cursor<'_>) -> Parsed<Producer> {
    Ok(match at.text()? {
        "worker" => Producer::Worker,
        "tensix_mux" => Producer::TensixMux,
        _ => Producer::Router(path::router(at)?),
    })
}

fn prefixed(at: &Cursor<'_>, text: &str, prefix: &str) -> Parsed<u8> {
    let what = || at.refused(format!("is {}, not `{prefix}` and a number", quoted(text)));
    path::prefixed(text, prefix).ok_or_else(what)
}
