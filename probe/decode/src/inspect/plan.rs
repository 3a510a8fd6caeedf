//! Plans the reads of a read set.

use super::read_set::ReadSet;
use images::{ImageMap, ImageRole, Mailbox};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy, TileKind};
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::{Chip, Mesh};
use std::collections::BTreeSet;

/// Returns the ranges of a read set. Of the ranges that identify images, it has those that were not
/// read since the core's watched words changed, unless the read set has whole texts.
pub fn plan(mesh: &Mesh, images: &ImageMap, read_set: &ReadSet) -> Plan {
    let mut builder = PlanBuilder::new(mesh, images, read_set);
    let admitted = |span: &&Span| read_set.admits((span.addr.chip, span.addr.tile));
    builder.spans = read_set.spans.iter().filter(admitted).copied().collect();
    builder.each_tile(|builder, chip, xy, kind| {
        let detail = read_set.details || read_set.tile == Some((chip.id, xy));
        builder.tile(chip.id, xy, kind, detail);
    });
    Plan { spans: builder.spans }
}

/// Returns only the ranges that identify the images on the tiles of a read set, as far as they were
/// not read. Which build ids belong to them can depend on what their read finds.
pub fn plan_proofs(mesh: &Mesh, images: &ImageMap, read_set: &ReadSet) -> Plan {
    let mut builder = PlanBuilder::new(mesh, images, read_set);
    builder.each_core(PlanBuilder::unproved);
    Plan { spans: builder.spans }
}

/// Returns only the whole texts of the core whose members are shown, because its names must be
/// right; `again` includes texts that were compared.
pub fn plan_texts(images: &ImageMap, read_set: &ReadSet, again: bool) -> Plan {
    let places = read_set.members.into_iter().flat_map(|core| images.whole_texts(core, again));
    Plan { spans: places.map(|(addr, len)| Span { addr, len }).collect() }
}

/// Returns only the tables of running kernels, which hold addresses of more ranges.
pub fn plan_tables(mesh: &Mesh, images: &ImageMap, read_set: &ReadSet) -> Plan {
    let mut builder = PlanBuilder::new(mesh, images, read_set);
    builder.each_core(PlanBuilder::tables);
    Plan { spans: builder.spans }
}

/// Returns only the launch entries that are current by a snapshot, and that it lacks: device dispatch
/// moves the pointer with each launch.
pub fn plan_launches(mesh: &Mesh, images: &ImageMap, snapshot: &Snapshot) -> Plan {
    let read = snapshot.pieces.iter().map(|piece| (piece.addr.chip, piece.addr.tile));
    let mut spans = Vec::new();
    for (chip, tile) in read.collect::<BTreeSet<_>>() {
        // The cores of a tile share the mailbox.
        let Some(&core) = mesh.layout().kind_at(tile).cores().first() else { continue };
        let at = |offset| NocAddr { chip, tile, offset };
        let mailbox = images.mailbox_of(CoreId { chip, tile, core });
        let Some((mailbox, _)) = mailbox else { continue };
        let Ok(index @ 1..) = snapshot.word(at(mailbox.rd_ptr)) else { continue };
        let (entry, bytes) = mailbox.entry(index.into());
        spans.push(Span { addr: at(entry), len: bytes as u32 });
    }
    Plan { spans }.missing_from(snapshot)
}

/// Returns the readable cores of a read set.
pub fn cores(mesh: &Mesh, images: &ImageMap, read_set: &ReadSet) -> Vec<CoreId> {
    let mut found = Vec::new();
    PlanBuilder::new(mesh, images, read_set).each_core(|_, core| found.push(core));
    found
}

struct PlanBuilder<'a> {
    mesh: &'a Mesh,
    images: &'a ImageMap,
    read_set: &'a ReadSet,
    spans: Vec<Span>,
}

impl<'a> PlanBuilder<'a> {
    fn new(mesh: &'a Mesh, images: &'a ImageMap, read_set: &'a ReadSet) -> Self {
        Self { mesh, images, read_set, spans: Vec::new() }
    }

    /// Visits the readable tiles of the read set.
    fn each_tile(&mut self, mut act: impl FnMut(&mut Self, &Chip, NocXy, TileKind)) {
        let fabric =
            if self.read_set.fabric { self.images.fabric_tiles() } else { BTreeSet::new() };
        for chip in &self.mesh.chips {
            for tile in self.mesh.layout().grid() {
                let at = (chip.id, tile.xy);
                let fabric = fabric.contains(&at) || self.read_set.fabric_tiles.contains(&at);
                let detail = self.read_set.tile == Some((chip.id, tile.xy));
                let harvested =
                    tile.kind == TileKind::Tensix && chip.is_fused_off(tile.xy.y) == Some(true);
                let wanted = match tile.kind {
                    TileKind::Eth => self.read_set.links || detail || fabric,
                    TileKind::Tensix => {
                        self.read_set.compute.contains(&chip.id) || detail || fabric
                    }
                    _ => false,
                };
                if wanted && !harvested && self.read_set.admits(at) {
                    act(self, chip, tile.xy, tile.kind);
                }
            }
        }
    }

