//! The kernels that run on a mesh, and the words that pause them.

use crate::{Condition, done_condition};
use images::{Image, ImageMap, ImageRole, Mailbox};
use layouts::{CoreId, CoreKind, NocAddr};
use machine::place::Place;
use machine::snapshot::Span;
use std::collections::BTreeMap;

/// The end of the name of the word by which the host pauses a built-in kernel.
const PAUSE_WORD: &str = ".control.pause_at_stage";
/// The end of the name of the word that counts its stages.
const STAGE_WORD: &str = ".control.stage";
/// A built-in kernel parks at once, and never (`kernel_control_t`).
const AT_ONCE: u32 = 0;
const NEVER: u32 = u32::MAX;

/// The order in which kernels are paused: each group only when those before it are at rest, so that
/// what they have sent is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// Kernels that produce and consume data.
    Workers,
    /// Kernels of Ethernet tiles that move the workers' data over a link.
    Movers,
    /// Muxes of a fabric.
    Muxes,
    /// Routers that know the command `PAUSE`.
    Routers,
    /// Built-in routers. They park before a stage, and a pause leaves them running: packets that
    /// were sent arrive.
    Stepped,
}

impl Group {
    /// The groups that a pause asks.
    pub(super) const ALL: [Self; 4] = [Self::Workers, Self::Movers, Self::Muxes, Self::Routers];
}

/// A word and what it must hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    pub(super) addr: NocAddr,
    pub(super) holds: Condition,
}

/// A running kernel that can be paused.
#[derive(Clone, Debug)]
pub(super) struct Pausable {
    pub(super) core: CoreId,
    pub(super) name: String,
    pub(super) group: Group,
    /// The word that the host writes.
    pub(super) ask: NocAddr,
    /// Its value to pause and to run.
    pub(super) pause: u32,
    pub(super) run: u32,
    /// The word that shows that the kernel is parked.
    pub(super) parked: Sign,
    /// The word that shows that the kernel has returned.
    pub(super) returned: Option<Sign>,
    /// The word that counts the stages that it has begun.
    pub(super) stage: Option<NocAddr>,
    /// Its waypoint, a word.
    pub(super) waypoint: Option<NocAddr>,
    /// Words that change while it works.
    pub(super) watched: Vec<Span>,
}

impl Pausable {
    fn is_asked(&self) -> bool {
        Group::ALL.contains(&self.group)
    }
}

/// The running kernels of a mesh, by what the host can do with them.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    pub(super) pausable: Vec<Pausable>,
    /// Routers without a command to pause: they run on until their queues are empty or stand.
    pub(super) routers: Vec<(CoreId, Vec<Span>)>,
    /// Cores whose kernels cannot be paused, by the kernel's name; of kernels without a known image
    /// there is none.
    pub refused: BTreeMap<Option<String>, Vec<CoreId>>,
}

impl Kernels {
    /// Finds the kernels on the cores on which one runs, and how each is paused.
    pub fn find(running: impl Iterator<Item = CoreId>, images: &ImageMap) -> Self {
        let mut found = Self::default();
        for core in running {
            let loads = images.resolved(core);
            let kernel = loads.iter().find(|load| load.image.role == ImageRole::Kernel);
            let mailbox = images.mailbox_of(core).map(|(mailbox, _)| mailbox);
            let Some((image, mailbox)) = kernel.map(|load| load.image).zip(mailbox) else {
                found.refused.entry(None).or_default().push(core);
                continue;
            };
            let pausable = pausable(core, image, mailbox);
            let pauses = pausable.as_ref().is_some_and(Pausable::is_asked);
            if image.is_router() && !pauses {
                found.routers.push((core, traffic(core, image)));
            } else if pausable.is_none() {
                let name = Some(image.name.clone());
                found.refused.entry(name).or_default().push(core);
            }
            found.pausable.extend(pausable);
        }
        found
    }

    /// Whether the host can pause any.
    pub fn can_pause(&self) -> bool {
        self.pausable.iter().any(Pausable::is_asked)
    }

    /// Whether the kernel on a core counts its stages, so that it can be held between two.
    pub fn counts_stages(&self, core: CoreId) -> bool {
        self.pausable.iter().any(|kernel| kernel.core == core && kernel.stage.is_some())
    }

