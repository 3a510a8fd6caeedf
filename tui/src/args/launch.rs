//! The options of `launch`.

use clap::Args;
use std::path::PathBuf;

/// A kernel, where it runs, and with what.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct LaunchArguments {
    /// The kernel: an executable ELF, linked for the address at which it runs.
    #[arg(value_name = "KERNEL.elf", required_unless_present = "stop")]
    pub(crate) kernel: Option<PathBuf>,
    /// The tiles or cores: 0:1-2, 0:e8 or 0:1-2:trisc1.
    #[arg(long, value_name = "PLACE,...", value_delimiter = ',', required = true)]
    pub(crate) on: Vec<String>,
    /// The core of each tile: brisc, ncrisc, trisc0, trisc1, trisc2 or erisc; by default the one
    /// for which the ELF was linked.
    #[arg(long, value_name = "CORE")]
    pub(crate) core: Option<String>,
    /// Runtime arguments, words of 32 bits, decimal or 0x hexadecimal.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', num_args = 1.., conflicts_with = "stop")]
    pub(crate) args: Vec<String>,
    /// Common runtime arguments, likewise.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', num_args = 1.., conflicts_with = "stop")]
    pub(crate) common_args: Vec<String>,
    /// Initial values of the semaphores, likewise.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', num_args = 1.., conflicts_with = "stop")]
    pub(crate) semaphores: Vec<String>,
    /// Circular buffers: number, address in L1, pages and bytes of a page, such as 0:0x40000:4:2048.
    #[arg(
        long,
        value_name = "N:ADDR:PAGES:BYTES,...",
        value_delimiter = ',',
        conflicts_with = "stop"
    )]
    pub(crate) cb: Vec<String>,
    /// Wait until the kernel has returned; one that has not when the time is over is taken away,
    /// and the exit code is 1.
    #[arg(long, conflicts_with = "stop")]
    pub(crate) wait: bool,
    /// Let it run for this time of the target, such as 500us or 2ms, and take it away then; with
    /// --wait this long at most [default: 100ms].
    #[arg(long = "for", value_name = "TIME", conflicts_with = "stop")]
    pub(crate) over: Option<String>,
    /// Take away the kernel that runs on the tiles, instead of launching one.
    #[arg(long, conflicts_with = "kernel")]
    pub(crate) stop: bool,
}
