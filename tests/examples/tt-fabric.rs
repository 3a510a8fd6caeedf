//! Builds the kernels of a fabric of tt-metal for an emulated mesh: `tests/tt-fabric.md`.

use clap::{Parser, ValueEnum};
use machine::fabric::FabricTopology;
use std::path::PathBuf;
use std::process::ExitCode;
use tests::tt_fabric::{Request, Route, build};

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

fn main() -> ExitCode {
    let Words { mesh, topology, route, every_link_yields, wheel, out } = Words::parse();
    let topology = match topology {
        Topology::Line => FabricTopology::Line,
        Topology::Mesh => FabricTopology::Mesh,
    };
    let route = match route {
        ViaRoute::Direct => Route::Direct,
        ViaRoute::Mux => Route::Mux,
        ViaRoute::MuxV2 => Route::MuxV2,
    };
    let folder = out.clone();
    match build(&Request { mesh, topology, route, every_link_yields, wheel, folder }) {
        Ok(compiled) => {
            println!(
                "{}: {} kernels, {} distinct, {} compiled in {:.1} s",
                out.display(),
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
