//! What is known of one image on one core, and which of several is believed.

use super::text::{Comparison, Difference, TextCheck, Window, compare};
use super::{Image, ImageMap};
use crate::images::kinds::{ImageEvidence, ImageRole};
use layouts::CoreId;
use machine::snapshot::Snapshot;
use std::cmp::Reverse;
use std::path::Path;

/// An image on a core with everything that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The image.
    pub image: &'a Image,
    /// How it is known.
    pub evidence: ImageEvidence,
    /// Who spoke of it first; `Sampled` or `Proved` where its bytes were found before anybody did.
    pub said: ImageEvidence,
    /// What is added to a linked address of its code, modulo 2^32, to get where the code runs.
    pub bias: u32,
    /// How its text compares with L1.
    pub comparison: &'a Comparison,
    /// Other images whose text is the same, by name.
    pub also: &'a [String],
}

impl Load<'_> {
    /// The file of a directory that it came from.
    pub fn path(&self) -> Option<&Path> {
        self.image.path.as_deref()
    }

    /// Its bytes were found in L1, all or samples of them.
    pub(crate) fn is_found(&self) -> bool {
        matches!(self.evidence, ImageEvidence::Proved | ImageEvidence::Sampled)
    }
}

/// What the map keeps of an image on a core.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) said: ImageEvidence,
    pub(crate) evidence: ImageEvidence,
    pub(crate) bias: u32,
    pub(crate) windows: Vec<Window>,
    pub(crate) comparison: Comparison,
    pub(crate) also: Vec<String>,
    /// What it was loaded for has ended: another text there is nobody's fault.
    pub(crate) released: bool,
}

impl Known {
    /// Somebody says so.
    pub(crate) fn said(evidence: ImageEvidence, windows: Vec<Window>) -> Self {
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
        self.evidence = ImageEvidence::Proved;
        if !matches!(self.comparison.check, TextCheck::Equal | TextCheck::BuildId) {
            let text_bytes = image.text_bytes();
            let check = TextCheck::BuildId;
            self.comparison = Comparison { text_bytes, compared_bytes: id_bytes, check };
        }
    }

    /// Something else than the build id was found.
    pub(super) fn strange(&mut self, difference: Option<Difference>) {
        self.evidence = ImageEvidence::Mismatch;
        if let Some(difference) = difference {
            self.comparison.check = TextCheck::Differs(difference);
        }
    }

    /// Compares as much of the image's text as was read: all of it, or the samples.
    pub(crate) fn look_at(&mut self, image: &Image, core: CoreId, shot: &Snapshot) {
        let text = image.text();
        let look =
            |windows: &[Window]| compare(image.layout, shot, core, &text, self.bias, windows);
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
            (_, TextCheck::Equal) if new.is_final() => self.evidence = ImageEvidence::Proved,
            // A build id says more than samples do.
            (_, TextCheck::Equal) if self.evidence == ImageEvidence::Proved => {}
            (_, TextCheck::Equal) => self.evidence = ImageEvidence::Sampled,
            (_, TextCheck::Differs(_)) => self.evidence = ImageEvidence::Mismatch,
            // What cannot be read or compared takes nothing away.
            (TextCheck::BuildId | TextCheck::Equal | TextCheck::Differs(_), _) => return,
            _ => {}
        }
        self.comparison = new;
    }
}

/// What was proved beats what was recorded, which beats what was told.
fn rank(evidence: ImageEvidence) -> u8 {
    match evidence {
        ImageEvidence::Proved => 0,
        ImageEvidence::Sampled => 1,
        ImageEvidence::Recorded => 2,
        ImageEvidence::Told => 3,
        ImageEvidence::Mismatch => 4,
    }
}

impl ImageMap {
    /// The images on a core with how each is known: base firmware first, kernels last, and of each
    /// layer the most believable first.
    pub fn loads(&self, core: CoreId) -> Vec<Load<'_>> {
        let known = self.on.get(&core).into_iter().flatten();
        let mut loads: Vec<_> = known
            .filter_map(|(&index, known)| Some(load(self.images.get(index)?, known)))
            .collect();
        // A file that a person named is a better answer than the same image of our own.
        loads.sort_by_key(|load| (load.image.role, rank(load.evidence), load.path().is_none()));
        let named: Vec<_> = loads.iter().filter(|load| load.path().is_some()).copied().collect();
        loads
            .retain(|load| load.path().is_some() || !named.iter().any(|dir| stands_for(dir, load)));
        let proved = loads.iter().filter(|load| load.evidence == ImageEvidence::Proved);
        let proved: Vec<_> = proved.map(|load| load.image.role).collect();
        loads.retain(|load| !(was_guessed(load) && proved.contains(&load.image.role)));
        loads
    }

    /// The images on a core and how each is known, in the order of [`ImageMap::loads`].
    pub fn on(&self, core: CoreId) -> Vec<(&Image, ImageEvidence)> {
        self.loads(core).into_iter().map(|load| (load.image, load.evidence)).collect()
    }

    /// The layers of a core, kernels first, without what is not there.
    pub fn believed(&self, core: CoreId) -> Vec<Load<'_>> {
        let mut loads = self.loads(core);
        loads.retain(|load| load.evidence != ImageEvidence::Mismatch);
        loads.sort_by_key(|load| Reverse(load.image.role));
        loads
    }

    /// The image of this layer whose text, or samples of it, was found on the core.
    pub(crate) fn found(&self, core: CoreId, role: ImageRole) -> Option<Load<'_>> {
        let mut loads = self.loads(core).into_iter();
        loads.find(|load| load.image.role == role && load.is_found())
    }
}

fn load<'a>(image: &'a Image, known: &'a Known) -> Load<'a> {
    Load {
        image,
        evidence: known.evidence,
        said: known.said,
        bias: known.bias,
        comparison: &known.comparison,
        also: &known.also,
    }
}

/// Did only samples ever speak for an image that is not there?
fn was_guessed(load: &Load<'_>) -> bool {
    (load.said, load.evidence) == (ImageEvidence::Sampled, ImageEvidence::Mismatch)
}

/// Is the image of a directory that was found the same one as this? Layers do not matter: whoever loaded it may
/// call them otherwise.
fn stands_for(dir: &Load<'_>, own: &Load<'_>) -> bool {
    dir.is_found() && own.is_found() && dir.image.text() == own.image.text()
}
