//! Which tiles run a built-in kernel, read from the tiles themselves.

use super::l1_range::mailbox;
use super::records::{bytes_read, word_read};
use super::{ControlError, image};
use images::{Image, ImageMap};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Returns the tiles that run this kernel: their go message lets a kernel run, and they hold the
/// kernel's build id and the beginning of its text. Writes nothing.
///
/// # Errors
/// When a tile cannot be read, or an image is missing or has no build id.
pub fn running(
    target: &mut dyn Target,
    images: &ImageMap,
    firmware: &str,
    kernel: &str,
    places: Vec<Place>,
) -> Result<Vec<Place>, ControlError> {
    let firmware = image(images, firmware)?;
    let mailbox = mailbox(&firmware)?;
    let (word, shift) = mailbox.go_word();
    let spans = places.iter().map(|place| Span { addr: place.at(word), len: 4 }).collect();
    let snapshot = target.read(&Plan { spans });
    let mut told = Vec::new();
    for place in places {
        let go = word_read(&snapshot, place.at(word))?;
        if go >> shift & 0xFF == u32::from(mailbox.signals.go) {
            told.push(place);
        }
    }
    holding(target, images, kernel, told)
}

/// Returns the tiles that hold this kernel's build id and the beginning of its text, whether it runs
/// or not. Writes nothing.
///
/// # Errors
/// When a tile cannot be read, or the image is missing or has no build id.
pub fn holding(
    target: &mut dyn Target,
    images: &ImageMap,
    kernel: &str,
    places: Vec<Place>,
) -> Result<Vec<Place>, ControlError> {
    let kernel = image(images, kernel)?;
    let no_id = || ControlError::NoMember(kernel.name.clone(), "its build id".to_owned());
    let (at, id) = kernel.build_id.as_ref().ok_or_else(no_id)?;
    let found = equal(target, places, *at, id)?;
    match beginning(images, &kernel) {
        Some((at, text)) => equal(target, found, at, text),
        None => Ok(found),
    }
}

/// Returns those of the tiles that have these bytes at an address.
fn equal(
    target: &mut dyn Target,
    places: Vec<Place>,
    at: u64,
    wanted: &[u8],
) -> Result<Vec<Place>, ControlError> {
    let span = |place: &Place| Span { addr: place.at(at), len: wanted.len() as u32 };
    let snapshot = target.read(&Plan { spans: places.iter().map(span).collect() });
    let mut found = Vec::new();
    for place in places {
        if bytes_read(&snapshot, span(&place))? == wanted {
            found.push(place);
        }
    }
    Ok(found)
}

/// Returns the address and the shortest beginning of a kernel's text that differs from every other
/// image. The build id alone is not enough: it follows the text, and a shorter kernel does not
/// overwrite the build id of a longer one.
fn beginning<'a>(images: &ImageMap, kernel: &'a Image) -> Option<(u64, &'a [u8])> {
    let (at, text) = kernel.text().into_iter().min_by_key(|(at, _)| *at)?;
    let mut longest = 0;
    for other in images.all().filter(|other| other.core == kernel.core) {
        for (start, bytes) in other.text() {
            if start == at && other.name != kernel.name {
                let alike = text.iter().zip(bytes).take_while(|(a, b)| a == b).count();
                longest = longest.max(alike);
            }
        }
    }
    Some((at.into(), text.get(..=longest).unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use images::ImageRole;
    use layouts::{ChipId, NocAddr, NocXy};
    use machine::snapshot::{AccessError, Piece, Snapshot};
    use machine::target::{Abilities, Mesh};

    /// A target with the L1 of one tile.
    struct Tile {
        l1: Vec<u8>,
        mesh: Mesh,
        abilities: Abilities,
    }

    impl Target for Tile {
        fn name(&self) -> &'static str {
            "a tile"
        }

        fn abilities(&self) -> &Abilities {
            &self.abilities
        }

        fn mesh(&self) -> &Mesh {
            &self.mesh
        }

        fn read(&mut self, plan: &Plan) -> Snapshot {
            let piece = |span: &Span| {
                let from = span.addr.offset as usize;
                let bytes = self.l1[from..from + span.len as usize].to_vec().into();
                Piece { addr: span.addr, target_cycles: 0, host_micros: 0, bytes }
            };
            let mut pieces: Vec<Piece> = plan.spans.iter().map(piece).collect();
            pieces.sort_by_key(|piece| piece.addr);
            Snapshot { pieces, ..Snapshot::default() }
        }

        fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
            let from = addr.offset as usize;
            self.l1[from..from + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }

        fn now(&mut self) -> Result<u64, AccessError> {
            Ok(0)
        }

        fn pass(&mut self, _cycles: u64) -> Result<(), AccessError> {
            Ok(())
        }
    }

    #[test]
    fn the_build_id_of_a_longer_kernel_is_not_enough() {
        let (images, _) = ImageMap::firmware();
        let place = Place { chip: ChipId(0), tile: NocXy { x: 1, y: 1 } };
        let (l1, mesh, abilities) = (vec![0; 1 << 20], Mesh::default(), Abilities::default());
        let mut tile = Tile { l1, mesh, abilities };
        let firmware = images.named("tensix_brisc").unwrap();
        let mailbox = mailbox(firmware).unwrap();
        let (word, shift) = mailbox.go_word();
        let go = u32::from(mailbox.signals.go) << shift;
        tile.write(place.at(word), &go.to_le_bytes()).unwrap();
        let mut run = |name: &str, expected: &str| {
            let image = images.named(name).unwrap();
            let (at, id) = image.build_id.clone().unwrap();
            for (at, bytes) in image.text() {
                tile.write(place.at(at.into()), bytes).unwrap();
            }
            tile.write(place.at(at), &id).unwrap();
            running(&mut tile, &images, "tensix_brisc", expected, vec![place]).unwrap()
        };
        assert_eq!(run("ccl_worker", "ccl_worker"), [place]);
        assert_eq!(run("fabric_traffic", "fabric_traffic"), [place]);
        assert_eq!(run("fabric_traffic", "ccl_worker"), [], "only its build id is left");
    }

    #[test]
    fn no_kernel_begins_like_another() {
        let (images, _) = ImageMap::firmware();
        let kernels = || images.all().filter(|image| image.role == ImageRole::Kernel);
        for image in kernels() {
            let (at, text) = beginning(&images, image).unwrap();
            let others = kernels().filter(|other| other.core == image.core);
            for other in others.filter(|other| other.name != image.name) {
                let same = |(start, bytes): &(u32, &[u8])| {
                    u64::from(*start) == at && bytes.starts_with(text)
                };
                assert!(!other.text().iter().any(same), "{} {}", image.name, other.name);
            }
        }
    }
}
