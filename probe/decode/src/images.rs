//! Which image runs on which core, and how that is known: all decoding asks this and nothing else.

pub mod catalog;
mod channels;
mod finding;
mod kinds;
mod known;
mod library;
mod mailbox;
mod outline;
mod pointers;
mod proofs;
mod signals;
mod spots;
mod text;
mod waypoints;

pub use catalog::{Catalog, CatalogError};
pub use channels::Channels;
pub(crate) use channels::{ChannelTable, Sync};
pub use finding::ImageFinding;
pub use kinds::{GoSignal, ImageRole, Provenance, SourceLine};
pub use known::LoadedImage;
pub use library::Library;
pub use mailbox::Mailbox;
pub use outline::{Node, Outline};
pub use pointers::member;
pub use pointers::{WrittenOut, written_out};
pub use signals::Signals;
pub use spots::{Spot, spots};
pub use text::{Comparison, Difference, TextCheck};
pub use waypoints::WaypointPlace;
pub use waypoints::code as waypoint_code;

use crate::fabric::{ClientLayout, MuxLayout, RouterLayout};
use known::Known;
use layouts::{ChipId, ChipKind, ChipLayout, CoreId, CoreKind, NocXy};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use symbols::Symbols;

/// `watcher_kernel_ids` of a launch message that names no kernel.
const NO_KERNEL: u16 = 0;

/// One ELF that can run on a kind of core, with everything that is asked of it resolved once.
#[derive(Debug)]
pub struct Image {
    /// Its name.
    pub name: String,
    /// The layer it belongs to.
    pub role: ImageRole,
    /// The kind of core it runs on.
    pub core: CoreKind,
    /// What is where on the chips it runs on.
    pub layout: &'static ChipLayout,
    /// Its lowest load address.
    pub load_addr: u32,
    /// Its names.
    pub symbols: Symbols,
    /// Its mailbox, if it has one.
    pub mailbox: Option<Mailbox>,
    /// The table of its channels, if it has one.
    pub(crate) channel_table: Option<ChannelTable>,
    /// Its words as a router of the fabric, if it is one.
    pub(crate) router: Option<RouterLayout>,
    /// Its words as a mux, if it is one.
    pub(crate) mux: Option<MuxLayout>,
    /// Its connections to channels of routers and muxes.
    pub(crate) clients: Vec<ClientLayout>,
    /// The number by which launch messages name it; 0 if it is no built-in kernel.
    pub kernel_id: u16,
    /// Where its code sets waypoints.
    pub waypoints: Vec<WaypointPlace>,
    /// Where its build id stands in L1, and what stands there while the image is loaded.
    pub build_id: Option<(u64, Vec<u8>)>,
    /// Its own progress words: scalar members of the globals named `*_state`.
    pub state: Vec<Spot>,
    /// The scalars that are told of a core whose mailbox this image describes.
    pub(crate) summary: Vec<Spot>,
    /// The same global with every member.
    pub(crate) own: Option<Outline>,
    /// What it shares with the host, with every member.
    pub(crate) shared: Vec<Outline>,
    /// The file of a directory that it was opened from.
    pub path: Option<PathBuf>,
    /// The same image with its text as it is loaded, where that is another than the linked one.
    pub(crate) placed: Option<Symbols>,
}

/// The image's symbol that proves it.
const BUILD_ID: &str = "meshscope_build_id";
/// A kernel's progress words stand in a global whose name ends so.
const STATE_SUFFIX: &str = "_state";

/// The global of a kernel's progress words: named after the image, or after the family that it is of, as that of
/// `fabric_router_mesh` after `fabric_router`.
fn state_of(symbols: &Symbols, image: &str) -> String {
    let families = image.rmatch_indices('_').map(|(end, _)| &image[..end]);
    let globals = [image].into_iter().chain(families).map(|name| format!("{name}{STATE_SUFFIX}"));
    let found = globals.into_iter().find(|global| symbols.locate(global).is_ok());
    found.unwrap_or_else(|| format!("{image}{STATE_SUFFIX}"))
}

