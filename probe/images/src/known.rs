//! The provenance of an image on a core, and the resolution among several images.

use super::text::{Comparison, Difference, TextCheck, TextWindow, compare, in_l1};
use super::waypoints::source_line;
use super::{Image, ImageMap};
use crate::kinds::{ImageRole, Provenance, SourceLine};
use layouts::CoreId;
use machine::snapshot::Snapshot;
use std::cmp::Reverse;
use std::path::Path;
use symbols::Storage;

/// An image on a core, with its provenance.
#[derive(Clone, Copy, Debug)]
pub struct LoadedImage<'a> {
    /// The image.
    pub image: &'a Image,
    /// How the image is known to be on the core.
    pub evidence: Provenance,
    /// The first provenance; `Sampled` or `Verified` if its bytes were found before it was stated
    /// or recorded.
    pub said: Provenance,
    /// The distance from a linked address of the code to the address at which it runs, modulo 2^32.
    pub bias: u32,
    /// The comparison of the image's text with L1.
    pub comparison: &'a Comparison,
    /// Other images whose text is the same, by name.
    pub also: &'a [String],
    /// Whether this process is loading it, and it was not found in L1 so far.
    pub pending: bool,
}

impl LoadedImage<'_> {
    /// Returns the file, for an image of a named directory.
    pub fn path(&self) -> Option<&Path> {
        self.image.path.as_deref()
    }

    /// Returns the address from which the core runs the text; 0 for an image without text.
    pub fn run_addr(&self) -> u32 {
        self.linked_addr().map_or(0, |linked| linked.wrapping_add(self.bias))
    }

    /// Returns the address at which the text stands: in L1, or in instruction RAM if no copy in L1
    /// is known.
    pub fn load_addr(&self, core: CoreId) -> u32 {
        let linked = self.linked_addr();
        let copy = linked.and_then(|linked| in_l1(self.image.layout, core, linked, self.bias));
        copy.map_or_else(|| self.run_addr(), |copy| copy.offset as u32)
    }

    /// Returns the chain of functions at an address at which the core runs, inlined ones first;
    /// none if the image has no code there.
    pub fn frames_at(&self, pc: u32) -> Option<Vec<SourceLine>> {
        let linked = pc.wrapping_sub(self.bias);
        let frames = || self.image.symbols.frames_at(linked.into());
        self.text_at(pc).map(|_| frames().iter().map(source_line).collect())
    }

    /// Returns the text at an address at which the core runs: where it begins, and its bytes.
    pub fn text_at(&self, pc: u32) -> Option<(u32, &[u8])> {
        let linked = pc.wrapping_sub(self.bias);
        let texts = self.image.text().into_iter();
        let mut covers = texts.filter(|(addr, bytes)| {
            linked.checked_sub(*addr).is_some_and(|past| (past as usize) < bytes.len())
        });
        covers.next().map(|(addr, bytes)| (addr.wrapping_add(self.bias), bytes))
    }

    /// Returns the address of a variable that does not move with the text.
    pub fn variable(&self, name: &str) -> Option<u32> {
        u32::try_from(self.image.symbols.symbol(name)?.address).ok()
    }

    /// Returns the value of a parameter of a function around an address at which the core runs, where the
    /// debug information has it: of an inlined call with a constant.
    pub fn constant_at(&self, pc: u32, name: &str) -> Option<u64> {
        let linked = u64::from(pc.wrapping_sub(self.bias));
        let storage = self.image.symbols.local(name, Some(linked))?.storage.at(linked);
        let (Storage::Constant(bytes) | Storage::Computed(bytes)) = storage else { return None };
        // More than eight bytes are no number.
        let mut number = [0; 8];
        number.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(u64::from_le_bytes(number))
    }

    fn linked_addr(&self) -> Option<u32> {
        self.image.text().iter().map(|(addr, _)| *addr).min()
    }

    /// Whether its bytes, or samples of them, were found in L1.
    pub(crate) fn is_found(&self) -> bool {
        matches!(self.evidence, Provenance::Verified | Provenance::Sampled)
    }
}

/// An image's state on a core.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) said: Provenance,
    pub(crate) evidence: Provenance,
    pub(crate) bias: u32,
    pub(crate) windows: Vec<TextWindow>,
    pub(crate) comparison: Comparison,
    pub(crate) also: Vec<String>,
    /// Whether the launch has ended: another text at this address is no fault.
    pub(crate) released: bool,
    /// Whether it was found in L1.
    pub(crate) found: bool,
}

impl Known {
    /// Makes the state of an image that was not compared yet.
    pub(crate) fn new(evidence: Provenance, windows: Vec<TextWindow>) -> Self {
        Self {
            said: evidence,
            evidence,
            bias: 0,
            windows,
            comparison: Comparison::default(),
            also: Vec::new(),
            released: false,
            found: false,
        }
    }

    /// Records that the build id was found.
    pub(super) fn identified(&mut self, image: &Image, id_bytes: u32) {
        // A text that is changed behind its build id; before it was found it was not loaded yet.
        if matches!(self.comparison.check, TextCheck::Differs(_)) && self.found {
            return;
        }
        (self.evidence, self.found) = (Provenance::Verified, true);
        if !matches!(self.comparison.check, TextCheck::Equal | TextCheck::BuildId) {
            let text_bytes = image.text_bytes();
            let check = TextCheck::BuildId;
            self.comparison = Comparison { text_bytes, compared_bytes: id_bytes, check };
        }
    }

    /// Records that other bytes than the build id were found.
    pub(super) fn mismatched(&mut self, difference: Option<Difference>) {
        self.evidence = Provenance::Mismatch;
        if let Some(difference) = difference {
            self.comparison.check = TextCheck::Differs(difference);
        }
    }

