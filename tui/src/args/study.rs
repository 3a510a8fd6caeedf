//! Options of the studies that have several.

use clap::{Args, ValueEnum};

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
}