impl Image {
    /// Takes what an ELF says as an image for that kind of core.
    pub fn new(
        chip: ChipKind,
        name: &str,
        role: ImageRole,
        core: CoreKind,
        symbols: Symbols,
    ) -> Self {
        let layout = chip.layout();
        let segments = symbols.segments();
        // Of an image without segments nothing is ever looked for.
        let load_addr = segments.iter().map(|s| s.load_address as u32).min().map_or(0, |at| at);
        let build_id = symbols.symbol(BUILD_ID).and_then(|symbol| {
            Some((symbol.address, symbols.file_bytes(symbol.address, symbol.size)?.to_vec()))
        });
        let state = state_of(&symbols, name);
        Self {
            name: name.to_owned(),
            role,
            core,
            layout,
            load_addr,
            mailbox: Mailbox::find(layout, &symbols),
            channel_table: channels::channel_table(layout, &symbols),
            router: RouterLayout::find(layout, &symbols),
            mux: MuxLayout::find(layout, &symbols),
            clients: ClientLayout::find(layout, &symbols, &state),
            kernel_id: NO_KERNEL,
            waypoints: waypoints::read(&symbols),
            build_id,
            summary: spots::summary(layout, &symbols),
            own: Outline::global(&symbols, &state),
            shared: Outline::shared(layout, &symbols),
            state: spots(layout, &symbols, &state),
            path: None,
            placed: None,
            symbols,
        }
    }

    /// It is a router, a mux or a client of one.
    pub(crate) fn is_fabric(&self) -> bool {
        self.router.is_some() || self.mux.is_some() || !self.clients.is_empty()
    }

    /// The place and value of the build id, for an image that is proved by it: one of a directory may
    /// be a copy that was moved, and is proved by its text.
    pub(crate) fn proof(&self) -> Option<&(u64, Vec<u8>)> {
        self.build_id.as_ref().filter(|_| self.path.is_none())
    }
}

/// Per core kind the images that may run there, and per core those that do.
#[derive(Clone, Debug)]
pub struct ImageMap {
    /// The kind of chip that they run on.
    chip: ChipKind,
    images: Vec<Arc<Image>>,
    on: BTreeMap<CoreId, BTreeMap<usize, Known>>,
    /// What the last search of the directories did not find.
    findings: BTreeMap<CoreId, Vec<ImageFinding>>,
    /// Where the live sync words of a core's channels stand, as its kernel's tables say.
    places: BTreeMap<CoreId, ChannelPlaces>,
    /// Every place at which a kernel's table had a live sync word: it goes round through the buffers.
    syncs: BTreeMap<CoreId, BTreeSet<u64>>,
}

/// `eth_channel_places` of a kernel: a role and the address of the live sync word per channel.
pub type ChannelPlaces = Vec<(ChannelRole, Option<u64>)>;

/// `eth_channel_role_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelRole {
    /// Nothing is said.
    #[default]
    Unused,
    /// This end sends payload.
    Sender,
    /// This end receives payload.
    Receiver,
    /// Handshake at start.
    Handshake,
}

impl ImageMap {
    /// The kind of chip that the firmware room's images are built for.
    pub const FIRMWARE_CHIP: ChipKind = ChipKind::Wormhole;

    /// No image yet of those that run on this kind of chip.
    pub fn new(chip: ChipKind) -> Self {
        Self {
            chip,
            images: Vec::new(),
            on: BTreeMap::new(),
            findings: BTreeMap::new(),
            places: BTreeMap::new(),
            syncs: BTreeMap::new(),
        }
    }

    /// The images of the firmware room, and what could not be read of them.
    pub fn firmware() -> (Self, Vec<String>) {
        let mut map = Self::new(Self::FIRMWARE_CHIP);
        let mut problems = Vec::new();
        for image in firmware::images() {
            let Some(core) = core_named(image.core) else {
                problems.push(format!("{}: no core is called {}", image.name, image.core));
                continue;
            };
            match Symbols::load(image.elf, image.name) {
                Ok((symbols, _)) => {
                    let kernel_id = image.kernel_id.unwrap_or(NO_KERNEL);
                    let own = Image::new(map.chip, image.name, role(image.role), core, symbols);
                    map.add(Image { kernel_id, ..own });
                }
                Err(problem) => problems.push(format!("{}: {problem}", image.name)),
            }
        }
        (map, problems)
    }

    /// The kind of chip that the images run on.
    pub fn chip(&self) -> ChipKind {
        self.chip
    }

