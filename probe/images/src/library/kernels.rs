//! Search for the kernels on cores: launch messages and logs name them, texts verify them.

use super::job::{Job, bias};
use super::launched::{self, Launched};
use super::texts::{Fingerprints, is_overwritten};
use super::{Library, Reader, compare, fits, known_as, plan};
use crate::catalog::CatalogEntry;
use crate::kinds::{ImageRole, Provenance};
use crate::known::Known;
use crate::text::bytes_of;
use crate::{ImageFinding, ImageMap};
use layouts::{ChipLayout, CoreId, CoreKind, NocAddr};
use machine::snapshot::{AccessError, Snapshot};
use std::path::{Path, PathBuf};

impl Library {
    pub(super) fn find_kernels(
        &mut self,
        reader: &mut Reader<'_>,
        images: &mut ImageMap,
        cores: &[CoreId],
    ) {
        let any = self.catalog.entries.iter().any(|entry| entry.role == ImageRole::Kernel);
        if !any && self.catalog.records.is_empty() {
            return;
        }
        let launches = launched::read(reader, images, cores);
        for core in cores {
            if !launches.iter().any(|(at, _)| at == core) && self.searched.remove(core).is_some() {
                images.withdraw(*core, ImageRole::Kernel);
            }
        }
        let mut jobs = Vec::new();
        for (core, launched) in launches {
            jobs.extend(self.job(images, core, launched));
        }
        let windows = jobs.iter().flat_map(|job| job.places(images)).collect::<Vec<_>>();
        let snapshot = read(reader, windows);
        let mut open = Vec::new();
        for mut job in jobs {
            if self.choose(images, &mut job, &snapshot) {
                self.searched.insert(job.core, (job.launched, job.findings));
            } else {
                open.push(job);
            }
        }
        self.search_texts(reader, images, open);
        for core in cores {
            for finding in self.searched.get(core).into_iter().flat_map(|(_, found)| found) {
                images.add_finding(*core, finding.clone());
            }
        }
    }

    /// Starts the search for a launch; none if nothing has changed.
    fn job(&mut self, images: &mut ImageMap, core: CoreId, launched: Launched) -> Option<Job> {
        if let Some((before, findings)) = self.searched.get(&core) {
            let found = images.found(core, ImageRole::Kernel).is_some();
            if *before == launched && (found || !findings.is_empty()) {
                return None;
            }
            if *before != launched {
                images.withdraw(core, ImageRole::Kernel);
            }
        }
        let records = self.catalog.records.of(launched.id).to_vec();
        let doubtful = !records.is_empty() && records.iter().all(|record| record.doubtful);
        let (candidates, findings) = (Vec::new(), Vec::new());
        let mut job = Job { core, launched, doubtful, candidates, findings };
        for record in records {
            let Some(path) = record.elf(job.launched.target) else { continue };
            match self.resolve(&path) {
                Some(path) => {
                    let name = record.name.as_deref();
                    let index = self.open_recorded(images, &path, core.core, name);
                    let said =
                        if record.doubtful { Provenance::Sampled } else { Provenance::Recorded };
                    job.add(images, index, said);
                }
                None if record.doubtful => {}
                None => job.findings.push(ImageFinding::Stale {
                    core,
                    id: job.launched.id,
                    path,
                    record: record.to_string(),
                }),
            }
        }
        if job.candidates.is_empty() {
            let found = self.found.get(&(job.launched.id, core.core)).copied();
            job.add(images, found, Provenance::Sampled);
        }
        Some(job)
    }

