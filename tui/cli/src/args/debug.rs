//! The arguments of `debug` and `gdb`.

use clap::Args;

/// The arguments of `debug`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DebugArguments {
    /// The core: 0:1-2:trisc0 or 0:1-2; without a core's name the first of the tile.
    pub(crate) core: String,
    /// What to do, in order: stepi [N], step-line, next-line, registers, code, break PLACE,
    /// watch ADDR, delete, continue.
    #[arg(value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
}

/// The arguments of `gdb`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GdbArguments {
    /// The cores, each a thread: 0:1-2:brisc,0:1-2:trisc0.
    #[arg(required = true, value_delimiter = ',', value_name = "CORE")]
    pub(crate) cores: Vec<String>,
    /// The port of this host, for a client of this host.
    #[arg(long, default_value_t = 3333, value_name = "N")]
    pub(crate) port: u16,
    /// Speak on standard input and output instead, for GDB's `target remote |`.
    #[arg(long, conflicts_with = "port")]
    pub(crate) stdio: bool,
}
