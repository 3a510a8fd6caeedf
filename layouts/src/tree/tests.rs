//! What both formats give, and what neither may.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

fn yaml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    Node::from_yaml(text).and_then(|tree| tree.read()).map_err(|error| error.to_string())
}

fn toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    Node::from_toml(text).and_then(|tree| tree.read()).map_err(|error| error.to_string())
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    #[serde(default)]
    sizes: [u16; 2],
    on: Option<bool>,
}

#[test]
fn both_formats_give_the_same() {
    let part = Part { name: "5".into(), sizes: [16, 1000], on: Some(true) };
    assert_eq!(yaml::<Part>("name: 5\nsizes: [0x10, 1_000]\non: yes").unwrap(), part);
    assert_eq!(toml::<Part>("name = \"5\"\nsizes = [0x10, 1_000]\non = true").unwrap(), part);
    let bare = Part { name: "null".into(), sizes: [0, 0], on: None };
    assert_eq!(
        yaml::<Part>("---\nname: \"null\"\nsizes:\n- 0\n- 0o0\non: ~\n...\n").unwrap(),
        bare
    );
    assert_eq!(toml::<Part>("name = \"null\"").unwrap(), bare);
}

#[test]
fn complaints_name_their_line() {
    for (text, says) in [
        ("name: a\nsize: [1]", "line 2: unknown field `size`, expected one of"),
        ("name: a\nsizes: [1,\n  70000]", "line 3: invalid u16"),
        ("name: a\nsizes: [1]", "line 2: invalid length 1, expected an array of length 2"),
        ("name: a\nsizes: [1, 2, 3]", "line 2: expected 2 values, not 3"),
        ("name: a\nsizes: 1", "line 2: expected sequence start"),
        ("name: a\non: 01", "line 2: invalid bool"),
        ("name:\n  - a", "line 2: expected a string"),
        ("name: a\nname: b", "line 2: duplicate mapping key: name"),
        ("on: true", "line 1: missing field `name`"),
        ("name: a\n---\nname: b", "line 2: a second document begins"),
        ("name: a\n? [b]\n: c", "line 2: a key must be a word or a number"),
        ("name: [", "line 1: "),
        ("", "missing field `name`"),
    ] {
        let said = yaml::<Part>(text).unwrap_err();
        assert!(said.starts_with(says), "{text:?} gives {said}");
    }
    assert_eq!(toml::<Part>("name = \"a\"\non = 3").unwrap_err(), "line 2: invalid bool");
    assert_eq!(toml::<Part>("\n\non = true").unwrap_err(), "line 1: missing field `name`");
    assert!(toml::<Part>("name = \"a\"\n\nname = \"b\"").unwrap_err().starts_with("line 3: "));
}

#[test]
fn whole_numbers_are_those_of_yaml_1_2() {
    for (text, number) in [("0", 0), ("-7", -7), ("+0x1F", 31), ("0b101", 5), ("-0o17", -15)] {
        assert_eq!(yaml::<i64>(text), Ok(number), "{text}");
    }
    for text in ["007", "1__0", "_1", "0x", "--1", "0x-1", "+-1", "1.0", "9223372036854775808", "é"]
    {
        assert_eq!(yaml::<i64>(text), Err("line 1: invalid i64".into()), "{text}");
    }
    assert_eq!(yaml::<u64>("18446744073709551615"), Ok(u64::MAX));
}

#[test]
fn aliases_repeat_but_not_without_end() {
    let lists: BTreeMap<String, Vec<u8>> = yaml("a: &a [1, 2]\nb: *a").unwrap();
    assert_eq!(lists["a"], lists["b"]);
    assert!(Node::from_yaml("a: &a [*a]").is_err());
    let chain = |count: usize, item: fn(usize) -> String| -> String {
        std::iter::once("- &a0 [x]\n".to_owned()).chain((1..count).map(item)).collect()
    };
    let laughs = chain(40, |i| format!("- &a{i} [*a{0}, *a{0}]\n", i - 1));
    assert!(Node::from_yaml(&laughs).unwrap_err().what.contains("repeat too much"));
    let deep = chain(300, |i| format!("- &a{i} [*a{}]\n", i - 1));
    assert!(Node::from_yaml(&deep).unwrap_err().what.contains("nested too deep"));
    let kept = format!("{}{}{}", "&a [".repeat(250), "x,".repeat(100_000), "]".repeat(250));
    assert!(Node::from_yaml(&kept).unwrap_err().what.contains("anchors keep too much"));
    let long = format!("- &a {}\n{}", "x".repeat(1 << 20), "- *a\n".repeat(100));
    assert!(Node::from_yaml(&long).unwrap_err().what.contains("repeat too much"));
    let many = "- 1\n".repeat(2 << 20);
    assert!(Node::from_yaml(&many).unwrap_err().what.contains("too many values"));
    assert!(Node::from_yaml(&"[".repeat(100_000)).is_err());
    assert!(Node::from_yaml(&"- ".repeat(100_000)).is_err());
}
