//! Brings a fabric of tt-metal's kernels up, as tt-metal's host does: launch, wait for the
//! handshakes, make the routers ready for traffic, start clients.

use super::super::SceneError;
use super::document::{Document, Kernel, MetalRouter};
use access::bar_target::BarTarget;
use images::{Image, ImageMap, ImageRole, core_named};
use launch::{
    Condition, ControlError, Firmware, KernelLaunch, NcriscKernel, Operation, constant_of,
    go_kernel, place_kernels,
};
use layouts::{ChipKind, CoreKind};
use machine::place::Place;
use machine::target::{Mesh, Target};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use symbols::Symbols;

/// Longest wait for a status, in cycles: 40 ms of the target's own time.
const PATIENCE_CYCLES: u64 = 40_000_000;
/// The identifier of the fabric's program in launch messages.
const PROGRAM: u32 = 1;

/// The steps of a router's `EDMStatus`, in order, as its debug information names them.
const STEPS: [&str; 4] =
    ["STARTED", "REMOTE_HANDSHAKE_COMPLETE", "LOCAL_HANDSHAKE_COMPLETE", "READY_FOR_TRAFFIC"];
/// Most kernels that a sentence names.
const SHOWN: usize = 4;
const MET: &str = "LOCAL_HANDSHAKE_COMPLETE";
const READY: &str = "READY_FOR_TRAFFIC";

/// A fabric of tt-metal's kernels in a folder.
pub struct MetalFabric {
    folder: PathBuf,
    document: Document,
}

