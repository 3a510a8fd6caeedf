//! Evidence in a snapshot for the images on the cores.

use super::known::Known;
use super::text::{TextWindow, first_difference, in_l1};
use super::{Image, ImageMap};
use crate::kinds::{ImageRole, Provenance};
use layouts::{CoreId, CoreKind, NocAddr};
use machine::snapshot::Snapshot;
use machine::target::Mesh;
use std::collections::BTreeSet;
use std::sync::Arc;

impl ImageMap {
    /// Learns from a snapshot: build ids and texts in L1, and channel tables.
    pub fn learn(&mut self, mesh: &Mesh, snapshot: &Snapshot) {
        if snapshot.pieces.is_empty() && snapshot.gaps.is_empty() {
            return;
        }
        let pieces = snapshot.pieces.iter().map(|piece| piece.addr);
        let addrs = pieces.chain(snapshot.gaps.iter().map(|gap| gap.span.addr));
        let read: BTreeSet<_> = addrs.map(|addr| (addr.chip, addr.tile)).collect();
        for chip in &mesh.chips {
            for tile in mesh.layout().grid() {
                for &core in tile.kind.cores() {
                    let core = CoreId { chip: chip.id, tile: tile.xy, core };
                    self.verify(core, snapshot);
                    self.forget_overwritten(core);
                    self.compare_text(core, snapshot);
                    self.learn_places(core, snapshot);
                    if read.contains(&(core.chip, core.tile)) {
                        self.watch(core, snapshot);
                    }
                }
            }
        }
    }

    fn verify(&mut self, core: CoreId, snapshot: &Snapshot) {
        for (index, image) in self.images.iter().enumerate() {
            let (true, Some((at, id))) = (image.core == core.core, image.proof()) else {
                continue;
            };
            let addr = NocAddr { chip: core.chip, tile: core.tile, offset: *at };
            let Ok(found) = snapshot.bytes(addr, id.len() as u32) else { continue };
            let on = self.on.entry(core).or_default();
            if found == id.as_slice() {
                let known = on
                    .entry(index)
                    .or_insert_with(|| Known::new(Provenance::Verified, image.samples()));
                known.identified(image, id.len() as u32);
            } else if let Some(known) = on.get_mut(&index) {
                // A verified image was replaced; a stated one is not there.
                match known.evidence {
                    Provenance::Verified => drop(on.remove(&index)),
                    _ => known.mismatched(first_difference(*at, id, found)),
                }
            }
        }
    }

    /// Removes overwritten kernels. A build id follows its text: that of a longer kernel remains
    /// when a shorter one overwrites its beginning.
    fn forget_overwritten(&mut self, core: CoreId) {
        let Some(on) = self.on.get_mut(&core) else { return };
        let images = &self.images;
        let verified = |(index, known): (&usize, &Known)| {
            let image = images.get(*index).filter(|image| image.role == ImageRole::Kernel)?;
            let (at, id) = image.proof()?;
            (known.evidence == Provenance::Verified).then_some((*at as usize, id.as_slice()))
        };
        let verified: Vec<(usize, &[u8])> = on.iter().filter_map(verified).collect();
        if verified.len() < 2 {
            return;
        }
        on.retain(|index, known| {
            let Some(image) = images.get(*index) else { return true };
            let text = image.text();
            let over = |&(at, id): &(usize, &[u8])| {
                text.iter().any(|(addr, bytes)| {
                    let own = at
                        .checked_sub(*addr as usize)
                        .and_then(|from| bytes.get(from..from + id.len()));
                    own.is_some_and(|own| own != id)
                })
            };
            known.evidence != Provenance::Verified || !verified.iter().any(over)
        });
    }

    /// Compares the texts of a core's images with the snapshot.
    fn compare_text(&mut self, core: CoreId, snapshot: &Snapshot) {
        for (&index, known) in self.on.get_mut(&core).into_iter().flatten() {
            let Some(image) = self.images.get(index) else { continue };
            known.compare(image, core, snapshot);
        }
    }

