//! Problems with the images on a core, and their messages.

use super::ImageMap;
use super::text::{Difference, TextCheck};
use crate::kinds::{ImageRole, Provenance};
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// An image that is not in L1, or code in L1 without an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String", inline)]
pub enum ImageFinding {
    /// L1 does not hold the image that was stated, recorded, or found before.
    Differs {
        /// The core.
        core: CoreId,
        /// Name of the image.
        image: String,
        /// The provenance of the image.
        said: Provenance,
        /// The first word that differs, if one was read.
        difference: Option<Difference>,
    },
    /// No image of the directories matches.
    NoMatch {
        /// The core.
        core: CoreId,
        /// The loaded code, such as `firmware` or `kernel 5`.
        what: String,
        /// Where it is loaded in L1.
        at: u64,
        /// The directories.
        among: String,
        /// The image with the fewest differences, and the first difference.
        nearest: Option<(String, Difference)>,
    },
    /// The loaded image cannot be determined, without a fault.
    Unknown {
        /// The core.
        core: CoreId,
        /// The loaded code.
        what: String,
        /// Where it is loaded in L1.
        at: u64,
        /// The reason.
        why: String,
    },
    /// A record names a file that does not exist.
    Stale {
        /// The core.
        core: CoreId,
        /// The kernel's number.
        id: u16,
        /// The file that the record names.
        path: PathBuf,
        /// File and line of the record.
        record: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, expected, found } = self;
        write!(f, "{at:#x} holds {found:#010x}, not {expected:#010x}")
    }
}

impl fmt::Display for ImageFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Differs { core, .. }
        | Self::NoMatch { core, .. }
        | Self::Unknown { core, .. }
        | Self::Stale { core, .. }) = self;
        write!(f, "{core}: {}", self.words())
    }
}

impl From<ImageFinding> for String {
    fn from(finding: ImageFinding) -> Self {
        finding.to_string()
    }
}

impl ImageFinding {
    /// Returns the message without the core.
    pub fn words(&self) -> String {
        match self {
            Self::Differs { image, said, difference, .. } => {
                let claim = match said {
                    Provenance::Stated => "was loaded",
                    Provenance::Recorded => "is on record",
                    Provenance::Sampled => "matches in samples",
                    _ => "was found",
                };
                let differs = format!("{image} {claim}, but its text is not in L1");
                difference.map_or(differs.clone(), |difference| format!("{differs}: {difference}"))
            }
            Self::NoMatch { what, at, among, nearest, .. } => {
                let none = format!("no image in {among} matches the {what} loaded at {at:#x}");
                nearest.as_ref().map_or(none.clone(), |(name, difference)| {
                    format!("{none}; of the nearest, {name}, {difference}")
                })
            }
            Self::Unknown { what, at, why, .. } => {
                format!("which image is the {what} loaded at {at:#x} is not known: {why}")
            }
            Self::Stale { id, path, record, .. } => {
                let path = path.display();
                format!("kernel {id} is {path} by {record}, but there is no such file")
            }
        }
    }

    /// Whether nothing is wrong: the loaded image cannot be determined.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

impl ImageMap {
    /// Returns the problems with the images of a core. An image that is being loaded is none, unless
    /// the core has begun to run its layer.
    pub fn findings(&self, core: CoreId, runs: &dyn Fn(ImageRole) -> bool) -> Vec<ImageFinding> {
        let loads = self.loads(core);
        let on = self.on.get(&core).into_iter().flatten();
        let differs = on.filter_map(|(&index, known)| {
            let wrong = known.evidence == Provenance::Mismatch && !known.released;
            let image = self.images.get(index).filter(|_| wrong)?;
            if known.is_pending() && !runs(image.role) {
                return None;
            }
            // A sampled image is no finding if another image of its layer is verified.
            loads.iter().find(|load| std::ptr::eq(load.image, &raw const **image))?;
            let difference = match known.comparison.check {
                TextCheck::Differs(difference) => Some(difference),
                _ => None,
            };
            let (image, said) = (image.name.clone(), known.said);
            Some(ImageFinding::Differs { core, image, said, difference })
        });
        let searched = self.findings.get(&core).into_iter().flatten().cloned();
        differs.chain(searched).collect()
    }
}
