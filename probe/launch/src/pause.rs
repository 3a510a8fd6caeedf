//! Pauses the kernels of a mesh, and resumes them.
//!
//! Workers park before their next stage, then the kernels that move their data over links, then
//! muxes, then routers that know the command `PAUSE`. A group is asked when those before it are at
//! rest: parked, returned, or without a change for [`STANDS_CYCLES`], because they wait for a kernel
//! that is parked. Routers without such a command run on until their packets stand. The words are
//! `kernel_control_t` of built-in kernels (firmware/device/LAUNCH.txt 4) and `RouterStateManager` of
//! tt-metal's routers (tt-metal.md 4.1). A step releases built-in kernels that are parked, routers
//! among them, and they park before the next stage that they count.

mod kernel;

use crate::occupancy::check_permissions;
use crate::outcome::RunError;
use crate::records::word_read;
use crate::{ControlError, Operation, OperationGroup};
pub use kernel::Kernels;
use kernel::{Group, Pausable, Sign};
use layouts::{CoreId, WritePermission};
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A kernel that is not parked stands if its words have not changed for this time, in cycles of the
/// target's own time.
pub const STANDS_CYCLES: u64 = 100_000;
/// The longest time until the kernels of a group are at rest, in cycles of the target's own time.
pub const PATIENCE_CYCLES: u64 = 50_000_000;

/// The waypoint `DWLW` of a kernel that waits for a time, and then works on.
const DELAY: u32 = u32::from_le_bytes(*b"DWLW");

/// What a kernel did when it was asked to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Rest {
    /// It works on.
    Works,
    /// It is parked.
    Parked,
    /// It waits, and changes nothing.
    Waits,
    /// It has returned.
    Returned,
}

/// A pause that is polled.
#[derive(Debug)]
pub struct Pause {
    kernels: Kernels,
    /// The groups that are not asked yet, the next one last.
    left: Vec<Group>,
    asked: Vec<Group>,
    /// The words of each kernel when they last changed: their hash, and the time.
    marks: BTreeMap<CoreId, (u64, u64)>,
    rest: BTreeMap<CoreId, Rest>,
    since: u64,
}

/// Kernels at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paused {
    /// What each kernel did that was asked.
    pub rest: BTreeMap<CoreId, (String, Rest)>,
    /// Routers without a command to pause, whose packets stand.
    pub routers: usize,
    /// The kernels that cannot be paused, in words.
    pub refusal: Option<String>,
}

impl Paused {
    /// Returns the number of kernels that did this.
    pub fn count(&self, rest: Rest) -> usize {
        self.rest.values().filter(|(_, it)| *it == rest).count()
    }
}

/// Refuses to change a mesh that may not be changed.
fn check(target: &mut dyn Target) -> Result<(), RunError> {
    check_permissions(target, "pausing", &[WritePermission::Write, WritePermission::Launch])
}