    fn each_core(&mut self, mut act: impl FnMut(&mut Self, CoreId)) {
        self.each_tile(|builder, chip, tile, kind| {
            for &core in kind.cores() {
                act(builder, CoreId { chip: chip.id, tile, core });
            }
        });
    }

    fn tile(&mut self, chip: ChipId, xy: NocXy, kind: TileKind, detail: bool) {
        if kind == TileKind::Eth {
            self.link_words(chip, xy, detail || self.is_linked(chip, xy));
        }
        if let Some(reset) = self.mesh.layout().soft_reset(kind) {
            self.add(chip, xy, reset, 4);
        }
        for &core in kind.cores() {
            self.core(CoreId { chip, tile: xy, core }, detail);
        }
    }

    fn proofs(&mut self, core: CoreId) {
        self.places(self.images.starts(core));
        if self.read_set.texts {
            self.places(self.images.every_text(core));
        }
        self.unproved(core);
    }

    /// Adds what was not read since the last change; all build ids if texts are compared whole: one
    /// that a text leads to is a finding even if the text begins otherwise.
    fn unproved(&mut self, core: CoreId) {
        if self.read_set.texts {
            self.places(self.images.every_build_id(core));
        }
        self.places(self.images.unproved(core));
    }

    fn places(&mut self, places: Vec<(NocAddr, u32)>) {
        self.spans.extend(places.into_iter().map(|(addr, len)| Span { addr, len }));
    }

    fn tables(&mut self, core: CoreId) {
        for (image, _) in self.images.on(core) {
            if let Some(table) = &image.channel_table {
                self.add(core.chip, core.tile, table.address, table.bytes().into());
            }
        }
    }

    fn add(&mut self, chip: ChipId, tile: NocXy, offset: u64, len: u64) {
        let addr = NocAddr { chip, tile, offset };
        self.spans.push(Span { addr, len: u32::try_from(len).unwrap_or(u32::MAX) });
    }

    /// Whether a link ends at the tile. Of other Ethernet tiles only the life signs are read.
    fn is_linked(&self, chip: ChipId, xy: NocXy) -> bool {
        let ends = self.mesh.links.iter().flat_map(|link| [link.a, link.b]);
        let mut here = ends.filter(|end| end.chip == chip);
        here.any(|end| self.mesh.layout().eth_channel(end.channel) == Some(xy))
    }

    /// Adds the words that base firmware publishes about itself and its link.
    fn link_words(&mut self, chip: ChipId, xy: NocXy, linked: bool) {
        let l1 = &self.mesh.layout().eth.l1;
        for word in [&l1.heartbeat, &l1.train_status, &l1.launch_flag] {
            self.add(chip, xy, word.at, 4);
        }
        if linked {
            self.add(chip, xy, l1.firmware_version.at, 4);
            let counters = l1.uncorrected_codewords.end() - l1.link_status.at;
            self.add(chip, xy, l1.link_status.at, counters);
        }
    }

    fn core(&mut self, core: CoreId, detail: bool) {
        if self.read_set.proofs {
            self.proofs(core);
        }
        self.tables(core);
        if self.read_set.members == Some(core) {
            for outline in self.images.outlines(core) {
                for &(at, len) in outline.spans() {
                    self.add(core.chip, core.tile, at, len);
                }
            }
        }
        if let Some(router) = self.images.described(core).filter(|_| self.read_set.fabric || detail)
        {
            self.spans.extend(super::fabric::words(router.layout.words(), core.chip, core.tile));
        }
        for (image, _) in self.images.on(core) {
            if self.read_set.fabric || detail {
                self.spans.extend(super::fabric::spans(image, core.chip, core.tile));
            }
            let whole = detail || image.role == ImageRole::Kernel;
            for spot in image.state.iter().filter(|_| whole) {
                self.add(core.chip, core.tile, spot.addr, spot.size.into());
            }
        }
        if let Some((mailbox, image)) = self.images.mailbox_of(core) {
            self.mailbox(core, mailbox);
            for spot in image.summary.iter().filter(|_| detail) {
                self.add(core.chip, core.tile, spot.addr, spot.size.into());
            }
        }
    }

    fn mailbox(&mut self, core: CoreId, mailbox: &Mailbox) {
        let (chip, xy) = (core.chip, core.tile);
        self.add(chip, xy, mailbox.rd_ptr, 4);
        // With host dispatch the pointer stays 0.
        let (entry, bytes) = self.images.launch_entry(core, mailbox);
        self.add(chip, xy, entry, bytes);
        self.add(chip, xy, mailbox.go_signal, 1);
        self.add(chip, xy, mailbox.waypoint(core.core), mailbox.waypoint_bytes);
        if let Some(channels) = mailbox.channels.as_ref().filter(|_| core.core == CoreKind::Erisc) {
            self.add(chip, xy, channels.at, channels.bytes.saturating_mul(channels.count));
            for sync in self.images.channel_syncs(core) {
                self.add(chip, xy, sync, channels.bytes);
            }
        }
    }
}
