//! Observes the kernels of a launch by their own words until all have returned.

use super::edm_builder::EDM;
use super::launcher::{Layer, firmware_of};
use super::program::{Program, WorkerPlan};
use super::watched::Watched;
use super::words::{StateWords, Values};
use super::worker::WORKER;
use images::{ImageMap, waypoint_code};
use launch::outcome::{Cause, Ended, RunError, Stuck};
use launch::pause::STANDS_CYCLES;
use launch::{Condition, constant_of, done_condition, image, mailbox};
use layouts::CoreKind;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::Target;

/// Maximum number of cores read per poll.
const MOST_CORES: usize = 48;
/// The waypoint of a paused kernel.
const PARKED: &str = "PASW";

/// The kernels of a launch.
#[derive(Debug)]
pub(super) struct Watch {
    cores: Vec<Watched>,
    next: usize,
    /// Bytes that must arrive.
    of: u64,
    worker: KernelWords,
    edm: KernelWords,
    /// Time of the last change.
    moved: Option<u64>,
    deadline_cycles: u64,
}

/// The words read of a kind of kernel.
#[derive(Debug)]
struct KernelWords {
    state: StateWords,
    go: (u64, Condition),
    finished: u32,
    refused: u32,
    stopped: u32,
}

impl KernelWords {
    fn of(
        images: &ImageMap,
        kernel: &str,
        state: StateWords,
        prefix: &str,
    ) -> Result<Self, RunError> {
        let phase = |name: &str| constant_of(images, kernel, &format!("{prefix}_{name}"));
        let firmware = image(images, firmware_of(kernel))?;
        Ok(Self {
            state,
            go: done_condition(mailbox(&firmware)?),
            finished: phase("FINISHED")?,
            refused: phase("REFUSED")?,
            stopped: phase("STOPPED")?,
        })
    }
}

impl Watch {
    /// Creates a watch of the kernels of a layer.
    pub(super) fn new(
        images: &ImageMap,
        program: &Program,
        layer: Layer,
        deadline_cycles: u64,
    ) -> Result<Self, RunError> {
        let core = |place, kernel, role, takes, packet_bytes| Watched {
            fills: (0, 0),
            takes,
            place,
            kernel,
            role,
            packet_bytes,
            values: Values::default(),
            returned: false,
            finished: false,
        };
        let workers = layer.workers(program);
        let flag = constant_of(images, WORKER, "CCL_FROM_CHANNEL")? as u16;
        let mut cores: Vec<Watched> = workers
            .iter()
            .map(|plan| {
                let takes = plan.inbound.is_some();
                let core = core(plan.place, WORKER, plan.role.clone(), takes, packet_bytes(plan));
                let fills = if layer == Layer::Transfer { (0, 0) } else { filled(plan) };
                Watched { fills, ..core }
            })
            .collect();
        if layer == Layer::Transfer {
            let edms =
                program.edms.iter().map(|plan| core(plan.place, EDM, EDM.to_owned(), false, 0));
            cores.extend(edms);
        }
        let (of, state) = if layer == Layer::Transfer {
            let of = workers.iter().map(|plan| inbound_bytes(plan, flag)).sum();
            (of, StateWords::of_worker(images)?)
        } else {
            (cores.iter().map(|core| core.fills.0).sum(), StateWords::of_filler(images)?)
        };
        Ok(Self {
            cores,
            next: 0,
            of,
            worker: KernelWords::of(images, WORKER, state, "CCL")?,
            edm: KernelWords::of(images, EDM, StateWords::of_edm(images)?, "EDM")?,
            moved: None,
            deadline_cycles,
        })
    }

    /// Returns the bytes that have arrived, were filled or checked, and their total; or, without
    /// bytes, the finished kernels and their total.
    pub(super) fn done(&self) -> (u64, u64) {
        if self.of == 0 {
            let done = self.cores.iter().filter(|core| core.finished).count();
            return (done as u64, self.cores.len() as u64);
        }
        let arrived = |core: &Watched| match core.fills {
            (_, 0) => u64::from(core.values.packets_in) * core.packet_bytes,
            // The words of a kernel that has not begun may still be those of the
            // previous one.
            (bytes, packets) => bytes * u64::from(core.values.stage).min(packets) / packets,
        };
        (self.cores.iter().map(arrived).sum::<u64>().min(self.of), self.of)
    }

    /// Counts the deadline from this time on, in cycles of the target.
    pub(super) fn restart(&mut self, now_cycles: u64) {
        self.moved = Some(now_cycles);
    }

