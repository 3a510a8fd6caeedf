//! Options of `who-wrote`.

use clap::Args;

/// Which write is searched for.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhoWroteArguments {
    /// The place: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>, in L1 or
    /// DRAM; the address decimal or 0x hexadecimal.
    pub(crate) place: String,
    /// Number of bytes, decimal or 0x hexadecimal.
    #[arg(long, default_value = "4", value_name = "N")]
    pub(crate) len: String,
    /// Only writes before this time of the target since power on, such as 12ms or 4936938ns; by
    /// default, all.
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Only writes that changed a byte.
    #[arg(long)]
    pub(crate) changed: bool,
}
