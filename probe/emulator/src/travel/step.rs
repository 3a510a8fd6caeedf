//! One instruction of a hart back.

use super::{TravelError, Watcher};
use crate::disruption::HartId;
use crate::mesh::Mesh;
use crate::past::History;
use crate::past::checkpoint::Checkpoint;

impl History {
    /// Returns the cycle in which a hart executed its last instruction before a cycle: the mesh at
    /// that cycle shows the hart about to execute it. `None` if it executed none since
    /// [`History::first`].
    ///
    /// # Errors
    /// The cycle is not in the history, there is no such hart, or `watcher` returned false.
    pub fn previous_instruction(
        &self,
        hart: HartId,
        before: u64,
        watcher: &mut Watcher<'_>,
    ) -> Result<Option<u64>, TravelError> {
        let done = retired(&self.at(before, watcher)?, hart)?;
        if done == 0 || before == self.first() {
            return Ok(None);
        }
        // A hart that runs executes an instruction in each cycle.
        let just_before = self.at(before - 1, watcher)?;
        if retired(&just_before, hart)? != done {
            return Ok(Some(before - 1));
        }
        self.search_instruction(hart, done, before, watcher)
    }

    /// Searches for the cycle in which the count of a hart's instructions became `done`.
    fn search_instruction(
        &self,
        hart: HartId,
        done: u64,
        before: u64,
        watcher: &mut Watcher<'_>,
    ) -> Result<Option<u64>, TravelError> {
        let mut last = self.moment(before)?;
        let fewer = |which: usize| {
            let mesh = Mesh::from_checkpoint(&self.moments[which].checkpoint);
            retired(&mesh, hart).map(|count| count < done)
        };
        while !fewer(last)? {
            let Some(earlier) = last.checked_sub(1) else { return Ok(None) };
            last = earlier;
        }
        let moment = &self.moments[last];
        let (mut start, mut entry) = (Checkpoint::clone(&moment.checkpoint), moment.entry);
        let (mut low, mut high) = (start.now, before);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let mut rerun = self.rerun(&start, entry);
            rerun.run(middle, true, watcher)?;
            if retired(&rerun.mesh, hart)? < done {
                low = middle;
                (start, entry) = (rerun.mesh.checkpoint(), rerun.entry);
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }
}

fn retired(mesh: &Mesh, HartId { chip, x, y, hart }: HartId) -> Result<u64, TravelError> {
    let view = mesh.hart(chip, x, y, hart).ok_or(TravelError::NoSuchPlace)?;
    Ok(view.retired())
}
