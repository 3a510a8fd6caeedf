//! `exec`: a program drives the emulated mesh through its library, and clients see it meanwhile.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::schemas::conforms;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// What tt-metal does with a simulator, in short: it loads the library, writes through window 0 to L1
/// of 2-2, lets the device read its memory by DMA to 0x21000 there, waits for a line, lets time pass, and
/// ends as its argument says.
const PROGRAM: &str = r#"
import ctypes, mmap, os, signal, sys
mapped = [mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ) for path in sys.argv[2:]]
lib = ctypes.CDLL(os.environ["TT_METAL_SIMULATOR"])
assert os.path.exists(os.path.join(os.path.dirname(os.environ["TT_METAL_SIMULATOR"]), "soc_descriptor.yaml"))
callback = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32)
answer = callback(lambda address, out, size: ctypes.memset(out, 0x5A, size) and None)
ignore = callback(lambda address, data, size: None)
lib.libttsim_set_pci_dma_mem_callbacks(answer, ignore)
lib.libttsim_init()
def write(address, data):
    lib.libttsim_pci_mem_wr_bytes(ctypes.c_uint64(address), data, len(data))
write(0x1_1FC0_0000, (0x0000_2400_0082_0000).to_bytes(8, "little"))
write(0x1_0002_0000, (0xCAFE).to_bytes(4, "little"))
for register, value in (0x308, 64), (0x30C, 0x21000), (0x2C, 1), (0x314, 0x21000), (0x30, 0):
    write(0x1_2000_0000 + register, value.to_bytes(4, "little"))
print("ready", flush=True)
sys.stdin.readline()
lib.libttsim_clock(1000)
data = ctypes.create_string_buffer(4)
lib.libttsim_pci_mem_rd_bytes(ctypes.c_uint64(0x1_0002_0000), data, 4)
print(hex(int.from_bytes(data.raw, "little")), flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
lib.libttsim_exit()
sys.exit(int(sys.argv[1]))
"#;

/// The current directory of the program.
const FOLDER: &str = "PWD";

fn exec(options: &[&str], program: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.arg("exec").args(options).arg("--").args(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The library that cargo builds beside the tests, and a file in place of tt-metal's descriptor.
fn library() -> (PathBuf, &'static str) {
    let tests = std::env::current_exe().unwrap();
    (
        tests.with_file_name("libmeshscope_ttsim.so"),
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    )
}

struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    socket: PathBuf,
}

impl Running {
    /// Starts the program; none if the library is not built, as in a test of this crate alone.
    fn start(name: &str, options: &[&str], ends: &str) -> Option<Self> {
        Self::start_with(name, options, &[ends], &[])
    }

    /// Starts it with further arguments, the files that it maps, and with an environment.
    fn start_with(
        name: &str,
        options: &[&str],
        arguments: &[&str],
        environment: &[(&str, &Path)],
    ) -> Option<Self> {
        let (library, descriptor) = library();
        if !library.is_file() {
            println!("skipped: there is no {}", library.display());
            return None;
        }
        let socket =
            std::env::temp_dir().join(format!("meshscope-{name}-{}.sock", std::process::id()));
        let files = ["--library", library.to_str().unwrap(), "--soc-descriptor", descriptor];
        let served = ["--socket", socket.to_str().unwrap()];
        let options = [&files[..], &served, options].concat();
        let program = [&["python3", "-c", PROGRAM], arguments].concat();
        let mut command = exec(&options, &program);
        if let Some((_, folder)) = environment.iter().find(|(name, _)| *name == FOLDER) {
            command.current_dir(folder);
        }
        let mut child = command.envs(environment.to_vec()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let is_ready = line == "ready\n";
        assert!(is_ready, "{line:?}: {}", stderr(&child.wait_with_output().unwrap()));
        Some(Self { child, lines, socket })
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        let target = format!("socket:{}", self.socket.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", &target]).args(arguments).output().unwrap()
    }

    fn read(&self, place: &str) -> Output {
        self.ask(&["read", place])
    }

    /// Lets the program go on; returns what it prints then.
    fn goes_on(&mut self) -> String {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Ends a mesh that is kept after its program.
    fn interrupt(self) {
        let pid = self.child.id().to_string();
        // A terminal sends it to both.
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        for id in children.split_whitespace().chain([pid.as_str()]) {
            assert!(Command::new("kill").args(["-s", "INT", id]).status().unwrap().success());
        }
        let output = self.ends();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    }

    fn ends(self) -> Output {
        self.child.wait_with_output().unwrap()
    }
}

fn shows(output: &Output, bytes: &str) {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains(bytes), "{text}{}", stderr(output));
}

fn recordings(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|it| it == "mcap")).collect()
}

#[test]
fn a_program_and_clients_share_its_mesh() {
    let Some(mut program) = Running::start("exec", &["--mesh", "n300"], "0") else { return };
    shows(&program.read("0:2-2:0x20000"), "fe ca 00 00");
    shows(&program.read("1:9-0:0x210"), "00 e0 06 00");
    // The windows of the client are not those of the program.
    assert_eq!(program.goes_on(), "0xcafe\n");
    let socket = program.socket.clone();
    let output = program.ends();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("meshscope: the mesh is served: --target socket:"));
    assert!(!socket.exists());
}

#[test]
fn a_program_and_clients_share_the_vendors_simulator() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        println!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return;
    };
    let mesh = format!("ttsim:{}", Path::new(&folder).join("libttsim_wh_x2.so").display());
    let Some(mut program) = Running::start("exec-vendor", &["--mesh", &mesh], "0") else { return };
    shows(&program.read("0:2-2:0x20000"), "fe ca 00 00");
    assert_eq!(program.goes_on(), "0xcafe\n");
    let output = program.ends();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// What a program did on its mesh is executed again from the recording alone, without the program.
