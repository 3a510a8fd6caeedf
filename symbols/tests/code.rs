//! Functions by name and code by source line.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::path::Path;
use symbols::{Error, FunctionCode, Symbols};

fn open(name: &str) -> Symbols {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/cases/images");
    Symbols::open(format!("{folder}/{name}")).unwrap().0
}

fn function(symbols: &Symbols, name: &str) -> FunctionCode {
    let mut found = symbols.functions(name).unwrap();
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found.remove(0)
}

/// Returns the symbols of a function's parts, and the functions that contain inlined copies.
fn shape(symbols: &Symbols, name: &str) -> (Vec<String>, Vec<String>) {
    let found = function(symbols, name);
    let parts = found.parts.iter().filter_map(|part| part.symbol.clone()).collect();
    let mut into: Vec<String> =
        found.copies.iter().filter_map(|c| c.into.clone()).map(|f| f.to_string()).collect();
    into.dedup();
    (parts, into)
}

#[test]
fn a_function_has_all_its_code() {
    let symbols = open("parts.elf");
    let own = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let checks: [(&str, &[&str], &[&str]); 4] = [
        ("complain", &["_ZL8complainj"], &[]),
        ("scan", &["_ZL4scanPKjii.constprop.0"], &[]),
        ("divided", &["_Z7dividedj.part.0"], &["start"]),
        ("_Z7dividedj", &["_Z7dividedj.part.0"], &["start"]),
    ];
    for (name, parts, into) in checks {
        assert_eq!(shape(&symbols, name), (own(parts), own(into)), "{name}");
    }
    let scan = function(&symbols, "scan");
    assert_eq!(scan.size(), symbols.symbol("_ZL4scanPKjii.constprop.0").unwrap().size);
    assert!(matches!(&scan.declared, Some((file, 9)) if file.ends_with("parts.cpp")));
    for copy in function(&symbols, "early").copies {
        assert!(copy.begin < copy.end && copy.into.is_some() && copy.line.is_some(), "{copy:x?}");
    }
}

#[test]
fn copies_name_the_line_of_their_call() {
    let symbols = open("parts.elf");
    let calls = function(&symbols, "divided").copies;
    assert!(calls.iter().all(|copy| copy.line == Some(80)), "{calls:?}");
}

#[test]
fn scopes_and_template_arguments_may_be_left_out() {
    let symbols = open("router.elf");
    let whole = "BufferIndex<15>::increment";
    assert_eq!(function(&symbols, whole).name, whole);
    let names = |name: &str| {
        let found = symbols.functions(name).unwrap();
        found.into_iter().map(|function| function.name).collect::<Vec<_>>()
    };
    assert_eq!(names("increment").len(), 3);
    assert_eq!(names("close_connection").len(), 2);
    assert_eq!(
        names("close_connection<SenderChannel<1> >"),
        ["close_connection<SenderChannel<1> >"]
    );
    assert_eq!(names("(anonymous namespace)::run_all_channels"), names("run_all_channels"));
    assert_eq!(
        symbols.functions("thrown_away"),
        Err(Error::NoFunction { name: "thrown_away".into() })
    );
}

/// A clone looked up by its symbol has its clone suffix, whatever parentheses its name has.
#[test]
fn clones_are_named_whole() {
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/images");
    let (symbols, _) = Symbols::open(images.join("edm.elf")).unwrap();
    let clones = [
        "_ZN6fabric12_GLOBAL__N_112tell_counterERKNS_9channel_tE.part.0",
        "_Z14handshake_sendIZN3edm11shake_handsEvEUlT_E_EbS1_.constprop.0",
    ];
    let (mux, _) = Symbols::open(images.join("fabric_mux_no_wait_brisc.elf")).unwrap();
    let found = mux.functions(clones[0]).unwrap();
    assert_eq!(found[0].name, "fabric::(anonymous namespace)::tell_counter [clone .part.0]");
    assert_eq!(found[0].linkage_name.as_deref(), Some(clones[0]));
    let found = symbols.functions(clones[1]).unwrap();
    assert!(found[0].name.ends_with("> [clone .constprop.0]"), "{}", found[0].name);
}

/// Every listed function can be looked up, and is at its symbol's address.
#[test]
fn every_listed_function_is_found() {
    for file in
        ["parts.elf", "parts-lto.elf", "router.elf", "frames.elf", "frames-dwarf4.elf", "many.elf"]
    {
        let symbols = open(file);
        let names = symbols.function_names();
        assert!(!names.is_empty(), "{file}");
        for name in names.iter().take(200) {
            let found = symbols.functions(name).unwrap();
            let exact = found.iter().find(|f| f.name == *name);
            assert!(exact.is_some(), "{file}: {name}: {found:?}");
            let function = exact.unwrap();
            assert!(!function.parts.is_empty() || !function.copies.is_empty(), "{file}: {name}");
            for part in &function.parts {
                let symbol = symbols.symbol_at(part.begin).map(|symbol| symbol.address);
                assert_eq!(symbol, Some(part.begin), "{file}: {name}");
            }
        }
        assert_eq!(symbols.problems(), [], "{file}");
    }
}

/// Most runs of a line's code start at an address whose innermost frame has that line.
#[test]
fn lines_lead_to_their_code_and_back() {
    let symbols = open("parts.elf");
    let lines = symbols.lines_with_code("parts.cpp");
    assert!(lines.contains(&53) && !lines.contains(&1), "{lines:?}");
    let mut back = 0;
    for &line in &lines {
        for code in symbols.code_of_line("cases/parts.cpp", line).unwrap() {
            let frames = symbols.frames_at(code.begin);
            back += usize::from(
                code.end > code.begin && frames.first().and_then(|f| f.line) == Some(line),
            );
        }
    }
    assert!(back > lines.len() / 2, "{back} of {}", lines.len());
    assert_eq!(symbols.code_of_line("parts.cpp", 1), Ok(Vec::new()));
    assert_eq!(
        symbols.code_of_line("arts.cpp", 53),
        Err(Error::NoFile { name: "arts.cpp".into() })
    );
    assert_eq!(symbols.source_files(), ["/meshscope/firmware/cases/parts.cpp"]);
}

#[test]
fn wrong_names_are_answered_with_near_ones() {
    let symbols = open("types.elf");
    let near = |error: Error| symbols.suggestions(&error);
    assert_eq!(near(Error::NoType { name: "mailbox_t".into() }), ["mailboxes_t"]);
    assert_eq!(near(Error::NoVariable { name: "big_pointr".into() }), ["big_pointer"]);
    assert_eq!(near(Error::NoFunction { name: "strat".into() }), ["start"]);
    let member = Error::NoMember { in_type: "big_t".into(), member: "ponits".into() };
    assert_eq!(near(member), ["points"]);
    assert!(near(Error::NoType { name: "zzzzzz".into() }).is_empty());
}

#[test]
fn data_is_no_function() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/images/erisc_base.elf");
    let symbols = Symbols::open(file).unwrap().0;
    assert_eq!(symbols.symbol_at(0x6eba).unwrap().kind, symbols::SymbolKind::Object);
    assert!(symbols.frames_at(0x6eba).is_empty());
}
