//! What snapshots tell together: how fast each link counts, since when it stands, and which tiles
//! stand since when by the verdict. `update` adds a snapshot; `view` reads.

mod noc;

use crate::table::Rank;
use console::feed::MeshSnapshot;
use console::glyph::Missing;
use decode::state::{LinkCondition, LinkState, MeshState, Party};
use diagnosis::{Diagnosis, Finding, Place, Progress, Severity};
use layouts::{ChipId, EthId, NocXy, TileKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Snapshots whose rates are kept.
const KEPT: usize = 60;
/// A link this many times slower than the median of those that carry something is marked.
const SLOWER: u64 = 100;
/// Fewer links that carry something have no median that says anything.
const LEAST_PEERS: usize = 3;

/// Snapshots that the time line shows at most.
const BEATS: usize = 400;

/// What one snapshot shows of the whole mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beat {
    /// Packets per second of all links; none if no link was read twice.
    pub(crate) rate: Option<u64>,
    /// Cores that wait or stand, by the verdict.
    pub(crate) waiting: Option<u64>,
    /// What was noted since the snapshot before: `!` a finding, `m` a mark, `n` anything else.
    pub(crate) mark: Option<char>,
}

/// What the cores of one kind of tile do; unread cores are not counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy {
    /// Cores whose activity is known.
    pub(crate) all: usize,
    /// Those with a kernel that was launched and has not ended.
    pub(crate) launched: usize,
    /// What is known of the progress of these, the better ones first, with their number. Of each
    /// word, one stands for all.
    pub(crate) progress: Vec<(Progress, usize)>,
    /// Why a core could not be read.
    pub(crate) in_vain: Option<Missing>,
}

/// The counts of each chip.
pub(crate) type BusyChips = BTreeMap<(ChipId, TileKind), Busy>;

/// What a link did in the last snapshots.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkPulse {
    /// The packets that both ends had sent.
    sent: [Option<u64>; 2],
    /// Time of the first snapshot that has it, in cycles.
    first_cycles: u64,
    /// Time of the last snapshot in which a count had changed.
    changed_cycles: Option<u64>,
    /// Packets per second of both directions together; none where they were not read twice.
    rates: VecDeque<Option<u64>>,
    /// Packets per second from either end.
    pub(crate) rate: [Option<u64>; 2],
    /// Retrains and CRC errors of both ends when it was first read.
    errors: Option<u64>,
    /// Whether these have grown since.
    pub(crate) errs: bool,
    /// Whether it is far slower than the others.
    pub(crate) lags: bool,
}

/// Since when a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stood {
    /// In cycles.
    pub(crate) cycles: u64,
    /// Whether it may have stood longer.
    pub(crate) at_least: bool,
}

impl LinkPulse {
    /// The rates of the last snapshots, the newest last.
    pub(crate) fn rates(&self) -> impl DoubleEndedIterator<Item = Option<u64>> {
        self.rates.iter().copied()
    }

    /// How long it stands; none if it was not read twice.
    pub(crate) fn stood(&self, now_cycles: u64) -> Option<Stood> {
        let since = self.changed_cycles.unwrap_or(self.first_cycles);
        let cycles = now_cycles.saturating_sub(since);
        self.rates
            .iter()
            .any(Option::is_some)
            .then_some(Stood { cycles, at_least: self.changed_cycles.is_none() })
    }

    /// Whether it carries packets.
    fn moves(&self) -> bool {
        self.rate.iter().flatten().any(|rate| *rate > 0)
    }

    /// Packets per second, once it carried some in each of the last two spans between snapshots: in
    /// the first of them it may just have begun.
    fn speed(&self) -> Option<u64> {
        let mut last = self.rates().rev();
        let (now, before) = (last.next()??, last.next()??);
        (now > 0 && before > 0).then_some(now.max(before))
    }

    fn take(&mut self, sent: [Option<u64>; 2], (before, now): (u64, u64)) {
        let passed = now.saturating_sub(before);
        let rate = |was: Option<u64>, is: Option<u64>| {
            let packets = u128::from(is?.checked_sub(was?)?);
            let per_second = (packets * 1_000_000_000).checked_div(passed.into())?;
            u64::try_from(per_second).ok()
        };
        self.rate = [rate(self.sent[0], sent[0]), rate(self.sent[1], sent[1])];
        if self.moves() {
            self.changed_cycles = Some(now);
        }
        let sum = self.rate.iter().flatten().copied().reduce(u64::saturating_add);
        self.rates.push_back(sum);
        if self.rates.len() > KEPT {
            self.rates.pop_front();
        }
        self.sent = sent;
    }
}