    /// Whether no kernel runs.
    pub fn is_empty(&self) -> bool {
        self.pausable.is_empty() && self.routers.is_empty() && self.refused.is_empty()
    }

    /// Returns the kernels that cannot be paused in words; none if there are none.
    pub fn refusal(&self) -> Option<String> {
        let each = self.refused.iter().map(|(name, cores)| {
            let kernel = name.as_deref().unwrap_or("an unknown kernel");
            match cores.as_slice() {
                [core] => format!("{kernel} on {core}"),
                [core, rest @ ..] => format!("{kernel} on {core} and {} more", rest.len()),
                [] => kernel.to_owned(),
            }
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| {
            format!("{} cannot be paused: its code reads no such command", each.join(", "))
        })
    }
}

/// Returns the words that pause this kernel; none if the host cannot.
fn pausable(core: CoreId, image: &Image, mailbox: &Mailbox) -> Option<Pausable> {
    let place = Place { chip: core.chip, tile: core.tile };
    let (go, done) = done_condition(mailbox);
    let kernel = Pausable {
        core,
        name: image.name.clone(),
        group: Group::Routers,
        ask: place.at(0),
        pause: AT_ONCE,
        run: NEVER,
        parked: Sign { addr: place.at(0), holds: Condition::Nonzero },
        returned: Some(Sign { addr: place.at(go), holds: done }),
        stage: None,
        waypoint: None,
        watched: traffic(core, image),
    };
    if let Some(manager) = image.router_manager() {
        let holds = Condition::Masked { mask: u32::MAX, value: manager.paused };
        return Some(Pausable {
            ask: place.at(manager.command.addr),
            pause: manager.pause,
            run: manager.run,
            parked: Sign { addr: place.at(manager.state.addr), holds },
            ..kernel
        });
    }
    let word = image.state.iter().find(|member| member.name.ends_with(PAUSE_WORD))?;
    let global = word.name.strip_suffix(PAUSE_WORD)?;
    let counter = format!("{global}{STAGE_WORD}");
    let stage = image.state.iter().find(|member| *member.name == *counter);
    let flag = mailbox.pause_flags? + mailbox.processor(core.core);
    // A byte of the word that is read.
    let mask = 0xFF << (8 * (flag & 3));
    let holds = Condition::Masked { mask, value: mask & 0x0101_0101 };
    let group = match core.core {
        _ if image.is_router() => Group::Stepped,
        _ if image.is_mux() => Group::Muxes,
        CoreKind::Erisc => Group::Movers,
        _ => Group::Workers,
    };
    Some(Pausable {
        group,
        ask: place.at(word.addr),
        parked: Sign { addr: place.at(flag & !3), holds },
        stage: stage.map(|member| place.at(member.addr)),
        waypoint: Some(place.at(mailbox.waypoint(core.core))),
        watched: match stage {
            // The loops of routers and muxes count their passes.
            Some(stage) if matches!(group, Group::Stepped | Group::Muxes) => {
                let stage = Span { addr: place.at(stage.addr), len: stage.size };
                kernel.watched.iter().copied().chain([stage]).collect()
            }
            _ => whole(place, image, global),
        },
        ..kernel
    })
}

/// The global with the kernel's progress words.
fn whole(place: Place, image: &Image, name: &str) -> Vec<Span> {
    let state = image.symbols.locate(name).ok();
    let span = state.map(|state| Span {
        addr: place.at(state.address()),
        len: state.field.size.min(u64::from(u32::MAX)) as u32,
    });
    span.into_iter().collect()
}

/// The words of a router or mux that change only with its packets.
fn traffic(core: CoreId, image: &Image) -> Vec<Span> {
    if !image.is_router() && !image.is_mux() {
        return Vec::new();
    }
    let place = Place { chip: core.chip, tile: core.tile };
    let counts = |name: &str| name.contains(".packets_") || name.ends_with(".last_progress");
    let members = image.state.iter().filter(|member| counts(&member.name));
    members.map(|member| Span { addr: place.at(member.addr), len: member.size }).collect()
}
