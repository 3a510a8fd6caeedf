//! The firmware of the cores: sources, committed ELF images, and a crate that embeds them.
//!
//! `firmware/device` holds the C++ sources (freestanding, `rv32im`), `firmware/images` the ELF
//! images with DWARF, `firmware/manifest.toml` the compiler, the flags and a SHA-256 per image,
//! `firmware/device/LAUNCH.txt` the launch sequence of each image. `firmware/doc/tt-metal.md` lists
//! the words shared with tt-metal. An Ethernet core has three layers ([`Role`]): base firmware,
//! application, kernel; a Tensix core has the first and the last. Each [`EmbeddedImage`] carries its build
//! id in a loaded word, by which a host identifies it.
//!
//! In `firmware/device`: `base`, `app` and `tensix` are the lower layers; `kernels` has ring ping
//! and the worker; `edm` (data mover of a link), `ccl` (worker), `semaphore`, `link_bench` and
//! `link_race` are for collectives and their studies; `fabric` has routers, muxes and the clients'
//! side, a router image for each topology; `dispatch` is fast dispatch, for the study of muxes.
//!
//! ```
//! let kernel = firmware::image("ring_ping").expect("a built-in image");
//! assert_eq!((kernel.core, kernel.role), ("erisc", firmware::Role::Kernel));
//! assert!(kernel.elf.starts_with(b"\x7fELF"));
//! ```
//!
//! # Rebuilding
//!
//! Install `gcc-riscv64-unknown-elf` (Debian) and run
//!
//! ```text
//! firmware/build            # rebuilds the images, the cases and the manifest
//! firmware/build --check    # proves that the sources build the committed files, bit for bit
//! ```
//!
//! `firmware/cases` has small sources, and their images, for the tests of `symbols`: constructs
//! that firmware can have and neither the built-in images nor tt-metal's contain.
//! `firmware/cases/ask` writes the answers of gdb and LLVM about all images; the tests compare
//! `symbols` with them.
//!
//! # Invariants
//!
//! The images are real Wormhole code: they access what silicon has, at its addresses, and run on
//! the emulator, on the vendor's simulator and on silicon. The crate has no logic.
#![forbid(unsafe_code)]

/// Makes the table of images from their name, layer, number, core, build id and its address, and
/// segments.
macro_rules! images {
    ($(
        $name:literal, $role:ident, $kernel_id:expr, $core:literal, $build_id:literal at $at:literal:
        $(($($segment:expr),+)),+;
    )+) => {
        pub(crate) static IMAGES: &[crate::EmbeddedImage] = &[$(crate::EmbeddedImage {
            name: $name,
            role: crate::Role::$role,
            kernel_id: $kernel_id,
            core: $core,
            elf: include_bytes!(concat!("../images/", $name, ".elf")),
            build_id: $build_id,
            build_id_at: $at,
            segments: &[$(crate::LoadSegment::new($($segment),+)),+],
        }),+];
    };
}

mod images;

/// The layer of an image on its core. An Ethernet core has all three layers, a Tensix core the
/// first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs from reset.
    BaseFirmware,
    /// Takes an Ethernet core over from its base firmware at the host's request.
    Application,
    /// Runs from a go message until it is done.
    Kernel,
}

/// One committed ELF image with its identity.
#[derive(Clone, Copy)]
pub struct EmbeddedImage {
    /// File name without `.elf`, for example `ring_ping`.
    pub name: &'static str,
    /// Its layer.
    pub role: Role,
    /// The number by which launch messages name it; none if it is no kernel.
    pub kernel_id: Option<u16>,
    /// Its core: `erisc`, `brisc`, `ncrisc`, `trisc0`, `trisc1` or `trisc2`.
    pub core: &'static str,
    /// The ELF file, with DWARF 5. Its `PT_LOAD` segments are loaded at the same addresses of the
    /// tile's L1.
    pub elf: &'static [u8],
    /// The number behind the letters `meshscop` at the symbol `meshscope_build_id`, in L1 when the
    /// image is loaded.
    pub build_id: u64,
    /// The address of these letters.
    pub build_id_at: u32,
    /// What is loaded, in the order of the file.
    pub segments: &'static [LoadSegment],
}

