//! A recording of a made-up n300, a target that opens at once, for tests of the terminal and the
//! verbs.

use super::common::{TAKEN, end, eth_xy, mesh};
use layouts::{ChipKind, NocAddr};
use machine::history::Mark;
use machine::snapshot::{AccessError, Piece, Plan, Snapshot};
use machine::target::{Abilities, Mesh, Target};
use recordings::Writer;
use std::path::Path;

/// Heartbeat of the Ethernet core 0:e8 in the recording.
pub(crate) const BEAT: u32 = 0xABCD_1234;

struct Named {
    mesh: Mesh,
    abilities: Abilities,
}

impl Target for Named {
    fn name(&self) -> &'static str {
        "emulator:n300"
    }
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }
    fn mesh(&self) -> &Mesh {
        &self.mesh
    }
    fn read(&mut self, _plan: &Plan) -> Snapshot {
        Snapshot::default()
    }
    fn write(&mut self, _addr: NocAddr, _bytes: &[u8]) -> Result<(), AccessError> {
        Ok(())
    }
    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(0)
    }
    fn pass(&mut self, _cycles: u64) -> Result<(), AccessError> {
        Ok(())
    }
}

/// Writes the recording: one snapshot, with the L1 of one Ethernet tile.
pub(crate) fn write(path: &Path) {
    begun(path).finish().unwrap();
}

/// Writes the recording with a mark at its moment.
pub(crate) fn write_marked(path: &Path, mark: &str) {
    let mut writer = begun(path);
    let condition = Some("core-stuck".to_owned());
    writer.mark(Mark { condition, ..Mark::new(2_000_000, TAKEN, mark) }).unwrap();
    writer.finish().unwrap();
}

fn begun(path: &Path) -> Writer {
    let state = mesh(0);
    let mesh = Mesh {
        kind: layouts::ChipKind::Wormhole,
        chips: state.chips.iter().map(|c| c.chip.clone()).collect(),
        links: state.links.iter().map(|l| l.link).collect(),
        problems: vec![],
    };
    let target = Named { mesh, abilities: Abilities::default() };
    let mut bytes = vec![0; 0x2000];
    let beat = ChipKind::Wormhole.layout().eth.l1.heartbeat.at as usize;
    bytes[beat..beat + 4].copy_from_slice(&BEAT.to_le_bytes());
    let tile = eth_xy(8);
    let addr = NocAddr { chip: end(0, 8).chip, tile, offset: 0 };
    let piece = Piece { addr, target_cycles: 2_000_000, host_micros: TAKEN, bytes: bytes.into() };
    let mut writer = Writer::create(path, &target, "").unwrap();
    writer
        .append(&Snapshot { pieces: vec![piece], transactions: 1, ..Snapshot::default() })
        .unwrap();
    writer
}
