//! The binary as scripts use it: exit codes, one line per error, guaranteed JSON, closed pipes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{meshscope, stderr};
use crate::recording;

use crate::schemas::conforms;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn image(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../firmware/images").join(name);
    assert!(path.is_file(), "{}", path.display());
    path.display().to_string()
}

/// A file with these bytes, removed with its folder.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = std::env::temp_dir().join(format!("meshscope-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
        Self(folder.join(name))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}

/// Fails with this code, prints one line that contains all of these words, and nothing else.
fn refuses(arguments: &[&str], code: i32, words: &[&str]) {
    let output = meshscope(arguments);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "{arguments:?}: {stderr}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

fn answers(arguments: &[&str]) -> Value {
    let output = meshscope(arguments);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    conforms(arguments, &answer);
    answer
}

#[test]
fn usage_errors_are_one_line_and_exit_2() {
    refuses(&["mehs"], 2, &["'mehs'", "'mesh'"]);
    refuses(&["--colour", "mesh"], 2, &["--colour"]);
    refuses(&["--color", "pink", "mesh"], 2, &["pink", "auto"]);
    refuses(&["read"], 2, &["<PLACE>"]);
    refuses(&["symbols", "type", "mailboxes_t"], 2, &["--elf"]);
    refuses(&["serve"], 2, &["--socket"]);
    refuses(
        &["--allow", "fly", "mesh"],
        2,
        &["--allow", "`fly`", "write, sample, halt, launch, reset"],
    );
    refuses(&["cores", "--sample", "0"], 2, &["--sample 0", "from 1 to 100000"]);
    refuses(&["cores", "--merge", "--for", "soon"], 2, &["--for: 'soon' is not a time"]);
    refuses(&["cores", "--for", "1ms"], 2, &["--merge"]);
    refuses(&["cores", "--merge", "--words"], 2, &["--words", "cannot be used with"]);
    let record = |option, value| ["record", "/nonexistent/run.mcap", option, value];
    refuses(&record("--every", "700000s"), 2, &["--every", "at most a week"]);
    refuses(&record("--moments", "0"), 2, &["--moments", "from 1 to"]);
}

#[test]
fn a_mesh_without_a_ring_opens_unless_the_ring_is_requested() {
    let mesh = answers(&["--target", "emulator:n150", "mesh", "--json"]);
    assert_eq!(mesh["chips"].as_array().unwrap().len(), 1);
    refuses(&["--target", "emulator:n150,run=ring-ping", "mesh"], 2, &["run=idle"]);
}

#[test]
fn invalid_places_are_reported_before_a_target_is_opened() {
    let target = "socket:/nonexistent/meshscope";
    let read = |place, words: &[&str]| refuses(&["--target", target, "read", place], 2, words);
    read("0:12-3:0x0", &["12-3", "outside the chip"]);
    read("0:9-6", &["'0:9-6'", "<chip>:<x>-<y>:<addr>"]);
    read("0:9-6:zero", &["'zero'", "not a number"]);
    read("x:9-6:0", &["'x'", "chip"]);
    read("0:9-6:0x50000", &["0:9-6:0x50000", "eth tile"]);
    read("0:9-6:0x3fffe", &["0:9-6:0x3fffe", "ends at 0x40000"]);
    refuses(&["--target", target, "read", "0:9-6:0", "0"], 2, &["length 0"]);
    refuses(&["--target", target, "cores", "0:77-0"], 2, &["77-0"]);
}

#[test]
fn targets_that_are_not_there() {
    refuses(&["--target", "socket:/nonexistent/meshscope", "mesh"], 3, &["/nonexistent/meshscope"]);
    refuses(
        &["--target", "ttsim:/nonexistent/libttsim.so", "mesh"],
        3,
        &["/nonexistent/libttsim.so"],
    );
    refuses(&["--target", "what", "mesh"], 2, &["what"]);
    let text = Scratch::new("notes.mcap", b"not a recording");
    refuses(&["--target", text.path(), "mesh"], 2, &["notes.mcap"]);
}

#[test]
fn elf_files_that_are_none() {
    let whole = std::fs::read(image("erisc_app.elf")).unwrap();
    let cut = Scratch::new("cut.elf", &whole[..200]);
    let text = Scratch::new("text.elf", b"#!/bin/sh");
    let own = env!("CARGO_BIN_EXE_meshscope");
    for (file, words) in [
        (cut.path(), "cut.elf"),
        (text.path(), "not an ELF file"),
        (own, "64-bit"),
        ("/nonexistent.elf", "No such file"),
    ] {
        refuses(&["symbols", "type", "mailboxes_t", "--elf", file], 2, &[words, file]);
        refuses(&["symbols", "addr", "0x9040", "--elf", file], 2, &[words, file]);
    }
    refuses(
        &["symbols", "type", "x", "--elf", "/dev/zero"],
        2,
        &["/dev/zero", "a character device"],
    );
    let app = image("erisc_app.elf");
    refuses(&["symbols", "type", "nothing_t", "--elf", &app], 2, &["nothing_t", "erisc_app.elf"]);
    refuses(&["symbols", "addr", "here", "--elf", &app], 2, &["'here'"]);
    refuses(&["symbols", "addr", "0x100009100", "--elf", &app], 2, &["0x100009100", "32 bits"]);
}

#[test]
fn symbols_type_keeps_its_promise() {
    let app = image("erisc_app.elf");
    let answer = answers(&["symbols", "type", "eth_channel_sync_t", "--elf", &app, "--json"]);
    assert_eq!(answer["name"], "eth_channel_sync_t");
    assert_eq!(answer["size"], 16);
    let member = &answer["members"][1];
    assert_eq!(member["name"], "receiver_ack");
    assert_eq!((&member["offset"], &member["size"]), (&json!(4), &json!(4)));
    assert!(member["type"].as_str().unwrap().contains("uint32_t"));
    assert!(member.get("bit_size").is_none(), "only bit-fields carry bits");
}

/// Opening a FIFO for reading blocks until a writer opens it.
#[test]
fn a_pipe_in_a_folder_of_elfs_is_left_alone() {
    let notes = Scratch::new("notes.txt", b"");
    let folder = notes.0.parent().unwrap();
    for name in ["erisc.elf", "brisc.elf"] {
        let made = Command::new("mkfifo").arg(folder.join(name)).status();
        assert!(made.unwrap().success());
    }
    let folder = folder.to_str().unwrap();
    let output = meshscope(&["--target", "emulator:n300", "images", "0:9-6", "--elfs", folder]);
    assert!(output.status.code().is_some());
}

/// An image of the small cases that only the tests of `symbols` have.
fn case(name: &str) -> String {
    image(&format!("../cases/images/{name}"))
}

#[test]
fn symbols_type_tells_holes_bases_and_arguments() {
    let classes = case("classes.elf");
    let of = |name: &str| answers(&["symbols", "type", name, "--elf", &classes, "--json"]);
    let channel = of("channel_t<header_t, 8, (direction_t)1, false>");
    assert_eq!(channel["kind"], "class");
    // A hole in a base is the base's own hole.
    assert!(channel.get("holes").is_none(), "{channel}");
    let hole = json!({"offset": 13, "size": 3, "bit_offset": 104, "bit_size": 24, "padding": true});
    assert_eq!(of("pack_t<unsigned char, unsigned int, header_t>")["holes"], json!([hole]));
    let base =
        json!({"name": "tag_t", "offset": 0, "size": 1, "access": "private", "virtual": false});
    assert_eq!(channel["bases"][1], base);
    let argument = json!({"name": "DIRECTION", "type": "direction_t",
        "value": {"name": "west", "value": 1}});
    assert_eq!(channel["template_arguments"][2], argument);
    let virtual_base = &of("one_t")["bases"][0];
    assert_eq!((&virtual_base["offset"], &virtual_base["virtual"]), (&Value::Null, &json!(true)));
    let direction = of("direction_t");
    assert_eq!((&direction["kind"], &direction["size"]), (&json!("enum"), &json!(1)));
    assert_eq!(direction["enumerators"][3], json!({"name": "south", "value": 3}));
    assert_eq!(of("uint16_t")["canonical_type"], "short unsigned int");
}

#[test]
fn hidden_members_are_listed_by_their_base() {
    let classes = case("classes.elf");
    let answer = answers(&["symbols", "value", "pack", "--elf", &classes, "--json"]);
    let value = &answer["value"];
    assert_eq!(value["first"], 0);
    let base = &value["pack_t<unsigned int, header_t>"];
    assert_eq!(base["first"], 0);
    assert_eq!(base["pack_t<header_t>"]["first"]["pair"], json!({"b0": 0, "b1": 0}));
    // Without hidden members, those of bases are among the others.
    let both = answers(&["symbols", "value", "both", "--elf", &classes, "--json"]);
    let keys: Vec<_> = both["value"].as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 5, "{both}");
}

