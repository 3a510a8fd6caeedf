//! Cycles in a graph: the groups whose members all reach each other, each with its shortest cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Which module uses which, and where.
pub(super) type Graph = BTreeMap<String, BTreeMap<String, Places>>;

/// Files and lines.
pub(super) type Places = BTreeSet<(String, usize)>;

/// The edges of a cycle: user, used, and places.
type CyclePath<'a> = Vec<(&'a str, &'a str, &'a Places)>;

/// The most places reported per edge.
const MOST_PLACES: usize = 4;

/// Modules that use each other in a cycle.
pub(super) struct Cycle<'a> {
    members: BTreeSet<&'a str>,
    /// The shortest cycle.
    path: CyclePath<'a>,
}

impl fmt::Display for Cycle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<&str> = self.members.iter().copied().collect();
        writeln!(f, "{}", members.join(", "))?;
        for (from, to, places) in &self.path {
            let places = places.iter().take(MOST_PLACES);
            let places: Vec<_> = places.map(|(file, line)| format!("{file}:{line}")).collect();
            writeln!(f, "  {from} uses {to}: {}", places.join(", "))?;
        }
        Ok(())
    }
}

/// Returns all cycles of a graph.
pub(super) fn cycles(graph: &Graph) -> Vec<Cycle<'_>> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for name in graph.keys() {
        let members = group(graph, name);
        if !members.is_empty() && known.insert(members.clone()) {
            let paths = members.iter().filter_map(|member| shortest_cycle(graph, member));
            let path = paths.min_by_key(Vec::len).unwrap_or_default();
            found.push(Cycle { members, path });
        }
    }
    found
}

/// Returns all nodes that `name` reaches and that reach it; empty if `name` does not reach itself.
fn group<'a>(graph: &'a Graph, name: &'a str) -> BTreeSet<&'a str> {
    let reached = reached(graph, name);
    reached.keys().copied().filter(|other| self::reached(graph, other).contains_key(name)).collect()
}

/// Returns all nodes that `name` reaches, each with its predecessor on the shortest route.
fn reached<'a>(graph: &'a Graph, name: &'a str) -> BTreeMap<&'a str, &'a str> {
    let mut before = BTreeMap::new();
    let mut next = VecDeque::from([name]);
    while let Some(from) = next.pop_front() {
        for to in graph.get(from).into_iter().flat_map(BTreeMap::keys) {
            before.entry(to.as_str()).or_insert_with(|| {
                next.push_back(to);
                from
            });
        }
    }
    before
}

/// Returns the shortest cycle through `name`.
fn shortest_cycle<'a>(graph: &'a Graph, name: &'a str) -> Option<CyclePath<'a>> {
    let before = reached(graph, name);
    let mut path = Vec::new();
    let mut to = name;
    loop {
        let from = *before.get(to)?;
        path.push((from, to, &graph[from][to]));
        to = from;
        if to == name {
            path.reverse();
            return Some(path);
        }
    }
}
