//! Code of a core: its instructions as text, and the addresses of functions and source lines.

use crate::{ImageMap, LoadedImage, SourceLine, source_line};
use layouts::{ChipLayout, CoreId};
use std::ops::Range;
use symbols::{FunctionCode, Symbols, disassemble};

/// An instruction of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address, as the core sees it.
    pub addr: u32,
    /// Its word.
    pub word: u32,
    /// The instruction as text; a Tensix instruction has its name in capitals.
    pub text: String,
    /// File and line, and the functions around them, innermost first; empty if they are unknown.
    pub lines: Vec<SourceLine>,
}

/// Returns the instruction of a word of code: of the core itself, or one that it pushes to the
/// Tensix coprocessor. A word that is neither is shown as such.
pub fn instruction(layout: &ChipLayout, word: u32, pc: u32) -> String {
    match layout.tensix_isa.of_code(word) {
        Some(pushed) => tensix_instruction(layout, pushed),
        None => disassemble(word, pc).unwrap_or_else(|| format!(".word {word:#010x}")),
    }
}

/// Returns an instruction of the Tensix coprocessor as text.
pub fn tensix_instruction(layout: &ChipLayout, word: u32) -> String {
    layout.tensix_isa.words(word).unwrap_or_else(|| format!(".ttinsn {word:#010x}"))
}

/// Returns the Tensix instruction that a core pushes to the coprocessor by storing a word, with
/// these general registers; none if the instruction is not such a store.
pub fn pushed(layout: &ChipLayout, word: u32, registers: &[u32; 32]) -> Option<String> {
    let register = |low: u32| registers.get((word >> low & 31) as usize).copied();
    let offset = (word as i32 >> 25 << 5) as u32 | word >> 7 & 31;
    let is_store = word & 0x707F == 0x2023;
    let addr = register(15)?.wrapping_add(offset);
    let value = register(20)?;
    (is_store && layout.tensix_isa.is_pushed_at(addr)).then(|| tensix_instruction(layout, value))
}

/// Returns the instructions in these bytes, which begin at an address of a core. A partial word at
/// the end is left out.
pub fn listing(images: &ImageMap, core: CoreId, addr: u32, bytes: &[u8]) -> Vec<Instruction> {
    instructions(images.layout(), (addr, bytes), |addr| source_at(images, core, addr).1)
}

/// Returns the instructions of an ELF from an address to another; none if the file has no data for
/// them, or if they are not those of a baby RISC-V core.
pub fn listing_of(layout: &ChipLayout, elf: &Symbols, code: Range<u64>) -> Vec<Instruction> {
    let bytes = elf.file_bytes(code.start, code.end.saturating_sub(code.start));
    let Some(bytes) = bytes.filter(|_| !elf.has_compressed_code()) else { return Vec::new() };
    let lines = |addr: u32| elf.frames_at(addr.into()).iter().map(source_line).collect();
    instructions(layout, (code.start as u32, bytes), lines)
}

fn instructions(
    layout: &ChipLayout,
    (addr, bytes): (u32, &[u8]),
    lines: impl Fn(u32) -> Vec<SourceLine>,
) -> Vec<Instruction> {
    let (words, _) = bytes.as_chunks();
    let words = (addr..).step_by(4).zip(words.iter().copied().map(u32::from_le_bytes));
    let of = |(addr, word)| {
        let text = instruction(layout, word, addr);
        Instruction { addr, word, text, lines: lines(addr) }
    };
    words.map(of).collect()
}

/// Returns the image with the code at an address of a core, and file and line there with the
/// functions around them, innermost first.
pub fn source_at(images: &ImageMap, core: CoreId, pc: u32) -> (Option<String>, Vec<SourceLine>) {
    let found = images.running_at(core, pc);
    let found = found.and_then(|load| Some((load.image.name.clone(), load.frames_at(pc)?)));
    found.map_or_else(Default::default, |(image, lines)| (Some(image), lines))
}

