//! A bus that clocks the mesh one cycle at a time, so that tracers see each instruction.

use super::tracer::Tracer;
use access::bar_target::BarTarget;
use emulator::{Mesh, MeshConfig};
use layouts::ChipKind;
use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow};
use std::sync::{Arc, Mutex};
use transport::emulator_bar::EmulatorBar;

/// The mesh and the tracers of its harts.
pub(super) struct Rig {
    bar: EmulatorBar,
    pub(super) tracers: Vec<Tracer>,
}

/// One of several handles of a rig.
#[derive(Clone)]
pub(super) struct Handle(pub(super) Arc<Mutex<Rig>>);

impl Rig {
    fn pass(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.bar.mesh_mut().clock(1);
            let mesh = self.bar.mesh();
            self.tracers.iter_mut().for_each(|tracer| tracer.step(mesh));
        }
    }
}

impl Handle {
    /// Returns the mesh at power-on. Accesses cost no time in the mesh: the rig clocks their cycles
    /// after each.
    pub(super) fn new(mut config: MeshConfig, tracers: Vec<Tracer>) -> Self {
        let timing = &mut config.timing;
        (timing.host_read, timing.host_write, timing.host_config_read) = (0, 0, 0);
        let bar = EmulatorBar::new(Mesh::new(config).unwrap());
        Self(Arc::new(Mutex::new(Rig { bar, tracers })))
    }

    pub(super) fn target(&self) -> BarTarget {
        let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
        BarTarget::open(
            "traced",
            Box::new(self.clone()),
            abilities,
            machine::patience::Deadlines::default(),
        )
        .unwrap()
    }

    pub(super) fn conditions(&self) -> Vec<String> {
        let rig = self.0.lock().unwrap();
        rig.bar.mesh().conditions().iter().map(ToString::to_string).collect()
    }
}

impl Bar for Handle {
    fn chip(&self) -> ChipKind {
        self.0.lock().unwrap().bar.chip()
    }

    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let mut rig = self.0.lock().unwrap();
        for op in batch {
            let cycles = match op {
                BarOp::Pass { cycles } => *cycles,
                BarOp::Read { len, .. } => 700 * u64::from(*len).div_ceil(64),
                BarOp::Write { bytes, .. } => 10 * bytes.len().div_ceil(64) as u64,
                BarOp::ConfigRead { .. } => 700,
                BarOp::Point { .. } => 10,
                BarOp::Now => 0,
            };
            if !matches!(op, BarOp::Pass { .. }) {
                rig.bar.submit(std::slice::from_ref(op), answer)?;
            }
            rig.pass(cycles);
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }
}