/// What snapshots tell together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulse {
    /// Number and time of the last snapshot.
    last: Option<(u64, u64)>,
    links: BTreeMap<(EthId, EthId), LinkPulse>,
    /// The packets per second of the end that sends most.
    fastest: u64,
    /// The last snapshots, the newest last.
    pub(crate) beats: VecDeque<Beat>,
    /// Host time of the newest line of the log.
    logged_micros: u64,
    /// Time since which a tile stands, by the verdict.
    stands: BTreeMap<(ChipId, NocXy), u64>,
    /// The tiles of the first finding and of its chain, with the rank of what is about them.
    members: BTreeMap<(ChipId, NocXy), Rank>,
    /// The links both of whose ends are among them.
    held: BTreeSet<(EthId, EthId)>,
    /// How fast each tile moves data over the NoC, while the map shows that.
    pub(crate) noc: noc::NocPulse,
}

impl Pulse {
    /// Takes over a new snapshot. Before an earlier moment everything is forgotten.
    pub(crate) fn take(&mut self, snapshot: &MeshSnapshot) {
        let (number, now) = (snapshot.number, snapshot.state.cycles);
        if snapshot.reading.is_some() || self.last.is_some_and(|(last, _)| last == number) {
            return;
        }
        let before = self.last.map(|(_, cycles)| cycles).filter(|before| *before < now);
        if before.is_none() {
            self.links.clear();
        }
        self.last = Some((number, now));
        let mesh = &snapshot.state;
        for link in &mesh.links {
            let ends = (link.link.a, link.link.b);
            let [a, b] = [ends.0, ends.1].map(|end| mesh.eth(end).and_then(|it| it.eth.as_ref()));
            let sent = [a, b].map(|eth| Some(*eth?.packets_sent.known()?));
            let of = |eth: Option<&decode::state::EthState>| {
                let eth = eth?;
                Some(u64::from(*eth.retrain_count.known()?) + u64::from(*eth.crc_errors.known()?))
            };
            let errors = of(a).zip(of(b)).map(|(a, b)| a + b);
            let pulse = self.links.entry(ends).or_insert_with(|| LinkPulse {
                first_cycles: now,
                errors,
                ..LinkPulse::default()
            });
            pulse.errs |= errors > pulse.errors && pulse.errors.is_some();
            match before {
                Some(before) => pulse.take(sent, (before, now)),
                None => pulse.sent = sent,
            }
        }
        self.mark_slow();
        self.beat(snapshot);
    }

    /// Takes over what a snapshot shows of the whole mesh.
    fn beat(&mut self, snapshot: &MeshSnapshot) {
        self.fastest = self.links.values().flat_map(|link| link.rate).flatten().max().unwrap_or(0);
        let rates = self.links.values().flat_map(|link| link.rate.iter().flatten().copied());
        let rate = rates.reduce(u64::saturating_add);
        let waits = |it: &&Progress| matches!(it, Progress::Waiting(..) | Progress::Still);
        let verdict = snapshot.verdict.as_ref();
        let waiting = verdict.map(|it| it.progress.values().filter(waits).count() as u64);
        let log = &snapshot.board.log;
        let fresh = log.iter().rev().take_while(|line| line.host_micros > self.logged_micros);
        let mark = |kind: &str| match kind {
            "finding" => Some('!'),
            "mark" => Some('m'),
            "command" | "audit" => Some('n'),
            _ => None,
        };
        // In ASCII `!` is less than `m`, and that less than `n`.
        let mark = fresh.filter_map(|line| mark(line.kind)).min();
        self.logged_micros = log.last().map_or(0, |line| line.host_micros);
        self.beats.push_back(Beat { rate, waiting, mark });
        if self.beats.len() > BEATS {
            self.beats.pop_front();
        }
    }

    /// Marks the links that are far slower than the others.
    fn mark_slow(&mut self) {
        let mut speeds: Vec<u64> = self.links.values().filter_map(LinkPulse::speed).collect();
        speeds.sort_unstable();
        let median = speeds.get(speeds.len() / 2).copied().unwrap_or(0);
        let tells = speeds.len() > LEAST_PEERS;
        for pulse in self.links.values_mut() {
            pulse.lags = tells && pulse.speed().is_some_and(|own| own < median / SLOWER);
        }
    }

