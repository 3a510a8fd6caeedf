//! What a sampled core waits for, by the instructions in its L1.

use super::Session;
use decode::profile::CoreProfile;
use decode::spin::{Reads, Spin, spin, text_of};
use layouts::{CoreId, NocAddr, TileKind};
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;

/// Bytes of the wall clock: low word, high word, and the high word that reading the low one latched.
const CLOCK_BYTES: u64 = 12;

impl Session {
    /// Returns the loop in which a sampled core spins, if its instructions are in L1 and tell that.
    pub(super) fn spin(&mut self, of: &CoreProfile) -> Option<Spin> {
        let layout = self.target.mesh().layout();
        let kind = layout.kind_at(of.core.tile);
        let debug = match kind {
            TileKind::Tensix => layout.blocks.tensix_debug,
            _ => layout.blocks.eth_debug,
        };
        let (clock, l1_bytes) = (debug + layout.debug.wall_clock_low.at, layout.l1_bytes(kind)?);
        let pcs = of.pcs();
        let text = text_of(&pcs).filter(|text| u64::from(text.end) <= l1_bytes)?;
        let mut reads = OfCore {
            core: of.core,
            target: self.target.as_mut(),
            read: Snapshot::default(),
            l1_bytes,
            clock,
        };
        reads.read(text.start, text.end - text.start);
        let words: Option<Vec<u32>> = text.step_by(4).map(|at| reads.known(at)).collect();
        spin(&pcs, &words?, &mut reads)
    }
}

/// The L1 of a core, read as it is asked for.
struct OfCore<'a> {
    core: CoreId,
    target: &'a mut dyn Target,
    read: Snapshot,
    l1_bytes: u64,
    /// The address of the wall clock.
    clock: u64,
}

impl OfCore<'_> {
    fn addr(&self, at: u32) -> NocAddr {
        NocAddr { chip: self.core.chip, tile: self.core.tile, offset: at.into() }
    }

    fn read(&mut self, at: u32, len: u32) {
        self.read = self.target.read(&Plan { spans: vec![Span { addr: self.addr(at), len }] });
    }

    fn known(&self, at: u32) -> Option<u32> {
        self.read.word(self.addr(at)).ok()
    }
}

impl Reads for OfCore<'_> {
    fn word(&mut self, at: u32) -> Option<u32> {
        if u64::from(at) + 4 > self.l1_bytes {
            return None;
        }
        self.read(at, 4);
        self.known(at)
    }

    fn is_time(&self, at: u32) -> bool {
        (self.clock..self.clock + CLOCK_BYTES).contains(&at.into())
    }
}
