//! cargo-fuzz: the entry point `split`.

#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code, reason = "other targets use the rest")]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::split(bytes));
