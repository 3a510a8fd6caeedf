//! Whether a mesh is free: processes that have its devices open, what runs on its tiles, and what
//! its target allows.

use crate::outcome::{Cause, Forbidden, RunError, User};
use crate::{ControlError, Firmware, done_condition, mailbox};
use images::{Image, ImageMap, ImageRole, Mailbox};
use layouts::{CoreId, CoreKind, TileKind, WritePermission};
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Allow, Target, TargetBus};
use std::collections::{BTreeMap, BTreeSet};

/// What the exclusive user of a mesh has loaded.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Compute tiles whose firmware runs.
    pub firmware: BTreeSet<Place>,
    /// The kernel whose text is in place.
    pub kernels: BTreeMap<Place, &'static str>,
}

/// The state of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileUse {
    /// Built-in firmware waits for a kernel.
    Ready,
    /// The tile must be booted or taken over first.
    Cold,
    /// A kernel runs; its name, if known.
    Runs(Option<String>),
    /// A router of a fabric runs; its name.
    Routes(String),
    /// An unknown application runs on the core.
    UnknownApplication,
}

/// Returns the state of compute tiles and Ethernet tiles. Writes nothing.
///
/// # Errors
/// If a tile cannot be read, or an image of built-in firmware is missing.
pub fn survey_tiles(
    target: &mut dyn Target,
    images: &ImageMap,
    compute: Vec<Place>,
    ethernet: Vec<Place>,
    loaded: &Loaded,
) -> Result<BTreeMap<Place, TileUse>, RunError> {
    let checks: Vec<TileCheck<'_>> = compute
        .into_iter()
        .map(|place| TileCheck::at(images, place, CoreKind::Brisc, loaded))
        .chain(
            ethernet.into_iter().map(|place| TileCheck::at(images, place, CoreKind::Erisc, loaded)),
        )
        .collect::<Result<_, _>>()?;
    let spans = checks.iter().flat_map(TileCheck::spans).collect();
    let snapshot = target.read(&Plan { spans });
    checks.iter().map(|check| Ok((check.place, check.judge(images, &snapshot)?))).collect()
}

/// The words to read of one tile.
struct TileCheck<'a> {
    place: Place,
    core: CoreId,
    /// The built-in firmware of such a core.
    firmware: &'a Image,
    /// The mailbox of the image that the core is resolved to, else that of built-in firmware.
    mailbox: &'a Mailbox,
    /// The word that shows whether firmware runs on the core.
    life: Option<Span>,
    /// Where built-in firmware has its build id, and the build id.
    build_id: Option<(Span, &'a [u8])>,
    go: Span,
}

impl<'a> TileCheck<'a> {
    fn at(
        images: &'a ImageMap,
        place: Place,
        core: CoreKind,
        loaded: &Loaded,
    ) -> Result<Self, RunError> {
        let ethernet = core == CoreKind::Erisc;
        let name =
            if ethernet { Firmware::BUILT_IN.application } else { Firmware::BUILT_IN.tensix[0] };
        let firmware = known(images, name)?;
        let id = CoreId { chip: place.chip, tile: place.tile, core };
        let own = mailbox(firmware)?;
        let mailbox = images.mailbox_of(id).map_or(own, |(mailbox, _)| mailbox);
        let span = |at: u64, len: usize| Span { addr: place.at(at), len: len as u32 };
        let life = if ethernet {
            Some(span(images.layout().eth.l1.launch_flag.at, 4))
        } else {
            images.layout().soft_reset(TileKind::Tensix).map(|at| span(at, 4))
        };
        let build_id = firmware.build_id.as_ref();
        let build_id = build_id.map(|(at, id)| (span(*at, id.len()), id.as_slice()));
        let verified = loaded.firmware.contains(&place);
        Ok(Self {
            place,
            core: id,
            firmware,
            mailbox,
            life: life.filter(|_| !verified),
            build_id: build_id.filter(|_| !verified),
            go: span(mailbox.go_word().0, 4),
        })
    }

    fn spans(&self) -> impl Iterator<Item = Span> {
        let build_id = self.build_id.map(|(span, _)| span);
        self.life.into_iter().chain(build_id).chain([self.go])
    }