#[test]
fn virtual_bases_are_named_where_they_have_no_place() {
    let classes = case("classes.elf");
    let diamond = answers(&["symbols", "type", "diamond_t", "--elf", &classes, "--json"]);
    assert_eq!(diamond["virtual_bases"], json!([{"name": "root_t", "size": 4}]));
    let value = answers(&["symbols", "value", "diamond", "--elf", &classes, "--json"]);
    assert_eq!(value["value"].get("root_t"), Some(&Value::Null), "{value}");
    assert_eq!(value["value"]["tip"], 0);
    let text = meshscope(&["symbols", "value", "diamond", "--elf", &classes]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("without its virtual base root_t"), "{text}");
    for question in [["type", "diamond_t.root"], ["value", "diamond.root"]] {
        let [verb, name] = question;
        refuses(
            &["symbols", verb, name, "--elf", &classes],
            2,
            &["`root` in its virtual base `root_t`", "vtable"],
        );
    }
}

#[test]
fn nameless_types_are_opened() {
    let app = image("erisc_app.elf");
    let go = answers(&["symbols", "type", "go_msg_t", "--elf", &app, "--json"]);
    let union = &go["members"][0];
    assert_eq!(union["name"], Value::Null);
    let named = |members: &Value, name: &str| {
        let members = members.as_array().unwrap().clone();
        members.into_iter().find(|member| member["name"] == name)
    };
    assert_eq!(named(&union["members"], "all").unwrap()["offset"], 0);
    let parts = union["members"].as_array().unwrap();
    let parts = parts.iter().find(|member| member["name"].is_null()).unwrap();
    assert_eq!(named(&parts["members"], "signal").unwrap()["offset"], 3);
    let mailboxes = answers(&["symbols", "type", "mailboxes_t", "--elf", &app, "--json"]);
    assert!(mailboxes["members"][0].get("members").is_none(), "{mailboxes}");
}

