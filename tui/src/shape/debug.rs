//! The JSON of `debug`: where a core was when it was paused.

use super::xy;
use launch::debugging::{CoreRegisters, Stop, Watched};
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;

/// What a core did under control. It runs again at the end.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Debugged {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of the core's tile: x, y.
    tile: [u8; 2],
    /// erisc, brisc, trisc0, trisc1 or trisc2.
    core: &'static str,
    /// Each time it was paused, in order.
    stops: Vec<DebugStop>,
}

/// A pause.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DebugStop {
    /// command (also after a step), breakpoint, watchpoint or ebreak.
    pub(crate) why: &'static str,
    /// The address of the breakpoint or watchpoint, as the core sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) addr: Option<u32>,
    /// The program counter.
    pub(crate) pc: u32,
    /// The source line with the functions around it, and the image.
    pub(crate) place: String,
    /// x0 to x31, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) registers: Option<[u32; 32]>,
}

impl Debugged {
    pub(crate) fn new(core: CoreId, stops: Vec<DebugStop>) -> Self {
        Self { chip: core.chip.0, tile: xy(core.tile), core: core.core.name(), stops }
    }
}

impl DebugStop {
    pub(crate) fn new(stop: Stop, registers: &CoreRegisters, place: String) -> Self {
        let (why, addr) = match stop {
            Stop::Command => ("command", None),
            Stop::Ebreak => ("ebreak", None),
            Stop::Watch(watch) if watch.watched == Watched::Execution => {
                ("breakpoint", Some(watch.addr))
            }
            Stop::Watch(watch) => ("watchpoint", Some(watch.addr)),
        };
        Self { why, addr, pc: registers.pc, place, registers: None }
    }
}
