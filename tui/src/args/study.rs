//! Options of the studies that have several.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Race {
    /// The second op of one chip begins while the other chip still runs the first.
    Start,
    /// The first op of one chip returns while its credits are still in flight.
    Completion,
    /// Both races, one after the other.
    Both,
}

/// `study race`.
#[derive(Args, Debug)]
pub(crate) struct RaceArguments {
    /// The mesh; its first free link is taken.
    #[arg(long, default_value = "n300", value_name = "MESH")]
    pub(crate) mesh: String,
    /// Which race.
    #[arg(long, default_value = "both", value_name = "RACE")]
    pub(crate) kind: Race,
    /// The first seed: channels, messages, the receiver's time for each, the delay of its chip.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) seed: u64,
    /// Number of seeds.
    #[arg(long, default_value = "5", value_name = "N")]
    pub(crate) seeds: String,
}

/// `study ttl`.
#[derive(Args, Debug)]
pub(crate) struct TtlArguments {
    /// The mesh; from four rows and columns on, the loop is that of the TT-Fabric specification's
    /// example.
    #[arg(long, default_value = "galaxy", value_name = "MESH")]
    pub(crate) mesh: String,
    /// One packet is sent for each time to live from 1 to this.
    #[arg(long, default_value = "12", value_name = "N")]
    pub(crate) most: String,
}

/// `study timeout`.
#[derive(Args, Debug)]
pub(crate) struct TimeoutArguments {
    /// The mesh, and words of its scene; three chips in a row are used.
    #[arg(long, default_value = "t3000", value_name = "MESH")]
    pub(crate) mesh: String,
    /// What the routers are built for: line, ring, mesh or torus.
    #[arg(long, default_value = "line", value_name = "TOPOLOGY")]
    pub(crate) topology: String,
}

/// How the data of a paused all-gather travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PauseTransport {
    /// Over links with an EDM at each end.
    Edm,
    /// Over the fabric.
    Fabric,
    /// First over links with EDMs, then over the fabric.
    Both,
}

/// `study pause`.
#[derive(Args, Debug)]
pub(crate) struct PauseArguments {
    /// The mesh, and words of its scene.
    #[arg(long, default_value = "t3000", value_name = "MESH")]
    pub(crate) mesh: String,
    /// How the data travel.
    #[arg(long, default_value = "both", value_name = "TRANSPORT")]
    pub(crate) transport: PauseTransport,
    /// Bytes of the all-gather.
    #[arg(long, default_value = "262144", value_name = "N")]
    pub(crate) bytes: String,
    /// The first seed: the moment of the pause.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) seed: u64,
    /// Number of seeds of each transport.
    #[arg(long, default_value = "5", value_name = "N")]
    pub(crate) seeds: String,
}

/// `study clean`.
#[derive(Args, Debug)]
pub(crate) struct CleanStudyArguments {
    /// The mesh.
    #[arg(long, default_value = "n300", value_name = "MESH")]
    pub(crate) mesh: String,
    /// Seed of the moments.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) seed: u64,
    /// Number of moments of each launcher over each transport.
    #[arg(long, default_value = "20", value_name = "N")]
    pub(crate) seeds: String,
    /// Start `run` and the live view as processes on a served mesh, and send them SIGKILL, instead
    /// of forgetting a run of this process.
    #[arg(long)]
    pub(crate) sigkill: bool,
    /// Disturb all-gathers that nobody kills, and print what their own teardown does: a link is down
    /// for 10 us, a link flaps, a core is stuck for a while, all links between two chips are lost
    /// and come back.
    #[arg(long, conflicts_with = "sigkill")]
    pub(crate) faults: bool,
}

/// `study why`.
#[derive(Args, Debug)]
pub(crate) struct WhyStudyArguments {
    /// Only runs of this kind; a wrong name lists all.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// The first seed: mesh, run, place, time and parameters.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) seed: u64,
    /// Number of seeds of each kind.
    #[arg(long, default_value = "1", value_name = "N")]
    pub(crate) seeds: String,
    /// Record the run of this kind and seed instead, with a mark at what is found.
    #[arg(long, value_name = "FILE", requires = "kind", conflicts_with = "seeds")]
    pub(crate) record: Option<PathBuf>,
}

/// `study mux`.
#[derive(Args, Debug)]
pub(crate) struct MuxArguments {
    /// The mesh; the chip with the most links takes part, and its neighbours.
    #[arg(long, default_value = "t3000", value_name = "MESH")]
    pub(crate) mesh: String,
    /// The first seed, which determines what the workers send, and the link's faults.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) seed: u64,
    /// Number of seeds.
    #[arg(long, default_value = "20", value_name = "N")]
    pub(crate) seeds: String,
    /// What the mux runs on: brisc (of a compute tile) or erisc (an Ethernet tile without a
    /// link).
    #[arg(long, default_value = "brisc", value_name = "CORE")]
    pub(crate) on: String,
    /// Workers of each mux, at most 8.
    #[arg(long, default_value = "8", value_name = "N")]
    pub(crate) workers: String,
    /// Links, each with a mux of its own; by default two, or as many as there are.
    #[arg(long, value_name = "N")]
    pub(crate) links: Option<String>,
    /// Open the mesh of this seed in the live view, after its congestion has begun: the muxes wait
    /// as the write-up's do, on brisc cores with 8 workers each.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["seed", "seeds", "on", "workers", "links", "hang"])]
    pub(crate) open: Option<u64>,
    /// Let a host wait for the first run of this policy (or of all) that never ends, until its
    /// time limit, as a user would see it: 5 s of emulated time take minutes.
    #[arg(long, value_name = "POLICY")]
    pub(crate) hang: Option<String>,
    /// Time between that host's polls of the dispatcher.
    #[arg(long, default_value = "100ms", value_name = "TIME")]
    pub(crate) poll: String,
    /// That host's time limit without progress.
    #[arg(long, default_value = "5s", value_name = "TIME")]
    pub(crate) patience: String,
}