#[test]
fn lists_hold_patterns_anywhere_and_say_that_they_are_empty() {
    let router = case("router.elf");
    let list =
        |pattern: &str| meshscope(&["symbols", "list", "functions", pattern, "--elf", &router]);
    for pattern in ["run_*impl", "step_impl<*", "*_step"] {
        let output = list(pattern);
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(names.contains("run_receiver_channel_step_impl<15>"), "{pattern}: {names}");
    }
    let none = list("zebra*");
    assert_eq!((none.status.code(), none.stdout.len()), (Some(0), 0));
    let stderr = stderr(&none);
    assert!(stderr.contains("no names of functions hold `zebra*`"), "{stderr}");
}

#[test]
fn symbols_value_keeps_its_promise() {
    let (app, places) = (image("erisc_app.elf"), case("places.elf"));
    let of = |text: &str, elf: &str| answers(&["symbols", "value", text, "--elf", elf, "--json"]);
    let known = of("RUN_MSG_GO", &app);
    assert_eq!((&known["value"], &known["source"]), (&json!(128), &json!("constant")));
    let unknown = of("mailboxes->launch[1]", &app);
    assert_eq!((&unknown["value"], &unknown["source"]), (&Value::Null, &Value::Null));
    assert!(unknown["address"].is_u64());
    let private = of("private_pair", &places);
    assert_eq!(private["value"], json!({"low": 1, "high": 2}));
    assert_eq!((&private["source"], &private["section"]), (&json!("initial"), &json!(".ldm")));
    assert!(private["private"].as_str().unwrap().contains("NoC"));
    assert_eq!(of("shared_word", &places)["private"], Value::Null);
    let moving = of("in_several_places::moving", &places);
    assert_eq!(moving["ranges"][0]["storage"], "in register a0");
    let now =
        answers(&["symbols", "value", "moving", "--elf", &places, "--pc", "0x90a8", "--json"]);
    assert_eq!((&now["storage"], &now["value"]), (&json!("in register a0"), &Value::Null));

    let computed = of("sizeof(mailboxes_t)", &app);
    assert_eq!(
        (&computed["source"], &computed["storage"]),
        (&json!("constant"), &json!("computed"))
    );
    let refused = |text: &str, words: &[&str]| {
        refuses(&["symbols", "value", text, "--elf", &app], 2, words);
    };
    refused("uint8_t[100000000]@0x9040", &["100000000 bytes", "too many"]);
    refused("mailboxes_t@0xffffffff", &["past a core's last address"]);
    refused("*(uint32_t*)0x1000000000", &["not a 32-bit address"]);
    refused("mailboxes[-1000]", &["-0x", "not a 32-bit address"]);
    let path = "mailboxes_t->go_messages";
    let words = &["cannot apply `->go_messages` to `mailboxes_t`"];
    refuses(&["symbols", "type", path, "--elf", &app], 2, words);
    let partly = meshscope(&["symbols", "value", "uint8_t[65536]@0x9040", "--elf", &app]);
    let stdout = String::from_utf8(partly.stdout).unwrap();
    assert!(stdout.contains("the file has its first") && partly.status.success(), "{stdout}");
    refused("mailboxes->lunch", &["`mailboxes->lunch`", "did you mean launch?"]);
    refused("mailboxes->", &["`mailboxes->`", "name of a member"]);
    refused("RUN_MSG_G", &["`RUN_MSG_G`", "RUN_MSG_GO"]);
    refused("mailboxes->launch[mailboxes->launch_msg_rd_ptr]", &["launch_msg_rd_ptr", "target"]);
    refuses(&["symbols", "value", "x", "--elf", &app, "--pc", "here"], 2, &["'here'"]);
}

#[test]
fn symbols_line_function_and_list_keep_their_promises() {
    let parts = case("parts.elf");
    let of = |arguments: &[&str]| {
        answers(&[&["symbols"], arguments, &["--elf", &parts, "--json"]].concat())
    };
    let line = of(&["line", "parts.cpp:53"]);
    assert_eq!((&line["file"], &line["line"]), (&json!("parts.cpp"), &json!(53)));
    let code = &line["code"][0];
    assert!(
        code["begin"].as_u64() < code["end"].as_u64() && code["frames"][0]["line"] == 53,
        "{code}"
    );
    let function = &of(&["function", "divided"])["functions"][0];
    assert_eq!(function["linkage_name"], "_Z7dividedj");
    assert_eq!(function["parts"][0]["symbol"], "_Z7dividedj.part.0");
    assert_eq!(function["inlined"][0]["into"], "start");
    assert_eq!(
        of(&["list", "functions", "s*"])["names"],
        json!(["first", "scan", "second", "start"])
    );
    assert_eq!(of(&["list", "files"])["kind"], "files");

    let refused = |arguments: &[&str], words: &[&str]| {
        refuses(&[&["symbols"], arguments, &["--elf", &parts]].concat(), 2, words);
    };
    refused(&["function", "devided"], &["`devided`", "did you mean divided?"]);
    refused(&["line", "part.cpp:53"], &["`part.cpp`", "parts.cpp?"]);
    refused(&["line", "parts.cpp"], &["<file>:<line>"]);
    refused(&["list", "nothing"], &["'nothing'", "types"]);
    let none = meshscope(&["symbols", "line", "parts.cpp:1", "--elf", &parts]);
    let stderr = stderr(&none);
    assert!(
        none.status.success() && stderr.contains("line 1 of parts.cpp has no code"),
        "{stderr}"
    );
}

