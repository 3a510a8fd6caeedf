//! The lock of the routing queues of all devices, lent to one client at a time. A client that stops
//! in the middle of a request does not keep it.

use machine::clients::Client;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// A holder that asks for nothing this long gives way to the next client: it may be stopped.
const LONGEST_SILENCE: Duration = Duration::from_secs(2);
/// A holder gives way after this time, between two of its requests.
const LONGEST_TURN: Duration = Duration::from_secs(5);

/// The lock. One for all devices avoids deadlock between clients that use several.
#[derive(Default)]
pub(super) struct Queues {
    lease: Option<Lease>,
    /// The waiting clients, in order.
    waiting: VecDeque<u64>,
    /// The clients that another one overtook and that have not noticed, each with its devices.
    overtaken: BTreeMap<u64, Overtaken>,
}

/// The lock in the hands of a client.
struct Lease {
    number: u64,
    client: Client,
    /// How often it was taken for each device.
    taken: BTreeMap<u8, usize>,
    since: Instant,
    /// When its last request ended; none while one is carried out.
    spoke: Option<Instant>,
}

/// What a client has lost.
struct Overtaken {
    devices: BTreeSet<u8>,
    why: String,
}

impl Lease {
    /// Why its holder has to give way, if it has to.
    fn is_over(&self, now: Instant) -> Option<&'static str> {
        let silent = now.saturating_duration_since(self.spoke?) > LONGEST_SILENCE;
        let long = now.saturating_duration_since(self.since) > LONGEST_TURN;
        silent.then_some("was silent for too long").or(long.then_some("used them for too long"))
    }
}

impl Queues {
    /// Takes the lock for a device, which its holder may do several times; otherwise the client
    /// waits in line.
    pub(super) fn take(&mut self, number: u64, client: &Client, device: u8, now: Instant) -> bool {
        self.notice(number, device);
        if let Some(lease) = self.lease.as_mut().filter(|lease| lease.number == number) {
            *lease.taken.entry(device).or_default() += 1;
            return true;
        }
        if !self.waiting.contains(&number) {
            self.waiting.push_back(number);
        }
        if self.waiting.front() != Some(&number) {
            return false;
        }
        if let Some(lease) = &self.lease {
            let Some(why) = lease.is_over(now) else { return false };
            let why = format!("{client} has taken over the routing queues: this client {why}");
            let devices = lease.taken.keys().copied().collect();
            self.overtaken.insert(lease.number, Overtaken { devices, why });
        }
        self.waiting.pop_front();
        let (client, taken) = (client.clone(), BTreeMap::from([(device, 1)]));
        self.lease = Some(Lease { number, client, taken, since: now, spoke: Some(now) });
        true
    }

    /// Returns the client that has the lock.
    pub(super) fn holder(&self) -> Option<&Client> {
        self.lease.as_ref().map(|lease| &lease.client)
    }

    /// Ends a client's wait.
    pub(super) fn give_up(&mut self, number: u64) {
        self.waiting.retain(|client| *client != number);
    }

    /// Releases the lock once for a device.
    pub(super) fn release(&mut self, number: u64, device: u8) {
        self.notice(number, device);
        let Some(lease) = self.lease.as_mut().filter(|lease| lease.number == number) else {
            return;
        };
        if let Some(times) = lease.taken.get_mut(&device) {
            *times -= 1;
        }
        lease.taken.retain(|_, times| *times > 0);
        if lease.taken.is_empty() {
            self.lease = None;
        }
    }

    /// Marks the beginning or the end of a request: no client is overtaken in between.
    pub(super) fn speaks(&mut self, number: u64, ended: Option<Instant>) {
        if let Some(lease) = self.lease.as_mut().filter(|lease| lease.number == number) {
            lease.spoke = ended;
        }
    }

    /// Whether the client has the lock for a device.
    pub(super) fn holds(&self, number: u64, device: u8) -> bool {
        self.times(number, device) > 0
    }

    /// How often the client has taken the lock for a device.
    pub(super) fn times(&self, number: u64, device: u8) -> usize {
        let own = self.lease.as_ref().filter(|lease| lease.number == number);
        own.and_then(|lease| lease.taken.get(&device).copied()).unwrap_or(0)
    }

    /// Why the client has lost the lock for a device, until it releases it or takes it again.
    pub(super) fn lost(&self, number: u64, device: u8) -> Option<&str> {
        let lost = self.overtaken.get(&number)?;
        lost.devices.contains(&device).then_some(lost.why.as_str())
    }

    fn notice(&mut self, number: u64, device: u8) {
        if let Some(lost) = self.overtaken.get_mut(&number) {
            lost.devices.remove(&device);
        }
        self.overtaken.retain(|_, lost| !lost.devices.is_empty());
    }

    /// Forgets a client.
    pub(super) fn leave(&mut self, number: u64) {
        self.give_up(number);
        self.overtaken.remove(&number);
        self.lease.take_if(|lease| lease.number == number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(pid: u32) -> Client {
        Client { name: "reader".into(), pid }
    }

    #[test]
    fn who_is_silent_or_greedy_gives_way_between_two_requests() {
        let (mut queues, start) = (Queues::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(queues.take(1, &client(1), 0, start) && queues.take(1, &client(1), 1, start));
        assert!(
            !queues.take(2, &client(2), 0, after(1)) && !queues.take(3, &client(3), 0, after(1))
        );
        assert_eq!(queues.holder(), Some(&client(1)));
        // A request that is carried out is not cut off, however long it takes.
        queues.speaks(1, None);
        assert!(!queues.take(2, &client(2), 0, after(60)));
        queues.speaks(1, Some(after(60)));
        assert!(!queues.take(3, &client(3), 0, after(60)), "it is not its turn");
        assert!(queues.take(2, &client(2), 0, after(60)));
        let why = "reader (process 2) has taken over the routing queues: this client used them for \
                   too long";
        assert_eq!(
            (queues.lost(1, 0), queues.lost(1, 1), queues.lost(1, 2)),
            (Some(why), Some(why), None)
        );
        assert!(!queues.holds(1, 0) && queues.holds(2, 0) && !queues.holds(2, 1));
        // The overtaken client releases what it no longer has, and waits again.
        queues.release(1, 0);
        assert_eq!((queues.lost(1, 0), queues.lost(1, 1)), (None, Some(why)));
        assert!(queues.holds(2, 0) && !queues.take(1, &client(1), 1, after(60)));
        assert_eq!(queues.lost(1, 1), None);
        assert!(!queues.take(3, &client(3), 0, after(61)));
        assert!(queues.take(3, &client(3), 0, after(63)), "the second is silent");
        assert!(queues.lost(2, 0).is_some_and(|why| why.ends_with("was silent for too long")));
        queues.release(3, 0);
        assert!(queues.holder().is_none());
        queues.leave(1);
        assert!(queues.take(2, &client(2), 0, after(64)) && queues.lost(2, 0).is_none());
    }
}
