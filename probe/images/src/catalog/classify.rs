//! The kind of a file, by name and folder (tt-metal.md 8.1, tt-metal.md 8.2, tt-metal.md 8.3).

use super::CatalogEntry;
use super::records::Log;
use super::walk::Folder;
use crate::kinds::ImageRole;
use crate::{core_named, role};
use layouts::CoreKind;
use std::io::Read;
use std::path::Path;

/// The kind of a file.
pub(super) enum FileKind {
    /// An ELF for a known core: one entry for each layer that it can belong to.
    Elfs(Vec<CatalogEntry>),
    /// A log with kernel numbers.
    Log(Log),
    /// An ELF for RISC-V whose name has no core.
    Nameless,
    /// Another file.
    Nothing,
}

/// A build with firmware for this target is for another chip (tt-metal.md 8.1).
const OTHER_CHIPS_TARGET: &str = "active_erisc";
/// The folder of a build that holds its kernels.
const KERNELS: &str = "kernels";
/// The folder of a build that holds its firmware.
const FIRMWARE: &str = "firmware";

/// Returns core and layer of the firmware of a tt-metal target.
fn target(name: &str) -> Option<(CoreKind, ImageRole)> {
    match name {
        // Replaces base firmware on unused links.
        "idle_erisc" => Some((CoreKind::Erisc, ImageRole::BaseFirmware)),
        "erisc" => Some((CoreKind::Erisc, ImageRole::Application)),
        _ => core_named(name).map(|core| (core, ImageRole::BaseFirmware)),
    }
}

pub(super) fn classify(folder: &Folder, name: &str) -> FileKind {
    // Most files of a cache are none of these: no path is made for them.
    let path = || folder.path.join(name);
    if let Some(log) = Log::named(name) {
        return FileKind::Log(log);
    }
    let stem = match name.strip_suffix(".elf") {
        // A copy for kernels to link against, and one with the text as loaded.
        Some(stem) if stem.ends_with("_weakened") || stem.ends_with(".elf.xip") => {
            return FileKind::Nothing;
        }
        Some(stem) => stem,
        None if folder.is_root && !name.contains('.') && is_risc_v(&path()) => name,
        None => return FileKind::Nothing,
    };
    let placed = format!("{name}.xip.elf");
    let placed = folder.files.binary_search(&placed).is_ok().then(|| folder.path.join(placed));
    let entry = |core, role, key: &str, name: String| CatalogEntry {
        attached: false,
        path: path(),
        name,
        key: key.to_owned(),
        core,
        role,
        placed: placed.clone(),
    };
    let is_root = folder.is_root;
    let above: Vec<&str> = folder.path.iter().rev().filter_map(|part| part.to_str()).collect();
    match (target(stem), &above[..]) {
        (_, [own, ..]) if *own == stem && is_other_chips(folder) => FileKind::Nothing,
        (Some((core, _)), [own, hash, kernel, parent, ..])
            if *own == stem && *parent == KERNELS =>
        {
            let name = format!("{kernel}/{stem}");
            FileKind::Elfs(vec![entry(core, ImageRole::Kernel, hash, name)])
        }
        (Some((core, role)), [own, key, rest @ ..]) if *own == stem => {
            let key = match rest {
                [FIRMWARE, key, ..] => key,
                _ => key,
            };
            FileKind::Elfs(vec![entry(core, role, key, format!("{key}/{stem}"))])
        }
        // Only its text decides which layer it is.
        (Some((core, role)), _) => {
            let name = match above.first() {
                Some(folder) if !is_root => format!("{folder}/{stem}"),
                _ => stem.to_owned(),
            };
            let layer = |role| entry(core, role, "", name.clone());
            FileKind::Elfs([role, ImageRole::Kernel].map(layer).into())
        }
        (None, _) => match standalone(stem) {
            Some((core, roles)) => {
                let each = roles.iter().map(|role| entry(core, *role, "", stem.to_owned()));
                FileKind::Elfs(each.collect())
            }
            None if is_risc_v(&path()) => FileKind::Nameless,
            None => FileKind::Nothing,
        },
    }
}

/// Whether the build has firmware for a core that no supported chip has.
fn is_other_chips(folder: &Folder) -> bool {
    folder.siblings.iter().any(|name| name == OTHER_CHIPS_TARGET)
}

/// Returns core and layers of a standalone ELF: those of the built-in image of its name, else the
/// core in its name, as firmware and as a kernel, because only its text decides.
fn standalone(stem: &str) -> Option<(CoreKind, Vec<ImageRole>)> {
    if let Some(own) = firmware::images().iter().find(|image| image.name == stem) {
        return Some((core_named(own.core)?, vec![role(own.role)]));
    }
    let idle = stem.contains("idle_erisc").then_some("idle_erisc");
    let mut words = idle.into_iter().chain(stem.split(|c: char| !c.is_ascii_alphanumeric()));
    let (core, firmware) = words.find_map(target)?;
    Some((core, vec![firmware, ImageRole::Kernel]))
}

/// Whether the file begins with the header of an ELF for RISC-V.
fn is_risc_v(path: &Path) -> bool {
    const MACHINE: std::ops::Range<usize> = 18..20;
    const RISC_V: [u8; 2] = [243, 0];
    let mut head = [0; MACHINE.end];
    let Ok(mut file) = files::open(path, files::Kind::ELF) else { return false };
    file.read_exact(&mut head).is_ok() && head.starts_with(b"\x7FELF") && head[MACHINE] == RISC_V
}
