//! Faults that one snapshot shows: links that are down, cores in reset, chips that do not answer.

use super::Case;
use crate::condition::Condition;
use crate::finding::{Confidence, Evidence, Finding};
use crate::look::Look;
use crate::place::Place;
use decode::state::{Activity, ChipState, CoreState, LinkCondition, LinkState, Party};
use images::{GoSignal, ImageFinding, ImageRole, Reading, TextCheck};
use layouts::{ChipId, CoreId, CoreKind, EthId, NocXy, TileKind};
use machine::snapshot::AccessError;
use machine::words::counted;
use std::collections::{BTreeMap, BTreeSet};

impl Case<'_> {
    pub(super) fn faults(&self) -> Vec<Finding> {
        let links = self.last.state.links.iter().filter_map(|link| self.faulty_link(link));
        let chips = self.last.state.chips.iter().filter_map(|chip| self.gone(chip));
        let chips = chips.chain(self.hung_tiles());
        let cores = self.last.cores().filter_map(|(core, _)| self.faulty_core(core));
        links.chain(chips).chain(cores).chain(self.without_firmware()).collect()
    }

    /// Returns the cores on which no base firmware was found, while most of their kind on the chip have
    /// the same.
    fn without_firmware(&self) -> Vec<Finding> {
        let mut kinds: BTreeMap<(ChipId, CoreKind), Vec<&CoreState>> = BTreeMap::new();
        for (core, _) in self.last.cores().filter(|(_, end)| end.is_none()) {
            kinds.entry((core.id.chip, core.id.core)).or_default().push(core);
        }
        let all = kinds.into_values().flat_map(|of_kind| without_firmware(&of_kind));
        // The firmware of BRISC says where the words of the tile's other cores are.
        let mut tiles = BTreeSet::new();
        let first = all.filter(|(core, _)| tiles.insert((core.chip, core.tile)));
        let finding = |(core, words): (CoreId, String)| {
            let words = format!("core {core}: {words}");
            let place = Place::Core(core);
            let mut finding = Finding::fault(Condition::TextOverwritten, place, words);
            finding.confidence = Confidence::Likely;
            finding
        };
        first.map(finding).collect()
    }

    /// Returns that a core lacks the base firmware of its kind, if so.
    pub(super) fn lacks_firmware(&self, core: CoreId) -> Option<String> {
        let is_alike = |it: &&CoreState| (it.id.chip, it.id.core) == (core.chip, core.core);
        let of_kind: Vec<_> = self.last.cores().map(|(it, _)| it).filter(is_alike).collect();
        let found = without_firmware(&of_kind).into_iter().find(|(it, _)| *it == core);
        found.filter(|_| core.core != CoreKind::Erisc).map(|(_, words)| words)
    }

    pub(super) fn faulty_link(&self, state: &LinkState) -> Option<Finding> {
        let (place, ends) = (Place::link(&state.link), [state.link.a, state.link.b]);
        let conditions = self.conditions_of(state);
        let changes = conditions.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let retrained = ends.map(|end| self.retrained(end)).into_iter().max()?;
        // A snapshot during an outage shows two changes.
        let is_once = (changes, retrained) == (2, 1) && !state.condition.is_dead();
        let (condition, words) = if (changes >= 2 && !is_once) || retrained >= 2 {
            (
                Condition::LinkFlapping,
                format!("it goes down and up ({retrained} retrains meanwhile)"),
            )
        } else if state.condition.is_dead() && self.has_retrained(state) {
            let words = "it was trained again before, and is down since".to_owned();
            (Condition::LinkBrokenAfterRetrain, words)
        } else if state.condition.is_dead() {
            (Condition::LinkDown, "it is down".to_owned())
        } else if retrained == 1 {
            (Condition::LinkRetraining, "it was trained again meanwhile".to_owned())
        } else {
            return None;
        };
        let mut finding = Finding::fault(condition, place, format!("{place}: {words}"));
        finding.evidence = ends.iter().flat_map(|end| self.of_end(*end)).collect();
        finding.evidence.extend(ends.iter().filter_map(|end| self.reported_down(*end)));
        let waiting = ends.map(|at| self.waits.dependants(Party::Link(at)));
        finding.waiting = waiting.into_iter().max()?;
        Some(finding)
    }

    /// Returns the condition of a link in each snapshot that has it.
    fn conditions_of(&self, state: &LinkState) -> Vec<LinkCondition> {
        let of_look =
            |look: &Look<'_>| look.state.links.iter().find(|link| link.link == state.link).cloned();
        let links = self.looks.iter().filter_map(of_look);
        links.map(|link| link.condition).filter(|it| *it != LinkCondition::Unread).collect()
    }

    /// Whether an end has trained again since its boot.
    fn has_retrained(&self, state: &LinkState) -> bool {
        let ends = [state.link.a, state.link.b];
        let words = ends.iter().filter_map(|end| self.last.state.eth(*end)?.eth.as_ref());
        words.filter_map(|eth| eth.retrain_count.known()).any(|count| *count > 0)
    }

    /// Returns how often an end has trained again between the first and the last snapshot.
    fn retrained(&self, end: EthId) -> u32 {
        let count =
            |look: &Look<'_>| look.state.eth(end)?.eth.as_ref()?.retrain_count.known().copied();
        let (first, last) = (self.looks.first().and_then(count), self.looks.last().and_then(count));
        first.zip(last).map_or(0, |(first, last)| last.wrapping_sub(first))
    }

    /// Returns the words of a link's end.
    fn of_end(&self, end: EthId) -> Vec<Evidence> {
        let Some(eth) = self.last.state.eth(end).and_then(|tile| tile.eth.as_ref()) else {
            return Vec::new();
        };
        let words = [
            ("train_status", &eth.train_status),
            ("link_status", &eth.link_status),
            ("retrain_count", &eth.retrain_count),
        ];
        let known = words.iter().filter_map(|(name, word)| Some((name, word.known()?)));
        known
            .map(|(name, value)| Evidence {
                at: None,
                name: format!("{end} {name}"),
                value: value.to_string(),
            })
            .collect()
    }

    /// Returns a finding about a chip of which nothing was read.
    fn gone(&self, chip: &ChipState) -> Option<Finding> {
        let id = chip.chip.id;
        let words = format!("chip {id} does not answer: {}", self.lost(id)?);
        let mut finding = Finding::fault(Condition::ChipGone, Place::Chip(id), words);
        let routers = &self.last.state.fabric.routers;
        // Only a fabric of our own firmware is built again.
        if routers.iter().any(|it| it.facts.refusal.known().is_some()) {
            finding.next =
                format!("take it out of the fabric: `meshscope fabric rebuild --without {id}`");
        }
        Some(finding)
    }

    /// Returns why nothing of a chip was read, if so.
    fn lost(&self, id: ChipId) -> Option<&AccessError> {
        let gaps = self.last.snapshot.gaps.iter().filter(|gap| gap.span.addr.chip == id);
        let mut reasons = gaps.map(|gap| &gap.reason);
        // Nobody asked a chip whose ranges were refused or not recorded.
        let asked = |it: &&AccessError| {
            use AccessError::{Hung, NotRecorded, Refused};
            !matches!(it, Hung(_) | NotRecorded | Refused(_))
        };
        let why = reasons.find(asked)?;
        let is_read = self.last.snapshot.pieces.iter().any(|piece| piece.addr.chip == id);
        (!is_read).then_some(why)
    }

    /// Returns a finding for each tile that does not answer.
    fn hung_tiles(&self) -> Vec<Finding> {
        let mut tiles: BTreeMap<(ChipId, NocXy), &str> = BTreeMap::new();
        for gap in &self.last.snapshot.gaps {
            if let AccessError::Hung(why) = &gap.reason {
                tiles.insert((gap.span.addr.chip, gap.span.addr.tile), why);
            }
        }
        let finding = |((chip, tile), why): ((ChipId, NocXy), &str)| {
            let core = |core| Place::Core(CoreId { chip, tile, core });
            let place = match self.mesh.layout().kind_at(tile) {
                TileKind::Tensix => core(CoreKind::Brisc),
                TileKind::Eth => core(CoreKind::Erisc),
                _ => Place::Chip(chip),
            };
            let mut finding =
                Finding::fault(Condition::NocUnanswered, place, format!("chip {chip}: {why}"));
            finding.confidence = Confidence::Likely;
            "look at who waits for it, then reset the board: `tt-smi -r`"
                .clone_into(&mut finding.next);
            finding
        };
        tiles.into_iter().map(finding).collect()
    }

    /// Takes back findings about chips that were lost at the read of a hung tile: what waits for
    /// them waits for that tile.
    pub(super) fn without_lost_chips(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        for hung in self.hung_tiles() {
            let Some(why) = hung.place.chips().next().and_then(|chip| self.lost(chip)) else {
                continue;
            };
            let went = |it: &Finding| match it.place {
                Place::Chip(chip) => {
                    it.condition == Condition::ChipGone && self.lost(chip) == Some(why)
                }
                _ => false,
            };
            let (mut gone, mut others): (Vec<_>, Vec<_>) = findings.into_iter().partition(went);
            let same = |it: &&mut Finding| (it.condition, it.place) == (hung.condition, hung.place);
            if let Some(own) = others.iter_mut().find(same) {
                own.take_over(&mut gone);
            }
            findings = others;
        }
        findings
    }

    /// What waits for a link of a lost chip waits for that chip, if all its links are down: they went
    /// with it. So does what stands and waits for nothing that is known.
    pub(super) fn with_links_of_lost_chips(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let is_gone = |it: &Finding| it.condition == Condition::ChipGone;
        let (mut gone, mut others): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_gone);
        for lost in &mut gone {
            let own = |it: &&LinkState| {
                lost.place == Place::Chip(it.link.a.chip)
                    || lost.place == Place::Chip(it.link.b.chip)
            };
            let own: Vec<_> = self.last.state.links.iter().filter(own).collect();
            if own.iter().all(|it| it.condition.is_dead()) {
                let links: BTreeSet<_> = own.iter().map(|it| Place::link(&it.link)).collect();
                let (mut went, rest): (Vec<_>, Vec<_>) =
                    others.into_iter().partition(|it: &Finding| links.contains(&it.place));
                lost.take_over(&mut went);
                others = went.into_iter().chain(rest).collect();
            }
        }
        if let Some(lost) = gone.first_mut() {
            let stands = |it: &Finding| {
                it.condition == Condition::CoreStuck && it.confidence == Confidence::Likely
            };
            let (mut stuck, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(stands);
            lost.take_over(&mut stuck);
            others = stuck.into_iter().chain(rest).collect();
        }
        gone.extend(others);
        gone
    }
}

