//! `meshscope fabric` and its subcommands, on a fabric in which one router's link goes down.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{on, stderr};
use crate::schemas::conforms;
use machine::history::History;
use recordings::Replay;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Output;

/// The link is down for a while, before the first snapshot.
const TARGET: &str = "emulator:n300,run=fabric,fault=link:0.9:down@5ms..6ms";

fn meshscope(arguments: &[&str]) -> Output {
    on(TARGET, arguments)
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
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let queue = &report["queues"][0];
    assert_eq!((&queue["chip"], &queue["channel"]), (&0.into(), &9.into()));
    assert_eq!((&queue["write_count"], &queue["read_count"]), (&3.into(), &0.into()));
    let events: Vec<_> = queue["entries"].as_array().unwrap().iter().map(|e| &e["event"]).collect();
    assert_eq!(events, ["EVENT_LINK_DOWN", "EVENT_NO_ROUTE_LEFT", "EVENT_LINK_UP"]);
    // Both ends saw it at about the same time of the target, whatever their own clocks say.
    let first =
        |queue: usize, clock: &str| report["queues"][queue]["entries"][0][clock].as_u64().unwrap();
    let [here, there] = [0, 1].map(|queue| first(queue, "cycles"));
    assert!((5_000_000..5_200_000).contains(&here) && here.abs_diff(there) < 50_000, "{report}");
    let [here, there] = [0, 1].map(|queue| first(queue, "wall_clock_cycles"));
    assert!(here.abs_diff(there) > 50_000, "the chips' clocks differ: {report}");
    let kept = lines(&path);
    assert_eq!(kept.len(), 6);
    assert_eq!(kept[0]["event"], "EVENT_LINK_DOWN");
    // The same entries again: none is kept twice. A line that was cut off does no harm.
    std::fs::write(&path, std::fs::read(&path).unwrap().split_last().unwrap().1).unwrap();
    let drained = meshscope(&["fabric", "drain", "0:e9", "--keep", &keep]);
    assert_eq!(drained.status.code(), Some(0), "{drained:?}");
    assert!(stderr(&drained).contains("3 entries, drained"));
    assert_eq!(lines(&path), kept);
    std::fs::write(&path, "something else\n").unwrap();
    let refused = meshscope(&["fabric", "status", "--keep", &keep]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("line 1 is not a status entry"));
}

