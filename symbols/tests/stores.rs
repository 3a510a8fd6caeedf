//! Stores of constants to constant addresses: every form in `stores.S`, whose comments are the
//! answers.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use symbols::Symbols;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/cases");

#[test]
fn constants_are_followed_to_their_stores() {
    let source = std::fs::read_to_string(format!("{CASES}/stores.S")).unwrap();
    let comments = source.lines().filter_map(|line| line.trim().split_once("// 0x"));
    let want: Vec<_> = comments
        .filter(|(code, _)| !code.is_empty())
        .flat_map(|(_, stores)| stores.split(", ").map(|s| s.trim_start_matches("0x").to_owned()))
        .collect();
    for name in ["stores", "stores-compressed"] {
        let (symbols, _) = Symbols::open(format!("{CASES}/images/{name}.elf")).unwrap();
        let stores = symbols.constant_stores();
        let found = stores.iter().map(|store| format!("{:x} to {:#x}", store.value, store.address));
        assert_eq!(found.collect::<Vec<_>>(), want, "{name}");
        assert!(stores.iter().all(|store| store.made_at < store.pc), "{name}: {stores:x?}");
    }
}
