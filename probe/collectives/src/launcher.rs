//! Turns a program into the commands that launch it: kernels are placed on all tiles, then go
//! messages are sent chip by chip.

use super::connect::{members, mux, sides, write_tables};
use super::edm_builder::{ChannelAddresses, EDM, EdmBuilder, EdmSettings};
use super::edm_settings::EDM_TEARDOWN;
use super::ends::launched_last;
use super::program::{Channel, EdmPlan, Program, WorkerPlan};
use super::report::{Park, Stage};
use super::transport::Crossing;
use super::worker::{
    WORKER, WorkerContext, WorkerPlaces, worker_launch, worker_semaphore, write_lists,
};
use fabric::mux::Mux;
use images::ImageMap;
use launch::occupancy::Loaded;
use launch::outcome::{Cause, Misfit, RunError};
use launch::{KernelLaunch, Operation, go_kernel, place_kernel};
use layouts::ChipId;
use machine::place::Place;
use machine::target::Mesh;
use std::collections::{BTreeMap, BTreeSet};

/// A group of kernels of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// Kernels that write the inputs.
    Fill,
    /// EDMs and workers.
    Transfer,
    /// Kernels that digest the outputs.
    Check,
}

impl Layer {
    pub(super) fn workers(self, program: &Program) -> &[WorkerPlan] {
        match self {
            Self::Fill => &program.fills,
            Self::Transfer => &program.workers,
            Self::Check => &program.checks,
        }
    }

    /// Returns the stage in which its kernels work.
    pub(super) fn stage(self) -> Stage {
        match self {
            Self::Fill => Stage::Fill,
            Self::Transfer => Stage::Transfer,
            Self::Check => Stage::Check,
        }
    }

    fn edms(self, program: &Program) -> &[EdmPlan] {
        if self == Self::Transfer { &program.edms } else { &[] }
    }
}

/// The operations that launch a layer.
#[derive(Debug, Default)]
pub(super) struct Launch {
    /// Writes lists, kernels and launch messages.
    pub(super) place: Vec<Operation>,
    /// Go messages of each chip, in the order of sending.
    pub(super) go: Vec<(ChipId, Vec<Operation>)>,
}

/// The state that later launches depend on.
#[derive(Debug, Default)]
pub(super) struct Launcher {
    /// The id of the last launch; the next id is never zero.
    run_id: u32,
    /// The layer whose lists are in each worker's L1.
    lists: BTreeMap<Place, Layer>,
    pub(super) loaded: Loaded,
}

/// Addresses of the channels by Ethernet tile and number.
type Channels = BTreeMap<(Place, u32), ChannelAddresses>;

impl Launcher {
    /// Starts the launch ids at the time, so that they differ from those of other runs.
    pub(super) fn begin(&mut self, now_cycles: u64) {
        self.run_id = now_cycles as u32;
    }

    /// Returns the launch of a layer, whose kernels park as asked.
    ///
    /// # Errors
    /// If an image is missing or lacks a member, or something does not fit.
    pub(super) fn launch(
        &mut self,
        mesh: &Mesh,
        images: &mut ImageMap,
        program: &Program,
        (layer, park): (Layer, Option<Park>),
    ) -> Result<Launch, RunError> {
        self.run_id = self.run_id.wrapping_add(1).max(1);
        let mut launch = Launch::default();
        let (edms, channels) = builders(self.run_id, images, (layer.edms(program), park), program)?;
        let crossing = program.crossing.as_ref().filter(|_| layer == Layer::Transfer);
        let muxes = if crossing.is_some() { muxes(images, program)? } else { Vec::new() };
        for mux in muxes {
            let before = self.loaded.kernels.insert(mux.place, mux.kernel());
            let in_place = before == Some(mux.kernel());
            launch.place.push(mux.place_kernel(images, self.run_id, in_place)?);
        }
        for plan in layer.workers(program) {
            if self.lists.insert(plan.place, layer) != Some(layer) {
                launch.place.push(write_lists(images, program, plan)?);
                if let Some(crossing) = crossing {
                    launch.place.extend(write_tables(images, crossing, plan)?);
                }
            }
            let find = |channel: Option<Channel>| {
                let Channel { edm, number } = channel?;
                channels.get(&(edm, number)).copied()
            };
            let [inbound, outbound] = match crossing {
                Some(_) => sides(images, program, plan)?,
                None => [find(plan.inbound), find(plan.outbound)],
            };
            let of = |crossing| members(images, crossing, plan);
            let fabric = crossing.map_or_else(|| Ok(Vec::new()), of)?;
            let run_id = self.run_id;
            let pause_at_stage = match park {
                Some(Park::Workers(_)) => 1,
                Some(Park::Share(percent)) => (plan.packets() * percent / 100) as u32 + 1,
                Some(Park::Teardown) => plan.packets() as u32 + 1,
                Some(Park::Handshake) | None => 0,
            };
            let context =
                WorkerContext { program, run_id, inbound, outbound, pause_at_stage, fabric };
            let kernel = worker_launch(images, plan, &context)?;
            launch.place.push(self.place(images, kernel)?);
        }
        for edm in edms {
            launch.place.push(self.place(images, edm.build(images)?)?);
        }
        launch.go = go(mesh, images, layer, program)?;
        Ok(launch)
    }

