//! The mesh of a seed, left in its congestion with its host gone.

use super::bench::Bench;
use super::{Congestion, MuxSetup, MuxWait, prepared};
use crate::scene::{DEFAULT_PACE, Pace, SceneError};
use access::bar_target::BarTarget;
use images::ImageMap;
use machine::fabric::MuxCore;
use machine::target::Target as _;

/// Workers of each mux, as in the write-up.
const WORKERS: usize = 8;

/// A run as a mesh that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxScene {
    /// A mesh of two chips or more.
    pub mesh: String,
    /// The seed of the workers' packets and of the congestion.
    pub seed: u64,
    /// How the muxes wait.
    pub wait: MuxWait,
    /// Time since the congestion began at which the mesh is handed over; none: that of the healthy
    /// run.
    pub after_cycles: Option<u64>,
    /// How fast emulated time passes in the live view.
    pub pace: Pace,
}

impl MuxScene {
    /// Returns the run in which the muxes wait as the write-up's did.
    pub fn new(mesh: impl Into<String>, seed: u64) -> Self {
        let wait = MuxWait::ALL[0];
        Self { mesh: mesh.into(), seed, wait, after_cycles: None, pace: DEFAULT_PACE }
    }

    /// Builds the mesh, runs the seed's case without congestion as the study does, which tells how
    /// long it takes, and then with it. The congestion does not end: reading the mesh takes longer
    /// than most congestions of the study last.
    ///
    /// # Errors
    /// When the mesh or its fabric cannot be built.
    pub fn build(&self, images: &mut ImageMap) -> Result<BarTarget, SceneError> {
        let mut bench = Bench::open(&MuxSetup {
            mesh: &self.mesh,
            core: MuxCore::Tensix,
            workers: WORKERS,
            links: None,
            seed: self.seed,
        })?;
        let (case, congestion, healthy) = prepared(&mut bench, self.seed)?;
        let congestion = Congestion { cycles: None, ..congestion };
        bench.start(&case, self.wait)?;
        let start = bench.target.now()?;
        bench.congest(&case, Some(&congestion), start)?;
        let after = self.after_cycles.unwrap_or(healthy.cycles);
        bench.target.pass(congestion.from_cycles + after)?;
        *images = bench.images;
        Ok(bench.target)
    }
}
