//! `meshscope fabric` and its questions, on routers of which one loses its link.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The link is down for a while, before anybody looks.
const TARGET: &str = "emulator:n300,run=fabric,fault=link:0.9:down@10us..200us";

fn meshscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", TARGET]).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn lines(path: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn status_queues_are_read_and_kept_once() {
    let path = std::env::temp_dir().join(format!("meshscope-{}-status.jsonl", std::process::id()));
    let keep = path.display().to_string();
    let output = meshscope(&["fabric", "status", "--keep", &keep, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let queue = &told["queues"][0];
    assert_eq!((&queue["chip"], &queue["channel"]), (&0.into(), &9.into()));
    assert_eq!((&queue["write_count"], &queue["read_count"]), (&3.into(), &0.into()));
    let events: Vec<_> = queue["entries"].as_array().unwrap().iter().map(|e| &e["event"]).collect();
    assert_eq!(events, ["EVENT_LINK_DOWN", "EVENT_NO_ROUTE_LEFT", "EVENT_LINK_UP"]);
    let kept = lines(&path);
    assert_eq!(kept.len(), 6);
    assert_eq!(kept[0]["event"], "EVENT_LINK_DOWN");
    // The same entries again: nothing is kept twice. A line that was cut off does no harm.
    std::fs::write(&path, std::fs::read(&path).unwrap().split_last().unwrap().1).unwrap();
    let drained = meshscope(&["fabric", "drain", "0:e9", "--keep", &keep]);
    assert_eq!(drained.status.code(), Some(0), "{drained:?}");
    assert!(String::from_utf8(drained.stderr).unwrap().contains("3 entries, drained"));
    assert_eq!(lines(&path), kept);
    std::fs::write(&path, "something else\n").unwrap();
    let refused = meshscope(&["fabric", "status", "--keep", &keep]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("line 1 is no status entry"));
}

#[test]
fn what_is_not_there_is_refused() {
    for (place, why) in
        [("7", "there is no chip 7 in this mesh"), ("0:e16", "chip 0 has no Ethernet channel 16")]
    {
        for words in [&["fabric", place][..], &["fabric", "status", place]] {
            let output = meshscope(words);
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(String::from_utf8(output.stderr).unwrap().contains(why), "{words:?}");
        }
    }
}
