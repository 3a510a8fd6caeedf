//! tt-metal's own runtime on an emulated mesh: `why` beside operations that end, and that hang in every
//! way that the study has; a collective over its fabric.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tests::runtime::Runtime;

/// Programs: the kinds take turns.
const COUNT: &str = "6";

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

/// Runs tt-metal's all-gather on a mesh with a fabric, and looks at the mesh meanwhile, again and
/// again; it must end with the right bytes and close. Both use the same routing queues.
fn gathers(mesh: &str, [rows, columns]: [&str; 2], fabric: &str, seconds: u32) {
    let Some(runtime) = runtime() else { return };
    let socket = format!("meshscope-{mesh}-{fabric}-{}.sock", std::process::id());
    let socket: PathBuf = std::env::temp_dir().join(socket);
    let mut exec = runtime.exec((mesh, &socket), seconds, "collective.py").unwrap();
    let program = exec
        .args([rows, columns, fabric])
        // A simulated card has one host channel, and fast dispatch needs one for each chip.
        .env("TT_METAL_SLOW_DISPATCH_MODE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let program = thread::spawn(|| program.wait_with_output());
    let (target, mut looks) = (format!("socket:{}", socket.display()), 0);
    while !program.is_finished() {
        let mut links = Command::new(&runtime.meshscope);
        let seen = links.args(["--target", &target, "links"]).output().unwrap();
        looks += u32::from(seen.status.success());
        thread::sleep(Duration::from_millis(200));
    }
    let output = program.join().unwrap().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let stages = ["open", "queued", "done", "right", "closed"];
    let said: Vec<_> = printed.lines().filter(|line| stages.contains(line)).collect();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, stages, "{mesh} {fabric}: {printed}{stderr}");
    assert_eq!(output.status.code(), Some(0), "{mesh} {fabric}: {stderr}");
    assert!(looks > 2, "{mesh} {fabric}: {looks} looks succeeded");
}

#[test]
fn a_collective_of_tt_metals_own_gathers_the_right_bytes_on_an_n300() {
    gathers("n300", ["1", "2"], "FABRIC_1D", 300);
}

#[test]
#[ignore = "long"]
fn a_collective_over_a_two_dimensional_fabric_gathers_the_right_bytes() {
    gathers("n300", ["1", "2"], "FABRIC_2D", 300);
}
