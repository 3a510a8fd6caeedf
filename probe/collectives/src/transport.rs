//! The transport of a collective's channels: links with an EDM at each end, or the fabric, with
//! muxes where several workers of a chip share a router.

use fabric::FabricPlan;
use fabric::mux::Policy;
use layouts::EthId;
use machine::fabric::MuxCore;
use machine::fabric::{FabricNode, FabricTopology};
use machine::place::Place;
use std::collections::BTreeMap;

/// How packets travel from rank to rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// EDMs at both ends of every link.
    #[default]
    Edm,
    /// The fabric.
    Fabric(FabricOptions),
}

impl Transport {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edm => "edm",
            Self::Fabric(_) => "fabric",
        }
    }
}

/// The choice of the fabric and its muxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricOptions {
    /// The topology of its routers; by default that of the ranks.
    pub topology: Option<FabricTopology>,
    /// Routing planes; by default one more than links, if available, so that packets of a failed
    /// link have an alternative route.
    pub planes: Option<u32>,
    /// The kind of core that muxes run on.
    pub core: MuxCore,
    /// How muxes wait for their router.
    pub policy: Policy,
    /// Slots of each channel of a mux.
    pub slots: u32,
}

impl Default for FabricOptions {
    fn default() -> Self {
        let (core, policy) = (MuxCore::Tensix, Policy::Unbounded);
        Self { topology: None, planes: None, core, policy, slots: 4 }
    }
}

/// A mux of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxPlan {
    /// Its tile.
    pub place: Place,
    /// Its router.
    pub router: EthId,
    /// Workers by channel; the first is the termination master.
    pub clients: Vec<Place>,
}

/// Where a worker's packets leave its chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The router, with the worker as its only client.
    Router(EthId),
    /// A channel of a mux.
    Mux {
        /// Index into [`Crossing::muxes`].
        mux: usize,
        /// The channel.
        channel: u32,
    },
}

/// The worker at the other end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Its tile.
    pub place: Place,
    /// Its chip.
    pub node: FabricNode,
    /// Hops from here.
    pub hops: u32,
    /// Index into [`WorkerEnds::exits`].
    pub exit: usize,
}

/// A worker's connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerEnds {
    /// Its chip.
    pub node: FabricNode,
    /// The exits of its packets.
    pub exits: Vec<Exit>,
    /// The worker that sends to it.
    pub inbound: Option<FarEnd>,
    /// The worker to which it sends.
    pub outbound: Option<FarEnd>,
}

/// How the workers of a program use a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The fabric.
    pub plan: FabricPlan,
    /// Whether it was already running, and continues after the program has ended.
    pub found: bool,
    /// The requested options.
    pub options: FabricOptions,
    /// Muxes of the run.
    pub muxes: Vec<MuxPlan>,
    /// Connections of each worker.
    pub ends: BTreeMap<Place, WorkerEnds>,
}

impl Crossing {
    /// Returns the routers in use, and the client of each: a worker or a mux.
    pub fn clients(&self) -> BTreeMap<EthId, Place> {
        let direct = self.ends.iter().flat_map(|(&place, ends)| {
            ends.exits.iter().filter_map(move |exit| match exit {
                Exit::Router(router) => Some((*router, place)),
                Exit::Mux { .. } => None,
            })
        });
        direct.chain(self.muxes.iter().map(|mux| (mux.router, mux.place))).collect()
    }
}
