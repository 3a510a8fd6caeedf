//! Builds the kernels of a fabric of tt-metal for an emulated mesh: `tests/tt-fabric.md`.

use clap::{Parser, ValueEnum};
use machine::fabric::FabricTopology;
use std::path::PathBuf;
use std::process::ExitCode;
use tests::tt_fabric::{Request, Route, Settings, build};

/// Builds the kernels of a fabric out of tt-metal's own sources, for `run=tt-fabric`.
#[derive(Parser)]
struct Words {
    /// The mesh, as `emulator:` names it
    #[arg(long, default_value = "n300")]
    mesh: String,
    /// The topology
    #[arg(long, default_value = "line")]
    topology: Topology,
    /// What the workers' packets pass before a router
    #[arg(long, default_value = "direct")]
    route: ViaRoute,
    /// The routers of all links yield to base firmware often, not only those of each edge's first
    #[arg(long)]
    every_link_yields: bool,
    /// Count credits in L1, as tt-metal's host does where it uses several transmit queues
    #[arg(long)]
    counter_credits: bool,
    /// Acknowledge packets before they are forwarded, as tt-metal's host does in rings
    #[arg(long)]
    first_level_ack: bool,
    /// The folder of the unpacked Python package `ttnn==0.81.1`
    #[arg(long, env = "MESHSCOPE_TT_METAL_ELFS")]
    wheel: PathBuf,
    /// The folder of the result
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Topology {
    Line,
    Mesh,
}

#[derive(Clone, Copy, ValueEnum)]
enum ViaRoute {
    Direct,
    Mux,
    MuxV2,
}

impl Words {
    fn request(self) -> Request {
        let Self { mesh, every_link_yields, counter_credits, first_level_ack, wheel, .. } = self;
        Request {
            mesh,
            topology: match self.topology {
                Topology::Line => FabricTopology::Line,
                Topology::Mesh => FabricTopology::Mesh,
            },
            route: match self.route {
                ViaRoute::Direct => Route::Direct,
                ViaRoute::Mux => Route::Mux,
                ViaRoute::MuxV2 => Route::MuxV2,
            },
            settings: Settings { every_link_yields, counter_credits, first_level_ack },
            wheel,
            compiled: self.out.join("build"),
            folder: self.out,
        }
    }
}

fn main() -> ExitCode {
    let request = Words::parse().request();
    match build(&request) {
        Ok(compiled) => {
            println!(
                "{}: {} kernels, {} distinct, {} compiled in {:.1} s",
                request.folder.display(),
                compiled.kernels,
                compiled.distinct,
                compiled.compiled,
                compiled.time.as_secs_f64()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