#[test]
fn a_recorded_program_is_executed_again() {
    let file = std::env::temp_dir().join(format!("meshscope-rerun-{}.mcap", std::process::id()));
    let path = file.to_str().unwrap();
    let Some(mut program) = Running::start("exec-rerun", &["--mesh", "n150"], "0") else { return };
    let output = program.ask(&["record", path, "--moments", "1"]);
    assert!(output.status.success(), "{}", stderr(&output));
    program.goes_on();
    program.ends();
    let ask = |target: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", target]).args(arguments).output().unwrap()
    };
    let written = ask(path, &["who-wrote", "0:2-2:0x20000", "--json"]);
    let answer: Value = serde_json::from_slice(&written.stdout).unwrap();
    assert_eq!(answer["write"]["new"], "feca0000", "{answer}");
    let at = answer["write"]["at_cycles"].as_u64().unwrap();
    let rerun = |cycles: u64| format!("{path},rerun={cycles}ns");
    shows(&ask(&rerun(at - 1), &["read", "0:2-2:0x20000"]), "00 00 00 00");
    shows(&ask(&rerun(at), &["read", "0:2-2:0x20000"]), "fe ca 00 00");
    // Its memory is not there to be read again.
    shows(&ask(path, &["who-wrote", "0:2-2:0x21000"]), "the DMA engine of PCIe device 0");
    shows(&ask(&format!("{path},rerun=-0ns"), &["read", "0:2-2:0x21000"]), "5a 5a 5a 5a");
    shows(&ask(&rerun(at + 1), &["who-wrote", "0:2-2:0x20000"]), "the host, over PCIe device 0");
    std::fs::remove_file(file).unwrap();
}

