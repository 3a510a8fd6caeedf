//! A sweep: one collective in several sizes, as stated on the command line, and its programs on a
//! mesh.

use super::amount::{SizeStep, bytes, chips, count, sizes, time};
use super::pausing::PauseAt;
use crate::args::RunArguments;
use crate::words;
use collectives::{FabricOptions, Program, Request, RunSettings, Transport, compile_over};
use fabric::{FabricPlan, running_fabric};
use images::ImageMap;
use machine::fault::Fault;
use machine::target::Target;

/// A larger count than this is an error.
const MANY: u32 = 1_000_000;
/// A run polls its kernels every 20 us, and a kernel without work may rest between two polls, in
/// cycles.
const LEAST_TIMEOUT_CYCLES: u64 = 100_000;
/// A credit over the fabric takes longer to return than one of an EDM; this many buffers hide that.
const FABRIC_BUFFERS: u32 = 4;
/// One second per packet, the longest delay, in cycles.
const MOST_DELAY_CYCLES: u32 = 1_000_000_000;

/// A sweep as requested, before the mesh is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// All but the size.
    request: Request,
    sizes: Vec<u64>,
    step: SizeStep,
    settings: RunSettings,
    pause_at: Option<PauseAt>,
}

impl Sweep {
    /// Parses the options.
    ///
    /// # Errors
    /// The first option that is invalid, in one sentence.
    pub(crate) fn of(run: &RunArguments) -> Result<Self, String> {
        let least = bytes("-b", &run.min_bytes)?;
        let most = run.max_bytes.as_deref().map(|text| bytes("-e", text)).transpose()?;
        let step = step(run)?;
        let sizes = sizes(least, most.unwrap_or(least), step)?;
        let mut request = Request::new(run.op, least);
        if let Some(list) = &run.chips {
            request.chips = chips(list)?;
        }
        request.topology = run.topology;
        request.links = count("--links", &run.links, 1, 16)?;
        request.data_type = run.data_type;
        request.layout = run.layout;
        request.bidirectional = run.bidirectional;
        request.root = count("--root", &run.root, 0, u16::MAX.into())?;
        request.worker_initiated = run.worker_initiated;
        request.seed = count("--seed", &run.seed, 0, u32::MAX)?;
        request.workers = count("--workers", &run.workers, 1, 64)?;
        request.transport = match run.transport {
            Transport::Edm => {
                fabric_only(run)?;
                Transport::Edm
            }
            Transport::Fabric(options) => {
                let topology = run.fabric;
                let core = run.mux.unwrap_or(options.core);
                let policy = run.mux_policy.unwrap_or(options.policy);
                let planes = run.planes.as_deref().map(|text| count("--planes", text, 1, 16));
                let planes = planes.transpose()?;
                request.buffers_per_channel = FABRIC_BUFFERS;
                Transport::Fabric(FabricOptions { topology, planes, core, policy, ..options })
            }
        };
        let small = |option: &str, text: &str| {
            let size = bytes(option, text)?;
            u32::try_from(size).map_err(|_| format!("{option}: {size} bytes fit no tile's memory"))
        };
        if let Some(text) = &run.buffer_bytes {
            request.buffer_bytes = small("--buffer-bytes", text)?;
        }
        if let Some(text) = &run.buffers {
            // The upper limit depends on the kernel, which checks it.
            request.buffers_per_channel = count("--buffers", text, 0, u32::MAX)?;
        }
        request.page_bytes =
            run.page_bytes.as_deref().map(|text| small("--page-bytes", text)).transpose()?;
        if let Some(text) = &run.delay {
            let cycles = time("--delay", text)?;
            let fits = u32::try_from(cycles).ok().filter(|cycles| *cycles <= MOST_DELAY_CYCLES);
            request.delay_cycles =
                fits.ok_or_else(|| format!("--delay: {text} is longer than 1s"))?;
        }
        for &bytes in &sizes {
            let size = Request { bytes, ..request.clone() };
            size.check().map_err(|error| error.to_string())?;
        }
        let faults = run.fault.iter().map(|words| fault(words)).collect::<Result<Vec<_>, _>>()?;
        let settings = RunSettings {
            warmups: count("-w", &run.warmups, 0, MANY)?,
            iterations: count("-n", &run.iterations, 1, MANY)?,
            check: run.check,
            faults,
            park: None,
            deadline_cycles: match &run.timeout {
                Some(text) => timeout(text)?,
                None => {
                    RunSettings::default().deadline_cycles + 2 * u64::from(request.delay_cycles)
                }
            },
        };
        let pause_at = run.pause_at.as_deref().map(PauseAt::parse).transpose()?;
        Ok(Self { request, sizes, step, settings, pause_at })
    }

