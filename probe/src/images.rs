//! Which image runs on which core, and how that is known: all decoding asks this and nothing else.

mod channels;
mod mailbox;
mod outline;
mod pointers;
mod signals;
mod spots;
mod waypoints;

pub use channels::Channels;
pub(crate) use channels::{ChannelTable, Sync};
pub use mailbox::Mailbox;
pub use outline::{Node, Outline};
pub(crate) use pointers::member;
pub use pointers::written_out;
pub use signals::Signals;
pub use spots::{Spot, spots};
pub use waypoints::WaypointPlace;
pub(crate) use waypoints::code as waypoint_code;

use crate::snapshot::Snapshot;
use crate::state::{ImageEvidence, ImageRole};
use crate::target::Mesh;
use crate::wormhole::tile_kind;
use layouts::{CoreId, CoreKind, NocAddr, wormhole};
use std::collections::BTreeMap;
use std::sync::Arc;
use symbols::Symbols;

/// One ELF that can run on a kind of core, with everything that is asked of it resolved once.
#[derive(Debug)]
pub struct Image {
    /// Its name.
    pub name: String,
    /// The layer it belongs to.
    pub role: ImageRole,
    /// The kind of core it runs on.
    pub core: CoreKind,
    /// Its lowest load address.
    pub load_addr: u32,
    /// Its names.
    pub symbols: Symbols,
    /// Its mailbox, if it has one.
    pub mailbox: Option<Mailbox>,
    /// The table of its channels, if it has one.
    pub(crate) channel_table: Option<ChannelTable>,
    /// Where its code sets waypoints.
    pub waypoints: Vec<WaypointPlace>,
    /// Where its build id stands in L1, and what stands there while the image is loaded.
    pub build_id: Option<(u64, Vec<u8>)>,
    /// Its own progress words: scalar members of the globals named `*_state`.
    pub state: Vec<Spot>,
    /// The scalars that are told of a core whose mailbox this image describes.
    pub(crate) told: Vec<Spot>,
    /// The same global with every member.
    pub(crate) own: Option<Outline>,
    /// What it shares with the host, with every member.
    pub(crate) shared: Vec<Outline>,
}

/// The image's symbol that proves it.
const BUILD_ID: &str = "meshscope_build_id";
/// A kernel's progress words stand in a global whose name ends so.
const STATE_SUFFIX: &str = "_state";

impl Image {
    /// Takes what an ELF says as an image for that kind of core.
    pub fn new(name: &str, role: ImageRole, core: CoreKind, symbols: Symbols) -> Self {
        let segments = symbols.segments();
        let load_addr = segments.iter().map(|s| s.load_address as u32).min().unwrap_or_default();
        let build_id = symbols.symbol(BUILD_ID).and_then(|symbol| {
            Some((symbol.address, symbols.file_bytes(symbol.address, symbol.size)?.to_vec()))
        });
        let state = format!("{name}{STATE_SUFFIX}");
        Self {
            name: name.to_owned(),
            role,
            core,
            load_addr,
            mailbox: Mailbox::find(&symbols),
            channel_table: channels::channel_table(&symbols),
            waypoints: waypoints::read(&symbols),
            build_id,
            told: spots::told(&symbols),
            own: Outline::global(&symbols, &state),
            shared: Outline::shared(&symbols),
            state: spots(&symbols, &state),
            symbols,
        }
    }
}