    /// Returns the file of a record, or the same kernel in a copied cache.
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(path) = path.canonicalize() {
            return Some(path);
        }
        // Name, hash, target and file.
        let parts: Vec<_> = path.components().rev().take(4).collect();
        let tail: PathBuf = parts.iter().rev().collect();
        let kernels = self.catalog.entries.iter().filter(|e| e.role == ImageRole::Kernel);
        let mut copied = kernels.filter(|entry| entry.path.ends_with(&tail));
        copied.next().filter(|_| parts.len() == 4).map(|entry| entry.path.clone())
    }

    fn open_recorded(
        &mut self,
        images: &mut ImageMap,
        path: &Path,
        core: CoreKind,
        name: Option<&str>,
    ) -> Option<usize> {
        let place =
            |entry: &CatalogEntry| (entry.attached, entry.path.as_path()).cmp(&(false, path));
        if let Ok(number) = self.catalog.entries.binary_search_by(place) {
            return self.open_entry(images, number);
        }
        self.open(images, path, || {
            let file = path.file_stem().map_or("".into(), |stem| stem.to_string_lossy());
            let placed = PathBuf::from(format!("{}.xip.elf", path.display()));
            CatalogEntry {
                attached: false,
                path: path.to_owned(),
                name: format!("{}/{file}", name.unwrap_or("kernel")),
                key: String::new(),
                core,
                role: ImageRole::Kernel,
                placed: placed.is_file().then_some(placed),
            }
        })
    }

    /// Places the candidate whose text is in L1, else one that cannot be compared; returns whether
    /// the search is done.
    fn choose(&mut self, images: &mut ImageMap, job: &mut Job, snapshot: &Snapshot) -> bool {
        let before = images.withdraw(job.core, ImageRole::Kernel);
        for (index, known) in &mut job.candidates {
            // Samples do not override a whole comparison.
            if let Some(before) = before.get(index).filter(|before| before.bias == known.bias) {
                known.clone_from(before);
            }
            compare(images, *index, job.core, known, snapshot);
        }
        let verified = |known: &Known| known.comparison.compared_bytes > 0 && fits(known);
        let candidates = std::mem::take(&mut job.candidates);
        let best = candidates.iter().position(|(_, known)| verified(known));
        let unread = || candidates.iter().position(|(_, known)| fits(known));
        let best = best.or_else(|| (!job.doubtful).then(unread).flatten());
        if let Some((index, known)) = best.and_then(|best| candidates.get(best)) {
            if verified(known) {
                self.found.insert((job.launched.id, job.core.core), *index);
            }
            images.place(job.core, *index, known.clone());
            return true;
        }
        // A candidate from another core is no finding here.
        let recorded = candidates.into_iter().filter(|(_, k)| k.said == Provenance::Recorded);
        for (index, mut known) in recorded {
            known.released = job.launched.released;
            images.place(job.core, index, known);
        }
        false
    }

    /// Searches all kernels by text, regardless of their numbers.
    fn search_texts(&mut self, reader: &mut Reader<'_>, images: &mut ImageMap, jobs: Vec<Job>) {
        let places: Vec<Vec<_>> =
            jobs.iter().map(|job| self.text_places(images.layout(), job)).collect();
        let mut snapshot =
            read(reader, places.iter().filter_map(|all| all.first()).copied().collect());
        // The range of the longest text has all others, but a recording can have a part of it.
        let partly = |all: &&Vec<(NocAddr, u32)>| {
            all.first().is_some_and(|(addr, len)| {
                snapshot.bytes(*addr, *len) == Err(AccessError::NotRequested)
            })
        };
        if places.iter().any(|all| partly(&all)) {
            snapshot = read(reader, places.concat());
        }
        for mut job in jobs {
            let found = self.find_text(images, &mut job, &snapshot);
            if let Some((index, known)) = found {
                self.found.insert((job.launched.id, job.core.core), index);
                images.place(job.core, index, known);
            }
            self.searched.insert(job.core, (job.launched, job.findings));
        }
    }

    /// Returns the ranges of the texts that can be a job's, longest first.
    fn text_places(&mut self, layout: &ChipLayout, job: &Job) -> Vec<(NocAddr, u32)> {
        let lengths = self.fingerprints_of(job.core.core).lengths().into_iter();
        lengths.filter_map(|len| job.text_place(layout, len)).collect()
    }

    fn find_text(
        &mut self,
        images: &mut ImageMap,
        job: &mut Job,
        snapshot: &Snapshot,
    ) -> Option<(usize, Known)> {
        let core = job.core;
        let named = images.loads(core).iter().any(|load| load.image.role == ImageRole::Kernel);
        let (at, id) = (u64::from(job.launched.at), job.launched.id);
        let name = self.catalog.records.name(id);
        let what = name.map_or_else(|| format!("kernel {id}"), |n| format!("kernel {id} ({n})"));
        let places = self.text_places(images.layout(), job);
        self.catalog.of(core.core, ImageRole::Kernel).next()?;
        // Otherwise no ELF has a text.
        let (addr, len) = places.first().copied()?;
        let readable = places.iter().find_map(|(addr, len)| snapshot.bytes(*addr, *len).ok());
        let bytes = match readable.map_or_else(|| snapshot.bytes(addr, len), Ok) {
            Ok(bytes) => bytes,
            Err(reason) => {
                let why = reason.to_string();
                job.findings.push(ImageFinding::Unknown { core, what, at, why });
                return None;
            }
        };
        let matches = self.fingerprints_of(core.core).matches(bytes);
        let matches = matches.iter().flat_map(|same| self.newest_first(same));
        let matches: Vec<usize> = matches.collect();
        let own = images.found(core, ImageRole::Kernel).is_some();
        let lost = core.core != CoreKind::Ncrisc && !own && !named && !job.launched.released;
        let like = if lost { self.fingerprints_of(core.core).like(bytes) } else { Vec::new() };
        for &entry in matches.iter().chain(&like) {
            let Some(index) = self.open_entry(images, entry) else { continue };
            let Some(image) = images.get(index) else { continue };
            let (text, bias) = (image.text(), bias(core, &job.launched, image));
            let Some(first) = image.whole().first().copied() else { continue };
            // Compare the whole text: equal hashes do not suffice.
            let is_it = |text: &[u8]| bytes.starts_with(text) || is_overwritten(text, bytes);
            if bytes_of(&text, first).is_some_and(is_it) {
                let mut known = known_as(Provenance::Sampled, bias, image.samples());
                let others = matches.iter().filter(|&&other| other != entry);
                known.also = others.map(|&other| self.entry_name(other)).collect();
                compare(images, index, core, &mut known, snapshot);
                return Some((index, known));
            }
        }
        if core.core == CoreKind::Ncrisc {
            let why = "its text is in IRAM, which cannot be read, and no known one is in L1";
            job.findings.push(ImageFinding::Unknown { core, what, at, why: why.to_owned() });
        } else if lost {
            let among = self.catalog.places();
            job.findings.push(ImageFinding::NoMatch { core, what, at, among, nearest: None });
        }
        None
    }

    /// Returns the fingerprints of the kernels for a kind of core.
    fn fingerprints_of(&mut self, core: CoreKind) -> &Fingerprints {
        if !self.kernels.contains_key(&core) {
            let mut fingerprints = Fingerprints::default();
            let entries: Vec<(usize, CatalogEntry)> = self
                .catalog
                .of(core, ImageRole::Kernel)
                .map(|(number, entry)| (number, entry.clone()))
                .collect();
            for (number, entry) in entries {
                match self.catalog.open_text(&entry) {
                    Ok(elf) => fingerprints.add(number, &elf),
                    Err(error) => self.complain(&entry.path, &error),
                }
            }
            fingerprints.finish();
            self.kernels.insert(core, fingerprints);
        }
        self.kernels.entry(core).or_default()
    }
}

/// Reads ranges; without ranges, the target is not accessed.
fn read(reader: &mut Reader<'_>, places: Vec<(NocAddr, u32)>) -> Snapshot {
    if places.is_empty() { Snapshot::default() } else { reader(&plan(places)) }
}
