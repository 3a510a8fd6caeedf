//! Credits: what one side has counted and what the other side holds, while nothing moves.

use super::Case;
use crate::condition::Condition;
use crate::finding::{Confidence, Evidence, Finding};
use crate::kernels::{Count, counts};
use crate::look::Look;
use crate::place::Place;
use decode::state::{LedgerState, Party, Verdict};

impl Case<'_> {
    /// Returns the credits that do not add up and have not moved between the last two snapshots.
    pub(super) fn wrong_credits(&self) -> Vec<Finding> {
        let [.., before, last] = self.looks else { return Vec::new() };
        let (then, now) = (counts(self.mesh, *before), counts(self.mesh, *last));
        // A core that stands takes no credits.
        let still = |core| self.waits.still.iter().any(|party| self.core_of(*party) == core);
        let stands = |count: &Count| {
            matches!(count.party, Party::Channel(..)) && still(self.core_of(count.party))
        };
        let wrong = now.iter().filter(|count| count.given != count.there && then.contains(count));
        let wrong = wrong.filter(|count| !stands(count));
        let counts = wrong.map(|count| self.wrong_count(count));
        counts.chain(self.wrong_ledgers()).collect()
    }

    fn wrong_count(&self, count: &Count) -> Finding {
        let Count { at, of, given, there, party } = count;
        let place = match party {
            Party::Channel(end, _) => self.link(*end),
            other => self.core_of(*other).map_or(Place::Host, Place::Core),
        };
        let words = format!("{of} holds {there}, but {given} were given");
        let mut finding = self.finding(Condition::CreditsWrong, place, *party, words);
        finding.confidence = Confidence::Certain;
        let value = there.to_string();
        finding.evidence.push(Evidence { at: Some(*at), name: of.clone(), value });
        finding
    }

    /// Returns the links between routers whose credits do not add up although nothing moves.
    fn wrong_ledgers(&self) -> Vec<Finding> {
        let stands = |ledger: &&LedgerState| {
            let same = |then: &LedgerState| {
                (then.from, then.to, then.virtual_channel, then.mark)
                    == (ledger.from, ledger.to, ledger.virtual_channel, ledger.mark)
            };
            let has = |look: &Look<'_>| look.state.fabric.ledgers.iter().any(same);
            let runs = |end| {
                self.core_of(Party::Router(end))
                    .is_some_and(|core| self.kernels.contains_key(&core))
            };
            let both_run = runs(ledger.from) && runs(ledger.to);
            both_run && ledger.verdict == Verdict::Miscounted && self.looks.iter().all(has)
        };
        let wrong = self.last.state.fabric.ledgers.iter().filter(stands);
        wrong.map(|ledger| self.wrong_ledger(ledger)).collect()
    }

    fn wrong_ledger(&self, ledger: &LedgerState) -> Finding {
        let LedgerState { from, to, virtual_channel, slots, arrived, .. } = ledger;
        let known = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
        let (in_flight, free) = (known(ledger.in_flight), known(ledger.remote_free_slots));
        let words = format!(
            "credits from {from} to {to}, virtual channel {virtual_channel}, do not add up: {in_flight} in flight, {arrived} arrived, {free} of {slots} slots free"
        );
        self.finding(Condition::CreditsWrong, self.link(*from), Party::Sender(*from, 0), words)
    }
}
