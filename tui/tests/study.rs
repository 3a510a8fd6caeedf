//! `meshscope study`: unusable meshes are refused; races are explained; killed processes leave a mesh
//! that `clean` brings back.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::stderr;
use crate::schemas::conforms;
use serde_json::Value;
use std::process::{Command, Output, Stdio};

fn study(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.arg("study").args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = study(&[arguments, &["--json"]].concat());
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&[&["study"], arguments].concat(), &answer);
    answer
}

#[test]
fn a_mesh_without_links_is_a_usage_error_of_every_study_and_all_of_them_end() {
    for verb in [
        "bandwidth",
        "pause",
        "race",
        "relaunch",
        "reroute",
        "timeout",
        "traffic",
        "transport",
        "ttl",
        "watching",
    ] {
        let output = study(&[verb, "--mesh", "n150"]);
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{verb}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{verb}: {stderr}");
        assert!(output.stdout.is_empty(), "{verb}: no head of a table that has no rows");
    }
}

#[test]
fn a_race_is_explained_as_text_and_as_json() {
    let table = study(&["race", "--seeds", "1"]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.status.code(), Some(0), "{text}");
    for words in [
        "asynchronous start: chips start",
        "asynchronous completion: chips end",
        "without handshake: harm in 1 of 1 rounds; as in the guide: in 0 of 1",
        "without teardown: harm in 1 of 1 rounds; as in the guide: in 0 of 1",
        "op 2 wrote it",
        "for the answer to its handshake; it is that of message",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let answer = json(&["race", "--seeds", "1", "--kind", "completion"]);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["left_out"]), (2, &Value::from("teardown")));
    let stale = &rows[0]["misreads"][0];
    assert_eq!((&stale["taken_for"], &stale["of_op"]), (&"handshake".into(), &1.into()));
    assert_eq!(rows[1]["notes"], serde_json::json!([]));
    assert_eq!(answer["explanations"][0]["proper_harmed"], 0);
}

#[test]
fn processes_that_get_sigkill_leave_what_clean_tears_down() {
    let answer = json(&["clean", "--sigkill", "--seeds", "1", "--seed", "3"]);
    let rows = answer["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| [&row["launcher"], &row["transport"]]).collect();
    let expected =
        [["run", "edm"], ["run", "fabric"], ["live view", "edm"], ["live view", "fabric"]];
    assert_eq!(names, expected);
    let stood = rows.iter().filter_map(|row| row["stood"].as_u64()).sum::<u64>();
    assert!(stood > 0, "the moments are in the middle of runs: {answer}");
    let none = study(&["clean", "--sigkill", "--mesh", "n150", "--seeds", "1"]);
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
}
