//! Routers without progress, and what they wait for.

use super::words::RouterWords;
use super::{FabricPlan, Router};
use images::{ImageMap, waypoint_code};
use launch::cause::{link_is_down, stuck_cores};
use launch::outcome::{RunError, Waypoint};
use launch::{ControlError, Firmware, image, mailbox};
use layouts::{CoreKind, EthId};
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;
use std::collections::{BTreeMap, VecDeque};

/// Most routers that a message names.
const NAMED: usize = 3;
/// The waypoint of a parked kernel.
const PARKED: &str = "PASW";

/// A router without progress.
pub(super) struct StuckRouter {
    pub(super) router: Router,
    pub(super) status: String,
    pub(super) postcode: Waypoint,
    /// The thing it waits for.
    pub(super) waits: String,
}

/// The first routers without progress, and the number of further ones.
pub(super) struct StuckRouters {
    pub(super) all: VecDeque<StuckRouter>,
    more: usize,
}

impl StuckRouters {
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentence = |stuck: &StuckRouter| {
            let StuckRouter { router, status, postcode, waits } = stuck;
            format!("{router} is {status} at postcode {}: {waits}", postcode.code())
        };
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        self.all.iter().map(sentence).chain(more).collect()
    }
}

/// Reads the first of these routers: status, postcode, and what each waits for; those whose core
/// stands still come first.
pub(super) fn stuck_routers(
    target: &mut dyn Target,
    words: &RouterWords,
    plan: &FabricPlan,
    routers: &[&Router],
) -> Result<StuckRouters, RunError> {
    let places: Vec<Place> = routers.iter().map(|router| router.place).collect();
    let still = stuck_cores(target, &places)?;
    let mut routers = routers.to_vec();
    routers.sort_by_key(|router| !still.contains(&router.place));
    let mut all = VecDeque::new();
    for router in routers.iter().take(NAMED) {
        let stands_still = still.contains(&router.place);
        all.push_back(stuck_router(target, words, plan, router, stands_still)?);
    }
    Ok(StuckRouters { all, more: routers.len().saturating_sub(NAMED) })
}

pub(super) fn is_parked(
    target: &mut dyn Target,
    images: &ImageMap,
    routers: &[&Router],
) -> Result<bool, ControlError> {
    let firmware = image(images, Firmware::BUILT_IN.application)?;
    let own = mailbox(&firmware)?;
    let (at, len) = (own.waypoint(CoreKind::Erisc), own.waypoint_bytes as u32);
    let span = |router: &Router| Span { addr: router.place.at(at), len };
    let snapshot =
        target.read(&Plan { spans: routers.iter().map(|router| span(router)).collect() });
    let code = |router: &Router| snapshot.bytes(span(router).addr, len).map(waypoint_code);
    Ok(routers.iter().any(|router| code(router).as_deref() == Ok(PARKED)))
}

fn stuck_router(
    target: &mut dyn Target,
    words: &RouterWords,
    plan: &FabricPlan,
    router: &Router,
    stands_still: bool,
) -> Result<StuckRouter, RunError> {
    let local: Vec<&Router> = plan.routers_of(router.eth.chip).collect();
    let peer = Router {
        eth: router.peer,
        place: router.peer_place,
        peer: router.eth,
        peer_place: router.place,
        ..*router
    };
    let mut needed = local.clone();
    needed.push(&peer);
    let statuses = statuses(target, words, &needed)?;
    let postcode = match target.read_word(router.place.at(words.postcode)) {
        Ok(word) => Waypoint::At(words.postcodes.of_value(word.into()).to_string()),
        Err(reason) => Waypoint::Unread(reason.to_string()),
    };
    let status = statuses.get(&router.eth).map(|status| words.status_name(*status));
    let waits = if stands_still {
        "its core stands still, its heartbeat does not move".to_owned()
    } else if link_is_down(target, router.eth) || link_is_down(target, router.peer) {
        format!("its link to {} is down", router.peer)
    } else {
        let statuses = Statuses { words, statuses: &statuses };
        match status.as_deref() {
            Some("STARTED") => statuses.of_peer(router, identity(target, words, router)?),
            status => statuses.waits(router, &local, status),
        }
    };
    let status = status.unwrap_or_else(|| "unknown".to_owned());
    Ok(StuckRouter { router: *router, status, postcode, waits })
}

