//! The subcommands of `meshscope fabric`.

use clap::{Args, Subcommand, ValueHint};
use console::fabric::Addressee;
use fabric::TakenOut;
use std::path::PathBuf;

/// A subcommand of `fabric`.
#[derive(Debug, Subcommand)]
pub(crate) enum FabricQuestion {
    /// Print what the fabric node status queues hold: links that went down, observed rates, dropped
    /// packets, routing errors.
    ///
    /// The queues are in the DRAM of each chip and are not changed: the entries remain in them.
    Status(StatusArguments),
    /// The same, and free the printed entries, so that the routers can write new ones.
    ///
    /// On a target outside this process it needs --allow write.
    Drain(StatusArguments),
    /// Print waits that last between two snapshots: clients, muxes, routers, links; deadlocks
    /// first.
    ///
    /// A router whose loop does not run is printed whether or not anything waits for it yet.
    Waits(WaitsArguments),
    /// Print the routing tables in the L1 of routers: L0 by device, L1 by mesh with exit nodes.
    Tables(TablesArguments),
    /// Print the path of a packet hop by hop, in every routing plane, by the tables in the L1 of
    /// the routers on it.
    Path(PathArguments),
    /// Prove the routing tables: every packet arrives, no channels can wait for each other in a
    /// circle, opposite flows between two meshes use different links.
    Check(ProofArguments),
    /// Prove routing tables, and write them into the L1 of their routers.
    ///
    /// On a target outside this process it needs --allow write.
    Load(LoadArguments),
    /// End the fabric, and bring up one of the chips that are left when a chip, row or column is taken
    /// out.
    ///
    /// On a target outside this process it needs --allow write,launch,reset.
    Rebuild(RebuildArguments),
}

/// Which queues, and where their entries are kept.
#[derive(Args, Debug)]
pub(crate) struct StatusArguments {
    /// Only this chip, tile, Ethernet channel or core: 0, 0:9-6, 0:e8 or 0:9-6:erisc.
    pub(crate) place: Option<String>,
    /// Append each entry that this file does not contain yet, as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
}

/// The time without change.
#[derive(Args, Debug)]
pub(crate) struct WaitsArguments {
    /// Cycles between the two snapshots.
    #[arg(long, value_name = "CYCLES", default_value_t = 100_000)]
    pub(crate) over: u64,
}

/// The routers of the tables.
#[derive(Args, Debug)]
pub(crate) struct TablesArguments {
    /// Only this chip, tile, Ethernet channel or core: 0, 0:9-6, 0:e8 or 0:9-6:erisc.
    pub(crate) place: Option<String>,
}

/// The ends of the path.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathArguments {
    /// The chip that sends, or its node in the fabric, such as M1D3.
    pub(crate) from: Addressee,
    /// The destination chip, or its node.
    pub(crate) to: Addressee,
}

/// The tables that are proved.
#[derive(Args, Clone, Debug)]
pub(crate) struct ProofArguments {
    /// Tables of some routers, as `fabric tables --json` prints them, in place of those in L1.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tables: Option<PathBuf>,
}

/// The tables that are loaded.
#[derive(Args, Clone, Debug)]
pub(crate) struct LoadArguments {
    /// Tables of some routers, as `fabric tables --json` prints them; those of the others stay.
    pub(crate) file: PathBuf,
}

/// What is taken out.
#[derive(Args, Clone, Debug)]
pub(crate) struct RebuildArguments {
    /// A chip, row or column that is taken out: 5, row:1 or column:2.
    ///
    /// May be given more than once.
    #[arg(long, required = true, value_name = "WHAT")]
    pub(crate) without: Vec<TakenOut>,
}
