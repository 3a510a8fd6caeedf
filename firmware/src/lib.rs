//! The firmware that runs on the cores: sources, committed ELF images, and a Rust side that only embeds them.
//!
//! `firmware/device` holds the C++ sources (freestanding, `rv32im`), `firmware/images` the ELF images with DWARF,
//! `firmware/manifest.toml` the compiler, the flags and a SHA-256 per image, `firmware/device/LAUNCH.txt` how a host starts each
//! of them. `firmware/doc/tt-metal.md` says which words of tt-metal they share. An Ethernet core has three layers ([`Role`]):
//! base firmware, application, kernel; a compute core has the first and the last. Each [`Image`] carries its build id in a loaded
//! word, by which a host knows it again.
//!
//! In `firmware/device`: `base`, `app` and `tensix` are the lower layers; `kernels` has ring ping and the worker; `edm` (data mover
//! of a link), `ccl` (worker), `semaphore`, `link_bench` and `link_race` are for collectives and their studies; `fabric` has routers,
//! muxes and the clients' side, a router image for each topology; `dispatch` is fast dispatch, for the study of muxes alone.
//!
//! ```
//! let kernel = firmware::image("ring_ping").expect("it is built in");
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
//! firmware/build --check    # proves that what is committed is what the sources give, bit for bit
//! ```
//!
//! `firmware/cases` are small sources, and what is built of them, for the tests of `symbols` alone: what firmware can have and
//! neither our images nor tt-metal's show. `firmware/cases/ask` writes what gdb and LLVM answer about all of them, which the
//! tests then ask `symbols`.
//!
//! # Invariants
//!
//! The images are real Wormhole code: they touch what silicon has, at its addresses, and run on the emulator, on the vendor's
//! simulator and on silicon. There is no logic here.
#![forbid(unsafe_code)]

mod images;

/// What an image is on its core: an Ethernet core has all three layers, a Tensix core the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs from reset.
    BaseFirmware,
    /// Takes an Ethernet core over from its base firmware when the host asks for it.
    Application,
    /// Runs from a go message until it is done.
    Kernel,
}

/// One committed ELF image with its identity.
#[derive(Clone, Copy)]
pub struct Image {
    /// File name without `.elf`, for example `ring_ping`.
    pub name: &'static str,
    /// The layer it is for.
    pub role: Role,
    /// The number by which launch messages name it, if it is a kernel; the manifest gives each its own.
    pub kernel_id: Option<u16>,
    /// The core it runs on: `erisc`, `brisc`, `ncrisc`, `trisc0`, `trisc1` or `trisc2`.
    pub core: &'static str,
    /// The ELF file, with DWARF 5. Its `PT_LOAD` segments go to the same addresses of the tile's L1.
    pub elf: &'static [u8],
    /// SHA-256 of `elf` in hexadecimal, as `firmware/manifest.toml` pins it.
    pub sha256: &'static str,
    /// The number behind the letters `meshscop` at the symbol `meshscope_build_id`, in L1 when the image is loaded.
    pub build_id: u64,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {:016x})", self.name, self.core, self.build_id)
    }
}

/// All images, in the order of the manifest.
pub fn images() -> &'static [Image] {
    images::IMAGES
}

/// The image of that name.
pub fn image(name: &str) -> Option<&'static Image> {
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
            assert!(manifest.contains(&format!("sha256 = \"{}\"", image.sha256)), "{image:?}");
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
