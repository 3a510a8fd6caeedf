//! What moves, but slower than it should: links whose window is full all the time.

use super::{Case, over_cycles};
use crate::condition::{Condition, Severity};
use crate::finding::{Confidence, Finding};
use crate::look::{Kernel, Look, peer, tile_of};
use crate::place::Place;
use decode::state::{Party, ReceiverState, RouterState, SenderState};
use layouts::{CoreId, CoreKind, EthId};
use machine::words::{counted, cycles};
use std::collections::{BTreeMap, BTreeSet};

/// A link's round trip without payload, in cycles: two hops and both cores' work (wormhole.md 6.3).
const ROUND_TRIP_CYCLES: f64 = 2_000.0;
/// A window that takes longer than this multiple of its usual time is slow.
const SLOW: f64 = 8.0;

/// The counts of a sender channel in one snapshot.
struct Window {
    cycles: u64,
    completed: u64,
    /// Whether nothing more can be sent before something is completed.
    full: bool,
    /// Messages that the far end holds.
    held: u64,
}

/// A sender channel in all snapshots.
struct Channel {
    at: EthId,
    windows: Vec<Window>,
    /// Messages of a window, and the bytes of each.
    size: (u64, u64),
}

/// The kernels of each snapshot.
type Kernels<'a> = [(u64, BTreeMap<CoreId, Kernel<'a>>)];

fn is_sender(edm: &Kernel<'_>, channel: u8) -> bool {
    edm.number(&format!("edm_state.args.channel[{channel}].is_sender")).is_some_and(|it| it != 0)
}

fn router_in(look: Look<'_>, at: EthId) -> Option<&RouterState> {
    look.state.fabric.routers.iter().find(|router| router.at == at)
}

fn first_receiver(look: Look<'_>, at: EthId) -> Option<&ReceiverState> {
    router_in(look, at)?.receivers.iter().find(|it| it.virtual_channel == 0)
}

/// Returns the sender channels of a router's first virtual channel.
fn senders(router: &RouterState) -> impl Iterator<Item = &SenderState> {
    router.senders.iter().filter(|it| it.virtual_channel == 0)
}