impl MetalFabric {
    /// Reads the document of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, SceneError> {
        let document = Document::read(folder).map_err(SceneError::Kernels)?;
        Ok(Self { folder: folder.to_owned(), document })
    }

    /// Returns the document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Checks that the kernels are for this mesh.
    pub(crate) fn check(&self, mesh: &Mesh) -> Result<(), SceneError> {
        let path = self.folder.display();
        let wrong = |why| SceneError::Kernels(format!("{path}: {why}"));
        self.document.mesh.check(mesh).map_err(wrong)
    }

    /// Adds the compute tiles on which kernels run, unless they are among these.
    pub(crate) fn add_tiles(&self, tiles: &mut Vec<Place>) {
        let Document { muxes, workers, .. } = &self.document;
        let muxes = muxes.iter().map(|mux| mux.kernel.place());
        for place in muxes.chain(workers.iter().map(|worker| worker.kernel.place())) {
            if !tiles.contains(&place) {
                tiles.push(place);
            }
        }
    }

    /// Returns the folder of the firmware with which the kernels are linked.
    pub(crate) fn firmware(&self) -> PathBuf {
        self.folder.join(&self.document.firmware)
    }

    /// Reads the kernels' ELFs and adds them to the map.
    pub(crate) fn add_to(&self, chip: ChipKind, images: &mut ImageMap) -> Result<(), SceneError> {
        let kernels = self.document.kernels().flat_map(|Kernel { name, elf, ncrisc, .. }| {
            let ncrisc = ncrisc.as_ref().map(|ncrisc| (&ncrisc.name, &ncrisc.elf));
            [(name, elf)].into_iter().chain(ncrisc)
        });
        // As tt-metal numbers the kernels of a process.
        for (kernel_id, (name, elf)) in (1..).zip(kernels) {
            let mut image = self.image(chip, name, elf).map_err(SceneError::Kernels)?;
            image.kernel_id = kernel_id;
            images.add(image);
        }
        Ok(())
    }

    fn image(&self, chip: ChipKind, name: &str, elf: &Path) -> Result<Image, String> {
        let path = self.folder.join(elf);
        let wrong = |why: String| format!("{}: {why}", path.display());
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let core =
            stem.and_then(core_named).ok_or_else(|| wrong("no core has this name".into()))?;
        let bytes = files::read(&path, files::Kind::ELF).map_err(|e| wrong(e.reason()))?;
        let symbols = Symbols::load(bytes, &path.display().to_string());
        let (symbols, _) = symbols.map_err(|error| wrong(error.to_string()))?;
        Ok(Image::new(chip, name, ImageRole::Kernel, core, symbols))
    }

    /// As `bring_up`. What has stopped is noted and stays there to be looked at.
    pub(crate) fn start(
        &self,
        packets: u64,
        target: &mut BarTarget,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        match self.bring_up(packets, target, images) {
            Err(SceneError::Stopped(what)) => {
                target.note(what);
                Ok(())
            }
            other => other,
        }
    }

    /// Brings routers and muxes up, and starts the workers if they have packets to send.
    fn bring_up(
        &self,
        packets: u64,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        self.launch_routers(|_| true, target, images)?;
        self.make_ready(target, images)?;
        self.launch_muxes(target, images)?;
        if packets > 0 {
            self.launch_workers(packets, target, images)?;
        }
        Ok(())
    }

    /// Launches these routers.
    ///
    /// # Errors
    /// What was not launched.
    pub fn launch_routers(
        &self,
        these: impl Fn(&MetalRouter) -> bool,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        let routers = self.document.routers.iter().filter(|router| these(router));
        Self::launch(&routers.map(|router| &router.kernel).collect::<Vec<_>>(), target, images)
    }

    /// Waits until all routers have met their peers and those of their chip, makes them ready for
    /// traffic, and waits until they run.
    ///
    /// # Errors
    /// `Stopped`, with the least advanced routers.
    pub fn make_ready(
        &self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        let routers = &self.document.routers;
        let statuses = routers.iter().map(|router| (&router.kernel, router.status));
        let statuses: Vec<_> = statuses.collect();
        self.reach(MET, &statuses, target, images)?;
        let ready = routers.iter().filter(|router| router.master).map(|router| {
            let name = &router.kernel.name;
            let mut operation = Operation::new(format!("make {name} ready for traffic"));
            let value = constant_of(images, name, READY)?;
            operation.write_word(router.kernel.place().at(router.status), value);
            Ok(operation)
        });
        Operation::finish_all(ready.collect::<Result<_, ControlError>>()?, target)?;
        self.reach(READY, &statuses, target, images)?;
        Self::run(routers, target, images)
    }

    /// Launches the muxes and waits until they are ready for traffic.
    ///
    /// # Errors
    /// `Stopped`, with the least advanced muxes.
    pub fn launch_muxes(
        &self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        let muxes = &self.document.muxes;
        Self::launch(&muxes.iter().map(|mux| &mux.kernel).collect::<Vec<_>>(), target, images)?;
        let statuses = muxes.iter().map(|mux| (&mux.kernel, mux.status)).collect::<Vec<_>>();
        self.reach(READY, &statuses, target, images)
    }

    /// Launches the workers; each sends this many packets.
    ///
    /// # Errors
    /// What was not launched.
    pub fn launch_workers(
        &self,
        packets: u64,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        let workers = self.document.workers.iter().map(|worker| {
            let mut kernel = worker.kernel.clone();
            if let Some(count) = kernel.arguments.get_mut(worker.packets_argument) {
                *count = packets as u32;
            }
            kernel
        });
        let workers: Vec<Kernel> = workers.collect();
        Self::launch(&workers.iter().collect::<Vec<_>>(), target, images)
    }

    /// Places kernels, then sends their go messages: to far chips first, because messages to them
    /// take longer.
    fn launch(
        kernels: &[&Kernel],
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        let (mut placed, mut gos) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for kernel in kernels {
            let place = kernel.place();
            let launch = Self::launch_of(kernel, images)?;
            let mut operation = Operation::new(format!("launch {} on {place}", kernel.name));
            for words in &kernel.words {
                let bytes = words.values.iter().flat_map(|word| word.to_le_bytes()).collect();
                operation.write(place.at(words.address), bytes);
            }
            let ncrisc = kernel.ncrisc.as_ref().map(|ncrisc| NcriscKernel {
                kernel: &ncrisc.name,
                text_offset: ncrisc.text_offset,
            });
            operation.then(place_kernels(images, &launch, ncrisc)?);
            placed.push(operation);
            let near = target.mesh().chip(place.chip).is_some_and(|chip| chip.pcie);
            let go = go_kernel(images, launch.firmware, place)?;
            gos.entry((near, place.chip)).or_default().push(go);
        }
        Operation::finish_all(placed, target)?;
        for go in gos.into_values() {
            Operation::finish_all(go, target)?;
        }
        Ok(())
    }

    fn launch_of<'a>(
        kernel: &'a Kernel,
        images: &ImageMap,
    ) -> Result<KernelLaunch<'a>, ControlError> {
        let eth = launch::image(images, &kernel.name)?.core == CoreKind::Erisc;
        let Firmware { application, tensix: [brisc, ..] } = Firmware::METAL;
        Ok(KernelLaunch {
            place: kernel.place(),
            kernel: &kernel.name,
            firmware: if eth { application } else { brisc },
            core_type: if eth { "ACTIVE_ETH" } else { "TENSIX" },
            config_base: kernel.config_base,
            text_offset: kernel.text_offset,
            arguments: kernel.arguments.iter().flat_map(|word| word.to_le_bytes()).collect(),
            semaphores: kernel.semaphores.clone(),
            in_place: false,
            host_assigned_id: PROGRAM,
        })
    }

    /// Waits until every kernel has this status.
    fn reach(
        &self,
        status: &str,
        kernels: &[(&Kernel, u64)],
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), SceneError> {
        let waits = kernels.iter().map(|(kernel, address)| {
            let mut operation = Operation::new(format!("wait for {}", kernel.name));
            let value = constant_of(images, &kernel.name, status)?;
            let until = Condition::Masked { mask: u32::MAX, value };
            let addr = kernel.place().at(*address);
            operation.wait_for(kernel.name.clone(), addr, until, PATIENCE_CYCLES);
            Ok(operation)
        });
        let waits = waits.collect::<Result<_, ControlError>>()?;
        match Operation::finish_all(waits, target) {
            Err(ControlError::TookTooLong { waited_cycles, .. }) => {
                let where_all_are = statuses(kernels, target, images);
                let at = self.folder.display();
                let mut text = format!(
                    "{at}: not all kernels reached {status} in {waited_cycles} cycles: {where_all_are}"
                );
                // For example a core that the emulator has stopped.
                for remark in
                    target.bus().map_or_else(Vec::new, machine::target::TargetBus::remarks)
                {
                    text += "; ";
                    text += &remark;
                }
                Err(SceneError::Stopped(text))
            }
            other => Ok(other?),
        }
    }

    /// Waits until every router's main loop runs: it then serves its clients.
    fn run(
        routers: &[MetalRouter],
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), SceneError> {
        let waits = routers.iter().map(|MetalRouter { kernel, state, .. }| {
            let mut operation = Operation::new(format!("wait for {}", kernel.name));
            let value = constant_of(images, &kernel.name, "RouterState::RUNNING")?;
            let until = Condition::Masked { mask: u32::MAX, value };
            let what = format!("the main loop of {} runs", kernel.name);
            operation.wait_for(what, kernel.place().at(*state), until, PATIENCE_CYCLES);
            Ok(operation)
        });
        Ok(Operation::finish_all(waits.collect::<Result<_, ControlError>>()?, target)?)
    }
}

/// Returns the names of kernels with their `EDMStatus`, the least advanced first.
fn statuses(kernels: &[(&Kernel, u64)], target: &mut dyn Target, images: &ImageMap) -> String {
    let status = |(kernel, address): &(&Kernel, u64)| {
        let (step, status) = match target.read_word(kernel.place().at(*address)) {
            Ok(value) => {
                let named = |step: &&str| constant_of(images, &kernel.name, step) == Ok(value);
                let step = STEPS.iter().position(named);
                let name = step.and_then(|step| STEPS.get(step));
                (step, name.map_or_else(|| format!("{value:#x}"), |name| (*name).to_owned()))
            }
            Err(reason) => (None, reason.to_string()),
        };
        (step, format!("{} {status}", kernel.name))
    };
    let mut all: Vec<_> = kernels.iter().map(status).collect();
    all.sort();
    let more = all.len().saturating_sub(SHOWN);
    let shown: Vec<_> = all.into_iter().take(SHOWN).map(|(_, text)| text).collect();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
