//! A router of a manifest.

use super::channels::{CreditCounters, DownstreamEdge, ReceiverChannel, SenderChannel};
use super::cursor::{Cursor, Parsed};
use super::fields::Fields;
use super::path::{self, RouterPath};
use super::types::{Context, L1Region};
use std::collections::BTreeMap;

/// A router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestRouter {
    /// Its path.
    pub path: RouterPath,
    /// The Ethernet channel of its tile.
    pub eth_channel: u8,
    /// The tile's logical coordinate, x and y.
    pub logical_core: [u16; 2],
    /// The tile's coordinate for kernels, x and y: translated on Wormhole.
    pub virtual_core: [u16; 2],
    /// Its link.
    pub link: EthLink,
    /// Numbers of channels and cores.
    pub shape: RouterShape,
    /// Its arrays of credit counters.
    pub credit_counters: CreditCounters,
    /// Its sender channels, in the order of their indexes.
    pub senders: Vec<SenderChannel>,
    /// Its receiver channels, in the order of their indexes.
    pub receivers: Vec<ReceiverChannel>,
    /// Its edges to the routers downstream.
    pub downstream: Vec<DownstreamEdge>,
    /// `edm_status`, `termination_signal`, `handshake`, `local_sync`, `my_direction`, and others.
    pub fields: Fields,
    /// Its cores by number.
    pub eriscs: BTreeMap<u8, Erisc>,
    /// The L1 behind its channels, if some is left.
    pub leftover_l1: Option<L1Region>,
}

/// The link of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EthLink {
    /// `intramesh_cardinal`, `intramesh_express` or `intermesh`.
    pub edge_capability: String,
    /// The router at the other end; none if no router runs there.
    pub peer: Option<RouterPath>,
    /// Whether the other end belongs to another host.
    pub cross_host: bool,
    /// Whether it connects the ends of a row or column.
    pub wrap: bool,
    /// Whether the host's dispatch uses it.
    pub dispatch_link: bool,
}

/// Numbers of channels and cores of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterShape {
    /// Virtual channels.
    pub virtual_channels: u8,
    /// Sender channels by virtual channel.
    pub senders: Vec<u8>,
    /// Receiver channels by virtual channel.
    pub receivers: Vec<u8>,
    /// Cores.
    pub active_eriscs: u8,
    /// Whether a profile of used channels turned some off.
    pub channel_trimming: bool,
    /// Whether virtual channel 0 uses bubble flow control, and with it first-level acknowledges.
    pub bubble_flow_control: bool,
}

/// A core of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erisc {
    /// The processor, such as `riscv_0`.
    pub processor: String,
    /// `local_handshake_master`, `handshake_enabled`, and others.
    pub fields: Fields,
}

impl Context<'_> {
    /// Reads a router.
    pub(super) fn router(&self, at: &Cursor<'_>, path: RouterPath) -> Parsed<ManifestRouter> {
        let identity = at.get("identity")?;
        let shape = shape(&at.get("shape")?)?;
        let credit_counters = self.counters(at)?;
        let eriscs = at.get("eriscs")?;
        let eriscs = eriscs.numbered("erisc")?.into_iter().map(|(number, at)| {
            let processor = at.get("processor")?.text()?.to_owned();
            Ok((number, Erisc { processor, fields: self.fields(&at)? }))
        });
        Ok(ManifestRouter {
            path,
            eth_channel: self.eth_channel(&identity.get("eth_chan")?)?,
            logical_core: core(&identity.get("logical_core")?)?,
            virtual_core: core(&identity.get("virtual_core")?)?,
            link: link(&at.get("link")?)?,
            senders: self.senders(at, &shape.senders, &credit_counters)?,
            receivers: self.receivers(at, &shape.receivers)?,
            shape,
            credit_counters,
            downstream: self.edges(at)?,
            fields: self.fields(at)?,
            eriscs: eriscs.collect::<Parsed<_>>()?,
            leftover_l1: self.optional_region(at.get("leftover_l1")?)?,
        })
    }

    fn eth_channel(&self, at: &Cursor<'_>) -> Parsed<u8> {
        let channel = at.number()?;
        self.layout.eth_tile(channel).map_err(|none| at.refused(format!("is wrong: {none}")))?;
        Ok(channel)
    }
}

fn core(at: &Cursor<'_>) -> Parsed<[u16; 2]> {
    at.numbers()?.try_into().map_err(|_| at.refused("is no pair of coordinates"))
}

fn link(at: &Cursor<'_>) -> Parsed<EthLink> {
    Ok(EthLink {
        edge_capability: at.get("edge_capability")?.text()?.to_owned(),
        peer: at.get("peer")?.present().map(|peer| path::router(&peer)).transpose()?,
        cross_host: at.get("cross_host")?.flag()?,
        wrap: at.get("wrap")?.flag()?,
        dispatch_link: at.get("dispatch_link")?.flag()?,
    })
}

fn shape(at: &Cursor<'_>) -> Parsed<RouterShape> {
    Ok(RouterShape {
        virtual_channels: at.get("num_vcs")?.number()?,
        senders: at.get("senders_per_vc")?.numbers()?,
        receivers: at.get("receivers_per_vc")?.numbers()?,
        active_eriscs: at.get("num_active_eriscs")?.number()?,
        channel_trimming: at.get("channel_trimming_overrides_applied")?.flag()?,
        bubble_flow_control: at.get("vc0_bubble_flow_control")?.flag()?,
    })
}
