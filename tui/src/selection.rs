//! What is selected on the screen that is shown, as tiles and addresses.

use crate::model::{CorePane, MeshPane, Model, Screen};
use diagnosis::Place;
use layouts::EthId;
use machine::history::Watched;

impl Model {
    /// Returns what is selected: a chip, the ends of a link, a tile, a word, or what a cause is
    /// about; everything where nothing is.
    pub(crate) fn selection(&self) -> Vec<Watched> {
        let found = match (self.screen, self.mesh_pane) {
            (Screen::Mesh, MeshPane::Map) | (Screen::Routes, _) => vec![whole(self.chip)],
            (Screen::Chip, _) => vec![Watched::tile(self.chip, self.tile)],
            (Screen::Core, _) => vec![self.word_selected()],
            _ => match self.place() {
                Some(Place::Core(core)) => vec![Watched::tile(core.chip, core.tile)],
                Some(Place::Router(at) | Place::End(at)) => self.ends(&[at]),
                Some(Place::Link(a, b)) => self.ends(&[a, b]),
                Some(Place::Chip(chip)) => vec![whole(chip)],
                Some(Place::Mesh | Place::Host) | None => Vec::new(),
            },
        };
        if found.is_empty() { self.everything() } else { found }
    }

    fn everything(&self) -> Vec<Watched> {
        let chips = self.mesh().map_or(&[][..], |mesh| &mesh.chips);
        chips.iter().map(|chip| whole(chip.chip.id)).collect()
    }

    fn ends(&self, ends: &[EthId]) -> Vec<Watched> {
        let tile = |end: &EthId| Some((end.chip, self.mesh()?.eth(*end)?.xy));
        ends.iter().filter_map(tile).map(|(chip, tile)| Watched::tile(chip, tile)).collect()
    }

    /// The member on the core screen, or the word under the cursor of its memory pane.
    fn word_selected(&self) -> Watched {
        let tile = Watched::tile(self.chip, self.tile);
        let range = match self.core_pane {
            CorePane::Words => {
                let row = self.words().get(self.word).copied();
                row.filter(|row| row.size() > 0).map(|row| row.addr()..row.addr() + row.size())
            }
            CorePane::Memory => Some(self.cursor & !3..(self.cursor & !3) + 4),
            CorePane::Channels | CorePane::Code => None,
        };
        Watched { range: range.unwrap_or(tile.range), ..tile }
    }
}

fn whole(chip: layouts::ChipId) -> Watched {
    Watched { chip, tile: None, range: 0..u64::MAX }
}
