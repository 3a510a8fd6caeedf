//! Conversions between coordinate spaces: NOC 0, NOC 1, translated, and masks of harvested rows.

use crate::address::NocXy;
use crate::tiles::Tiles;

/// A translated coordinate: accepted by NIUs when translation is on, and shown by `NOC_ID_LOGICAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TranslatedXy {
    /// Column, 16 to 25.
    pub x: u8,
    /// Row, 16 to 27.
    pub y: u8,
}

impl Tiles {
    /// Converts between NOC 0 and NOC 1 coordinates, in either direction: both axes are mirrored.
    pub fn noc_mirror(&self, xy: NocXy) -> Option<NocXy> {
        Some(NocXy {
            x: self.columns.checked_sub(1)?.checked_sub(xy.x)?,
            y: self.rows.checked_sub(1)?.checked_sub(xy.y)?,
        })
    }

    /// Returns the translated coordinate of a NOC 0 coordinate on a chip with these harvested rows.
    pub fn translated(&self, xy: NocXy, harvested_rows: &[u8]) -> Option<TranslatedXy> {
        let column = self.translation.columns.iter().position(|c| *c == xy.x)? as u8;
        let y = if let Some(row) = self.translation.rows.iter().position(|r| *r == xy.y) {
            self.translation.first_y + row as u8
        } else {
            let row = self.tensix_order(harvested_rows).iter().position(|r| *r == xy.y)?;
            self.translation.first_tensix_y + row as u8
        };
        Some(TranslatedXy { x: self.translation.first_x + column, y })
    }

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

    /// Returns the harvested rows of ARC's mask (message 0x57, telemetry tag 4), ascending.
    pub fn rows_from_arc_mask(&self, mask: u32) -> Vec<u8> {
        let mut rows = pick(&self.harvesting.arc_rows, mask);
        rows.sort_unstable();
        rows
    }

    /// Returns ARC's mask (message 0x57, telemetry tag 4) of these harvested rows.
    pub fn arc_mask(&self, rows: &[u8]) -> u32 {
        let bits = self.harvesting.arc_rows.iter().zip(0..).filter(|(row, _)| rows.contains(row));
        bits.fold(0, |mask, (_, bit)| mask | 1 << bit)
    }

    /// Returns the harvested rows of a cluster descriptor's mask, whose bit i is the i-th compute
    /// row.
    pub fn rows_from_descriptor_mask(&self, mask: u32) -> Vec<u8> {
        pick(&self.tensix.rows, mask)
    }

    /// Returns the cluster descriptor's mask of these harvested rows.
    pub fn descriptor_mask_from_rows(&self, rows: &[u8]) -> u32 {
        let compute = (0..).zip(&self.tensix.rows);
        compute.filter(|(_, row)| rows.contains(row)).fold(0, |mask, (bit, _)| mask | 1_u32 << bit)
    }

    /// Returns the harvested rows in `ROUTER_CFG_3`, whose bit y is row y, ascending.
    pub fn rows_from_router_cfg(&self, value: u32) -> Vec<u8> {
        let always = &self.harvesting.router_cfg_always;
        (0..self.rows).filter(|row| value >> row & 1 == 1 && !always.contains(row)).collect()
    }

    /// Returns the value of `ROUTER_CFG_3` for these harvested rows.
    pub fn router_cfg(&self, rows: &[u8]) -> u32 {
        self.harvesting.router_cfg_always.iter().chain(rows).fold(0, |mask, row| mask | 1 << row)
    }
}

fn pick(rows: &[u8], mask: u32) -> Vec<u8> {
    rows.iter().zip(0..32).filter(|(_, bit)| mask >> bit & 1 == 1).map(|(row, _)| *row).collect()
}