/// Returns the addresses of a core at which code begins: that of a function, or of a source line
/// `FILE:LINE`. A line and code that was inlined consist of pieces: each counts.
///
/// # Errors
/// In a sentence, when no image that is known on the core has such code.
pub fn code_at(images: &ImageMap, core: CoreId, name: &str) -> Result<Vec<u32>, String> {
    let loads = images.resolved(core);
    if loads.is_empty() {
        return Err(format!("no image is known on {core}: only addresses can be given"));
    }
    let mut first = None;
    for load in &loads {
        match addresses(&load.image.symbols, name) {
            Ok(found) if !found.is_empty() => return Ok(at_run(load, &found)),
            Ok(_) => {}
            Err(why) => first = first.or(Some(why)),
        }
    }
    let names = loads.iter().map(|load| &*load.image.name).collect::<Vec<_>>().join(", ");
    Err(match first {
        Some(why) if loads.len() == 1 => format!("{names}: {why}"),
        _ => format!("'{name}' has no code in {names}"),
    })
}

fn at_run(load: &LoadedImage<'_>, linked: &[u64]) -> Vec<u32> {
    linked.iter().map(|addr| (*addr as u32).wrapping_add(load.bias)).collect()
}

/// Returns the linked addresses of a function or a source line, each once.
fn addresses(symbols: &Symbols, name: &str) -> Result<Vec<u64>, String> {
    let line = name.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    if let Some((file, line)) = line.filter(|(file, _)| !file.ends_with(':')) {
        let code = symbols.code_of_line(file, line).map_err(|error| error.to_string())?;
        // Compilers move instructions of a line ahead of it, so its first piece may not be its
        // beginning: all count.
        let mut begins: Vec<u64> = code.iter().map(|code| code.begin).collect();
        begins.sort_unstable();
        begins.dedup();
        return Ok(begins);
    }
    let functions = symbols.functions(name).map_err(|error| error.to_string())?;
    let mut begins: Vec<u64> = functions.iter().flat_map(entries).collect();
    begins.sort_unstable();
    begins.dedup();
    Ok(begins)
}