/// A program that has mapped tt-metal's library is asked where its ELFs and logs are.
#[test]
fn the_elfs_of_a_tt_metal_process_are_found() {
    let root = std::env::temp_dir().join(format!("meshscope-found-{}", std::process::id()));
    for folder in ["cache/tt-metal-cache7", "logs/generated", "package/tt_metal/pre-compiled"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let library = root.join("package/libtt_metal.so");
    std::fs::write(&library, [0; 4096]).unwrap();
    let (cache, logs) = (root.join("cache"), root.join("logs"));
    let environment = [("TT_METAL_CACHE", cache.as_path()), ("TT_METAL_LOGS_PATH", logs.as_path())];
    let arguments = ["0", library.to_str().unwrap()];
    let started = Running::start_with("found", &["--mesh", "n150"], &arguments, &environment);
    let Some(mut program) = started else { return };
    let processes = |options: &[&str]| {
        let output = program.ask(&[&["images", "0:9-6", "--json"], options].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        conforms(&["images"], &answer);
        (answer["processes"].clone(), stderr(&output))
    };
    let (found, said) = processes(&[]);
    let below = |path: &str| root.join(path).display().to_string();
    let directories = ["logs/generated", "cache/tt-metal-cache7", "package/tt_metal/pre-compiled"];
    assert_eq!(found[0]["directories"], json!(directories.map(below)), "{found}");
    assert!(said.contains(&format!("ELFs of process {} (python3", found[0]["pid"])), "{said}");
    assert_eq!(processes(&["--no-find"]).0, json!([]));
    program.goes_on();
    program.ends();
    std::fs::remove_dir_all(root).unwrap();
}

/// What a program left on its mesh is known by the files that such a program of this user would have.
#[test]
fn without_a_tt_metal_process_the_usual_places_are_searched() {
    let root = std::env::temp_dir().join(format!("meshscope-usual-{}", std::process::id()));
    let cache = root.join("cache/tt-metal-cache7");
    std::fs::create_dir_all(&cache).unwrap();
    let Some(mut program) = Running::start("usual", &["--mesh", "n150", "--keep"], "0") else {
        return;
    };
    program.goes_on();
    let target = format!("socket:{}", program.socket.display());
    let asked = |verb: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.env("TT_METAL_CACHE", root.join("cache")).env("TT_METAL_LOGS_PATH", &root);
        command.env_remove("TT_METAL_HOME").env_remove("TT_METAL_RUNTIME_ROOT");
        let output = command.args(["--target", &target, "--json"]).args(verb).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        conforms(&verb[..1], &answer);
        (answer, stderr(&output))
    };
    let (answer, said) = asked(&["images", "0:9-6"]);
    assert_eq!((&answer["processes"], &answer["usual_places"]), (&json!([]), &json!([cache])));
    assert!(said.contains("no process tells where its ELFs are"), "{said}");
    assert_eq!(asked(&["images", "0:9-6", "--no-find"]).0["usual_places"], json!([]));
    let files = asked(&["why"]).0["files"].clone();
    assert_eq!((&files["usual_places"], &files["elfs"]), (&json!([cache]), &json!([])));
    program.interrupt();
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn exec_ends_as_its_program() {
    for (ends, code, says) in
        [("7", 7, ""), ("killed", 137, "was ended by signal 9, and its mesh with it")]
    {
        let Some(mut program) = Running::start(&format!("exec-{ends}"), &[], ends) else { return };
        program.goes_on();
        let output = program.ends();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn a_mesh_is_kept_after_its_program() {
    let Some(mut program) = Running::start("exec-keep", &["--keep"], "0") else { return };
    program.goes_on();
    shows(&program.read("0:2-2:0x20000"), "fe ca 00 00");
    program.interrupt();
}

#[test]
fn a_fault_of_a_program_is_told_and_recorded() {
    let folder = std::env::temp_dir().join(format!("meshscope-on-hang-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let here = [(FOLDER, folder.as_path())];
    let started = Running::start_with("exec-hang", &["--on-hang", "why"], &["0"], &here);
    let Some(mut program) = started else { return };
    // The core executes the zeros of its L1.
    let reset = ["--allow", "write,reset", "write", "0:2-2:0xffb121b0", "0x47000"];
    let output = program.ask(&reset);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut said = String::new();
    let mut lines = BufReader::new(program.child.stderr.take().unwrap());
    while !said.contains("the program still runs") {
        assert_ne!(lines.read_line(&mut said).unwrap(), 0, "{said}");
    }
    assert!(said.contains("pc-outside-text"), "{said}");
    let [recording] = &recordings(&folder)[..] else { panic!("{said}") };
    let mut why = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let output = why.args(["--target", recording.to_str().unwrap(), "why"]).output().unwrap();
    shows(&output, "pc-outside-text");
    assert_eq!(program.goes_on(), "0xcafe\n");
    assert_eq!(program.ends().status.code(), Some(0));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_exec_lacks_is_named() {
    let (library, descriptor) = library();
    let library = library.to_str().unwrap();
    let refuses = |options: &[&str], program: &[&str], says: &str| {
        let output = exec(options, program).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    refuses(&["--mesh", "nothing"], &["true"], "nothing");
    refuses(&["--library", "/nowhere.so"], &["true"], "/nowhere.so: there is no such library");
    let no_library = "Cargo.toml: it is no library of this architecture";
    refuses(&["--library", descriptor], &["true"], no_library);
    refuses(&["--mesh", &format!("ttsim:{descriptor}")], &["true"], no_library);
    let booted = format!("ttsim:{descriptor},at=2us");
    refuses(&["--mesh", &booted], &["true"], "nor a simulator's library alone");
    if Path::new(library).is_file() {
        let files = ["--library", library];
        refuses(
            &[&files[..], &["--soc-descriptor", "/x"]].concat(),
            &["true"],
            "/x: there is no such file",
        );
        let with = [&files[..], &["--soc-descriptor", descriptor]].concat();
        refuses(&with, &["/nowhere"], "/nowhere: No such file or directory");
    }
}
