//! `cores`: groups, and the tree of `--merge`, as golden text of recorded meshes.
//!
//! `BLESS=1 cargo test -p tui` rewrites the golden files.

use crate::common::stderr;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

fn meshscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.args(arguments).output().unwrap()
}

/// Compares what is printed of a recording with its golden file.
fn prints(golden: &str, recording: &str, arguments: &[&str]) {
    let recording = format!("recordings/library/{recording}.mcap");
    let output = meshscope(&[&["--target", &recording], arguments].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let path = format!("{}/tests/golden/{golden}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == kept, "{golden} differs; BLESS=1 keeps it:\n{text}");
}

#[test]
fn equal_cores_are_one_line_and_outliers_come_first() {
    prints("cores_groups", "n300_router_stuck", &["cores"]);
}

#[test]
fn a_core_is_a_place_for_every_verb() {
    let on = |arguments: &[&str]| {
        let output = meshscope(&[&["--target", "emulator:n150,run=idle"], arguments].concat());
        (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
    };
    for verb in ["cores", "images"] {
        let (code, text, _) = on(&[verb, "0:1-2:brisc", "--json"]);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let cores = answer["cores"].as_array().unwrap();
        let brisc = cores.iter().all(|core| core["core"] == "brisc");
        assert_eq!((code, cores.len(), brisc), (Some(0), 1, true), "{verb}: {text}");
        for (place, says) in [
            ("0:1-2:erisc", "tile 0:1-2 has no erisc"),
            (
                "0:1-2:what",
                "'what' is not a number (decimal, or hexadecimal after 0x), and no core",
            ),
            ("0:e16:erisc", "chip 0 has no Ethernet channel 16"),
        ] {
            let (code, _, stderr) = on(&[verb, place]);
            assert!(code == Some(2) && stderr.contains(says), "{verb} {place}: {stderr}");
        }
    }
    for verb in [&["cores", "--merge"][..], &["cores", "--sample", "2"], &["fabric"]] {
        let (code, text, stderr) = on(&[verb, &["0:e8:erisc"]].concat());
        assert_eq!(code, Some(0), "{verb:?}: {text}{stderr}");
    }
    let recording = ["--target", "recordings/library/n300_router_stuck.mcap"];
    for verb in ["changes", "cores", "images"] {
        let output = meshscope(&[&recording[..], &[verb, "0:9-6:erisc"]].concat());
        assert!(output.status.code() < Some(2), "{verb}: {}", stderr(&output));
    }
}

#[test]
fn cores_that_were_not_read_are_a_group_with_its_reason() {
    prints("cores_unreachable", "n300_chip_unreachable", &["cores"]);
}

#[test]
fn the_tree_says_where_cores_are_and_what_moved() {
    prints("cores_merge", "n300_router_stuck", &["cores", "--merge", "--for", "1s"]);
}

#[test]
fn what_moves_is_unknown_of_one_moment() {
    prints("cores_one_moment", "n300_ring_ping", &["cores", "0", "--merge"]);
}

/// The cores of a verb's JSON at this key: chip, tile, core.
fn places(of: &Value) -> Vec<String> {
    let cores = of["cores"].as_array().unwrap();
    cores.iter().map(|core| format!("{} {} {}", core["chip"], core["tile"], core["core"])).collect()
}

#[test]
fn every_core_is_in_one_branch_of_the_tree() {
    let target = ["--target", "emulator:n300"];
    let output = meshscope(&[&target[..], &["cores", "--merge", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let branches = answer["merged"]["branches"].as_array().unwrap();
    let merged: Vec<String> = branches.iter().flat_map(places).collect();
    let all = places(&answer);
    assert_eq!((merged.len(), all.len()), (672, 672));
    assert_eq!(merged.iter().collect::<BTreeSet<_>>(), all.iter().collect());
}

#[test]
fn sampled_functions_replace_those_of_waypoints() {
    let target = ["--target", "emulator:n300"];
    let ask = ["cores", "0:1-2", "--merge", "--sample", "20", "--json"];
    let output = meshscope(&[&target[..], &ask].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let branches = answer["merged"]["branches"].as_array().unwrap();
    let worker = branches.iter().find(|branch| branch["kernel"] == "tensix_worker").unwrap();
    let core = answer["cores"].as_array().unwrap().iter().find(|core| core["core"] == "brisc");
    let sampled = &core.unwrap()["profile"]["places"][0]["frames"][0];
    assert_eq!(worker["function"], sampled["function"]);
    let line = format!(":{}", sampled["line"]);
    assert!(worker["line"].as_str().unwrap().ends_with(&line), "{worker} {sampled}");
    assert_eq!(worker["waypoints"], serde_json::json!(["DWLW"]));
}
