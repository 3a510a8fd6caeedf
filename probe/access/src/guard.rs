//! The safe access layer: decides what may be accessed on a target, and tracks what is in
//! quarantine.

mod audit;
mod hang;
mod near;
mod quarantine;
mod refusals;

pub(crate) use audit::AuditEntry;
pub use audit::AuditLog;
pub(crate) use near::{read_near, seen};
pub(crate) use quarantine::{FarPlace, Quarantine};

use layouts::{ChipLayout, NocAddr, ReadMode, Reason, Space, TileKind};
use machine::snapshot::{AccessError, Span};
use machine::target::{Abilities, Allow, Mesh};
use refusals::Refusals;

/// The access rules of an open target: the layouts' allow-list, less the target's refusals.
#[derive(Debug)]
pub(crate) struct Guard {
    layout: &'static ChipLayout,
    refusals: Refusals,
    allow: Allow,
    /// Of each chip by its number.
    harvested: Vec<Rows>,
}

/// Which rows of a chip's compute tiles are fused off.
#[derive(Clone, Copy, Debug)]
enum Rows {
    /// There is no such chip.
    Absent,
    /// Nobody knows.
    Unknown,
    /// A bit per row.
    Known(u16),
}

impl Guard {
    /// Creates the rules of a target.
    pub(crate) fn new(abilities: &Abilities, mesh: &Mesh) -> Self {
        let last = mesh.chips.iter().map(|chip| usize::from(chip.id.0)).max();
        let count = last.map_or(0, |last| last + 1);
        let mut harvested = vec![Rows::Absent; count];
        for chip in &mesh.chips {
            let mask = |rows: &Vec<u8>| rows.iter().fold(0, |mask, row| mask | 1 << (row & 15));
            let rows = chip.harvested_rows.as_ref().map(mask);
            harvested[usize::from(chip.id.0)] = rows.map_or(Rows::Unknown, Rows::Known);
        }
        Self {
            layout: mesh.layout(),
            refusals: Refusals::new(&abilities.refusals),
            allow: abilities.allow,
            harvested,
        }
    }

    /// Checks that this range may be read; returns whether it is memory or registers.
    ///
    /// # Errors
    /// Why it may not be read.
    pub(crate) fn reading(&self, span: &Span) -> Result<ReadMode, AccessError> {
        let space = self.space(span)?;
        let refused = |reason: Reason| AccessError::Refused(reason.to_string());
        self.layout.readable(space, span.addr.offset, span.len.into()).map_err(refused)
    }

    /// Checks that this range may be written: it must be known, not listed as dangerous, and
    /// permitted by the user.
    ///
    /// # Errors
    /// Why it may not be written.
    pub(crate) fn writing(&self, span: &Span) -> Result<(), AccessError> {
        let space = self.space(span)?;
        let offset = span.addr.offset;
        let refused = |reason: Reason| AccessError::Refused(reason.to_string());
        let needs =
            self.layout.write_permission(space, offset, span.len.into()).map_err(refused)?;
        let Some(missing) = needs.into_iter().find(|need| !self.allow.covers(*need)) else {
            return Ok(());
        };
        let name = self.layout.name_of(space, offset);
        let name = name.unwrap_or_else(|| "memory".to_owned());
        let word = missing.word();
        Err(AccessError::Refused(format!("writing {name} there needs --allow {word}")))
    }

    /// Returns the list for the range's tile, unless the target refuses the range.
    fn space(&self, span: &Span) -> Result<Space, AccessError> {
        let NocAddr { chip, tile, offset } = span.addr;
        let rows = match self.harvested.get(usize::from(chip.0)) {
            None | Some(Rows::Absent) => {
                return Err(AccessError::Unreachable(format!("there is no chip {chip}")));
            }
            Some(Rows::Unknown) => None,
            Some(Rows::Known(rows)) => Some(rows),
        };
        let Some(kind) = self.layout.tile_at(tile).map(|tile| tile.kind) else {
            return Err(AccessError::Refused(format!("{tile} is outside the grid")));
        };
        if let Some(reason) = self.refusals.hit(kind, offset, span.len.into()) {
            return Err(AccessError::Refused(reason.to_owned()));
        }
        match rows.map(|rows| rows >> tile.y & 1 == 1) {
            _ if kind != TileKind::Tensix => Ok(Space::Tile(kind)),
            Some(false) => Ok(Space::Tile(kind)),
            Some(true) => Ok(Space::Harvested),
            // What can be read of every compute tile.
            None if self.layout.readable(Space::Harvested, offset, span.len.into()).is_ok() => {
                Ok(Space::Harvested)
            }
            None => Err(AccessError::Refused(format!(
                "which rows of compute tiles are fused off on chip {chip} is unknown"
            ))),
        }
    }
}