/// One `PT_LOAD` header of an ELF: with it an image is loaded and recognised without being parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSegment {
    /// Its address as its core sees it.
    pub address: u32,
    /// The address where the loader puts it.
    pub load_address: u32,
    /// Where its bytes stand in the file.
    pub file: (u32, u32),
    /// Its size in memory; the part after the file's bytes is zero.
    pub memory_size: u32,
    /// Whether it holds code.
    pub executable: bool,
    /// Whether the program writes to it.
    pub writable: bool,
}

impl LoadSegment {
    /// Makes a segment from what `readelf` prints; `flags` has an E for code and a W for data.
    const fn new(
        address: u32,
        load_address: u32,
        file: (u32, u32),
        memory_size: u32,
        flags: &str,
    ) -> Self {
        let (mut executable, mut writable) = (false, false);
        let mut rest = flags.as_bytes();
        while let [flag, others @ ..] = rest {
            executable |= *flag == b'E';
            writable |= *flag == b'W';
            rest = others;
        }
        Self { address, load_address, file, memory_size, executable, writable }
    }
}

impl EmbeddedImage {
    /// Returns the bytes at `meshscope_build_id`.
    pub fn build_id_bytes(&self) -> [u8; 16] {
        let [letters, number] = [*b"meshscop", self.build_id.to_le_bytes()];
        std::array::from_fn(|at| if at < 8 { letters[at] } else { number[at - 8] })
    }

    /// Returns the bytes of a segment; none of one that the file does not have.
    pub fn bytes_of(&self, segment: &LoadSegment) -> &'static [u8] {
        let (start, len) = (segment.file.0 as usize, segment.file.1 as usize);
        self.elf.get(start..start + len).unwrap_or_default()
    }
}

impl std::fmt::Debug for EmbeddedImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {:016x})", self.name, self.core, self.build_id)
    }
}

/// Returns all images, in the order of the manifest.
pub fn images() -> &'static [EmbeddedImage] {
    images::IMAGES
}

/// Returns the image of that name.
pub fn image(name: &str) -> Option<&'static EmbeddedImage> {
    images().iter().find(|image| image.name == name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_image_carries_its_build_id() {
        for image in super::images() {
            let mut word = b"meshscop".to_vec();
            word.extend(image.build_id.to_le_bytes());
            let found = image.elf.windows(word.len()).filter(|bytes| *bytes == word).count();
            assert_eq!(found, 1, "{image:?}");
        }
    }

    #[test]
    fn manifest_and_embedded_images_agree() {
        let manifest = include_str!("../manifest.toml");
        for image in super::images() {
            assert!(manifest.contains(&format!("name = \"{}\"", image.name)), "{image:?}");
            assert!(
                manifest.contains(&format!("build_id = \"{:016x}\"", image.build_id)),
                "{image:?}"
            );
            if let Some(id) = image.kernel_id {
                let lines =
                    format!("name = \"{}\"\nrole = \"kernel\"\nkernel_id = {id}\n", image.name);
                assert!(manifest.contains(&lines), "{image:?}");
            }
        }
        assert_eq!(manifest.matches("[[image]]").count(), super::images().len());
    }

    #[test]
    fn every_kernel_has_a_number_of_its_own() {
        let mut known = std::collections::HashSet::new();
        for image in super::images() {
            assert_eq!(image.kernel_id.is_some(), image.role == super::Role::Kernel, "{image:?}");
            assert!(image.kernel_id.is_none_or(|id| id > 0 && known.insert(id)), "{image:?}");
        }
    }

    #[test]
    fn images_are_found_by_name() {
        assert_eq!(super::image("ring_ping").map(|i| i.core), Some("erisc"));
        assert!(super::image("nothing").is_none());
    }
}
