//! What the cores of each chip do, counted once for each snapshot that is shown.

use crate::model::Model;
use crate::pulse::Busy;
use console::glyph::Missing;
use decode::state::{Activity, ChipState};
use diagnosis::Progress;
use images::Reading;
use layouts::TileKind;
use machine::snapshot::AccessError;
use std::collections::BTreeMap;

impl Model {
    /// Counts what the cores of the mesh on screen do.
    pub(crate) fn count_busy(&mut self) {
        let chips = self.mesh().map_or(&[][..], |mesh| &mesh.chips);
        let kinds = [TileKind::Eth, TileKind::Tensix];
        let all = chips.iter().flat_map(|chip| kinds.map(|kind| (chip, kind)));
        self.busy =
            all.map(|(chip, kind)| ((chip.chip.id, kind), self.busy_of(chip, kind))).collect();
    }

    fn busy_of(&self, chip: &ChipState, kind: TileKind) -> Busy {
        let mut busy = Busy::default();
        let mut counts: BTreeMap<&str, (Progress, usize)> = BTreeMap::new();
        let tiles = chip.tiles.iter().filter(|tile| tile.kind == kind && !tile.harvested);
        for (core, activity) in tiles.flat_map(|tile| self.cores_known(chip.chip.id, tile)) {
            match activity {
                Reading::Known(Activity::Running) => {
                    busy.all += 1;
                    busy.launched += 1;
                    if let Some(progress) = self.progress_of(core, activity) {
                        counts.entry(progress.word()).or_insert((progress, 0)).1 += 1;
                    }
                }
                Reading::Known(_) => busy.all += 1,
                // A failed read differs from a range that was not requested.
                Reading::Unknown(_)
                | Reading::Absent
                | Reading::Unread(AccessError::NotRequested) => {}
                Reading::Unread(why) => {
                    busy.in_vain = busy.in_vain.or(Some(Missing::of_error(why)));
                }
            }
        }
        busy.progress = counts.into_values().collect();
        busy.progress.sort_unstable();
        busy
    }
}
