//! Arguments that do not fit: of the kernels at the two ends of a link, of the kernels of a chip, and of
//! an EDM and its workers, and of a kernel and its circular buffer.

use super::Case;
use crate::condition::Condition;
use crate::finding::{Confidence, Evidence, Finding};
use crate::kernels::{asks_too_much, edm_of, sibling};
use crate::look::{Kernel, peer, tile_of};
use crate::place::Place;
use decode::state::{CoreState, Party};
use layouts::{CoreId, CoreKind, NocXy};

/// A kernel whose arguments must fit those at the other end of its link.
struct Ends {
    kernel: &'static str,
    /// What the kernels of both ends are called.
    plural: &'static str,
    args: &'static str,
    /// The arguments that both ends must share.
    shared: &'static [&'static str],
    /// The argument in which they must differ.
    role: &'static str,
}

const ENDS: [Ends; 2] = [
    Ends {
        kernel: "edm",
        plural: "EDMs",
        args: "edm_state.args",
        shared: &[
            "run_id",
            "channels",
            "buffers_per_channel",
            "buffer_bytes",
            "buffers_address",
            "termination_mode",
            "buffer_sharing_mode",
        ],
        role: "handshake_sender",
    },
    Ends {
        kernel: "ring_ping",
        plural: "ring pings",
        args: "ring_ping_state.args",
        shared: &["run_id", "ring_length", "payload_bytes"],
        role: "role",
    },
];
/// The first semaphores of a worker are where an EDM's increments can go; more than a program has.
const MOST_SEMAPHORES: u64 = 32;
/// Most workers of a channel of an EDM; L1 may hold any number.
const MOST_WORKERS: u64 = 4;

/// What to do about a circular buffer of too few pages.
const LARGER_BUFFER: &str =
    "make that circular buffer larger, or let the kernel take fewer pages at once";

