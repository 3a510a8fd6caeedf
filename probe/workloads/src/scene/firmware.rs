//! Firmware from a folder in the layout of tt-metal's builds: `<target>/<target>.elf`.

use super::SceneError;
use images::{Image, ImageMap, ImageRole, core_named};
use launch::{ControlError, Firmware, Operation, boot_tensix, start_application};
use layouts::{ChipKind, CoreKind, WritePermission};
use machine::place::Place;
use machine::snapshot::AccessError;
use machine::target::{Allow, Mesh, Target};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use symbols::Symbols;

/// The images of every core, checked for a kind of chip.
pub struct FirmwareFolder {
    firmware: Firmware,
    images: Vec<Image>,
}

impl FirmwareFolder {
    /// Reads a folder of firmware for chips of this kind.
    ///
    /// # Errors
    /// `Firmware`, with the file and what is missing or wrong.
    pub fn read(chip: ChipKind, folder: &Path) -> Result<Self, SceneError> {
        if !folder.is_dir() {
            return wrong(folder, "there is no such folder of firmware");
        }
        let firmware = Firmware::METAL;
        let targets = [firmware.application].into_iter().chain(firmware.tensix);
        let images = targets.map(|target| image(chip, folder, target)).collect::<Result<_, _>>()?;
        Ok(Self { firmware, images })
    }

    /// Adds the images to the map and returns their names.
    pub(crate) fn add_to(self, images: &mut ImageMap) -> Firmware {
        for image in self.images {
            images.add(image);
        }
        self.firmware
    }
}

fn wrong<T>(at: &Path, what: impl std::fmt::Display) -> Result<T, SceneError> {
    Err(SceneError::Firmware(format!("{}: {what}", at.display())))
}

fn image(chip: ChipKind, folder: &Path, target: &str) -> Result<Image, SceneError> {
    let path: PathBuf = folder.join(target).join(format!("{target}.elf"));
    let Some(core) = core_named(target) else { return wrong(&path, "no core has this name") };
    let bytes = match files::read(&path, files::Kind::ELF) {
        Ok(bytes) => bytes,
        Err(error) => return wrong(&path, error.reason()),
    };
    let symbols = match Symbols::load(bytes, &path.display().to_string()) {
        Ok((symbols, _)) => symbols,
        Err(error) => return wrong(&path, error),
    };
    let image = Image::new(chip, target, ImageRole::Application, core, symbols);
    fits(chip, &path, &image)?;
    Ok(image)
}

/// Checks that the image's entry and mailbox are at the addresses that base firmware and the host
/// use.
fn fits(chip: ChipKind, path: &Path, image: &Image) -> Result<(), SceneError> {
    let entry = image.symbols.entry();
    let eth = image.core == CoreKind::Erisc;
    if eth && entry != image.layout.eth.l1.application.at {
        let called = image.layout.eth.l1.application.at;
        let text = format!("it begins at {entry:#x}; base firmware of a {chip} calls {called:#x}");
        return wrong(path, text);
    }
    let owns_mailbox = matches!(image.core, CoreKind::Erisc | CoreKind::Brisc);
    let Some(mailbox) = image.mailbox.as_ref().filter(|_| owns_mailbox) else {
        let text = "its debug information does not describe mailboxes_t";
        return if owns_mailbox { wrong(path, text) } else { Ok(()) };
    };
    let place = if eth { &image.layout.eth.l1.mailbox } else { &image.layout.tensix.l1.mailbox };
    if mailbox.base < place.at || mailbox.base.saturating_add(mailbox.bytes) > place.end() {
        let (base, own) = (mailbox.base, place.at);
        let text = format!("its mailbox is at {base:#x}; that of a {chip} is at {own:#x}");
        return wrong(path, text);
    }
    Ok(())
}

/// Permissions that booting needs.
const NEEDS: [WritePermission; 3] =
    [WritePermission::Launch, WritePermission::Write, WritePermission::Reset];

/// Returns an error if a permission that booting needs is missing.
///
/// # Errors
/// `Access`, which names the missing permissions.
pub fn allowed(allow: Allow) -> Result<(), SceneError> {
    let missing = NEEDS.into_iter().filter(|need| !allow.covers(*need)).map(WritePermission::word);
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!("booting firmware there needs --allow {}", missing.join(","));
    Err(SceneError::Access(AccessError::Refused(text)))
}

/// Boots compute tiles, and starts the application on both ends of every link.
///
/// # Errors
/// What did not boot.
pub(crate) fn boot(
    firmware: Firmware,
    tiles: &[Place],
    target: &mut dyn Target,
    images: &mut ImageMap,
) -> Result<(), SceneError> {
    let linked = linked(target.mesh())?;
    let boots = tiles.iter().map(|&place| boot_tensix(images, firmware, place));
    Operation::finish_all(boots.collect::<Result<_, _>>()?, target)?;
    // One after the other: while a tile restarts, the host reaches far chips through another tile.
    for place in linked {
        start_application(images, firmware, place)?.finish(target)?;
    }
    Ok(())
}

fn linked(mesh: &Mesh) -> Result<BTreeSet<Place>, ControlError> {
    let ends = mesh.links.iter().flat_map(|link| [link.a, link.b]);
    ends.map(|end| Ok(mesh.place(end)?)).collect()
}
