//! Where the chips of a target stand.

use super::Session;
use diagnosis::expect::seats;
use layouts::ClusterDescriptor;
use std::sync::Arc;

impl Session {
    /// Says where chips stand by a description of the mesh. Where its wiring fits in several ways, none is said to stand
    /// anywhere.
    pub(super) fn place(&mut self, described: &ClusterDescriptor) {
        let (seats, ways) = seats(self.target.mesh(), described);
        let name = &described.name;
        match ways {
            1 if seats.is_empty() => {
                self.problems.push(format!("{name} does not say where chips of this mesh stand"));
            }
            1 => self.seats = seats.into_iter().map(|(chip, seat)| (chip, Arc::new(seat))).collect(),
            _ => self.problems.push(format!(
                "{name} fits this mesh in {ways} ways, so that no chip is said to stand anywhere; host=NAME after the file \
                 chooses a host, and a physical system descriptor has the ids of chips"
            )),
        }
    }
}
