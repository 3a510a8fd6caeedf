//! A snapshot with its decoded state, and the kernels that run in it.

use crate::function;
use decode::profile::CoreProfile;
use decode::spin::Spin;
use decode::state::{Activity, CoreState, MeshState};
use images::{ImageRole, Reading};
use layouts::{CoreId, CoreKind, EthId, NocXy};
use machine::place::Place;
use machine::snapshot::Snapshot;
use machine::target::Mesh;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// A snapshot with its decoded state.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The bytes.
    pub snapshot: &'a Snapshot,
    /// The decoded state.
    pub state: &'a MeshState,
    /// Program counters of cores that were sampled with it.
    pub sampled: &'a Sampled,
}

/// Where cores were when they were sampled.
pub type Sampled = BTreeMap<CoreId, CoreProfile>;

/// The kernels of fabrics and of our dispatch that serve others; those of tt-metal's dispatch begin with
/// `cq_` (tt-metal.md 6).
const SERVICES: [&str; 4] =
    ["dispatch", "fabric_erisc_router", "tt_fabric_mux", "tt_fabric_mux_v2"];

/// Most channels of an EDM (`EDM_MAX_CHANNELS`).
const MOST_CHANNELS: u64 = 8;
/// The last phase of a kernel of ours that has refused its arguments.
const REFUSED: u64 = 6;
/// `TerminationSignal` of tt-metal, and of our kernels.
const TERMINATIONS: [(u64, &str); 2] = [(1, "GRACEFULLY_TERMINATE"), (2, "IMMEDIATELY_TERMINATE")];
/// What the names of words in launch messages begin with.
const LAUNCHES: &str = "mailboxes.launch[";
/// Fewer samples do not tell that a core executes nothing.
const MANY_SAMPLES: u32 = 4;
/// As many prove that it stands.
const PROVES_A_STAND: u32 = 50;

/// A kernel that was launched and has not returned, with its progress words.
pub(crate) struct Kernel<'a> {
    pub(crate) core: &'a CoreState,
    /// Its Ethernet tile, if it runs on one.
    pub(crate) end: Option<EthId>,
    /// Where it was sampled, if it was.
    pub(crate) sampled: Option<&'a CoreProfile>,
}

static NONE: Sampled = Sampled::new();

impl<'a> Look<'a> {
    /// Returns a snapshot of which nothing was sampled.
    pub fn new(snapshot: &'a Snapshot, state: &'a MeshState) -> Self {
        Self { snapshot, state, sampled: &NONE }
    }

    /// Returns the cores of all tiles that were read.
    pub(crate) fn cores(self) -> impl Iterator<Item = (&'a CoreState, Option<EthId>)> {
        self.state.chips.iter().flat_map(|chip| {
            chip.tiles.iter().flat_map(|tile| {
                let end =
                    tile.eth.as_ref().map(|eth| EthId { chip: chip.chip.id, channel: eth.channel });
                tile.cores.iter().map(move |core| (core, end))
            })
        })
    }

