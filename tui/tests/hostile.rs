//! What a person or a script names by mistake: it is refused by name, nothing waits for it, and nothing is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const IMAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/images/edm.elf");

/// A folder of its own, gone with the test.
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

    /// A FIFO that nobody ever writes to.
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

fn meshscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Ends with this code and one sentence that holds these words.
#[track_caller]
fn refuses(arguments: &[&str], code: i32, says: &str) -> String {
    let output = meshscope(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(said.lines().count() == 1 && said.contains(says), "{arguments:?}: {said}");
    said
}

#[test]
fn only_regular_files_are_read() {
    let folder = Folder::new("files");
    let fifo = folder.fifo();
    let is_fifo = format!("{fifo}: it is a FIFO, not a regular file");
    let a_device = "it is a character device, not a regular file";
    let n150 = ["--target", "emulator:n150,run=idle"];
    let with = |more: &[&'static str]| [n150.as_slice(), more].concat();
    refuses(&["--target", "emulator:/dev/zero", "mesh"], 2, a_device);
    refuses(&with(&["mesh", "--expect", "/dev/zero"]), 2, a_device);
    refuses(&["study", "bandwidth", "--mesh", "/dev/zero"], 2, a_device);
    refuses(&with(&["fabric", "status", "--keep", "/dev/full"]), 2, a_device);
    refuses(&with(&["--elfs", "/proc", "mesh"]), 2, "/proc: no ELFs of cores");
    let backtrace = ["symbols", "backtrace", "--elf", IMAGE, "--reg", "pc=0xb000", "--memory"];
    refuses(&[&backtrace[..], &["/dev/zero@0"]].concat(), 2, a_device);
    refuses(&[&backtrace[..], &[&format!("{fifo}@0")]].concat(), 2, &is_fifo);
    refuses(&["symbols", "type", "x", "--elf", &fifo], 2, "it is a FIFO, not a regular file");
    refuses(&["symbols", "type", "x", "--elf", "/proc/kmsg"], 2, "made by the kernel (/proc)");
    refuses(&["--target", &format!("emulator:{fifo}"), "mesh"], 2, "it is a FIFO");
    refuses(&["--target", &format!("ttsim:{fifo}"), "mesh"], 2, "it is a FIFO");
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
    describe(129);
    mesh("has 129 chips; at most 128 are emulated");
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
        let said = refuses(&arguments, 2, "xxx[... ");
        assert!(said.len() < 2_000, "{} characters", said.len());
    }
}

#[test]
fn a_setting_that_is_given_twice_is_no_setting() {
    refuses(&["--target", "emulator:n300,seed=1,seed=2", "mesh"], 2, "seed: it is given twice");
    let cabling = ["mesh", "--expect", "galaxy,cabling=ring,cabling=torus"];
    refuses(&cabling, 2, "cabling is given twice");
}

/// A home that depends on where the program was started is none.
#[test]
fn the_audit_log_is_not_written_into_the_working_directory() {
    let folder = Folder::new("home");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n150,run=idle", "write", "0:1-1:0x20000", "1"]);
    command.current_dir(&folder.0).env("HOME", "here").env("XDG_STATE_HOME", "there");
    let output = command.env_remove("MESHSCOPE_AUDIT_LOG").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("nor HOME to an absolute path"), "{said}");
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
    refuses(&["read", "0:e16:0"], 2, "a chip has no Ethernet channel 16");
}

/// A library whose constructor never returns: the verb says what it waits for, and no process stays behind
/// when the program is killed meanwhile.
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
    let said = std::io::BufReader::new(parent.stderr.take().unwrap());
    let first = std::io::BufRead::lines(said).next().unwrap().unwrap();
    assert!(first.ends_with("libstuck.so: bringing the target up ..."), "{first}");
    let hosts = || -> Vec<PathBuf> {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let runs = |process: &Path| {
            let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&library)
        };
        processes.map(|process| process.path()).filter(|path| runs(path)).collect()
    };
    assert_eq!(hosts().len(), 2, "the program and its child");
    parent.kill().unwrap();
    parent.wait().unwrap();
    // The child ends by itself; a test that never does would hang here.
    while !hosts().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
