//! `launch`: a person's own kernel, on free tiles only, watched and taken away.

use crate::common::stderr;
use crate::pseudo::Terminal;
use portable_pty::CommandBuilder;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const IDLE: &str = "emulator:n300,run=idle";
/// Address, words, iterations, pause, seed and stage of the worker that writes a pattern.
const FOUR: &str = "0x20000,8,4,1000,1,0";
const FOREVER: &str = "0x20000,8,0,1000,1,0";

/// A kernel as a person writes it: it adds two arguments, takes a common one, and spins if the third
/// one says so.
const SUMS: &str = "
volatile unsigned sums[2];
volatile unsigned calls;
extern \"C\" void kernel_main() {
    auto launch = reinterpret_cast<volatile unsigned*>(0x20);
    auto arguments = reinterpret_cast<volatile unsigned*>(launch[0]);
    unsigned common = launch[7] >> 16;
    calls = calls + 1;
    sums[0] = arguments[0] + arguments[1];
    if (common != 0xFFFF) {
        sums[1] = *reinterpret_cast<volatile unsigned*>(launch[0] + common);
    }
    while (arguments[2] != 0) {
    }
}
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn image(name: &str) -> String {
    root().join(format!("firmware/images/{name}.elf")).display().to_string()
}

/// A folder with the audit log, the ELFs and the socket of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("meshscope-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn log(&self) -> PathBuf {
        self.0.join("audit.jsonl")
    }

    fn command(&self, target: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", target]).args(arguments).stdin(Stdio::null());
        command.env("MESHSCOPE_AUDIT_LOG", self.log()).env_remove("MESHSCOPE_ELFS");
        command
    }

    fn launch(&self, target: &str, arguments: &[&str]) -> Output {
        let all = [&["--allow", "launch,write,reset", "launch"], arguments].concat();
        self.command(target, &all).output().unwrap()
    }

    /// Compiles a kernel for this address; none without a compiler.
    fn compile(&self, name: &str, text: &str) -> Option<String> {
        let (source, elf) = (self.0.join("sums.cpp"), self.0.join(name));
        fs::write(&source, SUMS).unwrap();
        let script = format!(
            "SECTIONS {{ .text {text} : {{ *(.text*) }} .data ALIGN(64) : {{ *(.data* .sdata*) }} .bss : {{ *(.bss* .sbss*) }} }}"
        );
        fs::write(self.0.join("kernel.ld"), script).unwrap();
        let mut compiler = Command::new("riscv64-unknown-elf-g++");
        compiler.args(["-march=rv32im", "-mabi=ilp32", "-ffreestanding", "-nostdlib", "-g", "-Os"]);
        compiler
            .args(["-Tkernel.ld", "-Wl,-n,--no-warn-rwx-segments", "-ekernel_main", "-o"])
            .arg(&elf)
            .arg(&source);
        match compiler.current_dir(&self.0).status() {
            Ok(status) => assert!(status.success()),
            Err(error) => {
                println!("skipped: riscv64-unknown-elf-g++: {error}");
                return None;
            }
        }
        Some(elf.display().to_string())
    }

    /// Serves a mesh.
    fn serve(&self, target: &str) -> Served {
        let socket = self.0.join("mesh");
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["serve", target, "--socket"]).arg(&socket);
        let server = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let since = Instant::now();
        while !socket.exists() {
            assert!(since.elapsed() < Duration::from_mins(5), "no {}", socket.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        Served { server, target: format!("socket:{}", socket.display()) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Served {
    server: Child,
    target: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Asserts the exit code and returns what was printed.
fn with_code(output: &Output, code: i32) -> String {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output);
    assert_eq!(output.status.code(), Some(code), "{printed}");
    printed
}

fn refused(folder: &Folder, target: &str, arguments: &[&str], code: i32, says: &str) {
    let printed = with_code(&folder.launch(target, arguments), code);
    assert!(printed.contains(says), "{arguments:?}: {printed}");
    assert!(!folder.log().exists(), "{arguments:?}: something was written");
}

#[test]
fn a_built_in_kernel_is_launched_and_returns() {
    let folder = Folder::new("launch-own");
    let worker = image("tensix_worker");
    let output =
        folder.launch(IDLE, &[&worker, "--on", "0:1-2,1:1-1", "--args", FOUR, "--wait", "--json"]);
    with_code(&output, 0);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["schema"], &answer["kernel"]), (&1.into(), &"tensix_worker".into()));
    for tile in answer["on"].as_array().unwrap() {
        assert_eq!((&tile["outcome"], &tile["core"]), (&"returned".into(), &"brisc".into()));
        let images = tile["seen"]["images"].as_array().unwrap();
        assert!(images.iter().any(|image| image["name"] == "tensix_worker"), "{tile}");
    }
    assert_eq!(answer["on"].as_array().unwrap().len(), 2);
    let log = fs::read_to_string(folder.log()).unwrap();
    assert!(log.starts_with("{\"time_micros\":") && log.contains("launch tensix_worker"), "{log}");
    // Its time is over: it has a termination word.
    let arguments = [&*worker, "--on", "0:1-2", "--args", FOREVER, "--for", "300us"];
    let printed = with_code(&folder.launch(IDLE, &arguments), 0);
    assert!(printed.contains("0:1-2:brisc has ended when it was told to"), "{printed}");
    // An Ethernet core gets its base firmware back.
    let (ring, arguments) = (image("ring_ping"), ["--args", "1,0,1,0,64", "--for", "300us"]);
    let arguments = [&[&*ring, "--on", "0:e8"], &arguments[..]].concat();
    let printed = with_code(&folder.launch(IDLE, &arguments), 0);
    assert!(printed.contains("ended") && printed.contains("EHSW"), "{printed}");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let folder = Folder::new("launch-wrong");
    let (worker, ring, trisc) =
        (image("tensix_worker"), image("ring_ping"), image("tensix_trisc1"));
    let wrong = |arguments: &[&str], says| refused(&folder, IDLE, arguments, 2, says);
    wrong(
        &[&ring, "--on", "0:1-2"],
        "ring_ping was not linked for 0:1-2: its mailbox is at 0x3dd50, that of an active Ethernet tile",
    );
    wrong(
        &[&worker, "--on", "0:e8"],
        "tensix_worker was not linked for 0:e8: its mailbox is at 0x10, that of a compute tile",
    );
    wrong(
        &[&worker, "--on", "0:1-2", "--core", "erisc"],
        "0:1-2 is a compute tile, which has no erisc",
    );
    wrong(
        &[&trisc, "--on", "0:1-2:brisc"],
        "tensix_trisc1.elf: its bytes at 0xa000-0xa190 overlap the firmware tensix_trisc1 at 0xa000-0xa190 of 0:1-2",
    );
    wrong(&[&worker, "--on", "0:0-0"], "0:0-0 runs no kernels");
    wrong(&[&worker, "--on", "7:1-2"], "there is no chip 7");
    wrong(&[&worker, "--on", "0:1-2,0:1-2"], "--on names 0:1-2 twice");
    wrong(&[&worker, "--on", "0:1-2", "--args", "x"], "--args: 'x' is not a number");
    wrong(&["README.md", "--on", "0:1-2"], "README.md");
    wrong(&["--stop", "--on", "0:1-2"], "no kernel runs on 0:1-2");
    let many = vec!["1"; 200].join(",");
    wrong(
        &[&ring, "--on", "0:e8", "--args", &many],
        "its arguments, semaphores and buffers need 800 bytes; there are 640 at 0x3f120",
    );
    let busy = "emulator:n300,run=ring-ping";
    refused(&folder, busy, &[&ring, "--on", "0:e8"], 5, "0:e8 is in use: ring_ping runs there");
}

#[test]
fn a_kernel_of_a_few_lines_is_launched() {
    let folder = Folder::new("launch-few");
    let Some(elf) = folder.compile("sums_brisc.elf", "0x20000") else { return };
    let served = folder.serve(IDLE);
    let target = &*served.target;
    let launch = |arguments: &[&str]| {
        folder.launch(target, &[&[&*elf, "--on", "0:1-2"], arguments].concat())
    };
    let elfs = folder.0.display().to_string();
    let sums = || {
        let output =
            folder.command(target, &["--elfs", &elfs, "print", "0:1-2", "sums"]).output().unwrap();
        with_code(&output, 0)
    };
    with_code(&launch(&["--args", "1", "2", "0", "--common-args", "40", "--wait"]), 0);
    assert!(sums().contains("{3, 40}"), "{}", sums());
    // It runs on, and other verbs know it by its ELF.
    let printed = with_code(&launch(&["--args", "5,6,1"]), 0);
    assert!(printed.contains("0:1-2:brisc runs on; `launch --stop --on 0:1-2`"), "{printed}");
    let checked = folder.command(target, &["check"]).output().unwrap();
    assert!(with_code(&checked, 4).contains("not-finished"), "nothing is wrong");
    assert!(sums().contains("{11, 0}") && sums().contains("by sums_brisc, verified"), "{}", sums());
    // What it did not initialise was cleared again.
    let calls = folder.command(target, &["--elfs", &elfs, "print", "0:1-2", "calls"]).output();
    assert!(with_code(&calls.unwrap(), 0).contains("calls = (volatile unsigned int) 1"));
    let cores = folder.command(target, &["--elfs", &elfs, "cores", "0:1-2"]).output().unwrap();
    let printed = with_code(&cores, 0);
    assert!(!printed.contains("no image"), "{printed}");
    let printed = with_code(&launch(&["--args", "5,6,1"]), 5);
    assert!(printed.contains("0:1-2 is in use: a kernel runs there"), "{printed}");
    let stop = ["launch", "--stop", "--on", "0:1-2", "--allow"];
    let stop = |allow| folder.command(target, &[&stop[..], &[allow]].concat()).output().unwrap();
    let printed = with_code(&stop("launch,write"), 1);
    assert!(
        printed.contains("0:1-2:brisc still runs: ") && printed.contains("--allow reset"),
        "{printed}"
    );
    let printed = with_code(&stop("launch,write,reset"), 0);
    assert!(printed.contains("its tile was reset, and its firmware booted again"), "{printed}");
    // It is in a loop, and where is said.
    let printed = with_code(&launch(&["--args", "5,6,1", "--wait", "--for", "200us"]), 1);
    assert!(
        printed.contains("rebooted") && printed.contains("has not returned within 200.00 us"),
        "{printed}"
    );
    assert!(
        printed.contains("not-finished") && printed.contains("it is in a loop at sums.c"),
        "{printed}"
    );
    with_code(&launch(&["--args", "1,2,0", "--wait"]), 0);
    // Where Ethernet tiles run kernels, and on the firmware of a core.
    for (at, says) in [
        ("0xa840", "it begins at 0xa840, where Ethernet tiles run kernels"),
        ("0x3a00", "overlap the firmware tensix_brisc at 0x3a20-0x3de0 of 0:1-2"),
        ("0x16dff8", "beyond L1 of 0:1-2, which ends at 0x16e000"),
    ] {
        let elf = folder.compile("elsewhere.elf", at).unwrap();
        let printed = with_code(&folder.launch(target, &[&elf, "--on", "0:1-2"]), 2);
        assert!(printed.contains(says), "{printed}");
    }
}

/// The live view launches by the same words, and takes away what it launched.
#[test]
fn the_live_view_launches_watches_and_takes_away() {
    let folder = Folder::new("launch-live");
    let served = folder.serve(IDLE);
    let (worker, ring) = (image("tensix_worker"), image("ring_ping"));
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", &served.target, "--allow", "launch,write,reset"]);
    command.env("MESHSCOPE_AUDIT_LOG", folder.log());
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 160, 30);
    terminal.shows("links: 2");
    let mut types = |line: &str, says: &str| {
        terminal.press(&format!(":{line}\r"));
        terminal.shows(says);
    };
    types(&format!("launch {ring} --on 0:1-2"), "ring_ping was not linked for 0:1-2: its mailbox");
    types("stop", "nothing runs here that :stop could end");
    assert!(!folder.log().exists(), "something was written");
    types(
        &format!("launch {worker} --on 0:1-2,1:1-1 --args {FOREVER}"),
        "tensix_worker was launched on 0:1-2:brisc (arguments at ",
    );
    types("run all-gather", "something runs already; :stop ends it");
    types("stop", "0:1-2:brisc has ended when it was told to; 1:1-1:brisc has ended when it was");
    types(
        &format!("launch {worker} --on 0:1-2 --args {FOUR}"),
        "tensix_worker has returned on 0:1-2:brisc",
    );
    types(
        &format!("launch {worker} --on 0:1-2 --args {FOREVER} --wait --for 300us"),
        "tensix_worker has not returned within 300.00 us; 0:1-2:brisc has ended when it was told to",
    );
    types(
        &format!("launch {worker} --on 0:1-2 --args {FOREVER}"),
        "tensix_worker was launched on 0:1-2:brisc (arguments at ",
    );
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    let printed = with_code(&folder.launch(&served.target, &["--stop", "--on", "0:1-2"]), 2);
    assert!(printed.contains("no kernel runs on 0:1-2"), "{printed}");
}

