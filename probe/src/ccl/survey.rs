//! What is on the tiles that a program needs, learned by one read.

use super::program::Program;
use super::report::RunError;
use crate::control::{ControlError, Firmware, Place, done, mailbox};
use crate::fabric::mux::MuxCore;
use crate::images::{Image, ImageMap, Mailbox};
use crate::inspect::soft_reset;
use crate::snapshot::{AccessError, Plan, Snapshot, Span};
use crate::state::ImageRole;
use crate::target::Target;
use layouts::{CoreId, CoreKind, TileKind, wormhole};
use std::collections::{BTreeMap, BTreeSet};

/// What somebody who has the mesh for himself knows of it: what he wrote is still there.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Compute tiles whose firmware runs.
    pub(super) firmware: BTreeSet<Place>,
    /// The kernel whose text is in place.
    pub(super) kernels: BTreeMap<Place, &'static str>,
}

/// What a tile is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Our firmware waits for a kernel there.
    Ready,
    /// It has to be booted or taken over first.
    Cold,
    /// A kernel runs there, by its name if it is known.
    Runs(Option<String>),
    /// An application that is not ours has the core.
    Stranger,
}

/// The compute tiles and the Ethernet tiles of a program, each once.
pub(super) fn tiles(program: &Program) -> (Vec<Place>, Vec<Place>) {
    let lists = [&program.fills, &program.workers, &program.checks];
    let mut compute: BTreeSet<Place> = lists.into_iter().flatten().map(|plan| plan.place).collect();
    let mut ethernet: BTreeSet<Place> = program.edms.iter().map(|plan| plan.place).collect();
    if let Some(crossing) = &program.crossing {
        let muxes = crossing.muxes.iter().map(|mux| mux.place);
        match crossing.wish.core {
            MuxCore::Tensix => compute.extend(muxes),
            MuxCore::Ethernet => ethernet.extend(muxes),
        }
    }
    (compute.into_iter().collect(), ethernet.into_iter().collect())
}

/// What is on every tile of the program; nothing is written.
///
/// # Errors
/// When a tile cannot be read, or an image is missing.
pub(super) fn survey(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
    loaded: &Loaded,
) -> Result<BTreeMap<Place, Finding>, RunError> {
    let (compute, ethernet) = tiles(program);
    survey_tiles(target, images, compute, ethernet, loaded)
}

/// What is on these compute tiles and Ethernet tiles; nothing is written.
///
/// # Errors
/// As [`survey`].
pub(crate) fn survey_tiles(
    target: &mut dyn Target,
    images: &ImageMap,
    compute: Vec<Place>,
    ethernet: Vec<Place>,
    loaded: &Loaded,
) -> Result<BTreeMap<Place, Finding>, RunError> {
    let looks: Vec<Look<'_>> = compute
        .into_iter()
        .map(|place| Look::at(images, place, CoreKind::Brisc, loaded))
        .chain(ethernet.into_iter().map(|place| Look::at(images, place, CoreKind::Erisc, loaded)))
        .collect::<Result<_, _>>()?;
    let spans = looks.iter().flat_map(Look::spans).collect();
    let shot = target.read(&Plan { spans });
    looks.iter().map(|look| Ok((look.place, look.judge(images, &shot)?))).collect()
}

/// What is asked of one tile.
struct Look<'a> {
    place: Place,
    core: CoreId,
    /// Our firmware there.
    firmware: &'a Image,
    /// The mailbox that the core looks at, as far as is known.
    mailbox: &'a Mailbox,
    /// A word that says whether firmware has the core at all.
    life: Option<Span>,
    /// Where our firmware proves itself.
    proof: Option<(Span, &'a [u8])>,
    go: Span,
}

impl<'a> Look<'a> {
    fn at(
        images: &'a ImageMap,
        place: Place,
        core: CoreKind,
        loaded: &Loaded,
    ) -> Result<Self, RunError> {
        let ethernet = core == CoreKind::Erisc;
        let name = if ethernet { Firmware::OURS.application } else { Firmware::OURS.tensix[0] };
        let firmware = known(images, name)?;
        let id = CoreId { chip: place.chip, tile: place.tile, core };
        let own = mailbox(firmware)?;
        let mailbox = images.mailbox_of(id).map_or(own, |(mailbox, _)| mailbox);
        let span = |at: u64, len: usize| Span { addr: place.at(at), len: len as u32 };
        let life = if ethernet {
            Some(span(wormhole().eth.l1.launch_flag.at, 4))
        } else {
            soft_reset(TileKind::Tensix).map(|at| span(at, 4))
        };
        let proof = firmware.build_id.as_ref();
        let proof = proof.map(|(at, id)| (span(*at, id.len()), id.as_slice()));
        let proved = loaded.firmware.contains(&place);
        Ok(Self {
            place,
            core: id,
            firmware,
            mailbox,
            life: life.filter(|_| !proved),
            proof: proof.filter(|_| !proved),
            go: span(mailbox.go_word().0, 4),
        })
    }

    fn spans(&self) -> impl Iterator<Item = Span> {
        let proof = self.proof.map(|(span, _)| span);
        self.life.into_iter().chain(proof).chain([self.go])
    }

    fn judge(&self, images: &ImageMap, shot: &Snapshot) -> Result<Finding, RunError> {
        let word = |span: Span| shot.word(span.addr).map_err(|reason| unread(span, &reason));
        if let Some(life) = self.life {
            let word = word(life)?;
            // An Ethernet tile's flag is set while an application has the core; a compute tile's bit holds it in reset.
            let asleep = if self.core.core == CoreKind::Erisc {
                word == 0
            } else {
                word >> wormhole().tensix.cores.brisc.reset_bit & 1 == 1
            };
            if asleep {
                return Ok(Finding::Cold);
            }
        }
        let (_, shift) = self.mailbox.go_word();
        let go = word(self.go)?;
        if go >> shift & 0xFF == u32::from(self.mailbox.signals.go) {
            return Ok(Finding::Runs(self.kernel(images)));
        }
        if let Some((span, id)) = self.proof {
            let there = shot.bytes(span.addr, span.len).map_err(|reason| unread(span, &reason))?;
            if there != id {
                let ethernet = self.core.core == CoreKind::Erisc;
                return Ok(if ethernet { Finding::Stranger } else { Finding::Cold });
            }
        }
        let (_, up) = done(mailbox(self.firmware)?);
        let up = self.core.core == CoreKind::Erisc || up.holds(go);
        Ok(if up { Finding::Ready } else { Finding::Cold })
    }

    /// Name of the kernel that the core is believed to run.
    fn kernel(&self, images: &ImageMap) -> Option<String> {
        let mut believed = images.believed(self.core).into_iter();
        let kernel = believed.find(|load| load.image.role == ImageRole::Kernel)?;
        Some(kernel.image.name.clone())
    }
}

fn known<'a>(images: &'a ImageMap, name: &str) -> Result<&'a Image, RunError> {
    let missing = || ControlError::NoImage(name.to_owned()).into();
    images.named(name).map(AsRef::as_ref).ok_or_else(missing)
}

fn unread(span: Span, reason: &AccessError) -> RunError {
    RunError::Access(AccessError::Unreachable(format!("{}: {reason}", span.addr)))
}
