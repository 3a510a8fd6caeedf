//! Decodes a core: launch and go messages, waypoint, images.

use super::Inspection;
use crate::state::{Activity, CircularBuffers, CoreState, ImageUse, LaunchState, MemberState};
use images::{
    Comparison, GoSignal, Image, ImageRole, LoadedImage, Mailbox, Member, Provenance, Reading,
    SourceLine, waypoint_code,
};
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::snapshot::AccessError;
use std::sync::Arc;

/// `DM_DEDICATED_NOC` of `brisc_noc_mode` (tt-metal.md 1.1).
const DEDICATED_NOC: u64 = 0;

impl Inspection<'_> {
    pub(super) fn core(&self, chip: ChipId, xy: NocXy, core: CoreKind) -> CoreState {
        let id = CoreId { chip, tile: xy, core };
        let images = self.images.on(id);
        let described = self.images.mailbox_of(id);
        let mailbox = self.mailbox(id);
        let held = self.held(id);
        let go = mailbox.map_or(Reading::Absent, |(mailbox, _)| self.go(id, mailbox));
        let launch = mailbox.map_or(Reading::Absent, |(mailbox, _)| self.launch(id, mailbox));
        let processor = mailbox.map(|(mailbox, _)| mailbox.processor(core));
        let activity = self.activity(id, processor, &held, &go, &launch);
        let kernel_runs = activity == Reading::Known(Activity::Running);
        let runs = runs_layer(&activity);
        let word = mailbox.map(|(mailbox, _)| mailbox.waypoint(core));
        let waypoint = mailbox.map_or(Reading::Absent, |(mailbox, _)| {
            let kernel = launch.known().map_or(0, |launch| launch.kernel_id);
            self.waypoint(id, mailbox, &images, kernel != 0)
        });
        let sources = word.zip(waypoint.known());
        let mut candidates = sources
            .map_or_else(Vec::new, |(word, code)| sources_of(&images, code, word, kernel_runs));
        let location = common(&candidates);
        if candidates.len() < 2 {
            candidates.clear();
        }
        CoreState {
            id,
            activity,
            waypoint,
            location,
            candidates,
            go,
            launch,
            heartbeat: self.heartbeat(id),
            images: self.images.loads(id).iter().map(|load| usage(id, load, &runs)).collect(),
            findings: self.images.findings(id, &runs),
            channels: self.channels(id),
            words: self.words(id, &images, described),
            outlines: self.images.outlines(id),
        }
    }

    /// Returns the mailbox that describes what runs on a core. That of an ended application does not
    /// describe the base firmware that runs now.
    pub(super) fn mailbox(&self, id: CoreId) -> Option<(&Mailbox, &Image)> {
        self.images.mailbox_of(id).filter(|_| !self.is_given_back(id))
    }

    /// Whether the core has a go message.
    pub(super) fn has_go(&self, id: CoreId) -> bool {
        let go = self.mailbox(id).map(|(mailbox, _)| self.go(id, mailbox));
        go == Some(Reading::Known(GoSignal::Go))
    }

    /// Whether the core is held in reset.
    fn held(&self, id: CoreId) -> Reading<bool> {
        let Some(register) = self.layout().soft_reset(self.layout().kind_at(id.tile)) else {
            return Reading::Absent;
        };
        let bit = self.layout().reset_bit(id.core);
        match self.word(id.chip, id.tile, register) {
            Reading::Known(word) => Reading::Known(word >> bit & 1 == 1),
            Reading::Unread(reason) => Reading::Unread(reason),
            _ => Reading::Absent,
        }
    }

    fn launch_flag(&self, id: CoreId) -> Reading<u32> {
        self.word(id.chip, id.tile, self.layout().eth.l1.launch_flag.at)
    }

    /// Whether only base firmware runs on an ERISC.
    fn is_given_back(&self, id: CoreId) -> bool {
        id.core == CoreKind::Erisc && self.launch_flag(id) == Reading::Known(0)
    }

    fn go(&self, id: CoreId, mailbox: &Mailbox) -> Reading<GoSignal> {
        match self.snapshot.bytes(Self::at(id.chip, id.tile, mailbox.go_signal), 1) {
            Err(reason) => Reading::Unread(reason),
            Ok(bytes) => {
                let Some(&value) = bytes.first() else { return Reading::Absent };
                let named = mailbox.signals.named(value);
                named.map_or(Reading::Unknown(value.into()), Reading::Known)
            }
        }
    }

    fn launch(&self, id: CoreId, mailbox: &Mailbox) -> Reading<LaunchState> {
        match self.launch_entry(id, mailbox) {
            Ok(Some(launch)) => Reading::Known(launch),
            Ok(None) => Reading::Unknown(mailbox.launch_count),
            Err(reason) => Reading::Unread(reason),
        }
    }

    fn launch_entry(
        &self,
        id: CoreId,
        mailbox: &Mailbox,
    ) -> Result<Option<LaunchState>, AccessError> {
        let value = |at: u64, len: u32| {
            self.snapshot.bytes(Self::at(id.chip, id.tile, at), len).map(Member::value)
        };
        let rd_ptr = value(mailbox.rd_ptr, 4)?;
        if rd_ptr >= mailbox.launch_count {
            return Ok(None);
        }
        let (entry, _) = mailbox.entry(rd_ptr);
        // `ProgrammableCoreType` counts Tensix tiles first (tt-metal.md 1.1).
        let kind = u64::from(id.core == CoreKind::Erisc);
        let inside = |offset: Option<u64>| {
            let at = mailbox.config_bases.zip(offset).map(|(base, offset)| {
                let base = value(entry + base + 4 * kind, 4)?;
                Ok::<_, AccessError>(base + value(entry + offset, 2)?)
            });
            at.transpose()
        };
        let semaphores = inside(mailbox.semaphore_offsets.map(|offset| offset + 2 * kind));
        let arguments = mailbox.argument_offsets.map(|at| at + 4 * mailbox.processor(id.core));
        let arguments = inside(arguments)?.zip(inside(arguments.map(|at| at + 2))?);
        let tile = mailbox.config_bases.zip(mailbox.circular_buffers).filter(|_| kind == 0);
        let circular_buffers = tile.map(|(base, (offset, mask))| {
            let config = value(entry + base, 4)? + value(entry + offset, 2)?;
            Ok::<_, AccessError>(CircularBuffers { config, mask: value(entry + mask, 8)? })
        });
        // A recording may lack these words.
        let noc = mailbox.noc.and_then(|(id, mode)| {
            let byte = |at| value(entry + at, 1).ok();
            (byte(mode)? == DEDICATED_NOC).then_some(byte(id)? as u8)
        });
        Ok(Some(LaunchState {
            noc,
            semaphores: semaphores?,
            arguments: arguments.map(|(unique, common)| [unique, common]),
            circular_buffers: circular_buffers.transpose()?,
            rd_ptr: rd_ptr as u32,
            enables: value(entry + mailbox.enables, 4)? as u32,
            mode: value(entry + mailbox.mode, 1)? as u8,
            host_assigned_id: value(entry + mailbox.host_assigned_id, 4)? as u32,
            kernel_id: value(
                entry.saturating_add(mailbox.kernel_id(id.core)),
                mailbox.kernel_id_bytes as u32,
            )? as u16,
        }))
    }

    /// Returns the waypoint; absent if nothing on the core sets it, whatever its word holds.
    fn waypoint(
        &self,
        id: CoreId,
        mailbox: &Mailbox,
        images: &[(&Image, Provenance)],
        has_kernel: bool,
    ) -> Reading<String> {
        let (at, len) = (mailbox.waypoint(id.core), mailbox.waypoint_bytes as u32);
        let resolved = || images.iter().filter(|(_, evidence)| *evidence != Provenance::Mismatch);
        let known = resolved().next().is_some();
        let lacks = known && !resolved().any(|(image, _)| image.sets_waypoints(at));
        let unknown_kernel =
            has_kernel && !resolved().any(|(image, _)| image.role == ImageRole::Kernel);
        match self.snapshot.bytes(Self::at(id.chip, id.tile, at), len) {
            // A kernel whose image is not known may have set it.
            Ok(word) if lacks && (is_preset(word) || !unknown_kernel) => Reading::Absent,
            Ok(word) if word.iter().all(|&byte| byte == 0) => Reading::Unknown(0),
            Ok(word) => Reading::Known(waypoint_code(word)),
            Err(reason) => Reading::Unread(reason),
        }
    }

    /// Returns the heartbeat word: only ERISC firmware has one (wormhole.md 5.3).
    fn heartbeat(&self, id: CoreId) -> Reading<u32> {
        if id.core != CoreKind::Erisc {
            return Reading::Absent;
        }
        match self.word(id.chip, id.tile, self.layout().eth.l1.heartbeat.at) {
            Reading::Known(0) => Reading::Absent,
            other => other,
        }
    }

    fn activity(
        &self,
        id: CoreId,
        processor: Option<u64>,
        held: &Reading<bool>,
        go: &Reading<GoSignal>,
        launch: &Reading<LaunchState>,
    ) -> Reading<Activity> {
        match held {
            Reading::Known(true) => return Reading::Known(Activity::InReset),
            Reading::Unread(reason) => return Reading::Unread(reason.clone()),
            _ => {}
        }
        if id.core == CoreKind::Erisc {
            match self.launch_flag(id) {
                Reading::Known(0) => return Reading::Known(Activity::BaseFirmware),
                Reading::Unread(reason) => return Reading::Unread(reason),
                _ => {}
            }
        }
        let bit = processor.and_then(|index| 1u32.checked_shl(index.try_into().ok()?));
        let enabled = launch.known().zip(bit).is_some_and(|(l, bit)| l.enables & bit != 0);
        match go {
            Reading::Known(GoSignal::Init) if id.core == CoreKind::Erisc => {
                // Active Ethernet firmware keeps INIT while it waits (tt-metal.md 1.2).
                Reading::Known(Activity::Waiting)
            }
            Reading::Known(GoSignal::Init) => Reading::Known(Activity::BaseFirmware),
            Reading::Known(GoSignal::Go) if enabled => Reading::Known(Activity::Running),
            // What was launched is not known.
            Reading::Known(GoSignal::Go) if let Reading::Unread(reason) = launch => {
                Reading::Unread(reason.clone())
            }
            Reading::Known(GoSignal::Done) if enabled => Reading::Known(Activity::Done),
            Reading::Known(_) => Reading::Known(Activity::Waiting),
            Reading::Unknown(value) => Reading::Unknown(*value),
            Reading::Unread(reason) => Reading::Unread(reason.clone()),
            Reading::Absent => Reading::Unknown(0),
        }
    }

    /// Returns the words of the core's images that the snapshot has.
    fn words(
        &self,
        id: CoreId,
        images: &[(&Image, Provenance)],
        mailbox: Option<(&Mailbox, &Image)>,
    ) -> Vec<MemberState> {
        let summary = mailbox.map_or(&[][..], |(mailbox, image)| self.summary(id, mailbox, image));
        let of_images = images.iter().flat_map(|(image, _)| &image.state);
        let state = |Member { name, addr, size }: &Member| {
            let value = match self.snapshot.bytes(Self::at(id.chip, id.tile, *addr), *size) {
                Err(AccessError::NotRequested) => return None,
                Err(reason) => Reading::Unread(reason),
                Ok(bytes) => Reading::Known(Member::value(bytes)),
            };
            Some(MemberState { name: Arc::clone(name), addr: *addr, size: *size, value })
        };
        let mut words: Vec<_> = of_images.chain(summary).filter_map(state).collect();
        // Snapshots are kept, and they are mostly this.
        words.shrink_to_fit();
        words
    }

    /// Returns the mailbox members if the snapshot has details: only then is `go_message_index`
    /// read.
    fn summary<'i>(&self, id: CoreId, mailbox: &Mailbox, image: &'i Image) -> &'i [Member] {
        let index = self.snapshot.word(Self::at(id.chip, id.tile, mailbox.go_index));
        if matches!(index, Err(AccessError::NotRequested)) { &[] } else { &image.summary }
    }
}

