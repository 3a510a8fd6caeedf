//! Options of `why`, `check` and `explain`.

use clap::Args;
use std::path::PathBuf;

/// `why`.
#[derive(Args, Debug)]
pub(crate) struct WhyArguments {
    /// Time over which the mesh is watched, such as 50ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "50ms")]
    pub(crate) over: String,
    /// Watch the mesh unattended until a fault or a hang is found, and record it then.
    #[arg(long)]
    pub(crate) watch: bool,
    /// The recording of --watch; an existing file is not overwritten. The default is
    /// why-SECONDS.mcap in the current directory.
    #[arg(long, value_name = "FILE", requires = "watch")]
    pub(crate) record: Option<PathBuf>,
}

/// `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// Also compare with this cluster descriptor, as UMD writes it, or with a shipped mesh such as
    /// t3000.
    #[arg(long, value_name = "DESCRIPTOR")]
    pub(crate) expect: Option<String>,
    /// Time over which the mesh is watched, such as 20ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "20ms")]
    pub(crate) over: String,
    /// Most CRC errors that an end of a link may have counted since its boot.
    #[arg(long, value_name = "N")]
    pub(crate) max_crc: Option<u32>,
}

/// `explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// The finding, such as link-down, or the protocol, such as router.
    pub(crate) name: Option<String>,
}
