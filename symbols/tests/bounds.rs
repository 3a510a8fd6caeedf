//! Debug information made to exhaust its reader: one unit is refused, and the others stay usable.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use symbols::Symbols;

/// Entries: 1 compile unit, 2 function, 3 inlined with children, 4 inlined with a list of ranges.
const ABBREVIATIONS: [u8; 35] = [
    1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0, 2, 0x2e, 1, 0x11, 1, 0x12, 6, 0, 0, 3, 0x1d, 1, 0, 0, 4,
    0x1d, 0, 0x55, 0x17, 0, 0, 0, 0, 0, 0, 0,
];
const CODE: u32 = 0x1000;

/// Returns a unit of DWARF `version` with one function of 16 bytes at `low` that contains `inside`.
fn unit(version: u16, low: u32, inside: &[u8]) -> Vec<u8> {
    let mut body = version.to_le_bytes().to_vec();
    body.extend([0, 0, 0, 0, 4]);
    for entry in [1, 2] {
        body.push(entry);
        body.extend([low.to_le_bytes(), 16u32.to_le_bytes()].concat());
    }
    body.extend(inside);
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

/// Returns an ELF with 64 bytes of code and these debug sections.
fn elf(info: &[u8], ranges: &[u8]) -> Vec<u8> {
    let names = b"\0.text\0.debug_abbrev\0.debug_info\0.debug_ranges\0.shstrtab\0";
    let parts: [(u32, u32, u32, &[u8]); 5] = [
        (1, 6, CODE, &[0; 64]),
        (7, 0, 0, &ABBREVIATIONS),
        (21, 0, 0, info),
        (33, 0, 0, ranges),
        (47, 0, 0, names),
    ];
    let (mut body, mut headers) = (Vec::<u8>::new(), vec![0u32; 10]);
    for (name, flags, address, bytes) in parts {
        let (at, size) = (52 + body.len() as u32, bytes.len() as u32);
        headers.extend([
            name,
            if name == 47 { 3 } else { 1 },
            flags,
            address,
            at,
            size,
            0,
            0,
            1,
            0,
        ]);
        body.extend(bytes);
    }
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0".to_vec();
    for word in [1, CODE, 0, 52 + body.len() as u32, 0] {
        file.extend(u32::to_le_bytes(word));
    }
    for half in [52, 32, 0, 40, 6, 5] {
        file.extend(u16::to_le_bytes(half));
    }
    file.extend(body);
    file.extend(headers.into_iter().flat_map(u32::to_le_bytes));
    file
}

/// Returns the problems of a unit between two good ones, which must be readable in any case.
fn between(middle: &[u8], ranges: &[u8]) -> Vec<String> {
    let nest = |low| unit(4, low, &[3, 0, 0, 0]);
    let info = [&nest(CODE), middle, &nest(CODE + 32)].concat();
    let (symbols, _) = Symbols::load(elf(&info, ranges), "test").unwrap();
    for good in [CODE, CODE + 32] {
        assert_eq!(symbols.frames_at(u64::from(good) + 4).len(), 1, "{good:#x}");
    }
    let _ = symbols.frames_at(u64::from(CODE) + 20);
    let problems = symbols.problems();
    problems.iter().skip(1).map(ToString::to_string).collect()
}

#[test]
fn good_units_have_no_problems() {
    assert_eq!(between(&unit(4, CODE + 16, &[0, 0]), &[]), Vec::<String>::new());
}

#[test]
fn nesting_has_a_bound() {
    let deep = unit(4, CODE + 16, &[3].repeat(1_000_000));
    assert_eq!(between(&deep, &[]), ["unit at 0x21: inlined more than 200 deep"]);
}

#[test]
fn address_ranges_have_a_bound() {
    let shared = unit(4, CODE + 16, &[4, 0, 0, 0, 0].repeat(100_000));
    let mut ranges = [0, 0, 0, 0, 1, 0, 0, 0].repeat(20_000);
    ranges.extend([0; 8]);
    assert_eq!(between(&shared, &ranges), ["unit at 0x21: too many address ranges"]);
}

#[test]
fn a_unit_that_ends_early_is_left_out() {
    let cut = unit(4, CODE + 16, &[2, 0]);
    assert_eq!(between(&cut, &[]), ["unit at 0x21: unexpected end of input"]);
}
