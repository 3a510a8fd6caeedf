//! What moves, but slower than it should: links whose window is full all the time.

use super::{Case, over_cycles};
use crate::condition::{Condition, Severity};
use crate::finding::{Confidence, Finding};
use crate::look::{Kernel, Look, peer, tile_of};
use crate::place::Place;
use decode::state::Party;
use layouts::{CoreId, CoreKind, EthId};
use machine::words::{counted, cycles};

/// A link's round trip without payload, in cycles: two hops and both cores' work (wormhole.md 6.3).
const ROUND_TRIP_CYCLES: f64 = 2_000.0;
/// A window that takes longer than this multiple of its usual time is slow.
const SLOW: f64 = 8.0;

/// The counts of a sender channel in one snapshot.
struct Window {
    cycles: u64,
    sent: u64,
    completed: u64,
    /// Messages that the far workers hold.
    held: u64,
}

fn is_sender(edm: &Kernel<'_>, channel: u8) -> bool {
    edm.number(&format!("edm_state.args.channel[{channel}].is_sender")).is_some_and(|it| it != 0)
}

impl Case<'_> {
    pub(super) fn slow(&self) -> Vec<Finding> {
        let edms = self.kernels.values().filter(|kernel| kernel.name() == Some("edm"));
        let mut found: Vec<(f64, Place)> = Vec::new();
        let mut senders = 0;
        for edm in edms {
            let sends = edm.edm_channels().filter(|channel| is_sender(edm, *channel));
            let sends: Vec<u8> = sends.collect();
            senders += sends.len();
            let slow = sends.into_iter().filter_map(|channel| self.full(edm, channel));
            found.extend(slow.max_by(|(a, _), (b, _)| a.total_cmp(b)));
        }
        // Where most workers hold every buffer, the work takes that long: none is slower than its
        // peers.
        let is_worker = |(_, place): &(f64, Place)| matches!(place, Place::Core(_));
        if found.iter().filter(|it| is_worker(it)).count() > senders / 2 {
            found.retain(|it| !is_worker(it));
        }
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.into_iter().map(|(factor, place)| self.slower(factor, place)).collect()
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
    /// and where: the link, or the far worker that holds its messages.
    fn full(&self, edm: &Kernel<'_>, channel: u8) -> Option<(f64, Place)> {
        let arg = |name: &str| edm.number(&format!("edm_state.args.{name}"));
        let (buffers, bytes) = (arg("buffers_per_channel")?, arg("buffer_bytes")?);
        let windows: Vec<Window> = self
            .looks
            .iter()
            .map(|look| self.window(*look, edm, channel))
            .collect::<Option<_>>()?;
        let full = |it: &Window| it.sent - it.completed >= buffers;
        let (first, last) = (windows.first()?, windows.last()?);
        // The two ends are read at different times: one snapshot may show them otherwise.
        let count = |of: &dyn Fn(&Window) -> bool| windows.iter().filter(|it| of(it)).count();
        if windows.len() < 3 || count(&full) + 1 < windows.len() {
            return None;
        }
        let moved = last.completed.checked_sub(first.completed).filter(|moved| *moved > 0)?;
        let took = (last.cycles - first.cycles) as f64 * buffers as f64 / moved as f64;
        let usual = ROUND_TRIP_CYCLES
            + (buffers * bytes) as f64 / self.mesh.layout().eth.link_bytes_per_cycle;
        let factor = Some(took / usual).filter(|factor| *factor >= SLOW)?;
        let place = if count(&|window| window.held >= buffers) + 1 >= windows.len() {
            Place::Core(self.reader(edm, channel)?)
        } else if 2 * windows.iter().map(|it| it.held).sum::<u64>() < buffers * windows.len() as u64
        {
            // Most messages of the window are on the way, or their acknowledgements are.
            self.link(edm.end?)
        } else {
            return None;
        };
        Some((factor, place))
    }

    /// Returns the worker that reads a channel's messages at the far end.
    fn reader(&self, edm: &Kernel<'_>, channel: u8) -> Option<CoreId> {
        let far = self.core_of(Party::Router(peer(self.mesh, edm.end?)?))?;
        let name = format!("edm_state.args.channel[{channel}].worker_xy[0]");
        let tile = tile_of(self.kernels.get(&far)?.number(&name)?);
        Some(CoreId { tile, core: CoreKind::Brisc, ..far })
    }

    fn window(&self, look: Look<'_>, edm: &Kernel<'_>, channel: u8) -> Option<Window> {
        let kernels = look.kernels();
        let here = kernels.get(&edm.core.id)?;
        let far = peer(self.mesh, edm.end?)?;
        let there = kernels.get(&self.core_of(Party::Router(far))?)?;
        let count = |kernel: &Kernel<'_>, name: &str| {
            kernel.number(&format!("edm_state.channels[{channel}].{name}"))
        };
        let (sent, completed) = (count(here, "messages_sent")?, count(here, "completed")?);
        let held = count(there, "messages_sent")?.saturating_sub(count(there, "completed")?);
        Some(Window { cycles: look.state.cycles, sent, completed: completed.min(sent), held })
    }
}
