//! Joins the credits of a link's two ends: slots, queued, in flight, held by the receiver
//! (tt-metal.md 4.5).

use crate::state::{LedgerState, Reading, RouterState, SenderFacts, Verdict};
use layouts::EthId;
use machine::target::Mesh;

/// The control channel has no credits: it drops packets without a free slot.
const CONTROL: u8 = 2;

/// Returns both directions of every link between two routers, a row for each virtual channel whose
/// ends are both known.
pub(super) fn join(mesh: &Mesh, routers: &[RouterState]) -> Vec<LedgerState> {
    let at = |end: EthId| routers.iter().find(|router| router.at == end);
    let mut ledgers = Vec::new();
    for link in &mesh.links {
        if let (Some(a), Some(b)) = (at(link.a), at(link.b)) {
            ledgers.extend(rows(a, b, routers));
            ledgers.extend(rows(b, a, routers));
        }
    }
    ledgers
}

fn rows<'a>(
    from: &'a RouterState,
    to: &'a RouterState,
    routers: &'a [RouterState],
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
        let ledger = LedgerState {
            from: from.at,
            to: to.at,
            virtual_channel: receiver.virtual_channel,
            slots: receiver.slots,
            queued: sum(|s| &s.queued)?,
            remote_free_slots: *senders().next()?.facts.remote_free_slots.known()?,
            in_flight: sum(|s| &s.in_flight)?,
            arrived: *receiver.facts.arrived.known()?,
            held: *receiver.facts.held.known()?,
            mark: sum(|s| &s.sent)? + sum(|s| &s.completed)? + receiver.facts.received.known()?,
            rerouted_by: by,
            verdict: Verdict::Empty,
        };
        let waits = receiver.facts.waits_for.is("WAITS_FOR_DOWNSTREAM");
        let verdict = detour.unwrap_or_else(|| verdict(&ledger, waits));
        Some(LedgerState { verdict, ..ledger })
    })
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

fn verdict(ledger: &LedgerState, waits: bool) -> Verdict {
    // A count above the slots is a credit below zero (17 bits, zero-extended).
    if ledger.remote_free_slots + ledger.in_flight != ledger.slots || ledger.queued > 1 << 16 {
        return Verdict::Miscounted;
    }
    match (ledger.remote_free_slots, ledger.in_flight + ledger.queued) {
        (_, 0) => Verdict::Empty,
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
        let ledger = |queued, remote_free_slots, in_flight| LedgerState {
            from: end(0),
            to: end(1),
            virtual_channel: 0,
            slots: 16,
            queued,
            remote_free_slots,
            in_flight,
            arrived: 0,
            held: 0,
            mark: 0,
            rerouted_by: None,
            verdict: Verdict::Empty,
        };
        assert_eq!(verdict(&ledger(0, 16, 0), false), Verdict::Empty);
        assert_eq!(verdict(&ledger(3, 10, 6), false), Verdict::Moving);
        assert_eq!(verdict(&ledger(3, 0, 16), true), Verdict::BackPressured);
        assert_eq!(verdict(&ledger(3, 0, 16), false), Verdict::Full);
        assert_eq!(verdict(&ledger(0, 15, 0), false), Verdict::Miscounted);
    }
}