    /// Returns the running kernels, by core.
    pub(crate) fn kernels(self) -> BTreeMap<CoreId, Kernel<'a>> {
        self.kernels_in(&[Activity::Running])
    }

    /// Returns the kernels that run or have ended, by core; those of Ethernet cores that were given back
    /// to base firmware included.
    pub(crate) fn launched(self) -> BTreeMap<CoreId, Kernel<'a>> {
        let mut kernels = self.kernels_in(&[Activity::Running, Activity::Waiting, Activity::Done]);
        let given_back = self.kernels_in(&[Activity::BaseFirmware]).into_iter();
        kernels.extend(given_back.filter(|(_, it)| it.end.is_some() && it.name().is_some()));
        kernels
    }

    /// Returns what runs on a core.
    pub(crate) fn kernel(self, core: &'a CoreState, end: Option<EthId>) -> Kernel<'a> {
        Kernel { core, end, sampled: self.sampled.get(&core.id) }
    }

    /// Returns the go message of a compute tile if no host writes such a one, and most tiles of its chip
    /// have one that a host writes. The tile's cores share it.
    pub(crate) fn stray_go(self, core: &CoreState) -> Option<u64> {
        let Reading::Unknown(go) = core.go else { return None };
        let of_chip = |it: &&CoreState| (it.id.chip, it.id.core) == (core.id.chip, CoreKind::Brisc);
        let tiles = self.cores().map(|(core, _)| core).filter(of_chip);
        let (sound, stray): (Vec<_>, Vec<_>) =
            tiles.partition(|it| matches!(it.go, Reading::Known(_)));
        let is_odd = core.id.core == CoreKind::Brisc && sound.len() > stray.len();
        let held = core.activity == Reading::Known(Activity::InReset);
        (is_odd && !held).then_some(go)
    }

    fn kernels_in(self, activities: &[Activity]) -> BTreeMap<CoreId, Kernel<'a>> {
        let is_in =
            |core: &CoreState| core.activity.known().is_some_and(|it| activities.contains(it));
        let kernels = self.cores().filter(|(core, _)| is_in(core));
        kernels.map(|(core, end)| (core.id, self.kernel(core, end))).collect()
    }

    /// Returns the word at an address of a tile, if it was read.
    pub(crate) fn word(self, place: Place, offset: u64) -> Option<u32> {
        self.snapshot.word(place.at(offset)).ok()
    }
}

