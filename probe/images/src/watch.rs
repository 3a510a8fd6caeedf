//! What was read of a core to prove its images, and the words whose change makes it be read again.
//!
//! A build id follows its text, so that each image has its own at another address. Images that are
//! linked to one address are first told apart by the bytes that stand there: only the build ids of
//! those that begin so are read. What was proved is read again after a change of the core's reset
//! bit, of its launch message or of the bytes at such an address.

use super::text::{WINDOW_BYTES, in_l1};
use super::{Image, ImageMap, ImageRole, Mailbox};
use layouts::{CoreId, CoreKind, NocAddr};
use machine::snapshot::{AccessError, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// A range of a tile.
type Place = (NocAddr, u32);

/// The beginnings of texts by the kind of core and the linked address.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts(BTreeMap<(CoreKind, u32), Vec<Start>>);

/// The beginning of an image's text.
#[derive(Clone, Debug)]
struct Start {
    index: usize,
    bytes: Vec<u8>,
}

impl Starts {
    /// Adds an image that its build id verifies.
    pub(super) fn add(&mut self, index: usize, image: &Image) {
        let text = image.text();
        let first = text.iter().min_by_key(|(at, _)| *at).filter(|_| image.proof().is_some());
        if let Some((at, bytes)) = first {
            let bytes = bytes.iter().take(WINDOW_BYTES as usize).copied().collect();
            self.0.entry((image.core, *at)).or_default().push(Start { index, bytes });
        }
    }

    /// Returns the addresses that several images of a kind of core share.
    fn shared(&self, core: CoreKind) -> impl Iterator<Item = (u32, &[Start])> {
        let here = self.0.range((core, 0)..=(core, u32::MAX));
        here.filter(|(_, starts)| starts.len() > 1).map(|((_, at), starts)| (*at, &**starts))
    }
}

/// What is known of a core's reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// The bytes of each watched range when last read, by address; none if it cannot be read.
    seen: BTreeMap<u64, Option<Vec<u8>>>,
    /// The images whose proof was read since the last change, by index.
    checked: BTreeSet<usize>,
}

impl ImageMap {
    /// Makes the images of a core be proved again.
    pub fn unprove(&mut self, core: CoreId) {
        self.watches.remove(&core);
    }

    /// Returns the range of the current launch entry of a core's mailbox, as far as its pointer was
    /// read.
    pub fn launch_entry(&self, core: CoreId, mailbox: &Mailbox) -> (u64, u64) {
        let seen = self.watches.get(&core).and_then(|watch| watch.seen.get(&mailbox.rd_ptr));
        let bytes = seen.and_then(|bytes| bytes.as_deref()?.try_into().ok());
        mailbox.entry(bytes.map_or(0, |bytes| u32::from_le_bytes(bytes).into()))
    }

    /// Returns the cores of which a watched word has changed since the last call.
    pub fn take_changed(&mut self) -> BTreeSet<CoreId> {
        std::mem::take(&mut self.changed)
    }

    /// Returns the ranges at which several images of a core begin, unless the last read of them
    /// failed: then all their build ids are read.
    pub fn starts(&self, core: CoreId) -> Vec<Place> {
        let seen = self.watches.get(&core).map(|watch| &watch.seen);
        let failed = |addr: NocAddr| seen.and_then(|seen| seen.get(&addr.offset)) == Some(&None);
        let starts = self.starts_of(core).filter(|(addr, ..)| !failed(*addr));
        starts.map(|(addr, len, _)| (addr, len)).collect()
    }

    fn starts_of(&self, core: CoreId) -> impl Iterator<Item = (NocAddr, u32, &[Start])> {
        self.starts.shared(core.core).filter_map(move |(at, starts)| {
            let len = starts.iter().map(|start| start.bytes.len() as u32).max()?;
            Some((in_l1(self.layout(), core, at, 0)?, len, starts))
        })
    }

