//! The operations that run on a target, by the Inspectors of its tt-metal processes.

use decode::state::{ChipState, MeshState};
use images::inspector::{self, Operation, Told};
use machine::clients::MetalProcess;
use machine::target::Target;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An Inspector that did not answer is left alone so long.
const PAUSE: Duration = Duration::from_secs(10);

/// What Inspectors have told.
#[derive(Debug, Default)]
pub(super) struct Operations {
    known: Arc<BTreeMap<u64, Operation>>,
    /// The global semaphores and sockets when they were asked last.
    objects: Arc<Told>,
    /// Ids that were asked for, and are not known: asked for once.
    unnamed: BTreeSet<u64>,
    /// When the Inspector of a process, by its host and id, was silent, and a sentence.
    silent: BTreeMap<(Option<String>, u32), (Instant, String)>,
}

impl Operations {
    /// Adds those that a state shows running, and what else Inspectors tell. They are asked when it
    /// shows a new one.
    pub(super) fn add_to(
        &mut self,
        state: &mut MeshState,
        processes: &[MetalProcess],
        target: &mut dyn Target,
    ) {
        if processes.iter().all(|process| process.inspector.is_none()) {
            return;
        }
        let ids = state.chips.iter().flat_map(ChipState::running_operations);
        let ids: BTreeSet<u64> = ids.map(u64::from).collect();
        if self.known.keys().any(|id| !ids.contains(id)) {
            Arc::make_mut(&mut self.known).retain(|id, _| ids.contains(id));
        }
        self.unnamed.retain(|id| ids.contains(id));
        let is_new = |id: &u64| !self.known.contains_key(id) && !self.unnamed.contains(id);
        if ids.iter().any(is_new) {
            let answered = self.ask(processes, &ids, target);
            let known = &self.known;
            let unnamed = ids.iter().filter(|id| answered && !known.contains_key(id));
            self.unnamed.extend(unnamed);
        }
        state.operations = Arc::clone(&self.known);
        state.objects = Arc::clone(&self.objects);
    }

    /// Asks all Inspectors for these ids, and returns whether all answered.
    fn ask(
        &mut self,
        processes: &[MetalProcess],
        ids: &BTreeSet<u64>,
        target: &mut dyn Target,
    ) -> bool {
        let mut all = true;
        let (mut answers, mut objects) = (Vec::new(), Told::default());
        for process in processes {
            let Some(at) = process.inspector else { continue };
            let key = (process.host.clone(), process.pid);
            if self.silent.get(&key).is_some_and(|(when, _)| when.elapsed() < PAUSE) {
                all = false;
                continue;
            }
            match told(process, at, target) {
                Ok(found) => {
                    self.silent.remove(&key);
                    answers.push(found.operations);
                    objects.semaphores.extend(found.semaphores);
                    objects.sockets.extend(found.sockets);
                }
                Err(error) => {
                    all = false;
                    let sentence =
                        format!("the Inspector of {process} at {at} names no operation: {error}");
                    self.silent.insert(key, (Instant::now(), sentence));
                }
            }
        }
        let known = Arc::make_mut(&mut self.known);
        for (id, operation) in named(answers, ids) {
            match operation {
                Some(operation) => known.insert(id, operation),
                None => known.remove(&id),
            };
        }
        self.objects = Arc::new(objects);
        all
    }

    /// A sentence for each Inspector that did not answer.
    pub(super) fn problems(&self) -> impl Iterator<Item = &String> {
        self.silent.values().map(|(_, sentence)| sentence)
    }
}

/// Asks the Inspector of a process; on another host its agent asks.
fn told(process: &MetalProcess, at: SocketAddr, target: &mut dyn Target) -> io::Result<Told> {
    let Some(host) = &process.host else { return inspector::ask(at) };
    let gone = || io::Error::other("its host is not asked");
    let told = target.elfs().ok_or_else(gone)?.inspector(host, process.pid);
    let (told, chips) = told.map_err(io::Error::other)?;
    Told::received(&told, &chips)
}

/// Returns the operations of these ids. Each process counts its own: an id that two of them use has
/// no name.
fn named(answers: Vec<Vec<Operation>>, ids: &BTreeSet<u64>) -> BTreeMap<u64, Option<Operation>> {
    let mut named = BTreeMap::new();
    for answer in answers {
        let wanted = answer.into_iter().filter(|it| ids.contains(&it.id));
        let wanted: BTreeMap<u64, Operation> = wanted.map(|it| (it.id, it)).collect();
        for (id, operation) in wanted {
            let is_first = !named.contains_key(&id);
            named.insert(id, is_first.then_some(operation));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_two_processes_has_no_name() {
        let operation = |id, name: &str| Operation {
            id,
            name: name.to_owned(),
            parameters: String::new(),
            trace: None,
        };
        // A trace queues the same id again.
        let first = vec![operation(1, "Add"), operation(2, "Sum"), operation(2, "Sum")];
        let second = vec![operation(1, "Add"), operation(3, "Copy"), operation(4, "Done")];
        let named = named(vec![first, second], &BTreeSet::from([1, 2, 3]));
        let names: Vec<_> = named
            .iter()
            .map(|(id, it)| (*id, it.as_ref().map(|operation| operation.name.as_str())))
            .collect();
        assert_eq!(names, [(1, None), (2, Some("Sum")), (3, Some("Copy"))]);
    }
}
