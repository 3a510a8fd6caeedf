//! `meshscope schema`: the schemas are golden files, and the verbs' output matches them.
//!
//! `BLESS=1 cargo test -p tui` rewrites the golden files.

use crate::common::stderr;
use crate::schemas::{conforms, golden_path};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};

const LIVE: &str = "emulator:n300";
const IDLE: &str = "emulator:n150,run=idle";
const LINE: &str = "emulator:n300,run=fabric,topology=line";

fn meshscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = meshscope(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// A verb prints one object with the number of its schema, which it matches.
fn judge(arguments: &[&str]) {
    let output = meshscope(&[arguments, &["--json"]].concat());
    let stderr = stderr(&output);
    let answer = serde_json::from_slice::<Value>(&output.stdout);
    let answer = answer.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {stderr}"));
    assert_eq!(answer["schema"], 1, "{arguments:?}");
    conforms(arguments, &answer);
}

fn judge_on(target: &str, all: &[&[&str]]) {
    for arguments in all {
        judge(&[&["--target", target], *arguments].concat());
    }
}

#[test]
fn the_schemas_are_as_they_were() {
    let list = text(&["schema"]);
    let mut paths = BTreeSet::new();
    for name in list.lines() {
        let words: Vec<&str> = name.split(' ').collect();
        let schema = text(&[&["schema"], &words[..]].concat());
        let path = golden_path(name);
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &schema).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(schema == kept, "{name} differs from {}; BLESS=1 keeps it", path.display());
        let parsed: Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(parsed["properties"]["schema"]["const"], 1, "{name}");
        assert_eq!(parsed.get("items"), None, "{name} is an object, no list");
        assert!(!schema.contains("\\n"), "{name}: a description has several lines");
        paths.insert(path);
    }
    let folder = fs::read_dir(golden_path("mesh").parent().unwrap()).unwrap();
    let found: BTreeSet<_> = folder.map(|file| file.unwrap().path()).collect();
    assert_eq!(found, paths, "a golden file for each schema");
}

/// Every key has a description.
#[test]
fn every_key_is_described() {
    fn lacking(name: &str, schema: &Value, found: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            let bare = properties.iter().filter(|(_, key)| key["description"].as_str().is_none());
            found.extend(bare.map(|(key, _)| format!("{name}: {key}")));
        }
        for below in schema["$defs"].as_object().into_iter().flatten() {
            lacking(&format!("{name} {}", below.0), below.1, found);
        }
    }
    let mut found = Vec::new();
    for name in text(&["schema"]).lines() {
        let schema = fs::read_to_string(golden_path(name)).unwrap();
        lacking(name, &serde_json::from_str(&schema).unwrap(), &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
}

/// The page of a verb names the schema, and does not describe keys.
#[test]
fn the_pages_of_verbs_name_their_schemas() {
    for name in text(&["schema"]).lines().filter(|name| !["dry-run", "kept-entry"].contains(name)) {
        let words: Vec<&str> = name.split(' ').collect();
        let page = text(&[&["help"], &words[..]].concat());
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&format!("`meshscope schema {name}`")), "{name}: {page}");
    }
}

#[test]
fn what_has_no_json_is_one_sentence() {
    let output = meshscope(&["schema", "record"]);
    let stderr = stderr(&output);
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(output.stdout.is_empty() && stderr.contains("`record` prints no JSON"), "{stderr}");
}

#[test]
fn snapshots_match_their_schemas() {
    judge_on(
        LIVE,
        &[
            &["mesh", "--expect", "t3000"],
            &["cores", "0:e8", "--words"],
            &["cores", "0:e8", "--sample", "3"],
            &["cores", "0:e8", "--merge", "--sample", "3"],
            &["images", "0:9-6"],
            &["operations"],
            &["buffers"],
            &["doctor"],
            &["links"],
            &["queues"],
            &["print", "0:e8", "mailboxes->launch[0]"],
            &["print", "0:e8", "mailboxes"],
        ],
    );
    let kept = "recordings/library/n300_ring_ping.mcap";
    judge_on(
        kept,
        &[&["mesh"], &["cores", "--words"], &["cores", "--merge"], &["images"], &["links"]],
    );
}

#[test]
fn commands_are_as_their_schemas_say() {
    judge_on(
        IDLE,
        &[
            &["devices", "--arc"],
            &["read", "0:1-2:0x20000", "64"],
            &["write", "0:1-2:0x20000", "1"],
            &[
                "launch",
                "firmware/images/tensix_worker.elf",
                "--on",
                "0:1-2",
                "--args",
                "0x20000,8,4",
            ],
            &["mesh", "--dry-run"],
            &["write", "0:1-2:0x20000", "1", "--dry-run"],
        ],
    );
    judge_on(
        "emulator:n300,run=idle",
        &[
            &["run", "all-gather", "-b", "4K", "-e", "4K"],
            &["run", "all-gather", "--chips", "0-7"],
            &[
                "run",
                "all-gather",
                "-b",
                "1M",
                "-e",
                "1M",
                "--timeout",
                "1ms",
                "--fault",
                "core:1.e1:stuck@200us",
            ],
        ],
    );
}

#[test]
fn fabrics_are_as_their_schemas_say() {
    judge_on(
        LINE,
        &[
            &["fabric"],
            &["fabric", "status"],
            &["fabric", "drain"],
            &["fabric", "waits"],
            &["fabric", "tables"],
            &["fabric", "path", "0", "1"],
        ],
    );
}

#[test]
fn answers_about_files_are_as_their_schemas_say() {
    let app = "firmware/images/erisc_app.elf";
    let classes = "firmware/cases/images/classes.elf";
    for (question, elf) in [
        (&["type", "mailboxes_t"][..], app),
        (&["type", "direction_t"], classes),
        (&["type", "diamond_t"], classes),
        (&["type", "pack_t<unsigned char, unsigned int, header_t>"], classes),
        (&["value", "pack"], classes),
        (&["value", "diamond"], classes),
        (&["line", "erisc_app.cpp:60"], app),
        (&["function", "application_main"], app),
        (&["list", "types"], app),
        (&["addr", "0x9040"], app),
        (&["backtrace", "--reg", "pc=0x9040", "--reg", "sp=0xffb00fd0"], app),
    ] {
        judge(&[&["symbols"], question, &["--elf", elf]].concat());
    }
}

#[test]
fn explanations_match_their_schema() {
    for name in [&[][..], &["core-stuck"], &["router"]] {
        judge(&[&["explain"], name].concat());
    }
}
