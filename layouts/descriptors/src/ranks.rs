//! Rank bindings of tt-run: which rank runs which part of which mesh. OpenMPI's files say on which host.

use crate::text::wrong;
use layouts::{Node, TextError};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The rank bindings of a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RankBindings {
    /// Its ranks.
    pub rank_bindings: Vec<RankBinding>,
    /// The path of the mesh graph descriptor, as the file has it: below tt-metal's own folder.
    pub mesh_graph_desc_path: Option<String>,
    /// Environment variables of every rank.
    #[serde(default)]
    pub global_env: BTreeMap<String, String>,
}

/// A rank.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RankBinding {
    /// Its number.
    pub rank: u32,
    /// Its mesh in the mesh graph descriptor.
    pub mesh_id: u32,
    /// Its part of the mesh; counted by tt-run if missing.
    pub mesh_host_rank: Option<u32>,
    /// Its environment variables, such as `TT_VISIBLE_DEVICES`.
    #[serde(default)]
    pub env_overrides: BTreeMap<String, String>,
}

pub(crate) fn bindings(text: &str) -> Result<RankBindings, TextError> {
    Node::from_yaml(text)?.read()
}

pub(crate) fn hosts(text: &str, bindings: Option<&RankBindings>) -> Result<Vec<String>, TextError> {
    let (mut named, mut placed) = (Vec::new(), BTreeMap::new());
    for (line, text) in (1..).zip(text.lines()) {
        let code = text.split('#').next().unwrap_or_default();
        let words: Vec<&str> =
            code.split([' ', '\t', '\r', '=']).filter(|it| !it.is_empty()).collect();
        let other =
            || wrong(line, format!("`{}` is no line of a hostfile or rankfile", code.trim()));
        let host = match words[..] {
            [] => continue,
            ["rank", rank, host, "slot" | "slots", _] => {
                placed.insert(rank.parse::<u32>().map_err(|_| other())?, host.to_owned());
                host
            }
            [host, ref counts @ ..] => {
                let is_count = |it: &[&str]| {
                    let is_key = |key| ["slots", "max_slots", "max-slots"].contains(key);
                    it.first().is_some_and(is_key)
                        && it.get(1).is_some_and(|n| n.parse::<u32>().is_ok())
                };
                if !counts.chunks(2).all(is_count) {
                    return Err(other());
                }
                named.push(host.to_owned());
                host
            }
        };
        // Of an allocation that only OpenMPI knows, or left out of it.
        if host.starts_with(['+', '^']) {
            return Err(wrong(line, format!("`{host}` names no host")));
        }
    }
    let mut ranks = bindings.iter().flat_map(|bindings| &bindings.rank_bindings);
    if let Some(lacks) = ranks.find(|binding| !placed.contains_key(&binding.rank)) {
        return Err(wrong(0, format!("rank {} has no host", lacks.rank)));
    }
    let mut known = BTreeSet::new();
    named.extend(placed.into_values());
    named.retain(|host| known.insert(host.clone()));
    if named.is_empty() { Err(wrong(0, "it names no host")) } else { Ok(named) }
}