    /// One program for each size.
    ///
    /// # Errors
    /// Why this mesh cannot carry it out, in one sentence.
    pub(crate) fn compile(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Vec<Program>, String> {
        let running = self.running(target, images)?;
        let mesh = target.mesh();
        for fault in &self.settings.faults {
            mesh.check_fault(fault).map_err(|error| error.to_string())?;
        }
        let compiled = |&bytes: &u64| {
            compile_over(mesh, &Request { bytes, ..self.request.clone() }, running.as_ref())
        };
        self.sizes.iter().map(compiled).collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    /// The fabric that runs on the mesh, if packets are to use it.
    fn running(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Option<FabricPlan>, String> {
        let Transport::Fabric(options) = self.request.transport else { return Ok(None) };
        let running = running_fabric(target, images).map_err(|error| error.to_string())?;
        match (running, options.topology) {
            (Some(plan), Some(wanted)) if plan.topology != wanted => {
                Err(format!("--fabric {wanted}: a {} runs on the mesh", plan.topology))
            }
            (Some(plan), _) if self.pause_at == Some(PauseAt::Handshake) => Err(format!(
                "--pause-at handshake: a {} runs on the mesh, and its routers have met",
                plan.topology
            )),
            (running, _) => Ok(running),
        }
    }

    /// The sweep in one line.
    pub(crate) fn title(&self, program: &Program) -> String {
        let request = &self.request;
        let (least, most) = self.ends();
        let sizes = if least == most {
            words::bytes(least)
        } else {
            format!("{} to {}", words::bytes(least), words::bytes(most))
        };
        let ranks: Vec<_> = program.ranks.iter().map(ToString::to_string).collect();
        let (op, topology) = (request.op.name(), program.topology);
        let data_type = request.data_type.name();
        let over = match &program.crossing {
            None => String::new(),
            Some(crossing) => {
                let (muxes, fabric) = (crossing.muxes.len(), crossing.plan.topology.name());
                let plural = if muxes == 1 { "" } else { "es" };
                format!(" over a {fabric} fabric, {muxes} mux{plural}")
            }
        };
        format!("{op} {topology} {} {sizes} {data_type}{over}", ranks.join(","))
    }

    /// The request without its size.
    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// How each size is carried out.
    pub(crate) fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Where the first size is paused.
    pub(crate) fn pause_at(&self) -> Option<PauseAt> {
        self.pause_at
    }

    /// The smallest and the largest size.
    pub(crate) fn ends(&self) -> (u64, u64) {
        let first = self.sizes.first().copied().unwrap_or_default();
        (first, self.sizes.last().copied().unwrap_or(first))
    }

    /// The step as nccl-tests prints it.
    pub(crate) fn step(&self) -> String {
        match self.step {
            SizeStep::Factor(factor) => format!("{factor}(factor)"),
            SizeStep::Bytes(bytes) => format!("{bytes}(bytes)"),
        }
    }
}

/// Refuses options that have no effect with EDMs.
fn fabric_only(run: &RunArguments) -> Result<(), String> {
    let given = [
        ("--fabric", run.fabric.is_some()),
        ("--planes", run.planes.is_some()),
        ("--mux", run.mux.is_some()),
        ("--mux-policy", run.mux_policy.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(format!("{option}: has an effect with --transport fabric only")),
        None => Ok(()),
    }
}

fn step(run: &RunArguments) -> Result<SizeStep, String> {
    match (&run.step_factor, &run.step_bytes) {
        (_, Some(text)) => match bytes("-i", text)? {
            0 => Err("-i: a step of 0 bytes never reaches the largest size".into()),
            bytes => Ok(SizeStep::Bytes(bytes)),
        },
        (Some(text), None) => Ok(SizeStep::Factor(count("-f", text, 2, u32::MAX)?.into())),
        (None, None) => Ok(SizeStep::Factor(2)),
    }
}

/// The time limit of a kernel, in cycles.
fn timeout(text: &str) -> Result<u64, String> {
    let cycles = time("--timeout", text)?;
    if cycles < LEAST_TIMEOUT_CYCLES {
        let least = LEAST_TIMEOUT_CYCLES / 1_000;
        return Err(format!(
            "--timeout: {text} is shorter than {least}us, the shortest time that differs from a pause"
        ));
    }
    Ok(cycles)
}

/// Parses a fault.
pub(crate) fn fault(words: &str) -> Result<Fault, String> {
    words.parse::<Fault>().map_err(|error| error.to_string())
}