    /// Whether its kernels have stood for a while, and one of them is parked.
    ///
    /// # Errors
    /// If an image is missing, or the machine does not answer.
    pub(super) fn rests(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<bool, RunError> {
        let now = target.now()?;
        let stands = self.moved.is_some_and(|since| now.saturating_sub(since) >= STANDS_CYCLES);
        let open: Vec<&Watched> = self.cores.iter().filter(|core| !core.finished).collect();
        Ok(stands && is_parked(target, images, &open)?)
    }

    /// Reads some of the running kernels; returns whether all have returned.
    ///
    /// # Errors
    /// If a kernel does not end, or the machine does not answer.
    pub(super) fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<bool, RunError> {
        let asked = self.some();
        let spans = asked.iter().flat_map(|&index| self.spans(index)).collect();
        let snapshot = target.read(&Plan { spans });
        let now = target.now()?;
        let mut moved = self.moved.is_none();
        for index in asked {
            moved |= self.learn(index, &snapshot)?;
        }
        if moved {
            self.moved = Some(now);
        }
        if self.cores.iter().all(|core| core.finished) {
            return Ok(true);
        }
        let since = self.moved.unwrap_or(now);
        let waited = now.saturating_sub(since);
        if waited > self.deadline_cycles {
            let open: Vec<&Watched> = self.cores.iter().filter(|core| !core.finished).collect();
            if !is_parked(target, images, &open)? {
                let left = open.iter().map(|core| (core.place, core.name())).collect();
                let of = self.cores.len();
                let stuck = Stuck::Kernels { left, of, waited_cycles: waited };
                let mut error = RunError::new(Cause::TookTooLong(stuck));
                error.since_cycles = Some(since);
                return Err(error);
            }
            // A kernel is paused on request, so there is no deadline.
            self.moved = Some(now);
        }
        Ok(false)
    }

    /// Returns the next running kernels to read.
    fn some(&mut self) -> Vec<usize> {
        let count = self.cores.len();
        let order = (0..count).map(|n| (self.next + n) % count);
        let open = order.filter(|&index| !self.cores.get(index).is_none_or(|core| core.finished));
        let some: Vec<usize> = open.take(MOST_CORES).collect();
        self.next = some.last().map_or(0, |last| last + 1);
        some
    }

    fn words(&self, kernel: &str) -> &KernelWords {
        if kernel == EDM { &self.edm } else { &self.worker }
    }

    fn spans(&self, index: usize) -> Vec<Span> {
        let Some(core) = self.cores.get(index) else { return Vec::new() };
        let words = self.words(core.kernel);
        let state = Span { addr: core.place.at(words.state.start), len: words.state.len };
        vec![state, Span { addr: core.place.at(words.go.0), len: 4 }]
    }

    /// Takes the words of a core; returns whether anything changed.
    fn learn(&mut self, index: usize, snapshot: &Snapshot) -> Result<bool, RunError> {
        let Some(core) = self.cores.get(index) else { return Ok(false) };
        let words = self.words(core.kernel);
        let state = snapshot.bytes(core.place.at(words.state.start), words.state.len);
        let (go, values) = match (snapshot.word(core.place.at(words.go.0)), state) {
            (Ok(go), Ok(state)) => (go, words.state.read(state)),
            (Err(gone @ AccessError::DeviceGone(_)), _) => return Err(gone.into()),
            // A core that cannot be read now may be readable later; the deadline
            // applies.
            _ => return Ok(false),
        };
        let returned = words.go.1.holds(go);
        let over = [words.finished, words.stopped, words.refused].contains(&values.phase);
        if values.phase == words.refused {
            let ended = Ended::Refused(Some(core.role.clone()));
            return Err(RunError::new(Cause::Kernel(ended)).at(core.place));
        }
        if values.phase == words.stopped {
            let ended = Ended::Stopped(core.role.clone());
            return Err(RunError::new(Cause::Kernel(ended)).at(core.place));
        }
        // Its words may have been read just before it ended.
        let finished = returned && (over || core.returned);
        let changed = values != core.values || returned != core.returned;
        if let Some(core) = self.cores.get_mut(index) {
            core.values = values;
            (core.returned, core.finished) = (returned, finished);
        }
        Ok(changed)
    }

    /// Returns how many commands of its current slice each worker has carried out.
    pub(super) fn commands_done(&self, program: &Program) -> Vec<u64> {
        let of = |(plan, core): (&WorkerPlan, &Watched)| {
            let (commands, stage) = (plan.commands.len() as u64, u64::from(core.values.stage));
            let each = plan.slice_pages.min(plan.pages).div_ceil(plan.packet_pages.max(1)).max(1);
            if core.finished || stage >= plan.packets() {
                commands
            } else {
                stage / u64::from(each) % commands.max(1)
            }
        };
        program.workers.iter().zip(&self.cores).map(of).collect()
    }

    /// Returns the kernels with their last words.
    pub(super) fn cores(&self) -> &[Watched] {
        &self.cores
    }
}

/// Whether one of these kernels is parked.
fn is_parked(
    target: &mut dyn Target,
    images: &ImageMap,
    open: &[&Watched],
) -> Result<bool, RunError> {
    let span = |core: &&Watched| {
        let firmware = image(images, firmware_of(core.kernel))?;
        let kind = if core.kernel == EDM { CoreKind::Erisc } else { CoreKind::Brisc };
        let own = mailbox(&firmware)?;
        Ok(Span { addr: core.place.at(own.waypoint(kind)), len: own.waypoint_bytes as u32 })
    };
    let spans = open.iter().map(span).collect::<Result<Vec<_>, RunError>>()?;
    let snapshot = target.read(&Plan { spans: spans.clone() });
    let code = |span: &Span| snapshot.bytes(span.addr, span.len).map(waypoint_code);
    Ok(spans.iter().any(|span| code(span).as_deref() == Ok(PARKED)))
}

fn page_bytes(plan: &WorkerPlan) -> u64 {
    plan.tensors.first().map_or(0, |tensor| tensor.page_bytes.into())
}

fn packet_bytes(plan: &WorkerPlan) -> u64 {
    u64::from(plan.packet_pages) * page_bytes(plan)
}

/// Returns the bytes that a worker fills or checks, and the number of packets.
fn filled(plan: &WorkerPlan) -> (u64, u64) {
    let bytes = plan.commands.len() as u64 * u64::from(plan.pages) * page_bytes(plan);
    (bytes, plan.packets())
}

/// Returns the bytes that a worker takes from its channel.
fn inbound_bytes(plan: &WorkerPlan, flag: u16) -> u64 {
    if plan.inbound.is_none() {
        return 0;
    }
    let takes = plan.commands.iter().filter(|command| command.flags & flag != 0).count() as u64;
    u64::from(plan.pages) * page_bytes(plan) * takes
}
