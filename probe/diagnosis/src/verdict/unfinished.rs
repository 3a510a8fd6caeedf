//! Operations that have not ended, and of which no other finding says why.

use super::{Case, MOST_LISTED, over_cycles};
use crate::condition::{Condition, Severity};
use crate::finding::Finding;
use crate::kernels::{repeated, waits_for_semaphore};
use crate::look::Kernel;
use crate::place::Place;
use crate::progress::Progress;
use decode::spin::Spin;
use decode::state::Party;
use images::{GoSignal, Reading};
use layouts::CoreId;
use machine::words::{counted, cycles};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The waypoint of a delay that was asked for.
const DELAYS: &str = "DWLW";

impl Case<'_> {
    /// Returns a finding for each operation of which a kernel was told to go, has not ended, and shows
    /// no progress, if none of these findings is about it.
    pub(super) fn unfinished(&self, found: &[Finding]) -> Vec<Finding> {
        let mut explained: BTreeSet<CoreId> =
            found.iter().flat_map(|finding| self.explained(finding)).collect();
        // A finding about kernels that wait for semaphores is about all of their operation.
        let starved = found.iter().filter(|finding| self.lacks_increment(finding));
        let starved: BTreeSet<Option<u32>> =
            starved.filter_map(|it| Some(self.kernel_of(it)?.operation())).collect();
        let is_starved = |kernel: &Kernel<'_>| {
            waits_for_semaphore(kernel) && starved.contains(&kernel.operation())
        };
        for kernel in self.kernels.values().filter(|kernel| is_starved(kernel)) {
            let waiters = self.waits.waiters(Party::Core(kernel.core.id));
            explained.extend(waiters.into_iter().filter_map(|party| self.core_of(party)));
        }
        let mut operations: BTreeMap<Option<u32>, Vec<&Kernel<'_>>> = BTreeMap::new();
        let waits = |kernel: &&Kernel<'_>| {
            kernel.end.is_none()
                && !kernel.serves()
                && kernel.core.go == Reading::Known(GoSignal::Go)
                && !explained.contains(&kernel.core.id)
                && !self.awaits_what_moves(kernel.core.id)
                && !is_starved(kernel)
        };
        for kernel in self.kernels.values().filter(waits) {
            let progress = self.progress.get(&kernel.core.id);
            if let Some(Progress::Unknown | Progress::Still | Progress::Waiting(..)) = progress {
                operations.entry(kernel.operation()).or_default().push(kernel);
            }
        }
        operations.iter().filter_map(|(op, kernels)| self.operation(*op, kernels)).collect()
    }

    /// Whether a core waits, directly or through others, for a kernel that moves and can end the wait.
    fn awaits_what_moves(&self, core: CoreId) -> bool {
        let mut seen = BTreeSet::from([core]);
        let mut next = vec![core];
        while let Some(core) = next.pop() {
            let waits = self.waits.of(Party::Core(core)).filter(|wait| wait.reason.is_any());
            for on in waits.filter_map(|wait| self.core_of(wait.on)) {
                if self.progress.get(&on) == Some(&Progress::Progressing) {
                    return true;
                }
                if seen.insert(on) {
                    next.push(on);
                }
            }
        }
        false
    }

    /// Returns that kernels of no known image are alone with that, if the others that run, more of them,
    /// have one name: the wrong kernel may have been launched.
    pub(super) fn unlike_others(&self, unknown: &[&Kernel<'_>]) -> Option<String> {
        let others = self.kernels.values().filter(|it| it.end.is_none() && !it.serves());
        let names: Vec<&str> = others.filter_map(Kernel::name).collect();
        let name = *names.first().filter(|first| names.iter().all(|it| it == *first))?;
        let count = Some(names.len()).filter(|count| *count > unknown.len())?;
        let others = counted(count as u64, "other core runs", "other cores run");
        Some(format!("its text is that of no known image, while {others} {name}"))
    }

    /// Returns the request that a kernel sends again and again.
    pub(super) fn repeats(&self, kernel: &Kernel<'_>) -> Option<String> {
        let progress = self.progress.get(&kernel.core.id);
        repeated(self.mesh, self.looks, kernel).filter(|_| progress == Some(&Progress::Unknown))
    }

    /// Returns the cores of the place and of all waits of a finding.
    fn explained(&self, finding: &Finding) -> Vec<CoreId> {
        let own = match finding.place {
            Place::Core(core) => Some(core),
            _ => None,
        };
        let steps = finding.chain.iter().flat_map(|step| [step.waiter, step.on]);
        let on = finding.party.into_iter().chain(steps.clone());
        let waiters = on.flat_map(|party| self.waits.waiters(party));
        let parties = waiters.chain(steps).chain(finding.party);
        parties.filter_map(|party| self.core_of(party)).chain(own).collect()
    }

    fn operation(&self, operation: Option<u32>, kernels: &[&Kernel<'_>]) -> Option<Finding> {
        // One that waits in its loop waits for another.
        let waits = |kernel: &&Kernel<'_>| kernel.spin().is_some_and(|spin| !spin.endless);
        let (last, first): (Vec<_>, Vec<_>) = kernels.iter().copied().partition(waits);
        let mut all = first.into_iter().chain(last);
        let busy = all.find_map(|kernel| Some((kernel.core.id, busy(kernel)?)));
        let repeats =
            kernels.iter().find_map(|kernel| Some((kernel.core.id, self.repeats(kernel)?)));
        let found = repeats.as_ref().or(busy.as_ref());
        let first = found.map_or(kernels.first()?.core.id, |(core, _)| *core);
        let names: BTreeSet<&str> = kernels.iter().filter_map(|kernel| kernel.name()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let unlike = if names.is_empty() { self.unlike_others(kernels) } else { None };
        let operation = operation.map(|number| self.last.state.operation(number));
        let operation = match operation {
            Some(operation) if names.is_empty() => format!("operation {operation}"),
            Some(operation) => format!("operation {operation} ({names})"),
            None => names,
        };
        let cores = match kernels {
            [_] => format!("core {first} has"),
            _ => format!("{} have", counted(kernels.len() as u64, "core", "cores")),
        };
        let mut moved = match (found, kernels) {
            (None, _) => "nothing that was read of it moved".to_owned(),
            (Some((_, what)), [_]) => format!("it {what}"),
            (Some((core, what)), _) => format!("core {core} {what}"),
        };
        let waiting = kernels.iter().filter(|kernel| waits_for_semaphore(kernel)).count() as u64;
        if waiting > 0 {
            let _ = write!(moved, ", {} for a semaphore", counted(waiting, "waits", "wait"));
        }
        let paused = self.progress.iter().filter(|(_, it)| **it == Progress::Paused);
        let paused: Vec<CoreId> = paused.map(|(core, _)| *core).collect();
        let because = match paused.len() {
            0 => String::new(),
            1 => "; one core is paused, which can be why".to_owned(),
            all => format!("; {all} cores are paused, which can be why"),
        };
        let unlike = unlike.map_or(String::new(), |unlike| format!("; {unlike}"));
        let words = format!(
            "{operation}: {cores} not ended for {}; {moved}{unlike}{because}",
            cycles(over_cycles(self.looks))
        );
        let (place, party) = (Place::Core(first), Party::Core(first));
        let mut finding = self.finding(Condition::NotFinished, place, party, words);
        finding.severity = Severity::Unfinished;
        if !paused.is_empty() {
            "resume what is paused: `meshscope resume`".clone_into(&mut finding.next);
            finding
                .evidence
                .extend(paused.iter().take(MOST_LISTED).flat_map(|core| self.evidence(*core)));
        } else if busy.is_some() {
            finding.next = format!("look at its words: `meshscope cores {first} --words`");
        } else if kernels.iter().any(|kernel| kernel.is_sampled_without_image()) {
            "give it the ELFs of its kernels: `meshscope why --elfs DIR`"
                .clone_into(&mut finding.next);
        }
        for kernel in kernels.iter().take(MOST_LISTED) {
            let core = kernel.core.id;
            if core != first {
                finding.evidence.extend(self.evidence(core));
            }
        }
        Some(finding)
    }
}

/// Returns where a kernel spins, and what ends that, or where it computes, `is busy at file:line in
/// function`, if its samples show no wait.
fn busy(kernel: &Kernel<'_>) -> Option<String> {
    if let Some(spin) = kernel.spin() {
        return Some(spins(kernel, spin));
    }
    let doing = match kernel.waypoint() {
        DELAYS => "is in a delay that was asked for,",
        waypoint if waypoint.ends_with('W') => return None,
        _ => "is busy",
    };
    Some(format!("{doing} {}", sampled_line(kernel)?))
}

/// Returns where a kernel spins, and what ends that, as far as they are known.
pub(super) fn spins(kernel: &Kernel<'_>, spin: &Spin) -> String {
    let at = sampled_line(kernel).map_or(String::new(), |line| format!(" {line}"));
    format!("is in a loop{at} that goes on {spin}")
}

/// Returns where most samples show a kernel, `at file:line in function`.
fn sampled_line(kernel: &Kernel<'_>) -> Option<String> {
    let lines = &kernel.sampled?.places.first()?.lines;
    // A block of a function has a line of its own.
    let function = &lines.last()?.function;
    let line = lines.iter().find(|line| line.function == *function)?;
    let at = if line.file.is_some() { "at " } else { "" };
    Some(format!("{at}{}", line.without_arguments()))
}
