//! What was done and reported since the moment before: lines of the audit log, and messages of the
//! routers' status queues.

use crate::feed::MeshSnapshot;
use crate::host_time::now_micros;
use decode::state::FabricState;
use fabric::status_queue::read_all_status;
use fabric::{ROUTER_IMAGES, router_image};
use machine::notes::Note;
use machine::snapshot::Snapshot;
use probe::session::Session;
use std::collections::BTreeSet;

/// Knows the messages that were noted: by chip, channel, run, and number.
#[derive(Default)]
pub struct Noted(BTreeSet<(u16, u8, u32, u32)>);

impl Noted {
    /// Adds to a moment what is read of the status queues, if routers run that have them; returns the
    /// messages that are new.
    pub(super) fn complete(
        &mut self,
        session: &mut Session,
        moment: &mut MeshSnapshot,
    ) -> Vec<Note> {
        if !has_status_queues(&moment.state.fabric) {
            return Vec::new();
        }
        let (messages, read) = self.reported(session);
        moment.memory = read.completed_by(&moment.memory);
        messages
    }

    /// Reads the status queues of a fabric; returns the messages that are new, and what was read.
    pub fn reported(&mut self, session: &mut Session) -> (Vec<Note>, Snapshot) {
        let (target, images) = session.parts();
        let now = now_micros();
        // Queues that cannot be read now are read with the next moment.
        let Ok((reports, read)) = read_all_status(target, images) else {
            return (Vec::new(), Snapshot::default());
        };
        let messages = reports.iter().flat_map(|report| report.messages(now));
        let new = messages.filter(|it| self.0.insert((it.chip, it.channel, it.run_id, it.number)));
        (new.map(Note::Status).collect(), read)
    }
}

/// Returns the lines of the audit log since the last call, and how many older ones are lost.
pub fn audited(session: &mut Session) -> (Vec<Note>, u64) {
    let audit = session.target().audit();
    let (lines, lost) = audit.map_or_else(Default::default, machine::target::Audit::take);
    (lines.into_iter().map(Note::Audit).collect(), lost)
}

/// Whether routers run that have status queues: our own.
fn has_status_queues(fabric: &FabricState) -> bool {
    let is_own = |image: &str| {
        ROUTER_IMAGES.iter().any(|&(topology, apart)| router_image(topology, apart) == image)
    };
    fabric.routers.iter().any(|router| is_own(&router.image))
}