/// Returns where a function begins: its own code, else each piece of its inlined copies.
fn entries(function: &FunctionCode) -> Vec<u64> {
    let split = |symbol: &str| symbol.contains(".cold") || symbol.contains(".part.");
    let own = function.parts.iter().filter(|part| !part.symbol.as_deref().is_some_and(split));
    let own: Vec<u64> = own.map(|part| part.begin).collect();
    if !own.is_empty() {
        return own;
    }
    function.copies.iter().map(|copy| copy.begin).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::Provenance;
    use layouts::{ChipId, CoreKind, NocXy};
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    fn ring_ping() -> (ImageMap, CoreId) {
        let core = CoreId { chip: ChipId(0), tile: NocXy { x: 9, y: 6 }, core: CoreKind::Erisc };
        let (mut images, _) = ImageMap::firmware();
        images.declare(core, "ring_ping", Provenance::Stated);
        (images, core)
    }

    #[test]
    fn names_and_lines_lead_to_code() {
        let (images, core) = ring_ping();
        let main = code_at(&images, core, "kernel_main").unwrap();
        assert_eq!(main.len(), 1);
        let (image, lines) = source_at(&images, core, main[0]);
        assert_eq!(image.as_deref(), Some("ring_ping"));
        let (file, line) = (lines[0].file.as_deref().unwrap(), lines[0].line.unwrap());
        let of_line = code_at(&images, core, &format!("{file}:{line}")).unwrap();
        assert!(of_line.contains(&main[0]), "{of_line:x?} {main:x?}");
        let error = code_at(&images, core, "no_such_function").unwrap_err();
        assert!(error.contains("no_such_function") && error.contains("ring_ping"), "{error}");
        let nothing = CoreId { core: CoreKind::Brisc, ..core };
        assert!(code_at(&images, nothing, "kernel_main").unwrap_err().contains("no image"));
    }

    #[test]
    fn tensix_instructions_are_named_in_code() {
        let layout = ImageMap::FIRMWARE_CHIP.layout();
        let of = |word| instruction(layout, word, 0);
        // TT_OP_STALLWAIT(0x40, 0x8) and an opcode that is none, as `.ttinsn` has them in code.
        assert_eq!(of(0xA220_0008_u32.rotate_left(2)), "STALLWAIT stall_res=0x40 wait_res=0x8");
        assert_eq!(of(0x0500_0001_u32.rotate_left(2)), ".ttinsn 0x05000001");
        assert_eq!(of(0xFFFF_FFFF), ".word 0xffffffff");
        // sw t0, -4(t1), where t1 is the instruction buffer and a word.
        let mut registers = [0; 32];
        (registers[5], registers[6]) = (0x0200_0000, 0xFFE4_0004);
        assert_eq!(pushed(layout, 0xFE53_2E23, &registers).as_deref(), Some("NOP"));
        registers[6] = 0x1000;
        assert_eq!(pushed(layout, 0xFE53_2E23, &registers), None);
    }

    /// An instruction as the GNU disassembler has it: without symbols, remarks and `0x`. Older ones
    /// call `addi` by its alias `add`, and so on.
    fn plain(text: &str) -> String {
        let text = text.split(['<', '#']).next().unwrap().trim().replace("0x", "");
        let mut parts: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
        let [name, operands] = &mut parts[..] else { return text };
        let last = operands.rsplit(',').next().unwrap();
        let is_number = last.parse::<i64>().is_ok() || u64::from_str_radix(last, 16).is_ok();
        let is_register = (0..32).any(|index| symbols::register_name(index) == Some(last));
        if is_number && !is_register && !last.contains('(') {
            *name = match name.as_str() {
                "sltu" => "sltiu".to_owned(),
                "add" | "and" | "or" | "xor" | "sll" | "srl" | "sra" | "slt" => format!("{name}i"),
                _ => name.clone(),
            };
        }
        parts.join(" ")
    }

    /// Compares the code of an ELF with what the GNU disassembler says. Returns the number of
    /// instructions.
    fn compare(path: &Path) -> usize {
        let (symbols, _) = Symbols::open(path).unwrap();
        let layout = ImageMap::FIRMWARE_CHIP.layout();
        let output = Command::new("riscv64-unknown-elf-objdump")
            .args(["-d", "-z"])
            .arg(path)
            .output()
            .unwrap();
        let mut theirs = BTreeMap::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let mut parts = line.splitn(3, '\t');
            let (Some(addr), Some(_), Some(text)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let Some(addr) = addr.trim().strip_suffix(':') else { continue };
            theirs.insert(u32::from_str_radix(addr, 16).unwrap(), plain(text));
        }
        let mut own = 0;
        for segment in symbols.segments().iter().filter(|segment| segment.executable) {
            let (words, _) = segment.bytes.as_chunks();
            for (addr, word) in (segment.address as u32..).step_by(4).zip(words) {
                let word = u32::from_le_bytes(*word);
                let ours = instruction(layout, word, addr);
                if layout.tensix_isa.of_code(word).is_some() {
                    continue;
                }
                let Some(theirs) = theirs.get(&addr) else { continue };
                // It names control and status registers, and data is shown in many ways.
                if ours.starts_with(".word") || ours.contains("csr") || theirs.starts_with('.') {
                    continue;
                }
                own += 1;
                assert_eq!(plain(&ours), *theirs, "{}: {addr:#x}: {word:#010x}", path.display());
            }
        }
        own
    }

    fn has_disassembler() -> bool {
        let there = Command::new("riscv64-unknown-elf-objdump").arg("--version").output().is_ok();
        if !there {
            println!("skipped: riscv64-unknown-elf-objdump is not there");
        }
        there
    }

    #[test]
    fn our_firmware_is_disassembled_as_by_gnu() {
        if !has_disassembler() {
            return;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware/images");
        let mut own = 0;
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "elf") {
                own += compare(&entry.path());
            }
        }
        assert!(own > 10_000, "{own}");
    }

    #[test]
    fn the_metal_firmware_is_disassembled_as_by_gnu() {
        let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
            return println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        };
        if !has_disassembler() {
            return;
        }
        let folder = PathBuf::from(root).join("ttnn/tt_metal/pre-compiled");
        // Only Wormhole's Ethernet cores are called erisc. `.ci/run` unpacks one build of several.
        let builds = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let builds: Vec<PathBuf> =
            builds.filter(|build| build.join("erisc/erisc.elf").is_file()).collect();
        assert!(!builds.is_empty(), "no build for Wormhole");
        for build in builds {
            let cores = ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc"];
            let own: usize = cores
                .iter()
                .map(|core| compare(&build.join(core).join(format!("{core}.elf"))))
                .sum();
            assert!(own > 2_000, "{}: {own}", build.display());
        }
    }
}
