//! The questions that `meshscope fabric` puts to a fabric that runs.

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
    Status(StatusArguments),
    /// The same, and free the entries that were printed, for the routers to write new ones.
    ///
    /// On a machine that is not this program's own it needs --allow write.
    Drain(StatusArguments),
    /// Print who waits for whom and has not moved between two looks: clients, muxes, routers, links; deadlocks first.
    ///
    /// A router whose loop does not turn is named whether or not anybody waits for it yet.
    Waits(WaitsArguments),
    /// Print the routing tables as they stand in the L1 of routers: L0 by device, L1 by mesh with exit nodes.
    Tables(TablesArguments),
    /// Print the way of a packet hop by hop, in every routing plane, by the tables in the L1 of the routers it comes to.
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
