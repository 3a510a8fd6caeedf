//! Targets on other hosts. A script stands in for ssh: it starts the agent on this host, unless a file says that
//! the other one is down.

use crate::common::stderr;
use crate::print::wheel;
use crate::scratch::{Scratch, meshscope, meshscope_command};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Two n300 of two hosts, joined by one cable between their far chips.
const PAIR: &str = "\
ChipSpec:
  left: {E: [8, 9]}
  right: {W: [0, 1], S: [6]}
Board:
  n300: {type: n300, chips: [[left, right]], pcie: [0]}
Host: [anna, berta]
Mesh:
  - {boards: [[n300]], first_board_id: 72058985900941320}
  - {boards: [[n300]], host: 1, first_board_id: 72058985900941330, place: [0, 0, 1, 0]}
Graph:
  - [[0, S0], [1, S0]]
";

/// Writes the script that stands in for ssh; the agent's command is `$1`, its host `$host`.
fn stand_in(folder: &Path, starts: &str) -> PathBuf {
    let script = folder.join("ssh");
    let program = Path::new(env!("CARGO_BIN_EXE_meshscope")).parent().unwrap();
    let text = format!(
        "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift; host=$1; shift; cd {}\n\
         [ -e $host.down ] && {{ echo \"ssh: connect to host $host: No route to host\" >&2; exit 255; }}\n\
         PATH={}:$PATH\necho $$ > $host.pid\n{starts}\n",
        folder.display(),
        program.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    script
}

const EXEC: &str = "exec sh -c \"$1\"";

fn over(ssh: &Path, arguments: &[&str]) -> Command {
    let mut command = meshscope_command();
    command.env("MESHSCOPE_SSH", ssh).args(arguments);
    command
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_agent_reads_what_the_program_would_read_itself() {
    let scratch = Scratch::new("agent");
    let ssh = stand_in(&scratch.path(""), EXEC);
    let there = over(&ssh, &["--target", "ssh://anna/emulator:n300", "mesh", "--json"]);
    let there = json(&{ there }.output().unwrap());
    let here = json(&meshscope(&["--target", "emulator:n300", "mesh", "--json"]));
    for key in ["chips", "gaps", "problems"] {
        assert_eq!(there[key], here[key], "{key}");
    }
    let links = |mesh: &Value| {
        let link = |it: &Value| [&it["a"], &it["b"], &it["state"]].map(Clone::clone);
        mesh["links"].as_array().unwrap().iter().map(link).collect::<Vec<_>>()
    };
    assert_eq!(links(&there), links(&here));
}

/// The requests in what was sent to an agent, by name.
fn requests(sent: &[u8]) -> Vec<String> {
    let (mut rest, mut names) = (sent, Vec::new());
    while let Some((lengths, after)) = rest.split_first_chunk::<8>() {
        let length = |of: &[u8]| u32::from_le_bytes(of.try_into().unwrap()) as usize;
        let (message, after) = after.split_at(length(&lengths[..4]));
        rest = &after[length(&lengths[4..])..];
        // A map of one entry, or a word.
        let word = if message[0] == 0x81 { &message[1..] } else { message };
        let len = usize::from(word[0] & 0x1F);
        names.push(String::from_utf8(word[1..=len].to_vec()).unwrap());
    }
    names
}

#[test]
fn a_snapshot_is_two_round_trips_at_most() {
    let scratch = Scratch::new("trips");
    let ssh = stand_in(&scratch.path(""), "tee $host.requests | sh -c \"$1\"");
    let asked = |verb: &[&str]| {
        let target = ["--target", "ssh://anna/emulator:t3000,run=idle"];
        let output = over(&ssh, &[&target[..], verb].concat()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        requests(&std::fs::read(scratch.path("anna.requests")).unwrap())
    };
    // The first read finds what was launched.
    assert_eq!(asked(&["links"]), ["Hello", "Read", "Read"]);
    assert_eq!(asked(&["mesh"]), ["Hello", "Read", "Read"]);
    // Each host looks itself for tiles that owe an answer.
    let why = asked(&["why", "--for", "6ms"]);
    assert_eq!(why[..2], ["Hello", "LeaveSilentAlone"]);
    assert!(why.len() <= 16, "{why:?}");
}

#[test]
fn a_tile_that_owes_an_answer_is_left_alone_on_its_host() {
    let scratch = Scratch::new("owes");
    let ssh = stand_in(&scratch.path(""), EXEC);
    let (_serve, sockets) = serve(&scratch, "emulator:n300,run=idle", &["a.sock"]);
    let target = format!("socket:{}", sockets[0]);
    // 0:1-2 reads from an address that 3-3 does not have (wormhole.md 3.3): targ_lo, targ_mid, ret_lo, ret_mid,
    // ctrl, at_len_be, cmd_ctrl.
    let command = [0x30_0000, 3 << 4 | 3 << 10, 0x5_0000, 1 << 4 | 2 << 10, 0, 64, 1];
    for (at, value) in [0x00, 0x04, 0x0C, 0x10, 0x1C, 0x20, 0x28].into_iter().zip(command) {
        let words = [format!("0:1-2:{:#x}", 0xFFB2_0000_u32 + at), value.to_string()];
        let output =
            meshscope(&["--target", &target, "--allow", "write", "write", &words[0], &words[1]]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let there = format!("ssh://anna/{target}");
    let found =
        json(&over(&ssh, &["--target", &there, "why", "--for", "6ms", "--json"]).output().unwrap());
    let says = "0:3-3 has not answered a request of 0:1-2; it is not read, as that could take the chip along";
    assert!(found.to_string().contains(says), "{found}");
}

/// Serves a mesh at sockets, and returns their paths when it does.
fn serve(scratch: &Scratch, target: &str, sockets: &[&str]) -> (Running, Vec<String>) {
    let path = |name: &&str| scratch.path(name).to_str().unwrap().to_owned();
    let paths: Vec<String> = sockets.iter().map(path).collect();
    let mut serve = meshscope_command();
    serve.args(["serve", target]).args(paths.iter().flat_map(|path| ["--socket", path]));
    let mut serve = Running(serve.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(serve.0.stderr.take().unwrap()).lines();
    let last = paths.last().unwrap();
    assert!(said.any(|line| line.unwrap().ends_with(last)));
    std::thread::spawn(move || said.for_each(drop));
    (serve, paths)
}

#[test]
fn elfs_that_run_on_a_host_are_found_there_and_fetched_once() {
    let Some(wheel) = wheel() else { return };
    let scratch = Scratch::new("elfs");
    let ssh = stand_in(&scratch.path(""), "tee $host.requests | sh -c \"$1\"");
    let mesh = format!("emulator:n150,run=idle,firmware={wheel}");
    let (_serve, sockets) = serve(&scratch, &mesh, &["a.sock"]);
    let images = |target: &str, more: &[&str]| {
        let arguments = ["--target", target, "images", "0:1-2", "--json"];
        let found = json(&over(&ssh, &[&arguments[..], more].concat()).output().unwrap());
        let cores = found["cores"].as_array().unwrap().iter();
        let images = cores.flat_map(|core| core["images"].as_array().unwrap().clone());
        let named = |image: Value| format!("{} {}", image["name"], image["compared_bytes"]);
        images.map(named).collect::<Vec<_>>()
    };
    let here = images(&format!("socket:{}", sockets[0]), &[]);
    assert_eq!(here.len(), 5, "{here:?}");
    let there = format!("ssh://anna/socket:{}", sockets[0]);
    assert_eq!(images(&there, &[]), here);
    let asked = requests(&std::fs::read(scratch.path("anna.requests")).unwrap());
    let of = |name: &str| asked.iter().filter(|it| *it == name).count();
    // Base firmware of five cores of a compute tile, and what runs on the Ethernet tiles.
    assert!(of("Elfs") == 1 && (5..=9).contains(&of("Elf")), "{asked:?}");
    assert_eq!(images(&there, &["--no-find"]), Vec::<String>::new());
    // Who started the firmware is named, with its host.
    let process = |target: &str| {
        let output =
            over(&ssh, &["--target", target, "images", "0:1-2", "--json"]).output().unwrap();
        let mut found = json(&output)["processes"][0].clone();
        let host = found["host"].take();
        (found, host, stderr(&output))
    };
    let (here, host, _) = process(&format!("socket:{}", sockets[0]));
    assert_eq!((host, &here["directories"]), (Value::Null, &serde_json::json!([wheel])));
    let (found, host, said) = process(&there);
    assert_eq!((found, host), (here, "anna".into()));
    assert!(said.contains(") on anna: "), "{said}");
}

#[test]
fn two_hosts_are_one_mesh_which_loses_one_and_finds_it_again() {
    let scratch = Scratch::new("pair");
    let folder = scratch.path("");
    let ssh = stand_in(&folder, EXEC);
    std::fs::write(scratch.path("pair.yaml"), PAIR).unwrap();
    let mesh = format!("emulator:{},run=idle", scratch.path("pair.yaml").display());
    let (_serve, sockets) = serve(&scratch, &mesh, &["a.sock", "b.sock"]);
    let target = format!("ssh://anna/socket:{},ssh://berta/socket:{}", sockets[0], sockets[1]);
    let found = json(&over(&ssh, &["--target", &target, "mesh", "--json"]).output().unwrap());
    assert_eq!(found["chips"].as_array().unwrap().len(), 4);
    assert_eq!(found["problems"], Value::Array(Vec::new()));
    let across = |link: &Value| link["a"]["chip"] == 2 && link["b"]["chip"] == 3;
    assert!(found["links"].as_array().unwrap().iter().any(across), "{}", found["links"]);
    // What is permitted here is permitted there, and nothing else; a mesh that an agent emulates is its own.
    let write = ["--target", &target, "write", "1:1-2:0x30000", "7"];
    let refused = over(&ssh, &write).output().unwrap();
    assert!(stderr(&refused).contains("--allow write"), "{}", stderr(&refused));
    let written = over(&ssh, &[&write[..], &["--allow", "write"]].concat()).output().unwrap();
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let own = ["--target", "ssh://anna/emulator:n150", "write", "0:1-2:0x30000", "7"];
    let written = over(&ssh, &own).output().unwrap();
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let chips = [1, 3];
    loses_one_and_finds_it_again(&scratch, &ssh, &target, &chips);
}

/// Kills the agent of `berta`, which reads these chips, while the mesh is watched.
fn loses_one_and_finds_it_again(scratch: &Scratch, ssh: &Path, target: &str, chips: &[u64]) {
    let verb = ["--target", target, "check", "--for", "100us", "--watch=10us"];
    let mut check = over(ssh, &verb);
    let mut check = Running(check.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let lines = BufReader::new(check.0.stdout.take().unwrap()).lines();
    let mut looks = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let healthy = |look: &Value| look["healthy"] == true;
    let first = looks.next().unwrap();
    assert!(healthy(&first) && first["gaps"] == 0, "{first}");
    std::fs::write(scratch.path("berta.down"), "").unwrap();
    let pid = std::fs::read_to_string(scratch.path("berta.pid")).unwrap();
    assert!(Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
    let gone = |look: &Value| {
        assert!(!healthy(look) || look["gaps"] == 0, "{look}");
        let all = look["conditions"].as_array().unwrap().iter();
        let gone = all.filter(|it| it["condition"] == "chip-gone").cloned();
        let gone: Vec<Value> = gone.collect();
        (gone.len() == chips.len()).then_some(gone)
    };
    let findings = looks.find_map(|look| gone(&look)).unwrap();
    for (finding, chip) in findings.iter().zip(chips) {
        let why = finding["sentence"].as_str().unwrap();
        let says = format!("chip {chip} does not answer: unreachable: host berta: ");
        assert!(why.starts_with(&says), "{why}");
    }
    std::fs::remove_file(scratch.path("berta.down")).unwrap();
    assert!(looks.any(|look| healthy(&look)));
}

#[test]
fn two_galaxies_are_one_mesh_which_loses_one_and_finds_it_again() {
    let scratch = Scratch::new("galaxies");
    let ssh = stand_in(&scratch.path(""), EXEC);
    let (_serve, sockets) = serve(&scratch, "emulator:dual_galaxy,run=idle", &["a.sock", "b.sock"]);
    let target = format!("ssh://anna/socket:{},ssh://berta/socket:{}", sockets[0], sockets[1]);
    let chips: Vec<u64> = (32..64).collect();
    loses_one_and_finds_it_again(&scratch, &ssh, &target, &chips);
    let found = json(&over(&ssh, &["--target", &target, "mesh", "--json"]).output().unwrap());
    assert_eq!(found["chips"].as_array().unwrap().len(), 64);
    let across = |link: &&Value| {
        let side = |end: &str| link[end]["chip"].as_u64().unwrap() < 32;
        side("a") != side("b")
    };
    assert!(found["links"].as_array().unwrap().iter().filter(across).count() > 0);
}

#[test]
fn a_host_that_cannot_be_had_is_one_sentence() {
    let scratch = Scratch::new("hosts");
    let folder = scratch.path("");
    let says = |starts: &str, target: &str| {
        let ssh = stand_in(&folder, starts);
        let output = over(&ssh, &["--target", target, "mesh"]).output().unwrap();
        let text = stderr(&output);
        assert_eq!(text.lines().count(), 1, "{text}");
        (output.status.code().unwrap(), text)
    };
    let denied =
        "printf 'Hello\\nme@anna: Permission denied (publickey,password).\\r\\n' >&2; exit 255";
    let cases = [
        (denied, "ssh://anna", 3, "password); `"),
        (denied, "ssh://anna", 3, "ssh anna` must log in without a question\n"),
        ("exec no-such-meshscope", "ssh://anna", 3, "no-such-meshscope: not found; meshscope must"),
        ("echo Welcome to anna, dear user; sleep 5", "ssh://anna", 3, "is no answer of an agent"),
        ("exit 0", "ssh://anna", 3, "host anna: "),
        (EXEC, "ssh://anna/emulator:nowhere", 3, "host anna: meshscope: emulator:nowhere"),
        (EXEC, "ssh://anna/nonsense", 3, "`nonsense` is not a target"),
        (EXEC, "ssh://-oProxyCommand=true", 2, "`-oProxyCommand=true` is no host"),
        (EXEC, "ssh://anna/x,ssh://", 2, "`` is no host"),
        (EXEC, "ssh://an na", 2, "`an na` is no host"),
    ];
    for (starts, target, code, sentence) in cases {
        let (exit, text) = says(starts, target);
        assert_eq!(exit, code, "{target}: {text}");
        assert!(text.contains(sentence), "{target}: {text}");
    }
    // A target is no more than one word of the shell there.
    let (_, text) = says(EXEC, "ssh://anna/emulator:x';touch owned;'");
    assert!(!scratch.path("owned").exists(), "{text}");
}

#[test]
fn the_hosts_of_a_run_are_those_of_its_files() {
    let scratch = Scratch::new("hostfile");
    let folder = scratch.path("");
    let ssh = stand_in(&folder, EXEC);
    let write = |name: &str, text: &str| {
        let path = scratch.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let hostfile = write("hostfile", "anna slots=1\nberta slots=1\n");
    let bindings = "rank_bindings:\n- {rank: 0, mesh_id: 0}\n- {rank: 1, mesh_id: 1}\n";
    let bindings = write("rank_bindings.yaml", bindings);
    let ask = |file: &str| {
        let asked = ["--hosts", file, "--target", "emulator:n150,run=idle", "links", "--json"];
        over(&ssh, &asked).output().unwrap()
    };
    let text = stderr(&ask(&bindings));
    assert!(text.contains("rankfile: No such file"), "{text}");
    write("rankfile", "rank 0=anna slot=0\nrank 1=berta slot=0\n");
    for file in [&hostfile, &bindings] {
        let found = json(&ask(file));
        let target = "ssh://anna/emulator:n150,run=idle,ssh://berta/emulator:n150,run=idle";
        assert_eq!(found["target"], target);
    }
    for (text, says) in [
        ("anna\nslots 4 of 8\n", ":2: `slots 4 of 8` is no line of a hostfile or rankfile"),
        ("rank_bindings: [4]\n", "odd:1: expected mapping start"),
    ] {
        let output = ask(&write("odd", text));
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(says), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
