//! Which ELF runs where: the only source of names and layouts for decoding.
//!
//! - [`ImageMap`] holds for each core the image of each layer, its load address and its
//!   [`Provenance`]; it learns from snapshots, by comparing texts with L1.
//! - [`Catalog`] finds ELFs in folders of tt-metal; [`Library`] opens those that a mesh runs.
//! - [`Image`] has the layouts of an ELF: mailbox, channels, waypoints, and by [`fabric`] those of
//!   routers, muxes and clients. [`fabric::manifest::FabricManifest`] describes routers without ELF.
//! - [`code::listing`] disassembles, and [`code::code_at`] finds the code of a name.
//!
//! ```
//! use images::{ImageMap, ImageRole};
//!
//! let (images, problems) = ImageMap::firmware();
//! assert!(problems.is_empty());
//! let kernel = images.named("ring_ping").expect("it is built in");
//! assert_eq!(kernel.role, ImageRole::Kernel);
//! ```
//!
//! # Invariants
//!
//! No file is read but an image, and nothing is written. Members are found by type and name in the
//! loaded image; no address that DWARF has is assumed. A built-in image is recognised by the index
//! that `firmware` has of it; its DWARF is opened at the first question about its contents.

pub mod catalog;
mod channels;
pub mod code;
mod contents;
mod described;
pub mod fabric;
mod finding;
mod image;
pub mod inspector;
mod kinds;
mod known;
mod library;
mod mailbox;
mod members;
mod outline;
mod pointers;
mod process;
mod proofs;
mod reading;
mod signals;
mod termination;
mod text;
mod watch;
mod waypoints;

pub use catalog::{Catalog, CatalogError};
pub use channels::{ChannelSync, ChannelTable, Channels};
pub use contents::Contents;
pub use described::{DescribedRouter, RouterSource, SourceKind, UNKNOWN_ROUTER};
pub use finding::ImageFinding;
pub use image::Image;
pub use kinds::{GoSignal, ImageRole, Provenance, SourceLine, code_words, without_arguments};
pub use known::LoadedImage;
pub use library::Library;
pub use mailbox::Mailbox;
pub use members::{Member, members};
pub use outline::{Outline, OutlineMember};
pub use pointers::member;
pub use pointers::{ResolvedPointer, resolve_pointer};
pub use process::{doubts, metal_process, serving_process, usual_places};
pub use reading::Reading;
pub use signals::Signals;
pub use termination::TerminationWord;
pub use text::{Comparison, Difference, TextCheck};
pub use waypoints::WaypointPlace;
pub use waypoints::code as waypoint_code;
pub(crate) use waypoints::source_line;

use described::Manifests;
use known::Known;
use layouts::{ChipId, ChipKind, ChipLayout, CoreId, CoreKind, NocXy};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use watch::{Starts, Watch};

/// The images that can run on each kind of core, and those on each core.
#[derive(Clone, Debug, Default)]
pub struct ImageMap {
    /// The kind of chip that the images run on.
    chip: ChipKind,
    images: Vec<Arc<Image>>,
    on: BTreeMap<CoreId, BTreeMap<usize, Known>>,
    /// Problems that the last search of the directories found.
    findings: BTreeMap<CoreId, Vec<ImageFinding>>,
    /// Addresses of the live sync words of a core's channels, from its kernel's table.
    places: BTreeMap<CoreId, ChannelPlaces>,
    /// Every address at which a kernel's table had a live sync word: it rotates through the
    /// buffers.
    syncs: BTreeMap<CoreId, BTreeSet<u64>>,
    /// What fabric manifests say.
    manifests: Manifests,
    /// The beginnings of the texts that share an address.
    starts: Starts,
    /// What was read to prove the images of a core.
    watches: BTreeMap<CoreId, Watch>,
    /// The cores whose watched words have changed.
    changed: BTreeSet<CoreId>,
}

/// `eth_channel_places` of a kernel: role and address of the live sync word of each channel.
pub type ChannelPlaces = Vec<(ChannelRole, Option<u64>)>;

/// `eth_channel_role_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelRole {
    /// The table has no role.
    #[default]
    Unused,
    /// This end sends payload.
    Sender,
    /// This end receives payload.
    Receiver,
    /// The handshake at start.
    Handshake,
}

impl ImageMap {
    /// The kind of chip that the firmware room's images are built for.
    pub const FIRMWARE_CHIP: ChipKind = ChipKind::Wormhole;

    /// Makes an empty map for a kind of chip.
    pub fn new(chip: ChipKind) -> Self {
        Self { chip, ..Self::default() }
    }

    /// Returns the built-in images, none of them opened, and problems with those that run on no
    /// known core.
    pub fn firmware() -> (Self, Vec<String>) {
        let mut map = Self::new(Self::FIRMWARE_CHIP);
        let mut problems = Vec::new();
        for image in firmware::images() {
            match core_named(image.core) {
                Some(core) => map.add(Image::embedded(map.chip, image, role(image.role), core)),
                None => problems.push(format!("{}: no core is called {}", image.name, image.core)),
            }
        }
        (map, problems)
    }

    /// Returns the kind of chip that the images run on.
    pub fn chip(&self) -> ChipKind {
        self.chip
    }

