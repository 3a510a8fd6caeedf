//! Credits: what one side has counted and what the other side holds, while nothing moves.

use super::Case;
use crate::condition::Condition;
use crate::finding::{Confidence, Evidence, Finding};
use crate::kernels::{Count, counts};
use crate::look::{Kernel, Look, peer};
use crate::place::Place;
use decode::state::{LedgerState, Party, Verdict, Wait};
use images::fabric::SenderFacts;
use layouts::EthId;

impl Case<'_> {
    /// Returns the credits that do not add up and have not moved between the last two snapshots.
    pub(super) fn wrong_credits(&self) -> Vec<Finding> {
        let [.., before, last] = self.looks else { return Vec::new() };
        let (then, now) = (counts(self.mesh, *before), counts(self.mesh, *last));
        let still = |party| {
            let core = self.core_of(party);
            self.waits.still.iter().any(|party| self.core_of(*party) == core)
        };
        // A core that stands takes no credits. It may stand between sending one and counting it.
        let takes =
            |count: &Count| !(matches!(count.party, Party::Channel(..)) && still(count.party));
        let sent = |count: &Count| !(count.given.abs_diff(count.there) == 1 && still(count.giver));
        let wrong = now.iter().filter(|count| count.given != count.there && then.contains(count));
        let wrong = wrong.filter(|count| takes(count) && sent(count));
        let counts = wrong.map(|count| self.wrong_count(count));
        counts.chain(self.wrong_ledgers()).chain(self.withheld()).collect()
    }

    /// Returns the sync words of an earlier op on the link that a kernel took for its own, as it
    /// found them by the op's number in them.
    pub(super) fn misread(&self) -> Vec<Finding> {
        let kernels = self.launched.values().filter(|kernel| kernel.name() == Some("link_race"));
        kernels.filter_map(|kernel| self.misread_by(kernel)).collect()
    }

    fn misread_by(&self, kernel: &Kernel<'_>) -> Option<Finding> {
        let state = |member: &str| kernel.number(&format!("link_race_state.{member}"));
        let count = state("misreads").filter(|count| *count > 0)?;
        let first = |member: &str| state(&format!("told[0].{member}"));
        let (own, of, number) = (state("args.run_id")?, first("run_id")?, first("number")?);
        let (id, end) = (kernel.core.id, kernel.end?);
        let place = self.link(end);
        let words = format!(
            "{place}: core {id} runs op {own} and has taken {count} sync words of other ops for its own, the first of op {of}, whose end did not wait for its credits"
        );
        let waits = |party: &Party| self.waits.on(*party).next().is_some();
        let far = peer(self.mesh, end).and_then(|far| self.core_of(Party::Router(far)));
        let on = [Some(id), far].into_iter().flatten().map(Party::Core).find(waits)?;
        let mut finding = self.finding(Condition::TeardownInFlight, place, on, words);
        finding.confidence = Confidence::Certain;
        finding.evidence.push(Evidence {
            at: first("address").map(|at| kernel.place().at(at)),
            name: format!("{id} eth_channel_sync_t"),
            value: format!("bytes_sent {}, message {number} of op {of}", first("bytes_sent")?),
        });
        Some(finding)
    }

    fn wrong_count(&self, count: &Count) -> Finding {
        let Count { at, of, given, there, party, .. } = count;
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

    /// Returns the sender channels that are empty, although a router of their chip waits for a free slot
    /// of them.
    fn withheld(&self) -> Vec<Finding> {
        let withheld = |wait: &Wait| match (wait.waiter, wait.on) {
            (Party::Receiver(giver, _), Party::Sender(at, index)) => {
                self.withheld_by(giver, (at, index))
            }
            _ => None,
        };
        self.waits.all.iter().filter_map(withheld).collect()
    }

    fn withheld_by(&self, giver: EthId, (at, index): (EthId, u8)) -> Option<Finding> {
        let mut routers = self.last.state.fabric.routers.iter();
        let router = routers.find(|router| router.at == at)?;
        let channel = router.senders.iter().find(|channel| channel.index == index)?;
        let SenderFacts { queued, in_flight, .. } = &channel.facts;
        let is_empty = [queued, in_flight].iter().all(|count| count.known() == Some(&0));
        let party = Party::Sender(at, index);
        let words = format!(
            "router {at} sender {index} holds no packet, and router {giver} sees none of its {} slots as free",
            channel.slots
        );
        is_empty.then(|| self.finding(Condition::CreditsWrong, Place::Router(at), party, words))
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
