//! Expressions: types, places and values from the test files and simulated memory.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use symbols::{EvalError, Expression, Storage, Symbols};

fn open(name: &str) -> Symbols {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/cases/images");
    Symbols::open(format!("{folder}/{name}")).unwrap().0
}

/// Memory with the file's initial content and two pointers set; other addresses fail.
fn memory(symbols: &Symbols) -> impl FnMut(u64, &mut [u8]) -> Result<(), &'static str> + '_ {
    let pointer = symbols.variable("big_pointer").unwrap().address().unwrap();
    move |address, bytes| {
        if address == pointer {
            bytes.copy_from_slice(&0x8000u32.to_le_bytes());
            return Ok(());
        }
        // A `big_t` at 0x8000 and the mailboxes: every word holds its own address.
        if (0x8000..0x8100).contains(&address) || (0x3_dd50..0x3_de00).contains(&address) {
            for (at, byte) in (address..).zip(bytes.iter_mut()) {
                *byte = ((at & !3) >> (8 * (at & 3))) as u8;
            }
            return Ok(());
        }
        let Some(from) = symbols.file_bytes(address, bytes.len() as u64) else {
            return Err("unmapped");
        };
        bytes.copy_from_slice(from);
        Ok(())
    }
}

/// Returns `type = value` with the address, if it has one, or the error.
fn answer(symbols: &Symbols, text: &str) -> String {
    let expression = match Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return error.to_string(),
    };
    match symbols.evaluate(&expression, memory(symbols)) {
        Err(error) => error.to_string(),
        Ok(found) => match found.storage {
            Storage::Address(address) => format!("{} = {} at {address:#x}", found.ty, found.value),
            Storage::Constant(_) | Storage::Computed(_) => {
                format!("{} = {}", found.ty, found.value)
            }
            elsewhere => format!("{}: {elsewhere}", found.ty),
        },
    }
}

