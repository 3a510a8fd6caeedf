//! Arguments that do not fit: of the two EDMs of a link, and of an EDM and its workers.

use super::Case;
use crate::condition::Condition;
use crate::finding::{Confidence, Evidence, Finding};
use crate::look::{Kernel, peer, tile_of};
use crate::place::Place;
use decode::state::{CoreState, Party};
use layouts::{CoreId, CoreKind};

/// The arguments that both EDMs of a link must share.
const SHARED: [&str; 7] = [
    "run_id",
    "channels",
    "buffers_per_channel",
    "buffer_bytes",
    "buffers_address",
    "termination_mode",
    "buffer_sharing_mode",
];
/// The first semaphores of a worker are where an EDM's increments can go; more than a program has.
const MOST_SEMAPHORES: u64 = 32;

impl Case<'_> {
    /// Returns the arguments of EDMs that do not fit, where somebody waits.
    pub(super) fn misfits(&self) -> Vec<Finding> {
        let edms = self.launched.values().filter(|kernel| kernel.name() == Some("edm"));
        // Arguments of a run that has ended stay behind.
        let edms = edms.filter(|kernel| self.is_awaited(kernel.core.id));
        edms.flat_map(|edm| self.unlike_ends(edm).into_iter().chain(self.stale_pointers(edm)))
            .collect()
    }

    /// Returns the workers whose staging buffers lie in the text of an image of theirs.
    pub(super) fn overlaps(&self) -> Vec<Finding> {
        let found = self.kernels.values().filter_map(|worker| {
            let (addr, staging) = worker.word("ccl_worker_state.args.staging_address")?;
            // A worker that has not begun holds no arguments.
            worker.number("ccl_worker_state.args.run_id").filter(|run| *run != 0)?;
            let images = worker.core.images.iter();
            let mut images = images.filter(|image| {
                let text = u64::from(image.load_addr);
                (text..text + u64::from(image.comparison.text_bytes)).contains(&staging)
            });
            let image = images.next()?;
            let id = worker.core.id;
            let words = format!(
                "core {id}: its packets are staged at {staging:#x}, inside the text of {}",
                image.name
            );
            let (place, on) = (Place::Core(id), Party::Core(id));
            let mut finding = self.finding(Condition::RegionsOverlap, place, on, words);
            finding.confidence = Confidence::Certain;
            finding.evidence.push(Evidence {
                at: Some(worker.place().at(addr)),
                name: format!("{id} ccl_worker_state.args.staging_address"),
                value: format!("{staging:#x}"),
            });
            Some(finding)
        });
        found.collect()
    }

    /// Whether somebody waits for a core or for one of its channels, or it waits itself.
    fn is_awaited(&self, id: CoreId) -> bool {
        let mut parties = self.waits.all.iter().flat_map(|wait| [wait.waiter, wait.on]);
        parties.any(|party| self.core_of(party) == Some(id))
    }

    fn unlike_ends(&self, edm: &Kernel<'_>) -> Option<Finding> {
        let end = edm.end?;
        let far = peer(self.mesh, end)?;
        let far = self.launched.get(&self.core_of(Party::Router(far))?)?;
        let arg =
            |kernel: &Kernel<'_>, name: &str| kernel.number(&format!("edm_state.args.{name}"));
        // A core on which no EDM has begun holds no arguments.
        if [edm, far].iter().any(|kernel| arg(kernel, "run_id") == Some(0)) {
            return None;
        }
        let (own, on) = (edm.core.id, Party::Core(edm.core.id));
        let place = self.link(end);
        let unlike = SHARED.iter().find(|name| arg(edm, name) != arg(far, name));
        let (condition, name) = match unlike {
            Some(name) => (Condition::EndsDiffer, *name),
            None if arg(edm, "handshake_sender") == arg(far, "handshake_sender") => {
                (Condition::CannotWork, "handshake_sender")
            }
            None => return None,
        };
        let values = [arg(edm, name)?, arg(far, name)?];
        let words = format!(
            "{place}: `{name}` of the EDMs is {} on core {own} and {} on core {}",
            values[0], values[1], far.core.id
        );
        let mut finding = self.finding(condition, place, on, words);
        finding.confidence = Confidence::Certain;
        for (kernel, value) in [edm, far].into_iter().zip(values) {
            let at = kernel.word(&format!("edm_state.args.{name}"))?.0;
            finding.evidence.push(Evidence {
                at: Some(kernel.place().at(at)),
                name: format!("{} edm_state.args.{name}", kernel.core.id),
                value: value.to_string(),
            });
        }
        Some(finding)
    }

    /// Returns the semaphores that an EDM increments outside of its workers' programs.
    fn stale_pointers(&self, edm: &Kernel<'_>) -> Vec<Finding> {
        let count = edm.number("edm_state.args.channels").map_or(0, |count| count);
        (0..count).filter_map(|channel| self.stale_pointer(edm, channel)).collect()
    }

    fn stale_pointer(&self, edm: &Kernel<'_>, channel: u64) -> Option<Finding> {
        let name = format!("edm_state.args.channel[{channel}]");
        let (addr, to) = edm.word(&format!("{name}.worker_semaphore_address"))?;
        let workers = edm.number(&format!("{name}.workers"))?;
        let first = edm.number(&format!("{name}.worker_xy[0]")).filter(|_| workers > 0)?;
        let worker = CoreId { chip: edm.core.id.chip, tile: tile_of(first), core: CoreKind::Brisc };
        let launch = self.core(worker).and_then(|core: &CoreState| core.launch.known())?;
        let base = launch.semaphores.filter(|_| launch.enables != 0)?;
        if (base..base + 16 * MOST_SEMAPHORES).contains(&to) {
            return None;
        }
        let words = format!(
            "core {}: channel {channel} of its EDM increments {to:#x} of {worker}, whose semaphores begin at {base:#x}",
            edm.core.id
        );
        let place = Place::Core(edm.core.id);
        let on = Party::Core(worker);
        let mut finding = self.finding(Condition::StalePointer, place, on, words);
        finding.confidence = Confidence::Certain;
        finding.evidence.push(Evidence {
            at: Some(edm.place().at(addr)),
            name: format!("{} {name}.worker_semaphore_address", edm.core.id),
            value: format!("{to:#x}"),
        });
        Some(finding)
    }
}