/// A chip whose gateways are stuck is in quarantine: what was refused for it names the key that tries it again.
#[test]
fn what_a_quarantine_refuses_names_the_key_that_ends_it() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300,run=idle"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 160, 30);
    terminal.shows("links: 2");
    terminal.press(":fault core:0.e8:stuck\r:fault core:0.e9:stuck\r");
    terminal.shows("1 QUARANTINED");
    let retry = "(r tries again what is in quarantine)";
    for line in ["run all-gather", &format!("launch {} --on 1:1-1", image("tensix_worker"))] {
        terminal.press(&format!(":{line}\r"));
        terminal.shows(retry);
        terminal.press(":help\r");
        terminal.shows("help: j k scroll");
        terminal.press("?");
        terminal.shows("links: 2");
    }
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

/// A log that cannot grow refuses a launch, and stops no teardown.
#[test]
fn a_full_audit_log_stops_no_teardown() {
    let folder = Folder::new("launch-full");
    let served = folder.serve(IDLE);
    let (target, worker) = (&*served.target, image("tensix_worker"));
    let full = |arguments: &[&str]| {
        let all = [&["--allow", "launch,write,reset", "launch"], arguments].concat();
        let mut command = folder.command(target, &all);
        command.env("MESHSCOPE_AUDIT_LOG", "/dev/full").output().unwrap()
    };
    let arguments = [&*worker, "--on", "0:1-2", "--args", FOREVER];
    let printed = with_code(&full(&arguments), 5);
    let says = "the audit log has no room for a launch: /dev/full: No space left on device";
    assert!(printed.contains(says), "{printed}");
    let printed = with_code(&full(&["--stop", "--on", "0:1-2"]), 2);
    assert!(printed.contains("no kernel runs on 0:1-2"), "{printed}");
    with_code(&folder.launch(target, &arguments), 0);
    let printed = with_code(&full(&["--stop", "--on", "0:1-2"]), 0);
    assert!(printed.contains("ended"), "{printed}");
    assert!(
        printed.contains("the audit log lacks 1 entry of this session: /dev/full"),
        "{printed}"
    );
    // The log is full in the middle of a launch: a file of one block, which 30 lines fill.
    let shell = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} --target {target} --allow launch,write,reset launch {worker} \
         --on 0:1-2,0:1-3,0:1-4 --args {FOREVER} --for 300us",
        env!("CARGO_BIN_EXE_meshscope")
    );
    let mut command = Command::new("bash");
    command.args(["-c", &shell]).env("MESHSCOPE_AUDIT_LOG", folder.0.join("small.jsonl"));
    let printed = with_code(&command.output().unwrap(), 0);
    assert!(printed.contains("0:1-4:brisc has ended when it was told to"), "{printed}");
    assert!(
        printed.contains("entries of this session") && printed.contains("File too large"),
        "{printed}"
    );
}

