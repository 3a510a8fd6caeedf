//! Coordinates that an NIU translates, and masks of harvested rows.

use crate::address::NocXy;
use crate::tiles::Tiles;

impl Tiles {
    /// Returns the NOC 0 coordinate of a coordinate for an NIU with translation on, which may be
    /// translated or physical.
    pub fn untranslated(&self, x: u8, y: u8, harvested_rows: &[u8]) -> Option<NocXy> {
        let table = &self.translation;
        let column = match x.checked_sub(table.first_x) {
            Some(index) => *table.columns.get(usize::from(index))?,
            None => x,
        };
        let row = if let Some(index) = y.checked_sub(table.first_tensix_y) {
            *self.tensix_order(harvested_rows).get(usize::from(index))?
        } else if let Some(index) = y.checked_sub(table.first_y) {
            *table.rows.get(usize::from(index))?
        } else {
            y
        };
        (column < self.columns && row < self.rows).then_some(NocXy { x: column, y: row })
    }

    /// Returns the Tensix rows in the order of translated y: live ones ascending, then harvested
    /// ones ascending.
    pub fn tensix_order(&self, harvested_rows: &[u8]) -> Vec<u8> {
        let (dead, live): (Vec<u8>, Vec<u8>) =
            self.tensix.rows.iter().partition(|row| harvested_rows.contains(row));
        [live, dead].concat()
    }

    /// Returns the harvested rows of a cluster descriptor's mask, whose bit i is the i-th compute
    /// row.
    pub fn rows_from_descriptor_mask(&self, mask: u32) -> Vec<u8> {
        let rows = self.tensix.rows.iter().zip(0..32);
        rows.filter(|(_, bit)| mask >> bit & 1 == 1).map(|(row, _)| *row).collect()
    }

    /// Returns the cluster descriptor's mask of these harvested rows.
    pub fn descriptor_mask_from_rows(&self, rows: &[u8]) -> u32 {
        let compute = (0..).zip(&self.tensix.rows);
        compute.filter(|(_, row)| rows.contains(row)).fold(0, |mask, (bit, _)| mask | 1_u32 << bit)
    }
}
