//! A recording of a made-up n300, a target that opens at once, for tests of the terminal and the
//! verbs.

use super::common::{TAKEN, end, eth_xy, mesh};
use layouts::{ChipId, ChipKind, NocAddr, NocXy};
use machine::history::Mark;
use machine::snapshot::{AccessError, Piece, Plan, Snapshot};
use machine::target::{Abilities, Chip, Mesh, Target};
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

/// Writes the recording with this board name on every chip, and an ELF that runs on 0:1-2: its name,
/// and its bytes.
pub(crate) fn write_foreign(path: &Path, board: &str, (name, elf): (&str, &[u8])) {
    let mut writer = begun_on(path, Some(board));
    writer.attach_elf(&format!("base firmware/brisc/0/{name}"), elf).unwrap();
    writer.mark(Mark::new(2_000_000, TAKEN, board)).unwrap();
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap());
    // The program headers (ELF, 32 bits): type, offset, virtual and physical address, size.
    let (first, count) = (word(28) as usize, usize::from(elf[44]));
    let headers = (0..count).map(|n| first + 32 * n).filter(|at| word(*at) == 1);
    let pieces = headers.map(|at| {
        let (from, size) = (word(at + 4) as usize, word(at + 16) as usize);
        let tile = NocXy { x: 1, y: 2 };
        let addr = NocAddr { chip: ChipId(0), tile, offset: word(at + 12).into() };
        let bytes = elf[from..from + size].into();
        Piece { addr, target_cycles: 2_000_000, host_micros: TAKEN, bytes }
    });
    let pieces = pieces.collect();
    let snapshot = Snapshot { pieces, transactions: 1, ..Snapshot::default() };
    writer.append(&snapshot).unwrap();
    writer.finish().unwrap();
}

fn begun(path: &Path) -> Writer {
    begun_on(path, None)
}

fn begun_on(path: &Path, board: Option<&str>) -> Writer {
    let state = mesh(0);
    let named = |chip: &Chip| {
        let board = board.map(str::to_owned).or(chip.board.clone());
        Chip { board, ..chip.clone() }
    };
    let mesh = Mesh {
        kind: layouts::ChipKind::Wormhole,
        chips: state.chips.iter().map(|c| named(&c.chip)).collect(),
        links: state.links.iter().map(|l| l.link).collect(),
        ..Mesh::default()
    };
    let target = Named { mesh, abilities: Abilities::default() };
    let mut bytes = vec![0; 0x2000];
    let eth = &ChipKind::Wormhole.layout().eth;
    let words = [(&eth.l1.heartbeat, BEAT), (&eth.l1.train_status, eth.values.train_up)];
    for (word, value) in words {
        bytes[word.at as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let tile = eth_xy(8);
    let addr = NocAddr { chip: end(0, 8).chip, tile, offset: 0 };
    let piece = Piece { addr, target_cycles: 2_000_000, host_micros: TAKEN, bytes: bytes.into() };
    // A writer replaces no file.
    let _ = std::fs::remove_file(path);
    let mut writer = Writer::create(path, &target, "").unwrap();
    writer
        .append(&Snapshot { pieces: vec![piece], transactions: 1, ..Snapshot::default() })
        .unwrap();
    writer
}
