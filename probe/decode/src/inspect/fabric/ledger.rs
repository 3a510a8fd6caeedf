//! Joins the credits of a link's two ends: slots, queued, in flight, held by the receiver
//! (tt-metal.md 4.5).

use crate::inspect::Inspection;
use crate::state::{LedgerState, RouterState, Verdict};
use images::Reading;
use images::fabric::SenderFacts;
use layouts::EthId;

/// The control channel has no credits: it drops packets without a free slot.
const CONTROL: u8 = 2;

/// Returns both directions of every link between two routers, a row for each virtual channel whose
/// ends are both known.
pub(super) fn join(view: &Inspection<'_>, routers: &[RouterState]) -> Vec<LedgerState> {
    let at = |end: EthId| routers.iter().find(|router| router.at == end);
    let mut ledgers = Vec::new();
    for link in &view.mesh.links {
        if let (Some(a), Some(b)) = (at(link.a), at(link.b)) {
            ledgers.extend(rows(a, b, routers, view.facts.ledgers));
            ledgers.extend(rows(b, a, routers, view.facts.ledgers));
        }
    }
    ledgers
}

fn rows<'a>(
    from: &'a RouterState,
    to: &'a RouterState,
    routers: &'a [RouterState],
    before: Option<&'a [LedgerState]>,
) -> impl Iterator<Item = LedgerState> + use<'a> {
    let detour = detour(from, to);
    let by = from.facts.fallback.known().filter(|_| detour == Some(Verdict::Rerouted)).and_then(
        |tile| {
            let sibling =
                |other: &&RouterState| (other.at.chip, other.tile) == (from.at.chip, *tile);
            Some(routers.iter().find(sibling)?.at)
        },
    );
    let counted = to.receivers.iter().filter(|receiver| receiver.virtual_channel != CONTROL);
    counted.filter_map(move |receiver| {
        let senders =
            || from.senders.iter().filter(|s| s.virtual_channel == receiver.virtual_channel);
        let sum = |of: fn(&SenderFacts) -> &Reading<u64>| {
            senders().map(|sender| of(&sender.facts).known().copied()).sum::<Option<u64>>()
        };
        let total = |of: fn(&SenderFacts) -> &Reading<u64>| {
            senders()
                .filter_map(|sender| of(&sender.facts).known().copied())
                .fold(0, u64::wrapping_add)
        };
        let packets =
            [&receiver.facts.received, &from.facts.packets_moved, &to.facts.packets_moved];
        let packets = packets.into_iter().filter_map(|count| count.known().copied());
        let arrived = *receiver.facts.arrived.known()?;
        // Without unprocessed completions all that is in flight has arrived.
        let none_completed = || sum(|s| &s.completions).filter(|count| *count == 0);
        let ledger = LedgerState {
            from: from.at,
            to: to.at,
            virtual_channel: receiver.virtual_channel,
            slots: receiver.slots,
            queued: sum(|s| &s.queued)?,
            remote_free_slots: senders().next()?.facts.remote_free_slots.known().copied(),
            in_flight: sum(|s| &s.in_flight).or_else(|| none_completed().map(|_| arrived)),
            arrived,
            held: receiver.facts.held.known().copied(),
            mark: packets.fold(total(|s| &s.sent) + total(|s| &s.completed), u64::wrapping_add),
            rerouted_by: by,
            verdict: Verdict::Empty,
        };
        let waits = match receiver.facts.waits_for.name() {
            Some(name) => name == "WAITS_FOR_DOWNSTREAM",
            None => to.downstream.iter().any(|edge| edge.facts.credits == Reading::Known(0)),
        };
        // Both routers are read one after the other: packets that move upset the sums.
        let moved = || before.is_some_and(|it| !it.iter().any(|old| is_unchanged(&ledger, old)));
        let verdict = match verdict(&ledger, waits, is_paused(from, to)) {
            Verdict::Miscounted if moved() => Verdict::Moving,
            verdict => verdict,
        };
        let verdict = detour.unwrap_or(verdict);
        Some(LedgerState { verdict, ..ledger })
    })
}