    /// Returns the layout of that kind of chip.
    pub fn layout(&self) -> &'static ChipLayout {
        self.chip.layout()
    }

    /// Adds an image.
    pub fn add(&mut self, image: Image) {
        self.starts.add(self.images.len(), &image);
        self.images.push(Arc::new(image));
    }

    /// Returns the image of this name.
    pub fn named(&self, name: &str) -> Option<&Arc<Image>> {
        self.images.iter().find(|image| image.name == name)
    }

    /// Records that an image is loaded on a core.
    pub fn declare(&mut self, core: CoreId, name: &str, evidence: Provenance) {
        if let Some(index) = self.images.iter().position(|image| image.name == name) {
            let known = Known::new(evidence, self.images[index].samples());
            self.on.entry(core).or_default().insert(index, known);
            self.unprove(core);
        }
    }

    /// Returns all images.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Image>> {
        self.images.iter()
    }

    /// Returns the images that can run on a kind of core.
    pub fn candidates(&self, core: CoreKind) -> impl Iterator<Item = &Arc<Image>> {
        self.images.iter().filter(move |image| image.core == core)
    }

    /// Returns a core's mailbox with the image that describes it: the highest image below the
    /// kernels on the core itself, else (on a Tensix tile) that on its BRISC.
    pub fn mailbox_of(&self, core: CoreId) -> Option<(&Mailbox, &Image)> {
        let on_core = |core: CoreId| {
            let mut own = self.resolved(core).into_iter().map(|load| load.image);
            let own = own.find(|image| image.role != ImageRole::Kernel && image.mailbox.is_some());
            own.and_then(|image| Some((image.mailbox.as_ref()?, image)))
        };
        on_core(core).or_else(|| match core.core {
            CoreKind::Erisc => None,
            _ => on_core(CoreId { core: CoreKind::Brisc, ..core }),
        })
    }

    /// Returns the router, mux or client of the fabric that is resolved on a core.
    pub fn fabric_image(&self, core: CoreId) -> Option<&Image> {
        let known = self.on.get(&core)?;
        let any = known.keys().any(|index| self.images.get(*index).is_some_and(|i| i.is_fabric()));
        let mut resolved = if any { self.resolved(core) } else { Vec::new() }.into_iter();
        resolved.find(|load| load.image.is_fabric()).map(|load| load.image)
    }

    /// Returns the tiles of all routers, muxes and clients.
    pub fn fabric_tiles(&self) -> BTreeSet<(ChipId, NocXy)> {
        let cores = self.on.keys().filter(|core| self.fabric_image(**core).is_some());
        cores.map(|core| (core.chip, core.tile)).chain(self.described_tiles()).collect()
    }

    /// Returns every structure of L1 that the images of a core describe: the kernels' own, then
    /// those that firmware shares with the host.
    pub fn outlines(&self, core: CoreId) -> Vec<Outline> {
        let own = self.resolved(core).into_iter().filter_map(|load| load.image.own().cloned());
        let shared = self.mailbox_of(core).map_or(&[][..], |(_, image)| image.shared(image.layout));
        own.chain(shared.iter().cloned()).collect()
    }

    /// Returns roles and live sync words of a core's channels.
    pub fn channel_places(&self, core: CoreId) -> &[(ChannelRole, Option<u64>)] {
        self.places.get(&core).map_or(&[], Vec::as_slice)
    }

    /// Returns every address at which a core's kernel has had a live sync word.
    pub fn channel_syncs(&self, core: CoreId) -> impl Iterator<Item = u64> {
        self.syncs.get(&core).into_iter().flatten().copied()
    }

    /// Puts an image of a directory on a core.
    pub(crate) fn place(&mut self, core: CoreId, index: usize, known: Known) {
        self.on.entry(core).or_default().insert(index, known);
    }

    /// Removes a core's images of the directories in one layer, and returns them.
    pub(crate) fn withdraw(&mut self, core: CoreId, role: ImageRole) -> BTreeMap<usize, Known> {
        let images = &self.images;
        let of_role = |index: &usize| {
            images.get(*index).is_some_and(|image| image.path.is_some() && image.role == role)
        };
        let on = self.on.entry(core).or_default();
        on.extract_if(.., |index, _| of_role(index)).collect()
    }

    /// Adds an image of a directory, and returns its index.
    pub(crate) fn take(&mut self, image: Image) -> usize {
        self.add(image);
        self.images.len() - 1
    }

    /// Returns the mailbox that an image describes.
    pub(crate) fn mailbox_at(&self, index: usize) -> Option<&Mailbox> {
        self.images.get(index)?.mailbox.as_ref()
    }

    /// Replaces the findings of a core.
    pub(crate) fn set_findings(&mut self, core: CoreId, findings: Vec<ImageFinding>) {
        self.findings.insert(core, findings);
    }

    /// Adds a finding of a core.
    pub(crate) fn add_finding(&mut self, core: CoreId, finding: ImageFinding) {
        self.findings.entry(core).or_default().push(finding);
    }

    /// Returns the image at this index.
    pub(crate) fn get(&self, index: usize) -> Option<&Arc<Image>> {
        self.images.get(index)
    }
}

/// Returns the kind of core that tt-metal calls by this name.
pub fn core_named(name: &str) -> Option<CoreKind> {
    use CoreKind::{Brisc, Erisc, Ncrisc, Trisc0, Trisc1, Trisc2};
    [Brisc, Ncrisc, Trisc0, Trisc1, Trisc2, Erisc].into_iter().find(|core| core.name() == name)
}

fn role(role: firmware::Role) -> ImageRole {
    match role {
        firmware::Role::BaseFirmware => ImageRole::BaseFirmware,
        firmware::Role::Application => ImageRole::Application,
        firmware::Role::Kernel => ImageRole::Kernel,
    }
}