    /// Takes over what the verdict says about the mesh that is shown now.
    pub(crate) fn show(&mut self, mesh: &MeshState, verdict: Option<&Diagnosis>) {
        self.stands.clear();
        self.members.clear();
        if let Some(verdict) = verdict {
            // In a healthy mesh, too, something waits.
            let hangs = verdict.findings.iter().any(|it| it.severity == Severity::Hang);
            let stops = verdict.stops.iter().filter(|_| hangs);
            let at = stops.filter_map(|stop| Some((tile(mesh, stop.party)?, stop.cycles)));
            for (tile, cycles) in at {
                let since = self.stands.entry(tile).or_insert(cycles);
                *since = (*since).min(cycles);
            }
            self.members = verdict.findings.first().map(|it| members(mesh, it)).unwrap_or_default();
        }
        let is_held = |link: &&LinkState| {
            let member = |end: EthId| mesh.eth(end).is_some_and(|it| self.has(end.chip, it.xy));
            self.has_members() && member(link.link.a) && member(link.link.b)
        };
        let held = mesh.links.iter().filter(is_held).map(|link| (link.link.a, link.link.b));
        self.held = held.collect();
    }

    /// How much a link matters.
    pub(crate) fn rank(&self, mesh: &MeshState, link: &LinkState) -> Rank {
        let ends = [link.link.a, link.link.b];
        let held = ends.iter().filter_map(|end| Some((end.chip, mesh.eth(*end)?.xy)));
        let held = held.into_iter().filter_map(|tile| self.members.get(&tile).copied()).min();
        let pulse = self.link(link);
        let flies = link.a_to_b.unwrap_or(0) + link.b_to_a.unwrap_or(0) > 0;
        match (link.condition, held) {
            (_, Some(Rank::Root)) => Rank::Root,
            (LinkCondition::Down | LinkCondition::Disagree, _) => Rank::Fault,
            (_, Some(held)) => held,
            _ if pulse.is_some_and(|it| it.lags || it.errs) => Rank::Slow,
            (LinkCondition::Unread, _) => Rank::Unread,
            _ if flies || pulse.is_some_and(LinkPulse::moves) => Rank::Moves,
            _ => Rank::Idle,
        }
    }

    /// The packets per second that an end of a link sends.
    pub(crate) fn sends(&self, end: EthId) -> Option<u64> {
        let of = |((a, b), link): (&(EthId, EthId), &LinkPulse)| match end {
            _ if end == *a => Some(link.rate[0]),
            _ if end == *b => Some(link.rate[1]),
            _ => None,
        };
        self.links.iter().find_map(of)?
    }

    /// The packets per second of the end that sends most.
    pub(crate) fn fastest(&self) -> u64 {
        self.fastest
    }

    /// What a link did.
    pub(crate) fn link(&self, link: &LinkState) -> Option<&LinkPulse> {
        self.links.get(&(link.link.a, link.link.b))
    }

    /// The time since which a tile stands, if it does.
    pub(crate) fn stands(&self, chip: ChipId, tile: NocXy) -> Option<u64> {
        self.stands.get(&(chip, tile)).copied()
    }

    /// The tiles of a chip that stand, and the time since which the first of them does.
    pub(crate) fn stands_on(&self, chip: ChipId) -> Option<(usize, u64)> {
        let here =
            || self.stands.iter().filter(|((of, _), _)| *of == chip).map(|(_, since)| *since);
        Some((here().count(), here().min()?))
    }

    /// Whether a tile belongs to the first finding.
    pub(crate) fn has(&self, chip: ChipId, tile: NocXy) -> bool {
        self.held(chip, tile).is_some()
    }

    /// How much a tile of the first finding matters.
    pub(crate) fn held(&self, chip: ChipId, tile: NocXy) -> Option<Rank> {
        self.members.get(&(chip, tile)).copied()
    }

    /// Whether a chip has a tile of the first finding.
    pub(crate) fn is_member(&self, chip: ChipId) -> bool {
        self.members.keys().any(|(of, _)| *of == chip)
    }

    /// Whether both ends of a link belong to the first finding.
    pub(crate) fn holds(&self, link: &LinkState) -> bool {
        self.held.contains(&(link.link.a, link.link.b))
    }

