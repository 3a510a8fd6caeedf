//! The JSON of `who-wrote`.

use console::words;
use layouts::NocXy;
use machine::past::{PastWrite, PastWriter};
use machine::snapshot::Span;
use schemars::JsonSchema;
use serde::Serialize;

/// The last write to a range of memory.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WhoWrote {
    #[serde(flatten)]
    span: Span,
    /// The first cycle (nanosecond) of the target that was searched.
    from_cycles: u64,
    /// Writes in this cycle and later were not searched for.
    before_cycles: u64,
    /// The write; null if there was none in that time.
    write: Option<WroteOnce>,
}

/// A write to memory.
#[derive(Serialize, JsonSchema)]
struct WroteOnce {
    /// The cycle (nanosecond) of the target in which it happened.
    at_cycles: u64,
    /// The address of the first byte that it wrote in the range.
    addr: u64,
    /// The bytes that it replaced, in the order of memory, two hexadecimal digits each.
    old: String,
    /// The bytes that it wrote, likewise.
    new: String,
    /// Who wrote: core, debugger, noc, link, mover, host, dma or reset.
    by: &'static str,
    /// The core, such as erisc, that stored, by itself or for a debugger.
    core: Option<String>,
    /// The address of the core's instruction.
    pc: Option<u32>,
    /// The source line of the instruction, by the images that run there now.
    source: Option<String>,
    /// NOC 0 coordinates of the tile that sent the NoC packet: x, y.
    from: Option<NocXy>,
    /// The NoC of the packet: 0 or 1.
    noc: Option<u8>,
    /// What the NoC packet was: write, inline write, atomic, answer to a read, answer to an atomic.
    packet: Option<&'static str>,
    /// The Ethernet peer: chip and channel, such as 1:e0.
    peer: Option<String>,
    /// The PCIe device of the host's write or DMA.
    device: Option<u8>,
}

impl WhoWrote {
    /// The shape of `who-wrote`; the source line of the writing instruction apart.
    pub(crate) fn new(
        span: Span,
        (from_cycles, before_cycles): (u64, u64),
        write: Option<(&PastWrite, Option<String>)>,
    ) -> Self {
        let write = write.map(|(write, source)| WroteOnce::new(write, source));
        Self { span, from_cycles, before_cycles, write }
    }
}

impl WroteOnce {
    fn new(write: &PastWrite, source: Option<String>) -> Self {
        let mut shape = Self {
            at_cycles: write.at_cycles,
            addr: write.offset,
            old: words::hex(&write.old),
            new: words::hex(&write.new),
            by: "reset",
            core: None,
            pc: None,
            source,
            from: None,
            noc: None,
            packet: None,
            peer: None,
            device: None,
        };
        match write.by {
            PastWriter::Core(core, pc) => {
                (shape.by, shape.core, shape.pc) = ("core", Some(core.name().to_owned()), Some(pc));
            }
            PastWriter::Debugger(core) => {
                (shape.by, shape.core) = ("debugger", Some(core.name().to_owned()));
            }
            PastWriter::Noc { from, noc, packet } => {
                (shape.by, shape.from) = ("noc", Some(from));
                (shape.noc, shape.packet) = (Some(noc), Some(packet));
            }
            PastWriter::Link(peer) => {
                shape.by = "link";
                shape.peer = peer.map(|(chip, channel)| format!("{chip}:e{channel}"));
            }
            PastWriter::Mover => shape.by = "mover",
            PastWriter::Host(device) => (shape.by, shape.device) = ("host", Some(device)),
            PastWriter::Dma(device) => (shape.by, shape.device) = ("dma", Some(device)),
            PastWriter::Reset => {}
        }
        shape
    }
}
