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

/// A screen of the live view.
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
    /// What chips run, by the ids of the host's operations.
    Operations,
    /// What runs on the tiles, and which are free.
    Resources,
    /// The routing queues of base firmware, and transmit queues.
    Queues,
    /// Semaphores and circular buffers of what runs.
    Semaphores,
    /// Routing tables, the path of a packet, and the schedule of a collective.
    Routes,
    /// What was done and reported in this session.
    Log,
}

impl Screen {
    /// All screens, in the order of their tabs.
    pub const ALL: [Self; 12] = [
        Self::Mesh,
        Self::Chip,
        Self::Core,
        Self::Gaps,
        Self::Fabric,
        Self::Why,
        Self::Operations,
        Self::Resources,
        Self::Queues,
        Self::Semaphores,
        Self::Routes,
        Self::Log,
    ];

    /// The key that shows it.
    pub fn key(self) -> char {
        match self {
            Self::Mesh => '1',
            Self::Chip => '2',
            Self::Core => '3',
            Self::Gaps => '4',
            Self::Fabric => '5',
            Self::Why => '6',
            Self::Operations => '7',
            Self::Resources => '8',
            Self::Queues => '9',
            Self::Semaphores => '0',
            Self::Routes => 'R',
            Self::Log => 'L',
        }
    }

    /// Its name, also that of the command which shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Chip => "chip",
            Self::Core => "core",
            Self::Gaps => "gaps",
            Self::Fabric => "fabric",
            Self::Why => "why",
            Self::Operations => "operations",
            Self::Resources => "resources",
            Self::Queues => "queues",
            Self::Semaphores => "semaphores",
            Self::Routes => "routes",
            Self::Log => "log",
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
