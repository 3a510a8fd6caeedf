//! The program `study`: unusable meshes and options are refused; races are explained; killed
//! processes leave a mesh that `clean` brings back.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn study(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_study"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = study(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["study"], arguments[0]);
    answer
}

/// Refuses with exit code 2 and one line that says all of these words.
fn refuses(arguments: &[&str], says: &[&str]) {
    let output = study(arguments);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}: no head of a table that has no rows");
    for words in says {
        assert!(stderr.contains(words), "{arguments:?}: {words}: {stderr}");
    }
}

#[test]
fn a_mesh_without_links_is_a_usage_error_of_every_study_and_all_of_them_end() {
    for verb in [
        "bandwidth",
        "collectives",
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
        refuses(&[verb, "--mesh", "n150"], &[]);
    }
    refuses(&["bandwidth", "--mesh", "/dev/zero"], &["a character device, not a regular file"]);
}

#[test]
fn a_study_of_muxes_says_what_a_mesh_lacks() {
    let mux = |words: &[&'static str], says: &[&str]| {
        refuses(&[&["mux", "--seeds", "1"], words].concat(), says);
    };
    mux(&["--mesh", "n150"], &["n150", "at least two linked chips"]);
    mux(&["--mesh", "n300", "--links", "3"], &["n300", "3 links", "has 1"]);
    mux(&["--workers", "9"], &["--workers 9", "from 1 to 8"]);
    mux(&["--on", "trisc"], &["--on trisc", "brisc or erisc"]);
    mux(&["--hang", "never"], &["--hang never", "bounded_256"]);
    mux(&["--patience", "5"], &["--patience", "`5`"]);
    mux(&["--poll", "0ms"], &["--poll", "1ns"]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    refuses(&["why", "--kind", "nothing"], &["'nothing' is none of", "edm-stuck"]);
    refuses(&["why", "--record", "why.mcap"], &["--record needs --kind"]);
    refuses(&["clean", "--sigkill", "--faults"], &["--sigkill", "--faults"]);
    refuses(
        &["clean", "--sigkill", "--meshscope", "/nowhere"],
        &["/nowhere: there is no such program"],
    );
    refuses(&["traffic", "--seeds", "0"], &["--seeds 0: it can be from 1 to"]);
    refuses(&["relaunch", "--count", "x"], &["--count x", "'x' is not a number"]);
}

#[test]
fn a_race_is_explained_as_text_and_as_json() {
    let table = study(&["race", "--seeds", "1"]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.status.code(), Some(0), "{text}");
    for words in [
        "SEED    RACE        KERNELS             CHANNELS  ROUNDS  DELAY ",
        "0       completion  as in the guide     1         2       22.44 us    0",
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

/// `latency`, `bandwidth`, `transport`, `reroute` and `mux` take minutes.
#[test]
fn every_column_has_its_key_in_every_row() {
    let studies = tests::study::all().collect::<Vec<_>>();
    for arguments in [
        &["watching", "--cycles", "10000"][..],
        &["race", "--seeds", "1"],
        &["ttl", "--most", "1", "--mesh", "t3000"],
        &["timeout"],
        &["relaunch", "--count", "1"],
        &["collectives", "--mesh", "n300", "--parts", "1000"],
        &["traffic", "--mesh", "n300", "--packets", "10", "--seeds", "1"],
        &["pause", "--mesh", "n300", "--seeds", "1"],
        &["clean", "--seeds", "1"],
        &["clean", "--seeds", "1", "--faults"],
        &["why", "--kind", "ring-member-missing"],
    ] {
        let answer = json(arguments);
        let study = studies.iter().find(|study| study.name == arguments[0]).unwrap();
        let rows = |table: &studies::shape::Table| answer[table.name].as_array().unwrap().len();
        assert!(study.tables.iter().map(rows).sum::<usize>() > 0, "{arguments:?}: no rows");
        for table in study.tables {
            for row in answer[table.name].as_array().unwrap() {
                let absent = table.columns.iter().find(|column| row.get(column.key).is_none());
                assert!(absent.is_none(), "{arguments:?}: {absent:?} of {row}");
            }
        }
    }
}

/// Whether the program is beside this one: a test of `tests` alone does not build it.
fn has_meshscope() -> bool {
    let meshscope = Path::new(env!("CARGO_BIN_EXE_study")).with_file_name("meshscope");
    if !meshscope.is_file() {
        println!("skipped: there is no {}", meshscope.display());
    }
    meshscope.is_file()
}

/// `.ci/deep hostile` has more. Among them is an EDM that has 2^32 workers by its memory.
#[test]
fn hostile_files_do_no_harm() {
    if has_meshscope() {
        let answer = json(&["hostile", "--seed", "1", "--count", "33"]);
        assert!(answer["rows"].as_array().unwrap().iter().all(|row| row["files"] != 0), "{answer}");
    }
}

#[test]
fn processes_that_get_sigkill_leave_what_clean_tears_down() {
    if !has_meshscope() {
        return;
    }
    let answer = json(&["clean", "--sigkill", "--seeds", "1", "--seed", "3"]);
    let rows = answer["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| [&row["launcher"], &row["transport"]]).collect();
    let expected =
        [["run", "edm"], ["run", "fabric"], ["live view", "edm"], ["live view", "fabric"]];
    assert_eq!(names, expected);
    let stood = rows.iter().filter_map(|row| row["stood"].as_u64()).sum::<u64>();
    assert!(stood > 0, "the moments are in the middle of runs: {answer}");
    refuses(&["clean", "--sigkill", "--mesh", "n150", "--seeds", "1"], &[]);
}
