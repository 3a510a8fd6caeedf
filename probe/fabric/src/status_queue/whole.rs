//! All status queues of a running fabric, with the bytes from which they were decoded.

use super::{StatusReport, read_status, status_queues};
use crate::running_fabric;
use images::ImageMap;
use launch::ControlError;
use layouts::NocAddr;
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Abilities, Mesh, Target};

/// Reads the status queues of all routers of a running fabric, if there is one, and returns the bytes
/// as well: a target that has them answers with the same queues. Nothing is written.
///
/// # Errors
/// When a router or a queue cannot be read.
pub fn read_all_status(
    target: &mut dyn Target,
    images: &ImageMap,
) -> Result<(Vec<StatusReport>, Snapshot), ControlError> {
    let mut noting = Noting { target, read: Snapshot::default() };
    let reports = match running_fabric(&mut noting, images)? {
        Some(plan) => {
            let queues = status_queues(&mut noting, images, &plan)?;
            read_status(&mut noting, images, &queues)?
        }
        None => Vec::new(),
    };
    Ok((reports, noting.read))
}

/// A target that keeps what is read.
struct Noting<'a> {
    target: &'a mut dyn Target,
    read: Snapshot,
}

impl Target for Noting<'_> {
    fn name(&self) -> &str {
        self.target.name()
    }

    fn abilities(&self) -> &Abilities {
        self.target.abilities()
    }

    fn mesh(&self) -> &Mesh {
        self.target.mesh()
    }

    fn read(&mut self, plan: &Plan) -> Snapshot {
        let snapshot = self.target.read(plan);
        self.read = snapshot.completed_by(&self.read);
        snapshot
    }

    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.target.write(addr, bytes)
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        self.target.now()
    }

    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.target.pass(cycles)
    }
}
