//! The operations that chips run, side by side: the host's ids in the launch messages.

use super::tiles::{chips, ranges};
use decode::state::{ChipState, MeshState};
use layouts::{ChipId, CoreId};
use std::collections::{BTreeMap, BTreeSet};

/// Most operations that a chip runs at a time: tt-metal divides one into 8 sub-devices at most.
const MOST_OPERATIONS: usize = 8;

/// The ids of the operations that chips run.
pub struct Operations {
    /// Those of each chip.
    pub ids: BTreeMap<ChipId, BTreeSet<u32>>,
    /// The ids with the names that Inspectors tell.
    pub names: BTreeMap<u32, String>,
}

/// An operation with the cores that run it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// The kernels of its cores.
    pub kernels: BTreeSet<String>,
    /// Its cores that have not ended.
    pub cores: BTreeSet<CoreId>,
}

/// The operations that cores run, by id; each core comes with its operation and the name of its kernel.
pub fn running(
    cores: impl Iterator<Item = (CoreId, u32, Option<String>)>,
) -> BTreeMap<u32, Running> {
    let mut operations: BTreeMap<u32, Running> = BTreeMap::new();
    for (core, id, kernel) in cores {
        let one = operations.entry(id).or_default();
        one.kernels.extend(kernel);
        one.cores.insert(core);
    }
    operations
}

impl Operations {
    /// Finds them.
    pub fn of(state: &MeshState) -> Self {
        let ids = |chip: &ChipState| (chip.chip.id, chip.running_operations());
        Self::with(state, state.chips.iter().map(ids).collect())
    }

    /// Those with these ids.
    pub fn with(state: &MeshState, ids: BTreeMap<ChipId, BTreeSet<u32>>) -> Self {
        let named =
            ids.values().flatten().filter(|id| state.operations.contains_key(&(**id).into()));
        let names = named.map(|id| (*id, state.operation(*id))).collect();
        Self { ids, names }
    }

    /// The chips that run the lowest id, if others do not: they are behind. An id that all chips
    /// run, such as that of the routers, tells nothing, nor do more ids than operations can run.
    pub fn behind(&self) -> BTreeSet<ChipId> {
        if self.are_too_many() {
            return BTreeSet::new();
        }
        let differs = |id: &&u32| !self.ids.values().all(|ids| ids.contains(id));
        let Some(lowest) = self.ids.values().flatten().filter(differs).min() else {
            return BTreeSet::new();
        };
        let has = |(chip, ids): (&ChipId, &BTreeSet<u32>)| ids.contains(lowest).then_some(*chip);
        self.ids.iter().filter_map(has).collect()
    }

    /// Whether a chip runs more ids than operations can run at a time: each core has one of its own.
    pub fn are_too_many(&self) -> bool {
        self.ids.values().any(|ids| ids.len() > MOST_OPERATIONS)
    }

    /// Those without a name as ranges.
    fn list(&self, ids: &BTreeSet<u32>) -> String {
        let unnamed: BTreeSet<u32> =
            ids.iter().filter(|id| !self.names.contains_key(id)).copied().collect();
        let unnamed = Some(ranges("", &unnamed)).filter(|_| !unnamed.is_empty());
        let named = ids.iter().filter_map(|id| self.names.get(id).cloned());
        unnamed.into_iter().chain(named).collect::<Vec<_>>().join(" ")
    }

    /// A sentence.
    pub fn text(&self) -> String {
        let mut same: BTreeMap<&BTreeSet<u32>, Vec<ChipId>> = BTreeMap::new();
        for (chip, ids) in self.ids.iter().filter(|(_, ids)| !ids.is_empty()) {
            same.entry(ids).or_default().push(*chip);
        }
        if same.is_empty() {
            return "operations: unknown, no core that runs has a host-assigned id".to_owned();
        }
        let part = |(ids, on): (&BTreeSet<u32>, Vec<ChipId>)| {
            format!("{} on {}", self.list(ids), chips(on))
        };
        let parts: Vec<String> = same.into_iter().map(part).collect();
        let first = match self.behind() {
            behind if behind.is_empty() => String::new(),
            behind => format!("; likely first: {}, with the lowest id", chips(behind)),
        };
        format!("operations: {}{first}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chips: &[&[u32]]) -> Operations {
        let chip = |(chip, ids): (usize, &&[u32])| {
            (ChipId(chip as u16), ids.iter().copied().collect::<BTreeSet<_>>())
        };
        let names = BTreeMap::from([(40, "40 ReduceScatter".to_owned())]);
        Operations { ids: chips.iter().enumerate().map(chip).collect(), names }
    }

    #[test]
    fn the_chips_with_the_lowest_id_are_behind() {
        let text = |chips: &[&[u32]]| of(chips).text();
        assert_eq!(
            text(&[&[13], &[12], &[13], &[13]]),
            "operations: 12 on chip 1, 13 on chips 0 2-3; likely first: chip 1, with the lowest id"
        );
        assert_eq!(text(&[&[13], &[13]]), "operations: 13 on chips 0-1");
        // The id of the routers is on every chip.
        assert_eq!(
            text(&[&[1, 13], &[1, 12]]),
            "operations: 1 12 on chip 1, 1 13 on chip 0; likely first: chip 1, with the lowest id"
        );
        // A worker of each tile has an id of its own.
        assert_eq!(
            text(&[&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[10]]),
            "operations: 1-9 on chip 0, 10 on chip 1"
        );
        assert_eq!(
            text(&[&[40], &[37, 38]]),
            "operations: 37-38 on chip 1, 40 ReduceScatter on chip 0; likely first: chip 1, with the lowest id"
        );
        assert_eq!(
            text(&[&[], &[]]),
            "operations: unknown, no core that runs has a host-assigned id"
        );
    }
}
