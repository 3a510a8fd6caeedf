//! The JSON of `debug`: where a core was when it was paused.

use console::halted::Pause;
use images::SourceLine;
use images::code::Instruction;
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;

/// What a core did under control. It runs again at the end.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Debugged {
    #[serde(flatten)]
    core: CoreId,
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
    /// The Tensix instruction that the next instruction stores to the coprocessor, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pushes: Option<String>,
    /// The instructions around the program counter, at the last pause and where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Vec<CodeInstruction>>,
}

impl Debugged {
    pub(crate) fn new(core: CoreId, stops: Vec<DebugStop>) -> Self {
        Self { core, stops }
    }
}

/// An instruction.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CodeInstruction {
    /// Its address, as the core sees it.
    addr: u64,
    /// Its word.
    word: u32,
    /// The instruction; that of the Tensix coprocessor with its name in capitals, and its fields
    /// that are not 0.
    text: String,
    /// The source line with the functions around it; null if it is not known.
    source: Option<String>,
}

impl CodeInstruction {
    pub(crate) fn new(instruction: &Instruction) -> Self {
        let Instruction { addr, word, text, lines } = instruction;
        let source = (!lines.is_empty()).then(|| SourceLine::chain(lines));
        Self { addr: (*addr).into(), word: *word, text: text.clone(), source }
    }
}

impl DebugStop {
    pub(crate) fn new(pause: Pause, registers: bool, code: bool) -> Self {
        let place = pause.place();
        let Pause { why, addr, pc, pushes, .. } = pause;
        let code = code.then(|| pause.code.iter().map(CodeInstruction::new).collect());
        Self { why, addr, pc, place, pushes, registers: registers.then_some(pause.registers), code }
    }
}
