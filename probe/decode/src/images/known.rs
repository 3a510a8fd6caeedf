//! What is known of one image on one core, and which of several is believed.

use super::text::{Comparison, Difference, TextCheck, TextWindow, compare};
use super::{Image, ImageMap};
use crate::images::kinds::{ImageRole, Provenance};
use layouts::CoreId;
use machine::snapshot::Snapshot;
use std::cmp::Reverse;
use std::path::Path;

/// An image on a core with everything that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct LoadedImage<'a> {
    /// The image.
    pub image: &'a Image,
    /// How it is known.
    pub evidence: Provenance,
    /// Who spoke of it first; `Sampled` or `Verified` where its bytes were found before anybody did.
    pub said: Provenance,
    /// What is added to a linked address of its code, modulo 2^32, to get where the code runs.
    pub bias: u32,
    /// How its text compares with L1.
    pub comparison: &'a Comparison,
    /// Other images whose text is the same, by name.
    pub also: &'a [String],
}

impl LoadedImage<'_> {
    /// The file of a directory that it came from.
    pub fn path(&self) -> Option<&Path> {
        self.image.path.as_deref()
    }

    /// Its bytes were found in L1, all or samples of them.
    pub(crate) fn is_found(&self) -> bool {
        matches!(self.evidence, Provenance::Verified | Provenance::Sampled)
    }
}

/// What the map keeps of an image on a core.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) said: Provenance,
    pub(crate) evidence: Provenance,
    pub(crate) bias: u32,
    pub(crate) windows: Vec<TextWindow>,
    pub(crate) comparison: Comparison,
    pub(crate) also: Vec<String>,
    /// What it was loaded for has ended: another text there is nobody's fault.
    pub(crate) released: bool,
}

impl Known {
    /// Somebody says so.
    pub(crate) fn said(evidence: Provenance, windows: Vec<TextWindow>) -> Self {
        Self {
            said: evidence,
            evidence,
            bias: 0,
            windows,
            comparison: Comparison::default(),
            also: Vec::new(),
            released: false,
        }
    }

    /// The build id, of so many bytes, was found.
    pub(super) fn identified(&mut self, image: &Image, id_bytes: u32) {
        if matches!(self.comparison.check, TextCheck::Differs(_)) {
            return;
        }
        self.evidence = Provenance::Verified;
        if !matches!(self.comparison.check, TextCheck::Equal | TextCheck::BuildId) {
            let text_bytes = image.text_bytes();
            let check = TextCheck::BuildId;
            self.comparison = Comparison { text_bytes, compared_bytes: id_bytes, check };
        }
    }

    /// Something else than the build id was found.
    pub(super) fn strange(&mut self, difference: Option<Difference>) {
        self.evidence = Provenance::Mismatch;
        if let Some(difference) = difference {
            self.comparison.check = TextCheck::Differs(difference);
        }
    }

    /// Compares as much of the image's text as was read: all of it, or the samples.
    pub(crate) fn compare(&mut self, image: &Image, core: CoreId, snapshot: &Snapshot) {
        let text = image.text();
        let look = |windows: &[TextWindow]| {
            compare(image.layout, snapshot, core, &text, self.bias, windows)
        };
        let whole = look(&image.whole()).filter(Comparison::is_final);
        if let Some(comparison) = whole.or_else(|| look(&self.windows)) {
            self.compared(comparison);
        }
    }

    /// Takes what a comparison of the text brought.
    fn compared(&mut self, new: Comparison) {
        let old = &self.comparison;
        let narrower = new.compared_bytes < old.compared_bytes;
        match (&old.check, &new.check) {
            // What a look at more bytes found is not undone by fewer.
            (TextCheck::Equal | TextCheck::Differs(_), TextCheck::Equal) if narrower => return,
            (_, TextCheck::Equal) if new.is_final() => self.evidence = Provenance::Verified,
            // A build id says more than samples do.
            (_, TextCheck::Equal) if self.evidence == Provenance::Verified => {}
            (_, TextCheck::Equal) => self.evidence = Provenance::Sampled,
            (_, TextCheck::Differs(_)) => self.evidence = Provenance::Mismatch,
            // What cannot be read or compared takes nothing away.
            (TextCheck::BuildId | TextCheck::Equal | TextCheck::Differs(_), _) => return,
            _ => {}
        }
        self.comparison = new;
    }
}

/// What was proved beats what was recorded, which beats what was told.
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
    /// The images on a core with how each is known: base firmware first, kernels last, and of each
    /// layer the most believable first.
    pub fn loads(&self, core: CoreId) -> Vec<LoadedImage<'_>> {
        let known = self.on.get(&core).into_iter().flatten();
        let mut loads: Vec<_> = known
            .filter_map(|(&index, known)| Some(load(self.images.get(index)?, known)))
            .collect();
        // A file that a person named is a better answer than the same image of our own.
        loads.sort_by_key(|load| (load.image.role, rank(load.evidence), load.path().is_none()));
        let named: Vec<_> = loads.iter().filter(|load| load.path().is_some()).copied().collect();
        loads
            .retain(|load| load.path().is_some() || !named.iter().any(|dir| stands_for(dir, load)));
        let verified = loads.iter().filter(|load| load.evidence == Provenance::Verified);
        let verified: Vec<_> = verified.map(|load| load.image.role).collect();
        loads.retain(|load| !(was_guessed(load) && verified.contains(&load.image.role)));
        loads
    }

    /// The images on a core and how each is known, in the order of [`ImageMap::loads`].
    pub fn on(&self, core: CoreId) -> Vec<(&Image, Provenance)> {
        self.loads(core).into_iter().map(|load| (load.image, load.evidence)).collect()
    }

    /// The layers of a core, kernels first, without what is not there.
    pub fn resolved(&self, core: CoreId) -> Vec<LoadedImage<'_>> {
        let mut loads = self.loads(core);
        loads.retain(|load| load.evidence != Provenance::Mismatch);
        loads.sort_by_key(|load| Reverse(load.image.role));
        loads
    }

    /// The image of this layer whose text, or samples of it, was found on the core.
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
    }
}

/// Did only samples ever speak for an image that is not there?
fn was_guessed(load: &LoadedImage<'_>) -> bool {
    (load.said, load.evidence) == (Provenance::Sampled, Provenance::Mismatch)
}

/// Is the image of a directory that was found the same one as this? Layers do not matter: whoever loaded it may
/// call them otherwise.
fn stands_for(dir: &LoadedImage<'_>, own: &LoadedImage<'_>) -> bool {
    dir.is_found() && own.is_found() && dir.image.text() == own.image.text()
}