#[test]
fn expressions_have_values() {
    let symbols = open("types.elf");
    let at = |name: &str| symbols.variable(name).unwrap().address().unwrap();
    let (grid, counter) = (at("grid"), at("outer::inner::counter"));
    let checks = [
        ("grid[1][2]", format!("uint32_t = 6 at {:#x}", grid + 20)),
        ("grid[1]", format!("uint32_t [3] = {{4, 5, 6}} at {:#x}", grid + 12)),
        ("*grid", format!("uint32_t [3] = {{1, 2, 3}} at {grid:#x}")),
        ("**grid", format!("uint32_t = 1 at {grid:#x}")),
        ("inner::counter", format!("uint32_t = 3 at {counter:#x}")),
        ("color", format!("color_t = GREEN at {:#x}", at("color"))),
        ("BLUE", "color_t = BLUE".into()),
        ("mode_t::loud", "mode_t = loud".into()),
        ("outer::inner::stream_id", "const uint32_t = 22".into()),
        ("derived_t::limit", "const uint32_t = 77".into()),
        ("table[3]", format!("const uint32_t = 3735928559 at {:#x}", at("table") + 12)),
        ("grid[table[0]][RED]", format!("uint32_t = 4 at {:#x}", grid + 12)),
        ("mailboxes", "mailboxes_t * const = 0x3dd50".into()),
        ("mailboxes->launch[2].enables", "uint32_t = 253288 at 0x3dd68".into()),
        ("(*mailboxes).rd_ptr", "uint32_t = 253264 at 0x3dd50".into()),
        ("&mailboxes->launch[2]", "mailboxes_t::launch_t * = 0x3dd64".into()),
        ("(&mailboxes->launch[2])->enables", "uint32_t = 253288 at 0x3dd68".into()),
        ("mailboxes->launch[0].ids", "uint16_t [2] = {56660, 3} at 0x3dd54".into()),
        ("big_pointer", format!("big_t * = 0x8000 at {:#x}", at("big_pointer"))),
        ("big_pointer->points[1].y", "int32_t = 32832 at 0x8040".into()),
        ("big_pointer[1].header.length", "uint16_t = 0 at 0x80c2".into()),
        ("big_pointer->word.second", "uint8_t = 128 at 0x8031".into()),
        ("big_pointer->packed.middle", "int32_t = 4 at 0x8098".into()),
        ("big_pointer->next->header.kind", "volatile uint8_t = 88 at 0x8058".into()),
        ("&big_pointer->grid", "uint32_t (*)[2][3] = 0x8004".into()),
        ("reference", format!("uint32_t = 3 at {counter:#x}")),
        ("&reference", format!("uint32_t * = {counter:#x}")),
        ("(uint8_t)reference", "uint8_t = 3".into()),
        ("sizeof(reference)", "unsigned int = 4".into()),
        ("*reference", format!("uint32_t = 3 at {counter:#x}")),
        ("point_t@0x8004", "point_t = {x = 32772, y = 32776} at 0x8004".into()),
        ("point_t@0x8004.y", "int32_t = 32776 at 0x8008".into()),
        ("*(point_t *)0x8004", "point_t = {x = 32772, y = 32776} at 0x8004".into()),
        ("((const struct point_t *)0x8004)[1].x", "int32_t = 32780 at 0x800c".into()),
        ("uint16_t[2]@0x8004", "uint16_t [2] = {32772, 0} at 0x8004".into()),
        ("uint32_t@&grid[1][0]", format!("uint32_t = 4 at {:#x}", grid + 12)),
        ("(uint8_t)grid[1][2]", "uint8_t = 6".into()),
        ("(color_t)5", "color_t = GREEN".into()),
        ("(int8_t)0xff", "int8_t = -1".into()),
        ("(uint32_t *)grid", format!("uint32_t * = {grid:#x}")),
        ("*(uint32_t *)grid", format!("uint32_t = 1 at {grid:#x}")),
        ("sizeof(big_t)", "unsigned int = 192".into()),
        ("sizeof(grid[0])", "unsigned int = 12".into()),
        ("sizeof(void*)", "unsigned int = 4".into()),
        ("sizeof(uint32_t *)", "unsigned int = 4".into()),
        ("sizeof(unsigned long)", "unsigned int = 4".into()),
        ("sizeof(uint16_t[3])", "unsigned int = 6".into()),
        ("0777", "int = 511".into()),
        ("5u", "unsigned int = 5".into()),
        ("5ULL", "long long unsigned int = 5".into()),
        ("5l", "long int = 5".into()),
        ("0xffffffff", "unsigned int = 4294967295".into()),
        ("4000000000", "long long int = 4000000000".into()),
        ("-2147483648", "long long int = -2147483648".into()),
        ("(bool)2", "bool = true".into()),
        ("(const volatile uint32_t *)0x10", "const volatile uint32_t * = 0x10".into()),
        ("(char const * const *)0x10", "const char * const * = 0x10".into()),
        ("(uint32_t *)-4", "uint32_t * = 0xfffffffc".into()),
        ("(anonymous namespace)::secret.word", "uint32_t: optimised away".into()),
    ];
    for (text, want) in checks {
        assert_eq!(answer(&symbols, text), want, "{text}");
    }
}

