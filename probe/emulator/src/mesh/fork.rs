//! Copies of a mesh: checkpoints, and meshes that run on from them.

use super::Mesh;
use super::threads::Threads;
use crate::chip::Chip;
use crate::past::checkpoint::Checkpoint;
use std::sync::Arc;

impl Mesh {
    /// Returns the state of the mesh at this cycle. It costs what changed since the last call: see
    /// [`Checkpoint`].
    ///
    /// The memory of the host ([`Mesh::set_host_memory`]) is not part of it; a mesh that keeps its
    /// history keeps what the devices read there.
    pub fn checkpoint(&mut self) -> Checkpoint {
        let written_by = self.written_by();
        Checkpoint {
            now: self.now,
            config: Arc::clone(&self.config),
            timing: Arc::clone(&self.timing),
            devices: self.devices.clone(),
            peers: Arc::clone(&self.peers),
            lookahead: self.lookahead,
            chips: self.chips.iter_mut().map(|chip| chip.save(written_by)).collect(),
            spaces: self.spaces.clone(),
            links_up: self.links_up.clone(),
            disruptor: self.disruptor.clone(),
            conditions: self.conditions.clone(),
        }
    }

    /// Returns a cycle after all writes up to now, and, of those since the last checkpoint, after that:
    /// the host may have written since in its cycle.
    pub(crate) fn written_by(&mut self) -> u64 {
        let again = self.saved_at.replace(self.now) == Some(self.now);
        self.now + u64::from(again)
    }

    /// Creates a mesh in the state of a checkpoint. From the same host actions at the same cycles it
    /// makes the same bytes as the mesh that the checkpoint is of.
    ///
    /// It has no journal, no history and no host memory, and runs on the caller's thread: the mesh
    /// that the checkpoint is of may be running at the same time.
    pub fn from_checkpoint(from: &Checkpoint) -> Self {
        Self {
            config: Arc::clone(&from.config),
            timing: Arc::clone(&from.timing),
            now: from.now,
            chips: from.chips.iter().map(Chip::restored).collect(),
            devices: from.devices.clone(),
            host: None,
            spaces: from.spaces.clone(),
            peers: Arc::clone(&from.peers),
            links_up: from.links_up.clone(),
            disruptor: from.disruptor.clone(),
            lookahead: from.lookahead,
            conditions: from.conditions.clone(),
            journal: None,
            keeper: None,
            saved_at: Some(from.now),
            threads: Threads::new(1, from.chips.len()),
            seen_packets: None,
        }
    }
}