/// Reads the run ids of the peer's fabric and of this one.
fn identity(
    target: &mut dyn Target,
    words: &RouterWords,
    router: &Router,
) -> Result<(u32, u32), RunError> {
    let base = u64::from(words.image.constant("ROUTER_WORDS")?);
    let at = |member: &str| {
        let (at, _) = words.image.field(&format!("fabric_router_words_t.{member}.run_id"))?;
        Ok::<_, ControlError>(Span { addr: router.place.at(base + at), len: 4 })
    };
    let (theirs, ours) = (at("peer_identity")?, at("identity")?);
    let snapshot = target.read(&Plan { spans: vec![theirs, ours] });
    let word = |span: Span| snapshot.word(span.addr).map_err(|reason: AccessError| reason);
    Ok((word(theirs)?, word(ours)?))
}

struct Statuses<'a> {
    words: &'a RouterWords,
    statuses: &'a BTreeMap<EthId, u32>,
}

impl Statuses<'_> {
    fn sentence(&self, eth: EthId) -> String {
        self.statuses.get(&eth).map_or_else(
            || "cannot be read".to_owned(),
            |status| format!("is {}", self.words.status_name(*status)),
        )
    }

    fn of_peer(&self, router: &Router, (theirs, ours): (u32, u32)) -> String {
        let (peer, status) = (router.peer, self.sentence(router.peer));
        let waits = format!("it waits for its peer {peer}, which {status}");
        match theirs {
            0 => format!("{waits} and has sent nothing over the link"),
            _ if theirs != ours => {
                format!(
                    "{waits} and belongs to another bring-up ({theirs:#x}, this one is {ours:#x})"
                )
            }
            _ => waits,
        }
    }

    fn waits(&self, router: &Router, local: &[&Router], status: Option<&str>) -> String {
        match status {
            None => "it cannot be read".to_owned(),
            Some("NOT_STARTED") => "its kernel has not begun".to_owned(),
            Some("REMOTE_HANDSHAKE_COMPLETE") if router.master => {
                let rank = |router: &Router| {
                    let status = self.statuses.get(&router.eth);
                    status.and_then(|status| self.words.rank(*status))
                };
                let behind = local.iter().filter(|other| rank(other) < rank(router));
                let behind: Vec<String> = behind
                    .map(|other| format!("{} {}", other.eth, self.sentence(other.eth)))
                    .collect();
                let others = local.len().saturating_sub(1);
                let behind = if behind.is_empty() {
                    "all of which have met their peers".to_owned()
                } else {
                    format!("of which {}", behind.join(", "))
                };
                format!("it waits for the {others} other routers of its chip, {behind}")
            }
            Some("REMOTE_HANDSHAKE_COMPLETE" | "LOCAL_HANDSHAKE_COMPLETE") => {
                match local.first().filter(|master| master.eth != router.eth) {
                    Some(master) => {
                        let (eth, status) = (master.eth, self.sentence(master.eth));
                        format!("it waits for its master {eth}, which {status}")
                    }
                    None => "it waits for the host".to_owned(),
                }
            }
            Some(_) => format!("its peer {} {}", router.peer, self.sentence(router.peer)),
        }
    }
}

/// Reads the status of each router; an unreadable one is left out, because it can be readable
/// later.
pub(super) fn statuses(
    target: &mut dyn Target,
    words: &RouterWords,
    routers: &[&Router],
) -> Result<BTreeMap<EthId, u32>, AccessError> {
    let span = |router: &Router| Span { addr: router.place.at(words.status), len: 4 };
    let snapshot =
        target.read(&Plan { spans: routers.iter().map(|router| span(router)).collect() });
    let mut found = BTreeMap::new();
    for router in routers {
        match snapshot.word(span(router).addr) {
            Ok(status) => drop(found.insert(router.eth, status)),
            Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
            Err(_) => {}
        }
    }
    Ok(found)
}