/// Ctrl-C takes the kernel away before the program ends.
#[test]
fn an_interrupted_launch_leaves_nothing() {
    let folder = Folder::new("launch-interrupted");
    let served = folder.serve(IDLE);
    let (target, worker) = (&*served.target, image("tensix_worker"));
    let arguments =
        ["--allow", "launch,write", "launch", &worker, "--on", "0:1-2", "--args", FOREVER];
    let arguments = [&arguments[..], &["--wait", "--for", "90s"]].concat();
    let mut command = folder.command(target, &arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let launched = lines.next().unwrap().unwrap();
    assert!(launched.contains("tensix_worker was launched on 0:1-2:brisc"), "{launched}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("has ended when it was told to")), "{rest:?}");
    let stop = folder.launch(target, &["--stop", "--on", "0:1-2"]);
    assert!(with_code(&stop, 2).contains("no kernel runs on 0:1-2"));
}

#[test]
fn a_kernel_is_launched_on_the_vendors_simulator() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR").map(PathBuf::from) else {
        println!("skipped: MESHSCOPE_TTSIM_DIR names no folder of simulators");
        return;
    };
    let target = format!("ttsim:{}", folder.join("libttsim_wh.so").display());
    let (folder, worker) = (Folder::new("launch-ttsim"), image("tensix_worker"));
    let launch = |rest: &[&str]| {
        folder.launch(&target, &[&[&*worker, "--on", "0:1-2", "--wait"], rest].concat())
    };
    let printed = with_code(&launch(&["--args", FOUR]), 0);
    assert!(printed.contains("returned"), "{printed}");
    let printed = with_code(&launch(&["--args", FOREVER, "--for", "100us"]), 1);
    assert!(printed.contains("0:1-2:brisc has ended when it was told to"), "{printed}");
}

