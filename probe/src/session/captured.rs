//! tt-metal's fabric snapshots as targets: finds the manifest of a snapshot, and makes mesh and
//! addresses of it.

use super::error::OpenError;
use super::{NamedManifest, RecordedFile, Session};
use images::ImageMap;
use images::fabric::manifest::{FabricManifest, ManifestRouter};
use layouts::{ChipId, EthId};
use machine::target::Mesh;
use recordings::{FabricSnapshot, FabricWords, RouterWords, sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Most files beside a snapshot among which its manifest is searched.
const MOST_FILES: usize = 256;

/// Opens a snapshot with one of the given manifests, or with its own, which lies beside it.
pub(super) fn open(path: &Path, given: &[NamedManifest]) -> Result<Session, OpenError> {
    let snapshot = FabricSnapshot::read(path)?;
    let mut problems = Vec::new();
    let found = if given.is_empty() { beside(path, &snapshot, &mut problems) } else { None };
    let named = choose(given, &snapshot, &mut problems).or(found.as_ref());
    let manifest = named.map(|(_, manifest)| manifest);
    let mut mesh = manifest.map_or_else(|| snapshot.mesh(), FabricManifest::mesh);
    add_missing(&mut mesh, snapshot.mesh());
    mesh.problems.extend(problems);
    let addresses = manifest.map_or_else(Default::default, addresses);
    let target = snapshot.into_target(mesh, &addresses);
    let (images, problems) = ImageMap::firmware();
    let file = Some(RecordedFile { path: path.to_owned(), head: None });
    let session = Session::with_target(Box::new(target), images);
    let mut session = Session { problems, file, ..session };
    if let Some((path, manifest)) = &found {
        session.add_manifest(path, manifest);
    }
    Ok(session)
}

/// Chooses the manifest of the snapshot's run, else the first one.
fn choose<'a>(
    given: &'a [NamedManifest],
    snapshot: &FabricSnapshot,
    problems: &mut Vec<String>,
) -> Option<&'a NamedManifest> {
    let own = given.iter().find(|(path, _)| hash(path).is_some_and(|it| fits(&it, snapshot)));
    if own.is_none()
        && let Some((path, _)) = given.first()
    {
        let expected = snapshot.manifest_sha256();
        problems.push(format!(
            "{} is not the manifest of the snapshot, whose SHA-256 is {expected}",
            path.display()
        ));
    }
    own.or(given.first())
}

/// Finds the manifest in the snapshot's folder and where tt-metal writes it below; says what is
/// missing.
fn beside(
    path: &Path,
    snapshot: &FabricSnapshot,
    problems: &mut Vec<String>,
) -> Option<NamedManifest> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folders = [folder.to_owned(), folder.join("generated/fabric")];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files = paths.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let own = files.by_ref().take(MOST_FILES);
    let own = own.into_iter().find(|path| hash(path).is_some_and(|it| fits(&it, snapshot)));
    let Some(own) = own else {
        let (name, expected) = (snapshot.manifest_path(), snapshot.manifest_sha256());
        problems.push(format!(
            "links and routers are in its manifest, which is not beside it: give --manifest the \
             file that was {name}, with SHA-256 {expected}"
        ));
        return None;
    };
    let without = |why| problems.push(format!("{why}: without the manifest there are no links"));
    let manifest = FabricManifest::read(&own).map_err(without).ok()?;
    Some((own, manifest))
}

/// Returns the SHA-256 of a file, if it can be read.
fn hash(path: &Path) -> Option<String> {
    Some(sha256(&files::read(path, files::Kind::MANIFEST).ok()?))
}

fn fits(hash: &str, snapshot: &FabricSnapshot) -> bool {
    hash.eq_ignore_ascii_case(snapshot.manifest_sha256())
}

/// Adds the chips that the snapshot has and the manifest has not.
fn add_missing(mesh: &mut Mesh, captured: Mesh) {
    let missing: Vec<_> =
        captured.chips.into_iter().filter(|chip| mesh.chip(chip.id).is_none()).collect();
    mesh.chips.extend(missing);
    mesh.chips.sort_by_key(|chip| chip.id);
}

/// Returns the addresses of the words that a snapshot names.
fn addresses(manifest: &FabricManifest) -> FabricWords {
    let mut routers = BTreeMap::new();
    for (_, chip) in manifest.local_chips() {
        let Ok(id) = u16::try_from(chip.physical_chip_id) else { continue };
        let end = |channel| EthId { chip: ChipId(id), channel };
        routers.extend(chip.routers.iter().map(|it| (end(it.eth_channel), words_of(it))));
    }
    FabricWords { go_message: Some(manifest.areas.go_msg.address.into()), routers }
}

fn words_of(router: &ManifestRouter) -> RouterWords {
    let at = |field| router.fields.l1(field).map(|region| u64::from(region.address));
    RouterWords { status: at("edm_status"), termination: at("termination_signal") }
}