    /// Compares the image's text with the snapshot: all of it, or the samples.
    pub(crate) fn compare(&mut self, image: &Image, core: CoreId, snapshot: &Snapshot) {
        let text = image.text();
        let compared = |windows: &[TextWindow]| {
            compare(image.layout, snapshot, core, &text, self.bias, windows)
        };
        let whole = compared(&image.whole()).filter(Comparison::is_final);
        if let Some(comparison) = whole.or_else(|| compared(&self.windows)) {
            self.compared(comparison);
        }
    }

    /// Records a comparison of the text.
    fn compared(&mut self, new: Comparison) {
        let old = &self.comparison;
        let narrower = new.compared_bytes < old.compared_bytes;
        match (&old.check, &new.check) {
            // A comparison of fewer bytes does not override one of more.
            (TextCheck::Equal, TextCheck::Equal) if narrower => return,
            (TextCheck::Differs(_), TextCheck::Equal) if narrower && self.found => return,
            (_, TextCheck::Equal) if new.is_final() => self.evidence = Provenance::Verified,
            // A build id is stronger evidence than samples.
            (_, TextCheck::Equal) if self.evidence == Provenance::Verified => {}
            (_, TextCheck::Equal) => self.evidence = Provenance::Sampled,
            (_, TextCheck::Differs(_)) => self.evidence = Provenance::Mismatch,
            // A failed comparison does not override a result.
            (TextCheck::BuildId | TextCheck::Equal | TextCheck::Differs(_), _) => return,
            _ => {}
        }
        self.found |= new.check == TextCheck::Equal;
        self.comparison = new;
    }

    /// Whether this process is loading it, and it was not found in L1 so far.
    pub(crate) fn is_pending(&self) -> bool {
        self.said == Provenance::Stated && !self.found
    }
}

/// Orders provenances: verified before recorded before stated.
fn rank(evidence: Provenance) -> u8 {
    match evidence {
        Provenance::Verified => 0,
        Provenance::Sampled => 1,
        Provenance::Recorded => 2,
        Provenance::Stated => 3,
        Provenance::Mismatch => 4,
    }
}

impl ImageMap {
    /// Returns the images on a core: base firmware first, kernels last, and in each layer the one
    /// with the strongest provenance first.
    pub fn loads(&self, core: CoreId) -> Vec<LoadedImage<'_>> {
        let known = self.on.get(&core).into_iter().flatten();
        let mut loads: Vec<_> = known
            .filter_map(|(&index, known)| Some(load(self.images.get(index)?, known)))
            .collect();
        // A file that the user named precedes the same built-in image.
        loads.sort_by_key(|load| (load.image.role, rank(load.evidence), load.path().is_none()));
        let named: Vec<_> = loads.iter().filter(|load| load.path().is_some()).copied().collect();
        loads
            .retain(|load| load.path().is_some() || !named.iter().any(|dir| stands_for(dir, load)));
        let verified = loads.iter().filter(|load| load.evidence == Provenance::Verified);
        let verified: Vec<_> = verified.map(|load| load.image.role).collect();
        loads.retain(|load| !(was_guessed(load) && verified.contains(&load.image.role)));
        // Firmware in whose place other firmware was found was replaced, not overwritten.
        let there = loads.iter().filter(|load| load.is_found());
        let there: Vec<_> = there.map(|load| load.image.role).collect();
        loads.retain(|load| {
            load.evidence != Provenance::Mismatch
                || load.image.role == ImageRole::Kernel
                || !there.contains(&load.image.role)
        });
        loads
    }

    /// Returns the images on a core with their provenance, in the order of [`ImageMap::loads`].
    pub fn on(&self, core: CoreId) -> Vec<(&Image, Provenance)> {
        self.loads(core).into_iter().map(|load| (load.image, load.evidence)).collect()
    }

    /// Returns the images on a core without mismatches, kernels first.
    pub fn resolved(&self, core: CoreId) -> Vec<LoadedImage<'_>> {
        let mut loads = self.loads(core);
        loads.retain(|load| load.evidence != Provenance::Mismatch);
        loads.sort_by_key(|load| Reverse(load.image.role));
        loads
    }

    /// Returns the image with the code at an address at which a core runs.
    pub fn running_at(&self, core: CoreId, pc: u32) -> Option<LoadedImage<'_>> {
        self.resolved(core).into_iter().find(|load| load.text_at(pc).is_some())
    }

    /// Returns the image of a layer whose text, or samples of it, was found on the core.
    pub(crate) fn found(&self, core: CoreId, role: ImageRole) -> Option<LoadedImage<'_>> {
        let mut loads = self.loads(core).into_iter();
        loads.find(|load| load.image.role == role && load.is_found())
    }
}

fn load<'a>(image: &'a Image, known: &'a Known) -> LoadedImage<'a> {
    LoadedImage {
        image,
        evidence: known.evidence,
        said: known.said,
        bias: known.bias,
        comparison: &known.comparison,
        also: &known.also,
        pending: known.is_pending(),
    }
}

/// Whether only samples supported an image that is not there.
fn was_guessed(load: &LoadedImage<'_>) -> bool {
    (load.said, load.evidence) == (Provenance::Sampled, Provenance::Mismatch)
}

/// Whether a found image of a directory has the same text as another found image. Layers are
/// ignored: the loader can name them differently.
fn stands_for(dir: &LoadedImage<'_>, own: &LoadedImage<'_>) -> bool {
    dir.is_found() && own.is_found() && dir.image.text() == own.image.text()
}
