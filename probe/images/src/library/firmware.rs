//! Search for the firmware on cores by its text.

use super::texts::{TextSet, TextVerdict};
use super::{Library, Reader, compare, is_kernel, known_as, plan};
use crate::catalog::CatalogEntry;
use crate::kinds::{ImageRole, Provenance};
use crate::known::Known;
use crate::text::{TextWindow, in_l1};
use crate::{ImageFinding, ImageMap, Mailbox};
use layouts::{ChipId, ChipLayout, CoreId, CoreKind, NocAddr, NocXy};
use machine::snapshot::{Plan, Snapshot};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The layers of firmware.
const LAYERS: [ImageRole; 2] = [ImageRole::BaseFirmware, ImageRole::Application];

/// Number of cores of a chip that match each build.
type Votes = HashMap<(ChipId, String), usize>;

/// The search for a layer of a core's firmware.
#[derive(Clone)]
struct Search {
    core: CoreId,
    role: ImageRole,
    /// The windows of the text that are read.
    windows: Vec<TextWindow>,
    /// What they say, and the snapshot that has them.
    verdict: TextVerdict,
    read: Rc<Snapshot>,
}

impl Search {
    /// What runs one build: the cores of a kind of a chip.
    fn kind(&self) -> (ChipId, CoreKind, ImageRole) {
        (self.core.chip, self.core.core, self.role)
    }
}

impl Library {
    /// Returns the plan to find the firmware of the first core of each kind of a chip, of those on which
    /// no firmware of the directories is known.
    pub(super) fn firmware_plan(&mut self, images: &ImageMap, cores: &[CoreId]) -> Plan {
        let (first, _) = self.searches(images, cores);
        plan_of(images.layout(), &first)
    }

    /// Finds the firmware of cores. All windows are read on the first core of each kind of a chip; on each
    /// other only one of those of the text that was found there, another one from tile to tile.
    pub(super) fn find_firmware(
        &mut self,
        reader: &mut Reader<'_>,
        images: &mut ImageMap,
        cores: &[CoreId],
    ) {
        let (mut done, others) = self.searches(images, cores);
        for &core in cores {
            images.set_findings(core, Vec::new());
        }
        self.judge(reader, images, &mut done);
        let (mut like, mut unlike) = self.judge_like(reader, images, &done, others);
        self.judge_unlike(reader, images, &mut unlike);
        done.append(&mut like);
        done.append(&mut unlike);
        self.settle_all(images, &done);
    }

    /// Finds the firmware of cores that is found on the first core of each kind of a chip. What is not
    /// found is no finding yet.
    pub fn find_like_first(
        &mut self,
        reader: &mut Reader<'_>,
        images: &mut ImageMap,
        cores: &[CoreId],
    ) {
        let (mut done, others) = self.searches(images, cores);
        self.judge(reader, images, &mut done);
        let (mut like, _) = self.judge_like(reader, images, &done, others);
        done.append(&mut like);
        done.retain(|search| !search.verdict.matches.is_empty());
        self.settle_all(images, &done);
    }

    /// Compares cores with the firmware of the first core of their kind; returns those that run the same,
    /// and all others.
    fn judge_like(
        &mut self,
        reader: &mut Reader<'_>,
        images: &ImageMap,
        first: &[Search],
        others: Vec<Search>,
    ) -> (Vec<Search>, Vec<Search>) {
        let first: BTreeMap<_, _> =
            first.iter().map(|it| (it.kind(), it.verdict.matches.clone())).collect();
        let (mut like, mut unlike): (Vec<Search>, Vec<Search>) = others
            .into_iter()
            .partition(|it| first.get(&it.kind()).is_some_and(|it| !it.is_empty()));
        for search in &mut like {
            let known = first.get(&search.kind()).and_then(|it| it.first()?.first());
            search.windows = known.map_or_else(Vec::new, |entry| self.sample(search, *entry));
        }
        self.judge(reader, images, &mut like);
        for search in &mut like {
            let known = first.get(&search.kind());
            search.verdict.matches.retain(|it| known.is_some_and(|known| known.contains(it)));
        }
        let (like, differ): (Vec<_>, Vec<_>) =
            like.into_iter().partition(|search| !search.verdict.matches.is_empty());
        unlike.extend(differ);
        (like, unlike)
    }

