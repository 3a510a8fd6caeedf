//! A collective of the bank: drawn, launched, and left to itself.

use super::Staged;
use super::ground::{ANY, Bed, Ground, STEP_CYCLES};
use collectives::edm_builder::EDM;
use collectives::{
    EdmPlan, Op, Program, Request, Run, RunProgress, RunSettings, Stage, Transport, compile,
};
use diagnosis::{Condition, Place as Root};
use launch::ControlError;
use layouts::CoreId;
use machine::fabric::MuxCore;
use machine::fault::{CoreFault, Fault, FaultKind};
use machine::place::Place;
use machine::target::{Link, Target};
use workloads::scene::SceneError;

/// The kernel of the workers.
pub(super) const WORKER: &str = "ccl_worker";
/// Compute tiles that boot on each chip: those of the workers, and some that stay idle.
pub(super) const TILES: usize = 6;
/// A healthy run takes about this long, so that it is in mid-run for long after it is handed over.
const LONG_CYCLES: u64 = 250_000_000;
/// A run that is to stand still takes about this long without its fault: at most this long passes
/// until what does not depend on the fault is done.
const MIDDLE_CYCLES: u64 = 20_000_000;
/// Messages that keep a slow link busy for as long.
const FAST_MESSAGES: u64 = 30_000;
/// Ranks above which a run is shorter, because its cycles cost the host more.
const MOST_RANKS: u64 = 8;
/// Polls after which a launch is given up.
const MOST_POLLS: u32 = 20_000;
/// Patience of the run itself, which is never to end a run here.
pub(super) const FOR_EVER: u64 = 1 << 60;

/// A collective of which the host has sent all go messages.
pub(super) struct Collective {
    pub(super) bed: Bed,
    pub(super) program: Program,
}

/// How long a collective lasts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// Of a healthy run.
    Long,
    /// As long, without delays: a link that is slow shows.
    Fast,
    /// Of a run that a fault stops.
    Middle,
    /// Of a run that comes to its end.
    Short,
}

pub(super) fn draw(bed: &mut Bed, ops: &[Op], length: Length) -> Result<Program, SceneError> {
    draw_over(bed, ops, length, Transport::Edm)
}

/// Draws a collective over EDMs or a fabric.
pub(super) fn draw_over(
    bed: &mut Bed,
    ops: &[Op],
    length: Length,
    transport: Transport,
) -> Result<Program, SceneError> {
    let op = bed.one(ops, "operation")?;
    let buffer_bytes = 2_048 << bed.dice.below(2);
    let ranks = bed.target.mesh().chips.len() as u64;
    let (messages, delay_cycles) = match length {
        Length::Long => {
            let delay = bed.between(20_000, 150_000);
            (LONG_CYCLES / delay, delay as u32)
        }
        Length::Fast => (FAST_MESSAGES, bed.dice.below(2_000) as u32),
        Length::Middle => {
            let delay = bed.between(2_000, 50_000);
            let whole = if ranks > MOST_RANKS { MIDDLE_CYCLES / 4 } else { MIDDLE_CYCLES };
            (whole / delay, delay as u32)
        }
        Length::Short => (bed.between(20, 200), 0),
    };
    let request = Request {
        buffer_bytes,
        delay_cycles,
        buffers_per_channel: 1 + bed.dice.below(3) as u32,
        links: 1 + bed.dice.below(2) as u32,
        worker_initiated: bed.dice.below(3) == 0 && length != Length::Short,
        seed: bed.dice.next() as u32,
        transport,
        // Workers of one router share a mux.
        workers: if transport == Transport::Edm { 1 } else { 1 + bed.dice.below(2) as u32 },
        ..Request::new(op, messages.next_multiple_of(ranks) * u64::from(buffer_bytes))
    };
    // Not every edge has two links that dispatch does not need.
    let one = Request { links: 1, ..request.clone() };
    let mesh = bed.target.mesh();
    let program = compile(mesh, &request)
        .or_else(|_| compile(mesh, &one))
        .map_err(|error| SceneError::Control(ControlError::Settings(error.to_string())))?;
    bed.say(format!(
        "{} of {messages} packets of {buffer_bytes} bytes over {}",
        op.name(),
        transport.name()
    ));
    Ok(program)
}

