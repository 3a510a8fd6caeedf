//! Files that are not ELFs, truncated files and files with flipped bits: an error, never a panic.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use symbols::{Elf, Kind, Symbols, Type};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/cases/images")
}

/// Returns the small files; large ones have only more of the same.
fn elfs() -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = std::fs::read_dir(data())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "elf"))
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
        })
        .filter(|(_, bytes): &(String, Vec<u8>)| bytes.len() < 100_000)
        .collect();
    found.sort();
    found
}

#[track_caller]
fn refused(bytes: &[u8], want: &str) {
    let error = Symbols::load(bytes.to_vec(), "test").map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), want);
    assert_eq!(Elf::load(bytes.to_vec()).map(|_| ()).unwrap_err(), error);
}

#[test]
fn foreign_files_are_refused_with_what_they_are() {
    let good = std::fs::read(data().join("types.elf")).unwrap();
    let patched = |at: usize, bytes: &[u8]| {
        let mut copy = good.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        copy
    };
    refused(b"", "not an ELF file: empty");
    refused(b"{\"a\": 1}", "not an ELF file: starts with 7b 22 61 22 3a 20 31 7d");
    refused(&patched(4, &[2]), "not a 32-bit ELF file: 64-bit");
    refused(&patched(5, &[2]), "not a little-endian ELF file: big-endian");
    refused(&patched(18, &[62, 0]), "ELF file for x86-64 (e_machine 62), not RISC-V");
    refused(&good[..20], "truncated: ELF header at 0x0 to 0x34, but the file has 0x14 bytes");
    let cut = &good[..good.len() - 1];
    let error = Symbols::load(cut.to_vec(), "cut").map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("truncated: section headers at 0x"), "{error}");
    let missing = Symbols::open("/nowhere/erisc.elf").map(|_| ()).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /nowhere/erisc.elf: "), "{missing}");
}

#[test]
fn the_parts_of_a_file_are_the_same_without_its_symbols() {
    for (name, bytes) in elfs() {
        let (symbols, _) = Symbols::load(bytes, &name).unwrap();
        let elf = Elf::open(&data().join(&name)).unwrap();
        assert_eq!(elf.segments(), symbols.segments(), "{name}");
        assert_eq!(elf.section(".text"), symbols.section(".text"), "{name}");
    }
    let missing = Elf::open(Path::new("/nowhere/erisc.elf")).map(|_| ()).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /nowhere/erisc.elf: "), "{missing}");
}

#[test]
fn what_is_missing_is_a_problem_and_the_rest_works() {
    let (symbols, problems) = Symbols::open(data().join("types-stripped.elf")).unwrap();
    let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["no symbol table (stripped)", "no debug information (built without -g)"]);
    assert_eq!(symbols.file_bytes(symbols.entry(), 4).map(<[u8]>::len), Some(4));
    assert!(symbols.type_named("big_t").is_none());
    assert!(symbols.frames_at(symbols.entry()).is_empty());

    let (_, problems) = Symbols::open(data().join("types-split.elf")).unwrap();
    let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        ["unit at 0x0: its debug information is in types-split.other.dwo, which does not exist"]
    );
}

#[test]
fn only_regular_files_are_read() {
    let error = Symbols::open("/dev/null").map(|_| ()).unwrap_err().to_string();
    assert!(error.ends_with("a character device, not a regular file"), "{error}");
    let error = Symbols::open(data()).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read "), "{error}");

    // Nothing will ever write to this FIFO.
    let (reader, _writer) = std::io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
    let error = Symbols::open(&path).unwrap_err().to_string();
    assert!(error.ends_with("a FIFO, not a regular file"), "{error}");
}

#[test]
fn a_file_may_be_replaced_while_it_is_open() {
    let path = std::env::temp_dir().join(format!("meshscope-replaced-{}.elf", std::process::id()));
    std::fs::copy(data().join("types.elf"), &path).unwrap();
    let (symbols, _) = Symbols::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(symbols.type_named("big_t").is_some());
}

/// Makes all lookups, so that every reader meets the damaged bytes.
fn exercise(bytes: Vec<u8>) {
    let Ok((symbols, _)) = Symbols::load(bytes, "broken") else { return };
    for name in symbols.type_names().iter().take(200) {
        let Some(ty) = symbols.type_named(name) else { continue };
        exercise_type(&symbols, &ty);
    }
    for name in symbols.variable_names().iter().chain(&symbols.enumerator_names()).take(200) {
        let _ = symbols.variable(name);
        let _ = symbols.constant(name).map(|constant| constant.ty.decode(&constant.bytes));
        let _ = symbols.locate(&format!("{name}[1].x"));
    }
    for segment in symbols.segments() {
        for offset in (0..segment.bytes.len().min(2048)).step_by(8) {
            let address = segment.address.wrapping_add(offset as u64);
            let _ = symbols.frames_at(address);
            let _ = symbols.symbol_at(address).map(|symbol| symbol.demangled());
        }
    }
    let _ = symbols.code_of_line("frames.cpp", 12);
    for problem in symbols.problems() {
        assert!(!problem.to_string().is_empty());
    }
}

fn exercise_type(symbols: &Symbols, ty: &Type) {
    let _ = ty.layout_text().len();
    let _ = ty.decode(&[0x5a; 512]).to_string().len();
    let _ = ty.place("[0][1].slots[2].value");
    let _ = ty.place("base_word");
    for member in ty.members().iter().take(50) {
        if let Kind::Pointer(_) = member.ty.plain().kind() {
            let _ = symbols.pointee(&member.ty).map(|target| target.size());
        }
    }
}

#[test]
fn truncated_files_never_panic() {
    for (_, bytes) in elfs() {
        for part in 0..64 {
            exercise(bytes[..bytes.len() * part / 64].to_vec());
        }
        // Without section headers, truncation would be noticed too early to reach the debug
        // sections.
        let mut headless = bytes.clone();
        headless[0x20..0x24].fill(0);
        exercise(headless);
    }
}

/// A fixed sequence, so that a failure can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

#[test]
fn mutated_files_never_panic() {
    let count = std::env::var("MESHSCOPE_MUTATIONS").ok().and_then(|n| n.parse().ok());
    let count: usize = count.unwrap_or(60);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (name, bytes) in elfs() {
        for round in 0..count {
            let mut broken = bytes.clone();
            for _ in 0..=random.below(6) {
                mutate(&mut broken, &mut random);
            }
            let copy = broken.clone();
            let outcome = std::panic::catch_unwind(move || exercise(broken));
            let kept = std::env::temp_dir().join(format!("panics-{round}-{name}"));
            if outcome.is_err() {
                std::fs::write(&kept, copy).unwrap();
            }
            assert!(outcome.is_ok(), "{name}, round {round}: kept as {}", kept.display());
        }
    }
}

fn mutate(bytes: &mut [u8], random: &mut Random) {
    const EDGES: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
    // Most mutations hit the sections after the code, which no reader parses.
    let at = match random.below(8) {
        0 => random.below(0x100),
        _ => random.below(bytes.len()),
    };
    match random.below(4) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = EDGES[random.below(EDGES.len())],
        2 => bytes[at] = random.below(256) as u8,
        _ => {
            let end = (at + 1 + random.below(8)).min(bytes.len());
            let value = EDGES[random.below(EDGES.len())];
            bytes[at..end].fill(value);
        }
    }
}