#[test]
fn integers_are_calculated_with_as_in_cpp() {
    let symbols = open("arrays.elf");
    let checks = [
        ("1+2*3", "int = 7"),
        ("(1+2)*3", "int = 9"),
        ("0x18080 + 16*2", "int = 98464"),
        ("-7 / 2", "int = -3"),
        ("-7 % 3", "int = -1"),
        ("-1 + 1u", "unsigned int = 0"),
        ("-1 + 1ull", "long long unsigned int = 0"),
        ("~0", "int = -1"),
        ("~0u", "unsigned int = 4294967295"),
        ("~small", "int = -201"),
        ("small * 2", "int = 400"),
        ("-small", "int = -200"),
        ("1 << 31", "int = -2147483648"),
        ("1u << 31", "unsigned int = 2147483648"),
        ("-16 >> 2", "int = -4"),
        ("0xf0 | 6 ^ 2 & 3", "int = 244"),
        ("0xffffffff * 0xffffffff", "unsigned int = 1"),
        ("0xffffffffffffffff * 0xffffffffffffffff", "long long unsigned int = 1"),
        ("(uint8_t)(small + 100)", "uint8_t = 44"),
        ("(small)*2", "int = 400"),
        ("(uint16_t)-1", "short unsigned int = 65535"),
        ("(small)-1", "int = 199"),
        ("sizeof(points) + 1", "unsigned int = 9"),
        ("sizeof(1 + 1ll)", "unsigned int = 8"),
        ("SLOTS[1]", "long unsigned int = 16"),
        ("SLOTS[4 / 2]", "long unsigned int = 4"),
        ("SLOTS[0] * SLOTS[1] + 1", "unsigned int = 129"),
        ("PAIRS[1][0]", "unsigned char = 3"),
        ("SLOTS._M_elems[1]", "long unsigned int = 16"),
        ("points[1].y * 2", "int = -8"),
        ("(&points[0] + 1)->x", "int16_t = 3"),
        ("*(int16_t *)(&points + 1 - 1)", "int16_t = 1"),
        ("1 / 0", "in `1 / 0`: division by zero"),
        ("small % (1 - 1)", "in `small % (1 - 1)`: division by zero"),
        ("lowest / -1", "in `lowest / -1`: 2147483648 overflows `int`"),
        ("0x7fffffff + 1", "in `0x7fffffff + 1`: 2147483648 overflows `int`"),
        ("1 << 32", "in `1 << 32`: cannot shift a number of 32 bits by 32 bits"),
        ("1 >> -1", "in `1 >> -1`: cannot shift a number of 32 bits by -1 bits"),
        ("points + 1", "in `points`: `std::array<point_t, 2>` is not a number"),
        ("1 + &points", "in `&points`: `std::array<point_t, 2> *` is not a number"),
        (
            "SLOTS[3]",
            "in `SLOTS[3]`: index 3 is outside `const std::array<long unsigned int, 3>` of length 3",
        ),
        ("points[1][0]", "in `points[1][0]`: cannot apply `[0]` to `point_t`"),
    ];
    for (text, want) in checks {
        let found = match symbols
            .evaluate(&Expression::parse(text).unwrap(), |at, bytes: &mut [u8]| {
                symbols.initial(at, bytes)
            }) {
            Ok(found) => format!("{} = {}", found.ty, found.value),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, want, "{text}");
    }
}

#[test]
fn std_arrays_of_tt_metals_router_are_indexed() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TT_KERNELS") else {
        println!("skipped: MESHSCOPE_TT_KERNELS is not set");
        return;
    };
    let elf = std::path::PathBuf::from(folder).join("router_a/erisc.elf");
    let (symbols, _) = Symbols::open(elf).unwrap();
    for (text, want) in [
        ("SENDER_NUM_BUFFERS_ARRAY[1]", "unsigned int = 8 a constant of the debug information"),
        (
            "kernel_compile_time_args[1 + 2]",
            "long unsigned int = 8 a constant of the debug information",
        ),
        ("kernel_compile_time_args[2] + 16*2", "unsigned int = 98976 computed"),
    ] {
        assert_eq!(from_file(&symbols, text, None), want, "{text}");
    }
}

