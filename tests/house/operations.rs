//! tt-metal's own runtime on an emulated mesh: `why` beside operations that end, and that hang in every
//! way that the study has; a collective over its fabric.

use std::path::{Path, PathBuf};
use std::process::Command;
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

/// Runs tt-metal's all-gather on a mesh with a fabric; it must end with the right bytes and close.
fn gathers(mesh: &str, [rows, columns]: [&str; 2], fabric: &str, seconds: u32) {
    let Some(runtime) = runtime() else { return };
    let socket = format!("meshscope-{mesh}-{fabric}-{}.sock", std::process::id());
    let socket: PathBuf = std::env::temp_dir().join(socket);
    let mut exec = runtime.exec((mesh, &socket), seconds, "collective.py").unwrap();
    let output = exec
        .args([rows, columns, fabric])
        // A simulated card has one host channel, and fast dispatch needs one for each chip.
        .env("TT_METAL_SLOW_DISPATCH_MODE", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let stages = ["open", "queued", "done", "right", "closed"];
    let said: Vec<_> = printed.lines().filter(|line| stages.contains(line)).collect();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, stages, "{mesh} {fabric}: {printed}{stderr}");
    assert_eq!(output.status.code(), Some(0), "{mesh} {fabric}: {stderr}");
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