#[test]
fn symbols_addr_keeps_its_promise() {
    let app = image("erisc_app.elf");
    let answer = answers(&["symbols", "addr", "0x9040", "--elf", &app, "--json"]);
    assert_eq!(answer["addr"], 0x9040);
    let frame = &answer["frames"][0];
    assert!(frame["function"].is_string() || frame["function"].is_null());
    assert!(frame["file"].is_string() || frame["file"].is_null());
    let nowhere = answers(&["symbols", "addr", "0xfffffff0", "--elf", &app, "--json"]);
    assert_eq!(nowhere, json!({"schema": 1, "addr": 0xfffffff0_u32, "frames": []}));
}

#[test]
fn symbols_backtrace_keeps_its_promise() {
    let case = image("../cases/images/unwind.elf");
    let elf = symbols::Symbols::open(&case).unwrap().0;
    let at = |label: &str| elf.symbol(label).unwrap().address as u32;
    // `outermost` called `framed`, which called `leaf`: its frame is s0 and the return address.
    let stack: Vec<u8> =
        [0, 0, 7, at("outermost_after")].into_iter().flat_map(u32::to_le_bytes).collect();
    let stack = Scratch::new("stack.bin", &stack);
    let memory = format!("{}@0xffb00f00", stack.path());
    let pc = format!("pc={:#x}", at("leaf"));
    let ra = format!("ra={:#x}", at("framed_after"));
    let saved = ["--reg", &pc, "--reg", &ra, "--reg", "sp=0xffb0_0f00", "--memory", &memory];
    let verb = ["symbols", "backtrace", "--elf", &case];
    let answer = answers(&[&verb[..], &saved[..], &["--json"]].concat());
    let frames = answer["frames"].as_array().unwrap();
    let names: Vec<&Value> =
        frames.iter().map(|frame| &frame["locations"][0]["function"]).collect();
    assert_eq!(names, ["leaf", "framed", "outermost"]);
    assert_eq!(frames[1]["pc"], at("framed_after"));
    assert_eq!(
        (&frames[1]["cfa"], &frames[1]["elf"]),
        (&json!(0xffb00f10_u32), &json!("unwind.elf"))
    );
    assert_eq!(
        frames[2]["registers"],
        json!({"ra": at("outermost_after"), "sp": 0xffb00f10_u32, "s0": 7})
    );
    assert_eq!(frames[0]["locations"][0]["inlined"], false);
    assert_eq!(answer["end"]["reason"], "outermost");
    assert!(answer["end"]["detail"].as_str().unwrap().starts_with("outermost at 0x904c"));

    // Without the stack there are two frames, and the reason; with a bias the addresses differ.
    let output = meshscope(&[&verb[..], &saved[..6]].concat());
    let stderr = stderr(&output);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(
        shown.starts_with("#0 0x00009050 leaf at ?:?  [unwind.elf]\n#1 0x00009068 framed"),
        "{shown}"
    );
    assert!(
        stderr.contains(
            "the return address at 0xffb00f0c, which cannot be read: not in any --memory"
        ),
        "{stderr}"
    );
    let moved = format!("{case}@-0x1000");
    let output = meshscope(&["symbols", "backtrace", "--elf", &moved, "--reg", "pc=0x8050"]);
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("#0 0x00008050 leaf"));
}

#[test]
fn symbols_backtrace_says_what_it_cannot_use() {
    let case = image("../cases/images/unwind.elf");
    for (option, value, words) in [
        ("--reg", "sp", "'sp' is not <register>=<value>"),
        ("--reg", "x32=1", "no register 'x32'"),
        ("--reg", "sp=top", "'top' is not a number"),
        ("--reg", "sp=0x1_0000_0000", "32 bits"),
        ("--memory", "stack.bin", "'stack.bin' is not <file>@<address>"),
        ("--memory", "/nonexistent@0xffb00000", "/nonexistent: No such file"),
    ] {
        refuses(&["symbols", "backtrace", "--elf", &case, option, value], 2, &[words]);
    }
    refuses(
        &["symbols", "backtrace", "--elf", &case, "--reg", "sp=1", "--reg", "sp=2"],
        2,
        &["given twice"],
    );
    refuses(
        &["symbols", "backtrace", "--elf", "/nonexistent.elf@16"],
        2,
        &["/nonexistent.elf: No such"],
    );
    refuses(&["symbols", "backtrace", "--reg", "pc=0"], 2, &["--elf"]);
}

/// A recording, kept as long as the folder.
fn recorded(name: &str) -> Scratch {
    let scratch = Scratch::new(name, b"");
    recording::write(&scratch.0);
    scratch
}

