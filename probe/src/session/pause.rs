//! The kernels that run on a mesh, and the balance of their credits while they are at rest.

use super::{Inspected, Session, Watch};
use collectives::edm_balance;
use decode::inspect::ReadSet;
use decode::state::Verdict;
use diagnosis::{Look, semaphores};
use launch::ControlError;
use launch::pause::Kernels;

/// What was counted on a mesh at rest: sent is completed or in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Number of EDM channels, compared at both ends of their links.
    pub edm_channels: usize,
    /// Number of directions of links between routers, in each virtual channel.
    pub fabric_channels: usize,
    /// Number of semaphores between workers and EDMs.
    pub semaphores: usize,
    /// Messages and packets in flight.
    pub in_flight: u64,
    /// What does not add up, one sentence each.
    pub miscounts: Vec<String>,
}

impl Balance {
    /// Returns the number of counts that were compared.
    pub fn counts(&self) -> usize {
        self.edm_channels + self.fabric_channels + self.semaphores
    }
}

impl Session {
    /// Reads the mesh and finds the kernels that run.
    pub fn running_kernels(&mut self) -> Kernels {
        let read_set = ReadSet::everything(self.target.mesh());
        let Inspected { state, .. } = self.inspect(&read_set);
        Kernels::find(state.running(), &self.images)
    }

    /// Counts the credits of a mesh whose kernels are at rest. Writes nothing.
    ///
    /// # Errors
    /// When an image lacks a member.
    pub fn balance(&mut self) -> Result<Balance, ControlError> {
        // What does not add up in two snapshots has not moved between them.
        let mut watch = Watch::new(0);
        self.look(&mut watch);
        self.look(&mut watch);
        let Some(Inspected { snapshot, state, .. }) = watch.newest().cloned() else {
            return Ok(Balance::default());
        };
        let look = Look::new(&snapshot, &state);
        let semaphores = semaphores(self.target.mesh(), look);
        let edm = edm_balance(self.target.as_mut(), &self.images, state.running())?;
        let ledgers = &state.fabric.ledgers;
        let in_flight = ledgers.iter().filter_map(|it| it.in_flight).sum::<u64>();
        let lost = ledgers.iter().filter(|it| it.verdict == Verdict::Miscounted).map(|it| {
            format!(
                "virtual channel {} from {} to {}: its slots and packets do not add up",
                it.virtual_channel, it.from, it.to
            )
        });
        let unequal = semaphores.iter().filter(|it| it.given != it.there).map(|it| {
            format!("{}: {} increments were made, and it holds {}", it.of, it.given, it.there)
        });
        Ok(Balance {
            edm_channels: edm.channels,
            fabric_channels: ledgers.len(),
            semaphores: semaphores.len(),
            in_flight: in_flight + edm.in_flight,
            miscounts: edm.miscounts.into_iter().chain(lost).chain(unequal).collect(),
        })
    }
}
