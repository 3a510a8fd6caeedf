//! The questions that `meshscope fabric` puts to a fabric that runs, and what `--help` promises about their JSON.

use crate::fabric::Addressee;
use crate::locate;
use clap::{Args, Subcommand};
use layouts::ChipId;
use std::path::PathBuf;

/// A question to a fabric.
#[derive(Debug, Subcommand)]
pub(crate) enum FabricQuestion {
    /// Print what the fabric node status queues hold: links that went down, observed rates, dropped packets, routing errors.
    ///
    /// The queues lie in the DRAM of each chip. No word of theirs is changed: what is printed is still there.
    /// JSON: {"target","cycles","queues":[{"chip","channel","run_id","room","write_count","read_count","lost","entries":[
    /// {"event","number","cycles","mesh","device","direction","detail":[n,n,n,n],"text"}]}]}.
    Status(StatusArguments),
    /// The same, and free the entries that were printed, for the routers to write new ones.
    ///
    /// On a machine that is not this program's own it needs --allow write.
    Drain(StatusArguments),
    /// Print who waits for whom and has not moved between two looks: clients, muxes, routers, links; deadlocks first.
    ///
    /// A router whose loop does not turn is named whether or not anybody waits for it yet.
    ///
    /// JSON: {"target","cycles","over_cycles","waits":[{"who":party,"on":party,"for"}],"roots":[party with "note"],
    /// "still":[party],"deadlocks":[[party,...]]}; party: {"name","kind","core"|"chip","channel","index"}. Exit code 1 if
    /// anybody waits or stands still.
    Waits(WaitsArguments),
    /// Print the routing tables as they stand in the L1 of routers: L0 by device, L1 by mesh with exit nodes.
    ///
    /// JSON: {"target","cycles","tables":[{"router","node","row","column","rows","columns","l0":[direction|"here"|null],
    /// "l1":[...],"exit_nodes":[device|null]}]}. Exit code 1 if two routers of a chip have different ones.
    Tables(TablesArguments),
    /// Print the way of a packet hop by hop, in every routing plane, by the tables in the L1 of the routers it comes to.
    ///
    /// JSON: {"target","cycles","from","to","ways":[{"hops":[{"out","into","direction","virtual_channel"}],
    /// "end":"arrived"|"no_entry"|"no_router"|"loop"|"unread","at"}]}. Exit code 1 if a packet would not arrive.
    Path(PathArguments),
}

/// Which queues, and where their entries are kept.
#[derive(Args, Debug)]
pub(crate) struct StatusArguments {
    /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
    pub(crate) place: Option<String>,
    /// Append the entries that this file does not hold yet, each as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
}

/// How long nothing has to move.
#[derive(Args, Debug)]
pub(crate) struct WaitsArguments {
    /// Cycles between the two looks.
    #[arg(long, value_name = "CYCLES", default_value_t = 100_000)]
    pub(crate) over: u64,
}

/// Whose tables.
#[derive(Args, Debug)]
pub(crate) struct TablesArguments {
    /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
    pub(crate) place: Option<String>,
}

/// From where to where.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathArguments {
    /// The chip that sends.
    #[arg(value_parser = locate::chip)]
    pub(crate) from: ChipId,
    /// The chip that it is for, or its node in the fabric, such as M1D3.
    pub(crate) to: Addressee,
}