impl Pause {
    /// Begins to pause these kernels. Nothing is written yet.
    ///
    /// # Errors
    /// When the target does not allow it, nothing runs, or nothing that runs can be paused.
    pub fn new(target: &mut dyn Target, mut kernels: Kernels) -> Result<Self, RunError> {
        check(target)?;
        find_held_routers(target, &mut kernels)?;
        let why = match kernels.refusal() {
            _ if kernels.can_pause() => None,
            _ if kernels.is_empty() => Some("no kernel runs that could be paused".to_owned()),
            Some(refusal) => Some(refusal),
            None => Some("routers run on: only their clients could be paused".to_owned()),
        };
        if let Some(why) = why {
            return Err(ControlError::Settings(why).into());
        }
        let mut left: Vec<Group> = Group::ALL.into_iter().rev().collect();
        left.retain(|group| kernels.pausable.iter().any(|kernel| kernel.group == *group));
        let since = target.now()?;
        let (asked, marks, rest) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Self { kernels, left, asked, marks, rest, since })
    }

    /// Begins to let paused kernels go on to their next stage, before which they park again; those of
    /// these cores, or all. Nothing is written but what a pause writes.
    ///
    /// # Errors
    /// As [`Pause::new`], and when one of the cores runs no kernel that is paused and has stages.
    pub fn step(
        target: &mut dyn Target,
        mut kernels: Kernels,
        cores: &[CoreId],
    ) -> Result<Self, RunError> {
        let wanted = |core: &CoreId| cores.is_empty() || cores.contains(core);
        let runs = |core: &&CoreId| kernels.pausable.iter().any(|kernel| kernel.core == **core);
        if let Some(core) = cores.iter().find(|core| !runs(core)) {
            let why = format!("no kernel runs on {core} that could be paused");
            return Err(ControlError::Settings(why).into());
        }
        kernels.pausable.retain(|kernel| wanted(&kernel.core));
        kernels.routers.clear();
        kernels.refused.clear();
        let words = kernels.pausable.iter().flat_map(|kernel| {
            [Some(kernel.ask), kernel.stage].into_iter().flatten().map(|addr| Span { addr, len: 4 })
        });
        let snapshot = target.read(&Plan { spans: words.collect() });
        let word = |addr| word_read(&snapshot, addr);
        let mut stepping = Vec::new();
        for mut kernel in kernels.pausable {
            let (core, name) = (kernel.core, &kernel.name);
            let Some(stage) = kernel.stage else {
                if cores.is_empty() {
                    continue;
                }
                let why = format!("{name} on {core} counts no stages to step by");
                return Err(ControlError::Settings(why).into());
            };
            if word(kernel.ask)? == kernel.run {
                if cores.is_empty() {
                    continue;
                }
                let why = format!("{name} on {core} is not paused");
                return Err(ControlError::Settings(why).into());
            }
            // All are released together.
            (kernel.group, kernel.pause) = (Group::Workers, word(stage)?.saturating_add(1));
            stepping.push(kernel);
        }
        if stepping.is_empty() {
            return Err(ControlError::Settings("no kernel is paused".to_owned()).into());
        }
        Self::new(target, Kernels { pausable: stepping, ..Kernels::default() })
    }

    /// Continues until time has to pass; returns the kernels once all are at rest.
    ///
    /// # Errors
    /// When the target does not answer, or a kernel works on after [`PATIENCE_CYCLES`]: what was
    /// asked stays asked.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<Option<Paused>, RunError> {
        target.commanded_by("pause");
        let now = target.now()?;
        if !self.asked.is_empty() {
            self.look(target, now)?;
            let working = self.rest.iter().find(|(_, rest)| **rest == Rest::Works);
            if let Some((core, _)) = working {
                if now - self.since > PATIENCE_CYCLES {
                    return Err(self.works_on(*core, now - self.since));
                }
                return Ok(None);
            }
        }
        let Some(group) = self.left.pop() else { return Ok(Some(self.paused())) };
        for kernel in self.kernels.pausable.iter().filter(|kernel| kernel.group == group) {
            write(target, kernel, kernel.pause)?;
        }
        self.asked.push(group);
        self.since = now;
        // Whatever waits may have waited for what just changed.
        self.marks.clear();
        Ok(None)
    }

    fn works_on(&self, core: CoreId, waited_cycles: u64) -> RunError {
        let kernel = self.kernels.pausable.iter().find(|kernel| kernel.core == core);
        let name = kernel.map_or("a router", |kernel| &kernel.name);
        let why = format!(
            "{name} on {core} works on {waited_cycles} cycles after it was asked to pause; `resume` releases what is parked"
        );
        ControlError::Settings(why).into()
    }

    /// Reads what the kernels do that were asked.
    fn look(&mut self, target: &mut dyn Target, now: u64) -> Result<(), RunError> {
        let asked = |kernel: &&Pausable| self.asked.contains(&kernel.group);
        let kernels: Vec<&Pausable> = self.kernels.pausable.iter().filter(asked).collect();
        // Routers run on until the end.
        let last = self.left.is_empty();
        let routers: Vec<_> = self.kernels.routers.iter().filter(|_| last).collect();
        let word = |sign: Sign| Span { addr: sign.addr, len: 4 };
        let spans = kernels.iter().flat_map(|kernel| {
            let signs = [Some(kernel.parked), kernel.returned].into_iter().flatten().map(word);
            let waypoint = kernel.waypoint.map(|addr| Span { addr, len: 4 });
            signs.chain(waypoint).chain(kernel.watched.iter().copied())
        });
        let spans = spans.chain(routers.iter().flat_map(|(_, spans)| spans.iter().copied()));
        let snapshot = target.read(&Plan { spans: spans.collect() });
        let mut rest = BTreeMap::new();
        for kernel in kernels {
            let shows = |sign: Sign| -> Result<bool, RunError> {
                Ok(sign.holds.holds(word_read(&snapshot, sign.addr)?))
            };
            let delays = kernel.waypoint.is_some_and(|at| snapshot.word(at) == Ok(DELAY));
            let stands = stands(&mut self.marks, kernel.core, &kernel.watched, &snapshot, now);
            let is = if kernel.returned.map(shows).transpose()? == Some(true) {
                Rest::Returned
            } else if shows(kernel.parked)? {
                Rest::Parked
            } else if stands && !delays {
                Rest::Waits
            } else {
                Rest::Works
            };
            rest.insert(kernel.core, is);
        }
        for (core, watched) in routers {
            let stands = stands(&mut self.marks, *core, watched, &snapshot, now);
            rest.insert(*core, if stands { Rest::Waits } else { Rest::Works });
        }
        self.rest = rest;
        Ok(())
    }

    fn paused(&self) -> Paused {
        let rest = self.kernels.pausable.iter().filter_map(|kernel| {
            let rest = self.rest.get(&kernel.core)?;
            Some((kernel.core, (kernel.name.clone(), *rest)))
        });
        Paused {
            rest: rest.collect(),
            routers: self.kernels.routers.len(),
            refusal: self.kernels.refusal(),
        }
    }
}