/// Per core kind the images that may run there, and per core those that do.
#[derive(Clone, Debug, Default)]
pub struct ImageMap {
    images: Vec<Arc<Image>>,
    on: BTreeMap<CoreId, BTreeMap<usize, ImageEvidence>>,
    /// Where the live sync words of a core's channels stand, as its kernel's tables say.
    places: BTreeMap<CoreId, ChannelPlaces>,
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
    /// The images of the firmware room, and what could not be read of them.
    pub fn firmware() -> (Self, Vec<String>) {
        let mut map = Self::default();
        let mut problems = Vec::new();
        for image in firmware::images() {
            let Some(core) = core_named(image.core) else {
                problems.push(format!("{}: no core is called {}", image.name, image.core));
                continue;
            };
            match Symbols::load(image.elf, image.name) {
                Ok((symbols, _)) => {
                    map.add(Image::new(image.name, role(image.role), core, symbols));
                }
                Err(problem) => problems.push(format!("{}: {problem}", image.name)),
            }
        }
        (map, problems)
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
    pub fn tell(&mut self, core: CoreId, name: &str, evidence: ImageEvidence) {
        if let Some(index) = self.images.iter().position(|image| image.name == name) {
            self.on.entry(core).or_default().insert(index, evidence);
        }
    }

    /// The images on a core, base firmware first, kernels last.
    pub fn on(&self, core: CoreId) -> Vec<(&Image, ImageEvidence)> {
        let known = self.on.get(&core).into_iter().flatten();
        let mut images: Vec<_> = known
            .filter_map(|(&index, &evidence)| Some((self.images.get(index)?.as_ref(), evidence)))
            .collect();
        images.sort_by_key(|(image, _)| image.role);
        images
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
            let layers = self.on(core).into_iter().rev();
            let mut own = layers.filter(|(image, evidence)| {
                image.role != ImageRole::Kernel && *evidence != ImageEvidence::Mismatch
            });
            own.find_map(|(image, _)| Some((image.mailbox.as_ref()?, image)))
        };
        of(core).or_else(|| match core.core {
            CoreKind::Erisc => None,
            _ => of(CoreId { core: CoreKind::Brisc, ..core }),
        })
    }

    /// Every structure of L1 that the images of a core describe: what its kernels keep, then what firmware shares
    /// with the host.
    pub fn outlines(&self, core: CoreId) -> Vec<Outline> {
        let layers = self.on(core).into_iter().rev();
        let believed = layers.filter(|(_, evidence)| *evidence != ImageEvidence::Mismatch);
        let own = believed.filter_map(|(image, _)| image.own.clone());
        let shared = self.mailbox_of(core).map_or(&[][..], |(_, image)| &image.shared);
        own.chain(shared.iter().cloned()).collect()
    }

    /// What is known of a core's channels.
    pub fn channel_places(&self, core: CoreId) -> &[(ChannelRole, Option<u64>)] {
        self.places.get(&core).map_or(&[], Vec::as_slice)
    }

    /// Takes the proofs that a look brought: build ids that stand in L1, and channel tables.
    pub fn learn(&mut self, mesh: &Mesh, shot: &Snapshot) {
        for chip in &mesh.chips {
            for tile in wormhole().grid() {
                for &core in tile_kind(tile.xy).cores() {
                    let core = CoreId { chip: chip.id, tile: tile.xy, core };
                    self.prove(core, shot);
                    self.learn_places(core, shot);
                }
            }
        }
    }

    fn prove(&mut self, core: CoreId, shot: &Snapshot) {
        for (index, image) in self.images.iter().enumerate() {
            let (true, Some((at, id))) = (image.core == core.core, &image.build_id) else {
                continue;
            };
            let addr = NocAddr { chip: core.chip, tile: core.tile, offset: *at };
            let Ok(found) = shot.bytes(addr, id.len() as u32) else { continue };
            let on = self.on.entry(core).or_default();
            if found == id.as_slice() {
                on.insert(index, ImageEvidence::Proved);
            } else if let Some(told) = on.get_mut(&index) {
                // What was proved once has been replaced; what was told is not there.
                match told {
                    ImageEvidence::Proved => drop(on.remove(&index)),
                    _ => *told = ImageEvidence::Mismatch,
                }
            }
        }
    }

    fn learn_places(&mut self, core: CoreId, shot: &Snapshot) {
        if core.core != CoreKind::Erisc {
            return;
        }
        let kernel = self.on(core).into_iter().find(|(image, _)| image.role == ImageRole::Kernel);
        let table = kernel.and_then(|(image, _)| image.channel_table.as_ref());
        let Some(table) = table else { return };
        let addr = NocAddr { chip: core.chip, tile: core.tile, offset: table.address };
        if let Ok(bytes) = shot.bytes(addr, table.len()) {
            let places = table.read(bytes);
            self.places.insert(core, places);
        }
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
