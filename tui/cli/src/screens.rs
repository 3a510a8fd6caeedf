//! The screens as the verbs need them, which know nothing else of them.

use clap::ValueEnum;
use console::exit::{Failure, Outcome};
use console::glyph::Glyphs;
use console::machine::{Machine, Opening};
use diagnosis::Diagnosis;
use std::sync::Arc;

/// The screens of the live view.
pub trait Screens: Sync {
    /// Shows the live view of a target until the user ends it.
    ///
    /// # Errors
    /// When the target cannot be opened or is lost, or the terminal cannot be used.
    fn show(
        &self,
        opening: Opening,
        looks: Looks,
        tour: &'static [TourStep],
    ) -> Result<Outcome, Failure>;
    /// Draws a screen of a target once, with a verdict on it.
    fn draw(
        &self,
        picture: &Picture,
        machine: &mut Machine,
        words: &str,
        verdict: &Arc<Diagnosis>,
    ) -> Drawn;
    /// Keys and glyphs, as the page `keys` of the manual lists them.
    fn keys(&self) -> String;
}

/// A step of a tour through the screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TourStep {
    /// The screen that ends it.
    pub screen: Screen,
    /// What to do and to look at.
    pub text: &'static str,
}

/// How screens are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Whether colours are used.
    pub color: bool,
    /// The glyphs.
    pub glyphs: Glyphs,
}

/// A screen of the live view; digits select them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Screen {
    /// Chips and links.
    Mesh,
    /// The tiles of a chip.
    Chip,
    /// Words, channels and memory of a core.
    Core,
    /// Ranges that could not be read.
    Gaps,
    /// Routers, muxes and clients.
    Fabric,
    /// The verdict.
    Why,
}

impl Screen {
    /// All screens, in the order of the digits.
    pub const ALL: [Self; 6] =
        [Self::Mesh, Self::Chip, Self::Core, Self::Gaps, Self::Fabric, Self::Why];

    /// Its name, also that of the command which shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Chip => "chip",
            Self::Core => "core",
            Self::Gaps => "gaps",
            Self::Fabric => "fabric",
            Self::Why => "why",
        }
    }
}

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The screen.
    pub screen: Screen,
    /// Columns and rows.
    pub size: (u16, u16),
    /// What is selected: a chip, tile or Ethernet channel.
    pub place: Option<String>,
    /// How.
    pub looks: Looks,
    /// The title of the SVG.
    pub title: String,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Its characters, without their styles.
    pub text: String,
    /// The same as SVG.
    pub svg: String,
}
