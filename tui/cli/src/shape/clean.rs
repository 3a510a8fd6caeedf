//! The JSON of `clean`.

use collectives::clean::{self, Found};
use machine::place::Place;
use schemars::JsonSchema;
use serde::Serialize;

/// What stood on a mesh, and what was done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Cleaned<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// Whether kernels that stay, and those of other tools, were ended at once.
    escalated: bool,
    /// Whether nothing is left, and every chip answers.
    clean: bool,
    /// The tiles on which something stood.
    tiles: Vec<CleanedTile<'a>>,
    /// The chips that do not answer.
    lost: Vec<LostChip<'a>>,
    /// What else failed, one sentence each.
    problems: &'a [String],
    /// The result in a sentence.
    sentence: String,
}

/// A tile on which something stood.
#[derive(Serialize, JsonSchema)]
struct CleanedTile<'a> {
    #[serde(flatten)]
    place: Place,
    /// kernels, application (built-in firmware of an Ethernet core, without a kernel),
    /// unknown-application, unknown-firmware, credits, or unread (the tile cannot be read).
    found: &'static str,
    /// The kernels that ran, as far as they are known.
    kernels: &'a [String],
    /// Credits and semaphores that were not 0 although no kernel used them.
    credits: &'a [String],
    /// What was done, in order: ended, ended-at-once, ended-with-application, rebooted,
    /// held-in-reset, cleared, returned (the Ethernet core, to base firmware).
    done: Vec<&'static str>,
    /// What is left; null if nothing is.
    left: Option<Left<'a>>,
}

/// What is left on a tile.
#[derive(Serialize, JsonSchema)]
struct Left<'a> {
    /// Why.
    why: &'a str,
    /// What the next attempt does, or what else helps.
    next: &'a str,
}

/// A chip that does not answer.
#[derive(Serialize, JsonSchema)]
struct LostChip<'a> {
    /// The chip's id.
    chip: u16,
    /// Why.
    why: &'a str,
}

impl<'a> Cleaned<'a> {
    /// The shape of a report.
    pub(crate) fn new(target: &'a str, escalated: bool, report: &'a clean::CleanReport) -> Self {
        let tile = |tile: &'a clean::CleanTile| CleanedTile {
            place: tile.place,
            found: (&tile.found).into(),
            kernels: if let Found::Kernels(names) = &tile.found { names } else { &[] },
            credits: &tile.credits,
            done: tile.done.iter().map(|done| done.word()).collect(),
            left: tile.left.as_ref().map(|left| Left { why: &left.why, next: &left.next }),
        };
        let lost = report.lost.iter().map(|(chip, why)| LostChip { chip: chip.0, why });
        Self {
            target,
            escalated,
            clean: report.is_clean(),
            tiles: report.tiles.iter().map(tile).collect(),
            lost: lost.collect(),
            problems: &report.problems,
            sentence: report.sentence(),
        }
    }
}
