//! Programs that a dispatcher launches, and that it waits for.

use super::Staged;
use super::ground::{Bed, Ground, Meshes, brisc};
use diagnosis::{Condition, Place as Root};
use launch::{
    CONFIG_BASE, ControlError, DispatchCommand, Dispatcher, Firmware, KernelLaunch, Operation,
    TEXT_OFFSET, arguments, go_kernel, image, place_kernel,
};
use machine::fault::CoreFault;
use machine::place::Place;
use machine::target::Target;
use workloads::scene::SceneError;

const KERNEL: &str = "tensix_worker";
const TILES: usize = 24;
const MESHES: Meshes = &[("n300", 5), ("t3000", 1)];
/// Entries of the completion queue (`COMPLETION_Q_ENTRIES`).
const QUEUE_ENTRIES: u32 = 16;

/// A dispatcher, and the tiles of the programs that it launches one after the other.
struct Dispatched {
    bed: Bed,
    dispatcher: Dispatcher,
    programs: Vec<Vec<Place>>,
    commands: Vec<DispatchCommand>,
}

impl Dispatched {
    /// Places the kernels of random programs on a random chip.
    fn new(ground: Ground) -> Result<Self, SceneError> {
        let mut bed = ground.boot(MESHES, TILES)?;
        let near: Vec<_> = bed.target.mesh().chips.iter().map(|chip| chip.id).collect();
        let chip = bed.one(&near, "chip")?;
        let mut tiles: Vec<Place> = bed.target.mesh().compute_tiles(chip).take(TILES).collect();
        bed.dice.shuffle(&mut tiles);
        let none = || SceneError::Wrong(format!("chip {chip} has no compute tile"));
        let dispatcher = Dispatcher { place: tiles.pop().ok_or_else(none)? };
        let size = bed.between(2, 8) as usize;
        let programs: Vec<Vec<Place>> = tiles.chunks(size).take(3).map(<[Place]>::to_vec).collect();
        bed.say(format!(
            "{} programs of {size} workers of a dispatcher on chip {chip}",
            programs.len()
        ));
        let mut run = Self { bed, dispatcher, programs: Vec::new(), commands: Vec::new() };
        for (number, workers) in (1..).zip(&programs) {
            run.program(number, workers)?;
        }
        run.programs = programs;
        run.bed.counts(run.dispatcher.place, "dispatch")?;
        Ok(run)
    }

    /// Places a program, and adds the commands that launch it and wait for it.
    fn program(&mut self, number: u32, workers: &[Place]) -> Result<(), SceneError> {
        for &place in workers {
            self.worker(number, place)?;
            self.commands.push(DispatchCommand::Go(place, Firmware::BUILT_IN.tensix[0]));
        }
        let count = workers.len() as u32;
        self.commands.extend([DispatchCommand::Wait(count), DispatchCommand::Event(number)]);
        Ok(())
    }

    fn worker(&mut self, number: u32, place: Place) -> Result<(), SceneError> {
        let Self { bed, .. } = self;
        let iterations = bed.between(50, 100) as u32;
        let values = [
            ("address", 0x2_0000),
            ("words", 64),
            ("iterations", iterations),
            ("interval_cycles", bed.between(1_000, 20_000) as u32),
            ("seed", bed.dice.next() as u32),
        ];
        let launch = KernelLaunch {
            place,
            kernel: KERNEL,
            firmware: Firmware::BUILT_IN.tensix[0],
            core_type: "TENSIX",
            config_base: CONFIG_BASE,
            text_offset: TEXT_OFFSET,
            arguments: arguments(&*image(&bed.images, KERNEL)?, "tensix_worker_args_t", &values)?,
            semaphores: Vec::new(),
            in_place: false,
            host_assigned_id: number,
        };
        let mut operation = place_kernel(&mut bed.images, &launch)?;
        let firmware = Firmware::BUILT_IN.tensix[0];
        operation.then(Dispatcher::takes(&bed.images, firmware, place)?);
        operation.finish(&mut bed.target)?;
        bed.counts(place, KERNEL)
    }

    /// Starts the dispatcher with its commands.
    fn start(&mut self) -> Result<(), SceneError> {
        let Self { bed, dispatcher, commands, .. } = self;
        let place = |bed: &mut Bed| -> Result<Operation, ControlError> {
            let mut start = dispatcher.place_kernel(&mut bed.images, 1, commands)?;
            let firmware = Firmware::BUILT_IN.tensix[0];
            start.then(go_kernel(&bed.images, firmware, dispatcher.place)?);
            Ok(start)
        };
        Ok(place(bed)?.finish(&mut bed.target)?)
    }
}

/// The dispatcher waits for a worker that executes nothing more.
pub(super) fn worker_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Dispatched::new(ground)?;
    run.start()?;
    let first = run.programs.first().map_or(&[][..], Vec::as_slice);
    let core = brisc(run.bed.one(first, "worker")?);
    run.bed.pass(5_000, 40_000)?;
    run.bed.say(format!("core {core} is stuck"));
    run.bed.core_fault(core, CoreFault::Stuck)?;
    run.bed.hung(Condition::CoreStuck, vec![Root::Core(core)])
}

/// The host reads no entry of the completion queue any more, and the dispatcher has no room.
pub(super) fn queue_full(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Dispatched::new(ground)?;
    let more = QUEUE_ENTRIES + run.bed.dice.below(10) as u32;
    run.commands.extend((100..100 + more).map(DispatchCommand::Event));
    run.start()?;
    run.bed.say("its host reads no completion");
    run.bed.hung(Condition::HostAwaited, vec![Root::Host])
}

/// The dispatcher waits for a worker to which the host was to send the go message itself.
pub(super) fn go_missing(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Dispatched::new(ground)?;
    let number = run.bed.dice.below(run.programs.len() as u64) as usize;
    let workers = run.programs.get(number).map_or(&[][..], Vec::as_slice);
    let place = run.bed.one(workers, "worker")?;
    let firmware = Firmware::BUILT_IN.tensix[0];
    run.commands.retain(|command| *command != DispatchCommand::Go(place, firmware));
    run.start()?;
    run.bed.say(format!("the go message of {place} is never sent"));
    run.bed.hung(Condition::HostAwaited, vec![Root::Host, Root::Core(brisc(place))])
}