    fn judge(&self, images: &ImageMap, snapshot: &Snapshot) -> Result<TileUse, RunError> {
        let word = |span: Span| snapshot.word(span.addr).map_err(|reason| unread(span, &reason));
        if let Some(life) = self.life {
            let word = word(life)?;
            // An Ethernet tile's flag is set while an application has the core; a compute tile's
            // bit holds it in reset.
            let asleep = if self.core.core == CoreKind::Erisc {
                word == 0
            } else {
                word >> images.layout().tensix.cores.brisc.reset_bit & 1 == 1
            };
            if asleep {
                return Ok(TileUse::Cold);
            }
        }
        let (_, shift) = self.mailbox.go_word();
        let go = word(self.go)?;
        if go >> shift & 0xFF == u32::from(self.mailbox.signals.go) {
            return Ok(self.running(images));
        }
        if let Some((span, id)) = self.build_id {
            let bytes =
                snapshot.bytes(span.addr, span.len).map_err(|reason| unread(span, &reason))?;
            if bytes != id {
                let ethernet = self.core.core == CoreKind::Erisc;
                return Ok(if ethernet { TileUse::UnknownApplication } else { TileUse::Cold });
            }
        }
        let (_, up) = done_condition(mailbox(self.firmware)?);
        let up = self.core.core == CoreKind::Erisc || up.holds(go);
        Ok(if up { TileUse::Ready } else { TileUse::Cold })
    }

    /// Returns the use by the kernel that the core is resolved to.
    fn running(&self, images: &ImageMap) -> TileUse {
        let mut resolved = images.resolved(self.core).into_iter();
        match resolved.find(|load| load.image.role == ImageRole::Kernel) {
            Some(kernel) if kernel.image.is_router() => TileUse::Routes(kernel.image.name.clone()),
            kernel => TileUse::Runs(kernel.map(|kernel| kernel.image.name.clone())),
        }
    }
}

fn known<'a>(images: &'a ImageMap, name: &str) -> Result<&'a Image, RunError> {
    let missing = || ControlError::NoImage(name.to_owned()).into();
    images.named(name).map(AsRef::as_ref).ok_or_else(missing)
}

fn unread(span: Span, reason: &AccessError) -> RunError {
    let why = AccessError::Unreachable(format!("{}: {reason}", span.addr));
    RunError::from(why).at(span.addr.into())
}

/// Returns an error if another process has a device open.
pub fn check_holders(target: &mut dyn Target) -> Result<(), RunError> {
    let holders = target.bus().map_or_else(Vec::new, TargetBus::holders);
    let Some((chip, holder)) = holders.first() else { return Ok(()) };
    Err(RunError::new(Cause::InUse(User::Process(*chip, holder.clone()))))
}

/// Reserves room in the audit log for a launch and its teardown.
///
/// # Errors
/// `Refused` if there is no room; nothing was written to the machine.
pub fn reserve_audit(target: &mut dyn Target, command: &str) -> Result<(), RunError> {
    let Some(audit) = target.audit() else { return Ok(()) };
    audit.command(command);
    Ok(audit.reserve()?)
}

/// Returns an error if one of the tiles is in use.
pub fn check_tiles(found: &BTreeMap<Place, TileUse>) -> Result<(), RunError> {
    for (place, finding) in found {
        let user = match finding {
            TileUse::Ready | TileUse::Cold => continue,
            TileUse::Runs(kernel) => User::Kernel(kernel.clone()),
            TileUse::Routes(router) => User::Router(router.clone()),
            TileUse::UnknownApplication => User::Application,
        };
        return Err(RunError::new(Cause::InUse(user)).at(*place));
    }
    Ok(())
}

/// Returns an error if the target lacks a permission; it names each one, and what needs it.
pub fn check_permissions(
    target: &dyn Target,
    what: &'static str,
    needs: &[WritePermission],
) -> Result<(), RunError> {
    let abilities = target.abilities();
    if let Some(why) = &abilities.unchangeable {
        let ever = Forbidden::Ever(target.name().to_owned(), why.clone());
        return Err(RunError::new(Cause::NotAllowed(ever)));
    }
    let allow: Allow = abilities.allow;
    let needs = needs.iter().copied().filter(|need| !allow.covers(*need)).collect::<Vec<_>>();
    if needs.is_empty() {
        return Ok(());
    }
    let target = target.name().to_owned();
    Err(RunError::new(Cause::NotAllowed(Forbidden::SoFar { target, what, needs })))
}
