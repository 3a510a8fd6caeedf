//! Types, members, variables and constants of the test files, as text.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use symbols::{Kind, Storage, Symbols};

/// The same sources in every form of debug information that compilers and linkers write.
const FORMS: [&str; 13] = [
    "types.elf",
    "types-dwarf4.elf",
    "types-units.elf",
    "types-units4.elf",
    "types-lto.elf",
    "types-packed.elf",
    "types-packed-old.elf",
    "types-packed-zstd.elf",
    "types-relocs.elf",
    "types-linked.elf",
    "types-split4.elf",
    "types-split5.elf",
    "types-split5-units.elf",
];

fn open(name: &str) -> Symbols {
    let (symbols, problems) =
        Symbols::open(format!("{}/../firmware/cases/images/{name}", env!("CARGO_MANIFEST_DIR")))
            .unwrap();
    assert_eq!(problems, [], "{name}");
    symbols
}

#[test]
fn layout_is_the_same_from_every_form_of_debug_information() {
    for name in FORMS {
        let symbols = open(name);
        assert_eq!(
            symbols.type_named("big_t").unwrap().layout_text(),
            include_str!("data/big_t.txt"),
            "{name}"
        );
        assert_eq!(symbols.problems(), [], "{name}");
    }
}

/// Offsets, sizes and holes equal gdb's; names differ where gdb shortens base types (`short`).
#[test]
fn layout_has_gdbs_columns() {
    let columns = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("/*"));
        lines.map(|line| line.split("*/").next().unwrap().trim_end().to_owned()).collect()
    };
    assert_eq!(
        columns(&open("types.elf").type_named("big_t").unwrap().layout_text()),
        columns(include_str!("data/big_t.gdb.txt"))
    );
}

/// Returns `offset size type`, or the error.
fn member(symbols: &Symbols, path: &str) -> String {
    match symbols.member(path) {
        Err(error) => error.to_string(),
        Ok(place) if place.field.bit_size > 0 => format!(
            "{}:{}..+{} {}",
            place.field.offset, place.field.bit_shift, place.field.bit_size, place.ty
        ),
        Ok(place) => format!("{} {} {}", place.field.offset, place.field.size, place.ty),
    }
}

#[test]
fn paths_lead_to_members() {
    let checks = [
        ("big_t", "0 192 big_t"),
        ("struct big_t.header.length", "2 2 uint16_t"),
        ("big_t.header.flag", "1:2..+1 uint8_t"),
        ("big_t.grid", "4 24 uint32_t [2][3]"),
        ("big_t.grid[1]", "16 12 uint32_t [3]"),
        ("big_t.grid[1][2]", "24 4 uint32_t"),
        ("big_t.ids[0x4]", "36 2 volatile uint16_t"),
        ("big_t.none", "38 0 uint8_t [0]"),
        ("big_t.open", "184 0 uint8_t []"),
        ("big_t.open[3]", "187 1 uint8_t"),
        ("big_t.word.second", "49 1 uint8_t"),
        ("big_t.points[1].y", "64 4 int32_t"),
        ("big_t.color", "68 4 const color_t"),
        ("big_t.handler", "100 4 void (*)(int32_t, const char *)"),
        ("big_t.row", "104 4 uint32_t (*)[3]"),
        ("big_t.pointer", "108 4 uint32_t * volatile"),
        ("big_t.both", "112 4 volatile uint32_t * const volatile"),
        ("big_t.thing.b", "124 4 uint32_t"),
        ("big_t.ring.slots[3].valid", "142 1 uint8_t"),
        ("big_t.packed.middle", "152:5..+7 int32_t"),
        ("big_t.packed.straddles", "153:4..+13 uint32_t"),
        ("big_t.packed.set", "156:3..+1 bool"),
        ("big_t.derived.base_word", "160 4 uint32_t"),
        ("hidden_t.nested.deep", "4 1 uint8_t"),
        ("outer::later_t.here", "0 2 uint16_t"),
        ("outer::thing_t.other", "0 1 uint8_t"),
        ("outer::inner::thing_t.b", "4 4 uint32_t"),
        ("inner::thing_t.b", "4 4 uint32_t"),
        ("struct point_t.y", "4 4 int32_t"),
        ("(anonymous namespace)::secret_t.word", "0 4 uint32_t"),
        ("secret_t.word", "0 4 uint32_t"),
        ("mailboxes_t.launch[7].enables", "64 4 uint32_t"),
        ("big_t.grid[2]", "index 2 is outside `uint32_t [2][3]` of length 2"),
        ("big_t.nothing", "`big_t` has no member `nothing`"),
        ("big_t.mode.x", "cannot apply `.x` to `mode_t`"),
        ("big_t.mode[1]", "cannot apply `[1]` to `mode_t`"),
        ("big_t.next.mode", "`big_t *` is a pointer, and pointers are followed on request only"),
        (
            "big_t.row[0]",
            "`uint32_t (*)[3]` is a pointer, and pointers are followed on request only",
        ),
        ("big_t..x", "cannot follow `big_t..x`: not a member or index at byte 5"),
        ("union big_t.x", "no type `union big_t`"),
        ("nowhere_t.x", "no type `nowhere_t`"),
    ];
    for name in FORMS {
        let symbols = open(name);
        for (path, want) in checks {
            assert_eq!(member(&symbols, path), want, "{name}: {path}");
        }
    }
}

