//! The search for a launched kernel on a core, and the L1 ranges of its text.

use super::known_as;
use super::launched::Launched;
use crate::kinds::Provenance;
use crate::known::Known;
use crate::text::in_l1;
use crate::{Image, ImageFinding, ImageMap};
use layouts::{ChipLayout, CoreId, NocAddr, Space, TileKind};

/// The search for a launched kernel.
pub(super) struct Job {
    pub(super) core: CoreId,
    pub(super) launched: Launched,
    /// Whether only logs name them that need not be those of what runs.
    pub(super) doubtful: bool,
    /// Images that a log or another core names, with their state on this core.
    pub(super) candidates: Vec<(usize, Known)>,
    pub(super) findings: Vec<ImageFinding>,
}

impl Job {
    pub(super) fn add(&mut self, images: &ImageMap, index: Option<usize>, said: Provenance) {
        let Some((index, image)) = index.and_then(|index| Some((index, images.get(index)?))) else {
            return;
        };
        let bias = bias(self.core, &self.launched, image);
        self.candidates.push((index, known_as(said, bias, image.samples())));
    }

    /// Returns the L1 ranges of all candidates' windows.
    pub(super) fn places(&self, images: &ImageMap) -> Vec<(NocAddr, u32)> {
        let windows = self.candidates.iter().filter(|(index, _)| images.get(*index).is_some());
        let windows = windows.flat_map(|(_, known)| known.windows.iter().map(|w| (known.bias, *w)));
        windows
            .filter_map(|(bias, w)| Some((in_l1(images.layout(), self.core, w.addr, bias)?, w.len)))
            .collect()
    }

    /// Returns the L1 range of a text of at most `longest` bytes. That of an NCRISC, which runs from
    /// instruction RAM, is what was copied there, unless the next programs lie there.
    pub(super) fn text_place(&self, layout: &ChipLayout, longest: u32) -> Option<(NocAddr, u32)> {
        let eth = layout.kind_at(self.core.tile) == TileKind::Eth;
        let end = if eth { layout.eth.l1_bytes } else { layout.tensix.l1_bytes };
        let left = end.saturating_sub(self.launched.at.into());
        let addr = in_l1(layout, self.core, self.launched.at, 0)?;
        let len = left.min(longest.into()) as u32;
        (len > 0).then_some((addr, len))
    }
}

/// Returns the distance from linked to run addresses; 0 in instruction RAM.
pub(super) fn bias(core: CoreId, launched: &Launched, image: &Image) -> u32 {
    let layout = image.layout;
    let Some((linked, _)) = image.text().first().copied() else { return 0 };
    let space = Space::Tile(layout.kind_at(core.tile));
    let range = layout.ranges.at(space, linked.into());
    let moved = range.is_none_or(|range| range.name != "iram") && launched.target != "erisc";
    if moved { launched.at.wrapping_sub(linked) } else { 0 }
}