    /// What is where on it.
    pub fn layout(&self) -> &'static ChipLayout {
        self.chip.layout()
    }

    /// Adds an image that may run on its kind of core.
    pub fn add(&mut self, image: Image) {
        self.images.push(Arc::new(image));
    }

    /// The image of this name.
    pub fn named(&self, name: &str) -> Option<&Arc<Image>> {
        self.images.iter().find(|image| image.name == name)
    }

    /// Somebody says that this image was loaded on this core.
    pub fn declare(&mut self, core: CoreId, name: &str, evidence: Provenance) {
        if let Some(index) = self.images.iter().position(|image| image.name == name) {
            let known = Known::said(evidence, self.images[index].samples());
            self.on.entry(core).or_default().insert(index, known);
        }
    }

    /// Every image.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Image>> {
        self.images.iter()
    }

    /// The images that may run on a kind of core.
    pub fn candidates(&self, core: CoreKind) -> impl Iterator<Item = &Arc<Image>> {
        self.images.iter().filter(move |image| image.core == core)
    }

    /// The mailbox that a core looks at, with the image that describes it: that of the highest image
    /// below the kernels on the core itself, else (for a Tensix tile) of the image on its BRISC.
    pub fn mailbox_of(&self, core: CoreId) -> Option<(&Mailbox, &Image)> {
        let of = |core: CoreId| {
            let mut own = self.resolved(core).into_iter().map(|load| load.image);
            let own = own.find(|image| image.role != ImageRole::Kernel && image.mailbox.is_some());
            own.and_then(|image| Some((image.mailbox.as_ref()?, image)))
        };
        of(core).or_else(|| match core.core {
            CoreKind::Erisc => None,
            _ => of(CoreId { core: CoreKind::Brisc, ..core }),
        })
    }

    /// The router, mux or client of the fabric that is believed to run on a core.
    pub(crate) fn fabric_image(&self, core: CoreId) -> Option<&Image> {
        let known = self.on.get(&core)?;
        let any = known.keys().any(|index| self.images.get(*index).is_some_and(|i| i.is_fabric()));
        let mut resolved = if any { self.resolved(core) } else { Vec::new() }.into_iter();
        resolved.find(|load| load.image.is_fabric()).map(|load| load.image)
    }

    /// The tiles of all of them.
    pub(crate) fn fabric_tiles(&self) -> BTreeSet<(ChipId, NocXy)> {
        let cores = self.on.keys().filter(|core| self.fabric_image(**core).is_some());
        cores.map(|core| (core.chip, core.tile)).collect()
    }

    /// Every structure of L1 that the images of a core describe: what its kernels keep, then what firmware shares
    /// with the host.
    pub fn outlines(&self, core: CoreId) -> Vec<Outline> {
        let own = self.resolved(core).into_iter().filter_map(|load| load.image.own.clone());
        let shared = self.mailbox_of(core).map_or(&[][..], |(_, image)| &image.shared);
        own.chain(shared.iter().cloned()).collect()
    }

    /// What is known of a core's channels.
    pub fn channel_places(&self, core: CoreId) -> &[(ChannelRole, Option<u64>)] {
        self.places.get(&core).map_or(&[], Vec::as_slice)
    }

    /// Where the live sync words of a core's channels may stand, as far as its kernel has shown.
    pub(crate) fn channel_syncs(&self, core: CoreId) -> impl Iterator<Item = u64> {
        self.syncs.get(&core).into_iter().flatten().copied()
    }

    /// Puts an image of a directory on a core.
    pub(crate) fn place(&mut self, core: CoreId, index: usize, known: Known) {
        self.on.entry(core).or_default().insert(index, known);
    }

    /// Takes away what the directories had for a layer of a core, and gives it.
    pub(crate) fn withdraw(&mut self, core: CoreId, role: ImageRole) -> BTreeMap<usize, Known> {
        let images = &self.images;
        let of_role = |index: &usize| {
            images.get(*index).is_some_and(|image| image.path.is_some() && image.role == role)
        };
        let on = self.on.entry(core).or_default();
        on.extract_if(.., |index, _| of_role(index)).collect()
    }

    /// Takes an image of a directory and gives its number.
    pub(crate) fn take(&mut self, image: Image) -> usize {
        self.add(image);
        self.images.len() - 1
    }

    /// What a search of the directories found wrong with a core.
    pub(crate) fn set_findings(&mut self, core: CoreId, findings: Vec<ImageFinding>) {
        self.findings.insert(core, findings);
    }

    /// One thing more.
    pub(crate) fn add_finding(&mut self, core: CoreId, finding: ImageFinding) {
        self.findings.entry(core).or_default().push(finding);
    }

    /// The image of this number.
    pub(crate) fn get(&self, index: usize) -> Option<&Arc<Image>> {
        self.images.get(index)
    }
}

/// The kind of core by tt-metal's name.
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