/// Each message is noted once, and every moment has the queues.
#[test]
fn a_recording_has_the_status_queues() {
    let path = std::env::temp_dir().join(format!("meshscope-{}-queues.mcap", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let file = path.display().to_string();
    let recorded = meshscope(&["record", &file, "--moments", "2"]);
    assert_eq!(recorded.status.code(), Some(0), "{recorded:?}");
    let notes = Replay::open(&path).unwrap().notes();
    let status = on(&format!("{file},at=#0"), &["fabric", "status", "--json"]);
    let refused = on(&file, &["fabric", "drain"]);
    std::fs::remove_file(&path).unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let entries: Vec<&Value> = status["queues"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|queue| queue["entries"].as_array().unwrap())
        .collect();
    let noted: Vec<_> = notes.iter().filter(|(_, note)| note.kind() == "status").collect();
    assert_eq!((entries.len(), noted.len()), (6, 6), "{notes:?}");
    assert_eq!(noted[0].1.to_string(), "0:e9 #0 EVENT_LINK_DOWN link status 0");
    assert_eq!(entries[0]["event"], "EVENT_LINK_DOWN");
    assert_eq!(refused.status.code(), Some(5));
    assert!(stderr(&refused).contains("a recording cannot be"), "{}", stderr(&refused));
}

/// A router is stuck while packets are in flight. All reads use a recording, whose mesh is built
/// once.
#[test]
fn a_recorded_fabric_answers_every_question() {
    let path = std::env::temp_dir().join(format!("meshscope-{}-fabric.mcap", std::process::id()));
    let file = path.display().to_string();
    let target = "emulator:n300,run=fabric,topology=line,traffic=2500,at=4600us,fault=core:1.e1:stuck@4601us";
    let words = ["record", &file, "--moments", "2", "--every", "100000"];
    let recorded = on(target, &words);
    assert_eq!(recorded.status.code(), Some(0), "{recorded:?}");
    let ask = |words: &[&str], code: i32| -> Value {
        let output = on(&file, &[&["--json", "fabric"], words].concat());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        conforms(&[&["fabric"], words].concat(), &answer);
        answer
    };

    let report = ask(&[], 0);
    assert_eq!(report["gaps"], json!([]));
    let routers = report["routers"].as_array().unwrap();
    assert_eq!(routers.len(), 2);
    for (router, (chip, channel)) in routers.iter().zip([(0, 9), (1, 1)]) {
        assert_eq!((&router["chip"], &router["channel"]), (&json!(chip), &json!(channel)));
        assert_eq!(router["node"], json!({ "mesh": 0, "device": chip }));
        assert_eq!(router["status"], "READY_FOR_TRAFFIC");
        assert_eq!((&router["refusal_name"], &router["local_routers"]), (&Value::Null, &json!(1)));
    }
    let head = &routers[0]["senders"][0]["head"]["packet"];
    assert_eq!(head["source"], json!({ "mesh": 0, "device": 0 }), "{head}");
    let link = &report["links"][0];
    let at_peer = link["arrived"].as_u64().unwrap() + link["held"].as_u64().unwrap();
    assert_eq!((&link["in_flight"], at_peer), (&json!(8), 8), "{link}");
    let client = &report["clients"][0];
    assert_eq!((&client["stage"], &client["waits"]), (&json!("CLIENT_OPEN"), &json!(true)));
    let to = json!({ "router": { "chip": 0, "channel": 9 }, "channel": 0 });
    assert_eq!(client["to"], to);

    let waits = ask(&["waits"], 1);
    assert_eq!(waits["deadlocks"], json!([]));
    assert_eq!(waits["roots"].as_array().unwrap().len(), 1, "{}", waits["roots"]);
    let root = &waits["roots"][0];
    assert_eq!((&root["name"], &root["kind"]), (&json!("router 1:e1"), &json!("router")));
    assert_eq!(root["note"], "its loop does not turn");
    assert!(waits["waits"].as_array().unwrap().iter().any(|w| w["who"]["kind"] == "client"));

    let tables = ask(&["tables"], 0);
    assert_eq!(tables["tables"][0]["l0"], json!(["here", "EAST"]));
    assert_eq!(tables["tables"][1]["l0"], json!(["WEST", "here"]));
    assert_eq!(tables["tables"][0]["exit_nodes"], json!([null]));
    let path_there = ask(&["path", "0", "M0D1"], 0);
    let route = &path_there["routes"][0];
    assert_eq!((&route["end"], &route["at"]), (&json!("arrived"), &Value::Null));
    let hop = json!({
        "out": { "chip": 0, "channel": 9 },
        "into": { "chip": 1, "channel": 1 },
        "direction": "EAST",
        "virtual_channel": 0,
    });
    assert_eq!(route["hops"], json!([hop]));

    for ends in [["path", "M0D0", "1"], ["path", "M0D0", "M0D1"]] {
        assert_eq!(ask(&ends, 0)["routes"], path_there["routes"], "a node is a place at both ends");
    }

    let refused = on(&file, &["fabric", "drain"]);
    std::fs::remove_file(&path).unwrap();
    // Nothing waits there, and nothing could be freed.
    assert_eq!(refused.status.code(), Some(0), "{refused:?}");
}

#[test]
fn what_is_not_there_is_refused() {
    for (place, why) in
        [("7", "there is no chip 7 in this mesh"), ("0:e16", "chip 0 has no Ethernet channel 16")]
    {
        for words in [&["fabric", place][..], &["fabric", "status", place]] {
            let output = meshscope(words);
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(stderr(&output).contains(why), "{words:?}");
        }
    }
}

/// A mesh of two rows and four columns, one routing plane.
const MESH: &str = "emulator:t3000,run=fabric,topology=mesh";

/// Writes the tables of the fabric into a file, with another entry of device 1 for device 7.
fn tables_with(name: &str, entry: &Value) -> PathBuf {
    let output = on(MESH, &["fabric", "tables", "--json"]);
    let mut tables: Value = serde_json::from_slice(&output.stdout).unwrap();
    for router in tables["tables"].as_array_mut().unwrap() {
        if router["node"]["device"] == 1 {
            router["l0"][7] = entry.clone();
        }
    }
    let path = std::env::temp_dir().join(format!("meshscope-{}-{name}.json", std::process::id()));
    std::fs::write(&path, tables.to_string()).unwrap();
    path
}

#[test]
fn tables_are_loaded_only_once_they_are_proved() {
    let loaded = |path: &PathBuf, more: &[&str]| {
        let path = path.display().to_string();
        on(MESH, &[&["fabric", "load", &path], more].concat())
    };
    // Packets turn first: they arrive all the same.
    let other = tables_with("other", &"SOUTH".into());
    let output = loaded(&other, &["--json"]);
    let proof: Value = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["fabric", "load"], &proof);
    assert_eq!((&proof["proved"], &proof["routes"]), (&true.into(), &56.into()), "{proof}");
    let routers = stderr(&output);
    assert!(routers.contains("loaded: the tables of 5 routers changed"), "{routers}");
    let preview = loaded(&other, &["--dry-run", "--json"]);
    let preview: Value = serde_json::from_slice(&preview.stdout).unwrap();
    assert!(!preview["accesses"].as_array().unwrap().is_empty(), "{preview}");

    // Back to where it came from, nowhere, and no direction at all.
    for (entry, exit, said) in [
        (json!("WEST"), 1, "nothing was written: the tables are not proved"),
        (Value::Null, 1, "nothing was written: the tables are not proved"),
        (json!("UP"), 2, "'UP' is no direction"),
    ] {
        let path = tables_with("wrong", &entry);
        let output = loaded(&path, &[]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{entry}: {output:?}");
        assert!(stderr(&output).contains(said), "{entry}: {}", stderr(&output));
    }
    std::fs::remove_file(&other).unwrap();
}

#[test]
fn a_fabric_is_rebuilt_of_what_is_left() {
    let rebuilt = |fault: &str, arguments: &[&str]| {
        let target = format!("emulator:t3000,run=fabric,topology=torus,at=20ms{fault}");
        let output = on(&target, &[&["fabric", "rebuild"], arguments].concat());
        (output.status.code(), output.stdout.clone(), stderr(&output))
    };
    let dead = ",fault=chip:5:dead@19ms";
    let status = on(
        &format!("emulator:t3000,run=fabric,topology=torus,at=20ms{dead}"),
        &["fabric", "status"],
    );
    assert_eq!(status.status.code(), Some(4), "{status:?}");
    assert!(stderr(&status).contains("no router of M0D3 answers"), "{}", stderr(&status));
    let (code, proof, said) = rebuilt(dead, &["--without", "5", "--json"]);
    let proof: Value = serde_json::from_slice(&proof).unwrap();
    conforms(&["fabric", "rebuild"], &proof);
    assert_eq!((code, &proof["proved"], &proof["nodes"]), (Some(0), &true.into(), &7.into()));
    assert!(said.contains("a mesh of 7 chips is up: 18 routers"), "{said}");
    let (code, _, said) = rebuilt("", &["--without", "column:0"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a torus of 6 chips is up: 24 routers"), "{said}");
    let (code, preview, _) = rebuilt("", &["--without", "row:1", "--dry-run", "--json"]);
    let preview: Value = serde_json::from_slice(&preview).unwrap();
    assert_eq!((code, preview["accesses"].as_array().unwrap().is_empty()), (Some(0), false));
    for (fault, without, said) in [
        (dead, "row:1", "chip 5 does not answer: take it out too, with --without 5"),
        ("", "row:7", "the fabric has no row 7"),
        ("", "5x", "'5x' is no chip, row or column"),
    ] {
        let (code, _, sentence) = rebuilt(fault, &["--without", without]);
        assert_eq!(code, Some(2), "{sentence}");
        assert!(sentence.contains(said), "{sentence}");
    }
}

#[test]
fn a_ring_without_its_dateline_has_a_circle() {
    let ring = "emulator:t3000,run=fabric,topology=ring";
    let proved = |target: &str| {
        let output = on(target, &["fabric", "check", "--json"]);
        let proof: Value = serde_json::from_slice(&output.stdout).unwrap();
        conforms(&["fabric", "check"], &proof);
        (output.status.code(), proof["circle"].as_array().unwrap().len())
    };
    assert_eq!(proved(ring), (Some(0), 0));
    assert_eq!(proved(&format!("{ring},dateline=off")), (Some(1), 8));
}
