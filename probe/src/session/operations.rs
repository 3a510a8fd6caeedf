//! The operations that run on a target, by the Inspectors of its tt-metal processes.

use decode::state::{Activity, MeshState};
use images::inspector::{self, Operation};
use images::{MetalProcess, Reading};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// An Inspector that did not answer is left alone so long.
const PAUSE: Duration = Duration::from_secs(10);

/// What Inspectors have told.
#[derive(Debug, Default)]
pub(super) struct Operations {
    known: BTreeMap<u64, Operation>,
    /// Ids that were asked for, and are not known: asked for once.
    unnamed: BTreeSet<u64>,
    /// When an Inspector was silent, and a sentence.
    silent: BTreeMap<SocketAddr, (Instant, String)>,
}

impl Operations {
    /// Returns those that a state shows running. Inspectors are asked when it shows a new one.
    pub(super) fn of(
        &mut self,
        processes: &[MetalProcess],
        state: &MeshState,
    ) -> BTreeMap<u64, Operation> {
        let cores = state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
        let running = cores.filter(|core| core.activity == Reading::Known(Activity::Running));
        let ids = running.filter_map(|core| core.launch.known()).map(|it| it.host_assigned_id);
        let ids: BTreeSet<u64> = ids.filter(|id| *id != 0).map(u64::from).collect();
        self.known.retain(|id, _| ids.contains(id));
        self.unnamed.retain(|id| ids.contains(id));
        let is_new = |id: &u64| !self.known.contains_key(id) && !self.unnamed.contains(id);
        if ids.iter().any(is_new) && processes.iter().any(|it| it.inspector.is_some()) {
            let answered = self.ask(processes, &ids);
            let known = &self.known;
            let unnamed = ids.iter().filter(|id| answered && !known.contains_key(id));
            self.unnamed.extend(unnamed);
        }
        self.known.clone()
    }

    /// Asks all Inspectors for these ids, and returns whether all answered.
    fn ask(&mut self, processes: &[MetalProcess], ids: &BTreeSet<u64>) -> bool {
        let mut all = true;
        for process in processes {
            let Some(at) = process.inspector else { continue };
            if self.silent.get(&at).is_some_and(|(when, _)| when.elapsed() < PAUSE) {
                all = false;
                continue;
            }
            match inspector::operations(at) {
                Ok(found) => {
                    self.silent.remove(&at);
                    let wanted = found.into_iter().filter(|it| ids.contains(&it.id));
                    self.known.extend(wanted.map(|operation| (operation.id, operation)));
                }
                Err(error) => {
                    all = false;
                    let (pid, name) = (process.pid, &process.name);
                    let sentence = format!(
                        "the Inspector of process {pid} ({name}) at {at} names no operation: {error}"
                    );
                    self.silent.insert(at, (Instant::now(), sentence));
                }
            }
        }
        all
    }

    /// A sentence for each Inspector that did not answer.
    pub(super) fn problems(&self) -> impl Iterator<Item = &String> {
        self.silent.values().map(|(_, sentence)| sentence)
    }
}