    /// Returns the operation that places a kernel; text that is already present is not written
    /// again.
    fn place(
        &mut self,
        images: &mut ImageMap,
        kernel: KernelLaunch<'static>,
    ) -> Result<Operation, RunError> {
        let before = self.loaded.kernels.insert(kernel.place, kernel.kernel);
        let in_place = before == Some(kernel.kernel);
        Ok(place_kernel(images, &KernelLaunch { in_place, ..kernel })?)
    }
}

/// Checks that everything fits at its place, before anything is written.
///
/// # Errors
/// What does not fit.
pub fn fits(images: &ImageMap, program: &Program) -> Result<(), RunError> {
    for layer in [Layer::Fill, Layer::Transfer, Layer::Check] {
        builders(1, images, (layer.edms(program), None), program)?;
        let mut places = BTreeSet::new();
        for plan in layer.workers(program) {
            WorkerPlaces::of(images, program, plan)?;
            if !places.insert(plan.place) {
                return Err(RunError::new(Cause::Program(Misfit::TwoWorkers)).at(plan.place));
            }
        }
    }
    Ok(())
}

/// Returns EDMs with all their channels, and the addresses of the channels.
fn builders(
    run_id: u32,
    images: &ImageMap,
    (edms, park): (&[EdmPlan], Option<Park>),
    program: &Program,
) -> Result<(Vec<EdmBuilder>, Channels), RunError> {
    let (mut builders, mut channels) = (Vec::new(), Channels::new());
    let settings = EdmSettings {
        run_id,
        buffer_bytes: program.buffer_bytes,
        buffers_per_channel: program.buffers_per_channel,
        worker_initiated: program.worker_initiated,
        pause_at_stage: match park {
            Some(Park::Handshake) => 1,
            Some(Park::Teardown) => EDM_TEARDOWN,
            Some(Park::Workers(_) | Park::Share(_)) | None => 0,
        },
        ..EdmSettings::default()
    };
    for plan in edms {
        let mut builder = EdmBuilder::new(images, plan.place, plan.handshake_sender, settings)?;
        for (number, channel) in (0..).zip(&plan.channels) {
            let workers: Vec<_> = channel.workers.iter().map(|place| place.tile).collect();
            let addresses = if channel.sends {
                let semaphore = worker_semaphore(images, "CCL_SEMAPHORE_OUTBOUND")?;
                builder.add_sender_channel(semaphore, channel.messages, &workers)?
            } else {
                let semaphore = worker_semaphore(images, "CCL_SEMAPHORE_INBOUND")?;
                builder.add_receiver_channel(semaphore, channel.messages, &workers)?
            };
            channels.insert((plan.place, number), addresses);
        }
        builders.push(builder);
    }
    Ok((builders, channels))
}

/// Returns the go messages chip by chip. Times count from the start of the chip launched last: a
/// near chip if it does not matter which, since messages to far chips take long to arrive.
fn go(
    mesh: &Mesh,
    images: &ImageMap,
    layer: Layer,
    program: &Program,
) -> Result<Vec<(ChipId, Vec<Operation>)>, RunError> {
    let near = |chip| mesh.chip(chip).is_some_and(|chip| chip.pcie);
    let end = launched_last(mesh, program);
    let mut chips: BTreeMap<(bool, bool, ChipId), Vec<Operation>> = BTreeMap::new();
    let workers = layer.workers(program).iter().map(|plan| (plan.place, WORKER));
    let edms = layer.edms(program).iter().map(|plan| (plan.place, EDM));
    let muxes = if layer == Layer::Transfer { muxes(images, program)? } else { Vec::new() };
    let muxes = muxes.iter().map(|mux| (mux.place, mux.kernel()));
    for (place, kernel) in muxes.chain(workers).chain(edms) {
        let go = go_kernel(images, firmware_of(kernel), place)?;
        let last = end == Some(place.chip);
        chips.entry((last, near(place.chip), place.chip)).or_default().push(go);
    }
    Ok(chips.into_iter().map(|((.., chip), go)| (chip, go)).collect())
}

pub(super) fn muxes(images: &ImageMap, program: &Program) -> Result<Vec<Mux>, RunError> {
    let of = |crossing: &Crossing| {
        let muxes = crossing.muxes.iter().map(|plan| mux(images, crossing, plan));
        muxes.collect::<Result<Vec<_>, _>>()
    };
    Ok(program.crossing.as_ref().map_or_else(|| Ok(Vec::new()), of)?)
}

/// Returns the image name of the firmware under a kernel.
pub(super) fn firmware_of(kernel: &str) -> &'static str {
    use launch::Firmware;
    let ethernet = kernel == EDM || kernel.ends_with("_erisc");
    if ethernet { Firmware::BUILT_IN.application } else { Firmware::BUILT_IN.tensix[0] }
}
