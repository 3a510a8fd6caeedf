//! `images` and `--elfs` as scripts use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const TARGET: &str = "emulator:n300";

fn meshscope(arguments: &[&str], usual: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", TARGET]).args(arguments).stdin(Stdio::null());
    command.env("MESHSCOPE_ELFS", usual).output().unwrap()
}

fn images() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../firmware/images");
    path.canonicalize().unwrap().display().to_string()
}

#[test]
fn built_in_images_are_verified_whole() {
    let output = meshscope(&["images", "0:9-6", "--elfs", &images(), "--json"], "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let core = &answer["cores"][0];
    assert_eq!(
        (core["core"].as_str(), core["findings"].as_array().unwrap().len()),
        (Some("erisc"), 0)
    );
    let used = core["images"].as_array().unwrap();
    assert_eq!(used.len(), 3);
    for image in used {
        assert_eq!(
            (image["provenance"].as_str(), image["check"].as_str()),
            (Some("verified"), Some("equal"))
        );
        assert_eq!(image["compared_bytes"], image["text_bytes"]);
        let file = format!("{}/{}.elf", images(), image["name"].as_str().unwrap());
        assert_eq!(image["path"], file);
    }
    // The same as text, with the environment variable.
    let output = meshscope(&["images", "0:9-6"], &images());
    let table = String::from_utf8(output.stdout).unwrap();
    let line = table.lines().find(|line| line.contains("erisc_app")).unwrap();
    assert!(
        line.contains("0x9040") && line.contains("verified") && line.contains(&images()),
        "{line}"
    );
}

#[test]
fn a_folder_that_is_not_there_is_one_sentence() {
    for arguments in [&["images", "--elfs", "/no/such"][..], &["cores", "--elfs", "/no/such"]] {
        let output = meshscope(arguments, "");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            stderr(&output),
            "meshscope: /no/such: No such file or directory (os error 2)\n"
        );
    }
    let output = meshscope(&["mesh"], "/neither");
    assert_eq!(output.status.code(), Some(2));
    let output = meshscope(&["images", "0:0-0"], "");
    assert_eq!(stderr(&output).lines().last(), Some("meshscope: tile 0:0-0 has no cores"));
}

#[test]
fn an_image_that_is_not_there_is_a_finding() {
    let folder = std::env::temp_dir().join(format!("meshscope-verb-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let app = PathBuf::from(images()).join("erisc_app.elf");
    std::fs::copy(app, folder.join("mine_erisc.elf")).unwrap();
    let log = "- kernel:\n    watcher_kernel_id: 1\n    name: ring\n    path: ";
    let log = format!("{log}{}\n", folder.join("8").display());
    std::fs::write(folder.join("kernels.yaml"), log).unwrap();
    let output = meshscope(&["images", "0:9-6", "--elfs", folder.to_str().unwrap()], "");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let file = folder.join("8/erisc/erisc.elf");
    let says = format!("0:9-6:erisc: kernel 1 is {} by ", file.display());
    assert!(stderr(&output).contains(&says), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("mine_erisc") && table.contains("ring_ping"), "{table}");
}