impl Case<'_> {
    /// Returns the kernels that wait for more pages than their circular buffer has.
    pub(super) fn small_buffers(&self) -> Vec<Finding> {
        let of = |kernel: &Kernel<'_>| {
            let words = self.asks_too_much(kernel)?;
            let id = kernel.core.id;
            let words = format!("core {id}: {words}");
            let mut finding =
                self.finding(Condition::CannotWork, Place::Core(id), Party::Core(id), words);
            LARGER_BUFFER.clone_into(&mut finding.next);
            Some(finding)
        };
        self.kernels.values().filter_map(of).collect()
    }

    pub(super) fn asks_too_much(&self, kernel: &Kernel<'_>) -> Option<String> {
        asks_too_much(self.mesh.layout(), self.last, kernel).filter(|_| self.stands(kernel.core.id))
    }

    /// Returns the arguments that do not fit, where somebody waits.
    pub(super) fn misfits(&self) -> Vec<Finding> {
        // Arguments of a run that has ended stay behind.
        let awaited = self.launched.values().filter(|kernel| self.is_awaited(kernel.core.id));
        let misfits = awaited.flat_map(|kernel| {
            let ends = ENDS.iter().find(|ends| kernel.name() == Some(ends.kernel));
            let unlike = ends.and_then(|ends| self.unlike_ends(kernel, ends));
            let of_core = self.unlike_sibling(kernel).into_iter().chain(self.unlike_edm(kernel));
            unlike.into_iter().chain(self.stale_pointers(kernel)).chain(of_core)
        });
        misfits.chain(self.misplaced()).collect()
    }

    /// Returns the routers whose kernels were built for other Ethernet channels, where somebody waits.
    fn misplaced(&self) -> impl Iterator<Item = Finding> {
        self.last.state.fabric.routers.iter().filter_map(|router| {
            let built_for = router.facts.image_channel.known()?;
            let on = Party::Router(router.at);
            if *built_for == u64::from(router.at.channel) || !self.is_awaited(self.core_of(on)?) {
                return None;
            }
            let towards = router.facts.direction.known();
            let towards = towards.map_or_else(String::new, |it| format!(" ({})", it.name()));
            let words = format!(
                "router {}: its kernel was built for Ethernet channel {built_for}{towards}",
                router.at
            );
            let mut finding =
                self.finding(Condition::EndsDiffer, Place::Router(router.at), on, words);
            finding.next =
                format!("see what its ELF and L1 say of it: `meshscope fabric {}`", router.at);
            Some(finding)
        })
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

    fn unlike_ends(&self, kernel: &Kernel<'_>, ends: &Ends) -> Option<Finding> {
        let end = kernel.end?;
        let far = peer(self.mesh, end)?;
        let far = self.launched.get(&self.core_of(Party::Router(far))?)?;
        let arg = |kernel: &Kernel<'_>, name: &str| kernel.number(&format!("{}.{name}", ends.args));
        // A core on which no such kernel has begun holds no arguments.
        if [kernel, far].iter().any(|kernel| arg(kernel, "run_id").is_none_or(|run| run == 0)) {
            return None;
        }
        let (own, on) = (kernel.core.id, Party::Core(kernel.core.id));
        let place = self.link(end);
        let counts =
            kernel.edm_channels().map(|channel| format!("channel[{channel}].message_count"));
        let shared = ends.shared.iter().map(|name| (*name).to_owned()).chain(counts);
        let unlike = { shared }.find(|name| arg(kernel, name) != arg(far, name));
        let (condition, name) = match unlike {
            Some(name) => (Condition::EndsDiffer, name),
            None if arg(kernel, ends.role) == arg(far, ends.role) => {
                (Condition::CannotWork, ends.role.to_owned())
            }
            None => return None,
        };
        let values = [arg(kernel, &name)?, arg(far, &name)?];
        let words = format!(
            "{place}: `{name}` of the {} is {} on core {own} and {} on core {}",
            ends.plural, values[0], values[1], far.core.id
        );
        let mut finding = self.finding(condition, place, on, words);
        finding.confidence = Confidence::Certain;
        for (kernel, value) in [kernel, far].into_iter().zip(values) {
            let at = kernel.word(&format!("{}.{name}", ends.args))?.0;
            finding.evidence.push(Evidence {
                at: Some(kernel.place().at(at)),
                name: format!("{} {}.{name}", kernel.core.id, ends.args),
                value: value.to_string(),
            });
        }
        Some(finding)
    }

    /// Returns the ring ping whose sibling names another one as its own, if it names this one.
    fn unlike_sibling(&self, kernel: &Kernel<'_>) -> Option<Finding> {
        let own = kernel.core.id;
        let named = sibling(kernel)?;
        let by = self.launched.values().find(|other| sibling(other) == Some(own))?;
        // Of two that name others, that one is wrong which nobody names.
        let returned = self.launched.get(&named).and_then(sibling) == Some(own);
        if by.core.id == named || returned {
            return None;
        }
        let (place, on) = (Place::Core(own), Party::Core(own));
        let words = format!(
            "core {own}: the sibling of its ring ping is core {named}, and that of core {} is core {own}",
            by.core.id
        );
        let mut finding = self.finding(Condition::EndsDiffer, place, on, words);
        finding.confidence = Confidence::Certain;
        Some(finding)
    }

    /// Returns a worker that names a core as its EDM which does not name it, while another one does.
    fn unlike_edm(&self, worker: &Kernel<'_>) -> Option<Finding> {
        let id = worker.core.id;
        let names =
            |(core, edm): &(&CoreId, &Kernel<'_>)| core.chip == id.chip && has_worker(edm, id.tile);
        let named: Vec<CoreId> =
            self.launched.iter().filter(names).map(|(core, _)| *core).collect();
        let sides = ["inbound", "outbound"].into_iter();
        let mut wrong = sides.filter_map(|side| Some((side, edm_of(worker, side)?)));
        let (side, edm) = wrong.find(|(_, edm)| !named.contains(edm))?;
        let own = named.first()?;
        let words = format!(
            "core {id}: its {side} EDM is core {edm}, and the EDM that has it as a worker is core {own}"
        );
        let mut finding =
            self.finding(Condition::EndsDiffer, Place::Core(id), Party::Core(id), words);
        finding.confidence = Confidence::Certain;
        Some(finding)
    }

    /// Returns the semaphores that an EDM increments outside of its workers' programs.
    fn stale_pointers(&self, edm: &Kernel<'_>) -> Vec<Finding> {
        edm.edm_channels().filter_map(|channel| self.stale_pointer(edm, channel)).collect()
    }

    fn stale_pointer(&self, edm: &Kernel<'_>, channel: u8) -> Option<Finding> {
        let name = format!("edm_state.args.channel[{channel}]");
        let (addr, to) = edm.word(&format!("{name}.worker_semaphore_address"))?;
        let workers = edm.number(&format!("{name}.workers"))?;
        let first = edm.number(&format!("{name}.worker_xy[0]")).filter(|_| workers > 0)?;
        let worker = CoreId { chip: edm.core.id.chip, tile: tile_of(first), core: CoreKind::Brisc };
        let launch = self.core(worker).and_then(|core: &CoreState| core.launch.known())?;
        let base = launch.semaphores.filter(|_| launch.enables != 0)?;
        let l1 = self.mesh.layout().tensix.l1_bytes;
        if base >= l1 || (base..base + 16 * MOST_SEMAPHORES).contains(&to) {
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

/// Whether a channel of an EDM has a worker at a tile.
fn has_worker(edm: &Kernel<'_>, tile: NocXy) -> bool {
    let is_worker = |channel: u8| {
        let arg = |name: &str| edm.number(&format!("edm_state.args.channel[{channel}].{name}"));
        let workers = arg("workers").map_or(0, |count| count).min(MOST_WORKERS);
        (0..workers).any(|worker| arg(&format!("worker_xy[{worker}]")).map(tile_of) == Some(tile))
    };
    edm.edm_channels().any(is_worker)
}