    /// Whether there is a finding with members.
    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }
}

/// The tiles of a finding: its place and the parties of its chain.
fn members(mesh: &MeshState, finding: &Finding) -> BTreeMap<(ChipId, NocXy), Rank> {
    let end = |at: EthId| Some((at.chip, mesh.eth(at)?.xy));
    let roots = match finding.place {
        Place::Core(core) => vec![Some((core.chip, core.tile))],
        Place::Router(at) | Place::End(at) => vec![end(at)],
        Place::Link(a, b) => vec![end(a), end(b)],
        Place::Chip(_) | Place::Mesh | Place::Host => Vec::new(),
    };
    let chain = finding.chain.iter().flat_map(|step| [step.waiter, step.on]);
    let chain = chain.chain(finding.party).map(|party| tile(mesh, party));
    let all = chain.map(|tile| (tile, Rank::Held));
    let all = all.chain(roots.into_iter().map(|tile| (tile, Rank::Root)));
    all.filter_map(|(tile, rank)| Some((tile?, rank))).collect()
}

/// The tile of a party.
fn tile(mesh: &MeshState, party: Party) -> Option<(ChipId, NocXy)> {
    match party {
        Party::Client(core, _)
        | Party::MuxChannel(core, _)
        | Party::Mux(core)
        | Party::Core(core) => Some((core.chip, core.tile)),
        Party::Sender(at, _)
        | Party::Receiver(at, _)
        | Party::Router(at)
        | Party::Link(at)
        | Party::Noc(at)
        | Party::Channel(at, _) => Some((at.chip, mesh.eth(at)?.xy)),
        Party::Host => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkPulse, Pulse};
    use layouts::{ChipId, EthId};

    #[test]
    fn rates_count_packets_per_second_of_the_target() {
        let mut link = LinkPulse { sent: [Some(100), None], ..LinkPulse::default() };
        link.take([Some(150), Some(7)], (1_000_000, 2_000_000));
        assert_eq!(link.rate, [Some(50_000), None], "one end was not read before");
        link.take([Some(150), Some(9)], (2_000_000, 3_000_000));
        assert_eq!(link.rate, [Some(0), Some(2_000)]);
        link.take([None, None], (3_000_000, 4_000_000));
        assert_eq!(link.rates().collect::<Vec<_>>(), [Some(50_000), Some(2_000), None]);
        let stood = link.stood(9_000_000);
        assert!(stood.is_some_and(|it| it.cycles == 6_000_000 && !it.at_least), "{stood:?}");
    }

    #[test]
    fn a_link_that_has_just_begun_is_not_slow() {
        let mut pulse = Pulse::default();
        let mut slow = |rates: [[u64; 5]; 2]| {
            pulse.links.clear();
            for (channel, (before, now)) in (0..).zip(rates[0].into_iter().zip(rates[1])) {
                let end = |chip| EthId { chip: ChipId(chip), channel };
                let rates = [Some(before), Some(now)].into();
                pulse.links.insert((end(0), end(1)), LinkPulse { rates, ..LinkPulse::default() });
            }
            pulse.mark_slow();
            pulse.links.values().map(|link| link.lags).collect::<Vec<_>>()
        };
        let all = 9000;
        assert_eq!(slow([[0, all, all, all, all], [9, all, all, all, all]]), [false; 5]);
        assert_eq!(slow([[9, all, all, all, all], [all, all, all, all, all]]), [false; 5]);
        let [one, other] = [9, 5].map(|few| [few, all, all, all, all]);
        assert_eq!(slow([one, other]), [true, false, false, false, false]);
        assert_eq!(slow([[0, 0, 0, 0, 9], [all, all, all, all, 9]]), [false; 5], "no peer tells");
    }

    #[test]
    fn a_link_that_never_moved_stands_at_least_since_it_was_first_read() {
        let mut link =
            LinkPulse { sent: [Some(4), Some(4)], first_cycles: 1, ..LinkPulse::default() };
        assert_eq!(link.stood(5), None, "it was read once");
        link.take([Some(4), Some(4)], (1, 5));
        assert!(link.stood(5).is_some_and(|it| it.cycles == 4 && it.at_least));
        for _ in 0..100 {
            link.take([Some(4), Some(4)], (1, 5));
        }
        assert_eq!(link.rates().count(), super::KEPT);
    }
}
