//! The true stack of a hart, tracked from its reset through every instruction that it executes, and
//! the comparison of backtraces with it.

use emulator::hart::LOCAL_RAM;
use emulator::{HartView, Mesh};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use symbols::{Backtrace, Module, Registers, StackEnd, backtrace};

/// Registers that a function must preserve: s0 to s11.
const SAVED: [u16; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
/// The instruction RAM of an Ethernet tile's hart, and the L1 that is copied to it.
pub(super) const IRAM: u32 = 0xFFC0_0000;
pub(super) const IRAM_SOURCE: u32 = 0xA840;

/// A call that has not returned.
#[derive(Clone, Debug)]
struct Call {
    back: u32,
    /// The stack pointer of the caller at the call.
    sp: u32,
    saved: [u32; SAVED.len()],
}

/// The registers and private RAM of a hart at one instruction, as input for gdb.
#[derive(Debug, Default)]
pub(super) struct CapturedStack {
    frames: usize,
    pub(super) registers: Registers,
    pub(super) ram: Vec<u8>,
}

/// The results of one hart's backtraces.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Instructions executed.
    pub(super) instructions: u64,
    /// Calls and returns.
    pub(super) calls: u64,
    pub(super) returns: u64,
    /// Returns that left more than one function at once.
    pub(super) long_returns: u64,
    /// Backtraces compared: one for each pair of a pc and a true stack below it.
    pub(super) compared: u64,
    /// Backtraces with every return address, frame address and saved register right, down to the
    /// reset.
    pub(super) whole: u64,
    /// Right backtraces that ended before the reset, by reason.
    pub(super) short: BTreeMap<String, u64>,
    /// Wrong backtraces, by the function of the pc, and the errors.
    pub(super) wrong_in: BTreeMap<String, u64>,
    pub(super) wrong: Vec<String>,
    /// Frames compared.
    pub(super) frames: u64,
    /// Backtraces by the number of files in them.
    pub(super) files: BTreeMap<usize, u64>,
    /// The deepest stack.
    pub(super) deepest: usize,
    /// The first of the deepest stacks.
    pub(super) captured: CapturedStack,
    /// Pcs at which a backtrace was taken.
    pub(super) pcs: HashSet<u32>,
}

impl Tally {
    pub(super) fn print(&self, name: &str) {
        println!(
            "{name}: {} instructions, {} calls, {} returns ({} over several calls), up to {} deep; {} backtraces of {} \
             frames at {} pcs compared: {} whole, {} wrong; by number of files {:?}; short: {:?}",
            self.instructions,
            self.calls,
            self.returns,
            self.long_returns,
            self.deepest,
            self.compared,
            self.frames,
            self.pcs.len(),
            self.whole,
            self.wrong.len(),
            self.files,
            self.short,
        );
        self.wrong.iter().take(5).for_each(|wrong| println!("  {wrong}"));
    }
}

/// Follows one hart.
pub(super) struct Tracer {
    pub(super) chip: usize,
    pub(super) tile: (u8, u8),
    pub(super) hart: u8,
    pub(super) modules: Vec<Module>,
    pub(super) tally: Tally,
    calls: Vec<Call>,
    seen: HashSet<u64>,
    /// The next instruction: its count, its pc, its word.
    next: Option<(u64, u32, u32)>,
    before: Option<Call>,
}

impl Tracer {
    pub(super) fn new(chip: usize, tile: (u8, u8), hart: u8, modules: Vec<Module>) -> Self {
        Self {
            chip,
            tile,
            hart,
            modules,
            tally: Tally::default(),
            calls: Vec::new(),
            seen: HashSet::new(),
            next: None,
            before: None,
        }
    }

    pub(super) fn name(&self) -> String {
        let (x, y) = self.tile;
        format!("chip {} tile {x}-{y} hart {}", self.chip, self.hart)
    }

    /// Follows the hart; one cycle has passed since the last call.
    pub(super) fn step(&mut self, mesh: &Mesh) {
        let (x, y) = self.tile;
        let hart = mesh.hart(self.chip, x, y, self.hart).unwrap();
        if !hart.running() {
            (self.next, self.before) = (None, None);
            self.calls.clear();
            return;
        }
        if let Some((retired, pc, word)) = self.next.take() {
            assert_eq!(hart.retired(), retired + 1, "an instruction was missed at {pc:#x}");
            self.tally.instructions += 1;
            self.follow(pc, word, hart.pc());
        }
        let pc = hart.pc();
        let word = code(&hart, pc);
        self.next = Some((hart.retired(), pc, word));
        if links(word) {
            let saved = SAVED.map(|number| hart.register(number as u8));
            self.before = Some(Call { back: pc.wrapping_add(4), sp: hart.register(2), saved });
        }
        if self.is_new(pc) {
            self.compare(&hart, pc);
        }
    }

    /// Applies the instruction at `pc` to the true stack.
    fn follow(&mut self, pc: u32, word: u32, now: u32) {
        let call = self.before.take();
        if let Some(call) = call.filter(|_| links(word)) {
            self.calls.push(call);
            self.tally.calls += 1;
        } else if is_return(word) {
            let to = self.calls.iter().rposition(|call| call.back == now);
            let to = to.unwrap_or_else(|| {
                panic!("return from {pc:#x} to {now:#x}, which no call recorded")
            });
            self.tally.long_returns += u64::from(to + 1 < self.calls.len());
            self.tally.returns += 1;
            self.calls.truncate(to);
        }
        self.tally.deepest = self.tally.deepest.max(self.calls.len());
    }

