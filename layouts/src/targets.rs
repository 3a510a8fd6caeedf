//! What a target must not be asked although the chip would answer: one file per target that needs it.

use crate::address::TileKind;
use serde::Deserialize;

/// A range of a tile kind that a target must not be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRefusal {
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
    kinds: Vec<Kind>,
    start: u64,
    bytes: u64,
    #[serde(default = "one")]
    count: u64,
    #[serde(default)]
    stride: u64,
    reason: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Tensix,
    Eth,
    Dram,
    Arc,
    Pcie,
    Router,
}

fn one() -> u64 {
    1
}

impl From<Kind> for TileKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Tensix => Self::Tensix,
            Kind::Eth => Self::Eth,
            Kind::Dram => Self::Dram,
            Kind::Arc => Self::Arc,
            Kind::Pcie => Self::Pcie,
            Kind::Router => Self::Router,
        }
    }
}

/// The refusals of a target by the name of its file; none for a target that answers whatever silicon does.
///
/// # Errors
/// What is wrong with the shipped file, which a test of this crate excludes.
pub fn target_refusals(target: &str) -> Result<Vec<TargetRefusal>, String> {
    let text = match target {
        "ttsim" => include_str!("../data/targets/ttsim.toml"),
        _ => return Ok(Vec::new()),
    };
    let file: File = toml::from_str(text).map_err(|error| format!("{target}.toml: {error}"))?;
    Ok(file.refusals.iter().flat_map(Entry::expand).collect())
}

impl Entry {
    fn expand(&self) -> Vec<TargetRefusal> {
        let one = |kind: Kind, i: u64| {
            let start = self.start + i * self.stride;
            let reason = self.reason.clone();
            TargetRefusal { kind: kind.into(), start, end: start + self.bytes, reason }
        };
        let all = |kind: &Kind| (0..self.count).map(|i| one(*kind, i)).collect::<Vec<_>>();
        self.kinds.iter().flat_map(all).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_simulators_refusals_load() {
        let refusals = target_refusals("ttsim").unwrap();
        let refused =
            |kind, at| refusals.iter().any(|r| r.kind == kind && (r.start..r.end).contains(&at));
        assert!(refused(TileKind::Eth, 0xFFB1_2080));
        assert!(refused(TileKind::Tensix, 0xFFB3_0214));
        assert!(refused(TileKind::Tensix, 0xFFB7_F014));
        assert!(!refused(TileKind::Tensix, 0xFFB7_F100));
        assert!(!refused(TileKind::Eth, 0xFFB1_21B0));
        assert!(!refused(TileKind::Eth, 0xFFB2_002C));
        assert_eq!(target_refusals("emulator").unwrap(), []);
    }
}
