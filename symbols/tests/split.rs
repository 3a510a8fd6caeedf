//! Debug information in other files: `.dwo`, `.dwp` and the target of `.gnu_debuglink`.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use symbols::{Problem, Symbols};

fn images() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/cases/images")
}

fn image(name: &str) -> Vec<u8> {
    std::fs::read(images().join(name)).unwrap()
}

/// Loads the file with these companion files, and returns the problems.
fn load_with_companions(name: &str, files: &[(&str, Vec<u8>)]) -> (Symbols, Vec<String>) {
    let files: HashMap<PathBuf, Vec<u8>> =
        files.iter().map(|(name, bytes)| (Path::new("/here").join(name), bytes.clone())).collect();
    let path = Path::new("/here").join(name);
    let read = |path: &Path| files.get(path).cloned();
    let (symbols, problems) = Symbols::load_with(image(name), path, read).unwrap();
    (symbols, problems.iter().map(Problem::to_string).collect())
}

#[track_caller]
fn answers_like_the_whole_file(symbols: &Symbols) {
    let (whole, _) = Symbols::open(images().join("types.elf")).unwrap();
    assert_eq!(symbols.type_names(), whole.type_names());
    for name in whole.type_names() {
        let text = |symbols: &Symbols| symbols.type_named(&name).map(|ty| ty.layout_text());
        assert_eq!(text(symbols), text(&whole), "{name}");
    }
    assert_eq!(symbols.variable_names(), whole.variable_names());
    for name in whole.variable_names() {
        let (own, expected) = (symbols.variable(&name).unwrap(), whole.variable(&name).unwrap());
        let place = |storage: &symbols::Storage| match storage {
            // Other compiler flags put variables elsewhere.
            symbols::Storage::Address(_) => "at an address".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(place(&own.storage), place(&expected.storage), "{name}");
    }
    assert_eq!(symbols.problems(), []);
}

#[test]
fn units_in_dwo_files_are_read() {
    let mut declared = 0;
    for name in ["types-split4", "types-split5", "types-split5-units"] {
        let (symbols, problems) = Symbols::open(images().join(format!("{name}.elf"))).unwrap();
        assert_eq!(problems, [], "{name}");
        answers_like_the_whole_file(&symbols);
        // A function that the assembler left without a length has no declaration.
        let functions = symbols.functions("start").unwrap();
        if let Some((file, _)) = &functions[0].declared {
            assert!(file.ends_with("types.cpp"), "{name}: {file}");
            declared += 1;
        }
    }
    assert!(declared > 0);
}

#[test]
fn lines_of_split_units_are_in_the_file_itself() {
    for name in ["frames-split4.elf", "frames-split5.elf"] {
        let (symbols, problems) = Symbols::open(images().join(name)).unwrap();
        assert_eq!(problems, []);
        let start = symbols.symbol("start").unwrap().address;
        let frames = symbols.frames_at(start);
        assert_eq!(frames.last().unwrap().function.as_deref(), Some("start"), "{name}");
        assert!(frames[0].file.as_deref().unwrap().ends_with("frames.cpp"), "{name}");
    }
}

#[test]
fn a_dwo_that_is_missing_or_does_not_fit_is_a_problem() {
    let own = image("types-split5.types.dwo");
    let other = image("types-split5.other.dwo");
    let problems = |types: Option<Vec<u8>>| {
        let mut files = vec![("types-split5.other.dwo", other.clone())];
        files.extend(types.map(|bytes| ("types-split5.types.dwo", bytes)));
        let (symbols, problems) = load_with_companions("types-split5.elf", &files);
        assert!(symbols.type_named("hidden_t").is_some(), "the other unit still answers");
        problems.join("; ")
    };
    assert_eq!(problems(Some(own.clone())), "");
    let start = "unit at 0x0: its debug information is in types-split5.types.dwo, ";
    assert_eq!(problems(None), format!("{start}which does not exist"));
    assert_eq!(
        problems(Some(b"text".to_vec())),
        format!("{start}but not an ELF file: starts with 74 65 78 74")
    );
    let wrong = problems(Some(other.clone()));
    assert!(wrong.starts_with(&format!("{start}which has the id 0x")), "{wrong}");
    assert!(wrong.contains(", not 0x"), "{wrong}");
    let cut = problems(Some(own[..own.len() - 1].to_vec()));
    assert!(cut.starts_with(&format!("{start}but truncated: section headers")), "{cut}");

    let (_, problems) = Symbols::load(image("types-split5.elf"), "from bytes").unwrap();
    assert_eq!(problems[0].to_string(), start.trim_end_matches(", "));
}

#[test]
fn a_separate_debug_file_is_found_and_checked() {
    let (symbols, problems) = Symbols::open(images().join("types-linked.elf")).unwrap();
    assert_eq!(problems, []);
    answers_like_the_whole_file(&symbols);
    assert!(symbols.symbol_at(symbols.entry()).is_some());

    let debug = image("types-linked.debug");
    let (symbols, problems) =
        load_with_companions("types-linked.elf", &[(".debug/types-linked.debug", debug.clone())]);
    assert_eq!(problems, Vec::<String>::new());
    answers_like_the_whole_file(&symbols);

    let missing =
        "debug information in types-linked.debug: neither in the file's folder nor in its .debug";
    assert_eq!(load_with_companions("types-linked.elf", &[]).1, [missing]);
    let mut other = debug;
    *other.last_mut().unwrap() ^= 1;
    let (symbols, problems) =
        load_with_companions("types-linked.elf", &[("types-linked.debug", other)]);
    assert_eq!(problems, ["debug information in /here/types-linked.debug: of another build"]);
    assert!(symbols.type_named("big_t").is_none());
}

/// A section: name and bytes.
type Part = (String, Vec<u8>);

/// Returns the `.dwo` sections of a file.
fn parts(file: &[u8]) -> Vec<Part> {
    let half = |at: usize| usize::from(u16::from_le_bytes(file[at..at + 2].try_into().unwrap()));
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let header = |index: usize| word(0x20) + 40 * index;
    let names = word(header(half(0x32)) + 16);
    let found = (1..half(0x30)).map(|index| {
        let (name, at) = (names + word(header(index)), word(header(index) + 16));
        let end = file[name..].iter().position(|&byte| byte == 0).unwrap();
        let name = String::from_utf8(file[name..name + end].to_vec()).unwrap();
        (name, file[at..at + word(header(index) + 20)].to_vec())
    });
    found.filter(|(name, _)| name.contains(".dwo")).collect()
}

/// Returns an ELF of these sections; `.text`, if present, is at `CODE`.
fn elf(parts: &[Part]) -> Vec<u8> {
    let (mut names, mut body, mut headers) = (vec![0u8], Vec::<u8>::new(), vec![0u32; 10]);
    let strings = parts.iter().cloned().chain([(".shstrtab".to_owned(), Vec::new())]);
    for (name, mut bytes) in strings {
        let (name_at, at) = (names.len() as u32, 52 + body.len() as u32);
        names.extend([name.as_bytes(), b"\0"].concat());
        let last = name == ".shstrtab";
        if last {
            bytes.clone_from(&names);
        }
        let kind = if last { 3 } else { 1 };
        let (flags, address) = if name == ".text" { (6, CODE) } else { (0, 0) };
        headers.extend([name_at, kind, flags, address, at, bytes.len() as u32, 0, 0, 1, 0]);
        body.extend(bytes);
    }
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\xf3\0".to_vec();
    for word in [1, 0, 0, 52 + body.len() as u32, 0] {
        file.extend(u32::to_le_bytes(word));
    }
    for half in [52, 32, 0, 40, parts.len() + 2, parts.len() + 1] {
        file.extend((half as u16).to_le_bytes());
    }
    file.extend(body);
    file.extend(headers.into_iter().flat_map(u32::to_le_bytes));
    file
}

/// Returns a version 5 package of whole `.dwo` files with one unit each, in the layout of DWARF 5
/// 7.3.5.
fn package(units: &[Vec<u8>]) -> Vec<u8> {
    const KINDS: [(u32, &str); 6] = [
        (1, ".debug_info.dwo"),
        (3, ".debug_abbrev.dwo"),
        (4, ".debug_line.dwo"),
        (5, ".debug_loclists.dwo"),
        (6, ".debug_str_offsets.dwo"),
        (8, ".debug_rnglists.dwo"),
    ];
    let mut merged: Vec<Part> =
        KINDS.iter().map(|(_, name)| ((*name).to_owned(), vec![])).collect();
    let mut strings = Vec::new();
    let (mut ids, mut offsets, mut sizes) = (Vec::new(), Vec::<u32>::new(), Vec::<u32>::new());
    for unit in units {
        let mut parts: HashMap<String, Vec<u8>> = parts(unit).into_iter().collect();
        let base = strings.len() as u32;
        strings.extend(parts.remove(".debug_str.dwo").unwrap());
        for offset in parts.get_mut(".debug_str_offsets.dwo").unwrap()[8..].chunks_exact_mut(4) {
            let moved = u32::from_le_bytes(offset.try_into().unwrap()) + base;
            offset.copy_from_slice(&moved.to_le_bytes());
        }
        ids.push(u64::from_le_bytes(parts[".debug_info.dwo"][12..20].try_into().unwrap()));
        for (name, all) in &mut merged {
            let bytes = parts.remove(name).unwrap_or_default();
            offsets.push(all.len() as u32);
            sizes.push(bytes.len() as u32);
            all.extend(bytes);
        }
    }
    let slots = (units.len() * 2).next_power_of_two();
    let (mut hashes, mut rows) = (vec![0u64; slots], vec![0u32; slots]);
    for (row, &id) in ids.iter().enumerate() {
        let (mask, step) = (slots as u64 - 1, (id >> 32) & (slots as u64 - 1) | 1);
        let mut order = (0..=mask).map(|n| (((id & mask) + n * step) & mask) as usize);
        let slot = order.find(|&at| rows[at] == 0);
        (hashes[slot.unwrap()], rows[slot.unwrap()]) = (id, row as u32 + 1);
    }
    let words = [5, KINDS.len() as u32, units.len() as u32, slots as u32];
    let mut index: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    index.extend(hashes.into_iter().flat_map(u64::to_le_bytes));
    let tables = rows.into_iter().chain(KINDS.map(|(kind, _)| kind)).chain(offsets).chain(sizes);
    index.extend(tables.flat_map(u32::to_le_bytes));
    merged.push((".debug_str.dwo".to_owned(), strings));
    merged.push((".debug_cu_index".to_owned(), index));
    elf(&merged)
}

#[test]
fn a_package_has_the_units_of_many_files() {
    let units = [image("types-split5.other.dwo"), image("types-split5.types.dwo")];
    let whole = package(&units);
    let (symbols, problems) =
        load_with_companions("types-split5.elf", &[("types-split5.elf.dwp", whole.clone())]);
    assert_eq!(problems, Vec::<String>::new());
    answers_like_the_whole_file(&symbols);

    let (_, problems) =
        load_with_companions("types-split5.elf", &[("types-split5.elf.dwp", package(&units[..1]))]);
    assert_eq!(
        problems,
        ["unit at 0x0: its debug information is in types-split5.types.dwo, which does not exist"]
    );
    for cut in (0..whole.len()).step_by(97) {
        let (symbols, _) = load_with_companions(
            "types-split5.elf",
            &[("types-split5.elf.dwp", whole[..cut].to_vec())],
        );
        let _ = symbols.type_names();
    }
}

const CODE: u32 = 0x1000;
const ID: u64 = 0x1122_3344_5566_7788;

/// Returns a version 5 unit whose header ends with the id: kind 4 is a skeleton, 5 the unit itself.
fn unit(kind: u8, entries: &[&[u8]]) -> Vec<u8> {
    let body = [&[5, 0, kind, 4, 0, 0, 0, 0][..], &ID.to_le_bytes(), &entries.concat()].concat();
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

/// Returns a function of 16 bytes with a call inlined in its middle; all addresses are in
/// `.debug_addr`.
fn split_function() -> (Vec<u8>, Vec<u8>) {
    let part = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    // Entry 1: a skeleton with the name of the other file, start, length, and base of addresses.
    let skeleton = [1, 0x4a, 0, 0x76, 8, 0x11, 1, 0x12, 6, 0x73, 0x17, 0, 0, 0];
    let (low, size, base) = (CODE.to_le_bytes(), 16u32.to_le_bytes(), 8u32.to_le_bytes());
    let main = unit(4, &[&[1], b"f.dwo\0", &low, &size, &base]);
    let addresses = [12u32, 0x0004_0005, CODE, CODE + 4].map(u32::to_le_bytes).concat();
    let first = elf(&[
        part(".text", vec![0; 64]),
        part(".debug_abbrev", skeleton.to_vec()),
        part(".debug_info", main),
        part(".debug_addr", addresses),
    ]);
    // 1: unit; 2: function with name, start by index, length; 3: inlined call with origin, start,
    // length, line; 4: the inlined function.
    let entries = [
        &[1, 0x11, 1, 0, 0][..],
        &[2, 0x2e, 1, 3, 8, 0x11, 0x1b, 0x12, 6, 0, 0],
        &[3, 0x1d, 0, 0x31, 0x13, 0x11, 0x1b, 0x12, 6, 0x59, 0x0b, 0, 0],
        &[4, 0x2e, 0, 3, 8, 0, 0, 0],
    ];
    let origin = 21u32.to_le_bytes();
    let unit = unit(
        5,
        &[
            &[1, 4],
            b"inner\0",
            &[2],
            b"outer\0\0",
            &size,
            &[3],
            &origin,
            &[1],
            &4u32.to_le_bytes(),
            &[7, 0, 0],
        ],
    );
    let other = elf(&[part(".debug_abbrev.dwo", entries.concat()), part(".debug_info.dwo", unit)]);
    (first, other)
}

#[test]
fn frames_are_found_through_a_dwo() {
    let (first, other) = split_function();
    let read = |path: &Path| path.ends_with("f.dwo").then(|| other.clone());
    let (symbols, problems) = Symbols::load_with(first, "/here/f.elf", read).unwrap();
    let own: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert_eq!(
        own,
        ["a relocatable object: addresses are not final", "no symbol table (stripped)"]
    );
    let at = |address: u32| -> Vec<(String, Option<u32>, bool)> {
        let frames = symbols.frames_at(address.into());
        let summary = |frame: symbols::Location| {
            (frame.function.unwrap().to_string(), frame.line, frame.inlined)
        };
        frames.into_iter().map(summary).collect()
    };
    assert_eq!(at(CODE), [("outer".to_owned(), None, false)]);
    let inlined = [("inner".to_owned(), None, true), ("outer".to_owned(), Some(7), false)];
    assert_eq!(at(CODE + 4), inlined);
    assert_eq!(at(CODE + 7), inlined);
    assert_eq!(at(CODE + 8), [("outer".to_owned(), None, false)]);
    assert_eq!(at(CODE + 16), []);
    assert_eq!(symbols.problems(), problems);
}