    fn is_new(&mut self, pc: u32) -> bool {
        let mut hasher = DefaultHasher::new();
        pc.hash(&mut hasher);
        self.calls.iter().for_each(|call| (call.back, call.sp).hash(&mut hasher));
        self.seen.insert(hasher.finish())
    }

    fn compare(&mut self, hart: &HartView<'_>, pc: u32) {
        let found = backtrace(&self.modules, &registers(hart), |address, out| {
            hart.read(address as u32, out).ok_or("neither L1 nor private RAM")
        });
        let tally = &mut self.tally;
        let frames = found.frames.iter().filter(|frame| !frame.tail_call).count();
        if frames > tally.captured.frames {
            let mut ram = vec![0; 4096];
            if hart.read(LOCAL_RAM, &mut ram).is_none() {
                // A TRISC has half as much.
                ram.truncate(2048);
                hart.read(LOCAL_RAM, &mut ram).unwrap();
            }
            tally.captured = CapturedStack { frames, registers: registers(hart), ram };
        }
        tally.compared += 1;
        tally.pcs.insert(pc);
        tally.frames += frames as u64;
        let files: HashSet<usize> = found.frames.iter().map(|frame| frame.module).collect();
        *tally.files.entry(files.len()).or_default() += 1;
        match check(&self.calls, &found) {
            Ok(true) => tally.whole += 1,
            Ok(false) => *tally.short.entry(end_text(&found, pc)).or_default() += 1,
            Err(error) => {
                let function = found
                    .frames
                    .first()
                    .and_then(|frame| frame.locations.last().and_then(|it| it.function.as_ref()));
                let function = function.map_or("?", |name| name);
                *tally.wrong_in.entry(function.to_owned()).or_default() += 1;
                tally.wrong.push(format!("at {pc:#x} in {function}: {error}"));
            }
        }
    }
}

pub(super) fn registers(hart: &HartView<'_>) -> Registers {
    let mut registers = Registers::at(hart.pc());
    (1..32).for_each(|number| registers.set(number, Some(hart.register(number as u8))));
    registers
}

/// Returns the reason without its numbers, and the function it applies to.
fn end_text(found: &Backtrace<&str>, pc: u32) -> String {
    let name = |name: &Option<std::sync::Arc<str>>| name.as_deref().unwrap_or("?").to_owned();
    match &found.end {
        StackEnd::NoCallFrames { function, .. } => format!("no call frames for {}", name(function)),
        StackEnd::NotSaved { function, .. } => format!("not saved by {}", name(function)),
        StackEnd::NoModule { pc: at } if *at == pc => "no file has the pc".to_owned(),
        other => other.to_string(),
    }
}

/// Checks the frames; true if all are there. The error describes a wrong frame.
fn check(calls: &[Call], found: &Backtrace<&str>) -> Result<bool, String> {
    // The frames of tail calls have left the stack.
    let frames: Vec<_> = found.frames.iter().filter(|frame| !frame.tail_call).collect();
    if frames.len() > calls.len() + 1 {
        return Err(format!("{} frames for {} calls", frames.len(), calls.len()));
    }
    for (frame, call) in calls.iter().rev().enumerate().take(frames.len()) {
        if frames[frame].cfa.is_some_and(|cfa| cfa != call.sp) {
            return Err(format!(
                "frame {frame} has cfa {:x?}, not {:x}",
                frames[frame].cfa, call.sp
            ));
        }
        let Some(caller) = frames.get(frame + 1) else { break };
        if caller.pc != call.back {
            return Err(format!("frame {} is at {:x}, not {:x}", frame + 1, caller.pc, call.back));
        }
        for (number, value) in SAVED.into_iter().zip(call.saved) {
            if caller.registers.get(number) != Some(value) {
                let known = caller.registers.get(number);
                return Err(format!("frame {} has x{number} {known:x?}, not {value:x}", frame + 1));
            }
        }
    }
    let outermost = matches!(found.end, StackEnd::Outermost { .. });
    if outermost && frames.len() <= calls.len() {
        return Err(format!("{} frames for {} calls, and no more", frames.len(), calls.len()));
    }
    Ok(frames.len() == calls.len() + 1 && outermost)
}

/// Returns the instruction at a pc. Instruction RAM was copied from L1.
fn code(hart: &HartView<'_>, pc: u32) -> u32 {
    let at = if pc >= IRAM { pc - IRAM + IRAM_SOURCE } else { pc };
    let mut word = [0; 4];
    hart.read(at, &mut word).unwrap();
    u32::from_le_bytes(word)
}

/// Whether a register is a link register of the calling convention.
fn is_link(register: u32) -> bool {
    matches!(register & 31, 1 | 5)
}

/// Whether the instruction is a jal or jalr that saves the return address.
fn links(word: u32) -> bool {
    matches!(word & 0x7F, 0x6F | 0x67) && is_link(word >> 7)
}

/// Whether the instruction is a jalr to a link register that saves no return address.
fn is_return(word: u32) -> bool {
    word & 0xFFF == 0x67 && is_link(word >> 15)
}
