//! The binary on silicon's path without a card: `MESHSCOPE_FAKEKMD` names the program that replaces
//! the kernel driver, `MESHSCOPE_TTSIM_DIR` the folder with the vendor's libraries that replace the
//! chips.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::pseudo;

use portable_pty::CommandBuilder;
use pseudo::Terminal;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_meshscope");

/// The driver's double and a library of the vendor.
fn machine(build: &str) -> Option<(OsString, PathBuf)> {
    let named = |variable| std::env::var_os(variable);
    let Some((double, folder)) = named("MESHSCOPE_FAKEKMD").zip(named("MESHSCOPE_TTSIM_DIR"))
    else {
        eprintln!("skipped: MESHSCOPE_FAKEKMD and MESHSCOPE_TTSIM_DIR are not set");
        return None;
    };
    Some((double, Path::new(&folder).join(format!("libttsim_{build}.so"))))
}

struct Run {
    code: i32,
    out: String,
    stderr: String,
    /// The counts and the log of the double.
    summary: String,
    trace: String,
}

impl Run {
    /// The number with this name in the summary.
    fn count(&self, name: &str) -> u64 {
        let line = self.summary.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().split_whitespace().next().map_or(0, |word| word.parse().unwrap())
    }
}

/// Runs a program on this machine.
fn run_program(build: &str, options: &[&str], program: &[&str]) -> Option<Run> {
    let (double, library) = machine(build)?;
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let folder = std::env::temp_dir().join(format!("silicon-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (summary, trace) = (folder.join("summary"), folder.join("trace"));
    let mut command = Command::new(double);
    command.env("TTSIM_SO", library).arg("--one-cpu");
    command.arg(format!("--summary={}", summary.display())).arg("--trace").arg(&trace);
    let output = command.args(options).args(program).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let run = Run {
        code: output.status.code().unwrap(),
        out: text(&output.stdout),
        stderr: text(&output.stderr),
        summary: std::fs::read_to_string(summary).unwrap(),
        trace: std::fs::read_to_string(trace).unwrap(),
    };
    std::fs::remove_dir_all(folder).unwrap();
    Some(run)
}

fn run(build: &str, options: &[&str], verb: &[&str]) -> Option<Run> {
    run_program(build, options, &[&[BINARY, "--target", "silicon"], verb].concat())
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {} {}", run.out, run.stderr))
}

#[test]
fn looking_changes_nothing_on_one_chip_or_eight() {
    for (build, chips, links) in [("wh", 1, 0), ("wh_x2", 2, 2), ("wh_x8", 8, 20)] {
        let Some(run) = run(build, &["--expect-read-only"], &["--json", "mesh"]) else { return };
        assert_eq!(run.code, 0, "{build}: {}", run.stderr);
        assert!(run.summary.contains("read-only yes"), "{build}: {}", run.summary);
        let mesh = json(&run);
        assert_eq!(mesh["chips"].as_array().unwrap().len(), chips, "{build}");
        assert_eq!(mesh["links"].as_array().unwrap().len(), links, "{build}");
        assert!(run.trace.contains("power-aware"), "no vote on power");
    }
    for verb in [&["cores", "0:e8"][..], &["links"], &["read", "1:9-0:0x210"]] {
        let Some(run) = run("wh_x2", &["--expect-read-only"], verb) else { return };
        assert_eq!(run.code, 0, "{verb:?}: {}", run.stderr);
        assert!(run.summary.contains("read-only yes"), "{verb:?}: {}", run.summary);
    }
}

#[test]
fn what_the_kernel_tells_of_a_card_is_read_without_opening_it() {
    let Some(run) = run("wh_x2", &["--expect-read-only"], &["--json", "devices"]) else { return };
    // The heartbeat of the vendor's simulator stands still.
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(run.count("accesses"), 0, "{}", run.summary);
    assert!(!run.trace.contains("open "), "{}", run.trace);
    let answer = json(&run);
    crate::schemas::conforms(&["devices"], &answer);
    let card = &answer["cards"][0];
    let told = |name: &str| card[name].clone();
    assert_eq!(told("board"), "n300");
    assert_eq!((told("aiclk_mhz"), told("arcclk_mhz")), (1000.into(), 540.into()));
    assert_eq!((told("heartbeat"), told("heartbeat_moved")), (1.into(), false.into()));
    assert_eq!(card["firmware"]["bundle"], "18.4.0.0");
    assert!(card["gaps"].to_string().contains("hwmon"), "{card}");
    // The driver's double and ARC itself tell the same.
    let Some(arc) = self::run("wh_x2", &["--expect-read-only"], &["--json", "devices", "--arc"])
    else {
        return;
    };
    let chips = json(&arc)["chips"].clone();
    for name in ["board", "aiclk_mhz", "axiclk_mhz", "arcclk_mhz", "heartbeat"] {
        assert_eq!(chips[0][name], card[name], "{name}");
    }
    assert_eq!(chips[0]["firmware"], card["firmware"]);
    assert_eq!(chips[1]["temperature_millicelsius"]["now"], 40_000, "the far chip: {chips}");
    let script = "exec 3<>/dev/tenstorrent/0; \"$0\" devices";
    let Some(run) = run_program("wh_x2", &[], &["sh", "-c", script, BINARY]) else { return };
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.out.contains("sh -c exec 3<>"), "{}", run.out);
    assert!(run.out.contains("heartbeat did not move within 200 ms"), "{}", run.out);
    let script = "\"$0\" devices --watch=100ms | head -n 3";
    let Some(run) = run_program("wh", &[], &["sh", "-c", script, BINARY]) else { return };
    assert_eq!(run.out.lines().count(), 3, "{}", run.stderr);
}

#[test]
fn a_device_is_closed_between_looks_that_are_seconds_apart() {
    let script = "\"$0\" --target silicon read 0:9-6:0x210 $1 | head -n 2";
    let watched = |every| {
        let words = ["sh", "-c", script, BINARY, every];
        run_program("wh", &["--expect-read-only"], &words)
    };
    let Some(run) = watched("--watch=5s") else { return };
    assert_eq!(run.out.lines().count(), 2, "{} {}", run.out, run.stderr);
    let opens = |run: &Run| run.trace.lines().filter(|line| line.starts_with("open ")).count();
    assert!(opens(&run) >= 2, "{}", run.trace);
    let Some(run) = watched("--watch=1s") else { return };
    assert_eq!((run.out.lines().count(), opens(&run)), (2, 1), "{} {}", run.stderr, run.trace);
    for (verb, kept) in [
        (&["record", "FILE", "--moments", "2", "--every", "5s"][..], false),
        (&["record", "FILE", "--moments", "2", "--every", "2s"], true),
        (&["fabric", "waits", "--over", "4000000000"], false),
    ] {
        let file = std::env::temp_dir().join(format!("silicon-{}.mcap", std::process::id()));
        let words =
            verb.iter().map(|word| if *word == "FILE" { file.to_str().unwrap() } else { word });
        let Some(run) = self::run("wh", &["--expect-read-only"], &words.collect::<Vec<_>>()) else {
            return;
        };
        let _ = std::fs::remove_file(&file);
        assert_eq!(opens(&run) == 1, kept, "{verb:?}: {} {}", run.stderr, run.trace);
    }
}

#[test]
fn each_request_to_a_far_chip_is_made_under_the_lock() {
    let Some(run) = run("wh_x2", &[], &["links"]) else { return };
    let (mut held, mut requests) = (false, 0);
    for line in run.trace.lines() {
        let lock = line.contains("LOCK_CTL") && line.contains("index=18 value=1");
        held = if lock { line.contains("flags=0") } else { held };
        let posted = line.starts_with("request dev=0");
        requests += usize::from(posted);
        assert!(held || !posted, "not under the lock: {line}");
    }
    assert!(requests > 0 && !held, "{requests} requests, and the lock is given back");
}

#[test]
fn bytes_are_those_that_the_library_gives_itself() {
    let Some((_, library)) = machine("wh_x2") else { return };
    let target = format!("ttsim:{}", library.display());
    for place in ["0:9-6:0x210", "0:1-1:0xffb2002c", "1:9-0:0x210", "1:1-1:0x100"] {
        let own = Command::new(BINARY).args(["--target", &target, "read", place]).output().unwrap();
        let Some(run) = run("wh_x2", &[], &["read", place]) else { return };
        assert_eq!(run.code, 0, "{place}: {}", run.stderr);
        assert_eq!(run.out, String::from_utf8_lossy(&own.stdout), "{place}");
    }
}

#[test]
fn one_device_is_named_by_its_number_or_its_chip() {
    let script = "for node in /dev/tenstorrent/0 /dev/tenstorrent/by-id/*; do \
        \"$0\" --target $node read 0:9-6:0x210 || exit; done";
    let Some(run) = run_program("wh", &[], &["sh", "-c", script, BINARY]) else { return };
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("meshscope: /dev/tenstorrent/by-id/wormhole-"), "{}", run.stderr);
    assert_eq!(run.out.lines().count(), 2, "{}", run.out);
    let missing = "\"$0\" --target /dev/tenstorrent/9 mesh";
    let Some(run) = run_program("wh", &[], &["sh", "-c", missing, BINARY]) else { return };
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("/dev/tenstorrent/9: no such device"), "{}", run.stderr);
}