#[test]
fn errors_name_the_place_in_the_expression() {
    let symbols = open("types.elf");
    let checks = [
        ("nowhere", "no variable or constant `nowhere`"),
        (
            "mailboxes->launch[1].nothing.x",
            "in `mailboxes->launch[1].nothing`: `mailboxes_t::launch_t` has no member `nothing`",
        ),
        (
            "mailboxes.launch",
            "in `mailboxes.launch`: `mailboxes_t * const` is a pointer, and pointers are followed on request only",
        ),
        ("grid[2][0]", "in `grid[2]`: index 2 is outside `uint32_t [2][3]` of length 2"),
        ("grid[-1]", "in `grid[-1]`: index -1 is before the start of `uint32_t [2][3]`"),
        ("*color", "in `color`: cannot apply `*` to `color_t`"),
        ("grid[color_t]", "no variable or constant `color_t`"),
        ("&RED", "in `&RED`: `color_t` has no address: a constant of the debug information"),
        (
            "&big_pointer->packed.last",
            "in `&big_pointer->packed.last`: cannot apply `&` to `uint8_t`",
        ),
        ("(nothing_t *)4", "in `(nothing_t *)4`: no type `nothing_t *`"),
        (
            "(point_t)4",
            "in `(point_t)4`: a number cannot be cast to `point_t`; the value at an address is `point_t@address`",
        ),
        ("point_t@0x100000000", "in `point_t@0x100000000`: 0x100000000 is not a 32-bit address"),
        (
            "*big_pointer->anything",
            "in `big_pointer->anything`: `const void *` has no target type: cast it first",
        ),
        (
            "*(uint32_t *)0x100000000",
            "in `(uint32_t *)0x100000000`: 0x100000000 is not a 32-bit address",
        ),
        (
            "point_t@0xfffffffc",
            "in `point_t@0xfffffffc`: 8 bytes at 0xfffffffc reach past a core's last address",
        ),
        (
            "uint64_t[18446744073709551615]@0x9040",
            "in `uint64_t[18446744073709551615]@0x9040`: 18446744073709551615 bytes at 0x9040 reach past a core's last address",
        ),
        ("big_pointer[-1000]", "in `big_pointer[-1000]`: -0x26e00 is not a 32-bit address"),
        ("&sizeof(grid)", "in `&sizeof(grid)`: `unsigned int` has no address: computed"),
        ("sizeof(nothing_t *)", "in `sizeof(nothing_t *)`: no type `nothing_t *`"),
        ("grid[grid]", "in `grid`: `uint32_t [2][3]` is not a number"),
        ("point_t@0x100", "`point_t@0x100`, 8 bytes at 0x100: unmapped"),
        ("(*(point_t **)0x100)->x", "`(*(point_t **)0x100)`, 4 bytes at 0x100: unmapped"),
    ];
    for (text, want) in checks {
        assert_eq!(answer(&symbols, text), want, "{text}");
    }
}

#[test]
fn pointers_are_followed_on_request_only() {
    let symbols = open("types.elf");
    let mut reads = Vec::new();
    let expression = Expression::parse("big_pointer->next->points[1]").unwrap();
    let found = symbols.resolve(&expression, |address, bytes: &mut [u8]| {
        reads.push((address, bytes.len()));
        bytes.copy_from_slice(&0x9000u32.to_le_bytes());
        Ok::<(), ()>(())
    });
    let pointer = symbols.variable("big_pointer").unwrap().address().unwrap();
    assert_eq!(found.unwrap().storage, Storage::Address(0x903c));
    assert_eq!(reads, [(pointer, 4), (0x9000 + 88, 4)]);
    let whole = Expression::parse("big_pointer").unwrap();
    let refused = symbols.evaluate(&whole, |_, _: &mut [u8]| Err("in reset")).unwrap_err();
    assert!(matches!(refused, EvalError::Memory { error: "in reset", length: 4, .. }));
}

/// Evaluates an expression with the file's initial content as memory.
fn from_file(symbols: &Symbols, text: &str, pc: Option<u64>) -> String {
    let expression = Expression::parse(text).unwrap();
    let expression = pc.map_or(expression.clone(), |pc| expression.at(pc));
    let read = |at: u64, bytes: &mut [u8]| symbols.initial(at, bytes);
    match symbols.evaluate(&expression, read) {
        Err(error) => error.to_string(),
        Ok(found) => match found.storage {
            Storage::Moving(ranges) => {
                let ranges = ranges.iter().map(|r| {
                    let constant = match &r.storage {
                        Storage::Constant(bytes) => found.ty.decode(bytes).to_string(),
                        other => other.to_string(),
                    };
                    format!(" {:#x}..{:#x} {constant};", r.begin, r.end)
                });
                format!("{}:{}", found.ty, ranges.collect::<String>())
            }
            Storage::Elsewhere(words) => format!("{}: {words}", found.ty),
            storage => format!("{} = {} {storage}", found.ty, found.value),
        },
    }
}

