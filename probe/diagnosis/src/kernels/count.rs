//! Counts that two sides keep of the same credits.

use super::{CCL_WORKER, Search};
use crate::look::{Kernel, Look, peer};
use decode::state::{Party, Waits};
use layouts::{CoreKind, NocAddr};
use machine::target::Mesh;

/// A count of credits, as the giver and the taker hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Where the taker holds it.
    pub at: NocAddr,
    /// The word in words.
    pub of: String,
    /// As the giver counts.
    pub given: u64,
    /// The party that gives them: it counts a credit just before it sends it.
    pub giver: Party,
    /// As the taker holds.
    pub there: u64,
    /// The party that waits if the credit was lost.
    pub party: Party,
}

/// The messages in a worker's semaphore at an EDM; above them is how the channel ends.
const EDM_MESSAGES: u32 = (1 << 24) - 1;

/// Returns the counts of all EDM channels and their workers.
pub(crate) fn counts(mesh: &Mesh, look: Look<'_>) -> Vec<Count> {
    let search = search(mesh, look);
    let edms = search.kernels.values().filter(|kernel| kernel.name() == Some("edm"));
    let of_edms = edms.flat_map(|kernel| search.counts_of_edm(kernel));
    search.counts_of_workers().into_iter().chain(of_edms).collect()
}

/// Returns the counts of the semaphores between workers and EDMs: equal at both sides while nothing
/// moves.
pub fn semaphores(mesh: &Mesh, look: Look<'_>) -> Vec<Count> {
    search(mesh, look).counts_of_workers()
}

fn search<'a>(mesh: &'a Mesh, look: Look<'a>) -> Search<'a> {
    Search { mesh, look, kernels: look.kernels(), waits: Waits::default() }
}

impl Search<'_> {
    fn counts_of_workers(&self) -> Vec<Count> {
        let workers = self.kernels.values().filter(|kernel| kernel.name() == Some(CCL_WORKER));
        workers.flat_map(|kernel| self.counts_of_worker(kernel)).collect()
    }

    /// The increments that a worker made at its EDM, and those that the EDM made at the worker.
    fn counts_of_worker(&self, kernel: &Kernel<'_>) -> Vec<Count> {
        let sides = [("inbound", "packets_in"), ("outbound", "packets_out")];
        let counts = sides.iter().filter_map(|(name, taken)| {
            let side = self.side(kernel, name)?;
            let edm = self.mesh.place(side.edm.0).ok()?;
            let given = kernel.number(&format!("ccl_worker_state.{taken}"))?;
            let there = self.look.word(edm, side.there)? & EDM_MESSAGES;
            Some(Count {
                at: edm.at(side.there),
                of: format!("the semaphore of worker {} at EDM {}", kernel.core.id, side.edm.0),
                given,
                giver: Party::Core(kernel.core.id),
                there: there.into(),
                party: Party::Core(Self::core(edm, CoreKind::Erisc)),
            })
        });
        let mut counts: Vec<Count> = counts.collect();
        counts.extend(sides.iter().filter_map(|(name, _)| self.count_at_worker(kernel, name)));
        counts
    }

    /// The increments that an EDM made at its only worker.
    fn count_at_worker(&self, kernel: &Kernel<'_>, name: &str) -> Option<Count> {
        let side = self.side(kernel, name)?;
        let (end, channel) = side.edm;
        let edm = self.at(end)?;
        if edm.number(&format!("edm_state.args.channel[{channel}].workers"))? != 1 {
            return None;
        }
        let given = edm.number(&format!("edm_state.channels[{channel}].worker_credits"))?;
        let there = self.look.word(kernel.place(), side.here)?;
        Some(Count {
            at: kernel.place().at(side.here),
            of: format!(
                "the semaphore of EDM {end} channel {channel} at worker {}",
                kernel.core.id
            ),
            given,
            giver: Party::Channel(end, channel),
            there: there.into(),
            party: Party::Core(kernel.core.id),
        })
    }

    /// Completions that a receiver channel sent, and its sender has seen.
    fn counts_of_edm(&self, kernel: &Kernel<'_>) -> Vec<Count> {
        let Some((end, far)) = kernel.end.and_then(|end| Some((end, peer(self.mesh, end)?))) else {
            return Vec::new();
        };
        let Some(receiver) = self.at(far).filter(|_| self.ailment(end).is_none()) else {
            return Vec::new();
        };
        let count = |index: u8| {
            let is_sender = kernel.number(&format!("edm_state.args.channel[{index}].is_sender"))?;
            let word = format!("edm_state.channels[{index}].completed");
            let (addr, there) = kernel.word(&word)?;
            (is_sender != 0).then_some(())?;
            Some(Count {
                at: kernel.place().at(addr),
                of: format!("completions of EDM {end} channel {index}"),
                given: receiver.number(&word)?,
                giver: Party::Channel(far, index),
                there,
                party: Party::Channel(end, index),
            })
        };
        kernel.edm_channels().filter_map(count).collect()
    }
}
