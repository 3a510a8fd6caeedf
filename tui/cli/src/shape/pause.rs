//! The JSON of `pause` and `resume`.

use console::run::pausing::AtRest;
use console::run::stepping::{PartyStep, SteppedKernel};
use console::words;
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;

/// The kernels of a mesh at rest, and what was counted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PausedMesh<'a> {
    /// The target.
    target: &'a str,
    /// The kernels that were asked to pause, by core.
    kernels: Vec<PausedKernel<'a>>,
    /// Routers without a command to pause, whose packets stand.
    routers: usize,
    /// The kernels that cannot be paused; null if there are none.
    refused: Option<&'a str>,
    /// EDM channels that were compared at both ends.
    edm_channels: usize,
    /// Directions of links between routers, in each virtual channel, that were compared at both
    /// ends.
    fabric_channels: usize,
    /// Semaphores between workers and EDMs that were compared.
    semaphores: usize,
    /// Messages and packets in flight.
    in_flight: u64,
    /// What does not add up, one sentence each.
    miscounts: &'a [String],
}

/// A kernel.
#[derive(Serialize, JsonSchema)]
struct PausedKernel<'a> {
    #[serde(flatten)]
    core: CoreId,
    /// The kernel's name.
    kernel: &'a str,
    /// parked, waits (it waits for another and changes nothing) or returned.
    state: &'static str,
}

/// What was resumed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Resumed<'a> {
    /// The target.
    target: &'a str,
    /// Kernels that run on.
    kernels: usize,
}

impl<'a> PausedMesh<'a> {
    pub(crate) fn new(target: &'a str, rest: &'a AtRest) -> Self {
        let AtRest { paused, balance } = rest;
        let kernels = paused.rest.iter().map(|(core, (kernel, rest))| PausedKernel {
            core: *core,
            kernel,
            state: rest.into(),
        });
        Self {
            target,
            kernels: kernels.collect(),
            routers: paused.routers,
            refused: paused.refusal.as_deref(),
            edm_channels: balance.edm_channels,
            fabric_channels: balance.fabric_channels,
            semaphores: balance.semaphores,
            in_flight: balance.in_flight,
            miscounts: &balance.miscounts,
        }
    }
}

impl<'a> Resumed<'a> {
    pub(crate) fn new(target: &'a str, kernels: usize) -> Self {
        Self { target, kernels }
    }
}

/// The steps of paused kernels.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SteppedMesh<'a> {
    /// The target.
    target: &'a str,
    /// The kernels after each step.
    steps: Vec<Vec<Stepped<'a>>>,
}

/// A kernel after a step.
#[derive(Serialize, JsonSchema)]
struct Stepped<'a> {
    #[serde(flatten)]
    core: CoreId,
    /// The kernel's name.
    kernel: &'a str,
    /// parked, waits (it waits for another and changes nothing) or returned; null if nothing holds it.
    state: Option<&'static str>,
    /// The parties of protocols that it is, and their stages.
    parties: Vec<SteppedParty>,
    /// The parties that it was before the step and is no longer.
    left: Vec<LeftParty>,
    /// The waypoint; null if it is not known.
    waypoint: Option<&'a str>,
    /// The source line of the waypoint; null if it is not known.
    line: Option<&'a str>,
    /// The progress words that changed.
    changed: Vec<ChangedWord<'a>>,
}

/// A party of a protocol after a step.
#[derive(Serialize, JsonSchema)]
struct SteppedParty {
    /// stage (the kernel itself), channel N or connection N.
    party: String,
    /// Its stage.
    stage: &'static str,
    /// The stage before the step; null if it is the same.
    before: Option<&'static str>,
    /// Whether the protocol has a way from the stage before to this one.
    regular: bool,
    /// Who must act before the stage ends.
    next: String,
    /// The time in the stage, in cycles; at least, if `began` is false.
    in_stage_cycles: u64,
    /// Whether its beginning was seen.
    began: bool,
}

/// A party of a protocol that is no longer there, such as a connection that has ended.
#[derive(Serialize, JsonSchema)]
struct LeftParty {
    /// stage (the kernel itself), channel N or connection N.
    party: String,
    /// The last stage that was seen.
    stage: &'static str,
}

/// A word that changed.
#[derive(Serialize, JsonSchema)]
struct ChangedWord<'a> {
    /// Its name.
    name: &'a str,
    /// Its value before the step.
    before: u64,
    /// Its value after the step.
    after: u64,
}

impl SteppedParty {
    fn of(step: &PartyStep) -> Self {
        let stage = step.now.stage;
        Self {
            party: words::party(step.now.party),
            stage: stage.name,
            before: step.before.map(|before| before.name),
            regular: !step.is_irregular(),
            next: stage.next.to_string(),
            in_stage_cycles: step.in_stage_cycles,
            began: !step.at_least,
        }
    }
}

impl<'a> SteppedMesh<'a> {
    pub(crate) fn new(target: &'a str, steps: &'a [Vec<SteppedKernel>]) -> Self {
        let kernel = |kernel: &'a SteppedKernel| {
            let changed = kernel.changed.iter();
            Stepped {
                core: kernel.core,
                kernel: &kernel.kernel,
                state: kernel.rest.map(Into::into),
                parties: kernel.parties.iter().map(SteppedParty::of).collect(),
                left: kernel
                    .left
                    .iter()
                    .map(|it| LeftParty { party: words::party(it.party), stage: it.stage.name })
                    .collect(),
                waypoint: kernel.waypoint.as_deref(),
                line: kernel.line.as_deref(),
                changed: changed
                    .map(|(name, before, after)| ChangedWord {
                        name,
                        before: *before,
                        after: *after,
                    })
                    .collect(),
            }
        };
        let steps = steps.iter().map(|step| step.iter().map(kernel).collect());
        Self { target, steps: steps.collect() }
    }
}
