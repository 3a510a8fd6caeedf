//! Over what the channels of a collective lead: links with an EDM at each end, or the fabric, with muxes where several workers of a
//! chip share a router.

use fabric::FabricPlan;
use fabric::mux::Policy;
use layouts::EthId;
use machine::fabric::MuxCore;
use machine::fabric::{FabricNode, FabricTopology};
use machine::place::Place;
use std::collections::BTreeMap;

/// How packets get from rank to rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// EDMs at both ends of every link.
    #[default]
    Edm,
    /// The fabric.
    Fabric(FabricOptions),
}

impl Transport {
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edm => "edm",
            Self::Fabric(_) => "fabric",
        }
    }
}

/// Which fabric, and which muxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricOptions {
    /// What its routers are built for; that of the ranks if not told.
    pub topology: Option<FabricTopology>,
    /// Routing planes; one more than links if not told, where there are so many: packets of a link that goes down have another way.
    pub planes: Option<u32>,
    /// What muxes run on.
    pub core: MuxCore,
    /// How they wait for their router.
    pub policy: Policy,
    /// Slots of each of their channels.
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
    /// The router that it stands in front of.
    pub router: EthId,
    /// Workers by channel; the first one is the termination master.
    pub clients: Vec<Place>,
}

/// Where a worker's packets leave its chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It is the only client of this router.
    Router(EthId),
    /// By a channel of the mux of this number.
    Mux {
        /// Index into [`Crossing::muxes`].
        mux: usize,
        /// Its channel.
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
    /// By which its packets leave.
    pub exits: Vec<Exit>,
    /// Who sends to it.
    pub inbound: Option<FarEnd>,
    /// To whom it sends.
    pub outbound: Option<FarEnd>,
}

/// How the workers of a program use a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The fabric.
    pub plan: FabricPlan,
    /// It runs already, and goes on when the program is over.
    pub found: bool,
    /// What was wished.
    pub options: FabricOptions,
    /// Muxes of the run.
    pub muxes: Vec<MuxPlan>,
    /// Connections of each worker.
    pub ends: BTreeMap<Place, WorkerEnds>,
}

impl Crossing {
    /// The routers that are used, and who has the channel of each: a worker, or a mux.
    pub(super) fn clients(&self) -> BTreeMap<EthId, Place> {
        let direct = self.ends.iter().flat_map(|(&place, ends)| {
            ends.exits.iter().filter_map(move |exit| match exit {
                Exit::Router(router) => Some((*router, place)),
                Exit::Mux { .. } => None,
            })
        });
        direct.chain(self.muxes.iter().map(|mux| (mux.router, mux.place))).collect()
    }
}