impl Collective {
    /// Launches a program; `held` executes nothing from before its go message on.
    pub(super) fn launch(
        bed: Bed,
        program: Program,
        held: Option<CoreId>,
    ) -> Result<Self, SceneError> {
        Self::launch_holding(bed, program, held)
    }

    /// Launches a program; the cores that are held execute nothing from before their go messages
    /// on.
    pub(super) fn launch_holding(
        mut bed: Bed,
        program: Program,
        held: impl IntoIterator<Item = CoreId>,
    ) -> Result<Self, SceneError> {
        for plan in &program.edms {
            bed.counts(plan.place, EDM)?;
        }
        for plan in &program.workers {
            bed.counts(plan.place, WORKER)?;
        }
        if let Some(crossing) = &program.crossing {
            for mux in &crossing.muxes {
                let core = if crossing.options.core == MuxCore::Tensix { "brisc" } else { "erisc" };
                let policy = crossing.options.policy.name();
                bed.counts(mux.place, &format!("fabric_mux_{policy}_{core}"))?;
            }
            for router in &crossing.plan.routers {
                bed.counts(router.place, crossing.plan.router_image())?;
            }
        }
        let stuck = |core| Fault {
            kind: FaultKind::Core(core, CoreFault::Stuck),
            from_cycles: 0,
            until_cycles: None,
        };
        let settings = RunSettings {
            check: false,
            faults: held.into_iter().map(stuck).collect(),
            deadline_cycles: FOR_EVER,
            ..RunSettings::default()
        };
        let mut run = Run::new(program.clone(), settings);
        for _ in 0..MOST_POLLS {
            let Bed { target, images, .. } = &mut bed;
            let progress = run.poll(target, images).map_err(SceneError::of_run(target))?;
            match progress {
                RunProgress::Running { stage: Stage::Transfer, .. } => {
                    return Ok(Self { bed, program });
                }
                RunProgress::Running { .. } => target.pass(STEP_CYCLES)?,
                RunProgress::Finished(_) => break,
            }
        }
        Err(SceneError::Wrong("the collective did not come to move data".to_owned()))
    }

    /// Launches a collective on a random mesh.
    pub(super) fn begun(ground: Ground) -> Result<Self, SceneError> {
        let mut bed = ground.boot(ANY, TILES)?;
        let program = draw(&mut bed, &OPS, Length::Middle)?;
        Self::launch(bed, program, None)
    }

    /// Lets the run move for some time.
    pub(super) fn run_on(mut self) -> Result<Self, SceneError> {
        let cycles = self.bed.pass(100_000, 3_000_000)?;
        self.bed.say(format!("{} us after its go messages", cycles / 1_000));
        Ok(self)
    }

    /// Draws a worker that moves data over a channel.
    pub(super) fn worker(&mut self) -> Result<Place, SceneError> {
        let busy = self.program.workers.iter();
        let busy = busy.filter(|plan| plan.inbound.is_some() || plan.outbound.is_some());
        let places: Vec<Place> = busy.map(|plan| plan.place).collect();
        self.bed.one(&places, "worker")
    }

    pub(super) fn edm(&mut self) -> Result<Place, SceneError> {
        edm(&mut self.bed, &self.program)
    }

    pub(super) fn core_stands(
        self,
        condition: Condition,
        core: CoreId,
    ) -> Result<Staged, SceneError> {
        self.bed.hung(condition, vec![Root::Core(core)])
    }
}

/// Operations that use all their links from the beginning to the end.
pub(super) const OPS: [Op; 3] = [Op::AllGather, Op::ReduceScatter, Op::AllReduce];

pub(super) fn edm(bed: &mut Bed, program: &Program) -> Result<Place, SceneError> {
    let places: Vec<Place> = program.edms.iter().map(|plan| plan.place).collect();
    bed.one(&places, "EDM")
}

/// Draws an EDM that receives: what one that only sends acknowledges nobody waits for.
pub(super) fn receiving_edm(bed: &mut Bed, program: &Program) -> Result<Place, SceneError> {
    let receives = |plan: &&EdmPlan| plan.channels.iter().any(|channel| !channel.sends);
    let places: Vec<Place> = program.edms.iter().filter(receives).map(|plan| plan.place).collect();
    bed.one(&places, "EDM that receives")
}

pub(super) fn edm_link(bed: &mut Bed, program: &Program) -> Result<Link, SceneError> {
    let place = edm(bed, program)?;
    bed.link(bed.eth(place)?)
}
