//! `symbols type --json` on bit-fields: `bit_offset` counts from the start of the type, as gdb's
//! `ptype /o` lays it out.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use std::process::Command;

#[test]
fn bit_fields_carry_their_size_and_offset_in_bits() {
    let elf = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/cases/images/types.elf");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let output =
        command.args(["symbols", "type", "packed_t", "--json", "--elf", elf]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["name"], &answer["size"]), (&json!("packed_t"), &json!(8)));
    let bits = |m: &Value| (m["name"].clone(), m["bit_offset"].clone(), m["bit_size"].clone());
    let found: Vec<_> = answer["members"].as_array().unwrap().iter().map(bits).collect();
    let expected =
        [("low", 0, 5), ("middle", 5, 7), ("straddles", 12, 13), ("last", 32, 3), ("set", 35, 1)];
    assert_eq!(found, expected.map(|(name, at, size)| (json!(name), json!(at), json!(size))));
    for member in answer["members"].as_array().unwrap() {
        let first_bit = member["bit_offset"].as_u64().unwrap();
        assert_eq!(member["offset"], first_bit / 8, "the byte that holds the first bit: {member}");
    }
}