    /// Returns the ranges to compare the whole texts of a core's images that no build id verifies:
    /// all of them `again`, or those without a final comparison.
    pub fn whole_texts(&self, core: CoreId, again: bool) -> Vec<(NocAddr, u32)> {
        let layout = self.layout();
        let known = self.on.get(&core).into_iter().flatten();
        let known = known.filter(|(_, known)| again || !known.comparison.is_final());
        let images =
            known.filter_map(|(&index, known)| Some((self.images.get(index)?, known.bias)));
        let unsure = images.filter(|(image, _)| image.proof().is_none());
        let places = |(image, bias): (&Arc<Image>, u32)| {
            let places = image.whole().into_iter();
            places.filter_map(move |w| Some((in_l1(layout, core, w.addr, bias)?, w.len)))
        };
        unsure.flat_map(places).collect()
    }

    /// Returns the ranges to compare the whole texts of a core's images.
    pub fn every_text(&self, core: CoreId) -> Vec<(NocAddr, u32)> {
        let places = |(&index, known): (&usize, &Known)| {
            let whole = self.images.get(index).map_or_else(Vec::new, |image| image.whole());
            self.in_l1(core, known.bias, whole)
        };
        self.on.get(&core).into_iter().flatten().flat_map(places).collect()
    }

    /// Returns the ranges to compare samples of the text of a core's image that no build id
    /// verifies.
    pub(super) fn text_samples(&self, core: CoreId, index: usize) -> Vec<(NocAddr, u32)> {
        let known = self.on.get(&core).and_then(|known| known.get(&index));
        let unsure = self.images.get(index).is_some_and(|image| image.proof().is_none());
        let known = known.filter(|_| unsure);
        known.map_or_else(Vec::new, |known| self.in_l1(core, known.bias, known.windows.clone()))
    }

    fn in_l1(&self, core: CoreId, bias: u32, windows: Vec<TextWindow>) -> Vec<(NocAddr, u32)> {
        let place = |w: TextWindow| Some((in_l1(self.layout(), core, w.addr, bias)?, w.len));
        windows.into_iter().filter_map(place).collect()
    }

    fn learn_places(&mut self, core: CoreId, snapshot: &Snapshot) {
        if core.core != CoreKind::Erisc {
            return;
        }
        let mut resolved = self.resolved(core).into_iter();
        let kernel = resolved.find(|load| load.image.role == ImageRole::Kernel);
        let table = kernel.and_then(|load| load.image.channel_table.as_ref());
        let Some(table) = table else {
            self.places.remove(&core);
            self.syncs.remove(&core);
            return;
        };
        let addr = NocAddr { chip: core.chip, tile: core.tile, offset: table.address };
        let Ok(bytes) = snapshot.bytes(addr, table.bytes()) else { return };
        // Before the kernel has begun, L1 holds other bytes here.
        let places = table.read(bytes);
        let live = places.iter().flatten().filter_map(|(_, sync)| *sync);
        self.syncs.entry(core).or_default().extend(live);
        match places {
            Some(places) => drop(self.places.insert(core, places)),
            None => drop(self.places.remove(&core)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::{ChipId, NocXy};
    use machine::snapshot::{Piece, Snapshot};

    #[test]
    fn a_shorter_kernel_lies_over_a_longer_one_whose_build_id_is_still_there() {
        let (mut images, _) = ImageMap::firmware();
        let core = CoreId { chip: ChipId(0), tile: NocXy { x: 1, y: 1 }, core: CoreKind::Brisc };
        let id = |images: &ImageMap, name: &str| {
            let (at, bytes) = images.named(name).unwrap().proof().unwrap().clone();
            let addr = NocAddr { chip: core.chip, tile: core.tile, offset: at };
            Piece { addr, target_cycles: 0, host_micros: 0, bytes: bytes.into() }
        };
        let long = id(&images, "ccl_worker");
        let short = id(&images, "fabric_mux_unbounded_brisc");
        assert!(short.addr < long.addr);
        let kernels = |images: &ImageMap| {
            let loads = images.resolved(core);
            loads.iter().map(|load| load.image.name.clone()).collect::<Vec<_>>()
        };
        images.verify(core, &Snapshot { pieces: vec![long.clone()], ..Snapshot::default() });
        images.forget_overwritten(core);
        assert_eq!(kernels(&images), ["ccl_worker"]);
        images.verify(core, &Snapshot { pieces: vec![short, long], ..Snapshot::default() });
        images.forget_overwritten(core);
        assert_eq!(kernels(&images), ["fabric_mux_unbounded_brisc"]);
    }
}
