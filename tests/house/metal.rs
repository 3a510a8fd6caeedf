//! The core screen on tt-metal's own firmware: it shows of a running `erisc.elf` what the debug
//! information of that file and the bytes in L1 contain. The addresses are those of tt-metal.md 1.1
//! and tt-metal.md 3.1, read with gdb.
//!
//! Runs if `MESHSCOPE_TT_METAL_ELFS` names the folder of the unpacked Python package.

use crate::pictures::picture_of;
use diagnosis::Waypoint;
use machine::target::Allow;
use probe::session::Session;
use std::path::PathBuf;
use transport::ttsim::HostCommand;

fn session() -> Option<Session> {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return None;
    };
    let root =
        std::path::PathBuf::from(root).join("ttnn/tt_metal/pre-compiled/1003041148146844629");
    let words = format!("emulator:n300,firmware={}", root.display());
    Some(Session::open(&words, &HostCommand::default(), Allow::default()).unwrap())
}

/// Returns the lines of the core screen of 0:e8 after these keys, with runs of blanks joined.
fn lines(session: &mut Session, keys: &str, size: (u16, u16)) -> Vec<String> {
    let picture = picture_of(session, None, &format!("\r\r{keys}"), size);
    picture.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn shows(lines: &[String], part: &str) {
    assert!(lines.iter().any(|line| line.contains(part)), "{part}:\n{}", lines.join("\n"));
}

#[test]
fn the_core_screen_decodes_the_wheels_erisc() {
    let Some(mut session) = session() else { return };
    for size in [(80, 24), (160, 48)] {
        let start = lines(&mut session, "", size);
        shows(&start, "state ◌ never started waypoint not built in");
        shows(&start, "go INIT");
        shows(&start, "images erisc_base verified, erisc verified");
        shows(&start, "launch_msg_rd_ptr 0x3dd5c 0x00000000");
        for (filter, shown) in [
            ("signal", "mailboxes.go_messages[0].signal 0x3e1e3 0x40 64"),
            ("magic", "mailboxes.core_info.core_magic_num"),
            ("magic", "0x3e504 ACTIVE_ETH 0xc63050d1"),
            ("channels[7].b", "erisc_info.channels[7].bytes_sent 0x3dcb0 0x00000000"),
            ("debug_way", "'XXXX' {88, 88, 88, 88}"),
            ("routing_en", "routing_info.routing_enabled 0x3dc00 0x00000001"),
        ] {
            shows(&lines(&mut session, &format!("/{filter}\r"), size), shown);
        }
    }
}

/// A program counter in one of these functions tells what the waypoint in it would tell.
#[test]
fn the_functions_that_wait_have_their_waypoints() {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from) else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return;
    };
    let root = root.join("ttnn/tt_metal");
    let mut folders: Vec<PathBuf> = [
        "hw/inc",
        "hw/firmware/src/tt-1xx",
        "impl/dispatch/kernels",
        "fabric/hw/inc",
        "hw/ckernels/wormhole_b0",
    ]
    .map(|folder| root.join(folder))
    .to_vec();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(path) {
                sources.push(text);
            }
        }
    }
    for (function, waypoint) in diagnosis::function::all() {
        assert_eq!(diagnosis::function::waypoint(function), Some(waypoint), "{function} twice");
        assert!(!Waypoint::named(waypoint).is_empty(), "{waypoint} is not explained");
        let has_both = |text: &String| {
            let begins = text.find(&format!("{function}("));
            let sets = format!("WAYPOINT(\"{waypoint}\")");
            // The wait of a reader of pages is in what it calls.
            begins.is_some_and(|at| {
                let of_compute = function.starts_with("llk_") && !text.contains("WAYPOINT");
                text[at..].contains(&sets)
                    || waypoint == "UAPW" && text.contains(&sets)
                    || of_compute
            })
        };
        assert!(sources.iter().any(has_both), "{function} has no {waypoint}");
    }
}

#[test]
fn members_fold_and_large_ones_are_read_when_they_are_selected() {
    let Some(mut session) = session() else { return };
    let size = (80, 24);
    // The first row is erisc_info, the sixth its channels.
    let unfolded = lines(&mut session, "jjjjjl", size);
    shows(&unfolded, "▾ channels 0x3dc40");
    shows(&unfolded, "▹ channels[0] 0x3dc40 {bytes_sent = 0, receiver_ack =");
    let folded = lines(&mut session, "jjjjjlh", size);
    assert!(!folded.iter().any(|line| line.contains("{bytes_sent")));
    // From a member to its parent.
    shows(&lines(&mut session, "jjjhh", size), "words: ");
    assert!(!lines(&mut session, "jjjhh", size).iter().any(|line| line.contains("unused_arg0")));
    let blob = lines(&mut session, "/profiler.buffer\r", size);
    shows(&blob, "mailboxes.profiler.buffer[0].data 0x3e620 {0 <repeats 512 times>}");
}

#[test]
fn a_kernel_that_tt_metals_firmware_runs_out_of_instruction_ram() {
    let Some(mut session) = session() else { return };
    let place =
        machine::place::Place { chip: layouts::ChipId(0), tile: layouts::NocXy { x: 9, y: 6 } };
    let target = session.target();
    let mut write = |at: u64, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        target.write(place.at(at), &bytes).unwrap();
    };
    // lui t0, 0x18; lui t1, 0xc; sw t1, 0(t0); ret
    write(0xA840, &[0x0001_82B7, 0x0000_C337, 0x0062_A023, 0x0000_8067]);
    write(0x3_DD60 + 112, &[1]);
    write(0x3_E1E0, &[0x8000_0000]);
    target.pass(50_000).unwrap();
    let done = lines(&mut session, "", (80, 24));
    shows(&done, "state ■ ended");
    shows(&done, "go DONE");
    shows(&lines(&mut session, "/enables\r", (80, 24)), "kernel_config.en");
    let kept = picture_of(&mut session, None, "\r\r:0x18000\r", (80, 24));
    assert!(kept.contains("018000  00c00000"), "{kept}");
}
