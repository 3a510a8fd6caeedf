//! `meshscope run` on an emulated n300: the table, its JSON, refusals, and how it is stopped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{on, stderr};
use crate::pseudo;

use crate::schemas::conforms;
use portable_pty::CommandBuilder;
use pseudo::Terminal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

const MESH: &str = "emulator:n300";

fn meshscope(arguments: &[&str]) -> Output {
    on(MESH, arguments)
}

fn terminal(name: &str, arguments: &[&str]) -> Terminal {
    let folder = std::env::temp_dir().join(format!("meshscope-run-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(arguments);
    command.env("MESHSCOPE_AUDIT_LOG", folder.join("audit.jsonl"));
    Terminal::start(&command, folder, 100, 30)
}

#[test]
fn the_table_and_its_json_are_of_the_same_run() {
    let options = ["run", "all-gather", "-b", "4K", "-e", "16K", "-f", "4", "--check"];
    let table = meshscope(&options);
    let stderr = stderr(&table);
    assert_eq!(table.status.code(), Some(0), "{stderr}");
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains(
        "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    ));
    assert!(table.contains("# Out of bounds values : 0 OK\n"), "{table}");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    let answer = meshscope(&[&options[..], &["--json"]].concat());
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["op"], "all-gather");
    assert_eq!(answer["target"], "emulator:n300,run=idle");
    assert_eq!(answer["chips"], json!([0, 1]));
    assert_eq!(answer["out_of_bounds"], 0);
    for (row, line) in answer["rows"].as_array().unwrap().iter().zip(&rows) {
        assert_eq!(row["size"].to_string(), line[0]);
        assert_eq!(row["count"].to_string(), line[1]);
        assert_eq!((&row["type"], &row["redop"]), (&json!("int32"), &json!("none")));
        assert_eq!(format!("{:.2}", row["time_us"].as_f64().unwrap()), line[5], "the same mesh");
        assert_eq!(row["wrong"], 0);
        let chips = row["chips"].as_array().unwrap();
        assert_eq!(chips.len(), 2);
        assert!(
            chips.iter().all(|chip| chip["transfer_us"].as_f64() <= chip["kernel_us"].as_f64())
        );
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_line_before_anything_is_written() {
    for (arguments, code, word) in [
        (&["-b", "4x"][..], 2, "'4x'"),
        (&["-b", "4097"], 2, "4097"),
        (&["--chips", "0-7"], 2, "no chip 2"),
        (&["--chips", "0"], 2, "two chips"),
        (&["--links", "9"], 2, "9 links"),
        (&["--fault", "link:0.3:down"], 2, "0:e3"),
        (&["--root", "1"], 2, "no root"),
        (&["--timeout", "1ns"], 2, "shorter than 100us"),
        (&["--buffers", "0"], 2, "one or more"),
        (&["--buffers", "100000"], 2, "buffers per channel"),
        (&["--buffer-bytes", "10M"], 2, "too large"),
        (&["--buffer-bytes", "60K", "-b", "4K", "-e", "256K"], 2, "do not fit"),
    ] {
        let output = meshscope(&[&["run", "all-gather"], arguments].concat());
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
        assert!(stderr.contains(word), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_collective_runs_on_several_lists_of_chips_at_the_same_time() {
    let run = |arguments: &[&str]| {
        let lists = ["run", "all-gather", "--check", "--chips", "0-3", "--chips", "4,6"];
        let output = on("emulator:t3000", &[&lists[..], arguments].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text, stderr(&output))
    };
    let (code, text, said) = run(&[]);
    assert_eq!(code, Some(0), "{said}");
    for (chips, rank) in [(4, "Rank  3 Chip  2 "), (2, "Rank  1 Chip  6 ")] {
        assert!(text.contains(&format!("# nChips {chips} ")) && text.contains(rank), "{text}");
    }
    assert_eq!(text.matches("# Out of bounds values : 0 OK\n").count(), 2, "{text}");
    // The fault of one list does not stop the other one.
    let fault = ["--timeout", "1ms", "--fault", "core:4.e7:stuck@20us"];
    let fault = [&fault[..], &["-b", "64K", "--json"]].concat();
    let (code, text, said) = run(&fault);
    let answer: Value = serde_json::from_str(&text).unwrap();
    conforms(&["run"], &answer);
    let [near, far] = answer["lists"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(near["rows"].as_array().map(Vec::len), Some(1), "{near}");
    assert_eq!((&near["faults"], &near["error"]), (&json!([]), &Value::Null));
    assert_eq!(far["rows"], json!([]));
    assert!(far["error"]["message"].as_str().unwrap().contains("made no progress"), "{far}");
    assert_eq!(far["verdict"]["findings"][0]["place"], "core 4:4-0:erisc", "{far}");
    assert_eq!(answer["error"]["message"], far["error"]["message"]);
    let refused = on("emulator:t3000", &["run", "all-gather", "--chips", "0-3", "--chips", "5,3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(stderr(&refused), "meshscope: --chips: chip 3 is in two lists\n");
}

#[test]
fn a_run_whose_chip_dies_runs_again_on_what_is_left() {
    let run = |target: &str, size: &str, arguments: &[&str]| {
        let all = ["run", "all-gather", "--check", "--relaunch", "--json", "--timeout", "1ms"];
        let output = on(target, &[&all[..], &["-b", size], arguments].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        conforms(&["run"], &answer);
        (output.status.code(), answer, stderr(&output))
    };
    let chips = |list: &Value| list["chips"].as_array().unwrap().len();
    // A fabric that runs is built again without the chip.
    let dead = ["--fault", "chip:5:dead@60us", "--transport", "fabric"];
    let (code, answer, said) = run("emulator:t3000,run=fabric,topology=ring", "64K", &dead);
    let [failed, again] = answer["lists"].as_array().unwrap().as_slice() else {
        panic!("{answer}")
    };
    assert_eq!((code, chips(failed), failed["rows"].clone()), (Some(1), 8, json!([])), "{said}");
    assert_eq!(failed["verdict"]["findings"][0]["condition"], "chip-gone", "{failed}");
    assert_eq!(
        (chips(again), &again["topology"], &again["error"]),
        (7, &"line".into(), &Value::Null)
    );
    assert_eq!((&again["rows"][0]["size"], &again["rows"][0]["wrong"]), (&57344.into(), &0.into()));
    assert_eq!(answer["error"], Value::Null, "{answer}");
    assert!(said.contains("relaunched on chips 0,4,6,1,3,7,2, without chip 5"), "{said}");

    // The runs on other chips rest, and go on.
    let lists = ["--chips", "0,4,6,1", "--chips", "2,5,7,3", "--fault", "chip:5:dead@130us"];
    let (code, answer, said) = run("emulator:t3000", "1M", &lists);
    let lists = answer["lists"].as_array().unwrap();
    assert_eq!((code, lists.len()), (Some(1), 3), "{said}");
    assert_eq!(
        [&lists[0], &lists[2]].map(|list| list["out_of_bounds"].clone()),
        [json!(0), json!(0)]
    );
    assert_eq!(lists.iter().map(chips).collect::<Vec<_>>(), [4, 4, 3]);
    assert!(said.contains("counts add up"), "{said}");

    // A chip with PCIe takes along what is reached over it.
    let dead = ["--fault", "chip:1:dead@250us"];
    let (_, answer, said) = run("emulator:t3000", "256K", &dead);
    assert_eq!((chips(&answer["lists"][1]), &answer["lists"][1]["out_of_bounds"]), (6, &json!(0)));
    assert!(said.contains("without chips 6,1"), "{said}");

    // Nor does a chip take part of which a core stands still: its router does not return.
    let stuck = ["--fault", "core:5.e1:stuck@60us", "--transport", "fabric"];
    let (_, answer, said) = run("emulator:t3000,run=fabric,topology=ring", "64K", &stuck);
    assert_eq!((chips(&answer["lists"][1]), &answer["lists"][1]["error"]), (7, &Value::Null));
    assert!(said.contains("without chip 5"), "{said}");

    // Nothing is launched again where no chip is lost, or too few are left.
    let down = ["--fault", "link:4.1:down@20us"];
    let (code, answer, said) = run("emulator:t3000", "64K", &down);
    assert_eq!((code, answer["lists"].clone()), (Some(1), Value::Null), "{said}");
    assert!(said.contains("it is not relaunched: every chip of the run answers"), "{said}");
    let dead = ["--fault", "chip:1:dead@20us"];
    let (_, answer, said) = run("emulator:n300", "64K", &dead);
    assert_eq!(answer["lists"], Value::Null, "{said}");
    assert!(said.contains("without chip 1 fewer than two are left"), "{said}");
}

#[test]
fn a_failed_run_tells_scripts_what_is_known() {
    let failed = |arguments: &[&str]| {
        let output = meshscope(&[&["run", "all-gather", "--json"], arguments].concat());
        let stderr = stderr(&output);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = &answer["error"];
        assert_eq!(error["exit_code"], json!(output.status.code()), "{answer}");
        assert!(stderr.contains(error["message"].as_str().unwrap()), "{stderr}: {answer}");
        conforms(&["run"], &answer);
        answer
    };
    let unknown = failed(&["--chips", "0-7"]);
    assert_eq!(
        (&unknown["error"]["kind"], &unknown["error"]["exit_code"]),
        (&json!("usage"), &json!(2))
    );
    assert_eq!((&unknown["rows"], &unknown["links"]), (&json!([]), &Value::Null));
    // The core gets stuck between the end of the first size and the end of the second.
    let sizes = ["-b", "4K", "-e", "1M", "-f", "256", "--timeout", "1ms"];
    let stuck = failed(&[&sizes[..], &["--fault", "core:1.e1:stuck@200us"]].concat());
    assert_eq!((&stuck["chips"], &stuck["links"]), (&json!([0, 1]), &json!(1)));
    let rows = stuck["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["size"]), (1, &json!(4096)), "{stuck}");
    let error = &stuck["error"];
    assert_eq!(
        (&error["kind"], &error["cause"], &error["core"]),
        (&json!("control"), &json!("timed_out"), &json!({"chip": 1, "tile": [1, 0]})),
        "the application of the core does not answer: {stuck}"
    );
    assert!(error["waiting_for"].is_string(), "{stuck}");
    assert!(error["since_cycles"].is_u64() && error["notes"].is_array(), "{stuck}");
    assert!(stuck["verdict"]["findings"].is_array(), "{stuck}");
    // The verdict is about the mesh before the cleanup.
    let fault = "core:1.e1:stuck@100us";
    let moving = failed(&["-b", "4M", "--timeout", "1ms", "--fault", fault]);
    let first = &moving["verdict"]["findings"][0];
    assert_eq!((&first["severity"], &first["place"]), (&json!("hang"), &json!("core 1:1-0:erisc")));
    assert_eq!(unknown["verdict"], Value::Null, "nothing ran");
    // The verdict names the cause where the kernels only made no progress.
    let still =
        failed(&["-b", "256K", "--timeout", "1ms", "--fault", "core:0.1-2:brisc:stuck@20us"]);
    let error = &still["error"];
    assert_eq!(
        (&error["cause"], &error["core"], &error["waypoint"], &error["waiting_for"]),
        (
            &json!("no-progress"),
            &json!({"chip": 0, "tile": [1, 2]}),
            &json!("GW"),
            &json!("the next message: core 0:1-2:brisc")
        ),
        "{still}"
    );
}

#[test]
fn a_mesh_in_use_is_refused() {
    let output = on("emulator:n300,run=ring-ping", &["run", "all-gather"]);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_dry_run_says_what_would_be_written_where() {
    let output = meshscope(&["run", "all-gather", "--dry-run", "--json"]);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let accesses = answer["accesses"].as_array().unwrap();
    assert!(accesses.len() > 10, "{answer}");
    assert!(
        accesses.iter().any(|access| access["write"] == true),
        "what stood there is read for the log"
    );
    for chip in [0, 1] {
        assert!(accesses.iter().any(|access| access["chip"] == chip));
    }
}

#[test]
fn ctrl_c_tears_a_run_down_and_says_130() {
    let mut terminal =
        terminal("stop", &["--target", MESH, "run", "all-gather", "-b", "1M", "-n", "100000"]);
    terminal.shows("moves data");
    terminal.press("\x03");
    terminal.shows("stopping");
    assert_eq!(terminal.ends().exit_code(), 130);
    terminal.shows("interrupted");
    terminal.is_given_back();
}

#[test]
fn ctrl_c_tears_a_run_on_a_served_mesh_down() {
    let socket = std::env::temp_dir().join(format!("meshscope-run-{}.sock", std::process::id()));
    let meshscope = || Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let mut serve = meshscope();
    serve.args(["serve", "emulator:n300,run=idle", "--socket"]).arg(&socket);
    let mut server = serve.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("is served")));
    let target = format!("socket:{}", socket.display());
    let run = ["--target", &target, "--allow", "launch,write,reset", "run", "all-gather"];
    let mut terminal = terminal("served", &[&run[..], &["-b", "1M", "-n", "100000"]].concat());
    terminal.shows("moves data");
    terminal.press("\x03");
    terminal.shows("stopping");
    assert_eq!(terminal.ends().exit_code(), 130);
    terminal.shows("interrupted");
    let again = meshscope().args(run).stdin(Stdio::null()).output().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    std::fs::remove_file(socket).unwrap();
    let stderr = stderr(&again);
    assert_eq!(again.status.code(), Some(0), "the mesh is free: {stderr}");
}

#[test]
fn stop_frees_a_mesh_on_which_the_ring_ping_and_workers_run() {
    let mut terminal = terminal("live", &["--target", MESH]);
    terminal.shows("links: 2");
    terminal.press(":run all-gather --check\r");
    terminal.shows("in use");
    terminal.press(":stop\r");
    terminal.shows("the ring ping is torn down, ");
    terminal.press(":stop\r");
    terminal.shows("nothing runs here");
    terminal.press(":run all-gather --check\r");
    terminal.shows("done: data is correct");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn the_live_view_runs_collectives_and_stops_them() {
    let mut terminal = terminal("runs", &["--target", "emulator:n300,run=idle"]);
    terminal.shows("links: 2");
    terminal.press(":run all-gather -b 4K -e 8K --check\r");
    terminal.shows("done: data is correct");
    terminal.shows("8192");
    terminal.press(":run all-gather -b 1M -n 100000\r");
    terminal.shows("moves data");
    terminal.press(":stop\r");
    terminal.shows("stopped and torn down");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}
