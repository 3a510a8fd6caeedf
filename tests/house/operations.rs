//! `why` beside tt-metal's own runtime: operations that end, and that hang in every way that the study has.

use std::process::Command;

/// Programs: the kinds take turns.
const COUNT: &str = "6";

#[test]
fn operations_of_tt_metals_runtime_are_judged() {
    if std::env::var_os("MESHSCOPE_TT_METAL_RUNTIME").is_none() {
        println!(
            "skipped: MESHSCOPE_TT_METAL_RUNTIME names no folder that tests/tt-metal/setup has made"
        );
        return;
    }
    let mut study = Command::new(env!("CARGO_BIN_EXE_study"));
    let output = study.args(["operations", "--count", COUNT]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
}