/// Built-in routers that were launched or stepped to park rest as other kernels do.
fn find_held_routers(target: &mut dyn Target, kernels: &mut Kernels) -> Result<(), RunError> {
    let is_router = |kernel: &&Pausable| kernel.group == Group::Stepped;
    let asks = kernels.pausable.iter().filter(is_router);
    let spans: Vec<Span> = asks.map(|kernel| Span { addr: kernel.ask, len: 4 }).collect();
    if spans.is_empty() {
        return Ok(());
    }
    let snapshot = target.read(&Plan { spans });
    for kernel in kernels.pausable.iter_mut().filter(|kernel| is_router(&&**kernel)) {
        let asked = word_read(&snapshot, kernel.ask)?;
        if asked != kernel.run {
            (kernel.group, kernel.pause) = (Group::Routers, asked);
            kernels.routers.retain(|(core, _)| *core != kernel.core);
        }
    }
    Ok(())
}

/// Whether the words of a kernel have not changed for a while.
fn stands(
    marks: &mut BTreeMap<CoreId, (u64, u64)>,
    core: CoreId,
    watched: &[Span],
    snapshot: &Snapshot,
    now: u64,
) -> bool {
    let mut hasher = DefaultHasher::new();
    for span in watched {
        snapshot.bytes(span.addr, span.len).ok().hash(&mut hasher);
    }
    let mark = hasher.finish();
    let (before, since) = marks.entry(core).or_insert((mark, now));
    if *before != mark {
        (*before, *since) = (mark, now);
    }
    now.saturating_sub(*since) >= STANDS_CYCLES
}

fn write(target: &mut dyn Target, kernel: &Pausable, value: u32) -> Result<(), RunError> {
    let addr = kernel.ask;
    let written = target.write(addr, &value.to_le_bytes());
    Ok(written.map_err(|reason| ControlError::Access { addr, reason })?)
}

/// Returns the operations that let every paused kernel run on, and their number: routers first,
/// workers last.
///
/// # Errors
/// When the target does not allow it or does not answer, or no kernel is paused.
pub fn resume(
    target: &mut dyn Target,
    kernels: &Kernels,
) -> Result<(OperationGroup, usize), RunError> {
    check(target)?;
    let asks = kernels.pausable.iter().map(|kernel| Span { addr: kernel.ask, len: 4 });
    let snapshot = target.read(&Plan { spans: asks.collect() });
    let mut paused = Vec::new();
    for kernel in &kernels.pausable {
        let asked = word_read(&snapshot, kernel.ask)?;
        if asked != kernel.run {
            paused.push(kernel);
        }
    }
    if paused.is_empty() {
        return Err(ControlError::Settings("no kernel is paused".to_owned()).into());
    }
    paused.sort_by_key(|kernel| std::cmp::Reverse(kernel.group));
    let operations = paused.iter().map(|kernel| {
        let mut operation = Operation::new("resume");
        operation.write_word(kernel.ask, kernel.run);
        operation
    });
    Ok((OperationGroup::new(operations), paused.len()))
}
