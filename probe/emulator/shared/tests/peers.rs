//! Unmodified tt-umd and tt-exalens on the emulated mesh, if `MESHSCOPE_PEER_PYTHON` names a Python
//! that has both. Their silicon modes need `MESHSCOPE_FAKEKMD`: a program that emulates the kernel
//! driver on such a library.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{library, whole_n300};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn named(variable: &str) -> Option<OsString> {
    let value = std::env::var_os(variable);
    if value.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    value
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name)
}

/// A folder as UMD expects for a simulator: the library and the descriptor of its first device.
fn simulator(mesh: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("meshscope-peers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(library(), folder.join("libttsim.so")).unwrap();
    let descriptor = meshscope_ttsim::soc_descriptor(mesh).unwrap();
    std::fs::write(folder.join("soc_descriptor.yaml"), descriptor).unwrap();
    folder
}

/// Returns the output of the program, which must succeed.
fn printed(mut command: Command, mesh: &str) -> String {
    let output =
        command.env("MESHSCOPE_MESH", mesh).env("TT_LOGGER_LEVEL", "error").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}{errors}");
    text
}

/// Adds arguments that run tt-exalens with these commands.
fn exalens(command: &mut Command, commands: &str) {
    let start = "import sys; from ttexalens.cli import main; sys.exit(main())";
    command.args(["-c", start, "--test", &format!("--commands={commands}; exit")]);
}

#[test]
fn simulator_modes() {
    let Some(python) = named("MESHSCOPE_PEER_PYTHON") else { return };
    let folder = simulator("n300");
    let object = folder.join("libttsim.so");
    let mut umd = Command::new(&python);
    umd.arg(script("simulator.py")).arg(&object);
    let output = printed(umd, "n300");
    for line in ["E8 firmware 0x6e000", "node id 0x1060a081", "L1 block True", "DRAM block True"] {
        assert!(output.contains(line), "{line}: {output}");
    }
    let mut exalens_command = Command::new(&python);
    exalens(
        &mut exalens_command,
        "brxy 9-6 0x210 1; wxy 9-11 0x20000 0xcafe; brxy 9-11 0x20000 1; device",
    );
    exalens_command.arg("-s").arg(&object);
    let output = printed(exalens_command, "n300");
    for line in ["0x00000210:  0006e000", "0x00020000:  0000cafe", "Device 0"] {
        assert!(output.contains(line), "{line}: {output}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Returns a command under the emulated kernel driver, on this library.
fn on_driver(driver: &OsString, python: &OsString) -> Command {
    let mut command = Command::new(driver);
    command.arg("--one-cpu").arg("--lib").arg(library()).arg(python);
    command
}

#[test]
fn silicon_modes() {
    let Some(python) = named("MESHSCOPE_PEER_PYTHON") else { return };
    let Some(driver) = named("MESHSCOPE_FAKEKMD") else { return };
    for (mesh, chips, local) in [("n150", 1, 1), ("n300", 2, 1), ("t3000", 8, 4)] {
        let mut umd = on_driver(&driver, &python);
        umd.arg(script("driver.py"));
        let output = printed(umd, mesh);
        let count = |pattern| output.matches(pattern).count();
        assert_eq!((count("chip "), count(" local ")), (chips, local), "{mesh}: {output}");
        assert_eq!(count("word True block True"), chips, "{mesh}: {output}");
    }
    // The emulated kernel driver assumes that all rows of tiles are present.
    let mesh = format!("{},run=ring-ping", whole_n300());
    let mut exalens_command = on_driver(&driver, &python);
    exalens(&mut exalens_command, "brxy 9-0 0x210 1 -d 1; brxy 1-1 0x0 1 -d 0; device");
    let output = printed(exalens_command, &mesh);
    for line in ["0x00000210:  0006e000", "Device 0 [n300 / local]", "Device 1 [n300 / remote(0)]"]
    {
        assert!(output.contains(line), "{line}: {output}");
    }
    let running = output.matches("RRRRR").count();
    assert_eq!(running, 160, "{output}");
}