/// Whether nothing has changed but the verdict.
fn is_unchanged(ledger: &LedgerState, old: &LedgerState) -> bool {
    LedgerState { verdict: old.verdict, ..*ledger } == *old
}

/// Returns the verdict while the link is not in use: then the ends know each other's counts only by
/// messages, and they do not add up.
fn detour(from: &RouterState, to: &RouterState) -> Option<Verdict> {
    // A router without this fact uses its own link.
    let [from, to] = [from, to].map(|it| it.facts.link.name().unwrap_or("LINK_DIRECT"));
    match (from, to) {
        ("LINK_DIRECT", "LINK_DIRECT") => None,
        ("LINK_FALLBACK", _) => Some(Verdict::Rerouted),
        ("LINK_RETURNING", _) | ("LINK_DIRECT", "LINK_RETURNING") => Some(Verdict::Returning),
        _ => Some(Verdict::Lost),
    }
}

/// Whether one of the routers does not serve its channels because the host has paused it.
fn is_paused(from: &RouterState, to: &RouterState) -> bool {
    [from, to].iter().any(|router| router.facts.state.is("PAUSED"))
}

fn verdict(ledger: &LedgerState, waits: bool, paused: bool) -> Verdict {
    // A count above the slots is a credit below zero (17 bits, zero-extended).
    if ledger.queued > 1 << 16 {
        return Verdict::Miscounted;
    }
    let counts = ledger.remote_free_slots.zip(ledger.in_flight);
    // What arrived bounds the packets in flight of a router that does not publish its counts.
    let arrived = ledger.arrived;
    let bounds = || (ledger.slots.saturating_sub(arrived), arrived);
    let (free, in_flight) = counts.unwrap_or_else(bounds);
    if counts.is_some() && free + in_flight != ledger.slots {
        return Verdict::Miscounted;
    }
    match (free, in_flight + ledger.queued) {
        (_, 0) => Verdict::Empty,
        _ if paused => Verdict::Paused,
        (0, _) if waits => Verdict::BackPressured,
        (0, _) => Verdict::Full,
        _ => Verdict::Moving,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layouts::ChipId;

    #[test]
    fn slots_and_packets_add_up_or_a_credit_is_lost() {
        let end = |chip| EthId { chip: ChipId(chip), channel: 8 };
        let ledger =
            |queued, remote_free_slots: Option<u64>, in_flight: Option<u64>, arrived| LedgerState {
                from: end(0),
                to: end(1),
                virtual_channel: 0,
                slots: 16,
                queued,
                remote_free_slots,
                in_flight,
                arrived,
                held: None,
                mark: 0,
                rerouted_by: None,
                verdict: Verdict::Empty,
            };
        let counted = |queued, free, in_flight| ledger(queued, Some(free), Some(in_flight), 0);
        assert_eq!(verdict(&counted(0, 16, 0), false, false), Verdict::Empty);
        assert_eq!(verdict(&counted(3, 10, 6), false, false), Verdict::Moving);
        assert_eq!(verdict(&counted(3, 0, 16), true, false), Verdict::BackPressured);
        assert_eq!(verdict(&counted(3, 0, 16), false, false), Verdict::Full);
        assert_eq!(verdict(&counted(0, 15, 0), false, false), Verdict::Miscounted);
        // A router that keeps its counts to itself.
        let bounded = |queued, arrived| ledger(queued, None, None, arrived);
        assert_eq!(verdict(&bounded(0, 0), false, false), Verdict::Empty);
        assert_eq!(verdict(&bounded(8, 3), false, false), Verdict::Moving);
        assert_eq!(verdict(&bounded(8, 16), false, false), Verdict::Full);
        assert_eq!(verdict(&bounded(8, 16), true, false), Verdict::BackPressured);
        // A paused router: what it holds does not move.
        assert_eq!(verdict(&bounded(0, 0), false, true), Verdict::Empty);
        assert_eq!(verdict(&bounded(0, 8), false, true), Verdict::Paused);
    }
}
