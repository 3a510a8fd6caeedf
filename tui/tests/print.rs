//! `print`: values by the names of the firmware that runs on a core, as scripts use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{logged, stderr};
use crate::schemas::conforms;
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};

fn print(target: &str, arguments: &[&str]) -> Output {
    logged(target, &[&["print"], arguments].concat())
}

/// The message of a failure, without the list of images that were searched.
fn refusal(output: &Output) -> String {
    let stderr = stderr(output);
    // A verb that takes long says what it waits for.
    let waits = |line: &&str| [" boot: ", " snapshot: "].iter().any(|it| line.contains(it));
    let lines: Vec<&str> = stderr.lines().filter(|line| !waits(line)).collect();
    let words = lines.join("\n");
    let list = words.find(" (searched ").or_else(|| words.find("; it runs "));
    words.chars().take(list.unwrap_or(usize::MAX)).collect()
}

fn answer(target: &str, arguments: &[&str]) -> Value {
    let output = print(target, &[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["print"], &answer);
    answer
}

pub(crate) fn wheel() -> Option<String> {
    let root = std::env::var("MESHSCOPE_TT_METAL_ELFS").ok();
    if root.is_none() {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS names no unpacked ttnn wheel");
    }
    root.map(|root| format!("{root}/ttnn/tt_metal/pre-compiled/1003041148146844629"))
}

const OURS: &str = "emulator:n300";

#[test]
fn the_kernel_is_searched_before_the_application() {
    let phase = answer(OURS, &["0:e8", "ring_ping_state.phase"]);
    assert_eq!(phase["value"], json!({"name": "RING_PING_RUNNING", "value": 2}));
    assert_eq!((&phase["image"], &phase["core"]), (&json!("ring_ping"), &json!("erisc")));
    assert_eq!((&phase["tile"], &phase["size"]), (&json!([9, 6]), &json!(4)));
    let go = answer(OURS, &["0:9-6", "mailboxes->go_messages[0].signal"]);
    assert_eq!((&go["addr"], &go["value"]), (&json!(0x3_E1E3), &json!(0x80)));
    let app = answer(OURS, &["0:e8", "erisc_app::mailboxes->launch[0].kernel_config.enables"]);
    assert_eq!((&app["image"], &app["value"]), (&json!("erisc_app"), &json!(1)));
    let named = answer(OURS, &["0:e8", "mailboxes", "--image", "erisc_app"]);
    assert_eq!((&named["image"], &named["value"]), (&json!("erisc_app"), &json!(0x3_DD50)));
    assert_eq!(named["missing"]["addr"]["reason"], "constant");
}

#[test]
fn pointers_are_followed_on_request_only() {
    let place = answer(OURS, &["0:e8", "eth_channel_places.channels[1].role"]);
    assert_eq!(place["value"]["name"], "ETH_CHANNEL_SENDER");
    // The remote receiver keeps its live word after the payload.
    let sync = answer(OURS, &["1:e0", "eth_channel_places.channels[1].sync"]);
    assert_eq!(sync["value"], json!(0x2_8500));
    let live = answer(OURS, &["1:e0", "eth_channel_places.channels[1].sync->bytes_sent"]);
    assert_eq!(live["addr"], json!(0x2_8500));
    let worker = answer(OURS, &["0:1-2", "tensix_worker_state.args"]);
    assert_eq!(worker["value"]["address"], json!(0x2_0000));
}

#[test]
fn what_only_the_core_sees_is_reported_as_private() {
    let output = print(OURS, &["0:e8", "*(uint32_t *)0xFFB00010", "--json"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["value"], &answer["addr"]), (&Value::Null, &json!(0xFFB0_0010_u32)));
    assert_eq!(answer["missing"]["value"]["reason"], "private");
    assert!(stderr(&output).contains("private to the core"), "{}", stderr(&output));
}

#[test]
fn an_empty_address_is_unmapped() {
    let output = print(OURS, &["0:e8", "uint32_t@0x50000", "--json"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["missing"]["value"]["reason"], "unmapped");
}

#[test]
fn a_pointer_that_only_the_layouts_know_is_reported() {
    let Some(firmware) = wheel() else { return };
    let target = format!("emulator:n300,firmware={firmware}");
    for expression in ["erisc_info", "*erisc_info", "erisc_info->channels[0].bytes_sent"] {
        let output = print(&target, &["0:e8", expression]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{expression}: {}", stderr(&output));
        assert!(text.contains("erisc_info points to 0x3dc30, where the host places it"), "{text}");
        assert!(!text.contains("a constant of the debug information"), "{text}");
    }
}

#[test]
fn wrong_questions_are_one_line_and_exit_2() {
    for (arguments, words) in [
        (["0:e8", "nothing"], "no variable or constant `nothing`"),
        (["0:e8", "mailboxes->nope"], "`mailboxes_t` has no member `nope`"),
        (["0:e8", "1 +"], "as an expression"),
        (["0:5-5", "x"], "tile 0:5-5 has no cores"),
        (["0:9-6:brisc", "x"], "tile 0:9-6 has no brisc"),
        (["7:e8", "x"], "there is no chip 7"),
        (["0:e77", "x"], "no Ethernet channel 77"),
        (["0", "x"], "is not a core"),
        (["0:e8:fpu", "x"], "is not a core"),
    ] {
        let output = print(OURS, &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        let stderr = stderr(&output);
        assert!(stderr.contains(words) && stderr.lines().count() == 1, "{arguments:?}: {stderr}");
    }
}

#[test]
fn what_is_too_large_is_refused_with_the_limit() {
    for size in ["1048576", "99999999", "1024][1024"] {
        let output = print(OURS, &["0:1-2:brisc", &format!("uint8_t[{size}]@0"), "--json"]);
        let stderr = stderr(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{size}: {stderr}");
        assert!(
            stderr.contains("too large") && stderr.contains("16777216 bytes"),
            "{size}: {stderr}"
        );
    }
    let whole = answer(OURS, &["0:1-2:brisc", "uint8_t[1048575]@0"]);
    assert_eq!(whole["value"].as_array().unwrap().len(), 1_048_575);
}

#[test]
fn similar_names_are_suggested() {
    let output = print(OURS, &["0:e8", "ring_ping_stat"]);
    assert!(stderr(&output).contains("did you mean ring_ping_state"), "{}", stderr(&output));
    let output = print(OURS, &["0:e8", " "]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the expression is empty"), "{}", stderr(&output));
}

#[test]
fn dry_runs_refuse_what_the_verbs_refuse() {
    for arguments in [
        &["print", "0:e8", "nothing"][..],
        &["print", "0:e8", "mailboxes", "--image", "nope"],
        &["print", "9:e8", "mailboxes"],
        &["print", "0:e8", "uint8_t[99999999999999]@0"],
        &["images", "9"],
        &["images", "0:5-5"],
        &["cores", "0:e77"],
        &["cores", "0:9-6:0x100"],
    ] {
        let run = |dry: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
            command.args(["--target", OURS]).args(arguments).args(dry).stdin(Stdio::null());
            command.output().unwrap()
        };
        let (real, dry) = (run(&[]), run(&["--dry-run"]));
        assert_eq!(dry.status.code(), Some(2), "{arguments:?}: {}", stderr(&dry));
        // The running kernel is not known without an access: a dry run searches every candidate.
        assert_eq!(refusal(&dry), refusal(&real), "{arguments:?}");
    }
    let named = print(OURS, &["0:e8", "erisc_app::RUN_MSG_GO", "--dry-run"]);
    assert_eq!(named.status.code(), Some(0), "{}", stderr(&named));
}

#[test]
fn dry_runs_touch_nothing_and_recordings_say_what_they_lack() {
    let output = print(OURS, &["0:e8", "mailboxes->go_messages[0]", "--dry-run", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let accesses = plan["accesses"].as_array().unwrap();
    assert!(
        accesses.iter().any(|access| access["addr"] == 0x3_E1E0 && access["len"] == 4),
        "{plan}"
    );
    let recording =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../recordings/library/n300_ring_ping.mcap");
    let kept = answer(recording, &["0:e8", "ring_ping_state.phase"]);
    assert_eq!(kept["value"]["name"], "RING_PING_RUNNING");
    let output = print(recording, &["0:e8", "mailboxes->profiler", "--json"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let lacking: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(lacking["missing"]["value"]["reason"], "not_recorded");
}

#[test]
fn the_wheels_firmware_on_the_emulator_and_the_vendors_simulator() {
    let Some(wheel) = wheel() else { return };
    let mut targets = vec![(format!("emulator:n300,firmware={wheel}"), "")];
    if let Ok(folder) = std::env::var("MESHSCOPE_TTSIM_DIR") {
        let library = format!("ttsim:{folder}/libttsim_wh_x2.so,firmware={wheel}");
        targets.push((library, "--allow=launch,write,reset"));
    } else {
        println!("skipped in part: MESHSCOPE_TTSIM_DIR is not set");
    }
    for (target, allow) in targets {
        let answer = |core: &str, expression: &str| {
            let arguments = [core, expression, allow];
            let given = arguments.into_iter().filter(|word| !word.is_empty());
            answer(&target, &given.collect::<Vec<_>>())
        };
        let go = answer("0:e8", "mailboxes->go_messages[0]");
        assert_eq!((&go["image"], &go["addr"]), (&json!("erisc"), &json!(0x3_E1E0)), "{target}");
        assert_eq!(go["value"]["signal"], json!(0x40), "{target}");
        // Only the host knows where this one is.
        let channel = answer("0:e8", "erisc_info->channels[1].bytes_sent");
        assert_eq!(channel["addr"], json!(0x3_DC50), "{target}");
        let magic = answer("1:e0", "mailboxes->core_info.core_magic_number");
        assert_eq!(magic["value"]["name"], "ACTIVE_ETH", "{target}");
        assert_eq!(answer("0:e8", "RUN_MSG_GO")["value"], json!(0x80), "{target}");
    }
}
