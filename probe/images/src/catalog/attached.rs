//! ELFs attached to a recording: their names, which say what each is, and their place in a catalog.

use super::{Catalog, CatalogEntry};
use crate::kinds::ImageRole;
use crate::{Image, ImageMap, core_named};
use layouts::CoreKind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The last part of the name of an ELF with the text as loaded.
const PLACED: &str = ".placed";

/// Names an image: its layer, its core, a number of its own in the recording, and its name.
fn attachment_name(image: &Image, number: usize) -> String {
    format!("{}/{}/{number}/{}", image.role.name(), image.core.name(), image.name)
}

/// Returns layer, core and image name of an attachment; none for a file that is no ELF of a core.
fn parse(name: &str) -> Option<(ImageRole, CoreKind, &str)> {
    let mut parts = name.splitn(4, '/');
    let role = parts.next().and_then(ImageRole::named)?;
    let core = parts.next().and_then(core_named)?;
    parts.next()?.parse::<usize>().ok()?;
    Some((role, core, parts.next()?))
}

impl Catalog {
    /// Adds a file that is attached to a recording; files that are no ELFs of a core are left out.
    pub fn attach(&mut self, recording: &Path, name: &str, bytes: Arc<[u8]>) {
        let Some((role, core, own)) = parse(name) else { return };
        let path = recording.join(name);
        self.attached.insert(path.clone(), bytes);
        if let Some(linked) = name.strip_suffix(PLACED) {
            let linked = recording.join(linked);
            let mut entries = self.entries.iter_mut();
            if let Some(entry) = entries.find(|entry| entry.path == linked) {
                entry.placed = Some(path);
            }
            return;
        }
        let entry = CatalogEntry {
            attached: true,
            path,
            name: own.to_owned(),
            key: String::new(),
            core,
            role,
            placed: None,
        };
        let at = self.entries.partition_point(|known| *known < entry);
        self.entries.insert(at, entry);
    }
}

impl ImageMap {
    /// Returns names and bytes of the ELFs that run on a core and are not built in, for a recording.
    pub fn attachments(&self) -> Vec<(String, &[u8])> {
        let used: BTreeSet<usize> = self.on.values().flat_map(BTreeMap::keys).copied().collect();
        let used = used.into_iter().filter_map(|index| Some((index, self.images.get(index)?)));
        let foreign = used.filter(|(_, image)| image.proof().is_none());
        let mut all = Vec::new();
        for (index, image) in foreign {
            let name = attachment_name(image, index);
            let placed = image.placed.as_ref().map(|placed| (name.clone() + PLACED, placed.elf()));
            all.push((name, image.elf()));
            all.extend(placed);
        }
        all
    }
}
