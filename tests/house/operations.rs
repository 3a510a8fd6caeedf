//! tt-metal's own runtime on an emulated mesh: `why` beside operations that end, and that hang in every
//! way that the study has; a collective over its fabric.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tests::runtime::Runtime;

/// Programs: the kinds take turns.
const COUNT: &str = "4";
/// Time until a program is ended, in seconds.
const SECONDS: u32 = 900;

/// Returns the runtime; none, and why, if it is not installed.
fn runtime() -> Option<Runtime> {
    let meshscope = Path::new(env!("CARGO_BIN_EXE_study")).with_file_name("meshscope");
    let runtime = Runtime::installed(meshscope);
    if runtime.is_none() {
        println!(
            "skipped: MESHSCOPE_TT_METAL_RUNTIME names no folder that tests/tt-metal/setup has made"
        );
    }
    runtime
}

#[test]
fn operations_of_tt_metals_runtime_are_judged() {
    if runtime().is_none() {
        return;
    }
    let mut study = Command::new(env!("CARGO_BIN_EXE_study"));
    let output = study.args(["operations", "--count", COUNT]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
}

/// The lines of a collective that ends with the right bytes.
const GATHERED: [&str; 5] = ["open", "queued", "done", "right", "closed"];

/// Runs tt-metal on a mesh with a fabric, and looks at the mesh meanwhile, again and again: both use
/// the same routing queues. The program must print these lines, and end; it closes the mesh after the
/// second look.
fn collective(mesh: &str, words: &[&str], lines: &[&str]) {
    let Some(runtime) = runtime() else { return };
    let socket = format!("meshscope-{mesh}-{}-{}.sock", words[2], std::process::id());
    let socket: PathBuf = std::env::temp_dir().join(socket);
    let mut exec = runtime.exec((mesh, &socket), SECONDS, "collective.py").unwrap();
    let mut program = exec
        .args(words)
        // A simulated card has one host channel, and fast dispatch needs one for each chip.
        .env("TT_METAL_SLOW_DISPATCH_MODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take();
    let program = thread::spawn(|| program.wait_with_output());
    let (target, mut looks) = (format!("socket:{}", socket.display()), 0);
    while !program.is_finished() {
        let mut links = Command::new(&runtime.meshscope);
        let seen = links.args(["--target", &target, "links"]).output().unwrap();
        // With words that it could not read it ends with 1.
        looks += u32::from(String::from_utf8_lossy(&seen.stdout).contains("0:e8"));
        if looks > 1 {
            // The end of its input.
            drop(input.take());
        }
        thread::sleep(Duration::from_secs(1));
    }
    let output = program.join().unwrap().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let said: Vec<_> = printed.lines().filter(|line| GATHERED.contains(line)).collect();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, lines, "{mesh} {words:?}: {printed}{stderr}");
    assert_eq!(output.status.code(), Some(0), "{mesh} {words:?}: {stderr}");
    assert!(looks > 1, "{mesh} {words:?}: {looks} looks succeeded");
}

#[test]
fn a_collective_of_tt_metals_own_gathers_the_right_bytes_on_an_n300() {
    collective("n300", &["1", "2", "FABRIC_1D"], &GATHERED);
}

#[test]
#[ignore = "long"]
fn a_collective_over_a_two_dimensional_fabric_gathers_the_right_bytes() {
    collective("n300", &["1", "2", "FABRIC_2D"], &GATHERED);
}

#[test]
#[ignore = "long"]
fn a_collective_on_a_t3000_gathers_the_right_bytes() {
    for fabric in ["FABRIC_1D", "FABRIC_2D"] {
        collective("t3000", &["2", "4", fabric], &GATHERED);
    }
}