#[test]
fn what_keeps_a_device_from_opening_has_its_sentence() {
    for (option, says) in [
        ("--old-driver", "tenstorrent driver 1.26.0 with interface 1 is too old"),
        ("--no-perm", "no permission to read and write"),
    ] {
        let Some(run) = run("wh", &[option], &["mesh"]) else { return };
        assert_eq!(run.code, 3, "{option}: {}", run.stderr);
        assert!(
            run.stderr.contains(says) && run.stderr.lines().count() == 1,
            "{option}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_device_that_goes_leaves_what_was_read_before() {
    let Some(whole) = run("wh", &["--idle-clocks", "0"], &["cores"]) else { return };
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    // Near the end, after most reads; and early, before any.
    let late = (whole.count("accesses") - 100).to_string();
    for (fault, says) in [
        (&["--vanish-after"][..], "was reset or removed while open"),
        (&["--hang-after"], "answers all ones: it is off the bus"),
        (&["--hang-ms", "150", "--hang-after"], "does not answer: it hangs"),
    ] {
        for (after, code) in [(late.as_str(), 4), ("50", 3)] {
            let options = [&["--idle-clocks", "0"], fault, &[after]].concat();
            let Some(run) = run("wh", &options, &["cores"]) else { return };
            assert_eq!(run.code, code, "{options:?}: {}", run.stderr);
            assert!(run.stderr.contains(says), "{options:?}: {}", run.stderr);
        }
    }
}

#[test]
fn a_dead_tile_is_named_and_the_rest_is_read() {
    for (tile, name, verb) in
        [("1,1", "1-1", "cores"), ("9,6", "9-6", "cores"), ("9,6", "9-6", "mesh")]
    {
        let Some(run) = run("wh", &["--dead-tile", tile], &[verb]) else { return };
        assert_eq!(run.code, 4, "{tile}: {}", run.stderr);
        let says = format!("tile {name} hangs: it answers all ones, including its node id");
        assert!(run.stderr.contains(&says), "{tile}: {}", run.stderr);
        assert!(run.stderr.lines().count() <= 3 && run.out.lines().count() > 1, "{}", run.stderr);
    }
}

#[test]
fn one_device_of_four_that_goes_leaves_the_others() {
    let Some(whole) = run("wh_x8", &[], &["mesh"]) else { return };
    let of_last = |line: &&str| line.starts_with("r dev=3") || line.starts_with("w dev=3");
    let after = whole.trace.lines().filter(of_last).count() * 3 / 4;
    for (fault, says) in [
        ("--vanish-after", "/dev/tenstorrent/3 was reset or removed"),
        ("--hang-after", "/dev/tenstorrent/3 answers all ones"),
    ] {
        let options = [fault, &format!("3:{after}")];
        let Some(run) = run("wh_x8", &options, &["--json", "mesh"]) else { return };
        assert_eq!(run.code, 4, "{fault}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{fault}: {}", run.stderr);
        let mesh = json(&run);
        let near = mesh["chips"].as_array().unwrap().iter().filter(|chip| chip["pcie"] == true);
        assert_eq!(near.count(), 4, "{fault}: {}", run.stderr);
        let up = mesh["links"].as_array().unwrap().iter().filter(|link| link["state"] == "up");
        assert!(up.count() > 4, "{fault}: {}", run.out);
    }
}

#[test]
fn the_view_stays_when_the_device_goes_and_the_terminal_is_given_back() {
    let Some((double, library)) = machine("wh") else { return };
    for fault in ["--vanish-after", "--hang-after"] {
        let mut command = CommandBuilder::new(&double);
        command.env("TTSIM_SO", &library);
        command.args(["--one-cpu", fault, "5000", BINARY, "--target", "silicon"]);
        let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 80, 24);
        terminal.shows("the target is gone: device gone: /dev/tenstorrent/0");
        terminal.shows("LOST");
        terminal.press("q");
        assert_eq!(terminal.ends().exit_code(), 3, "{fault}");
        terminal.is_given_back();
    }
}

#[test]
fn who_else_holds_the_device_is_named() {
    let script = "exec 3<>/dev/tenstorrent/0; \"$0\" --target /dev/tenstorrent/0 --json mesh";
    let Some(run) = run_program("wh", &[], &["sh", "-c", script, BINARY]) else { return };
    assert_eq!(run.code, 0, "{}", run.stderr);
    let holders = &json(&run)["chips"][0]["holders"];
    assert_eq!(holders.as_array().map(Vec::len), Some(1), "not ourselves: {holders}");
    assert_eq!(holders[0]["name"], "sh");
    assert!(run.stderr.contains("chip 0 is also open in"), "{}", run.stderr);
}

#[test]
fn a_kernel_for_another_core_changes_nothing_and_one_that_fits_runs() {
    let image = |name| format!("{}/../firmware/images/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    let (worker, ring) = (image("tensix_worker"), image("ring_ping"));
    let allow = ["--allow", "launch,write,reset", "launch"];
    let wrong = [&allow[..], &[&ring, "--on", "0:1-1"]].concat();
    let Some(refused) = run("wh", &["--expect-read-only"], &wrong) else { return };
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.summary.contains("read-only yes"), "{}", refused.summary);
    let says = "its mailbox is at 0x3dd50, that of an active Ethernet tile";
    assert!(refused.stderr.contains(says), "{}", refused.stderr);
    let launch = ["launch", &worker, "--on", "0:1-1", "--args", "0x20000,8,4", "--wait"];
    let Some(refused) = run("wh", &["--expect-read-only"], &launch) else { return };
    assert_eq!(refused.code, 5, "{}", refused.stderr);
    assert!(refused.summary.contains("read-only yes"), "{}", refused.summary);
    let Some(run) = run("wh", &[], &[&allow[..], &launch[1..], &["--json"]].concat()) else {
        return;
    };
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(json(&run)["on"][0]["outcome"], "returned");
}
