//! Mistakes of users and scripts: each is refused by name, nothing hangs, and no data is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{meshscope, stderr};
use crate::recording;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const IMAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/images/edm.elf");

/// A folder that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("meshscope-hostile-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// A FIFO without a writer.
    fn fifo(&self) -> String {
        let path = self.file("fifo");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a terminal acts on: an escape sequence, an override of the direction of text (UAX #9), and a
/// control character of eight bits.
const EVIL: &str = "\u{1b}[1m\u{202e}\u{9b}go";

/// The name of a function of `tensix_brisc.elf`, as long as [`EVIL`].
const FUNCTION: &str = "wait_for_go";

/// The ELF with that function renamed, and another text than the built-in image: its last
/// instruction that returns does not.
fn evil_elf() -> Vec<u8> {
    let image = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/images/tensix_brisc.elf");
    let mut elf = std::fs::read(image).unwrap();
    let name = elf.windows(FUNCTION.len()).position(|at| at == FUNCTION.as_bytes()).unwrap();
    elf[name..name + EVIL.len()].copy_from_slice(EVIL.as_bytes());
    let returns = 0x0000_8067_u32.to_le_bytes();
    let last = elf.windows(4).rposition(|at| at == returns).unwrap();
    elf[last] = 0x6F;
    elf
}

/// Prints nothing on which a terminal would act; returns what it prints.
#[track_caller]
fn is_harmless(arguments: &[&str]) -> String {
    let output = meshscope(arguments);
    let mut all = String::new();
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(stream.clone()).unwrap().replace("\r\n", "\n");
        let acts = |c: &char| !"\n\t".contains(*c) && console::words::acts(*c);
        let found = text.chars().find(acts);
        assert_eq!(found, None, "{arguments:?}: {}", text.escape_debug());
        all += &text;
    }
    all
}

#[test]
fn foreign_text_is_shown_and_never_acted_upon() {
    let folder = Folder::new("foreign");
    let (file, elf) = (folder.file("run.mcap"), folder.file("evil.elf"));
    std::fs::write(&elf, evil_elf()).unwrap();
    let name = format!("{EVIL}.elf");
    recording::write_foreign(Path::new(&file), EVIL, (&name, &evil_elf()));
    let named = folder.file(&format!("{EVIL}.mcap"));
    std::fs::copy(&file, &named).unwrap();
    let shown = "\u{fffd}[1m\u{fffd}\u{fffd}go";
    let escaped = "\\u001b[1m\\u202e\\u009bgo";
    let verbs = [
        ("mesh", &["mesh"][..]),
        ("links", &["links"]),
        ("images", &["images", "0:1-2"]),
        ("why", &["why"]),
        ("changes", &["changes"]),
        ("cores", &["cores"]),
        ("cores", &["cores", "0:1-2"]),
        ("cores", &["cores", "--merge"]),
        ("fabric", &["fabric"]),
        ("check", &["check"]),
    ];
    for (name, verb) in verbs {
        // The name of the file stands in the first line of each.
        let text = is_harmless(&[&["--target", &named], verb].concat());
        assert!(text.contains(shown), "{verb:?}: {text}");
        let json = is_harmless(&[&["--target", &named, "--json"], verb].concat());
        assert!(json.contains(escaped), "{verb:?}: {json}");
        if !["why", "changes"].contains(&name) {
            is_harmless(&[&["--target", &named, "--csv"], verb].concat());
        }
    }
    for verb in [&["mesh"][..], &["mesh", "--csv"], &["images", "0:1-2"], &["images", "--csv"]] {
        let text = is_harmless(&[&["--target", &file], verb].concat());
        assert!(text.contains(shown), "the board, the image: {verb:?}: {text}");
    }
    let elfs = folder.file(EVIL);
    std::fs::create_dir(&elfs).unwrap();
    let base = IMAGE.replace("/edm.elf", "/tensix_brisc.elf");
    std::fs::copy(base, format!("{elfs}/tensix_brisc.elf")).unwrap();
    let n150 = ["--target", "emulator:n150,run=idle", "--elfs", &elfs];
    for format in [&[][..], &["--csv"]] {
        let text = is_harmless(&[&n150[..], &["images", "0:1-2:brisc"], format].concat());
        assert!(text.contains(shown), "the path of an ELF: {text}");
    }
    for question in [&["list", "functions"][..], &["function", EVIL], &["addr", "0x3c0"]] {
        is_harmless(&[&["symbols"], question, &["--elf", &elf]].concat());
        is_harmless(&[&["symbols"], question, &["--elf", &elf, "--json"]].concat());
    }
    let functions = is_harmless(&["symbols", "list", "functions", "--elf", &elf]);
    assert!(functions.contains(shown), "{functions}");
    let archive = folder.file("bundle.tar.gz");
    is_harmless(&["--target", &named, "bundle", &archive]);
    let tar = |arguments: &[&str]| Command::new("tar").args(arguments).output().unwrap().stdout;
    let texts = tar(&["-xzOf", &archive, "--wildcards", "*.txt", "*.json", "*.svg"]);
    let texts = String::from_utf8(texts).unwrap();
    let acts = |c: char| c != '\n' && console::words::acts(c);
    assert!(texts.contains(shown) && !texts.contains(acts), "{}", texts.escape_debug());
}

/// A cell of more characters than a format can pad.
#[test]
fn a_board_of_a_million_letters_is_printed() {
    let folder = Folder::new("board");
    let (file, board) = (folder.file("run.mcap"), "x".repeat(1_000_000));
    recording::write_foreign(Path::new(&file), &board, ("brisc.elf", &evil_elf()));
    for verb in [&["mesh"][..], &["mesh", "--csv"], &["mesh", "--json"]] {
        let output = meshscope(&[&["--target", &file], verb].concat());
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains(&board) && stdout.len() < 3_000_000, "{verb:?}: {}", stdout.len());
    }
}

