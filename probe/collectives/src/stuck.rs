//! Finds stuck workers from their own words. A compute core has no heartbeat, but the words it
//! waits for can be read. A worker is not waiting if it has everything for its next packet, or if
//! it never took its go message.

use super::launcher::firmware_of;
use super::program::flags::{CREDIT, FROM_CHANNEL, TO_CHANNEL, WAIT};
use super::watched::Watched;
use super::worker::{WORKER, worker_semaphore};
use images::ImageMap;
use launch::outcome::{RunError, Waypoint};
use launch::{done_condition, image, mailbox};
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;

/// The waypoint of firmware that waits for a go message.
const WAITS_FOR_GO: &str = "GW";
/// The waypoint of a worker that waits for what its next packet needs.
const WAITS: &str = "NSW";
/// Transient waypoints: those of a worker whose loop runs, and of a worker that waits for its
/// tile's NoC.
const PASSING: [(&str, &str); 6] = [
    ("K", "it began and did not continue"),
    ("R", "it had work and did not continue"),
    ("NRBW", "it waits for a read over the NoC"),
    ("NWBW", "it waits for a write over the NoC"),
    ("TDNW", "it moved all data and does not end"),
    ("KD", "it ended and did not return"),
];

/// The addresses of a worker's words that decide whether it has to wait.
struct Places {
    go: u64,
    inbound: u64,
    outbound: u64,
    signal: u64,
}

/// Returns the index of the first stuck worker among these, and the evidence.
///
/// # Errors
/// If an image lacks a word.
pub(super) fn standing_worker(
    target: &mut dyn Target,
    images: &ImageMap,
    open: &[&Watched],
    waypoints: &[Waypoint],
) -> Result<Option<(usize, String)>, RunError> {
    let semaphore = |name| worker_semaphore(images, name).map(u64::from);
    let firmware = image(images, firmware_of(WORKER))?;
    let (go, returned) = done_condition(mailbox(&firmware)?);
    let places = Places {
        go,
        inbound: semaphore("CCL_SEMAPHORE_INBOUND")?,
        outbound: semaphore("CCL_SEMAPHORE_OUTBOUND")?,
        signal: semaphore("CCL_SEMAPHORE_SIGNAL")?,
    };
    let workers: Vec<(usize, &Watched, &str)> = open
        .iter()
        .zip(waypoints)
        .enumerate()
        .filter(|(_, (core, _))| core.kernel == WORKER)
        .filter_map(|(at, (core, waypoint))| match waypoint {
            Waypoint::At(code, _) => Some((at, *core, code.as_str())),
            Waypoint::Unread(_) => None,
        })
        .collect();
    let spans = workers.iter().flat_map(|(_, core, _)| places.spans(core)).collect();
    let snapshot = target.read(&Plan { spans });
    let has_go = |core: &Watched| {
        snapshot.word(core.place.at(places.go)).is_ok_and(|go| !returned.holds(go))
    };
    // A worker that never began blocks all others.
    let asleep = |(_, core, code): &&(usize, &Watched, &str)| *code == WAITS_FOR_GO && has_go(core);
    if let Some((at, ..)) = workers.iter().find(asleep) {
        return Ok(Some((*at, "it did not take its go message".to_owned())));
    }
    let standing = workers.iter().filter(|(_, core, _)| has_go(core) && !core.over_fabric);
    let mut standing = standing.filter_map(|(at, core, code)| {
        let passing = PASSING.iter().find(|(passing, _)| passing == code);
        let why = passing.map(|(_, why)| (*why).to_owned());
        Some((*at, why.or_else(|| places.unused(&snapshot, core).filter(|_| *code == WAITS))?))
    });
    Ok(standing.next())
}

impl Places {
    fn spans(&self, core: &Watched) -> [Span; 4] {
        [self.go, self.inbound, self.outbound, self.signal]
            .map(|at| Span { addr: core.place.at(at), len: 4 })
    }

    /// Returns the inputs that a worker has but does not use, if it lacks nothing for its next
    /// packet.
    fn unused(&self, snapshot: &Snapshot, core: &Watched) -> Option<String> {
        let values = &core.values;
        let command = values.command as usize;
        // The packet it waits with belongs to the command begun last, or to the next one.
        let next = core.flags.iter().skip(command).take(2);
        let needs = next.fold(0, |all, flags| all | flags);
        if needs == 0 || needs & CREDIT != 0 {
            return None;
        }
        let ahead = |flag: u16, at: u64, taken: u32| {
            let there = snapshot.word(core.place.at(at)).ok()?;
            Some(needs & flag == 0 || there.wrapping_sub(taken) as i32 > 0)
        };
        let there = ahead(FROM_CHANNEL, self.inbound, values.packets_in)?
            && ahead(TO_CHANNEL, self.outbound, values.packets_out)?
            && ahead(WAIT, self.signal, values.signals_taken)?;
        there.then(|| {
            let what =
                [(FROM_CHANNEL, "a packet"), (TO_CHANNEL, "a free buffer"), (WAIT, "a signal")];
            let what: Vec<&str> =
                what.iter().filter(|(flag, _)| needs & flag != 0).map(|(_, what)| *what).collect();
            let what =
                if what.is_empty() { "nothing to wait for".into() } else { what.join(" and ") };
            format!("it has {what} for its next packet and does not continue")
        })
    }
}