/// Compiles a kernel out of the wheel's sources; none where they are not.
fn metal_kernel(folder: &Folder) -> Option<(String, String)> {
    let Some(wheel) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from) else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS names no unpacked ttnn wheel");
        return None;
    };
    let firmware = wheel.join("ttnn/tt_metal/pre-compiled/1003041148146844629");
    let (home, elf) = (root().join("tests/tt-fabric"), folder.0.join("pops_brisc.elf"));
    let rest = ["NOC_SANITIZE", "ASSERT", "STACK_USAGE", "RING_BUFFER", "PAUSE", "DISPATCH"];
    let rest = rest.map(|part| format!("#define WATCHER_DISABLE_{part}\n")).concat();
    let arguments = format!("#define WATCHER_ENABLED\n{rest}");
    fs::write(folder.0.join("arguments.h"), arguments).unwrap();
    fs::write(folder.0.join("text"), "0x30000").unwrap();
    let mut compile = Command::new(home.join("compile.sh"));
    compile.arg(wheel.join("ttnn")).arg(&firmware).arg("brisc").arg(home.join("pages.cpp"));
    let output = compile.arg(&folder.0).arg(&elf).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let target = format!("emulator:n300,run=idle,firmware={}", firmware.display());
    Some((target, elf.display().to_string()))
}

