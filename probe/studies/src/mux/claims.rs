//! Claims of the public write-up of the reduce-scatter hang, next to the results, with the reasons
//! of differences.

use super::sums::Sums;
use super::{Fate, MuxRun};
use fabric::mux::Policy;
use machine::words::cycles;

/// A claim of the write-up, and the result.
pub(super) struct Claim {
    /// Its policy; any: all of them; router: the router.
    pub(super) policy: &'static str,
    /// The claim.
    pub(super) says: &'static str,
    /// The measurement.
    pub(super) here: String,
    /// Whether they agree.
    pub(super) agrees: bool,
    /// The reason of the difference; null if they agree.
    pub(super) why: Option<String>,
}

impl Claim {
    fn new(
        policy: &'static str,
        says: &'static str,
        here: String,
        (agrees, why): (bool, String),
    ) -> Self {
        Self { policy, says, here, agrees, why: (!agrees).then_some(why) }
    }
}

/// All claims that the runs can decide. The policies are in the order of `MuxWait::ALL`.
pub(super) fn claims(sums: &[Sums<'_>; 7]) -> Vec<Claim> {
    let [unbounded, no_wait, teardown, many, few, captures, brief] = sums;
    vec![
        packets(unbounded),
        hangs(unbounded),
        starves(unbounded),
        cascades(sums),
        no_hang(no_wait),
        slower(no_wait, unbounded),
        as_often(teardown, unbounded, "hangs as often as unbounded"),
        lasts(many, MANY, "32,768 polls last 130 us"),
        as_often(many, unbounded, "hangs as often as unbounded"),
        captured(captures),
        as_often(captures, unbounded, "what it starves hangs as often as unbounded"),
        lasts(few, FEW, "256 polls last 5 us"),
        no_hang(few),
        shares(brief),
        no_hang(brief),
    ]
}

/// Returns true if the value is within a quarter of the other.
fn near(value: u64, other: u64) -> bool {
    4 * value.abs_diff(other) <= other
}

fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

fn packets(sums: &Sums<'_>) -> Claim {
    let [least, most] = sums.packet_cycles();
    let here = format!("{} to {} from packet to packet", cycles(least), cycles(most));
    let agrees = least >= 4_000 && most <= 12_000;
    let why = "a healthy run also opens, closes and drains its channels, which its packets share"
        .to_owned();
    Claim::new("router", "takes 5 to 10 us for a packet", here, (agrees, why))
}

fn hangs(sums: &Sums<'_>) -> Claim {
    let (never, all, ever) = (sums.fate(Fate::NeverEnds), sums.all(), sums.for_ever());
    let part = percent(never, all);
    let here = format!("{never} of {all} runs never end ({part:.1} %)");
    let others = sums.longest_of_ending(|c| c.wait_cycles).zip(sums.longest_stall());
    let others = others.map_or_else(String::new, |(wait, stall)| {
        let (wait, stall) = (cycles(wait), cycles(stall));
        format!("; all others continue when the router has slots again: their longest wait for one took {wait}, with a longest congestion of {stall}")
    });
    let why = match sums.deadlocks() {
        0 => format!(
            "the share of routers without slots for good is chosen here ({ever} of {all} seeds) and not known of any machine; only such runs never end{others}"
        ),
        more => format!("{more} do not end although their congestion does"),
    };
    let agrees = (1.5..=3.5).contains(&part);
    Claim::new(sums.route.name, "hangs in 2 to 3 % of the runs", here, (agrees, why))
}

fn starves(sums: &Sums<'_>) -> Claim {
    let (starved, all) = (sums.starved(), sums.all());
    let close = cycles(sums.longest(|c| c.close_cycles));
    let here = format!(
        "in {starved} of {all} runs a worker's close waits longer than a healthy run, at most {close}"
    );
    let alone = cycles(sums.longest(|c| c.unattended_cycles));
    let why = format!("every client is served within {alone}");
    let says = "while one channel waits the closes of the others are not read";
    Claim::new(sums.route.name, says, here, (starved > 0, why))
}

/// No policy may turn a temporary congestion into a run that never ends.
fn cascades(all: &[Sums<'_>; 7]) -> Claim {
    let locks: u64 = all.iter().map(Sums::deadlocks).sum();
    let ending: u64 = all.iter().map(|sums| sums.all() - sums.for_ever()).sum();
    let here = format!("{locks} of {ending} runs whose congestion ends never do");
    let why = "a waiting mux does not depend on the workers that wait for it: it continues when the router has a slot again, and they follow".to_owned();
    let says = "a brief congestion can grow into a deadlock";
    Claim::new("any", says, here, (locks > 0, why))
}

fn no_hang(sums: &Sums<'_>) -> Claim {
    let (never, all, ever) = (sums.fate(Fate::NeverEnds), sums.all(), sums.for_ever());
    let here = format!(
        "{never} of {all} runs never end; a close waits at most {}",
        cycles(sums.longest(|c| c.close_cycles))
    );
    let why = match sums.deadlocks() {
        0 => unbounded_waits(sums, never, ever),
        more => format!("{more} do not end although their congestion does"),
    };
    Claim::new(sums.route.name, "does not hang", here, (never == 0, why))
}

/// The unbounded waits that remain without a policy's part in them.
fn unbounded_waits(sums: &Sums<'_>, never: u64, ever: u64) -> String {
    let stuck = sums.count(|run| run.fate == Fate::NeverEnds && run.router_stands);
    let drains = sums.left_to_muxes();
    let lost = match sums.fate(Fate::Loses) {
        0 => String::new(),
        lost => format!("; {lost} more end, but leave packets behind"),
    };
    format!(
        "unbounded waits remain (its section 8): all {never} are among the {ever} whose routers stay without slots for good, {stuck} because a router itself is stuck; in {} workers wait too, in {drains} only muxes{lost}",
        never - drains
    )
}

fn slower(sums: &Sums<'_>, unbounded: &Sums<'_>) -> Claim {
    let (own, other) = (sums.median_thousandths(), unbounded.median_thousandths());
    let more = 100.0 * own as f64 / other.max(1) as f64 - 100.0;
    let here = format!("the median run takes {more:+.1} % of unbounded's time");
    let [packet, _] = sums.packet_cycles();
    let why = format!(
        "the mux returns to every channel after {} at most, and the router needs {} or more for a packet, which hides the cost of the rounds; every run loads its kernels again, so nothing accumulates",
        cycles(sums.longest(|c| c.unattended_cycles)),
        cycles(packet)
    );
    Claim::new(sums.route.name, "becomes slower and slower", here, (more > 5.0, why))
}

fn as_often(sums: &Sums<'_>, unbounded: &Sums<'_>, says: &'static str) -> Claim {
    let (own, other) = (sums.starved(), unbounded.starved());
    let never = [sums, unbounded].map(|sums| sums.fate(Fate::NeverEnds));
    let here =
        format!("{} and {} runs never end; {own} and {other} starve a close", never[0], never[1]);
    let alone = |sums: &Sums<'_>| cycles(sums.longest(|c| c.unattended_cycles));
    let turns = match sums.route.policy {
        Policy::UnboundedTeardown => {
            "the client whose own channel waits is answered meanwhile, the others are not"
                .to_owned()
        }
        _ => format!("one turn ends after {}", cycles(sums.longest(|c| c.hold_cycles))),
    };
    let why = format!(
        "{turns}, so that a client is not served for {} at most, compared with {} of unbounded",
        alone(sums),
        alone(unbounded)
    );
    let agrees = near(never[0], never[1]) && near(own, other);
    Claim::new(sums.route.name, says, here, (agrees, why))
}

/// The write-up's bounded waits: polls, and how long they last.
const MANY: (u64, u64) = (32_768, 130_000);
const FEW: (u64, u64) = (256, 5_000);

/// The length of a bounded wait, by its polls.
fn lasts(sums: &Sums<'_>, (polls, published): (u64, u64), says: &'static str) -> Claim {
    let hold = sums.longest(|c| c.hold_cycles);
    let each = |(polls, cycles): (u64, u64)| cycles as f64 / polls as f64;
    let here = format!("{}, {:.1} ns each", cycles(hold), each((polls, hold)));
    let why = format!(
        "its two figures make a poll {:.1} ns and {:.1} ns, which contradict each other; the policies captures_130us and captures_5us use its times",
        each(MANY),
        each(FEW)
    );
    Claim::new(sums.route.name, says, here, (near(hold, published), why))
}

fn captured(sums: &Sums<'_>) -> Claim {
    let (hold, alone) = (sums.longest(|c| c.hold_cycles), sums.longest(|c| c.unattended_cycles));
    let here =
        format!("one turn lasts {}, a client is not served for {}", cycles(hold), cycles(alone));
    let why = format!("a turn ends after {}", cycles(hold));
    let says = "one channel takes every slot for 130 us";
    Claim::new(sums.route.name, says, here, (near(hold, 130_000) && alone > hold, why))
}

/// A turn shorter than a packet's time in the router cannot take two slots.
fn shares(sums: &Sums<'_>) -> Claim {
    let (hold, alone) = (sums.longest(|c| c.hold_cycles), sums.longest(|c| c.unattended_cycles));
    let short = |run: &MuxRun| run.figures.longest(|c| c.hold_cycles) <= run.packet_cycles;
    let (shorter, all) = (sums.count(short), sums.all());
    let here = format!(
        "in {shorter} of {all} runs; one turn lasts {} at most, a client is not served for {}",
        cycles(hold),
        cycles(alone)
    );
    let why = format!("the fastest router takes {} for a packet", cycles(sums.packet_cycles()[0]));
    let says = "a turn is shorter than a packet, so that no channel has two slots of it";
    Claim::new(sums.route.name, says, here, (10 * shorter >= 9 * all, why))
}