impl Case<'_> {
    pub(super) fn slow(&self) -> Vec<Finding> {
        let edms = self.kernels.values().filter(|kernel| kernel.name() == Some("edm"));
        let edms: Vec<_> = edms.collect();
        // Most meshes run no EDM.
        let of = if edms.is_empty() { &[] } else { self.looks };
        let looks: Vec<_> = of.iter().map(|look| (look.state.cycles, look.kernels())).collect();
        let mut found: Vec<(f64, Place)> = Vec::new();
        let mut senders = 0;
        for edm in edms {
            let sends = edm.edm_channels().filter(|channel| is_sender(edm, *channel));
            let sends: Vec<u8> = sends.collect();
            senders += sends.len();
            let slow = sends.into_iter().filter_map(|channel| {
                let reader = || self.reader(edm, channel);
                self.full(&self.edm_channel(&looks, edm, channel)?, reader)
            });
            found.extend(slow.max_by(|(a, _), (b, _)| a.total_cmp(b)));
        }
        // Where most workers hold every buffer, the work takes that long: none is slower than its
        // peers.
        let is_worker = |(_, place): &(f64, Place)| matches!(place, Place::Core(_));
        if found.iter().filter(|it| is_worker(it)).count() > senders / 2 {
            found.retain(|it| !is_worker(it));
        }
        let routers = self.last.state.fabric.routers.iter();
        found
            .extend(routers.filter_map(|router| self.full(&self.router_channel(router)?, || None)));
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let found = found.into_iter().map(|(factor, place)| self.slower(factor, place));
        found.chain(self.kernels.values().filter_map(|it| self.slow_ring(it))).collect()
    }

    /// Returns a finding about the ring of a ring ping's master, if its last lap took long beyond the
    /// delays that were asked for. Its words do not tell on which link.
    fn slow_ring(&self, master: &Kernel<'_>) -> Option<Finding> {
        if master.name() != Some("ring_ping") {
            return None;
        }
        let arg = |name: &str| master.number(&format!("ring_ping_state.args.{name}"));
        let (length, delay) = (arg("ring_length")?, arg("dwell_cycles")?);
        let lap = master.number("ring_ping_state.last_lap_cycles").filter(|lap| *lap > 0)?;
        // The master delays between two laps.
        let took = lap.checked_sub(delay.checked_mul(length.checked_sub(1)?)?)?;
        // A hand-over takes about as long as a link.
        let usual = self.usual(arg("payload_bytes")?) * length as f64;
        let factor =
            Some(took as f64 / usual).filter(|it| *it >= SLOW && arg("master") == Some(1))?;
        let run = arg("run_id");
        let of_ring = self.kernels.values().filter(|it| {
            it.name() == Some("ring_ping") && it.number("ring_ping_state.args.run_id") == run
        });
        let links: BTreeSet<Place> = of_ring.filter_map(|it| Some(self.link(it.end?))).collect();
        let links: Vec<String> = links.iter().map(Place::to_string).collect();
        let core = master.core.id;
        let words = format!(
            "core {core}: a lap of its ring takes {} beyond the delays, {factor:.0} times as long as at full speed: one of its links is slow ({})",
            cycles(took),
            links.join(", ")
        );
        let mut finding =
            self.finding(Condition::SlowLink, Place::Core(core), Party::Core(core), words);
        (finding.severity, finding.confidence) = (Severity::Slow, Confidence::Likely);
        Some(finding)
    }

    /// Returns the ends of links that counted CRC errors meanwhile.
    pub(super) fn lossy(&self) -> Vec<Finding> {
        let count = |look: &Look<'_>, end: EthId| {
            look.state.eth(end)?.eth.as_ref()?.crc_errors.known().copied()
        };
        let ends = self.last.state.links.iter().flat_map(|link| [link.link.a, link.link.b]);
        let lossy = ends.filter_map(|end| {
            let [first, .., last] = self.looks else { return None };
            let errors = count(last, end)?.checked_sub(count(first, end)?)?;
            (errors > 0).then(|| {
                let words = format!(
                    "{end} counted {} in {}",
                    counted(errors.into(), "CRC error", "CRC errors"),
                    cycles(over_cycles(self.looks))
                );
                let mut finding = Finding::fault(Condition::CrcErrors, Place::End(end), words);
                finding.severity = Severity::Slow;
                finding
            })
        });
        lossy.collect()
    }

    fn slower(&self, factor: f64, place: Place) -> Finding {
        let (condition, on, what) = match place {
            Place::Core(core) => (Condition::Slow, Party::Core(core), "it holds every buffer"),
            _ => (Condition::SlowLink, Party::Host, "its window is full"),
        };
        let words = format!(
            "{place}: {what} all the time, {factor:.0} times as long as a link at full speed needs"
        );
        let mut finding = self.finding(condition, place, on, words);
        (finding.severity, finding.confidence) = (Severity::Slow, Confidence::Likely);
        finding
    }

    /// Returns how much longer than usual a channel's window takes, if it is full all the time,
    /// and where: the link, or the far core that holds its messages.
    fn full(
        &self,
        channel: &Channel,
        reader: impl FnOnce() -> Option<CoreId>,
    ) -> Option<(f64, Place)> {
        let Channel { at, windows, size: (buffers, bytes) } = channel;
        let (first, last) = (windows.first()?, windows.last()?);
        // The two ends are read at different times: one snapshot may show them otherwise.
        let count = |of: &dyn Fn(&Window) -> bool| windows.iter().filter(|it| of(it)).count();
        if windows.len() < 3 || count(&|window| window.full) + 1 < windows.len() {
            return None;
        }
        let moved = last.completed.checked_sub(first.completed).filter(|moved| *moved > 0)?;
        let took = (last.cycles - first.cycles) as f64 * *buffers as f64 / moved as f64;
        let factor = Some(took / self.usual(buffers * bytes)).filter(|factor| *factor >= SLOW)?;
        let place = if count(&|window| window.held >= *buffers) + 1 >= windows.len() {
            Place::Core(reader()?)
        } else if 2 * windows.iter().map(|it| it.held).sum::<u64>() < buffers * windows.len() as u64
        {
            // Most messages of the window are on the way, or their acknowledgements are.
            self.link(*at)
        } else {
            return None;
        };
        Some((factor, place))
    }

    /// Returns the time in which so many bytes cross a link and are acknowledged, in cycles.
    fn usual(&self, bytes: u64) -> f64 {
        ROUND_TRIP_CYCLES + bytes as f64 / self.mesh.layout().eth.link_bytes_per_cycle
    }

    /// Returns the worker that reads a channel's messages at the far end.
    fn reader(&self, edm: &Kernel<'_>, channel: u8) -> Option<CoreId> {
        let far = self.core_of(Party::Router(peer(self.mesh, edm.end?)?))?;
        let name = format!("edm_state.args.channel[{channel}].worker_xy[0]");
        let tile = tile_of(self.kernels.get(&far)?.number(&name)?);
        Some(CoreId { tile, core: CoreKind::Brisc, ..far })
    }

    fn edm_channel(&self, looks: &Kernels<'_>, edm: &Kernel<'_>, channel: u8) -> Option<Channel> {
        let at = edm.end?;
        let arg = |name: &str| edm.number(&format!("edm_state.args.{name}"));
        let size = (arg("buffers_per_channel")?, arg("buffer_bytes")?);
        let far = self.core_of(Party::Router(peer(self.mesh, at)?))?;
        let count = |kernel: &Kernel<'_>, name: &str| {
            kernel.number(&format!("edm_state.channels[{channel}].{name}"))
        };
        let window = |(cycles, kernels): &(u64, BTreeMap<CoreId, Kernel<'_>>)| {
            let (here, there) = (kernels.get(&edm.core.id)?, kernels.get(&far)?);
            let (sent, completed) = (count(here, "messages_sent")?, count(here, "completed")?);
            let held = count(there, "messages_sent")?.saturating_sub(count(there, "completed")?);
            let full = sent.saturating_sub(completed) >= size.0;
            Some(Window { cycles: *cycles, completed: completed.min(sent), full, held })
        };
        Some(Channel { at, windows: looks.iter().map(window).collect::<Option<_>>()?, size })
    }

    /// Returns the packets of a router's first virtual channel.
    fn router_channel(&self, router: &RouterState) -> Option<Channel> {
        let (at, far) = (router.at, peer(self.mesh, router.at)?);
        let flying = |router: &RouterState| -> Option<u64> {
            senders(router).map(|it| it.facts.in_flight.known().copied()).sum()
        };
        let bytes = *first_receiver(self.last, far)?.facts.slot_bytes.known()?;
        let size = (flying(router)?, bytes);
        let window = |look: &Look<'_>| {
            let (here, there) = (router_in(*look, at)?, first_receiver(*look, far)?);
            let completed = senders(here).map(|it| it.facts.completed.known().copied());
            let free = *senders(here).next()?.facts.remote_free_slots.known()?;
            let is_full = |it: &SenderState| {
                it.facts.in_flight.known().is_some_and(|count| *count > 0 && *count >= it.slots)
            };
            Some(Window {
                cycles: look.state.cycles,
                completed: completed.sum::<Option<u64>>()?,
                full: free == 0 || senders(here).any(is_full),
                held: there.facts.arrived.known()? + there.facts.held.known()?,
            })
        };
        Some(Channel { at, windows: self.looks.iter().map(window).collect::<Option<_>>()?, size })
    }
}