    /// Returns the ranges that prove the images of a core and were not read since the last change.
    pub fn unproved(&self, core: CoreId) -> Vec<Place> {
        let none = Watch::default();
        let watch = self.watches.get(&core).unwrap_or(&none);
        let open = self.open(core, watch);
        let any = !self.has_no_kernel(core, watch);
        let starts = self.starts_of(core).filter(|_| any);
        let starts = starts.filter(|(at, ..)| !watch.seen.contains_key(&at.offset));
        let ids = self.build_ids(core).filter(|(index, ..)| open.contains(index));
        let known = self.on.get(&core).into_iter().flatten().map(|(index, _)| *index);
        let samples = known.filter(|index| open.contains(index));
        let starts = starts.map(|(addr, len, _)| (addr, len));
        let ids = ids.map(|(_, addr, id)| (addr, id.len() as u32));
        starts.chain(ids).chain(samples.flat_map(|index| self.text_samples(core, index))).collect()
    }

    /// Returns the images that can be on a core and whose proof was not read since the last change.
    fn open(&self, core: CoreId, watch: &Watch) -> BTreeSet<usize> {
        let (known, excluded) = (self.on.get(&core), self.excluded(core, watch));
        let started = self.is_started(core);
        let possible = |(index, image): &(usize, &Image)| {
            let fits = started || image.role != ImageRole::BaseFirmware;
            let fits = fits && !self.is_displaced(core, image.role);
            fits && !excluded.contains(index)
                || known.is_some_and(|known| known.contains_key(index))
        };
        let images = self.images.iter().map(|image| &**image).enumerate();
        let unread = images.filter(|(index, _)| !watch.checked.contains(index));
        unread.filter(possible).map(|(index, _)| index).collect()
    }

    /// Whether base firmware that a build id verifies can be on a core: the BRISC's starts the other
    /// cores of a Tensix tile, so that without it a build id of theirs is left over.
    fn is_started(&self, core: CoreId) -> bool {
        if matches!(core.core, CoreKind::Brisc | CoreKind::Erisc) {
            return true;
        }
        let on = self.on.get(&CoreId { core: CoreKind::Brisc, ..core });
        let mut images = on.into_iter().flatten().filter_map(|(index, _)| self.images.get(*index));
        images.any(|image| image.role == ImageRole::BaseFirmware && image.proof().is_some())
    }

    /// Whether firmware of a file was found on a core where an image of this role would run.
    fn is_displaced(&self, core: CoreId, role: ImageRole) -> bool {
        let found = |role| self.found(core, role).is_some_and(|load| load.path().is_some());
        match role {
            ImageRole::BaseFirmware => found(role),
            // Only base firmware starts one.
            ImageRole::Application => found(role) || found(ImageRole::BaseFirmware),
            ImageRole::Kernel => false,
        }
    }

    /// Whether the mailbox of firmware that was found in a file names no kernel for the core: neither in the
    /// current launch entry nor in the one before.
    fn has_no_kernel(&self, core: CoreId, watch: &Watch) -> bool {
        let Some((mailbox, owner)) = self.mailbox_of(core) else { return false };
        let members = [
            (mailbox.enables, 4),
            (mailbox.host_assigned_id, 4),
            (mailbox.kernel_id(core.core), mailbox.kernel_id_bytes),
        ];
        let names_none = |(at, _): (u64, u64)| {
            let entry = watch.seen.get(&at).and_then(|bytes| bytes.as_deref());
            let zero = |(at, len): (u64, u64)| {
                let bytes = entry.and_then(|bytes| bytes.get(at as usize..(at + len) as usize));
                bytes.is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
            };
            members.into_iter().all(zero)
        };
        let pointer = watch.seen.get(&mailbox.rd_ptr).and_then(|bytes| bytes.as_deref());
        let pointer = pointer.and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        let launches = pointer.map(|now| mailbox.last_two(now));
        owner.path.is_some() && launches.is_some_and(|entries| entries.into_iter().all(names_none))
    }

