//! An image: what recognises and loads it, which costs nothing, and its contents, which are read at
//! the first question.

use super::contents::Contents;
use super::kinds::ImageRole;
use super::waypoints::WaypointPlace;
use crate::fabric::RouterManager;
use firmware::{EmbeddedImage, LoadSegment};
use layouts::{ChipKind, ChipLayout, CoreKind};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::OnceLock;
use symbols::{Segment, Symbols};

/// `watcher_kernel_ids` of a launch message that names no kernel.
const NO_KERNEL: u16 = 0;
/// The symbol of the image's build id.
const BUILD_ID: &str = "meshscope_build_id";

/// An ELF that can run on a kind of core. It dereferences to its [`Contents`]; a built-in image is
/// opened when they are first asked for.
#[derive(Debug)]
pub struct Image {
    /// The image's name.
    pub name: String,
    /// The layer it belongs to.
    pub role: ImageRole,
    /// The kind of core it runs on.
    pub core: CoreKind,
    /// The layout of the chips it runs on.
    pub layout: &'static ChipLayout,
    /// The kernel id in launch messages; 0 unless the image is a built-in kernel.
    pub kernel_id: u16,
    /// The L1 address and the bytes of the build id.
    pub build_id: Option<(u64, Vec<u8>)>,
    /// The file, for an image of a named directory.
    pub path: Option<PathBuf>,
    /// Whether a recording has it attached.
    pub attached: bool,
    /// The same image with its text as loaded, if that differs from the linked text.
    pub(crate) placed: Option<Symbols>,
    file: ImageFile,
    contents: OnceLock<Contents>,
}

/// The ELF of an image.
#[derive(Debug)]
enum ImageFile {
    /// A built-in image, which its index describes until it is opened.
    Embedded(&'static EmbeddedImage),
    /// An opened file.
    Opened(Symbols),
}

impl Image {
    /// Makes an image for a kind of core from an ELF.
    pub fn new(
        chip: ChipKind,
        name: &str,
        role: ImageRole,
        core: CoreKind,
        symbols: Symbols,
    ) -> Self {
        let build_id = symbols.symbol(BUILD_ID).and_then(|symbol| {
            Some((symbol.address, symbols.file_bytes(symbol.address, symbol.size)?.to_vec()))
        });
        let file = ImageFile::Opened(symbols);
        Self { build_id, ..Self::unopened(chip, name, role, core, file) }
    }

    /// Makes a built-in image from its index.
    pub(super) fn embedded(
        chip: ChipKind,
        image: &'static EmbeddedImage,
        role: ImageRole,
        core: CoreKind,
    ) -> Self {
        Self {
            build_id: Some((image.build_id_at.into(), image.build_id_bytes().to_vec())),
            kernel_id: image.kernel_id.unwrap_or(NO_KERNEL),
            ..Self::unopened(chip, image.name, role, core, ImageFile::Embedded(image))
        }
    }

    fn unopened(
        chip: ChipKind,
        name: &str,
        role: ImageRole,
        core: CoreKind,
        file: ImageFile,
    ) -> Self {
        Self {
            name: name.to_owned(),
            role,
            core,
            layout: chip.layout(),
            kernel_id: NO_KERNEL,
            build_id: None,
            path: None,
            attached: false,
            placed: None,
            file,
            contents: OnceLock::new(),
        }
    }

    /// Whether its contents have been read.
    pub fn is_open(&self) -> bool {
        self.contents.get().is_some()
    }

    /// Returns the bytes of the ELF.
    pub fn elf(&self) -> &[u8] {
        match &self.file {
            ImageFile::Embedded(image) => image.elf,
            ImageFile::Opened(symbols) => symbols.elf(),
        }
    }

    /// Whether the ELF has debug information.
    pub fn has_debug_info(&self) -> bool {
        match &self.file {
            ImageFile::Embedded(_) => true,
            ImageFile::Opened(symbols) => symbols.has_debug_info(),
        }
    }

    /// Returns the loadable segments in file order.
    pub fn segments(&self) -> Vec<Segment<'_>> {
        match &self.file {
            ImageFile::Embedded(image) => {
                image.segments.iter().map(|part| segment(image, part)).collect()
            }
            ImageFile::Opened(symbols) => symbols.segments(),
        }
    }

    /// Returns the places that set this waypoint, of a core whose waypoint is at `word`.
    pub fn waypoint_places(&self, code: &str, word: u64) -> impl Iterator<Item = &WaypointPlace> {
        self.setters(word).filter(move |place| place.code == code)
    }

    /// Whether the image sets waypoints of a core whose waypoint is at `word`.
    pub fn sets_waypoints(&self, word: u64) -> bool {
        self.setters(word).next().is_some()
    }

    fn setters(&self, word: u64) -> impl Iterator<Item = &WaypointPlace> {
        let here = move |place: &&WaypointPlace| place.word.is_none_or(|at| u64::from(at) == word);
        self.waypoints().iter().filter(here)
    }

    /// Whether the image is a router of a fabric.
    pub fn is_router(&self) -> bool {
        self.router.is_some()
    }

    /// Returns the words with which the host pauses the image, if it is a router that has them.
    pub fn router_manager(&self) -> Option<RouterManager> {
        self.router.as_ref()?.manager()
    }

    /// Whether the image is a router, a mux or a client of one.
    pub(crate) fn is_fabric(&self) -> bool {
        self.router.is_some() || self.mux.is_some() || !self.clients.is_empty()
    }

    /// Returns address and value of the build id, for an image that its build id verifies. An image
    /// of a directory can be a relocated copy: its text verifies it.
    pub(crate) fn proof(&self) -> Option<&(u64, Vec<u8>)> {
        self.build_id.as_ref().filter(|_| self.path.is_none())
    }
}

impl Deref for Image {
    type Target = Contents;

    fn deref(&self) -> &Contents {
        self.contents.get_or_init(|| {
            let symbols = match &self.file {
                ImageFile::Embedded(image) => open(image),
                ImageFile::Opened(symbols) => symbols.clone(),
            };
            Contents::new(self.layout, self.core, &self.name, symbols)
        })
    }
}

#[expect(
    clippy::panic,
    reason = "the images are part of the program; `cargo test -p decode` opens each of them"
)]
fn open(image: &EmbeddedImage) -> Symbols {
    match Symbols::load(image.elf, image.name) {
        Ok((symbols, _)) => symbols,
        Err(error) => panic!("built-in image {}: {error}", image.name),
    }
}

fn segment(image: &EmbeddedImage, part: &LoadSegment) -> Segment<'static> {
    Segment {
        address: part.address.into(),
        load_address: part.load_address.into(),
        bytes: image.bytes_of(part),
        memory_size: part.memory_size.into(),
        executable: part.executable,
        writable: part.writable,
    }
}
