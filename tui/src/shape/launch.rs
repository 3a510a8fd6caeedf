//! The JSON of `launch`.

use super::cores::{Core, core};
use super::xy;
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
}

/// A core on which a kernel was launched or taken away.
#[derive(Serialize, JsonSchema)]
struct LaunchedOn<'a> {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of its tile: x, y.
    tile: [u8; 2],
    /// erisc, brisc, ncrisc, trisc0, trisc1 or trisc2.
    core: &'static str,
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

/// A core, whether it was booted, the address of the arguments, the outcome, and its state.
type Of<'a> = (CoreId, bool, Option<u64>, &'static str, Option<&'a CoreState>);

impl<'a> Launched<'a> {
    /// The shape of `launch`, without its cores.
    pub(crate) fn new(target: &'a str, kernel: &'a ElfKernel, cycles: u64) -> Self {
        let ElfKernel { image, arguments, common, .. } = kernel;
        Self { target, kernel: image, arguments, common_arguments: common, cycles, on: Vec::new() }
    }

    /// The same with its cores.
    pub(crate) fn with(self, on: impl Iterator<Item = Of<'a>>) -> Self {
        let one = |(id, booted, config_base, outcome, seen): Of<'a>| LaunchedOn {
            chip: id.chip.0,
            tile: xy(id.tile),
            core: id.core.name(),
            booted,
            config_base,
            outcome,
            seen: seen.map(|state| core(state, false)),
        };
        Self { on: on.map(one).collect(), ..self }
    }
}
