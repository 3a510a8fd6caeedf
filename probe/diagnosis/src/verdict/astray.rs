//! Cores that execute where no code is.

use super::Case;
use crate::look::{Look, one_pc};
use layouts::{CoreId, CoreKind, NocAddr, Space};
use machine::snapshot::Span;
use machine::target::Mesh;

impl Case<'_> {
    /// Returns why there is no code for a core at a program counter, if so.
    pub(super) fn without_code(&self, core: CoreId, pc: u32) -> Option<String> {
        match word_at(self.mesh, core, pc) {
            Some(span) => {
                let zeros = self.last.snapshot.word(span.addr).ok()? == 0;
                zeros.then(|| format!("it executes zeros at {pc:#x}, where no code is"))
            }
            None if has_instructions(self.mesh, core, pc) => None,
            None => Some(format!(
                "its program counter is {pc:#x}, and no memory is there that it executes from"
            )),
        }
    }
}

/// Returns the words at the program counters of cores that the machine stopped, or that all samples show
/// at one.
pub(super) fn spans(mesh: &Mesh, look: Look<'_>) -> Vec<Span> {
    let stopped = look
        .snapshot
        .stopped
        .iter()
        .map(|(chip, it)| (CoreId { chip: *chip, tile: it.tile, core: it.core }, it.pc));
    let sampled = look.sampled.iter().filter_map(|(core, it)| Some((*core, one_pc(it)?)));
    stopped.chain(sampled).filter_map(|(core, pc)| word_at(mesh, core, pc)).collect()
}

/// Returns the word at a program counter of a core; none if it is not in L1.
fn word_at(mesh: &Mesh, core: CoreId, pc: u32) -> Option<Span> {
    let l1 = mesh.layout().l1_bytes(mesh.layout().kind_at(core.tile))?;
    let addr = NocAddr { chip: core.chip, tile: core.tile, offset: u64::from(pc) & !3 };
    (addr.offset < l1).then_some(Span { addr, len: 4 })
}

/// Whether a program counter is in the instruction RAM of a core.
fn has_instructions(mesh: &Mesh, core: CoreId, pc: u32) -> bool {
    let layout = mesh.layout();
    let bytes = match core.core {
        CoreKind::Ncrisc => layout.tensix.ncrisc_iram_bytes,
        CoreKind::Erisc => layout.eth.iram_bytes,
        _ => return false,
    };
    let first = layout.block(Space::Tile(layout.kind_at(core.tile)), "iram");
    first.is_some_and(|first| (first..first + bytes).contains(&u64::from(pc)))
}
