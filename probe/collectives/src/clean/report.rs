//! What a teardown found, did, and left.

use super::CleanStage;
use launch::outcome::RunError;
use launch::{ControlError, reason};
use layouts::ChipId;
use machine::place::Place;
use machine::words::counted;
use std::fmt;

/// What stood on a tile.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Found {
    /// Kernels run; their names as far as they are known.
    Kernels(Vec<String>),
    /// Built-in application firmware has the Ethernet core, and no kernel runs.
    Application,
    /// An application of which no image is known has the Ethernet core.
    UnknownApplication,
    /// A compute tile runs firmware of which no image is known.
    UnknownFirmware,
    /// Only credits or semaphores are not 0.
    Credits,
    /// The tile cannot be read.
    Unread,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernels(names) if names.is_empty() => f.write_str("an unknown kernel"),
            Self::Kernels(names) => f.write_str(&names.join(", ")),
            Self::Application => f.write_str("application firmware"),
            Self::UnknownApplication => f.write_str("an unknown application"),
            Self::UnknownFirmware => f.write_str("unknown firmware"),
            Self::Credits => f.write_str("credits"),
            Self::Unread => f.write_str("?"),
        }
    }
}

/// What was done on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Done {
    /// Its kernels ended gracefully.
    Ended,
    /// Its kernels ended at once.
    EndedAtOnce,
    /// Its kernels ended with the application of their Ethernet core.
    EndedWithApplication,
    /// It was reset, and its firmware booted again.
    Rebooted,
    /// It is held in reset.
    HeldInReset,
    /// Credits and semaphores were cleared.
    Cleared,
    /// Its Ethernet core was returned to base firmware.
    Returned,
}

impl Done {
    /// Returns its word in JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns what was done, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::EndedAtOnce => "ended at once",
            Self::EndedWithApplication => "ended with its application",
            Self::Rebooted => "reset and booted again",
            Self::HeldInReset => "held in reset",
            Self::Cleared => "credits cleared",
            Self::Returned => "core returned to base firmware",
        }
    }
}

/// What is left on a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// Why it is left.
    pub why: String,
    /// What the next attempt does, or what else helps.
    pub next: String,
    /// The stage that failed, if one did.
    pub(super) stage: Option<CleanStage>,
}

impl Remains {
    fn new(why: impl Into<String>, next: impl Into<String>) -> Self {
        Self { why: why.into(), next: next.into(), stage: None }
    }

    pub(super) fn unread(error: &RunError) -> Self {
        let why = match &error.cause {
            launch::outcome::Cause::Access(error)
            | launch::outcome::Cause::Control(ControlError::Access { reason: error, .. }) => {
                reason(error)
            }
            launch::outcome::Cause::Control(error) => error.to_string(),
            _ => "it cannot be read".to_owned(),
        };
        Self::new(why, "the next attempt reads it again")
    }

    pub(super) fn of_unknown(found: &Found) -> Option<Self> {
        let next = "--elfs names it; `clean --escalate` resets the tile";
        match found {
            Found::UnknownApplication => Some(Self::new(
                "no image of it is known, so that no word is known by which it ends",
                "--elfs names it; else only a reset of its board ends it",
            )),
            Found::UnknownFirmware => Some(Self::new("no image of it is known", next)),
            _ => None,
        }
    }

    pub(super) fn not_allowed(why: String) -> Self {
        Self::new(why, "`clean --escalate` with --allow reset resets the tile")
    }

    /// A step that failed; [`Remains::advised`] says what comes next.
    pub(super) fn of_step(stage: CleanStage, error: &ControlError) -> Self {
        let why = match (stage, error) {
            (
                CleanStage::Gracefully(_) | CleanStage::AtOnce | CleanStage::Exit,
                ControlError::TookTooLong { waited_cycles, .. },
            ) => {
                let how = match stage {
                    CleanStage::Gracefully(_) => "gracefully",
                    CleanStage::AtOnce => "at once",
                    _ => "by exit_erisc_kernel",
                };
                format!(
                    "told to end {how}, it has not returned within {} us",
                    waited_cycles / 1_000
                )
            }
            (_, ControlError::TookTooLong { what, waited_cycles, .. }) => {
                format!("{what}: not within {} us", waited_cycles / 1_000)
            }
            (_, ControlError::Access { reason: why, .. }) => reason(why),
            (_, other) => other.to_string(),
        };
        Self { why, next: String::new(), stage: Some(stage) }
    }

