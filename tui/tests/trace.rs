//! `export --to trace` and `run --from`: packets are kept and sent again; and the deadlock of a ring
//! that a time-out drains.

use crate::common::{on, stderr};
use crate::pseudo::Terminal;
use crate::schemas::conforms;
use crate::scratch::Scratch;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

/// The answer of a replay on a target, and its exit code.
fn replayed(target: &str, file: &str, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = on(target, &[&["run", "--from", file, "--json"], arguments].concat());
    let answer = serde_json::from_slice(&output.stdout);
    let answer = answer.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    conforms(&["run"], &answer);
    (answer, output.status.code())
}

fn export(target: &str, file: &str) -> Output {
    on(target, &["export", "--to", "trace", file])
}

#[test]
fn a_trace_is_exported_and_sent_again() {
    let folder = Scratch::new("trace");
    let file = folder.path("a.ndjson").display().to_string();
    let exported = export("emulator:n300,run=fabric,traffic=100", &file);
    assert_eq!(exported.status.code(), Some(0), "{exported:?}");
    assert!(stderr(&exported).contains(" packets, "), "{exported:?}");
    let text = fs::read_to_string(&file).unwrap();
    let packets = text.lines().count() as u64 - 1;
    assert!(packets >= 100, "{text}");
    // On a fabric that is brought up for it, and on one that runs.
    for target in ["emulator:n300", "emulator:n300,run=fabric"] {
        let (answer, code) = replayed(target, &file, &[]);
        assert_eq!(
            (code, &answer["op"], &answer["error"]),
            (Some(0), &json!("trace"), &Value::Null)
        );
        let senders = answer["senders"].as_array().unwrap();
        let sum = |key: &str| senders.iter().map(|it| it[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!((sum("packets"), sum("sent"), sum("arrived")), (packets, packets, packets));
        assert_eq!((sum("wrong_words"), sum("dropped")), (0, 0));
    }
    let table = on("emulator:n300", &["run", "--from", &file]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.starts_with("NODE  CHIP  PACKETS  BYTES  SENT  ARRIVED "), "{table}");
    let planned = on("emulator:n300", &["run", "--from", &file, "--dry-run", "--json"]);
    let planned: Value = serde_json::from_slice(&planned.stdout).unwrap();
    assert!(planned["accesses"].as_array().unwrap().len() > 10, "{planned}");
}

/// A recording has what the traffic kernels list, although its run is not executed again.
#[test]
fn a_recording_gives_the_trace_of_its_machine() {
    let folder = Scratch::new("trace-recorded");
    let file = |name: &str| folder.path(name).display().to_string();
    for machine in [
        "emulator:n300,run=fabric,traffic=100",
        "emulator:n300,run=fabric,topology=line,traffic=300",
    ] {
        let [recording, live, recorded] = ["a.mcap", "a.ndjson", "b.ndjson"].map(file);
        on(machine, &["record", &recording, "--moments", "2"]);
        for (target, trace) in [(machine, &live), (&*recording, &recorded)] {
            let exported = export(target, trace);
            assert_eq!(exported.status.code(), Some(0), "{exported:?}");
        }
        assert_eq!(fs::read(&live).unwrap(), fs::read(&recorded).unwrap(), "{machine}");
        for name in [recording, live, recorded] {
            fs::remove_file(name).unwrap();
        }
    }
}

#[test]
fn the_live_view_sends_a_trace() {
    let folder = Scratch::new("trace-live");
    let file = folder.path("a.ndjson").display().to_string();
    export("emulator:n300,run=fabric,traffic=100", &file);
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300,run=idle"]);
    let mut terminal = Terminal::start(&command, folder.path("."), 160, 30);
    terminal.shows("links: 2");
    terminal.press(&format!(":run --from {file}x\r"));
    terminal.shows("a.ndjsonx: ");
    terminal.press(&format!(":run --from {file}\r"));
    terminal.shows("packets have arrived");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn what_cannot_be_sent_is_refused_with_its_line() {
    let folder = Scratch::new("trace-refused");
    let file = folder.path("a.ndjson").display().to_string();
    let head = r#"{"topology":"mesh","meshes":[[1,2]]}"#;
    let packet = r#"{"from":"M0D0","to":"M0D1","number":0,"send":"atomic","bytes":0,"ttl":9}"#;
    for (lines, why) in [
        (packet, "a.ndjson: line 1: unknown field `from`, expected"),
        (&format!("{head}\n{packet}\n\n"), "a.ndjson: line 3: EOF while parsing"),
        (&format!("{head}\n{}", packet.replace("M0D1", "M0D7")), "line 2: M0D7 does not exist"),
        (&head.replace("mesh\"", "cube\""), "a.ndjson: line 1: unknown variant `cube`"),
    ] {
        fs::write(&file, lines).unwrap();
        let refused = on("emulator:n300", &["run", "--from", &file]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(stderr(&refused).contains(why), "{refused:?}");
        assert_eq!(stderr(&refused).lines().count(), 1, "{refused:?}");
    }
    let both = on("emulator:n300", &["run", "all-gather", "--from", &file]);
    assert_eq!(both.status.code(), Some(2));
    let other = folder.path("b.ndjson").display().to_string();
    for (target, why) in [
        ("emulator:n300,run=idle", "no router of the built-in fabric runs there"),
        ("emulator:n300,run=fabric", "no traffic kernel is on the chips of its fabric"),
    ] {
        let refused = export(target, &other);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(stderr(&refused).contains(why), "{refused:?}");
    }
    assert_eq!(folder.names(), ["a.ndjson"]);
}

/// A receiver is stuck: the table says how far each sender came, the verdict why.
#[test]
fn a_replay_that_stands_still_is_judged_and_torn_down() {
    let folder = Scratch::new("trace-stuck");
    let file = folder.path("a.ndjson").display().to_string();
    export("emulator:n300,run=fabric,topology=line,traffic=400", &file);
    let fault = ["--timeout", "1ms", "--fault", "core:1.e1:stuck@20us"];
    let (answer, code) = replayed("emulator:n300", &file, &fault);
    assert_eq!((code, &answer["fabric"]), (Some(1), &json!("line")));
    let senders = answer["senders"].as_array().unwrap();
    assert!(senders.iter().any(|it| it["arrived"].as_u64() < it["packets"].as_u64()), "{answer}");
    let first = &answer["verdict"]["findings"][0];
    assert_eq!(first["place"], "router 1:e1", "{first}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("made no progress"), "{answer}");
}

/// Without its dateline a ring deadlocks; the time-out of the routers drops the packets at the heads of
/// the channels, and their status queues tell it.
#[test]
fn a_deadlock_is_drained_by_the_time_out_of_the_routers() {
    let ring = "emulator:t3000,run=fabric,topology=ring,dateline=off,traffic=3000,pattern=far";
    let waits = |target: &str| {
        let output = on(target, &["fabric", "waits", "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), answer["deadlocks"].as_array().unwrap().len())
    };
    assert_eq!(waits(ring), (Some(1), 1));
    let drained = format!("{ring},timeout=200us");
    assert_eq!(waits(&drained), (Some(0), 0));
    let status = on(&drained, &["fabric", "status", "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let mut events =
        status["queues"].as_array().unwrap().iter().flat_map(|queue| {
            queue["entries"].as_array().unwrap().iter().map(|entry| &entry["event"])
        });
    assert!(events.clone().count() > 16, "{status}");
    assert!(events.all(|event| event == "EVENT_TIMED_OUT"), "{status}");
    // Every sender has got rid of its packets.
    let routers = on(&drained, &["fabric", "--json"]);
    let routers: Value = serde_json::from_slice(&routers.stdout).unwrap();
    for client in routers["clients"].as_array().unwrap() {
        assert_eq!(client["waits"], false, "{client}");
    }
    // Some kernels wait for what was dropped.
    let why = on(&drained, &["why", "--json"]);
    let why: Value = serde_json::from_slice(&why.stdout).unwrap();
    let first = &why["findings"][0];
    assert_eq!(first["condition"], "packets-dropped", "{why}");
    let evidence = first["evidence"][0]["value"].as_str().unwrap();
    assert!(
        evidence.starts_with("EVENT_TIMED_OUT: packet ") && !evidence.contains(" to M"),
        "{first}"
    );
}

/// The credits for a channel are not seen: it is empty, and the packets for it wait as far as the
/// senders.
#[test]
fn back_pressure_on_a_channel_is_named_by_that_channel() {
    let ring = "emulator:t3000,run=fabric,topology=ring";
    let held = format!("{ring},traffic=3000,at=20ms,fault=stream:1.e9:15:held@1us");
    let waits = on(&held, &["fabric", "waits", "--json"]);
    let waits: Value = serde_json::from_slice(&waits.stdout).unwrap();
    let [root] = waits["roots"].as_array().unwrap().as_slice() else { panic!("{waits}") };
    assert_eq!(root["name"], "router 1:e0 sender 1", "{waits}");
    let waiters = waits["waits"].as_array().unwrap().iter();
    let kinds: Vec<&Value> = waiters.map(|wait| &wait["who"]["kind"]).collect();
    assert!(kinds.iter().filter(|kind| **kind == "client").count() >= 3, "{waits}");
    let why = on(&held, &["why", "--json"]);
    assert_eq!(why.status.code(), Some(1), "{why:?}");
    let why: Value = serde_json::from_slice(&why.stdout).unwrap();
    let first = &why["findings"][0];
    assert_eq!(first["condition"], "credits-wrong", "{first}");
    assert_eq!(first["place"], "router 1:e0", "{first}");
    // For a while only: then everything arrives.
    let folder = Scratch::new("trace-held");
    let file = folder.path("a.ndjson").display().to_string();
    export(&format!("{ring},traffic=300"), &file);
    let fault = ["--timeout", "3ms", "--fault", "stream:1.e9:15:held@20us..1ms"];
    let (answer, code) = replayed(ring, &file, &fault);
    assert_eq!(code, Some(0), "{answer}");
    let late = |sender: &Value| sender["time_us"].as_f64().unwrap() > 900.0;
    assert!(answer["senders"].as_array().unwrap().iter().any(late), "{answer}");
}
