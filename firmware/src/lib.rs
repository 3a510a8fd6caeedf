//! The firmware images that run on the cores, embedded; the Rust side does nothing else.
//!
//! The C++ sources are in `firmware/device`, the committed ELF files in `firmware/images`; `firmware/build` makes them,
//! `firmware/manifest.toml` pins them and `firmware/device/LAUNCH.txt` says how a host starts each of them.
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
        }
        assert_eq!(manifest.matches("[[image]]").count(), super::images().len());
    }

    #[test]
    fn images_are_found_by_name() {
        assert_eq!(super::image("ring_ping").map(|i| i.core), Some("erisc"));
        assert!(super::image("nothing").is_none());
    }
}
