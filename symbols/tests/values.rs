//! Bytes to values: decoded by type, read through a closure, and from memory with gaps.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use symbols::{Symbols, Type, Value};

fn open() -> Symbols {
    Symbols::open(format!("{}/../firmware/cases/images/types.elf", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
        .0
}

fn ty(name: &str) -> Type {
    open().type_named(name).unwrap()
}

#[track_caller]
fn check(name: &str, bytes: &[u8], want: &str) {
    assert_eq!(ty(name).decode(bytes).to_string(), want);
}

#[test]
fn values_as_text() {
    check("point_t", &[1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff], "{x = 1, y = -2}");
    check("header_t", &[7, 0b0000_0100, 0x34, 0x12], "{kind = 7, flag = 1, length = 4660}");
    check(
        "word_t",
        &[0, 0, 0x80, 0x3f],
        "{all = 1065353216, {first = 0, second = 0, rest = 16256}, as_float = 1}",
    );
    check(
        "packed_t",
        &[0xff, 0xf7, 0x01, 0, 0x0b, 0, 0, 0],
        "{low = 31, middle = 63, straddles = 31, last = 3, set = true}",
    );
    check(
        "packed_t",
        &[0xe0, 0x0f, 0, 0, 0, 0, 0, 0],
        "{low = 0, middle = -1, straddles = 0, last = 0, set = false}",
    );
    check("color_t", &[5, 0, 0, 0], "GREEN");
    check("color_t", &[0xff; 4], "BLUE");
    check("color_t", &[6, 0, 0, 0], "6");
    check("mode_t", &[0xff], "loud");
    check("derived_t", &[1; 24], "{{base_word = 16843009}, own = 72340172838076673, tail = 1}");
}

#[test]
fn bytes_that_are_not_there_are_unread() {
    check("point_t", &[1, 0, 0, 0], "{x = 1, y = <unread>}");
    check("header_t", &[], "{kind = <unread>, flag = <unread>, length = <unread>}");
}

#[test]
fn one_access_reads_a_whole_value() {
    let mut reads = Vec::new();
    let value = ty("mailboxes_t").read(0x3dd50, |address, bytes: &mut [u8]| {
        reads.push((address, bytes.len()));
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = at as u8;
        }
        Ok::<(), ()>(())
    });
    let value = value.unwrap();
    assert_eq!(reads, [(0x3dd50, 68)]);
    let launch = value.member("launch").unwrap().element(7).unwrap();
    assert_eq!(launch.member("enables"), Some(&Value::Unsigned(0x4342_4140)));
    let refused = ty("mailboxes_t").read(0, |_, _: &mut [u8]| Err("in reset"));
    assert_eq!(refused, Err("in reset"));
}

#[test]
fn fields_read_what_decoding_reads() {
    let symbols = open();
    let bytes: Vec<u8> = (0u8..=255).collect();
    let whole = ty("mailboxes_t").decode(&bytes);
    let launch = symbols.field("mailboxes_t.launch").unwrap();
    let enables = symbols.field("mailboxes_t::launch_t.enables").unwrap();
    assert_eq!((launch.count, launch.stride), (8, 8));
    for index in 0..8u64 {
        let path = format!("mailboxes_t.launch[{index}]");
        let field = symbols.field(&path).unwrap().then(enables);
        assert_eq!(field, symbols.field(&format!("{path}.enables")).unwrap());
        let value = whole.member("launch").unwrap().element(index as usize).unwrap();
        assert_eq!(field.read(&bytes), value.member("enables").unwrap().as_u64());
    }
    let middle = symbols.field("packed_t.middle").unwrap();
    assert_eq!(middle.read(&[0xff, 0xf7]), Some(0x3f));
    assert_eq!(middle.read_signed(&[0xff, 0xff]), Some(-1));
}