/// Returns whether a core that does this runs the image of a layer, or has run it.
fn runs_layer(activity: &Reading<Activity>) -> impl Fn(ImageRole) -> bool + use<> {
    let (held, base, kernel) = match activity {
        Reading::Known(Activity::InReset) | Reading::Unread(_) => (true, true, false),
        Reading::Known(Activity::BaseFirmware) => (false, true, false),
        Reading::Known(activity) => (false, false, *activity == Activity::Running),
        Reading::Unknown(_) | Reading::Absent => (false, false, false),
    };
    move |role| match role {
        ImageRole::BaseFirmware => !held,
        ImageRole::Application => !base,
        ImageRole::Kernel => kernel,
    }
}

fn usage(core: CoreId, load: &LoadedImage<'_>, runs: &dyn Fn(ImageRole) -> bool) -> ImageUse {
    let unsaid = load.pending && !runs(load.image.role);
    let comparison = if unsaid { Comparison::default() } else { load.comparison.clone() };
    ImageUse {
        role: load.image.role,
        name: load.image.name.clone(),
        load_addr: load.load_addr(core),
        run_addr: load.run_addr(),
        evidence: load.evidence,
        path: load.path().map(|path| path.display().to_string()),
        attached: load.image.attached,
        bias: load.bias,
        comparison,
        also: load.also.to_vec(),
    }
}