    /// Compares cores with all firmware: by one window, and by all windows where that one leaves a text or
    /// firmware is expected.
    fn judge_unlike(
        &mut self,
        reader: &mut Reader<'_>,
        images: &ImageMap,
        searches: &mut [Search],
    ) {
        for search in &mut *searches {
            let windows = self.set_of(search.core.core, search.role).windows();
            search.windows = windows.iter().take(1).copied().collect();
        }
        self.judge(reader, images, searches);
        let layout = images.layout();
        let mut open: Vec<&mut Search> = searches
            .iter_mut()
            .filter(|it| {
                !it.verdict.matches.is_empty() || is_expected(layout, it.core, it.role, &it.read)
            })
            .collect();
        for search in &mut open {
            search.windows = self.set_of(search.core.core, search.role).windows().to_vec();
        }
        let mut whole: Vec<Search> = open.iter().map(|search| (**search).clone()).collect();
        self.judge(reader, images, &mut whole);
        for (search, whole) in open.into_iter().zip(whole) {
            *search = whole;
        }
    }

    fn settle_all(&mut self, images: &mut ImageMap, searches: &[Search]) {
        let mut votes = Votes::new();
        for search in searches {
            for &entry in search.verdict.matches.iter().flatten() {
                *votes.entry((search.core.chip, self.key(entry))).or_default() += 1;
            }
        }
        for search in searches {
            self.settle(images, search, &votes);
        }
    }

    /// Returns what the search of cores will most likely read, and the snapshot behind it: samples of the
    /// firmware of the first core of each kind on all others, and the words of the mailboxes of that
    /// firmware. One read of each tile costs fewer turns of the windows.
    pub fn likely(
        &mut self,
        reader: &mut Reader<'_>,
        images: &mut ImageMap,
        cores: &[CoreId],
    ) -> Plan {
        let (mut first, others) = self.searches(images, cores);
        self.judge(reader, images, &mut first);
        let mut places: Vec<(NocAddr, u32)> = Vec::new();
        for search in &first {
            let alike: Vec<&Search> =
                others.iter().filter(|other| other.kind() == search.kind()).collect();
            let Some(&entry) = search.verdict.matches.first().and_then(|same| same.first()) else {
                let windows = alike.iter().filter_map(|it| Some((it.core, it.windows.first()?)));
                places.extend(windows.filter_map(|(core, w)| {
                    Some((in_l1(images.layout(), core, w.addr, 0)?, w.len))
                }));
                continue;
            };
            for other in &alike {
                let windows = self.sample(other, entry).into_iter();
                places.extend(
                    windows.filter_map(|w| {
                        Some((in_l1(images.layout(), other.core, w.addr, 0)?, w.len))
                    }),
                );
            }
            // The cores of a compute tile share the mailbox.
            if matches!(search.core.core, CoreKind::Brisc | CoreKind::Erisc)
                && let Some(index) = self.open_entry(images, entry)
                && let Some(mailbox) = images.mailbox_at(index)
            {
                let of_tile = |core: CoreId| {
                    let cores = images.layout().kind_at(core.tile).cores();
                    cores.iter().map(move |&kind| CoreId { core: kind, ..core })
                };
                // A launch moves the pointer of all tiles of a kind, or soon will: that of a tile on which it
                // runs is one behind.
                let own = reader(&plan(mailbox.words_on(search.core)));
                let (addr, _) = Mailbox::place_on(search.core, mailbox.rd_ptr, 4);
                let pointer = own.word(addr).unwrap_or(0);
                let on_tiles = alike.iter().flat_map(|it| of_tile(it.core));
                places.extend(on_tiles.flat_map(|core| {
                    let near = [pointer, pointer.wrapping_add(1)].map(|it| mailbox.last_two(it));
                    let near = near.into_iter().flatten();
                    let near = near.map(move |(at, len)| Mailbox::place_on(core, at, len));
                    mailbox.words_on(core).into_iter().chain(near)
                }));
            }
        }
        plan(places)
    }

