//! Which tiles run a kernel of ours, as their own words tell.

use super::stretch::mailbox;
use super::{ControlError, Place, image};
use crate::images::ImageMap;
use crate::snapshot::{Plan, Span};
use crate::target::{Chip, Target};
use layouts::{TileKind, wormhole};

/// The compute tiles of a chip that are not fused off.
pub(crate) fn compute_tiles(chip: &Chip) -> impl Iterator<Item = Place> {
    let tiles = wormhole().grid().iter().filter(|tile| tile.kind == TileKind::Tensix);
    let alive = tiles.filter(|tile| !chip.harvested_rows.contains(&tile.xy.y));
    alive.map(|tile| Place { chip: chip.id, tile: tile.xy })
}

/// Those of the tiles whose go message lets a kernel run and that hold this one, by its build id; nothing is written.
///
/// # Errors
/// When a tile cannot be read, or an image is missing or has no build id.
pub(crate) fn running(
    target: &mut dyn Target,
    images: &ImageMap,
    firmware: &str,
    kernel: &str,
    places: Vec<Place>,
) -> Result<Vec<Place>, ControlError> {
    let kernel = image(images, kernel)?;
    let no_id = || ControlError::NoMember(kernel.name.clone(), "its build id".to_owned());
    let (at, id) = kernel.build_id.as_ref().ok_or_else(no_id)?;
    let firmware = image(images, firmware)?;
    let mailbox = mailbox(&firmware)?;
    let (word, shift) = mailbox.go_word();
    let spans = |place: Place| {
        let go = Span { addr: place.at(word), len: 4 };
        [go, Span { addr: place.at(*at), len: id.len() as u32 }]
    };
    let shot = target.read(&Plan { spans: places.iter().copied().flat_map(spans).collect() });
    let mut found = Vec::new();
    for place in places {
        let [go, proof] = spans(place);
        let unread = |addr| move |reason| ControlError::Access { addr, reason };
        let go = shot.word(go.addr).map_err(unread(go.addr))?;
        let there = shot.bytes(proof.addr, proof.len).map_err(unread(proof.addr))?;
        if go >> shift & 0xFF == u32::from(mailbox.signals.go) && there == *id {
            found.push(place);
        }
    }
    Ok(found)
}