    pub(super) fn stuck(chips: &[ChipId]) -> Self {
        let why = "its core stands still, its heartbeat does not move";
        let chips: Vec<String> = chips.iter().map(ToString::to_string).collect();
        let why = match &*chips {
            [] => why.to_owned(),
            [chip] => format!("{why}: chip {chip} behind it stays unreachable"),
            _ => format!("{why}: chips {} behind it stay unreachable", chips.join(",")),
        };
        let next = "an Ethernet core is not reset, because it serves its link: a reset of its board \
                    (tt-smi -r) is needed";
        Self::new(why, next)
    }

    pub(super) fn still(
        found: &Found,
        (ethernet, built_in): (bool, bool),
        escalated: bool,
        credits: &[String],
    ) -> Self {
        let why = match found {
            Found::Credits => format!("{} again", credits.join(", ")),
            Found::Kernels(_) if !built_in && !escalated => {
                "it runs on the firmware of another tool, which ends it".to_owned()
            }
            Found::Kernels(_) if escalated && !ethernet => "it runs again".to_owned(),
            Found::Kernels(_) => "no word is known by which it ends".to_owned(),
            _ => "it is still there".to_owned(),
        };
        Self::new(why, String::new())
    }

    /// Adds what the next attempt does, if that is not said.
    pub(super) fn advised(mut self, ethernet: bool, escalated: bool) -> Self {
        if self.next.is_empty() {
            let next = match (ethernet, escalated) {
                (false, false) => "`clean --escalate` ends it at once, then resets its tile",
                (true, false) => "`clean --escalate` ends it at once",
                (false, true) => "the next attempt tries the same again",
                (true, true) => {
                    "the next attempt tries the same again; an Ethernet core is not reset, because it \
                     serves its link, so that else a reset of its board (tt-smi -r) is needed"
                }
            };
            next.clone_into(&mut self.next);
        }
        self
    }
}

/// A tile on which something stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanTile {
    /// The tile.
    pub place: Place,
    /// What stood there.
    pub found: Found,
    /// The words that were not at rest, with their values.
    pub credits: Vec<String>,
    /// What was done, in order.
    pub done: Vec<Done>,
    /// What is left, if something is.
    pub left: Option<Remains>,
}

/// The result of a teardown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanReport {
    /// The tiles on which something stood.
    pub tiles: Vec<CleanTile>,
    /// Chips that do not answer, and why.
    pub lost: Vec<(ChipId, String)>,
    /// Number of chips.
    pub chips: usize,
    /// What else failed, one sentence each.
    pub problems: Vec<String>,
}

impl CleanReport {
    /// Whether nothing is left, and every chip answers.
    pub fn is_clean(&self) -> bool {
        self.left() == 0 && self.lost.is_empty() && self.problems.is_empty()
    }

    /// Returns the number of tiles on which something is left.
    pub fn left(&self) -> usize {
        self.tiles.iter().filter(|tile| tile.left.is_some()).count()
    }

    /// Returns the result in one sentence.
    pub fn sentence(&self) -> String {
        let tiles = |count: usize| counted(count as u64, "tile", "tiles");
        let all = self.tiles.len();
        let idle = if self.lost.is_empty() { "the mesh is idle: " } else { "" };
        let what = match (self.left(), all) {
            (0, 0) if self.lost.is_empty() => "nothing stood on the mesh".to_owned(),
            (0, 0) => "nothing stood on the chips that answer".to_owned(),
            (0, _) => format!("{idle}{} torn down", tiles(all)),
            (left, _) => format!("something is left on {left} of {}", tiles(all)),
        };
        let lost: Vec<String> = self.lost.iter().map(|(chip, _)| chip.to_string()).collect();
        let chips = match (&*lost, self.chips) {
            ([], 1) => "its chip answers".to_owned(),
            ([], chips) => format!("all {chips} chips answer"),
            ([chip], _) => format!("chip {chip} does not answer"),
            _ => format!("chips {} do not answer", lost.join(",")),
        };
        let mut parts = vec![format!("{what}, {chips}")];
        parts.extend_from_slice(&self.problems);
        parts.join("; ")
    }
}