#[test]
fn an_unattended_watch_ends_at_the_first_finding_and_records_it() {
    let scratch = Scratch::new("night.mcap", b"");
    refuses(&["why", "--record", scratch.path()], 2, &["--watch"]);
    refuses(&["why", "--watch", "--record", scratch.path()], 2, &["exists already"]);
    std::fs::remove_file(&scratch.0).unwrap();
    refuses(&["why", "--watch", "--record", "/nowhere/x.mcap"], 2, &["/nowhere/x.mcap: No such"]);
    let sick = "emulator:n300,fault=link:0.8:down@25ms";
    let arguments = ["why", "--target", sick, "--for", "6ms", "--watch", "--record"];
    let watched = meshscope(&[&arguments[..], &[scratch.path()]].concat());
    let (page, says) = (String::from_utf8(watched.stdout.clone()).unwrap(), stderr(&watched));
    assert_eq!(watched.status.code(), Some(1), "{says}");
    assert!(page.contains("1. link-down") && page.contains("link 0:e8-1:e0: it is down"), "{page}");
    let states: Vec<&str> = says
        .lines()
        .filter_map(|line| line.split_once("watched for"))
        .map(|(_, rest)| rest.split_once(": ").unwrap().1)
        .collect();
    assert_eq!(states, ["healthy", "fault"], "{says}");
    // What was watched before it was found is recorded too.
    assert!(says.contains("night.mcap: 10 moments"), "{says}");
    refuses(&["why", "--target", scratch.path(), "--watch"], 2, &["is a recording"]);
    let replayed = meshscope(&["why", "--target", scratch.path(), "--for", "6ms"]);
    let page = String::from_utf8(replayed.stdout).unwrap();
    assert!(page.contains("1. link-down"), "{page}");
}

#[test]
fn a_cause_is_sampled_where_program_counters_may_be_read() {
    let sick = "emulator:n300,fault=core:0.e8:stuck@12ms,at=14ms";
    let judged = meshscope(&["why", "--target", sick, "--for", "6ms"]);
    let page = String::from_utf8(judged.stdout).unwrap();
    let line = "0:9-6:erisc program counter = 64 of 64 samples: ";
    assert!(page.contains("1. core-stuck") && page.contains(line), "{page}");
}

