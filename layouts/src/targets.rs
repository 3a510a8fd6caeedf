//! Ranges that a target refuses although the chip would answer: one file per target.

use crate::address::TileKind;
use crate::tree::Node;
use serde::{Deserialize, Serialize};

/// A range of a tile kind that must not be read from a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Kind of tile.
    pub kind: TileKind,
    /// First byte.
    pub start: u64,
    /// First byte after the range.
    pub end: u64,
    /// Why, in one sentence.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    refusals: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kinds: Vec<TileKind>,
    start: u64,
    bytes: u64,
    #[serde(default = "one")]
    count: u64,
    #[serde(default)]
    stride: u64,
    reason: String,
}

fn one() -> u64 {
    1
}

/// Returns the ranges that must not be read from the vendor's simulator.
///
/// # Errors
/// When the shipped file is invalid, which a test of this crate excludes.
pub fn ttsim_refusals() -> Result<Vec<Refusal>, String> {
    refusals("ttsim.toml", include_str!("../data/targets/ttsim.toml"))
}

/// Returns the ranges that must not be accessed on silicon.
///
/// # Errors
/// As [`ttsim_refusals`].
pub fn silicon_refusals() -> Result<Vec<Refusal>, String> {
    refusals("silicon.toml", include_str!("../data/targets/silicon.toml"))
}

fn refusals(name: &str, text: &str) -> Result<Vec<Refusal>, String> {
    let file = Node::from_toml(text).and_then(|tree| tree.read::<File>());
    let file = file.map_err(|error| format!("{name}: {error}"))?;
    Ok(file.refusals.iter().flat_map(Entry::expand).collect())
}

impl Entry {
    fn expand(&self) -> Vec<Refusal> {
        let refusal = |kind: TileKind, i: u64| {
            let start = self.start + i * self.stride;
            let reason = self.reason.clone();
            Refusal { kind, start, end: start + self.bytes, reason }
        };
        let all = |kind: &TileKind| (0..self.count).map(|i| refusal(*kind, i)).collect::<Vec<_>>();
        self.kinds.iter().flat_map(all).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_simulators_refusals_load() {
        let refusals = ttsim_refusals().unwrap();
        let refused =
            |kind, at| refusals.iter().any(|r| r.kind == kind && (r.start..r.end).contains(&at));
        assert!(refused(TileKind::Eth, 0xFFB1_2080));
        assert!(refused(TileKind::Tensix, 0xFFB3_0214));
        assert!(refused(TileKind::Tensix, 0xFFB7_F014));
        assert!(!refused(TileKind::Tensix, 0xFFB7_F100));
        assert!(!refused(TileKind::Eth, 0xFFB1_21B0));
        assert!(!refused(TileKind::Eth, 0xFFB2_002C));
        let eth = [0xFFB1_2054, 0xFFB1_205C].map(|at| refused(TileKind::Eth, at));
        assert_eq!((eth, refused(TileKind::Tensix, 0xFFB1_2054)), ([true; 2], true));
        let silicon = silicon_refusals().unwrap();
        assert_eq!(silicon.len(), 1, "{silicon:?}");
        assert_eq!((silicon[0].kind, silicon[0].start), (TileKind::Eth, 0xFFB1_2048));
    }
}
