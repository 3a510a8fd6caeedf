//! Tasks of somebody who sees the screens for the first time: at most six keys each, and what they
//! show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::clean::kill_a_run;
use crate::pseudo::Terminal;
use crate::scratch::Scratch;
use crate::served::Server;
use portable_pty::CommandBuilder;
use std::path::Path;

/// Starts the screens on a target, in a folder of the test.
fn start(target: &str, folder: &Scratch) -> Terminal {
    let recording = format!("{}/../recordings/library/{target}", env!("CARGO_MANIFEST_DIR"));
    let target = if Path::new(target).extension().is_some_and(|it| it == "mcap") {
        recording
    } else {
        target.to_owned()
    };
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", &target, "--allow", "write,launch,reset"]);
    command.cwd(folder.path(""));
    command.env("XDG_STATE_HOME", folder.path(""));
    command.env("XDG_CONFIG_HOME", folder.path(""));
    Terminal::start(&command, folder.path("terminal"), 120, 40)
}

/// Does a task: what is there before it, the keys, and what each of them shows.
fn does(target: &str, before: &str, steps: &[(&str, &[&str])]) {
    follows(target, ("", before), steps);
}

/// The same after a command that was typed before.
fn follows(target: &str, (typed, before): (&str, &str), steps: &[(&str, &[&str])]) {
    let keys: String = steps.iter().map(|(keys, _)| *keys).collect();
    assert!(keys.chars().count() <= 6, "{keys:?}");
    let folder = Scratch::new(&format!("newcomer-{}", target.replace([':', ',', '=', '/'], "-")));
    let mut terminal = start(target, &folder);
    terminal.shows(" links: ");
    terminal.press(typed);
    terminal.shows(before);
    for (keys, shown) in steps {
        terminal.press(keys);
        shown.iter().for_each(|text| terminal.shows(text));
    }
    terminal.press("q");
}

#[test]
fn the_slow_link() {
    does("link_slow.mcap", "links: 2", &[("", &["slow-link", "H held     0:e9", "0:e9 to 1:e1"])]);
}

#[test]
fn which_core_holds_the_mux() {
    let root = "slot of the router, channel 0";
    does("mux_starvation.mcap", "mux-starvation at core 0:4-6:erisc", &[("5", &[root])]);
}

#[test]
fn what_runs_on_an_ethernet_core() {
    does("without_dateline.mcap", "circular-wait", &[(":3:e8\r", &["3 Core 3:", "images "])]);
}

#[test]
fn who_sent_the_oldest_packet_of_the_mesh() {
    does("without_dateline.mcap", "circular-wait", &[("5", &["oldest packet: #", " of M0D"])]);
}

#[test]
fn which_cable() {
    let n300 = ["0:e9 to 1:e1", "trace on the board"];
    does("link_flaps.mcap", "links: 2", &[("\t", &n300)]);
    does(
        "without_dateline.mcap",
        "circular-wait",
        &[("\t", &["0:e9 to 4:e1"]), ("j", &["QSFP cage"])],
    );
}

#[test]
fn when_a_word_changed_and_who_wrote_it() {
    let steps: &[(&str, &[&str])] =
        &[("\r\r", &["words: "]), ("{", &[" PAST "]), ("W", &["written at "])];
    does("emulator:n300", "links: 2", steps);
}

#[test]
fn a_handshake_is_stepped() {
    let run = (":run all-gather -b 64K --pause-at handshake\r", "paused: ");
    let steps: &[(&str, &[&str])] = &[("", &["stage: not begun"]), ("s", &["stage: offer "])];
    follows("emulator:n300,run=idle", run, steps);
}

#[test]
fn an_all_gather_is_paused_and_resumed() {
    let run = (":run all-gather -b 1M --delay 20ms\r", "moves data");
    let steps: &[(&str, &[&str])] = &[("p", &["paused: ", " PAUSED "]), ("p", &["resumed: "])];
    follows("emulator:n300,run=idle", run, steps);
}

#[test]
fn what_a_killed_run_left_is_torn_down() {
    let server = Server::of("emulator:n300,run=idle", "newcomer");
    kill_a_run(&server);
    let target = format!("socket:{}", server.socket.display());
    let left = "still runs; X tears it down";
    does(&target, left, &[("X", &[":clean"]), ("\r", &["clean: the mesh is idle: "])]);
}

#[test]
fn what_was_seen_is_saved_and_handed_over() {
    let folder = Scratch::new("newcomer-bundle");
    for target in ["link_slow.mcap", "emulator:n300"] {
        let mut terminal = start(target, &folder);
        terminal.shows("links: 2");
        if target.starts_with("emulator") {
            terminal.shows("healthy");
        }
        terminal.press("b");
        terminal.shows(":bundle bundle-");
        terminal.press("\r");
        terminal.shows("README.txt says what was left out");
        terminal.press("q");
        terminal.ends();
        let names = folder.names();
        let archives = names.iter().filter(|name| name.ends_with(".tar.gz"));
        let left =
            names.iter().filter(|name| Path::new(name).extension().is_some_and(|it| it == "mcap"));
        assert_eq!((archives.count(), left.count()), (1, 0), "{names:?}");
        names.iter().filter(|name| name.ends_with(".tar.gz")).for_each(|name| {
            std::fs::remove_file(folder.path(name)).unwrap();
        });
    }
}

#[test]
fn keys_are_those_of_the_person_and_lines_are_recalled_in_the_next_session() {
    let folder = Scratch::new("newcomer-settings");
    let settings = folder.path("meshscope/config.toml");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "theme = \"light\"\n[keys]\nwhy = \"V\"\n").unwrap();
    let mut terminal = start("link_slow.mcap", &folder);
    terminal.shows("why 1 of 1 (V opens it)");
    terminal.press("V");
    terminal.shows("slow-link: link 0:e9-1:e1");
    terminal.press(":gaps\r");
    terminal.shows("every requested range was read");
    terminal.press("q");
    terminal.ends();
    std::fs::write(&settings, "[keys]\nwhat = \"V\"\n").unwrap();
    let mut terminal = start("link_slow.mcap", &folder);
    terminal.shows("config.toml:2:1: nothing is named `what`");
    terminal.press(":\x1b[A");
    terminal.shows(":gaps");
    terminal.press("\r");
    terminal.shows("every requested range was read");
    terminal.press("q");
    terminal.ends();
    std::fs::write(&settings, b"theme = \xff").unwrap();
    let mut terminal = start("link_slow.mcap", &folder);
    terminal.shows("UTF-8");
    terminal.press("q");
    terminal.ends();
}
