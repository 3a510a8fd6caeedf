//! Prints the time and memory of loading a file and looking up names, compared with other readers.
//!
//! `MESHSCOPE_TT_METAL_ELFS` names the unpacked ttnn wheel, whose largest ELF with mailboxes is
//! measured, besides the largest of the test cases. `gdb-multiarch` and `llvm-dwarfdump`, if
//! installed, look up the same in turn, and so does tt-exalens' reader with
//! `MESHSCOPE_PEER_PYTHON`.

#![allow(clippy::unwrap_used, reason = "a failed benchmark stops")]

mod counting;
mod inside;
mod process;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use symbols::Symbols;

use process::Reader;

/// A file and its lookups: a member of a type, and gdb's command for the type.
struct Subject {
    file: PathBuf,
    member: &'static str,
    in_type: &'static str,
    gdb: &'static str,
}

const MEMBER: &str = "mailboxes_t.launch[3].kernel_config.enables";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |word: &str| arguments.iter().position(|argument| argument == word);
    if let Some(at) = after("--inside") {
        return inside::measure(Path::new(&arguments[at + 1]), &arguments[at + 2]);
    }
    if let Some(at) = after("--largest") {
        return println!("{}", largest(Path::new(&arguments[at + 1])).display());
    }
    let binary = process::meshscope();
    for subject in subjects() {
        measure(&subject, binary.as_deref());
    }
}

fn measure(subject: &Subject, binary: Option<&Path>) {
    let Subject { file, member, in_type, gdb } = subject;
    let size = std::fs::metadata(file).unwrap().len();
    println!("\nfile                  {} ({size} bytes)", file.display());
    let mut readers = Vec::new();
    if let Some(binary) = binary {
        let mut command = Command::new(binary);
        command.args(["symbols", "type", member, "--elf"]).arg(file);
        readers.push(Reader::new("meshscope", command));
    }
    let mut command = Command::new("gdb-multiarch");
    command.args(["-batch", "-ex", gdb]).arg(file);
    readers.push(Reader::new("gdb", command));
    let mut command = Command::new("llvm-dwarfdump");
    command.args([&format!("--name={in_type}"), "--show-children"]).arg(file);
    readers.push(Reader::new("llvm-dwarfdump", command));
    if let Some(python) = std::env::var_os("MESHSCOPE_PEER_PYTHON") {
        readers.push(Reader::new("tt-exalens", peer(&python, file, member)));
    }
    process::compare(&mut readers);
    peers_own_time(file, member);
    // In its own process: memory used before a child starts counts as the child's.
    let mut inside = Command::new(std::env::current_exe().unwrap());
    assert!(inside.arg("--inside").arg(file).arg(member).status().unwrap().success());
}

fn peer(python: &OsStr, file: &Path, member: &str) -> Command {
    let mut command = Command::new(python);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lookups/peer.py");
    command.arg(script).arg(file).arg(member);
    command
}

/// Prints the time of tt-exalens' reader without the start of Python.
fn peers_own_time(file: &Path, member: &str) {
    let Some(python) = std::env::var_os("MESHSCOPE_PEER_PYTHON") else { return };
    let own = (0..5).filter_map(|_| {
        let output = peer(&python, file, member).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_whitespace().nth(2)?.parse::<f64>().ok()
    });
    if let Some(micros) = own.min_by(f64::total_cmp) {
        println!("tt-exalens, reader    {:.2} ms of its process", micros / 1e3);
    }
}

fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    if let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") {
        let folder = PathBuf::from(root).join("ttnn/tt_metal/pre-compiled");
        let mut command = Command::new(std::env::current_exe().unwrap());
        let picked = command.arg("--largest").arg(folder).output().unwrap();
        let file = PathBuf::from(String::from_utf8(picked.stdout).unwrap().trim());
        let gdb = "ptype /o struct mailboxes_t";
        subjects.push(Subject { file, member: MEMBER, in_type: "mailboxes_t", gdb });
    }
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/cases/images");
    subjects.extend(OWN.map(|(file, member, in_type, gdb)| {
        let file = images.join(file);
        Subject { file, member, in_type, gdb }
    }));
    subjects
}

/// The largest image with types, and the largest: thousands of rows and symbols, but few types.
const OWN: [(&str, &str, &str, &str); 2] = [
    ("router.elf", "router_state_t.iterations", "router_state_t", "ptype /o struct router_state_t"),
    ("many.elf", "unsigned int", "unsigned int", "ptype /o unsigned int"),
];

/// Returns the largest ELF that has the member.
fn largest(folder: &Path) -> PathBuf {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort();
    let has_member = |path: &Path| Symbols::open(path).is_ok_and(|(s, _)| s.field(MEMBER).is_ok());
    found.into_iter().rev().map(|(_, path)| path).find(|path| has_member(path)).unwrap()
}

fn collect(folder: &Path, found: &mut Vec<(u64, PathBuf)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "elf") {
            found.push((entry.metadata().unwrap().len(), path));
        }
    }
}