    /// Returns the build ids of all images of a core.
    pub fn every_build_id(&self, core: CoreId) -> Vec<Place> {
        self.build_ids(core).map(|(_, addr, id)| (addr, id.len() as u32)).collect()
    }

    /// Returns the build ids of a kind of core: index, address and value.
    pub(super) fn build_ids(
        &self,
        core: CoreId,
    ) -> impl Iterator<Item = (usize, NocAddr, &Vec<u8>)> {
        let own = self.images.iter().enumerate().filter(move |(_, image)| image.core == core.core);
        own.filter_map(move |(index, image)| {
            let (offset, id) = image.proof()?;
            Some((index, NocAddr { chip: core.chip, tile: core.tile, offset: *offset }, id))
        })
    }

    /// Returns the images that begin with other bytes than the core's memory. Before that was read,
    /// it is all images that share their beginning's address.
    fn excluded(&self, core: CoreId, watch: &Watch) -> BTreeSet<usize> {
        let mut excluded = BTreeSet::new();
        for (addr, _, starts) in self.starts_of(core) {
            let differs = |start: &&Start| match watch.seen.get(&addr.offset) {
                None => true,
                Some(None) => false,
                Some(Some(bytes)) => !bytes.starts_with(&start.bytes),
            };
            excluded.extend(starts.iter().filter(differs).map(|start| start.index));
        }
        excluded
    }

    /// Notes what a snapshot has of a core's watched words and proofs.
    pub(super) fn watch(&mut self, core: CoreId, snapshot: &Snapshot) {
        let mut watch = std::mem::take(self.watches.entry(core).or_default());
        let now = self.watched(core, snapshot);
        let differs = |(at, value)| watch.seen.get(at).is_some_and(|before| before != value);
        if now.iter().any(differs) {
            watch = Watch::default();
            self.changed.insert(core);
        }
        watch.seen.extend(now);
        let read = |(addr, len): Place| snapshot.bytes(addr, len).is_ok();
        let ids = self.build_ids(core).filter(|(_, addr, id)| read((*addr, id.len() as u32)));
        let mut checked: Vec<usize> = ids.map(|(index, ..)| index).collect();
        for &index in self.on.get(&core).into_iter().flatten().map(|(index, _)| index) {
            let samples = self.text_samples(core, index);
            if !samples.is_empty() && samples.into_iter().all(read) {
                checked.push(index);
            }
        }
        watch.checked.extend(checked);
        self.watches.insert(core, watch);
    }