/// Returns those of all cores of a kind on a chip that lack the base firmware which most of them have, and
/// which that is.
fn without_firmware(of_kind: &[&CoreState]) -> Vec<(CoreId, String)> {
    let mut counts: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for which in of_kind.iter().filter_map(|core| firmware(core)) {
        *counts.entry(which).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    let Some(((name, at), alike)) = most.filter(|(_, count)| 4 * count >= 3 * of_kind.len()) else {
        return Vec::new();
    };
    let others = counted(alike as u64, "core of its kind has", "cores of its kind have");
    let words = format!("the text of {name} is not at {at:#x}, where {others} it");
    let lacks = |core: &&&CoreState| {
        firmware(core).is_none() && matches!(core.activity, Reading::Unknown(_))
    };
    of_kind.iter().filter(lacks).map(|core| (core.id, words.clone())).collect()
}

/// Returns the name and address of the base firmware that was found on a core.
fn firmware(core: &CoreState) -> Option<(&str, u32)> {
    let image = core.images.iter().find(|image| image.role == ImageRole::BaseFirmware)?;
    Some((&image.name, image.load_addr))
}

impl Case<'_> {
    fn faulty_core(&self, core: &CoreState) -> Option<Finding> {
        let place = Place::Core(core.id);
        if let Some(words) = self.overwritten(core) {
            let words = format!("{place}: {words}");
            return Some(Finding::fault(Condition::TextOverwritten, place, words));
        }
        // A core that is not needed has no go message.
        let told = core.go == Reading::Known(GoSignal::Go);
        let enabled = core.launch.known().is_some_and(|launch| launch.enables != 0);
        let held = core.activity == Reading::Known(Activity::InReset);
        (held && told && enabled).then(|| {
            let words = format!("core {}: it has a go message and is held in reset", core.id);
            Finding::fault(Condition::CoreInReset, place, words)
        })
    }

    /// Returns what of a core's texts differs from its images, or of its launch message is nothing that a
    /// host writes, if anything is known to.
    pub(super) fn overwritten(&self, core: &CoreState) -> Option<String> {
        overwritten(core).or_else(|| self.garbage(core))
    }

    fn garbage(&self, core: &CoreState) -> Option<String> {
        // The cores of a tile share it.
        if !matches!(core.id.core, CoreKind::Brisc | CoreKind::Erisc) {
            return None;
        }
        if let Some(go) = self.last.stray_go(core) {
            return Some(format!(
                "its go message is overwritten: it has signal {go:#x}, which no host writes"
            ));
        }
        let base = core.launch.known().filter(|launch| launch.enables != 0)?.semaphores?;
        let l1 = self.mesh.layout().l1_bytes(self.mesh.layout().kind_at(core.id.tile))?;
        (base >= l1).then(|| {
            format!("its launch message is overwritten: its semaphores begin at {base:#x}, and L1 ends at {l1:#x}")
        })
    }
}

fn overwritten(core: &CoreState) -> Option<String> {
    let differs = |finding: &&ImageFinding| matches!(finding, ImageFinding::Differs { .. });
    let found = core.findings.iter().find(differs).map(ImageFinding::words);
    found.or_else(|| {
        core.images.iter().find_map(|image| match &image.comparison.check {
            TextCheck::Differs(difference) => {
                Some(format!("the text of {} is not in L1: {difference}", image.name))
            }
            _ => None,
        })
    })
}
