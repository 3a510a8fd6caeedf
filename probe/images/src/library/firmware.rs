//! Search for the firmware on cores by its text.

use super::texts::{TextSet, TextVerdict};
use super::{Library, Reader, compare, is_kernel, known_as, plan};
use crate::catalog::CatalogEntry;
use crate::kinds::{ImageRole, Provenance};
use crate::known::Known;
use crate::{ImageFinding, ImageMap};
use layouts::{ChipId, ChipLayout, CoreId, CoreKind, NocAddr};
use machine::snapshot::{Plan, Snapshot};
use std::collections::{BTreeMap, HashMap};

/// The layers of firmware.
const LAYERS: [ImageRole; 2] = [ImageRole::BaseFirmware, ImageRole::Application];

/// Number of cores of a chip that match each build.
type Votes = HashMap<(ChipId, String), usize>;

impl Library {
    /// Returns the plan to find the firmware of cores on which no firmware of the directories is
    /// known.
    pub(super) fn firmware_plan(&mut self, images: &ImageMap, cores: &[CoreId]) -> Plan {
        let mut places = Vec::new();
        for &core in cores {
            for role in LAYERS {
                if is_known(images, core, role) {
                    continue;
                }
                let set = self.set_of(core.core, role);
                if !set.is_empty() {
                    places.extend(set.places(images.layout(), core));
                    places.extend(life_word(images.layout(), core, role));
                }
            }
        }
        plan(places)
    }

    pub(super) fn find_firmware(
        &mut self,
        reader: &mut Reader<'_>,
        images: &mut ImageMap,
        cores: &[CoreId],
    ) {
        let plan = self.firmware_plan(images, cores);
        for &core in cores {
            images.set_findings(core, Vec::new());
        }
        if plan.spans.is_empty() {
            return;
        }
        let snapshot = reader(&plan);
        let (mut verdicts, mut votes) = (Vec::new(), Votes::new());
        for &core in cores {
            for role in LAYERS {
                let set = self.set_of(core.core, role);
                if set.is_empty() || is_known(images, core, role) {
                    continue;
                }
                let verdict = set.judge(images.layout(), core, &snapshot);
                for &entry in verdict.matches.iter().flatten() {
                    *votes.entry((core.chip, self.key(entry))).or_default() += 1;
                }
                verdicts.push((core, role, verdict));
            }
        }
        for (core, role, verdict) in verdicts {
            self.settle(images, core, role, &verdict, &votes, &snapshot);
        }
    }

    fn key(&self, entry: usize) -> String {
        self.catalog.entries.get(entry).map_or_else(String::new, |entry| entry.key.clone())
    }

    /// Returns the texts of the firmware of a layer.
    fn set_of(&mut self, core: CoreKind, role: ImageRole) -> &TextSet {
        if !self.firmware.contains_key(&(core, role)) {
            let mut set = TextSet::default();
            let entries: Vec<(usize, CatalogEntry)> =
                self.catalog.of(core, role).map(|(n, entry)| (n, entry.clone())).collect();
            // A file outside of a cache can be a kernel. Without the ELF of the firmware, which
            // knows where the launch message is, its text is sought as if it were firmware.
            let has_firmware = entries.iter().any(|(_, entry)| !entry.key.is_empty());
            for (number, entry) in entries {
                let is_plain = has_firmware && entry.key.is_empty();
                match self.catalog.open_text(&entry) {
                    Ok(symbols) if is_plain && is_kernel(&symbols) => {}
                    Ok(symbols) => set.add(number, &symbols),
                    Err(error) => self.complain(&entry.path, &error),
                }
            }
            set.finish();
            self.firmware.insert((core, role), set);
        }
        self.firmware.entry((core, role)).or_default()
    }

    /// Places one of several images with the same text on a core.
    fn place(
        &mut self,
        images: &mut ImageMap,
        (core, role): (CoreId, ImageRole),
        same: &[usize],
        votes: &Votes,
        before: &BTreeMap<usize, Known>,
        snapshot: &Snapshot,
    ) {
        let support = |entry: usize| votes.get(&(core.chip, self.key(entry))).copied();
        // The build that matches most cores of the chip; the first among equals.
        let best = same.iter().copied().rev().max_by_key(|&entry| support(entry));
        let Some(best) = best else { return };
        let others = same.iter().filter(|&&entry| entry != best);
        let also = others.map(|&entry| self.entry_name(entry)).collect();
        let windows = self.set_of(core.core, role).windows_of(best);
        let Some(index) = self.open_entry(images, best) else { return };
        let on = images.on.get(&core);
        let known = before.get(&index).or_else(|| on?.get(&index)).cloned();
        let mut known = known.unwrap_or_else(|| known_as(Provenance::Sampled, 0, windows));
        known.also = also;
        compare(images, index, core, &mut known, snapshot);
        images.place(core, index, known);
    }

    fn settle(
        &mut self,
        images: &mut ImageMap,
        core: CoreId,
        role: ImageRole,
        verdict: &TextVerdict,
        votes: &Votes,
        snapshot: &Snapshot,
    ) {
        if !verdict.matches.is_empty() {
            // Samples do not override a whole comparison.
            let before = images.withdraw(core, role);
            for same in &verdict.matches {
                self.place(images, (core, role), same, votes, &before, snapshot);
            }
            return;
        }
        let before = images
            .loads(core)
            .into_iter()
            .any(|load| load.image.role == role && (load.path().is_some() || load.is_found()));
        if before || !is_expected(images.layout(), core, role, snapshot) {
            return;
        }
        let (what, at) = ("firmware".to_owned(), verdict.at);
        let finding = if let Some(reason) = &verdict.unread {
            ImageFinding::Unknown { core, what, at, why: reason.to_string() }
        } else {
            let nearest = verdict.nearest.map(|(entry, d)| (self.entry_name(entry), d));
            ImageFinding::NoMatch { core, what, at, among: self.catalog.places(), nearest }
        };
        images.add_finding(core, finding);
    }
}

/// Whether firmware of a directory was found on the core.
fn is_known(images: &ImageMap, core: CoreId, role: ImageRole) -> bool {
    images.found(core, role).is_some_and(|load| load.path().is_some())
}

/// Returns the word from which [`is_expected`] derives that firmware of a layer runs.
fn life_word(layout: &ChipLayout, core: CoreId, role: ImageRole) -> Option<(NocAddr, u32)> {
    let l1 = &layout.eth.l1;
    let offset = match (core.core, role) {
        (CoreKind::Erisc, ImageRole::BaseFirmware) => l1.heartbeat.at,
        (CoreKind::Erisc, _) => l1.launch_flag.at,
        _ => layout.soft_reset(layout.kind_at(core.tile))?,
    };
    Some((NocAddr { chip: core.chip, tile: core.tile, offset }, 4))
}

/// Whether a core should run tt-metal's firmware. A compute core does once it is out of reset; an
/// Ethernet core does if base firmware called it, or if idle firmware beats instead of base
/// firmware.
fn is_expected(layout: &ChipLayout, core: CoreId, role: ImageRole, snapshot: &Snapshot) -> bool {
    let word = life_word(layout, core, role).and_then(|(addr, _)| snapshot.word(addr).ok());
    match (word, layout.tensix.cores.of(core.core)) {
        (None, _) => false,
        (Some(reset), Some(compute)) => reset >> compute.reset_bit & 1 == 0,
        (Some(beat), None) if role == ImageRole::BaseFirmware => {
            (beat >> 16) as u16 == layout.eth.values.heartbeat_idle
        }
        (Some(flag), None) => flag != 0,
    }
}