impl<'a> Kernel<'a> {
    /// Returns the name of the kernel's image, if it is known.
    pub(crate) fn name(&self) -> Option<&'a str> {
        let kernel = self.core.images.iter().find(|image| image.role == ImageRole::Kernel);
        kernel.map(|image| image.name.as_str())
    }

    /// Returns the name of the kernel without the core that a cache of tt-metal adds; empty if it is
    /// not known.
    pub(crate) fn program(&self) -> &'a str {
        let name = self.name().map_or("", |name| name);
        name.split_once('/').map_or(name, |(program, _)| program)
    }

    /// Returns the number that the host gave to the operation of its launch message, if that is known.
    pub(crate) fn operation(&self) -> Option<u32> {
        self.core.launch.known().map(|launch| launch.host_assigned_id)
    }

    /// Whether its waits are told by its words.
    pub(crate) fn has_rules(&self) -> bool {
        matches!(self.name(), Some("edm" | "ccl_worker" | "ring_ping" | "link_race" | "dispatch"))
    }

    /// Whether it serves the kernels of operations, and waits for work when there is none.
    pub(crate) fn serves(&self) -> bool {
        self.program().starts_with("cq_") || SERVICES.contains(&self.program())
    }

    /// Whether it is a kernel of tt-metal's dispatch at a wait. Which of them are for others its rules
    /// know.
    pub(crate) fn waits_for_work(&self) -> bool {
        self.program().starts_with("cq_") && self.waypoint().ends_with('W')
    }

    /// Returns the program counter if all samples show the same.
    pub(crate) fn sampled_pc(&self) -> Option<u32> {
        self.sampled.and_then(one_pc)
    }

    /// Whether so many samples show the same program counter that it stands there: of a short loop, one
    /// instruction can take most of the time.
    pub(crate) fn executes_nothing(&self) -> bool {
        self.sampled_pc().is_some() && self.sampled.is_some_and(|it| it.samples >= PROVES_A_STAND)
    }

    /// Whether samples show it where no image is known.
    pub(crate) fn is_sampled_without_image(&self) -> bool {
        self.sampled.is_some_and(|it| it.places.iter().any(|place| place.image.is_none()))
    }

    /// Returns the waypoint, or, if that tells no wait, that of the function that all samples show waiting;
    /// empty if neither is known.
    pub(crate) fn waypoint(&self) -> &'a str {
        let own = self.core.waypoint.known().map_or("", String::as_str);
        self.sampled_wait().map_or(own, |code| code)
    }

    /// Returns the value of a parameter of the function that all samples show waiting, as its waypoint does
    /// if that tells, if the debug information has it.
    pub(crate) fn constant(&self, name: &str) -> Option<u64> {
        self.sampled.and_then(function::wait_of).filter(|wait| *wait == self.waypoint())?;
        let constants = &self.sampled?.places.first()?.constants;
        constants.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    fn sampled_wait(&self) -> Option<&'static str> {
        self.sampled.filter(|_| self.core.waypoint_tells_no_wait()).and_then(function::wait_of)
    }

    /// Whether samples of both show different waits. Of what was not sampled they say nothing.
    pub(crate) fn is_sampled_elsewhere(&self, now: &Self) -> bool {
        let both = self.sampled.is_some() && now.sampled.is_some();
        both && self.sampled_wait() != now.sampled_wait()
    }

    /// Returns the loop in which it spins, if its samples and instructions tell that.
    pub(crate) fn spin(&self) -> Option<&'a Spin> {
        self.sampled?.spin.as_ref()
    }

    /// Whether neither its waypoint nor its words tell what it waits for, if it waits. Samples may.
    pub(crate) fn has_no_words(&self) -> bool {
        self.core.waypoint_tells_no_wait() && !self.has_rules()
    }

    /// Whether samples do not tell that either.
    pub(crate) fn tells_no_wait(&self) -> bool {
        self.has_no_words() && self.sampled_wait().is_none() && self.spin().is_none()
    }

    /// Returns the channels of an EDM; L1 may hold any number.
    pub(crate) fn edm_channels(&self) -> Range<u8> {
        let count = self.number("edm_state.args.channels").map_or(0, |count| count);
        0..count.min(MOST_CHANNELS) as u8
    }

    /// Whether it is a kernel of ours that has refused its arguments, or those of its other end.
    pub(crate) fn refused(&self) -> bool {
        let mut words = self.core.words.iter();
        words
            .any(|word| word.name.ends_with("_state.phase") && word.value.known() == Some(&REFUSED))
    }

    /// Returns which termination signal it was given, if it was.
    pub(crate) fn termination(&self) -> Option<&'static str> {
        let mut words = self.core.words.iter();
        let signal = words.find(|word| word.name.ends_with("_state.control.termination_signal"))?;
        TERMINATIONS.iter().find(|(value, _)| signal.value.known() == Some(value)).map(|it| it.1)
    }

    pub(crate) fn place(&self) -> Place {
        Place { chip: self.core.id.chip, tile: self.core.id.tile }
    }

    /// Returns a progress word by its name.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.word(name).map(|(_, value)| value)
    }

    /// Returns the address and value of a progress word.
    pub(crate) fn word(&self, name: &str) -> Option<(u64, u64)> {
        let word = self.core.words.iter().rfind(|word| &*word.name == name)?;
        Some((word.addr, *word.value.known()?))
    }

    /// Returns a number that changes when any of its words does, or its waypoint. Launch messages are
    /// the host's, and not every snapshot has them.
    pub(crate) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let own = self.core.words.iter().filter(|word| !word.name.starts_with(LAUNCHES));
        for word in own {
            word.value.known().hash(&mut hasher);
        }
        self.waypoint().hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns the program counter if all samples show the same: no loop has one instruction only, but a jump
/// to itself.
pub(crate) fn one_pc(profile: &CoreProfile) -> Option<u32> {
    let mut pcs = profile.places.iter().flat_map(|place| &place.pcs);
    let first = pcs.next().copied().filter(|_| profile.samples >= MANY_SAMPLES);
    first.filter(|_| pcs.next().is_none())
}

/// Returns the tile of a coordinate pair in one word: x in the low half, y in the high half.
pub(crate) fn tile_of(xy: u64) -> NocXy {
    NocXy { x: xy as u8, y: (xy >> 16) as u8 }
}

/// Returns the other end of the link at an Ethernet tile.
pub(crate) fn peer(mesh: &Mesh, end: EthId) -> Option<EthId> {
    mesh.links.iter().find_map(|link| link.other_end(end))
}