/// Returns `name: type = value`, or the place.
fn variable(symbols: &Symbols, name: &str) -> String {
    let Some(variable) = symbols.variable(name) else { return "none".to_owned() };
    let ty = variable.ty.as_ref().map_or("?", |ty| ty.name());
    let place = match (&variable.storage, &variable.symbol, symbols.constant(name)) {
        (_, _, Some(constant)) => constant.ty.decode(&constant.bytes).to_string(),
        (Storage::Address(address), Some(symbol), _) if symbol.address == *address => {
            format!("{} bytes in {}", symbol.size, symbol.section.as_deref().unwrap_or("?"))
        }
        (storage, ..) => format!("{storage:?}"),
    };
    format!("{}: {ty} = {place}", variable.name)
}

#[test]
fn variables_and_constants() {
    let checks = [
        ("mailboxes", "mailboxes: mailboxes_t * const = 0x3dd50"),
        ("negative", "negative: const long long int = -5"),
        ("half", "half: const float = 0.5"),
        ("stored_table", "stored_table: const uint32_t [3] = {10, 20, 30}"),
        ("stream_id", "outer::inner::stream_id: const uint32_t = 22"),
        ("derived_t::limit", "derived_t::limit: const uint32_t = 77"),
        ("counter", "outer::inner::counter: uint32_t = 4 bytes in .sdata"),
        ("grid", "grid: uint32_t [2][3] = 24 bytes in .data"),
        ("declared_open", "declared_open: uint32_t *[4] = 16 bytes in .bss"),
        ("calls", "calls: uint32_t = 4 bytes in .sdata"),
        ("step", "step: const uint32_t = 2"),
        ("_ZN5outer5inner7counterE", "outer::inner::counter: ? = 4 bytes in .sdata"),
        ("nowhere", "none"),
    ];
    let symbols = open("types.elf");
    for (name, want) in checks {
        assert_eq!(variable(&symbols, name), want, "{name}");
    }
    let enumerators = [
        ("RED", 0, 4),
        ("BLUE", 0xffff_ffff, 4),
        ("mode_t::loud", 0xff, 1),
        ("NAMELESS_ONE", 1001, 4),
    ];
    for (name, value, size) in enumerators {
        let constant = symbols.constant(name).unwrap();
        assert_eq!((constant.as_u64(), constant.bytes.len()), (Some(value), size), "{name}");
    }
}

#[test]
fn paths_from_variables_lead_to_places_in_memory() {
    let symbols = open("types.elf");
    let grid = symbols.variable("grid").unwrap().address().unwrap();
    let place = symbols.locate("grid[1][2]").unwrap();
    assert_eq!((place.address(), place.ty.name()), (grid + 20, "uint32_t"));
    let place = symbols.locate("mailboxes->launch[2].enables").unwrap();
    assert_eq!((place.address(), place.ty.name()), (0x3dd50 + 4 + 2 * 8 + 4, "uint32_t"));
    let errors = [
        ("mailboxes", "`mailboxes` has no address: a constant of the debug information"),
        ("big_pointer->mode", "the target of `big_t *` is known in memory only"),
        ("nowhere.x", "no variable or constant `nowhere`"),
    ];
    for (path, want) in errors {
        assert_eq!(symbols.locate(path).unwrap_err().to_string(), want);
    }
}

#[test]
fn pointers_know_what_they_point_to() {
    let symbols = open("types.elf");
    let hidden = symbols.member("big_t.hidden").unwrap().ty;
    assert_eq!(symbols.pointee(&hidden).unwrap().size(), Some(8));
    let anything = symbols.member("big_t.anything").unwrap().ty;
    let anything = symbols.pointee(&anything).unwrap();
    assert!(matches!(anything.plain().kind(), Kind::Void), "{anything}");
    assert_eq!(anything.name(), "const void");
}

#[test]
fn handles_are_shared_between_threads() {
    let symbols = open("types.elf");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let symbols = symbols.clone();
            std::thread::spawn(move || symbols.type_named("big_t").map(|ty| ty.layout_text()))
        })
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap().unwrap().contains("total size"));
    }
}

#[test]
fn types_are_found_as_people_spell_them() {
    let symbols = open("types.elf");
    for (written, want) in [
        ("ring_t<unsigned short,4>", "ring_t<short unsigned int, 4>"),
        ("unsigned short", "short unsigned int"),
        ("struct ring_t<short unsigned int, 4>", "ring_t<short unsigned int, 4>"),
    ] {
        assert_eq!(
            symbols.type_named(written).map(|ty| ty.name().to_owned()).as_deref(),
            Some(want)
        );
    }
    let router = open("router.elf");
    let found = router.functions("run_sender_channel_step<SenderChannel<0>>").unwrap();
    assert_eq!(found[0].name, "run_sender_channel_step<SenderChannel<0> >");
}
