//! Recordings: written, walked by keys and verbs, compared; and the past of an emulated mesh.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{on as run, stderr};
use crate::pseudo::Terminal;
use crate::schemas::conforms;
use crate::scratch::Scratch;
use flate2::Compression;
use flate2::write::GzEncoder;
use layouts::NocAddr;
use machine::history::History;
use machine::notes::{AuditLine, Note};
use portable_pty::CommandBuilder;
use recordings::Replay;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A run of the bank of hangs, of 12 moments, with a mark at its last one.
fn worker_stuck() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recordings/library/worker_stuck.mcap")
}

/// A file of this process, which does not exist.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("record-{name}.mcap"));
    let _ = std::fs::remove_file(&path);
    path
}

fn printed(target: &str, arguments: &[&str], code: i32) -> String {
    let output = run(target, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn answer(target: &str, arguments: &[&str]) -> Value {
    let text = printed(target, &[&["--json"], arguments].concat(), 0);
    let answer = serde_json::from_str(&text).unwrap();
    conforms(arguments, &answer);
    answer
}

fn refused(target: &str, arguments: &[&str], says: &str) {
    let output = run(target, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    let text = stderr(&output);
    // A loaded machine says what is waited for.
    let lines = text.lines().filter(|line| !line.starts_with("meshscope: opening, after "));
    assert!(text.contains(says) && lines.count() == 1, "{arguments:?}: {text}");
}

#[test]
fn a_recording_is_walked_by_keys() {
    let folder = Scratch::new("walked");
    let file = folder.path("stuck.mcap");
    std::fs::copy(worker_stuck(), &file).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", file.to_str().unwrap()]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 120, 30);
    let mut types = |keys: &str, says: &str| {
        terminal.press(keys);
        terminal.shows(says);
    };
    types("", "moment #11 of 12, mark: core 0:1-2:brisc: ");
    types("", "[ ] moment");
    types(" ", "plays 10 moments per second");
    types("", "moment #11 of 12, ");
    types("[", "moment #10 of 12, ");
    types("[[", "moment #8 of 12, ");
    types("", " PAST ");
    types("]", "moment #9 of 12, ");
    types(":goto #0\r", "moment #0 of 12, ");
    types("}", "moment #1 of 12, ");
    types(":goto -22ms\r", "moment #6 of 12, ");
    types(":goto soon\r", "`soon` names no moment: ");
    types(":goto 5s\r", "moment #11 of 12, ");
    types("]", "this is the last moment");
    types(":play 0\r", "0 moments per second is no speed");
    types(":goto #0\r:play 50\r", "moment #11 of 12, ");
    types(":play -1000\r", "moment #0 of 12, ");
    types("m", "stuck.mcap.marks");
    types(":who-wrote 0:e8:0x1c\r", "only a recording of a mesh that meshscope emulated");
    types("]", "moment #1 of 12, ");
    // What differs from the moment before it on screen is underlined.
    let underlined = || {
        let screen = terminal.screen.lock().unwrap();
        let cells = (1..28).flat_map(|row| (0..120).map(move |column| (row, column)));
        let cell = |(row, column)| screen.screen().cell(row, column).cloned();
        cells.filter_map(cell).filter(vt100::Cell::underline).count()
    };
    assert!(underlined() > 0);
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    // The recording is as it was, and is opened with the mark.
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(worker_stuck()).unwrap());
    let marks = Replay::open(&file).unwrap().marks().to_vec();
    assert!(marks.len() == 2 && marks[1].text == "here", "{marks:?}");
    std::fs::write(folder.path("stuck.mcap.marks"), "no mark\n").unwrap();
    let replay = Replay::open(&file).unwrap();
    assert!(replay.marks().len() == 1 && replay.damage() == 0);
    assert!(
        replay.problems()[0].contains("stuck.mcap.marks:1: no mark: "),
        "{:?}",
        replay.problems()
    );
}

#[test]
fn into_a_pipe_the_verdict_comes_before_the_mesh() {
    let text = printed(worker_stuck().to_str().unwrap(), &[], 1);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(at("0:1-2:brisc") < at("REACHED BY"), "{text}");
}

#[test]
fn the_past_of_an_emulated_mesh_is_visited() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 140, 30);
    let mut types = |keys: &str, says: &str| {
        terminal.press(keys);
        terminal.shows(says);
    };
    types("", "links: 2");
    types(":goto 9ms\r", "t 90");
    types("", " PAST ");
    types("m", "marked 9000.00 us");
    types(":run all-gather\r", "the past is on screen and cannot be changed");
    types(":goto 5s\r", "the past of the mesh is kept from 0 ns to ");
    types(":who-wrote 0:e8:0x1c\r", "0:9-6:0x1c written at ");
    types("}", "searched backwards only");
    types("3:0:e8:0x1c\r{", "heartbeat 0xabcd0");
    types(" ", "this is the present");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn moments_are_recorded_copied_and_named() {
    let (file, copy) = (fresh("moments"), fresh("copy"));
    let (path, to) = (file.to_str().unwrap(), copy.to_str().unwrap());
    let output = run("emulator:n300", &["record", path, "--moments", "3", "--every", "10us"]);
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{says}");
    assert!(says.contains("3 moments over "), "{says}");
    assert!(says.contains(" instead of 10.00 us: a snapshot takes so long"), "{says}");
    assert!(printed(path, &["record", to], 0).is_empty());
    for moment in ["", ",at=#0", ",at=#1", ",at=-1us"] {
        for verb in [&["links"][..], &["cores", "0:e8", "--words"], &["fabric"]] {
            let of = |file: &str| {
                let text = printed(&format!("{file}{moment}"), &[&["--json"], verb].concat(), 0);
                text.replace(file, "FILE")
            };
            assert_eq!(of(path), of(to), "{moment} {verb:?}");
        }
    }
    refused(&format!("{path},at=#3"), &["links"], "the recording has moments #0 to #2");
    refused(&format!("{path},at=-1s"), &["links"], "the recording has moments #0 to #2");
    refused(&format!("{path},at=now"), &["links"], "`now` names no moment");
    refused(path, &["record", to], "exists already, and is not overwritten");
    refused(path, &["record", "/dev/null/x", "--on", "stall"], "is a recording");
    refused("emulator:n300", &["record", "x.mcap", "--every", "soon"], "--every");
}

#[test]
fn changes_and_differences_name_words() {
    let file = worker_stuck();
    let path = file.to_str().unwrap();
    let moves = worker_stuck().with_file_name("all_gather.mcap");
    let changes = answer(moves.to_str().unwrap(), &["changes", "--from", "#0", "0:1-2"]);
    let tile = &changes["tiles"][0];
    assert_eq!((&tile["chip"], &tile["tile"]), (&json!(0), &json!([1, 2])));
    let named = tile["words"].as_array().unwrap().iter().any(|word| word["name"].is_string());
    assert!(named, "{changes}");
    assert_eq!(changes["tiles"].as_array().unwrap().len(), 1);
    let [from, to] = ["from_cycles", "to_cycles"].map(|key| changes[key].as_u64().unwrap());
    assert!(to - from > 40_000_000, "{changes}");
    let page = printed(path, &["changes", "0:e8:0x1c"], 0);
    assert!(page.contains("0:9-6  ") && page.contains("tiles differ"), "{page}");
    let diff = answer("emulator:n300", &["diff", &format!("{path},at=#0"), path]);
    assert_eq!(diff["tiles"], answer(path, &["changes", "--from", "#0"])["tiles"]);
    refused("emulator:n300", &["changes"], "it has no past");
    refused(&format!("{path},at=#0"), &["changes"], "no moment is before its first");
    refused(path, &["changes", "0:1-2:0x10"], "does not change up to this moment");
}

#[test]
fn a_ring_is_written_when_something_is_found() {
    let file = fresh("ring");
    let path = file.to_str().unwrap();
    let mesh =
        "emulator:n300,run=fabric,topology=line,traffic=3000,fault=core:1.e1:stuck@60ms,at=30ms";
    let output = run(mesh, &["record", path, "--ring", "16M", "--on", "finding", "--every", "2ms"]);
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{says}");
    assert!(says.contains("found: ") && says.contains(" moments over "), "{says}");
    let why = answer_with(path, 1);
    let first = why["findings"][0]["condition"].as_str().unwrap_or_default().to_owned();
    assert!(says.contains(&format!("found: {first}")), "{says}: {why}");
    // It opens at what was found, and so does a copy; further moments follow.
    let copy = fresh("ring-copy");
    printed(path, &["record", copy.to_str().unwrap()], 0);
    let cycles = |target: &str| answer(target, &["fabric"])["cycles"].as_u64().unwrap();
    assert!(cycles(path) < cycles(&format!("{path},at=-0ns")));
    assert_eq!(cycles(path), cycles(copy.to_str().unwrap()));
}

/// What the live view has read is written when something new is found, and when the user wishes.
#[test]
fn the_live_view_records_what_led_to_a_finding() {
    let state = fresh("state").with_extension("");
    let _ = std::fs::remove_dir_all(&state);
    let (file, other) = (fresh("live"), fresh("live-other"));
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.env("XDG_STATE_HOME", &state);
    command.args(["--target", "emulator:n300"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 200, 30);
    let mut types = |keys: &str, says: &str| {
        terminal.press(keys);
        terminal.shows(says);
    };
    types("w", "nothing stands still");
    types(":record /nowhere/x.mcap\r", "/nowhere/x.mcap: No such file");
    std::fs::write(&other, "").unwrap();
    types(&format!(":record {}\r", other.display()), "exists already, and is not overwritten");
    types(":fault link:0.8:down\r", "link-down: what led to it is written to ");
    types(&format!(":record {}\r", file.display()), " REC ");
    types(&format!(":record {}\r", other.display()), "is being written: :record ends it");
    types(":mark so far\r:fault link:0.9:down\r", "fault link:0.9:down, from ");
    types(":record\r", " moments over ");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    let mut files = std::fs::read_dir(state.join("meshscope/flights")).unwrap();
    let flight = files.find_map(|file| {
        let path = file.unwrap().path().to_str().unwrap().to_owned();
        path.ends_with("-link-down.mcap").then_some(path)
    });
    let flight = &flight.expect("a file of the first finding");
    let why = answer_with(&format!("{flight},at=-0ns"), 1);
    assert_eq!(why["findings"][0]["condition"], "link-down", "{why}");
    // Partial moments do not make cores stand that were not read.
    assert!(why["progress"]["progressing"].as_u64() > Some(100), "{why}");
    for target in [flight, file.to_str().unwrap()] {
        let notes = Replay::open(target.as_ref()).unwrap().notes();
        let fault = |(_, note): &&(usize, Note)| note.to_string().starts_with("fault link:0.8");
        let after = notes.iter().find(fault).unwrap().0;
        let before = answer_with(&format!("{target},at=#{}", after - 1), 0);
        assert_eq!(before["findings"], json!([]), "{before}");
        // What no verdict and no screen read is not recorded.
        let kernel = printed(target, &["cores", "0:e8"], 1);
        assert!(kernel.contains("ring_ping"), "{kernel}");
    }
    let replay = Replay::open(&file).unwrap();
    let notes: Vec<String> = replay.notes().iter().map(|(_, it)| it.to_string()).collect();
    assert!(notes.iter().any(|it| it.starts_with("fault link:0.9:down")), "{notes:?}");
}

/// A recording of an emulated mesh has its run: what it says of any cycle is what the mesh said.
#[test]
fn a_recorded_run_is_executed_again() {
    let (file, copy) = (fresh("again"), fresh("again-copy"));
    let path = file.to_str().unwrap();
    let says = stderr(&run("emulator:n300", &["record", path, "--moments", "3"]));
    assert!(says.contains("3 moments over "), "{says}");
    let live = printed("emulator:n300", &["who-wrote", "0:e8:0x1c", "--at", "9ms"], 0);
    assert_eq!(printed(path, &["who-wrote", "0:e8:0x1c", "--at", "9ms"], 0), live);
    printed(path, &["record", copy.to_str().unwrap()], 0);
    let copied = printed(copy.to_str().unwrap(), &["who-wrote", "0:e8:0x1c", "--at", "9ms"], 0);
    assert_eq!(copied, live);
    // Its images are known there, and its cores can be seen at any time.
    let rerun = printed(&format!("{path},rerun=9.5ms"), &["cores", "0:e8"], 0);
    assert!(rerun.contains("ring_ping.cpp"), "{rerun}");
    refused(&format!("{path},rerun=#3"), &["links"], "a time of the target such as 17.3ms");
    let library = worker_stuck();
    let library = library.to_str().unwrap();
    refused(library, &["who-wrote", "0:e8:0x1c"], "only a recording of a mesh that meshscope");
    let beyond = run(&format!("{path},rerun=9s"), &["links"]);
    assert!(stderr(&beyond).contains("rerun=9s: its run is from 0 ns to "), "{beyond:?}");
}

/// Ctrl-C ends a recording in order: the run is in the file.
#[test]
fn ctrl_c_keeps_the_run() {
    let file = fresh("interrupted");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300", "record", file.to_str().unwrap(), "--for", "600s"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    while !Replay::open(&file).is_ok_and(|it| !it.moments().is_empty()) {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(50));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{says}");
    assert!(says.contains("open it with --target"), "{says}");
    printed(file.to_str().unwrap(), &["who-wrote", "0:e8:0x1c"], 0);
}

#[test]
fn a_run_records_itself() {
    let file = fresh("run");
    let path = file.to_str().unwrap();
    let log = fresh("run-audit").with_extension("jsonl");
    let _ = std::fs::remove_file(&log);
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.env("MESHSCOPE_AUDIT_LOG", &log).args(["--target", "emulator:n300"]);
    let output =
        command.args(["run", "all-gather", "-b", "1M", "--record", path]).output().unwrap();
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{says}");
    assert!(says.contains(" moments over "), "{says}");
    let notes = Replay::open(&file).unwrap().notes();
    let is_run = |note: &Note| note.to_string().starts_with("run all-gather");
    assert!(notes.iter().any(|(_, note)| is_run(note)), "{notes:?}");
    let lines = std::fs::read_to_string(&log).unwrap();
    let logged: Vec<AuditLine> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let audit = |(_, it): &(usize, Note)| match it {
        Note::Audit(line) => Some(line.clone()),
        _ => None,
    };
    let recorded: Vec<AuditLine> = notes.iter().filter_map(audit).collect();
    assert!(recorded.len() > 10 && recorded == logged, "{} of {}", recorded.len(), logged.len());
    let copy = fresh("run-copy");
    assert!(stderr(&run(path, &["record", copy.to_str().unwrap()])).contains("open it with"));
    assert_eq!(Replay::open(&copy).unwrap().notes(), notes);
    let ran = |moment: usize| {
        let cores = answer(&format!("{path},at=#{moment}"), &["cores"]);
        let rows = cores["cores"].as_array().unwrap();
        rows.iter().any(|row| row["kernel"].is_string() || row["state"] != "base firmware")
    };
    assert!((0..2).any(ran), "no moment shows a kernel");
}

/// Records an emulated mesh until it is killed, or to the end.
fn writer(file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300", "record", file.to_str().unwrap()]);
    command.args(["--moments", "30", "--every", "0ns"]).stderr(Stdio::null());
    command
}

/// What a moment holds that is the same in every run: host times differ.
fn content(replay: &mut Replay, moment: usize) -> Vec<(NocAddr, u64, Vec<u8>)> {
    replay.seek(moment);
    let pieces = &replay.moment().unwrap().pieces;
    pieces.iter().map(|it| (it.addr, it.target_cycles, it.bytes.to_vec())).collect()
}

/// Bytes reach the file in whole chunks: whenever its writer is killed, what it shows is what was
/// recorded. MESHSCOPE_KILLS is the number of kills, at moments drawn from a fixed seed.
#[test]
fn a_writer_that_is_killed_leaves_what_it_wrote() {
    let kills = std::env::var("MESHSCOPE_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let whole = fresh("killed-never");
    let begun = Instant::now();
    assert!(writer(&whole).status().unwrap().success());
    let took = begun.elapsed();
    let mut whole = Replay::open(&whole).unwrap();
    let (mut random, mut opened, mut shown) = (1_u64, 0, 0);
    for kill in 0..kills {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let file = fresh("killed");
        let mut child = writer(&file).spawn().unwrap();
        std::thread::sleep(took.mul_f64((random >> 33) as f64 / 2_147_483_648.0));
        child.kill().unwrap();
        child.wait().unwrap();
        match Replay::open(&file) {
            Ok(mut replay) => {
                let moments = replay.moments().len();
                (opened, shown) = (opened + 1, shown + moments);
                let unfinished = replay.problems().iter().any(|it| it.contains("was not finished"));
                assert!(unfinished || moments == whole.moments().len(), "{kill}");
                assert_eq!(replay.moments(), &whole.moments()[..moments], "{kill}");
                for moment in [0, moments / 2, moments - 1] {
                    assert_eq!(content(&mut replay, moment), content(&mut whole, moment), "{kill}");
                }
            }
            // Killed before its first chunk was complete.
            Err(error) => {
                let says = error.to_string();
                let early = ["before the first moment", "no moment", "No such file", "empty file"];
                assert!(early.iter().any(|early| says.contains(early)), "{kill}: {says}");
            }
        }
    }
    println!("{kills} kills: {opened} files open, with {shown} moments");
}

/// Runs a verb on a target under a limit of a file's size, in blocks, which is met as a full disk is,
/// only by another error.
fn limited(blocks: u32, target_and_verb: &[&str]) -> Output {
    let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$@\"");
    Command::new("sh")
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_meshscope"), "--target"])
        .args(target_and_verb)
        .env("MESHSCOPE_AUDIT_LOG", "/dev/null")
        .output()
        .unwrap()
}

#[test]
fn a_disk_that_fills_up_keeps_what_was_written() {
    let file = fresh("full");
    let path = file.to_str().unwrap();
    let record = ["emulator:n300", "record", path, "--moments", "5000", "--every", "0ns"];
    let output = limited(160, &record);
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{says}");
    assert!(says.contains("File too large"), "{says}");
    let replay = Replay::open(&file).unwrap();
    assert!(replay.moments().len() > 5, "{}", replay.moments().len());
}

/// The kernels of a run must be ended, and what a watch finds is told, whatever becomes of the
/// recording.
#[test]
fn a_verb_goes_on_when_its_recording_cannot_be_written() {
    let run: &[&str] = &["emulator:t3000", "run", "all-gather", "-b", "1M", "-n", "3"];
    let sick = "emulator:n300,fault=link:0.8:down@25ms";
    let watch: &[&str] = &[sick, "why", "--for", "6ms", "--watch"];
    for (name, verb, prints, code) in [
        ("run-full", run, "Collective test concluded: all-gather", 0),
        ("watch-full", watch, "1. link-down", 1),
    ] {
        let file = fresh(name);
        let output = limited(16, &[verb, &["--record", file.to_str().unwrap()]].concat());
        let (says, page) = (stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(says.contains("File too large"), "{name}: {says}");
        assert!(page.contains(prints), "{name}: {page}{says}");
        assert_eq!(output.status.code(), Some(code), "{name}: {says}");
    }
}

/// Several recorders of one new file: one of them writes it, and the others say why not.
#[test]
fn a_file_is_recorded_once() {
    let file = fresh("raced");
    let record = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", "emulator:n150,run=idle", "record", file.to_str().unwrap()]);
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    let outputs = [record(), record(), record()].map(|child| child.wait_with_output().unwrap());
    let codes = outputs.each_ref().map(|output| output.status.code());
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{outputs:?}");
    let refused = outputs.iter().filter(|output| output.status.code() == Some(2));
    let says = "exists already, and is not overwritten";
    assert_eq!(refused.filter(|output| stderr(output).contains(says)).count(), 2, "{outputs:?}");
    let replay = Replay::open(&file).unwrap();
    assert_eq!((replay.moments().len(), replay.problems()), (10, &[][..]));
}

/// A damaged file says nothing of its mesh: the links are up, and not all of the file is known.
#[test]
fn damage_of_a_file_is_no_finding() {
    let (whole, cut) = (worker_stuck().with_file_name("n300_ring_ping.mcap"), fresh("cut"));
    let bytes = std::fs::read(whole).unwrap();
    let end = bytes.windows(15).position(|it| it == b"meshscope.index").unwrap();
    std::fs::write(&cut, &bytes[..end]).unwrap();
    for verb in ["links", "mesh"] {
        let output = run(cut.to_str().unwrap(), &[verb]);
        let says = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{verb}: {says}");
        assert!(says.contains("the recording was not finished"), "{says}");
    }
}

/// A recording that is packed with gzip is read as it is, up to where it is damaged.
#[test]
fn a_packed_recording_is_unpacked() {
    let whole = worker_stuck();
    let gzip = |bytes: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let bytes = gzip(&std::fs::read(&whole).unwrap());
    let written = |name: &str, bytes: &[u8]| {
        let file = fresh(name).with_extension("mcap.gz");
        std::fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let packed = written("packed", &bytes);
    let links = |target: &str, code| printed(target, &["links"], code);
    assert_eq!(links(&packed, 0), links(whole.to_str().unwrap(), 0));
    let cut = written("packed-cut", &bytes[..bytes.len() * 9 / 10]);
    let output = run(&cut, &["links"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stderr(&output).contains("it is not unpacked further: "), "{output:?}");
    refused(
        &written("packed-bomb", &gzip(&vec![0; 400 << 20])),
        &["links"],
        "it unpacks to too much",
    );
    refused(&written("packed-text", &gzip(b"Dear diary")), &["links"], "not an MCAP file");
    refused(&written("packed-twice", &gzip(&bytes)), &["links"], "not an MCAP file");
}

fn answer_with(target: &str, code: i32) -> Value {
    serde_json::from_str(&printed(target, &["--json", "why"], code)).unwrap()
}
