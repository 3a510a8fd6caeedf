//! Rank bindings of tt-run: which rank runs which part of which mesh.

use layouts::{Node, TextError};
use serde::Deserialize;
use std::collections::BTreeMap;

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