    /// Returns the sample of an image's text that proves it on a sibling of the first core of its kind.
    fn sample(&mut self, search: &Search, entry: usize) -> Vec<TextWindow> {
        let own = self.set_of(search.core.core, search.role).windows_of(entry);
        let NocXy { x, y } = search.core.tile;
        let turn = (usize::from(x) + usize::from(y)).checked_rem(own.len());
        turn.and_then(|turn| own.get(turn)).copied().into_iter().collect()
    }

    /// Returns the searches for the first core of each kind of a chip, and for all others.
    fn searches(&mut self, images: &ImageMap, cores: &[CoreId]) -> (Vec<Search>, Vec<Search>) {
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let mut kinds = BTreeSet::new();
        for &core in cores {
            for role in LAYERS {
                let windows = self.set_of(core.core, role).windows().to_vec();
                if windows.is_empty() || is_known(images, core, role) {
                    continue;
                }
                let (verdict, read) = (TextVerdict::default(), Rc::default());
                let search = Search { core, role, windows, verdict, read };
                let is_first = kinds.insert(search.kind());
                if is_first { &mut first } else { &mut others }.push(search);
            }
        }
        (first, others)
    }

    /// Reads the windows of searches, and compares them.
    fn judge(&mut self, reader: &mut Reader<'_>, images: &ImageMap, searches: &mut [Search]) {
        if searches.is_empty() {
            return;
        }
        let read = Rc::new(reader(&plan_of(images.layout(), searches)));
        for search in searches {
            let set = self.set_of(search.core.core, search.role);
            search.verdict = set.judge(images.layout(), search.core, &search.windows, &read);
            search.read = Rc::clone(&read);
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
                if is_plain && self.catalog.open(&entry.path).is_ok_and(|it| is_kernel(&it)) {
                    continue;
                }
                match self.catalog.open_text(&entry) {
                    Ok(elf) => set.add(number, &elf),
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
        search: &Search,
        same: &[usize],
        votes: &Votes,
        before: &BTreeMap<usize, Known>,
    ) {
        let core = search.core;
        let support = |entry: usize| votes.get(&(core.chip, self.key(entry))).copied();
        // The build that matches most cores of the chip; the newest among equals.
        let best = self.newest_first(same).into_iter().rev().max_by_key(|&entry| support(entry));
        let Some(best) = best else { return };
        let others = same.iter().filter(|&&entry| entry != best);
        let also = others.map(|&entry| self.entry_name(entry)).collect();
        let mut windows = self.set_of(core.core, search.role).windows_of(best);
        windows.retain(|window| search.windows.contains(window));
        let Some(index) = self.open_entry(images, best) else { return };
        let on = images.on.get(&core);
        let known = before.get(&index).or_else(|| on?.get(&index)).cloned();
        let mut known = known.unwrap_or_else(|| known_as(Provenance::Sampled, 0, windows));
        known.also = also;
        compare(images, index, core, &mut known, &search.read);
        images.place(core, index, known);
    }

    fn settle(&mut self, images: &mut ImageMap, search: &Search, votes: &Votes) {
        let Search { core, role, verdict, read, .. } = search;
        let (core, role) = (*core, *role);
        if !verdict.matches.is_empty() {
            // Samples do not override a whole comparison.
            let before = images.withdraw(core, role);
            for same in &verdict.matches {
                self.place(images, search, same, votes, &before);
            }
            return;
        }
        let before = images
            .loads(core)
            .into_iter()
            .any(|load| load.image.role == role && (load.path().is_some() || load.is_found()));
        if before || !is_expected(images.layout(), core, role, read) {
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

/// Returns the windows of searches, and the words that tell whether their firmware is expected.
fn plan_of(layout: &'static ChipLayout, searches: &[Search]) -> Plan {
    let places = searches.iter().flat_map(|Search { core, role, windows, .. }| {
        let windows =
            windows.iter().filter_map(|w| Some((in_l1(layout, *core, w.addr, 0)?, w.len)));
        windows.chain(life_word(layout, *core, *role))
    });
    plan(places)
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
