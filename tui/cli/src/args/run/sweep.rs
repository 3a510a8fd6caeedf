//! From the options of `run` to a sweep, before the mesh is known.

use super::RunArguments;
use crate::amount::{bytes, chips, count, sizes, time};
use collectives::{FabricOptions, Op, Request, RunSettings, Transport};
use console::run::pausing::PauseAt;
use console::run::{SizeStep, Sweep};
use layouts::ChipId;
use machine::fault::{Fault, FaultError};
use std::collections::BTreeSet;

/// A larger count than this is an error.
const MANY: u32 = 1_000_000;
/// A run polls its kernels every 20 us, and a kernel without work may rest between two polls, in
/// cycles.
const LEAST_TIMEOUT_CYCLES: u64 = 100_000;
/// A credit over the fabric takes longer to return than one of an EDM; this many buffers hide that.
const FABRIC_BUFFERS: u32 = 4;
/// One second per packet, the longest delay, in cycles.
const MOST_DELAY_CYCLES: u32 = 1_000_000_000;

impl RunArguments {
    /// Returns the only sweep that these options ask for.
    ///
    /// # Errors
    /// As [`RunArguments::sweeps`], or if there are several, or --relaunch.
    pub(crate) fn sweep(&self) -> Result<Sweep, String> {
        if self.relaunch {
            return Err("--relaunch: runs are relaunched by the verb of the command line".into());
        }
        let several = |_| "--chips: here a collective runs on one list of chips".to_owned();
        <[Sweep; 1]>::try_from(self.sweeps()?).map(|[sweep]| sweep).map_err(several)
    }

    /// Returns a sweep for each list of chips.
    ///
    /// # Errors
    /// The first option that is invalid, in one sentence.
    pub(crate) fn sweeps(&self) -> Result<Vec<Sweep>, String> {
        let sweep = self.of_all_chips()?;
        let lists = self.chips.iter().map(|list| chips(list)).collect::<Result<Vec<_>, _>>()?;
        let mut taken = BTreeSet::new();
        for chip in lists.iter().flatten() {
            if !taken.insert(*chip) {
                return Err(format!("--chips: chip {chip} is in two lists"));
            }
        }
        let of = |(number, chips): (usize, &Vec<ChipId>)| {
            let request = Request { chips: chips.clone(), ..sweep.request.clone() };
            // A fault is injected by the run on its chip, one of a chip in no list by the first.
            let is_own = |fault: &&Fault| {
                let chip = fault.chip();
                chips.contains(&chip) || (number == 0 && !taken.contains(&chip))
            };
            let faults = sweep.settings.faults.iter().filter(is_own).copied().collect();
            let settings = RunSettings { faults, ..sweep.settings.clone() };
            Sweep { request, settings, ..sweep.clone() }
        };
        let sweeps: Vec<Sweep> = lists.iter().enumerate().map(of).collect();
        match &sweep.pause_at {
            Some(_) if sweeps.len() > 1 => {
                Err("--pause-at: only a run on one list of chips is paused".into())
            }
            _ if sweeps.is_empty() => Ok(vec![sweep]),
            _ => Ok(sweeps),
        }
    }

    /// Returns the name of the collective; empty without one.
    pub(crate) fn op_name(&self) -> &'static str {
        self.op.map_or("", Op::name)
    }

    fn of_all_chips(&self) -> Result<Sweep, String> {
        let op = self.op.ok_or("the collective is missing")?;
        let least = bytes("-b", &self.min_bytes)?;
        let most = self.max_bytes.as_deref().map(|text| bytes("-e", text)).transpose()?;
        let step = step(self)?;
        let sizes = sizes(least, most.unwrap_or(least), step)?;
        let mut request = Request::new(op, least);
        request.topology = self.topology;
        request.links = count("--links", &self.links, 1, 16)?;
        request.data_type = self.data_type;
        request.layout = self.layout;
        request.bidirectional = self.bidirectional;
        request.root = count("--root", &self.root, 0, u16::MAX.into())?;
        request.worker_initiated = self.worker_initiated;
        request.seed = count("--seed", &self.seed, 0, u32::MAX)?;
        request.workers = count("--workers", &self.workers, 1, 64)?;
        request.transport = match self.transport {
            Transport::Edm => {
                fabric_only(self)?;
                Transport::Edm
            }
            Transport::Fabric(options) => {
                let topology = self.fabric;
                let core = self.mux.unwrap_or(options.core);
                let policy = self.mux_policy.unwrap_or(options.policy);
                let planes = self.planes.as_deref().map(|text| count("--planes", text, 1, 16));
                let planes = planes.transpose()?;
                request.buffers_per_channel = FABRIC_BUFFERS;
                Transport::Fabric(FabricOptions { topology, planes, core, policy, ..options })
            }
        };
        let small = |option: &str, text: &str| {
            let size = bytes(option, text)?;
            u32::try_from(size).map_err(|_| format!("{option}: {size} bytes fit no tile's memory"))
        };
        if let Some(text) = &self.buffer_bytes {
            request.buffer_bytes = small("--buffer-bytes", text)?;
        }
        if let Some(text) = &self.buffers {
            // The upper limit depends on the kernel, which checks it.
            request.buffers_per_channel = count("--buffers", text, 0, u32::MAX)?;
        }
        request.page_bytes =
            self.page_bytes.as_deref().map(|text| small("--page-bytes", text)).transpose()?;
        if let Some(text) = &self.delay {
            let cycles = time("--delay", text)?;
            let fits = u32::try_from(cycles).ok().filter(|cycles| *cycles <= MOST_DELAY_CYCLES);
            request.delay_cycles =
                fits.ok_or_else(|| format!("--delay: {text} is longer than 1s"))?;
        }
        for &bytes in &sizes {
            let size = Request { bytes, ..request.clone() };
            size.check().map_err(|error| error.to_string())?;
        }
        let faults = self.faults()?;
        let settings = RunSettings {
            warmups: count("-w", &self.warmups, 0, MANY)?,
            iterations: count("-n", &self.iterations, 1, MANY)?,
            check: self.check,
            faults,
            park: None,
            deadline_cycles: match &self.timeout {
                Some(text) => timeout(text)?,
                None => {
                    RunSettings::default().deadline_cycles + 2 * u64::from(request.delay_cycles)
                }
            },
        };
        let pause_at = self.pause_at.as_deref().map(PauseAt::parse).transpose()?;
        Ok(Sweep { request, sizes, step, settings, pause_at })
    }

    pub(super) fn faults(&self) -> Result<Vec<Fault>, String> {
        let parsed = |words: &String| words.parse().map_err(|error: FaultError| error.to_string());
        self.fault.iter().map(parsed).collect()
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
pub(super) fn timeout(text: &str) -> Result<u64, String> {
    let cycles = time("--timeout", text)?;
    if cycles < LEAST_TIMEOUT_CYCLES {
        let least = LEAST_TIMEOUT_CYCLES / 1_000;
        return Err(format!(
            "--timeout: {text} is shorter than {least}us, the shortest time that differs from a pause"
        ));
    }
    Ok(cycles)
}