    /// Returns the watched words that a snapshot has, or could not read.
    fn watched(&self, core: CoreId, snapshot: &Snapshot) -> BTreeMap<u64, Option<Vec<u8>>> {
        let (layout, mut watched) = (self.layout(), BTreeMap::new());
        let kind = layout.kind_at(core.tile);
        let at = |offset| NocAddr { chip: core.chip, tile: core.tile, offset };
        for (addr, len, _) in self.starts_of(core) {
            match snapshot.bytes(addr, len) {
                Ok(bytes) => drop(watched.insert(addr.offset, Some(bytes.to_vec()))),
                Err(AccessError::NotRequested) => {}
                Err(_) => drop(watched.insert(addr.offset, None)),
            }
        }
        if let Some(offset) = layout.soft_reset(kind)
            && let Ok(word) = snapshot.word(at(offset))
        {
            watched.insert(offset, Some(vec![(word >> layout.reset_bit(core.core) & 1) as u8]));
        }
        let flag = Some((layout.eth.l1.launch_flag.at, 4)).filter(|_| core.core == CoreKind::Erisc);
        let mailbox = self.mailbox_of(core).map(|(mailbox, _)| mailbox);
        let message = mailbox.map(|of| {
            let [now, before] = of.last_two(snapshot.word(at(of.rd_ptr)).unwrap_or(0));
            [(of.rd_ptr, 4), now, before]
        });
        for (offset, len) in flag.into_iter().chain(message.into_iter().flatten()) {
            if let Ok(bytes) = snapshot.bytes(at(offset), len as u32) {
                watched.insert(offset, Some(bytes.to_vec()));
            }
        }
        watched
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::kinds::Provenance;
    use crate::known::Known;
    use layouts::{ChipId, ChipKind, NocXy};
    use machine::snapshot::Piece;
    use symbols::Symbols;

    const CORE: CoreId =
        CoreId { chip: ChipId(0), tile: NocXy { x: 1, y: 1 }, core: CoreKind::Brisc };

    /// Returns the built-in images, and the same firmware of a file, which was found on the core.
    fn with_file() -> ImageMap {
        let (mut images, _) = ImageMap::firmware();
        let elf = firmware::images().iter().find(|image| image.name == "tensix_brisc").unwrap().elf;
        let (symbols, _) = Symbols::load(elf, "brisc.elf").unwrap();
        let (chip, role) = (ChipKind::Wormhole, ImageRole::BaseFirmware);
        let mut image = Image::new(chip, "1/brisc", role, CORE.core, symbols);
        image.path = Some("1/brisc/brisc.elf".into());
        let known = Known::new(Provenance::Sampled, image.samples());
        let index = images.take(image);
        images.place(CORE, index, known);
        images
    }

    #[test]
    fn firmware_of_a_file_displaces_built_in_firmware_of_its_core() {
        let images = with_file();
        let other = CoreId { tile: NocXy { x: 2, y: 1 }, ..CORE };
        let roles = [ImageRole::BaseFirmware, ImageRole::Application, ImageRole::Kernel];
        assert_eq!(roles.map(|role| images.is_displaced(CORE, role)), [true, true, false]);
        assert_eq!(roles.map(|role| images.is_displaced(other, role)), [false; 3]);
        let sought = |core: CoreId| {
            let open = images.open(core, &Watch::default());
            let all = images.images.iter().enumerate().filter(|(index, _)| open.contains(index));
            let built_in = all.filter(|(_, image)| image.path.is_none() && image.core == core.core);
            built_in.filter(|(_, image)| image.role == ImageRole::BaseFirmware).count()
        };
        assert_eq!((sought(CORE), sought(other) > 0), (0, true));
    }

    #[test]
    fn a_core_has_no_kernel_if_both_launch_entries_of_a_file_s_firmware_name_none() {
        let mut images = with_file();
        let mailbox = images.mailbox_of(CORE).unwrap().0.clone();
        let [now, before] = mailbox.last_two(3);
        let piece = |offset: u64, bytes: Vec<u8>| Piece {
            addr: NocAddr { chip: CORE.chip, tile: CORE.tile, offset },
            target_cycles: 0,
            host_micros: 0,
            bytes: bytes.into(),
        };
        let pointer = || piece(mailbox.rd_ptr, vec![3, 0, 0, 0]);
        let entry = |(at, len): (u64, u64), kernel: u8| {
            let mut bytes = vec![0; len as usize];
            bytes[mailbox.kernel_id(CORE.core) as usize] = kernel;
            piece(at, bytes)
        };
        let mut none = |mut pieces: Vec<Piece>| {
            pieces.sort_by_key(|piece| piece.addr);
            images.unprove(CORE);
            images.watch(CORE, &Snapshot { pieces, ..Snapshot::default() });
            images.has_no_kernel(CORE, &images.watches[&CORE])
        };
        assert!(none(vec![pointer(), entry(now, 0), entry(before, 0)]));
        assert!(!none(vec![pointer(), entry(now, 7), entry(before, 0)]), "it was launched");
        assert!(!none(vec![pointer(), entry(now, 0), entry(before, 7)]), "it can run still");
        assert!(!none(vec![pointer(), entry(now, 0)]), "it was not read");
        let (built_in, _) = ImageMap::firmware();
        assert!(!built_in.has_no_kernel(CORE, &Watch::default()), "no file");
    }
}