/// Runs a command of the shell within limits of its processes.
fn limited(limits: &str, arguments: &str) -> Output {
    let script = format!("{limits}; exec '{}' {arguments}", env!("CARGO_BIN_EXE_meshscope"));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env_remove("RUST_BACKTRACE").stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn a_poor_machine_gets_a_sentence() {
    let folder = Folder::new("poor");
    let says = |output: &Output, code: i32, words: &str| {
        let stderr = stderr(output);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(words) && !stderr.contains("panicked"), "{stderr}");
    };
    let n150 = "--target emulator:n150,run=idle";
    let files = limited("ulimit -n 6", &format!("{n150} mesh"));
    says(&files, 2, "Too many open files");
    let full = limited("true", &format!("{n150} mesh > /dev/full"));
    says(&full, 2, "standard output: No space left on device");
    let memory = limited("ulimit -v 150000", &format!("{n150} mesh"));
    says(&memory, 70, "memory allocation of ");
    let record = format!("{n150} record '{}' --moments 3", folder.file("run.mcap"));
    says(&limited("ulimit -f 8", &record), 2, "File too large");
    let page = format!("{n150} mesh > '{}'", folder.file("page"));
    says(&limited("ulimit -f 0", &page), 2, "standard output: File too large");
}

/// Ends with this code and one sentence that contains these words.
#[track_caller]
fn refuses(arguments: &[&str], code: i32, says: &str) -> String {
    let output = meshscope(arguments);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains(says), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn only_regular_files_are_read() {
    let folder = Folder::new("files");
    let fifo = folder.fifo();
    let is_fifo = format!("{fifo}: a FIFO, not a regular file");
    let a_device = "a character device, not a regular file";
    let n150 = ["--target", "emulator:n150,run=idle"];
    let with = |more: &[&'static str]| [n150.as_slice(), more].concat();
    refuses(&["--target", "emulator:/dev/zero", "mesh"], 2, a_device);
    refuses(&with(&["mesh", "--expect", "/dev/zero"]), 2, a_device);
    refuses(&with(&["fabric", "status", "--keep", "/dev/full"]), 2, a_device);
    refuses(
        &with(&["--elfs", "/proc", "mesh"]),
        2,
        "/proc: a pseudo file system has no ELFs of cores",
    );
    let backtrace = ["symbols", "backtrace", "--elf", IMAGE, "--reg", "pc=0xb000", "--memory"];
    refuses(&[&backtrace[..], &["/dev/zero@0"]].concat(), 2, a_device);
    refuses(&[&backtrace[..], &[&format!("{fifo}@0")]].concat(), 2, &is_fifo);
    refuses(&["symbols", "type", "x", "--elf", &fifo], 2, "a FIFO, not a regular file");
    refuses(&["symbols", "type", "x", "--elf", "/proc/kmsg"], 2, "generated by the kernel (/proc)");
    refuses(&["--target", &format!("emulator:{fifo}"), "mesh"], 2, "a FIFO, not a regular file");
    refuses(&["--target", &format!("ttsim:{fifo}"), "mesh"], 2, "a FIFO, not a regular file");
    refuses(&["--target", &fifo, "mesh"], 2, &is_fifo);
}

#[test]
fn a_descriptor_of_too_many_chips_is_refused() {
    let folder = Folder::new("chips");
    let path = folder.file("many.yaml");
    let describe = |count: usize| {
        let chips: Vec<String> = (0..count).map(|n| format!("  {n}: wormhole_b0\n")).collect();
        let places = (0..count).map(|n| format!("  {n}: [{}, {}, 0, 0]\n", n % 16, n / 16));
        let places: Vec<String> = places.collect();
        let text = format!(
            "arch:\n{}chips:\n{}chips_with_mmio:\n  - 0: 0\n",
            chips.concat(),
            places.concat()
        );
        std::fs::write(&path, text).unwrap();
    };
    let mesh = |says| refuses(&["--target", &format!("emulator:{path}"), "mesh"], 2, says);
    describe(5_000);
    mesh("it describes more than 1024 chips");
    describe(256);
    mesh("has 256 chips; at most 255 are emulated");
}

#[test]
fn a_server_overwrites_nothing() {
    let folder = Folder::new("socket");
    let (file, fifo) = (folder.file("run.mcap"), folder.fifo());
    std::fs::write(&file, "a recording").unwrap();
    let serve = |path: &str, says: &str| {
        let says = format!("{path}: is {says} and is not overwritten");
        refuses(&["serve", "emulator:n150", "--socket", path], 2, &says);
    };
    serve(&file, "a file");
    serve(&fifo, "a FIFO");
    serve("/dev/null", "a character device");
    assert_eq!(std::fs::read(&file).unwrap(), b"a recording");
}

#[test]
fn what_a_program_made_is_not_echoed_whole() {
    let long = "x".repeat(100_000);
    for arguments in [
        vec!["--target", &long, "mesh"],
        vec!["read", &long],
        vec!["--allow", &long, "mesh"],
        vec![&long],
        vec!["--target", &format!("emulator:n300,{long}=1"), "mesh"],
    ] {
        let stderr = refuses(&arguments, 2, "xxx[... ");
        assert!(stderr.len() < 2_000, "{} characters", stderr.len());
    }
}

#[test]
fn a_setting_that_is_given_twice_is_no_setting() {
    refuses(&["--target", "emulator:n300,seed=1,seed=2", "mesh"], 2, "seed: given twice");
    let cabling = ["mesh", "--expect", "galaxy,cabling=ring,cabling=torus"];
    refuses(&cabling, 2, "cabling is given twice");
}

/// Descriptors of tt-metal are refused before anything is opened, by file, line and field.
#[test]
fn wrong_descriptors_are_refused_in_a_sentence() {
    let folder = Folder::new("descriptors");
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../layouts/descriptors/tests/data");
    let write = |name: &str, text: &str| {
        let path = folder.0.join(name).display().to_string();
        std::fs::write(&path, text).unwrap();
        path
    };
    let graph = std::fs::read_to_string(format!("{data}/t3000_mgd.textproto")).unwrap();
    let black = write("black.textproto", &graph.replace("WORMHOLE_B0", "BLACKHOLE"));
    let typo = write("typo.textproto", &graph.replace("dims:", "dim:"));
    let ranks = write("ranks.yaml", "rank_bindings: []\nmesh_graph_desc_path: none.textproto\n");
    let (cabling, hosts) = ("dual_t3000_cabling.textproto", "dual_t3000_deployment.textproto");
    let black_says = format!("{black}:4: `arch` of mesh M0 is BLACKHOLE, and only WORMHOLE_B0");
    for (file, says) in [
        (black.clone(), black_says.as_str()),
        (typo, "typo.textproto:5: field 'dim' not found for message"),
        (ranks, "`mesh_graph_desc_path` none.textproto is in none of the folders above it"),
        (format!("{data}/{hosts}"), "a deployment descriptor says where hosts stand"),
        (format!("{data}/{cabling},host=wh-99"), "has no host `wh-99`"),
        (format!("{data}/{cabling},deployment={black}"), &black_says),
    ] {
        for option in ["--expect", "--places"] {
            refuses(&["--target", "emulator:n150,run=idle", "mesh", option, &file], 2, says);
        }
    }
    refuses(&["--target", &format!("emulator:{black},run=idle"), "mesh"], 2, &black_says);
}

/// A relative home directory does not count.
#[test]
fn the_audit_log_is_not_written_into_the_working_directory() {
    let folder = Folder::new("home");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n150,run=idle", "write", "0:1-1:0x20000", "1"]);
    command.current_dir(&folder.0).env("HOME", "here").env("XDG_STATE_HOME", "there");
    let output = command.env_remove("MESHSCOPE_AUDIT_LOG").output().unwrap();
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert!(stderr.contains("nor an absolute HOME is set"), "{stderr}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn bytes_of_an_ethernet_channel_are_read_by_its_name() {
    let read = |place: &str| {
        let output = meshscope(&["--target", "emulator:n150,run=idle", "--json", "read", place]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(read("0:e8:0x1104"), read("0:9-6:0x1104"));
    refuses(
        &["read", "0:e8"],
        2,
        "'0:e8' is not <chip>:<x>-<y>:<addr> or <chip>:e<channel>:<addr>",
    );
    refuses(&["read", "0:ee8:0"], 2, "'ee8' is not an Ethernet channel");
    refuses(&["read", "0:e16:0"], 2, "chip 0 has no Ethernet channel 16");
}

/// A library whose constructor never returns: no process is left when the program is killed
/// meanwhile.
#[test]
fn a_library_that_never_loads_leaves_no_child_behind() {
    let folder = Folder::new("library");
    let (source, library) = (folder.file("stuck.c"), folder.file("libstuck.so"));
    let code = "#include <unistd.h>\n__attribute__((constructor)) static void stuck(void) { for (;;) pause(); }\n";
    std::fs::write(&source, code).unwrap();
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status();
    assert!(cc.unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", &format!("ttsim:{library}"), "mesh"]).stdin(Stdio::null());
    let mut parent = command.stderr(Stdio::piped()).spawn().unwrap();
    let stderr = std::io::BufReader::new(parent.stderr.take().unwrap());
    let first = std::io::BufRead::lines(stderr).next().unwrap().unwrap();
    assert!(first.starts_with("meshscope: start: the library and its process, after "), "{first}");
    let hosts = || -> Vec<PathBuf> {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let runs = |process: &Path| {
            let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&library)
        };
        processes.map(|process| process.path()).filter(|path| runs(path)).collect()
    };
    // The program and its child. A test whose child never starts would hang here.
    while hosts().len() < 2 {
        assert!(parent.try_wait().unwrap().is_none(), "it waits for the library");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    parent.kill().unwrap();
    parent.wait().unwrap();
    // The child ends on its own; a test that never does would hang here.
    while !hosts().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