/// On a tile on which it ran before, a kernel is known to every verb, and so is its firmware, which is
/// booted again.
fn launched_again(folder: &Folder, target: &str, elf: &str) {
    let served = folder.serve(target);
    let firmware = target.split("firmware=").nth(1).unwrap();
    let own = folder.0.display().to_string();
    let answer = |elfs: &[&str], arguments: &[&str], code: i32| {
        let elfs: Vec<&str> = elfs.iter().flat_map(|elfs| ["--elfs", *elfs]).collect();
        let allow = ["--allow", "launch,write,reset"];
        let output =
            folder.command(&served.target, &[&elfs[..], &allow, arguments].concat()).output();
        with_code(&output.unwrap(), code)
    };
    let both = [own.as_str(), firmware];
    let launch = |args| ["launch", elf, "--on", "0:1-2", "--semaphores", "0,0", "--args", args];
    let print = "mailboxes->launch[0].kernel_config.watcher_kernel_ids[0]";
    let mut numbers = Vec::new();
    for args in ["0,0,0,0xffffffff", "0,0,0,1", "0,0,0,1"] {
        answer(&both, &launch(args), 0);
        let printed = answer(&both, &["print", "0:1-2:brisc", print], 0);
        numbers.extend(printed.lines().find(|line| line.contains("ids[0] = ")).map(str::to_owned));
        if args == "0,0,0,1" {
            let images = answer(&both, &["images", "0:1-2"], 0);
            let row = images.lines().find(|line| line.contains("pops_brisc")).unwrap();
            assert!(row.contains(" kernel "), "{images}");
            let images = answer(&[&own], &["images", "0:1-2"], 0);
            // The server of the mesh says which firmware it has booted.
            assert!(images.contains(" kernel ") && images.contains("base firmware"), "{images}");
            let stopped = answer(&both, &["launch", "--stop", "--on", "0:1-2"], 0);
            assert!(stopped.contains("rebooted"), "{stopped}");
        }
    }
    assert_eq!(numbers.len(), 3);
    assert!(numbers.iter().all(|it| *it == numbers[0] && !it.ends_with(" 0")), "{numbers:?}");
}

#[test]
fn a_kernel_of_tt_metal_is_launched_on_its_firmware() {
    let folder = Folder::new("launch-metal");
    let Some((target, elf)) = metal_kernel(&folder) else { return };
    let more = ["--on", "0:1-2", "--semaphores", "0,0", "--cb", "3:0x50000:4:64", "--wait"];
    let launch = |rest: &[&str]| folder.launch(&target, &[&[&*elf], &more[..], rest].concat());
    // No pages, and no semaphore.
    let printed = with_code(&launch(&["--args", "0,0,0,0xffffffff"]), 0);
    assert!(printed.contains("returned"), "{printed}");
    // Pages that nobody pushes, and a semaphore that nobody increments.
    for (args, waypoint, evidence) in [
        ("0,0,5,0,1", "CWFW", "circular buffer 3 = 0 of 4 pages"),
        ("0,0,0,1", "NSW", "semaphore 1 = 0 at 0x"),
    ] {
        let printed = with_code(&launch(&["--args", args, "--for", "300us"]), 1);
        assert!(printed.contains("rebooted") && printed.contains(waypoint), "{printed}");
        assert!(printed.contains(evidence), "{printed}");
    }
    launched_again(&folder, &target, &elf);
    fs::remove_file(folder.log()).unwrap();
    let says =
        "pops_brisc was not linked for trisc1 of 0:1-2: it was linked with the firmware of brisc";
    refused(&folder, &target, &[&elf, "--on", "0:1-2:trisc1"], 2, says);
    let says = "it was linked with firmware whose text ends at 0x49f0; tensix_brisc runs there";
    refused(&folder, IDLE, &[&elf, "--on", "0:1-2"], 2, says);
}
