//! Circles in a graph: the groups whose members all reach each other, each with its shortest way round.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Who uses whom, and where that is written.
pub(super) type Graph = BTreeMap<String, BTreeMap<String, Places>>;

/// Files and lines.
pub(super) type Places = BTreeSet<(String, usize)>;

/// Who uses whom, where, and so on round to the first.
type Round<'a> = Vec<(&'a str, &'a str, &'a Places)>;

/// No more places of one edge than this are told.
const MOST_PLACES: usize = 4;

/// Modules that use each other in a circle.
pub(super) struct Circle<'a> {
    members: BTreeSet<&'a str>,
    /// The shortest way round.
    round: Round<'a>,
}

impl fmt::Display for Circle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<&str> = self.members.iter().copied().collect();
        writeln!(f, "{}", members.join(", "))?;
        for (from, to, places) in &self.round {
            let places = places.iter().take(MOST_PLACES);
            let places: Vec<_> = places.map(|(file, line)| format!("{file}:{line}")).collect();
            writeln!(f, "  {from} uses {to}: {}", places.join(", "))?;
        }
        Ok(())
    }
}

/// All circles of a graph.
pub(super) fn circles(graph: &Graph) -> Vec<Circle<'_>> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for name in graph.keys() {
        let members = group(graph, name);
        if !members.is_empty() && known.insert(members.clone()) {
            let rounds = members.iter().filter_map(|member| round(graph, member));
            let round = rounds.min_by_key(Vec::len).unwrap_or_default();
            found.push(Circle { members, round });
        }
    }
    found
}

/// All that `name` reaches and that reach it; nobody where it does not reach itself.
fn group<'a>(graph: &'a Graph, name: &'a str) -> BTreeSet<&'a str> {
    let reached = reached(graph, name);
    reached.keys().copied().filter(|other| self::reached(graph, other).contains_key(name)).collect()
}

/// All that `name` reaches, each with the one before it on the shortest way there.
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

/// The shortest way from `name` back to itself.
fn round<'a>(graph: &'a Graph, name: &'a str) -> Option<Round<'a>> {
    let before = reached(graph, name);
    let mut round = Vec::new();
    let mut to = name;
    loop {
        let from = *before.get(to)?;
        round.push((from, to, &graph[from][to]));
        to = from;
        if to == name {
            round.reverse();
            return Some(round);
        }
    }
}