#[test]
fn places_are_told_in_words() {
    let symbols = open("places.elf");
    let code = symbols.functions("in_several_places").unwrap().remove(0).parts.remove(0);
    let (begin, end) = (code.begin, code.end);
    let stack = "on the stack, at its frame's base-24";
    let checks = [
        ("private_word", None, "volatile uint32_t = 7 at 0xffb00000".to_owned()),
        ("private_pair.high", None, "uint32_t = 2 at 0xffb00008".to_owned()),
        ("kept_in_s11", None, "uint32_t: in register s11".to_owned()),
        ("in_several_places::constant_here", None, format!("uint32_t: {begin:#x}..{end:#x} 40;")),
        (
            "in_several_places::in_two_registers",
            None,
            format!("pair_t: {begin:#x}..{end:#x} {stack};"),
        ),
        ("moving", Some(begin), "uint32_t: in register a0".to_owned()),
        ("moving", Some(end - 4), "uint32_t: computed at run time".to_owned()),
        ("in_two_registers.high", Some(begin), format!("uint32_t: {stack}")),
        ("moving", None, "no variable or constant `moving`".to_owned()),
        ("shared_word", Some(begin), "volatile uint32_t = 3 at 0x103e0".to_owned()),
    ];
    for (text, pc, want) in checks {
        assert_eq!(from_file(&symbols, text, pc), want, "{text} {pc:x?}");
    }
    let moving = from_file(&symbols, "in_several_places::moving", None);
    assert!(moving.contains("in register a0; ") && moving.contains("computed at run time"));
    let joined = from_file(&symbols, "in_pieces::joined", None);
    assert!(joined.contains("in several places, piece by piece"), "{joined}");
}

/// A router's template arguments are only in its debug information, not in memory.
#[test]
fn template_arguments_have_names() {
    let symbols = open("router.elf");
    let constant = "a constant of the debug information";
    let checks = [
        ("SenderChannel<0>::slots", format!("const uint32_t = 8 {constant}")),
        ("SenderChannel<1>::CHANNEL", format!("long unsigned int = 1 {constant}")),
        ("BufferIndex<15>::LIMIT", format!("long unsigned int = 15 {constant}")),
        ("get_ptr_val<3>::stream_id", format!("long unsigned int = 3 {constant}")),
        (
            "EthChannelBuffer<LowLatencyPacketHeader, 7>::NUM_BUFFERS",
            format!("long unsigned int = 7 {constant}"),
        ),
        ("run_receiver_channel_step_impl::SLOTS", format!("long unsigned int = 15 {constant}")),
        ("BufferIndex<15>::HEADER", "no variable or constant `BufferIndex<15>::HEADER`".to_owned()),
    ];
    for (text, want) in checks {
        assert_eq!(from_file(&symbols, text, None), want, "{text}");
    }
}

/// `lit16 lit24 shl stack_value` needs neither registers nor memory.
#[test]
fn constant_expressions_of_dwarf_are_computed() {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return;
    };
    let build = "ttnn/tt_metal/pre-compiled/1003041148146844629/erisc/erisc.elf";
    let symbols = Symbols::open(std::path::Path::new(&root).join(build)).unwrap().0;
    let want = "uint32_t = 268435456 a constant of the debug information";
    assert_eq!(from_file(&symbols, "status", Some(0x964c)), want);
}