/// Whether a waypoint is as the host or a reset leaves it (tt-metal.md 1.3).
fn is_preset(word: &[u8]) -> bool {
    [0, b'X'].iter().any(|preset| word.iter().all(|byte| byte == preset))
}

/// Returns the lines that begin all of these lists.
fn common(lists: &[Vec<SourceLine>]) -> Vec<SourceLine> {
    let Some((first, others)) = lists.split_first() else { return Vec::new() };
    let shared = |(at, line): &(usize, &SourceLine)| {
        others.iter().all(|other| other.get(*at).is_some_and(|theirs| theirs == *line))
    };
    first.iter().enumerate().take_while(shared).map(|(_, line)| line.clone()).collect()
}

/// Returns the sources of a waypoint, each once: the kernel's while one runs, else the lower
/// layers'.
fn sources_of(
    images: &[(&Image, Provenance)],
    code: &str,
    word: u64,
    kernel_runs: bool,
) -> Vec<Vec<SourceLine>> {
    let resolved = images.iter().filter(|(_, evidence)| *evidence != Provenance::Mismatch);
    let sources = |(image, _): &&(&Image, Provenance)| {
        let places = image.waypoint_places(code, word).map(|place| &place.lines);
        let mut lines: Vec<_> = places.filter(|lines| !lines.is_empty()).cloned().collect();
        lines.sort_unstable();
        lines.dedup();
        Some(lines).filter(|lines| !lines.is_empty())
    };
    let layers: Vec<_> = resolved.collect();
    let kernels = || layers.iter().filter(|(image, _)| image.role == ImageRole::Kernel);
    let others = || layers.iter().rev().filter(|(image, _)| image.role != ImageRole::Kernel);
    let found = if kernel_runs {
        kernels().chain(others()).find_map(sources)
    } else {
        others().chain(kernels()).find_map(sources)
    };
    found.into_iter().flatten().collect()
}
