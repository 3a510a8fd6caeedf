//! Fabrics of tt-metal's own kernels, from a folder in which they were compiled.

use super::ground::{Bed, Ground, brisc, erisc, link_root};
use super::work::look;
use super::{Severity, Staged, Truth};
use diagnosis::{Condition, Place as Root};
use images::ImageMap;
use layouts::{ChipId, EthId};
use machine::fault::{CoreFault, LinkFault};
use machine::snapshot::Span;
use machine::target::Target;
use std::path::Path;
use workloads::scene::tt_fabric::{Document, MetalRouter};
use workloads::scene::{Scene, SceneError, Workload};

/// Packets of each worker: it sends for longer than it is watched.
const PACKETS: u64 = 1_000_000;
/// Time in which a worker without a router's slots comes to a stop, in cycles.
const TRY_CYCLES: u64 = 200_000;
/// Offset of the command from the state (`RouterStateManager`), and the `RouterCommand` that parks
/// a router.
const COMMAND: u64 = 16;
const PAUSE: u32 = 1;

/// A kind of run on tt-metal's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetalKind {
    /// A router executes nothing more, and its peer has no free slots of it.
    RouterStuck,
    /// A router is paused by its command word.
    RouterPaused,
    /// A debugger halted a worker, and never came back.
    WorkerHalted,
    /// A link goes down.
    LinkDown,
    /// Workers send without end.
    Traffic,
}

impl MetalKind {
    /// All kinds.
    pub const ALL: &[Self] =
        &[Self::RouterStuck, Self::RouterPaused, Self::WorkerHalted, Self::LinkDown, Self::Traffic];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::RouterStuck => "metal-router-stuck",
            Self::RouterPaused => "metal-router-paused",
            Self::WorkerHalted => "metal-worker-halted",
            Self::LinkDown => "metal-link-down",
            Self::Traffic => "metal-traffic",
        }
    }

    /// Returns how bad it is; none: healthy.
    pub fn severity(self) -> Option<Severity> {
        (self != Self::Traffic).then_some(Severity::Hang)
    }

    /// Draws a run from the seed, on the mesh for which the kernels of a folder were compiled.
    ///
    /// # Errors
    /// When the folder or the mesh cannot be used, or the run does not do what its kind says.
    pub fn stage(self, seed: u64, kernels: &Path) -> Result<Staged, SceneError> {
        let ground = Ground::new(self.name(), seed, false);
        let document = Document::read(kernels).map_err(SceneError::Kernels)?;
        let mut bed = begun(ground, &document, kernels)?;
        let router = used(&mut bed, &document)?;
        let core = erisc(router.kernel.place());
        let end = EthId { chip: ChipId(router.kernel.chip), channel: router.channel };
        let root = vec![Root::Router(end), Root::Core(core)];
        match self {
            Self::RouterStuck => {
                bed.say(format!("router {end} is stuck"));
                bed.core_fault(core, CoreFault::Stuck)?;
                bed.hung(Condition::CoreStuck, root)
            }
            Self::RouterPaused => {
                bed.say(format!("router {end} is paused and forgotten"));
                bed.put(router.kernel.place(), router.state + COMMAND, PAUSE)?;
                bed.hung(Condition::Paused, root)
            }
            Self::WorkerHalted => {
                let places: Vec<_> =
                    document.workers.iter().map(|worker| worker.kernel.place()).collect();
                let core = brisc(bed.one(&places, "worker")?);
                bed.halt(core)?;
                // The other workers go on.
                let (condition, severity) = (Condition::CoreHalted, Severity::Hang);
                let root = vec![Root::Core(core)];
                Ok(bed.staged(Some(Truth { condition, severity, root })))
            }
            Self::LinkDown => {
                let link = bed.link(end)?;
                bed.say(format!("link {}-{} goes down", link.a, link.b));
                bed.link_fault(end, LinkFault::Down)?;
                bed.hung(Condition::LinkDown, link_root(link))
            }
            Self::Traffic => bed.healthy(),
        }
    }
}

/// Brings the fabric up, and starts its workers.
fn begun(mut ground: Ground, document: &Document, kernels: &Path) -> Result<Bed, SceneError> {
    let mesh = document.mesh.name.clone();
    let scene = Scene {
        run: Some(Workload::TtFabric),
        kernels: Some(kernels.to_owned()),
        traffic: PACKETS,
        tiles: Some(0),
        seed: ground.dice.next(),
        ..Scene::new(mesh.clone())
    };
    let (mut images, _) = ImageMap::firmware();
    let target = scene.build(&mut images)?;
    let mut bed = ground.bed(&mesh, target, images);
    for worker in &document.workers {
        let place = worker.kernel.place();
        bed.work.push(Span { addr: place.at(worker.sent), len: 4 });
        bed.busy.push(place);
    }
    let cycles = bed.pass(10_000, 2_000_000)?;
    bed.say(format!("{} workers of tt-metal, {} us", document.workers.len(), cycles / 1_000));
    Ok(bed)
}

/// Draws a router that packets pass: without it the workers of two chips send nothing.
fn used(bed: &mut Bed, document: &Document) -> Result<MetalRouter, SceneError> {
    let mut routers = document.routers.clone();
    bed.dice.shuffle(&mut routers);
    // Other chips may be reached over that router.
    let near = |span: &Span| bed.target.mesh().chip(span.addr.chip).is_some_and(|chip| chip.pcie);
    let near: Vec<Span> = bed.work.iter().filter(|span| near(span)).copied().collect();
    for router in routers {
        let core = erisc(router.kernel.place());
        bed.core_fault(core, CoreFault::Stuck)?;
        bed.target.pass(TRY_CYCLES)?;
        let before = look(&mut bed.target, &near);
        bed.target.pass(TRY_CYCLES)?;
        let stands = before == look(&mut bed.target, &near);
        bed.core_fault(core, CoreFault::Released)?;
        if stands {
            bed.target.pass(TRY_CYCLES)?;
            return Ok(router);
        }
    }
    let why = "no router stops all workers of the fabric: its mesh must have two chips";
    Err(SceneError::BadOption(why.to_owned()))
}