/// The values are those of the source, and gdb's except for `wide.y`, which has 9 bytes.
#[test]
fn bit_fields_and_types_of_type_units_have_their_values() {
    let checks = [
        ("cross", "{a = 341, b = 2748, c = 4660, tail = -2}"),
        ("cross.b + 1", "2749"),
        ("crosses[1]", "{a = 426, b = 11195, c = 117964, tail = -7}"),
        ("crosses[1].c", "117964"),
        (
            "mixed",
            "{a = -3, flag = true, kind = LOW, other = NINE, mode = loud, big = 750600224230604, \
             negative = -4000000001, whole = 48879}",
        ),
        ("wide.x", "8152436061464415727"),
        ("wide.y", "5759483427458204449"),
        ("wide.z", "-805306368"),
        ("wide.w", "985456368"),
        ("wide.last", "-700"),
        ("plain", "{a = 21, b = -400000, c = true, d = 20015998343868, e = -300000}"),
        (
            "inherited",
            "{{a = 1, b = -2, c = false, d = 3, e = -4}, extra = 300, {inner = 5, deeper = -3}}",
        ),
        ("overlaid", "{all = 737894404660, part = 52, in = {x = 4, y = -104996282}}"),
        ("divided13", "{low = 6844, high = -123456789012345, more = 5461}"),
        ("divided27", "{low = 95145455, high = -1234567890, more = 124076833}"),
        ("first.next->value", "22"),
        ("v1.edge->to.value", "22"),
        ("v1.same[1]->inner.value", "5"),
        ("v1.inner.next->around->value", "22"),
        ("v2.same[0]->edge->any->next", "0x0"),
        ("numbers.next->value", "-5"),
        ("vertices.value->value", "22"),
        ("lists.value.next->value", "-5"),
        ("*v1.edge->any", "{next = 0x0, vertex = 0x0}"),
    ];
    for file in ["records.elf", "records-dwarf2.elf", "records-units.elf", "records-units4.elf"] {
        let symbols = open(file);
        for (text, want) in checks {
            let found = from_file(&symbols, text, None);
            let value = found.split(" = ").skip(1).collect::<Vec<_>>().join(" = ");
            let (value, _) = value.split_once(" at ").or(value.split_once(" computed")).unwrap();
            assert_eq!(value, want, "{file}: {text}");
        }
        let types = ["first", "v1.edge", "v1.inner.around", "lists", "any"];
        let names = types.map(|text| from_file(&symbols, text, None));
        let graph = if file == "records-dwarf2.elf" { "" } else { "graph::" };
        let wanted = ["node_t", "edge_t *", "vertex_t *", "list_t<graph::list_t<int> >", "any_t"];
        for (name, want) in names.iter().zip(wanted) {
            let want = if want == "node_t" { want.to_owned() } else { format!("{graph}{want}") };
            assert!(name.starts_with(&format!("{want} = ")), "{file}: {name}, not {want}");
        }
    }
}

#[test]
fn objects_without_a_size_have_that_of_their_symbol() {
    let symbols = open("objects.elf");
    let mut checks = vec![
        ("open_words", "const uint32_t [3] = {1, 2, 3735928559}"),
        ("open_words[2]", "const uint32_t = 3735928559"),
        ("open_rows", "uint16_t [2][3] = {{1, 2, 3}, {4, 5, 6}}"),
        ("unseen", "unseen_t = {7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0}"),
        ("lone_word", "? = 305419896"),
        ("lone_word + 1", "unsigned int = 305419897"),
        ("lone_byte", "? = 200"),
        ("lone_long", "? = 1311768467463790320"),
        ("lone_bytes", "? = {1, 2, 3, 4, 5}"),
        ("lone_bytes[4]", "? = 5"),
        ("lone_zero", "? = 0"),
    ];
    checks.retain(|(text, want)| !from_file(&symbols, text, None).starts_with(want));
    let found: Vec<_> = checks.iter().map(|(text, _)| from_file(&symbols, text, None)).collect();
    assert!(checks.is_empty(), "{checks:?}: {found:?}");
}