#[test]
fn the_verbs_keep_their_promises_on_a_recording() {
    let file = recorded("promises.mcap");
    let verb = |arguments: &[&str]| {
        let output = meshscope(&[&["--json", "--target", file.path()], arguments].concat());
        // Nearly nothing was recorded: partial.
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let mesh = verb(&["mesh"]);
    assert_eq!(mesh["chips"][1]["id"], 1);
    assert_eq!(mesh["chips"][1]["coord"], json!([1, 0, 0, 0]));
    assert_eq!(
        (&mesh["chips"][0]["pcie"], &mesh["chips"][1]["pcie"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(mesh["links"][1]["a"], json!({"chip": 0, "channel": 9}));
    assert_eq!(mesh["links"][1]["b"], json!({"chip": 1, "channel": 1}));
    assert_eq!(mesh["links"][1]["state"], "unread");
    assert_eq!(mesh["gaps"][0]["reason"], "not_recorded");
    assert!(mesh["gaps"][0]["tile"].is_array() && mesh["problems"].is_array());

    let links = verb(&["links"]);
    assert_eq!(links["links"][0]["ends"][0]["tile"], json!([9, 6]));
    assert_eq!(links["links"][0]["ends"][1]["train_status"], Value::Null, "unread is never 0");
    assert_eq!(links["links"][0]["ends"][1]["missing"]["train_status"]["reason"], "not_recorded");

    let cores = verb(&["cores", "0:e8"]);
    assert_eq!(cores["cores"].as_array().unwrap().len(), 1);
    let core = &cores["cores"][0];
    assert_eq!((&core["chip"], &core["tile"]), (&json!(0), &json!([9, 6])));
    assert_eq!(core["core"], "erisc");
    assert_eq!(core["heartbeat"], recording::BEAT);
    assert_eq!(core["waypoint"], Value::Null);
    assert!(core["missing"]["waypoint"]["reason"].is_string());
}

#[test]
fn read_gives_bytes_or_says_why_not() {
    let file = recorded("read.mcap");
    let target = ["--target", file.path()];
    let read = |arguments: &[&str]| meshscope(&[&target, arguments].concat());
    let output = read(&["read", "0:9-6:0x1c", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let bytes = json!({"schema": 1, "chip": 0, "tile": [9, 6], "addr": 0x1c, "bytes": "3412cdab"});
    assert_eq!(answer, bytes);
    let text = String::from_utf8(read(&["read", "0:9-6:28"]).stdout).unwrap();
    assert!(text.starts_with("0000001c  34 12 cd ab"), "{text}");
    refuses(&[&target[..], &["read", "1:9-6:0x1c"]].concat(), 3, &["1:9-6:0x1c", "not recorded"]);
    refuses(&[&target[..], &["read", "5:9-6:0x1c"]].concat(), 2, &["there is no chip 5"]);
    refuses(&[&target[..], &["cores", "7"]].concat(), 2, &["there is no chip 7"]);
}

#[test]
fn without_a_terminal_verdict_and_mesh_are_printed_once() {
    let file = recorded("once.mcap");
    let output = meshscope(&["--target", file.path()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.starts_with("CHIP  X,Y"), "the verdict is first: {text}");
    assert!(text.contains("\nCHIP  X,Y") && text.contains("?  unread  0:e8  1:e0"), "{text}");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_recording_of_a_recording_shows_the_same() {
    let (file, copy) = (recorded("from.mcap"), Scratch::new("to.mcap", b""));
    refuses(&["--target", file.path(), "record", copy.path()], 2, &["to.mcap", "exists already"]);
    std::fs::remove_file(&copy.0).unwrap();
    let output = meshscope(&["--target", file.path(), "record", copy.path(), "--moments", "2"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let mesh = |target: &str| {
        let output = meshscope(&["--target", target, "links"]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(mesh(file.path()), mesh(copy.path()));
}

#[test]
fn help_goes_to_standard_output() {
    for arguments in
        [&["--help"][..], &["mesh", "--help"], &["symbols", "type", "--help"], &["--version"]]
    {
        let output = meshscope(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_mesh_or_a_file_in_place_of_a_verb_is_the_target() {
    let named = answers(&["n150", "mesh", "--json"]);
    assert_eq!(named, answers(&["--target", "emulator:n150", "mesh", "--json"]));
    let file = recorded("positional");
    let links = |arguments: &[&str]| meshscope(&[arguments, &["links", "--json"]].concat()).stdout;
    assert_eq!(links(&[file.path()]), links(&["--target", file.path()]));
    assert!(!links(&[file.path()]).is_empty());
    refuses(&["/nonexistent/run.mcap"], 2, &["'/nonexistent/run.mcap'"]);
    refuses(&["n150", "--target", "emulator:n300", "mesh"], 2, &["--target"]);
    refuses(&["n150", "lnks"], 2, &["'lnks'", "'links'"]);
}

#[test]
fn a_shell_and_man_know_every_verb() {
    let printed = |arguments: &[&str]| {
        let output = meshscope(arguments);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        String::from_utf8(output.stdout).unwrap()
    };
    let scripts = ["bash", "zsh", "fish"].map(|shell| printed(&["completions", shell]));
    for text in scripts.iter().chain([&printed(&["man"])]) {
        for verb in ["mesh", "who-wrote", "doctor"] {
            let escaped = verb.replace('-', "\\-");
            assert!(text.contains(verb) || text.contains(&escaped), "{verb}: {text}");
        }
    }
    assert!(printed(&["man", "run"]).contains(".TH meshscope-run"), "{}", printed(&["man", "run"]));
    refuses(&["man", "nothing"], 2, &["nothing"]);
    refuses(&["completions", "cmd.exe"], 2, &["cmd.exe", "bash"]);
}

#[test]
fn every_demo_has_a_target() {
    let list = meshscope(&["demo"]);
    let list = String::from_utf8(list.stdout).unwrap();
    let names: Vec<_> = list.lines().skip(1).filter_map(|row| row.split(' ').next()).collect();
    assert!(names.len() >= 5, "{list}");
    for name in names {
        let target = meshscope(&["demo", name, "--print"]);
        let target = String::from_utf8(target.stdout).unwrap();
        assert!(probe::spec::TargetSpec::parse(target.trim()).is_ok(), "{name}: {target}");
    }
    refuses(&["demo", "nothing"], 2, &["`nothing`", "mux-starvation"]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let app = image("erisc_app.elf");
    for arguments in [&["--help"][..], &["symbols", "type", "mailboxes_t", "--elf", &app]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        let output =
            command.args(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn write_says_what_stood_there_and_keeps_a_log() {
    let log = Scratch::new("audit.jsonl", b"");
    let write = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", "emulator:n300,run=idle", "write"]).args(arguments);
        command.env("MESHSCOPE_AUDIT_LOG", log.path()).stdin(Stdio::null()).output().unwrap()
    };
    let output = write(&["1:1-2:0x20001", "--bytes", "aabbcc", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let promised = json!({"schema": 1, "chip": 1, "tile": [1, 2], "addr": 0x2_0001, "old": "000000", "new": "aabbcc",
        "missing": {}});
    assert_eq!(answer, promised);
    let output = write(&["0:1-2:0x20000", "0x12345678", "9"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout, "0:1-2:0x20000  old 0x00000000 0x00000000  new 0x12345678 0x00000009\n");
    let lines = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(lines.lines().count(), 4, "bringing the mesh up is no command: {lines}");
    let begins = |line: &&str| line.contains("\"command\":\"write\"");
    assert_eq!(lines.lines().step_by(2).filter(begins).count(), 2, "{lines}");
}

#[test]
fn impossible_writes_are_refused() {
    let target = "socket:/nonexistent/meshscope";
    let write = |arguments: &[&str], words: &[&str]| {
        refuses(&[&["--target", target, "write"], arguments].concat(), 2, words);
    };
    write(&["0:9-6:0x100"], &["<VALUE>"]);
    write(&["0:9-6:0x100", "1", "--bytes", "aa"], &["--bytes"]);
    write(&["0:9-6:0x100", "0x100000000"], &["32 bits"]);
    write(&["0:9-6:0x3fffe", "1"], &["ends at 0x40000"]);
    write(&["0:9-6:0x40000", "1"], &["l1 ends at 0x40000"]);
    write(&["0:9-6:0xffb20101", "--bytes", "aa"], &["aligned 4-byte words"]);
    let file = recorded("unwritten.mcap");
    refuses(&["--target", file.path(), "write", "0:9-6:0x100", "1"], 5, &["recording"]);
}

#[test]
fn the_links_between_two_chips_are_a_line() {
    let torus =
        ["--target", "emulator:galaxy,run=idle", "mesh", "--expect", "galaxy,cabling=torus"];
    let text = String::from_utf8(meshscope(&torus).stdout).unwrap();
    let missing: Vec<_> = text.lines().filter(|line| line.starts_with("missing-link")).collect();
    // The wraps of eight rows and of four columns, four links each, and a line for all of an axis.
    assert_eq!(missing.len(), 2 + 12, "{text}");
    let row = "missing-link  0:e0,e1,e2,e3 to 3:e0,e1,e2,e3 (4 links)";
    assert!(missing.contains(&row), "{text}");
    let json = meshscope(&[&["--json"], &torus[..]].concat()).stdout;
    let found: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(found["differences"].as_array().unwrap().len(), 48, "each link is one for scripts");
    let down = "emulator:t3000,run=idle,fault=link:0.6:down,fault=link:0.7:down";
    for (target, expected, says) in [
        (down, "t3000", "0:e6,e7 to 2:e6,e7 (2 links)  it is down"),
        ("emulator:n300,run=idle", "t3000", "missing chip 1:e14,e15 (2 links)"),
    ] {
        let words = ["--target", target, "check", "--for", "2ms", "--expect", expected];
        let text = String::from_utf8(meshscope(&words).stdout).unwrap();
        assert!(text.contains(says), "{target}: {text}");
    }
}

/// The letters in the sources below a folder, but for chips that are no Wormhole.
fn waypoints(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy();
        if ["tt-2xx", "quasar", "cases", "images"].contains(&&*name) || entry.is_symlink() {
            continue;
        }
        if entry.is_dir() {
            waypoints(&entry, found);
        } else if [".h", ".hpp", ".cpp", ".cc", ".inl"].iter().any(|end| name.ends_with(end)) {
            let text = fs::read(&entry).unwrap();
            let text = String::from_utf8_lossy(&text);
            let codes = text.split("WAYPOINT(\"").skip(1).filter_map(|rest| rest.split('"').next());
            found.extend(codes.map(str::to_owned));
        }
    }
}

#[test]
fn every_waypoint_is_explained() {
    let mut codes = BTreeSet::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/device");
    waypoints(&own, &mut codes);
    // The example of the macro.
    assert!(codes.remove("ABCD") && codes.len() > 60, "{codes:?}");
    match std::env::var_os("MESHSCOPE_TT_METAL_ELFS") {
        Some(package) => waypoints(Path::new(&package), &mut codes),
        None => println!("skipped tt-metal: MESHSCOPE_TT_METAL_ELFS is not set"),
    }
    let all = meshscope(&["explain", "--json"]);
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    let all = all["explanations"].as_array().unwrap().iter();
    let known = all.filter_map(|it| it["waypoints"].as_array()).flatten();
    let known: BTreeSet<_> = known.map(|code| code.as_str().unwrap().to_owned()).collect();
    assert_eq!(codes.difference(&known).collect::<Vec<_>>(), [&""; 0]);
    let text = |name: &str| String::from_utf8(meshscope(&["explain", name]).stdout).unwrap();
    let waits = "waits for a free slot in the next stage: mux or router";
    assert!(text("FWSW").starts_with(&format!("FWSW\n\n{waits}")), "{}", text("FWSW"));
    assert!(text("FWSD").starts_with(&format!("FWSD\n\nthe end of FWSW: {waits}")));
    let stages = text("connection");
    let heads = stages.lines().filter_map(|line| line.split_once(": "));
    assert!(heads.into_iter().all(|(name, meaning)| name != meaning), "{stages}");
    assert_eq!(stages.matches("\nsends\n").count(), 1, "{stages}");
    let page = meshscope(&["help", "symbols", "backtrace"]).stdout;
    assert!(String::from_utf8(page).unwrap().contains("`debug` and `gdb` read them"));
}

#[test]
fn a_mesh_is_compared_with_a_descriptor() {
    let n300 = layouts::ClusterDescriptor::shipped("n300").unwrap().unwrap().to_yaml();
    let code = |output: &Output| output.status.code();
    let compared = |expected: &str| {
        let target = "emulator:n300,run=idle";
        meshscope(&["--target", target, "mesh", "--json", "--expect", expected])
    };
    let kinds = |output: &Output| {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = found["differences"].as_array().unwrap().clone();
        all.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let same = compared("n300");
    assert_eq!((code(&same), kinds(&same).len()), (Some(0), 0));
    let larger = compared("t3000");
    // No board of the descriptor is in the place of this one.
    assert_eq!((code(&larger), kinds(&larger).len()), (Some(1), 6 + 18 + 2));
    // `check` finds the same, and `explain` knows each.
    let target = ["--target", "emulator:n300,run=idle", "check", "--json", "--for", "2ms"];
    let checked = meshscope(&[&target[..], &["--expect", "t3000"]].concat());
    let found: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let names: Vec<_> = found["conditions"].as_array().unwrap().iter().collect();
    assert_eq!((code(&checked), names.len()), (Some(1), 6 + 18 + 2), "{found}");
    for name in ["missing-chip", "missing-link", "moved-chip"] {
        assert!(names.iter().any(|it| it["condition"] == name && it["place"] == "mesh"), "{found}");
        assert_eq!(code(&meshscope(&["explain", name])), Some(0));
    }
    // Without unique ids coordinates are compared all the same.
    let (places, rest) = n300.split_once("chip_unique_ids:").unwrap();
    let (_, links) = rest.split_once("ethernet_connections:").unwrap();
    let unnumbered = format!("{places}ethernet_connections:{links}");
    let elsewhere = unnumbered.replacen("1: [1, 0, 0, 0]", "1: [5, 5, 5, 5]", 1);
    assert_ne!(elsewhere, unnumbered, "{n300}");
    let elsewhere = Scratch::new("elsewhere.yaml", elsewhere.as_bytes());
    let moved = compared(elsewhere.path());
    assert_eq!((code(&moved), kinds(&moved)), (Some(1), vec!["moved-chip".to_owned()]));
    // The two cables swapped, by a descriptor.
    let crossed = n300.replacen("chan: 0", "chan: 7", 1).replacen("chan: 1}", "chan: 0}", 1);
    let crossed =
        Scratch::new("crossed.yaml", crossed.replacen("chan: 7", "chan: 1", 1).as_bytes());
    let swapped = compared(crossed.path());
    assert_eq!((code(&swapped), kinds(&swapped)), (Some(1), vec!["swapped-link".into(); 2]));
    let torn = Scratch::new("torn.yaml", &n300.as_bytes()[..200]);
    let idle = ["--target", "emulator:n300,run=idle", "mesh", "--expect"];
    let with = |expected| [&idle[..], &[expected]].concat();
    refuses(&with("/nonexistent.yaml"), 2, &["/nonexistent.yaml", "No such file"]);
    refuses(&with("n9"), 2, &["no mesh is called n9"]);
    refuses(&with(torn.path()), 2, &["torn.yaml"]);
}

#[test]
fn a_mesh_is_printed_as_a_descriptor() {
    let mesh = |target: &str, rest: &[&str]| {
        let output = meshscope(&[&["--target", target, "mesh"], rest].concat());
        assert_eq!(output.status.code(), Some(0), "{target} {rest:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let n300 = "emulator:n300,run=idle";
    let printed = Scratch::new("printed.yaml", mesh(n300, &["--descriptor"]).as_bytes());
    assert!(mesh(n300, &["--expect", printed.path()]).contains("describes it"));
    let again = format!("emulator:{},run=idle", printed.path());
    assert_eq!(mesh(&again, &[]), mesh(n300, &[]));
    refuses(
        &["--target", n300, "mesh", "--descriptor", "--json"],
        2,
        &["--descriptor prints the format of UMD"],
    );
    refuses(&["mesh", "--descriptor", "--expect", "n300"], 2, &["cannot be used with"]);
    // As a mesh graph it reads back as itself, and is the machine.
    let t3000 = "emulator:t3000,run=idle";
    let graph = mesh(t3000, &["--descriptor", "mgd"]);
    let printed = Scratch::new("printed.textproto", graph.as_bytes());
    assert!(mesh(t3000, &["--expect", printed.path()]).contains("describes it"));
    let again = format!("emulator:{},run=idle", printed.path());
    assert_eq!(mesh(&again, &["--descriptor=mgd"]), graph);
    refuses(&["mesh", "--descriptor", "fsd"], 2, &["invalid value 'fsd' for '--descriptor"]);
    let lost = "emulator:t3000,run=idle,fault=link:4.0:down";
    let output = meshscope(&["--target", lost, "mesh", "--descriptor=mgd"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), graph, "a link that is down was found");
}

#[test]
fn a_descriptor_of_hosts_opens_as_an_emulated_mesh() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../layouts/descriptors/tests/data");
    for name in [
        "n300_fsd.textproto",
        "n300_gsd.yaml",
        "t3000_psd.textproto",
        "dual_t3000_cabling.textproto",
    ] {
        let file = format!("{data}/{name}");
        let target = format!("emulator:{file},run=idle");
        let output = meshscope(&["--target", &target, "mesh", "--expect", &file]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("describes it"), "{name}: {text}");
    }
    let grouping = Scratch::new("grouping.textproto", b"groupings { }");
    let target = format!("emulator:{}", grouping.path());
    refuses(
        &["--target", &target, "mesh"],
        2,
        &["this is a physical grouping descriptor of tt-metal"],
    );
}

#[test]
fn what_is_missing_as_a_whole_is_a_line_and_a_key() {
    let psd = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../layouts/descriptors/tests/data/t3000_psd.textproto"
    );
    let output =
        meshscope(&["--target", "emulator:n300,run=idle", "mesh", "--expect", psd, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let all: Vec<_> = answer["summary"].as_array().unwrap().iter().collect();
    let lines = all.iter().filter(|it| it["kind"] == "missing-chip");
    let lines: Vec<_> = lines.map(|it| it["sentence"].as_str().unwrap()).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines.iter().all(|it| it.contains(" tray ") && it.contains(": none of its 2 chips and "))
    );
}

#[test]
fn a_dry_run_prints_accesses_and_makes_none() {
    let target = "emulator:n300,run=idle";
    let dry = |arguments: &[&str]| {
        answers(&[&["--target", target, "--dry-run", "--json"], arguments].concat())
    };
    let answer = dry(&["read", "1:1-2:0x20000", "64"]);
    let access = json!({"chip": 1, "tile": [1, 2], "addr": 0x2_0000, "len": 64, "route": "queue",
        "write": false, "transactions": answer["transactions"]});
    assert_eq!(answer["accesses"], json!([access]));
    assert!(answer["discovery_transactions"].as_u64().unwrap() > 10);
    let answer = dry(&["write", "0:1-2:0x20001", "--bytes", "aa"]);
    let routes = |key: &str| {
        answer["accesses"].as_array().unwrap().iter().map(|a| a[key].clone()).collect::<Vec<_>>()
    };
    assert_eq!(routes("write"), [json!(false), json!(true)]);
    assert_eq!(routes("route"), vec![json!("window"); 2]);
    for verb in ["mesh", "cores", "links", "queues"] {
        assert!(dry(&[verb])["accesses"].as_array().unwrap().len() > 16, "{verb}");
    }
    refuses(
        &["--target", target, "--dry-run", "record", "/nonexistent/x.mcap"],
        2,
        &["--dry-run is for"],
    );
}
