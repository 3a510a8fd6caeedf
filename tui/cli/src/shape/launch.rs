//! The JSON of `launch`.

use super::cores::{Core, core};
use super::why::Judged;
use decode::state::CoreState;
use launch::elf_kernel::ElfKernel;
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;

/// A kernel that was launched or taken away.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Launched<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// Name of the kernel's image; empty if what was taken away is not known.
    kernel: &'a str,
    /// Its runtime arguments.
    arguments: &'a [u32],
    /// Its common runtime arguments.
    common_arguments: &'a [u32],
    /// The time of the target that the verb took, in cycles of a nanosecond.
    cycles: u64,
    /// The cores with what became of the kernel.
    on: Vec<LaunchedOn<'a>>,
    /// The verdict on the mesh when a kernel had not returned within --wait, as `why` prints it;
    /// omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Judged<'a>>,
}

/// A core on which a kernel was launched or taken away.
#[derive(Serialize, JsonSchema)]
struct LaunchedOn<'a> {
    #[serde(flatten)]
    core: CoreId,
    /// Whether firmware was booted there first.
    booted: bool,
    /// Address of the runtime arguments; null for a kernel that ran already.
    config_base: Option<u64>,
    /// returned, running, ended (it was told to), rebooted (its tile was reset and its firmware
    /// booted again), in-reset (its tile stays in reset) or stays (it still runs).
    outcome: &'static str,
    /// The core when the kernel had returned or before it was taken away, as `cores` prints it;
    /// null if it was not read.
    seen: Option<Core<'a>>,
}

/// What is to be told about a tile.
pub(crate) struct LaunchedTile<'a> {
    /// The core.
    pub(crate) core: CoreId,
    /// Whether firmware was booted there first.
    pub(crate) booted: bool,
    /// Address of the runtime arguments.
    pub(crate) config_base: Option<u64>,
    /// What became of the kernel.
    pub(crate) outcome: &'static str,
    /// The core, as it was last seen.
    pub(crate) seen: Option<&'a CoreState>,
}

impl<'a> Launched<'a> {
    /// The shape of `launch`.
    pub(crate) fn new(
        target: &'a str,
        kernel: &'a ElfKernel,
        cycles: u64,
        on: impl Iterator<Item = LaunchedTile<'a>>,
    ) -> Self {
        let one = |tile: LaunchedTile<'a>| LaunchedOn {
            core: tile.core,
            booted: tile.booted,
            config_base: tile.config_base,
            outcome: tile.outcome,
            seen: tile.seen.map(|state| core(state, false)),
        };
        let ElfKernel { image, arguments, common, .. } = kernel;
        let on = on.map(one).collect();
        let (common_arguments, verdict) = (common, None);
        Self { target, kernel: image, arguments, common_arguments, cycles, on, verdict }
    }

    /// The same with a verdict on the mesh.
    pub(crate) fn judged(self, verdict: Option<Judged<'a>>) -> Self {
        Self { verdict, ..self }
    }
}
