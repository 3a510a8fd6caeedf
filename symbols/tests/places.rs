//! Variables that a host can or cannot read, and a file with thousands of symbols and lines.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use symbols::{Expression, Symbols};

fn open(name: &str) -> Symbols {
    let (symbols, problems) =
        Symbols::open(format!("{}/../firmware/cases/images/{name}", env!("CARGO_MANIFEST_DIR")))
            .unwrap();
    assert_eq!(problems, [], "{name}");
    symbols
}

#[test]
fn every_variable_says_where_it_is() {
    let places = [
        ("shared_word", "at 0x103e0"),
        ("private_word", "at 0xffb00000"),
        ("private_pair", "at 0xffb00004"),
        ("kept_in_s11", "in register s11"),
        ("constant_here", "a constant of the debug information"),
    ];
    for name in ["places.elf", "places-dwarf4.elf"] {
        let symbols = open(name);
        for (variable, want) in places {
            let storage = symbols.variable(variable).unwrap().storage;
            assert_eq!(storage.to_string(), want, "{name}: {variable}");
        }
        let high = Expression::parse("private_pair.high").unwrap();
        let refused = symbols.evaluate(&high, |_, _: &mut [u8]| Err("private to its core"));
        let refused = refused.map(|found| found.value).unwrap_err().to_string();
        let want = "`private_pair.high`, 4 bytes at 0xffb00008: private to its core";
        assert_eq!(refused, want, "{name}");
    }
}

#[test]
fn a_router_says_what_it_was_built_for() {
    let symbols = open("router.elf");
    let constants = [
        ("to_receiver_0_pkts_sent_id", "2"),
        ("sender_channel_1_free_slots_stream_id", "1"),
        ("k_unused_stream_id", "32"),
        ("SENDER_NUM_BUFFERS_ARRAY", "{8, 7}"),
        ("RECEIVER_NUM_BUFFERS_ARRAY[0]", "15"),
        ("SenderChannel<1>::slots", "7"),
        ("BufferIndex<15>::LIMIT", "15"),
        ("WriteTransactionIdTracker<4, 4>::IDS", "4"),
        ("edm_status_ptr_addr", "98432"),
        ("READY_FOR_TRAFFIC", "READY_FOR_TRAFFIC"),
        ("(uint32_t)NocSendType::NOC_UNICAST_ATOMIC_INC", "2"),
    ];
    for (text, want) in constants {
        let expression = Expression::parse(text).unwrap();
        let found = symbols.evaluate(&expression, |_, _: &mut [u8]| Err("no memory"));
        assert_eq!(found.map(|found| found.value.to_string()).as_deref(), Ok(want), "{text}");
    }
}

#[test]
fn twenty_eight_thousand_local_symbols_and_four_long_line_tables() {
    let symbols = open("many.elf");
    assert!(
        symbols.section(".rela.debug_line").is_some(),
        "relocations are kept although they are applied"
    );
    // 110 functions in each of four units, all made of the same lines.
    assert_eq!(symbols.code_of_line("many/row.inc", 2).unwrap().len(), 440);
    let functions = symbols.function_names();
    assert_eq!(functions.len(), 441);
    for name in functions.iter().step_by(40) {
        let found = symbols.functions(name).unwrap();
        assert_eq!(found[0].parts.len(), 1, "{name}");
        let part = &found[0].parts[0];
        let symbol = symbols.symbol_at(part.begin + 4).unwrap();
        assert_eq!((symbol.address, symbol.size), (part.begin, part.end - part.begin), "{name}");
    }
}
